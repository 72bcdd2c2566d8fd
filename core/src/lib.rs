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
//! use agentx_core::agent::{AgentSession, Config, Input, Output, Provider};
//! use agentx_core::effect::{Answer, EffectId, Progress, Request};
//! use agentx_core::ids::Seed;
//! use agentx_core::machine::{Machine, Misuse};
//! use agentx_core::model::{Delta, ModelOutcome, StopReason};
//! use agentx_core::time::Instant;
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
//! # fn main() -> Result<(), Misuse> {
//! let provider = Provider::new("main", "scripted", "some-model");
//! let config = Config::new(Seed::from_u64(1), "/repo", provider);
//! let mut session = AgentSession::new(config, Instant::ZERO);
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
pub mod diagnostic;
pub mod effect;
pub mod frame;
pub mod guard;
pub mod hook;
pub mod host;
pub mod ids;
pub mod json;
mod lazy;
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
