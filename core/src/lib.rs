//! The pure state machines of AgentX: the wire protocol, permissions and the
//! agent loop, without IO, clock, randomness or threads.
//!
//! An embedder holds an [`agent::AgentSession`] and plays the world around it.
//! The contract is the same for every [`machine::Machine`]:
//!
//! 1. feed one input with the time it came: [`handle`](machine::Machine::handle);
//! 2. drain until `None`: [`poll`](machine::Machine::poll); state never moves here;
//! 3. wait, until the [`deadline`](machine::Machine::deadline) at most, for what
//!    the machine [`wants`](machine::Machine::wants): bytes, progress of effects;
//! 4. settle each `Start` by exactly one `Done`, unless a `Cancel` was first;
//! 5. report written bytes as `Sent`; stop at `Exit`.
//!
//! Here is a whole session with one prompt. The model is played by the example;
//! a driver would ask a real one, run tools and write records to a pipe.
//!
//! ```
//! use agentx_core::agent::{AgentSession, Config, Input, Output, Profile, Provider};
//! use agentx_core::effect::{Answer, EffectId, Progress, Request};
//! use agentx_core::machine::{Machine, Misuse};
//! use agentx_core::model::{Delta, ModelOutcome, StopReason};
//! use agentx_core::time::Instant;
//! # use agentx_core::correlate::OrphanPolicy;
//! # use agentx_core::guard::Guard;
//! # use agentx_core::hook::Hooks;
//! # use agentx_core::ids::Seed;
//! # use agentx_core::limits::Limits;
//! # use agentx_core::policy::Layers;
//! # use agentx_core::schema::outbound::{ApiKeySource, ReasoningCapabilities};
//! # use agentx_core::schema::payload::{InitializePayload, InitializeSession, ProviderIdentity};
//! # use agentx_core::schema::permission::PermissionMode;
//!
//! #[derive(Default)]
//! struct World {
//!     stdout: Vec<u8>,
//!     open: Vec<(EffectId, Request)>,
//!     exit: Option<u8>,
//! }
//!
//! impl World {
//!     /// One input, and everything that follows from it.
//!     fn feed(
//!         &mut self,
//!         session: &mut AgentSession,
//!         now: Instant,
//!         input: Input<'_>,
//!     ) -> Result<(), Misuse> {
//!         session.handle(now, input)?;
//!         let mut written = 0;
//!         while let Some(output) = session.poll() {
//!             match output {
//!                 Output::Transmit(record) => {
//!                     self.stdout.extend(record.as_bytes());
//!                     written += record.as_bytes().len();
//!                 }
//!                 Output::Start(id, request) => self.open.push((id, request)),
//!                 Output::Cancel(id) => self.open.retain(|(open, _)| *open != id),
//!                 Output::Reply(..) | Output::Event(_) | Output::Diagnostic(_) => {}
//!                 Output::Exit(status) => self.exit = Some(status),
//!             }
//!         }
//!         if written > 0 && self.exit.is_none() {
//!             session.handle(now, Input::Sent(written))?;
//!         }
//!         Ok(())
//!     }
//! }
//!
//! # fn config() -> Config {
//! #     let main = ProviderIdentity {
//! #         id: "main".into(),
//! #         provider_type: "scripted".into(),
//! #         model: "some-model".into(),
//! #         default: true,
//! #         selected: true,
//! #         reasoning: ReasoningCapabilities::none(),
//! #     };
//! #     let about = InitializeSession {
//! #         commands: Vec::new(),
//! #         agents: Vec::new(),
//! #         output_style: "default".to_string(),
//! #         available_output_styles: vec!["default".to_string()],
//! #         api_key_source: ApiKeySource::User,
//! #         api_provider: None,
//! #         pid: 1,
//! #         input_capabilities: None,
//! #     };
//! #     Config {
//! #         seed: Seed::from_u64(1),
//! #         profile: Profile::Standalone,
//! #         session_id: None,
//! #         version: "0.1.0".to_string(),
//! #         cwd: "/repo".to_string(),
//! #         provider: Provider {
//! #             id: "main".into(),
//! #             kind: "scripted".into(),
//! #             model: "some-model".into(),
//! #             reasoning: ReasoningCapabilities::none(),
//! #             effort: None,
//! #             pricing: None,
//! #             context_window: 128_000,
//! #             max_output_tokens: 128_000,
//! #         },
//! #         initialize: InitializePayload::new(vec![main.into()], about).unwrap(),
//! #         tools: [].into(),
//! #         system: None,
//! #         permission_mode: PermissionMode::Default,
//! #         settings: Layers::new(),
//! #         directories: Vec::new(),
//! #         host_answers: true,
//! #         orphans: OrphanPolicy::Ignore,
//! #         max_turns: None,
//! #         max_budget: None,
//! #         replay_user_messages: false,
//! #         include_partial_messages: false,
//! #         vet_records: false,
//! #         flush_remote: false,
//! #         credentials: Guard::default(),
//! #         metadata: Guard::default(),
//! #         resume: None,
//! #         store: None,
//! #         output_schema: None,
//! #         hooks: Hooks::default(),
//! #         limits: Limits::DEFAULT,
//! #     }
//! # }
//! # fn main() -> Result<(), Misuse> {
//! // `config()` fills in an `agent::Config`: seed, provider, tools, limits.
//! let mut session = AgentSession::new(config(), Instant::ZERO);
//! let mut world = World::default();
//! world.feed(&mut session, Instant::ZERO, Input::Tick)?;
//! assert!(world.stdout.starts_with(br#"{"type":"system","subtype":"init""#));
//! assert_eq!(session.deadline(), None); // it waits for input only
//!
//! let now = Instant::from_micros(1_000);
//! let prompt = br#"{"type":"user","message":{"role":"user","content":"Hello?"},"parent_tool_use_id":null}"#;
//! // Bytes may be cut anywhere; a record acts once its newline is there.
//! let (first, rest) = prompt.split_at(20);
//! for piece in [first, rest] {
//!     world.feed(&mut session, now, Input::Bytes(piece))?;
//!     assert!(world.open.is_empty());
//! }
//! world.feed(&mut session, now, Input::Bytes(b"\n"))?;
//!
//! let Some((id, Request::Model(_))) = world.open.pop() else {
//!     panic!("a prompt asks the model");
//! };
//! let now = Instant::from_micros(900_000);
//! for delta in [Delta::Text("Hello.".into()), Delta::Stop(StopReason::EndTurn)] {
//!     world.feed(&mut session, now, Input::Progress(id, Progress::Delta(delta)))?;
//! }
//! let done = || Input::Done(id, Answer::Model(ModelOutcome::Finished));
//! world.feed(&mut session, now, done())?;
//! // A second settlement is a bug of the caller; it changes nothing.
//! assert_eq!(session.handle(now, done()), Err(Misuse::EffectSettledTwice));
//!
//! world.feed(&mut session, now, Input::Eof)?;
//! assert_eq!(world.exit, Some(0));
//! let records = String::from_utf8_lossy(&world.stdout);
//! let last: Vec<&str> = records.lines().rev().take(2).collect();
//! assert!(last[0].contains(r#""state":"idle""#));
//! assert!(last[1].contains(r#""result":"Hello.""#));
//! # Ok(())
//! # }
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    warn(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::wildcard_enum_match_arm
    )
)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod agent;
pub mod agent_loop;
pub mod checkpoint;
pub mod correlate;
pub mod effect;
pub mod frame;
pub mod guard;
pub mod hook;
pub mod ids;
pub mod json;
pub mod limits;
pub mod link;
pub mod machine;
pub mod mark;
pub mod mcp;
pub mod model;
pub mod plant;
pub mod policy;
pub mod race;
pub mod schema;
pub mod store;
pub mod structured;
mod text;
pub mod time;
pub mod tool;
