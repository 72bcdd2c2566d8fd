//! A session on the bench: bytes in, records out, the world played by the test.
//!
//! Every input is recorded. When a test is done with its bench, the recording is
//! read back from its text, played again and held against the five laws: any
//! split of the bytes, any drain, needless ticks and needless answers. All its
//! records are held against the published schema and the readers of a host, too.

use crate::replay::{Logged, Session};
use crate::schema::Schemas;
use agentx_core::agent::{
    AgentSession, Command, Config, Input, Output, Profile, Provider, Reference,
};
use agentx_core::effect::{Answer, EffectId, Progress, Reply, Request, Verdict};
use agentx_core::hook::{Hook, HookEnd, HookEvent, HookReport, HookRequest, Hooks, Matcher};
use agentx_core::ids::Seed;
use agentx_core::json::RawJson;
use agentx_core::limits::Limits;
use agentx_core::machine::{Machine as _, Misuse};
use agentx_core::model::{Delta, ModelFailure, ModelOutcome, ModelRequest, StopReason, Usage};
use agentx_core::schema::outbound::{ApiKeySource, ReasoningCapabilities};
use agentx_core::schema::payload::{InitializePayload, InitializeSession, ProviderIdentity};
use agentx_core::store::{Batch, Beginning, Binding, Entry, Storing};
use agentx_core::structured::{OutputSchema, Validation, Validity};
use agentx_core::time::{Instant, WallTime};
use agentx_core::tool::{Background, TaskRequest, ToolClass, ToolOutcome, ToolRequest, ToolSpec};
use agentx_laws::{Feed, Script};
use core::time::Duration;
use serde_json::Value;
use std::collections::VecDeque;
use std::thread;

mod brief;
mod callbacks;
mod files;

pub use brief::{brief, brief_entries};
use brief::{brief_effect, brief_input};

/// A tool for tests: `Look` reads, `Change` edits the file it names, `Do`
/// executes, in the background if its input says `run_in_background`.
#[must_use]
pub fn tool(name: &str, class: ToolClass) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: "a tool of the tests".into(),
        input_schema: RawJson::empty_object(),
        class,
        path_member: matches!(class, ToolClass::ReadOnly | ToolClass::Edit).then_some("file_path"),
        parallel: matches!(class, ToolClass::ReadOnly | ToolClass::Inert),
        background: match class {
            ToolClass::Execute => Background::When("run_in_background"),
            ToolClass::Inert | ToolClass::ReadOnly | ToolClass::Edit => Background::Never,
        },
    }
}

/// A configuration with the tools `Look`, `Change` and `Do`, a host that answers, and seed 1.
#[must_use]
pub fn config() -> Config {
    Config {
        version: "0.0.0".to_string(),
        initialize: initialize(),
        tools: [
            tool("Look", ToolClass::ReadOnly),
            tool("Change", ToolClass::Edit),
            tool("Do", ToolClass::Execute),
        ]
        .into(),
        ..Config::new(
            Seed::from_u64(1),
            "/repo",
            Provider::new("main", "scripted", "test-model"),
        )
    }
}

/// The same under the profile `reference`.
#[must_use]
pub fn reference() -> Config {
    Config {
        profile: Profile::Reference(Reference::default()),
        ..config()
    }
}

/// A schema of structured output.
#[must_use]
pub fn schema(text: &str) -> OutputSchema {
    OutputSchema::parse(text.as_bytes(), &Limits::DEFAULT).expect("a schema of an object")
}

/// The binding of stored sessions of the tests.
#[must_use]
pub fn binding() -> Binding {
    Binding {
        provider: "main".into(),
        kind: "scripted".into(),
        model: "test-model".into(),
        route: "00ff".into(),
    }
}

/// The same, stored, at a time that is easy to tell: second 1,000 of the epoch.
#[must_use]
pub fn stored(beginning: Beginning) -> Config {
    Config {
        session_id: Some(uuid(77)),
        store: Some(Storing {
            binding: binding(),
            epoch: WallTime(1_000_000),
            beginning,
        }),
        ..config()
    }
}

fn initialize() -> InitializePayload {
    let provider = ProviderIdentity {
        id: "main".into(),
        provider_type: "scripted".into(),
        model: "test-model".into(),
        default: true,
        selected: true,
        reasoning: ReasoningCapabilities::none(),
    };
    let session = InitializeSession {
        commands: Vec::new(),
        agents: Vec::new(),
        output_style: "default".to_string(),
        available_output_styles: vec!["default".to_string()],
        api_key_source: ApiKeySource::User,
        api_provider: None,
        pid: 4242,
        input_capabilities: None,
    };
    InitializePayload::new(vec![provider.into()], session).expect("one provider is selected")
}

/// Inputs above which a recording is not played again, in bytes.
const REPLAYED_BYTES: usize = 64 * 1024;

/// A session, everything it said, and the effects that wait for the test.
pub struct Bench {
    /// The session.
    pub session: AgentSession,
    config: Config,
    script: Script<Logged>,
    /// Who said what, in order; see [`Bench::timeline`].
    told: Vec<String>,
    /// The time the session is told with the next input.
    pub now: Instant,
    /// Every output but transmitted records, in order.
    pub outputs: Vec<Output>,
    /// Every transmitted record, as bytes.
    pub bytes: Vec<u8>,
    /// Records not yet taken by [`Bench::records`].
    fresh: VecDeque<Value>,
    /// Effects started and neither settled nor cancelled, oldest first.
    pub open: Vec<(EffectId, Request)>,
    /// The exit status, once told.
    pub exit: Option<u8>,
    /// Whether the recording is held against the laws at the end.
    pub replays: bool,
}

impl Bench {
    /// A session at time zero; `system/init` is taken already.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let mut bench = Self::with_init(config);
        bench.records();
        bench
    }

    /// A session whose first record is still to be taken.
    #[must_use]
    pub fn with_init(config: Config) -> Self {
        let session = AgentSession::new(config.clone(), Instant::ZERO);
        let mut bench = Self {
            session,
            config,
            script: Script::new(),
            told: Vec::new(),
            now: Instant::ZERO,
            outputs: Vec::new(),
            bytes: Vec::new(),
            fresh: VecDeque::new(),
            open: Vec::new(),
            exit: None,
            replays: true,
        };
        bench.drain();
        bench
    }

    /// Feeds one input and drains.
    ///
    /// # Errors
    ///
    /// What the session refuses.
    pub fn try_feed(&mut self, input: Input<'_>) -> Result<(), Misuse> {
        self.script.push(self.now, Logged::feed(&input));
        let result = self.session.handle(self.now, input);
        self.drain();
        result
    }

    /// Lets time pass, in milliseconds.
    pub fn wait(&mut self, milliseconds: u64) {
        self.now = self.now.after(Duration::from_millis(milliseconds));
    }

    /// Everything fed so far, as a recorded log.
    #[must_use]
    pub fn log(&self) -> String {
        self.script.to_log()
    }

    /// Who said what, one line each: what the host, the model, a tool or the
    /// system did, and below it, indented, what the session did about it.
    #[must_use]
    pub fn timeline(&self) -> String {
        self.told.join("\n")
    }

    fn tell(&mut self, line: String) {
        self.told.push(line);
    }

    /// Feeds one input that must fit.
    pub fn feed(&mut self, input: Input<'_>) {
        self.try_feed(input).expect("the input fits");
    }

    /// One input line; the newline is added.
    pub fn line(&mut self, line: &str) {
        self.tell(format!("host: {}", brief_input(line)));
        self.feed(Input::Bytes(line.as_bytes()));
        self.feed(Input::Bytes(b"\n"));
    }

    /// Ends the input.
    pub fn eof(&mut self) {
        self.tell("host: end of input".to_string());
        self.feed(Input::Eof);
    }

    /// A user record with this text.
    pub fn user(&mut self, text: &str) {
        let record = serde_json::json!({"type": "user", "message": {"role": "user", "content": text}, "parent_tool_use_id": null});
        self.line(&record.to_string());
    }

    /// A user record with this text and the uuid that [`uuid`] gives for `n`.
    pub fn prompt(&mut self, n: u32, text: &str) {
        self.user_with(text, serde_json::json!({"uuid": uuid(n)}));
    }

    /// A user record with this text and these members beside the usual ones.
    pub fn user_with(&mut self, text: &str, members: Value) {
        let mut record = serde_json::json!({"type": "user", "message": {"role": "user", "content": text}, "parent_tool_use_id": null});
        if let (Some(record), Value::Object(members)) = (record.as_object_mut(), members) {
            record.extend(members);
        }
        self.line(&record.to_string());
    }

    /// A control request.
    pub fn control(&mut self, id: &str, subtype: &str) {
        let record = serde_json::json!({"type": "control_request", "request_id": id, "request": {"subtype": subtype}});
        self.line(&record.to_string());
    }

    /// A success answer to one of our requests.
    pub fn respond(&mut self, id: &str, payload: &Value) {
        let record = serde_json::json!({"type": "control_response", "response": {"subtype": "success", "request_id": id, "response": payload}});
        self.line(&record.to_string());
    }

    /// Allows with the original input.
    pub fn allow(&mut self, id: &str) {
        self.respond(
            id,
            &serde_json::json!({"behavior": "allow", "updatedInput": {}}),
        );
    }

    /// Denies.
    pub fn deny(&mut self, id: &str) {
        self.respond(
            id,
            &serde_json::json!({"behavior": "deny", "message": "no"}),
        );
    }

    /// A shutdown command.
    pub fn shutdown(&mut self, status: u8) {
        self.tell(format!("system: shutdown {status}"));
        self.feed(Input::Command(Command::Shutdown { status }));
    }

    /// The records since the last call.
    pub fn records(&mut self) -> Vec<Value> {
        self.fresh.drain(..).collect()
    }

    /// The records since the last call, each told as a short word or two (see [`brief()`]).
    pub fn briefs(&mut self) -> Vec<String> {
        self.records().iter().map(brief).collect()
    }

    /// The open model request.
    #[must_use]
    pub fn model(&self) -> (EffectId, &ModelRequest) {
        self.open
            .iter()
            .find_map(|(id, request)| match request {
                Request::Model(request) => Some((*id, &**request)),
                _ => None,
            })
            .expect("a model request is open")
    }

    /// The open run of the call with this id.
    #[must_use]
    pub fn tool(&self, call: &str) -> (EffectId, &ToolRequest) {
        self.find_tool(call).expect("the tool runs")
    }

    /// The open run of the call with this id, if it runs.
    #[must_use]
    pub fn find_tool(&self, call: &str) -> Option<(EffectId, &ToolRequest)> {
        self.open.iter().find_map(|(id, request)| match request {
            Request::Tool(request) if &*request.call.id == call => Some((*id, &**request)),
            _ => None,
        })
    }

    /// One delta of the open model request.
    pub fn delta(&mut self, delta: Delta) {
        let (id, _) = self.model();
        self.feed(Input::Progress(id, Progress::Delta(delta)));
    }

    /// Ends the open model request well.
    pub fn finish(&mut self, stop: StopReason) {
        self.tell("model: end of answer".to_string());
        self.delta(Delta::Usage(Usage {
            input_tokens: 11,
            output_tokens: 4,
            ..Usage::default()
        }));
        self.delta(Delta::Stop(stop));
        let (id, _) = self.model();
        self.done(id, Answer::Model(ModelOutcome::Finished));
    }

    /// The model says this and stops.
    pub fn says(&mut self, text: &str) {
        self.tell("model: text".to_string());
        self.delta(Delta::Text(text.to_string()));
        self.finish(StopReason::EndTurn);
    }

    /// The model calls tools: id, name, arguments.
    pub fn calls(&mut self, calls: &[(&str, &str, &str)]) {
        let ids: Vec<_> = calls.iter().map(|(id, ..)| *id).collect();
        self.tell(format!("model: calls {}", ids.join(", ")));
        for (index, (id, name, arguments)) in (0..).zip(calls) {
            self.delta(Delta::CallStart {
                index,
                id: (*id).to_string(),
                name: (*name).to_string(),
            });
            self.delta(Delta::CallArguments {
                index,
                text: (*arguments).to_string(),
            });
        }
        self.finish(StopReason::ToolUse);
    }

    /// The open model request fails.
    pub fn fails(&mut self, failure: ModelFailure) {
        self.tell("model: failure".to_string());
        let (id, _) = self.model();
        self.done(id, Answer::Model(ModelOutcome::Failed(failure)));
    }

    /// The tool that runs for this call says so.
    pub fn tool_says(&mut self, call: &str, text: &str) {
        let (id, _) = self.tool(call);
        self.tell(format!("tool: {call} is done"));
        self.done(id, Answer::Tool(ToolOutcome::text(text)));
    }

    /// The open task of the call with this id.
    #[must_use]
    pub fn task(&self, call: &str) -> (EffectId, &TaskRequest) {
        let task = self.open.iter().find_map(|(id, request)| match request {
            Request::Task(task) if &*task.tool.call.id == call => Some((*id, &**task)),
            _ => None,
        });
        task.expect("the task is open")
    }

    /// The task of this call begins; gives its id.
    pub fn task_begins(&mut self, call: &str) -> String {
        let (id, task) = self.task(call);
        let task_id = task.task_id.to_string();
        self.tell(format!("task: {call} begins"));
        let output_file = format!("/tmp/tasks/{call}");
        self.feed(Input::Progress(id, Progress::Began { output_file }));
        task_id
    }

    /// The task of this call ends.
    pub fn task_ends(&mut self, call: &str, outcome: ToolOutcome) {
        let (id, _) = self.task(call);
        self.tell(format!("task: {call} ends"));
        self.done(id, Answer::Task(outcome));
    }

    /// Stops the task of this id.
    pub fn stop_task(&mut self, task_id: &str) {
        self.tell("embedder: stop_task".to_string());
        let task_id = task_id.to_string();
        self.feed(Input::Command(Command::StopTask { task_id }));
    }

    /// The hooks that run, oldest first.
    #[must_use]
    pub fn hooks(&self) -> Vec<(EffectId, &HookRequest)> {
        let hooks = self.open.iter().filter_map(|(id, request)| match request {
            Request::Hook(request) => Some((*id, &**request)),
            _ => None,
        });
        hooks.collect()
    }

    /// The oldest hook that runs ends with status 0, having printed this.
    pub fn hook_says(&mut self, printed: &str) {
        let id = self.hooks().first().expect("a hook runs").0;
        self.hook_ends(id, printed_by_hook(printed));
    }

    /// The oldest hook that runs comes to nothing.
    pub fn hook_fails(&mut self, why: &str) {
        let id = self.hooks().first().expect("a hook runs").0;
        self.hook_ends(id, HookReport::failed(why));
    }

    /// This hook ends.
    pub fn hook_ends(&mut self, id: EffectId, report: HookReport) {
        self.tell("hook: ends".to_string());
        self.done(id, Answer::Hook(report));
    }

    /// What effects were told, in order.
    #[must_use]
    pub fn replies(&self) -> Vec<(EffectId, &Reply)> {
        let replies = self.outputs.iter().filter_map(|output| match output {
            Output::Reply(id, reply) => Some((*id, reply)),
            _ => None,
        });
        replies.collect()
    }

    /// Settles an effect.
    pub fn done(&mut self, id: EffectId, answer: Answer) {
        self.feed(Input::Done(id, answer));
    }

    /// Lets every record that waits for a verdict pass, and those that follow.
    pub fn vet_all(&mut self) {
        while let Some((id, _)) = self.vetting() {
            self.done(id, Answer::Vetted(Verdict::Passed));
        }
    }

    /// Whether the session is stored.
    #[must_use]
    pub const fn stores(&self) -> bool {
        self.config.store.is_some()
    }

    /// The batch that waits for the store.
    #[must_use]
    pub fn storing(&self) -> Option<(EffectId, &Batch)> {
        self.open.iter().find_map(|(id, request)| match request {
            Request::Store(batch) => Some((*id, batch)),
            _ => None,
        })
    }

    /// Stores the batch that waits, and those that follow; gives all entries.
    pub fn store_all(&mut self) -> Vec<Entry> {
        let mut entries = Vec::new();
        while let Some((id, batch)) = self.storing() {
            entries.extend(batch.entries.iter().cloned());
            self.done(id, Answer::Stored(Verdict::Passed));
        }
        entries
    }

    /// Fails the batch that waits for the store.
    pub fn store_fails(&mut self) {
        let (id, _) = self.storing().expect("a batch waits for the store");
        self.done(id, Answer::Stored(Verdict::Failed));
    }

    /// The submissions of structured output that wait for the validator, oldest
    /// first.
    #[must_use]
    pub fn validating(&self) -> Vec<(EffectId, &Validation)> {
        let open = self.open.iter().filter_map(|(id, request)| match request {
            Request::Validate(validation) => Some((*id, &**validation)),
            _ => None,
        });
        open.collect()
    }

    /// The validator says this of the oldest submission that waits.
    pub fn validated(&mut self, validity: Validity) {
        let id = self.validating().first().map(|(id, _)| *id);
        self.tell("validator: done".to_string());
        self.done(
            id.expect("a submission is checked"),
            Answer::Validated(validity),
        );
    }

    /// The record that waits for a verdict.
    #[must_use]
    pub fn vetting(&self) -> Option<(EffectId, String)> {
        self.open.iter().find_map(|(id, request)| match request {
            Request::Vet(bytes) => Some((*id, String::from_utf8_lossy(bytes).into_owned())),
            _ => None,
        })
    }

    /// The request id of the newest question about this call.
    #[must_use]
    pub fn question(&self, call: &str) -> String {
        let records = self.all_records();
        let about = |record: &&Value| {
            let request = &record["request"];
            request["subtype"] == "can_use_tool" && request["tool_use_id"] == call
        };
        let newest = records.iter().rev().find(about);
        newest
            .and_then(|record| record["request_id"].as_str().map(ToString::to_string))
            .expect("a question about the call")
    }

    /// Request ids of all questions so far, answered or not, in order.
    #[must_use]
    pub fn questions(&self) -> Vec<String> {
        let records = self.all_records();
        let asked = records
            .iter()
            .filter(|record| record["request"]["subtype"] == "can_use_tool");
        asked
            .filter_map(|record| record["request_id"].as_str().map(ToString::to_string))
            .collect()
    }

    /// Ids of the calls that run, oldest first.
    #[must_use]
    pub fn running(&self) -> Vec<String> {
        let tools = self.open.iter().filter_map(|(_, request)| match request {
            Request::Tool(request) => Some(request.call.id.to_string()),
            _ => None,
        });
        tools.collect()
    }

    /// Every record so far, taken or not.
    #[must_use]
    pub fn all_records(&self) -> Vec<Value> {
        let text = String::from_utf8_lossy(&self.bytes);
        let parse = |line| serde_json::from_str(line).expect("records are JSON");
        text.lines().map(parse).collect()
    }

    /// Texts of all diagnostics so far.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<&str> {
        self.outputs
            .iter()
            .filter_map(|output| match output {
                Output::Diagnostic(diagnostic) => Some(diagnostic.text.as_str()),
                _ => None,
            })
            .collect()
    }

    fn drain(&mut self) {
        while let Some(output) = self.session.poll() {
            assert_eq!(self.exit, None, "nothing follows an exit");
            match &output {
                Output::Transmit(record) => {
                    let text = std::str::from_utf8(record.as_bytes()).expect("records are UTF-8");
                    assert_eq!(
                        text.find('\n'),
                        Some(text.len() - 1),
                        "one record, one line"
                    );
                    self.bytes.extend_from_slice(record.as_bytes());
                    let record = serde_json::from_str(text).expect("records are JSON");
                    self.told.push(format!("    {}", brief(&record)));
                    self.fresh.push_back(record);
                    continue;
                }
                Output::Start(id, request) => {
                    self.told
                        .push(format!("    start {}", brief_effect(request)));
                    self.open.push((*id, request.clone()));
                }
                Output::Cancel(id) => {
                    let (_, request) = self
                        .open
                        .iter()
                        .find(|(open, _)| open == id)
                        .expect("what is cancelled is open");
                    self.told
                        .push(format!("    stop {}", brief_effect(request)));
                    self.open.retain(|(open, _)| open != id);
                }
                Output::Exit(status) => {
                    self.told.push(format!("    exit {status}"));
                    self.exit = Some(*status);
                }
                Output::Reply(..) | Output::Event(_) | Output::Diagnostic(_) => {}
            }
            self.outputs.push(output);
        }
        // What was settled by an answer is no longer open.
        let session = &self.session;
        self.open.retain(|(id, _)| session.is_open(*id));
    }
}

/// A hook that ended with status 0 and printed this.
#[must_use]
pub fn printed_by_hook(printed: &str) -> HookReport {
    HookReport {
        end: HookEnd::Exited(0),
        answer: printed.to_string(),
        stdout: printed.to_string(),
        stderr: String::new(),
    }
}

/// A configuration with a hook of a minute for every tool and each of these
/// events, whose records are written.
#[must_use]
pub fn hooked(events: &[HookEvent]) -> Config {
    let hook = |event: &HookEvent| Hook {
        event: *event,
        matcher: Matcher::All,
        pattern: None,
        callback: None,
        timeout: Duration::from_secs(60),
    };
    Config {
        hooks: Hooks {
            list: events.iter().map(hook).collect(),
            transcript_path: "/home/sessions.db".to_string(),
            records: true,
        },
        ..config()
    }
}

/// The `n`-th uuid of the tests.
#[must_use]
pub fn uuid(n: u32) -> String {
    format!("00000000-0000-4000-8000-{n:012}")
}

/// A session record without the two ids at its end, which must be there; other
/// records as they are.
#[must_use]
pub fn bare(record: &Value) -> Value {
    let mut record = record.clone();
    let kind = record["type"].as_str().unwrap_or_default();
    let has_ids = !kind.starts_with("control_") && !kind.starts_with("attachment_");
    if let Some(members) = record.as_object_mut().filter(|_| has_ids) {
        for name in ["uuid", "session_id"] {
            let id = members.remove(name);
            let id = id.as_ref().and_then(Value::as_str).unwrap_or_default();
            assert_eq!(
                (id.len(), &id[14..15]),
                (36, "4"),
                "{name} is a version 4 UUID"
            );
        }
    }
    record
}

impl Drop for Bench {
    fn drop(&mut self) {
        if !thread::panicking() {
            for record in self.all_records() {
                let fault = Schemas::ours().check(&record).err();
                assert_eq!(fault, None, "a record without a schema");
            }
            crate::host::hold_transcript(&self.bytes);
        }
        let fed: usize = self
            .script
            .steps()
            .iter()
            .map(|(_, feed)| match feed {
                Feed::Bytes(bytes) => bytes.len(),
                _ => 1,
            })
            .sum();
        if !self.replays || thread::panicking() || fed > REPLAYED_BYTES {
            return;
        }
        let log = self.log();
        let script = Script::parse(&log).unwrap_or_else(|fault| panic!("{fault}:\n{log}"));
        if let Err(broken) = agentx_laws::check(&Session(self.config.clone()), &script, 0..3) {
            panic!("{broken}; the recording is\n{log}");
        }
    }
}
