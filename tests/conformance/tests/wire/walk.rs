//! Random sessions: whatever host, model, tools and clock do, the promises of
//! the wire hold. A failing walk names its seed.

use agentx_conformance::session::{
    Bench, brief, config, hooked, printed_by_hook, schema, stored, uuid,
};
use agentx_conformance::stream;
use agentx_core::agent::{Config, Input};
use agentx_core::checkpoint::{RewindReport, Seeding};
use agentx_core::effect::{Answer, EffectId, Progress, Request, Verdict};
use agentx_core::hook::{HookEnd, HookEvent, HookReport, Hooks};
use agentx_core::limits::Limits;
use agentx_core::machine::Machine as _;
use agentx_core::model::{
    Block, Delta, ErrorCategory, Message, ModelFailure, ModelOutcome, ModelRequest, StopReason,
};
use agentx_core::store::{Beginning, Entry, Restored, Restorer};
use agentx_core::structured::Validity;
use agentx_core::tool::{TaskRequest, ToolOutcome};
use agentx_laws::SplitMix64;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const WALKS: u64 = 300;
const STEPS: usize = 80;
/// Steps in which everything must settle once the host is gone.
const SETTLING: usize = 2_000;

/// Input of a call that becomes a task.
const BACKGROUND: &str = r#"{"run_in_background":true}"#;

struct Walk {
    b: Bench,
    /// Tasks that were asked to begin.
    begun: BTreeSet<EffectId>,
    rng: SplitMix64,
    /// How often each prompt was sent.
    sent: BTreeMap<u32, usize>,
    ended: bool,
    /// Whether something closed the output.
    latched: bool,
    records: Vec<Value>,
    /// What the store has.
    stored: Vec<Entry>,
}

impl Walk {
    fn new(seed: u64) -> Self {
        let mut rng = SplitMix64::new(seed);
        let limits = Limits {
            queue_records: 3,
            ..Limits::DEFAULT
        };
        let store = rng.one_in(2).then(|| stored(Beginning::New).store);
        let config = Config {
            store: store.flatten(),
            replay_user_messages: rng.one_in(3),
            include_partial_messages: rng.one_in(2),
            flush_remote: rng.one_in(3),
            vet_records: rng.one_in(4),
            max_turns: rng.one_in(3).then_some(2),
            output_schema: rng.one_in(3).then(|| schema("{}")),
            hooks: if rng.one_in(2) {
                hooked(HookEvent::ALL).hooks
            } else {
                Hooks::default()
            },
            limits,
            ..config()
        };
        let mut b = Bench::with_init(config);
        // The laws are held on some of the walks; all of them would take long.
        b.replays = seed.is_multiple_of(4);
        Self {
            b,
            begun: BTreeSet::new(),
            rng,
            sent: BTreeMap::new(),
            ended: false,
            latched: false,
            records: Vec::new(),
            stored: Vec::new(),
        }
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.rng.below(of.len())]
    }

    fn look(&mut self) {
        self.records.extend(self.b.records());
        if self.b.stores() {
            self.look_at_store();
        }
    }

    /// Nothing runs and no result is out that the store does not know (DEC-32).
    fn look_at_store(&self) {
        let prompts: Vec<&str> = self
            .stored
            .iter()
            .filter_map(|entry| match entry {
                Entry::Prompt(prompt) => Some(&*prompt.uuid),
                _ => None,
            })
            .collect();
        let restored = restore(&self.stored);
        for (_, request) in &self.b.open {
            match request {
                Request::Model(request) => {
                    assert!(
                        !prompts.is_empty(),
                        "a model is asked before its prompt is stored"
                    );
                    paired(request);
                    // Of tasks that run, one that finds them dead would be told.
                    let tasks = self.stored.iter().fold(0, |open, entry| match entry {
                        Entry::Task(_) => open + 1,
                        Entry::Notice(notice) => open - notice.task_ids.len(),
                        _ => open,
                    });
                    if self.b.storing().is_none() && tasks == 0 {
                        assert_eq!(restored.history, request.history, "what would be resumed");
                    }
                }
                Request::Tool(request) => assert!(
                    restored.tool_use_ids.contains(&request.call.id),
                    "a tool runs whose call is not stored"
                ),
                _ => {}
            }
        }
        let ended = |uuid: &str| {
            let is_it =
                |entry: &Entry| matches!(entry, Entry::Turn(turn) if &*turn.prompt_uuid == uuid);
            self.stored.iter().any(is_it)
        };
        for record in &self.records {
            let ran = record["type"] == "result" && record["num_turns"] != 0;
            if ran && !self.latched && !record["errors"].to_string().contains("could not be stored")
            {
                assert!(
                    ended(record["prompt_uuid"].as_str().unwrap_or_default()),
                    "{record}"
                );
            }
        }
    }

    fn step(&mut self) {
        if self.b.exit.is_some() {
            return;
        }
        let host_first = !self.ended && self.rng.one_in(3);
        if host_first || !self.world() && !self.ended {
            self.host();
        }
        if self.rng.one_in(5) {
            self.b.wait(7);
        }
        if self.b.exit.is_none() && self.rng.one_in(20) {
            self.b.wait(5_001);
            self.b.feed(Input::Tick);
        }
        self.look();
    }

    fn host(&mut self) {
        match self.rng.below(24) {
            0..7 => {
                let n = u32::try_from(self.sent.len()).unwrap_or_default();
                let priority = self.pick(&["now", "next", "next", "later"]);
                self.prompt(n, priority);
            }
            7 if !self.sent.is_empty() => {
                let n = self.rng.below(self.sent.len());
                self.prompt(u32::try_from(n).unwrap_or_default(), "next");
            }
            8 => self.b.line(r#"{"type":"user","message":7}"#),
            9..17 => self.answer(),
            17 | 18 => self.b.control("i", "interrupt"),
            19 => self.b.control("n", "initialize"),
            20 => self.b.line(r#"{"type":"weather"}"#),
            21 if self.rng.one_in(4) => {
                self.b.line("{");
                self.ended = true;
            }
            22 if self.rng.one_in(4) => {
                self.b.shutdown(143);
                self.ended = true;
            }
            23 if self.rng.one_in(2) => {
                self.b.eof();
                self.ended = true;
            }
            _ => self.b.feed(Input::Tick),
        }
    }

    fn prompt(&mut self, n: u32, priority: &str) {
        *self.sent.entry(n).or_default() += 1;
        self.b
            .user_with("go", json!({"uuid": uuid(n), "priority": priority}));
    }

    fn answer(&mut self) {
        let questions = self.b.questions();
        let Some(id) = (!questions.is_empty()).then(|| {
            let back = self.rng.below(questions.len().min(3));
            questions[questions.len() - 1 - back].clone()
        }) else {
            return self.b.deny("req_nobody");
        };
        match self.rng.below(8) {
            0..4 => self.b.allow(&id),
            4 => self.b.deny(&id),
            5 => self.b.respond(
                &id,
                &json!({"behavior": "deny", "message": "no", "interrupt": true}),
            ),
            6 => self.b.respond(&id, &json!({"behavior": "perhaps"})),
            _ => {
                let rule = json!({"type": "addRules", "rules": [{"toolName": "Do"}], "behavior": "allow", "destination": "userSettings"});
                self.b.respond(&id, &json!({"behavior": "allow", "updatedInput": {"a": 1}, "updatedPermissions": [rule]}));
            }
        }
    }

    /// Settles or continues some effect; false when none is open.
    fn world(&mut self) -> bool {
        if self.b.open.is_empty() {
            return false;
        }
        let at = self.rng.below(self.b.open.len());
        let (id, request) = self.b.open[at].clone();
        match request {
            Request::Model(request) => {
                paired(&request);
                self.model(id);
            }
            Request::Tool(_) if self.rng.one_in(6) => {
                let host = "example.org".to_string();
                self.b.feed(Input::Progress(id, Progress::Network(host)));
            }
            Request::Tool(_) => self.b.done(id, Answer::Tool(ToolOutcome::text("seen"))),
            Request::Task(task) => self.task(id, &task),
            Request::Hook(_) => self.hook(id),
            Request::Persist(_) => {
                let verdict = self.verdict();
                self.b.done(id, Answer::Persisted(verdict));
            }
            Request::Store(batch) => {
                assert_eq!(
                    batch.first,
                    self.stored.len() as u64,
                    "entries follow one another"
                );
                assert_eq!(batch.opening.is_some(), self.stored.is_empty());
                let failed = self.rng.one_in(12);
                if !failed {
                    self.stored.extend(batch.entries.iter().cloned());
                }
                let verdict = if failed {
                    Verdict::Failed
                } else {
                    Verdict::Passed
                };
                self.b.done(id, Answer::Stored(verdict));
            }
            Request::FlushRemote => {
                let verdict = self.verdict();
                self.b.done(id, Answer::Flushed(verdict));
            }
            Request::Rewind(_) => {
                let report = RewindReport::default();
                self.b.done(id, Answer::Rewound(Ok(report)));
            }
            Request::Seed(_) => self.b.done(id, Answer::Seeded(Seeding::Newer)),
            Request::Validate(_) => {
                let fault = || "at /a: no".to_string();
                let validity = match self.rng.below(4) {
                    0 | 1 => Validity::Fits,
                    2 => Validity::Breaks(vec![fault(), fault()]),
                    _ => Validity::Unknown,
                };
                self.b.done(id, Answer::Validated(validity));
            }
            Request::Match(_) => self.b.done(id, Answer::Matched(Vec::new())),
            Request::ReadSchema(_) => self.b.done(id, Answer::SchemaRead(Ok(()))),
            Request::Vet(_) if self.rng.one_in(200) => {
                self.latched = true;
                self.b.done(id, Answer::Vetted(Verdict::Failed));
            }
            Request::Vet(_) => self.b.done(id, Answer::Vetted(Verdict::Passed)),
        }
        if self.b.exit.is_none() && self.rng.one_in(400) {
            self.latched = true;
            self.b.feed(Input::WriteFailed);
        }
        true
    }

    /// A task begins, ends or is stopped; some never begin.
    fn task(&mut self, id: EffectId, task: &TaskRequest) {
        let outcome = match self.rng.below(2) {
            0 => ToolOutcome::text("done"),
            _ => ToolOutcome::error("went wrong"),
        };
        if self.begun.insert(id) && !self.rng.one_in(6) {
            let output_file = "/tmp/out".to_string();
            let began = Progress::Began { output_file };
            self.b.feed(Input::Progress(id, began));
        } else if self.rng.one_in(5) && !self.ended {
            self.b.stop_task(&task.task_id);
        } else {
            self.b.done(id, Answer::Task(outcome));
        }
    }

    /// A hook ends in some way, and often says something.
    fn hook(&mut self, id: EffectId) {
        let report = match self.rng.below(12) {
            0 => HookReport::failed("it is gone"),
            1 => HookReport {
                end: HookEnd::Exited(2),
                stderr: "denied".to_string(),
                ..HookReport::failed("")
            },
            2 => printed_by_hook("garbage"),
            n => printed_by_hook(match n {
                3 => r#"{"decision":"allow"}"#,
                4 => r#"{"decision":"allow","updatedInput":{"b":2}}"#,
                5 => r#"{"decision":"deny","message":"no"}"#,
                6 => r#"{"decision":"ask"}"#,
                7 => r#"{"continue":true,"additionalContext":"so it is"}"#,
                8 => r#"{"updatedInput":{"b":2},"additionalContext":"so it is"}"#,
                _ => "",
            }),
        };
        self.b.hook_ends(id, report);
    }

    fn verdict(&mut self) -> Verdict {
        self.pick(&[Verdict::Passed, Verdict::Failed])
    }

    fn model(&mut self, id: EffectId) {
        let text = |text: &str| text.to_string();
        let index = u32::try_from(self.rng.below(2)).unwrap_or_default();
        match self.rng.below(10) {
            0 | 1 => self.b.delta(Delta::Text(text("word "))),
            2 => self.b.delta(Delta::Thinking(text("hm"))),
            3 if self.rng.one_in(3) => self.b.delta(Delta::RedactedThinking(text("b3Bh"))),
            3 => self.b.delta(Delta::Signature(text("sig"))),
            4 | 5 => {
                let id = self.pick(&["a", "b", "c", ""]);
                let name = self.pick(&[
                    "Look",
                    "Do",
                    "Do",
                    "Change",
                    "Fly",
                    "StructuredOutput",
                    "StructuredOutput",
                ]);
                self.b.delta(Delta::CallStart {
                    index,
                    id: text(id),
                    name: text(name),
                });
            }
            6 => {
                let piece =
                    self.pick(&["{}", "{", r#"{"a":1}"#, BACKGROUND, BACKGROUND, BACKGROUND]);
                self.b.delta(Delta::CallArguments {
                    index,
                    text: text(piece),
                });
            }
            7 | 8 => {
                let stop = self.pick(&[
                    StopReason::EndTurn,
                    StopReason::ToolUse,
                    StopReason::MaxTokens,
                    StopReason::Refusal,
                    StopReason::ContentFilter,
                ]);
                self.b.finish(stop);
            }
            _ => {
                let failure = ModelFailure {
                    category: ErrorCategory::ServerError,
                    status: Some(500),
                    message: text("cut"),
                };
                self.b
                    .done(id, Answer::Model(ModelOutcome::Failed(failure)));
            }
        }
    }

    /// The host goes; everything that is open ends in its way.
    fn settle(&mut self) {
        if !self.ended && self.b.exit.is_none() {
            self.b.eof();
        }
        for _ in 0..SETTLING {
            self.look();
            if self.b.exit.is_some() {
                return;
            }
            assert!(self.world(), "nothing is open, and still no exit");
        }
        panic!("no exit after {SETTLING} steps");
    }
}

/// What a session would begin with that found these entries.
fn restore(entries: &[Entry]) -> Restored {
    let mut restorer = Restorer::new();
    for entry in entries {
        restorer
            .push(entry.clone())
            .expect("entries follow one another");
    }
    restorer.finish()
}

/// In every history each call is followed by its result, and no result is alone.
fn paired(request: &ModelRequest) {
    paired_messages(&request.history);
}

fn paired_messages(history: &[Arc<Message>]) {
    let mut calls: Vec<&str> = Vec::new();
    let mut seen = BTreeSet::new();
    for message in history {
        match &**message {
            Message::ToolResults(results) => {
                let ids: Vec<_> = results.iter().map(|result| &*result.tool_use_id).collect();
                assert_eq!(ids, calls, "results stand in call order behind their calls");
                calls.clear();
            }
            other => {
                assert!(calls.is_empty(), "a call without its result");
                if let Message::Assistant(blocks) = other {
                    assert!(!blocks.is_empty());
                    for block in blocks {
                        if let Block::ToolCall(call) = block {
                            assert!(seen.insert(&*call.id), "an id used twice");
                            calls.push(&call.id);
                        }
                    }
                }
            }
        }
    }
    assert!(calls.is_empty());
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

/// What must be true of the records of a session that ended.
fn judge(walk: &Walk) {
    let b = &walk.b;
    assert_eq!((b.session.pending_requests(), b.open.len()), (0, 0));
    assert!(!b.session.wants().bytes);
    paired_messages(&restore(&walk.stored).history);
    if walk.latched {
        assert_eq!(b.exit, Some(1));
        return;
    }
    stream::check(&walk.records);
    calls_and_results(&walk.records);
    tasks(&walk.records);
    questions(&walk.records);
    states(&walk.records);
    // Of the records that carry a prompt's uuid each is refused, or it is the
    // one that runs or that a hook refuses, or it repeats that one.
    let results = |n: u32, refused: bool| {
        let of_prompt = |record: &&Value| {
            record["type"] == "result"
                && record["prompt_uuid"] == uuid(n)
                && (record["stop_reason"] == "input_error" && !by_hook(record)) == refused
        };
        walk.records.iter().filter(of_prompt).count()
    };
    for (&n, &sent) in &walk.sent {
        let runs = usize::from(results(n, true) < sent);
        assert_eq!(results(n, false), runs, "terminal records of prompt {n}");
    }
}

/// Whether a hook of the walk has refused the prompt of this result.
fn by_hook(record: &Value) -> bool {
    let text = record["errors"][0].as_str().unwrap_or_default();
    ["no", "denied"].contains(&text) || text.starts_with("a UserPromptSubmit hook failed: ")
}

/// One result for each call that was shown, before its turn's result.
fn calls_and_results(records: &[Value]) {
    let mut open = BTreeSet::new();
    let mut known = BTreeSet::new();
    for record in records {
        match brief(record).as_str() {
            "assistant tool_use" => {
                let id = text(&record["message"]["content"][0]["id"]);
                assert!(known.insert(id.clone()), "{id} was shown twice");
                open.insert(id);
            }
            other if other.starts_with("tool_result ") => {
                let id = text(&record["message"]["content"][0]["tool_use_id"]);
                assert!(open.remove(&id), "{id} has two results, or no call");
            }
            other if other.starts_with("result") && record["stop_reason"] != "input_error" => {
                assert!(open.is_empty(), "{open:?} have no result at {record}");
            }
            _ => {}
        }
    }
    assert!(open.is_empty());
}

/// A task begins behind its call, ends once, and before the result of its turn.
fn tasks(records: &[Value]) {
    let mut running = BTreeSet::new();
    let mut known = BTreeSet::new();
    for record in records {
        let id = text(&record["task_id"]);
        match brief(record).as_str() {
            "system/task_started" => {
                assert!(known.insert(id.clone()), "{id} began twice");
                running.insert(id);
            }
            "system/task_progress" => assert!(running.contains(&id), "{id} does not run"),
            "system/task_notification" => assert!(running.remove(&id), "{id} does not run"),
            other if other.starts_with("result") && record["stop_reason"] != "input_error" => {
                assert!(running.is_empty(), "{running:?} run at {record}");
            }
            _ => {}
        }
    }
    assert!(running.is_empty());
}

/// A question follows its state, and is withdrawn at most once.
fn questions(records: &[Value]) {
    let mut withdrawn = BTreeSet::new();
    for (at, record) in records.iter().enumerate() {
        match record["type"].as_str() {
            Some("control_request") => {
                let state = &records[at - 1]["requires_action"];
                assert_eq!(state["request_id"], record["request_id"]);
                assert_eq!(state["input"], record["request"]["input"]);
            }
            Some("control_cancel_request") => {
                assert!(
                    withdrawn.insert(text(&record["request_id"])),
                    "{record} again"
                );
            }
            _ => {}
        }
    }
}

/// Idle follows a result, running follows idle, and the last word is idle.
fn states(records: &[Value]) {
    let mut state = "none".to_string();
    let mut results = 0;
    for record in records {
        if record["type"] == "result" && record["stop_reason"] != "input_error" {
            results += 1;
        }
        if record["subtype"] != "session_state_changed" {
            continue;
        }
        let next = text(&record["state"]);
        match (state.as_str(), next.as_str()) {
            ("none" | "idle", "running") => results = 0,
            ("running", "requires_action") | ("requires_action", "requires_action" | "running") => {
            }
            ("running" | "requires_action", "idle") => {
                assert!(results > 0, "idle without a result");
            }
            (from, to) => panic!("{from} became {to}"),
        }
        state = next;
    }
    assert!(
        state == "none" || state == "idle",
        "the session ends {state}"
    );
}

// covers: WIRE-003, WIRE-004, WIRE-006, WIRE-008, WIRE-PERM-060, DEC-10, DEC-12, DEC-14, DEC-21, DEC-32, DEC-35, DEC-41
#[test]
fn random_sessions_keep_every_promise() {
    for seed in 0..WALKS {
        let told = std::panic::catch_unwind(|| {
            let mut walk = Walk::new(seed);
            for _ in 0..STEPS {
                walk.step();
            }
            walk.settle();
            judge(&walk);
        });
        if let Err(panic) = told {
            eprintln!("the walk of seed {seed} failed");
            std::panic::resume_unwind(panic);
        }
    }
}
