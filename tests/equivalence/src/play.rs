//! One session, told what to do by a tape.

use crate::seen::{ENDLESS, Open};
use crate::{Engine, Tape};
use agentx_core::effect::EffectId;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};

/// Steps after which a play is no longer expected to end.
const MOST_STEPS: usize = 2_000;

/// Prompts of one play.
const PROMPTS: usize = 4;

/// Interrupts that the tape may choose.
const INTERRUPTS: usize = 2;

/// Deadlines that the tape may choose to wait for.
const WAITS: usize = 3;

/// All that a session leaves behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    /// What was chosen, in order.
    pub steps: Vec<String>,
    /// Every byte of stdout.
    pub stdout: String,
    /// See [`Seen::effects`](crate::Seen::effects).
    pub effects: Vec<String>,
    /// The bodies of all requests to the model.
    pub requests: Vec<String>,
    /// The exit status.
    pub status: u8,
}

/// Something the model sends.
struct Say {
    bytes: String,
    close: bool,
    pieces: usize,
}

/// What may happen next.
#[derive(Clone, Debug)]
enum Step {
    Release(EffectId),
    Say(EffectId),
    Prompt,
    Answer(usize, Ruling),
    Interrupt,
    Wait,
    End,
}

/// What the host says to a question.
#[derive(Clone, Copy, Debug)]
enum Ruling {
    Allow,
    Always,
    Deny,
}

/// A play under way.
pub struct Play<E> {
    engine: E,
    tape: Tape,
    steps: Vec<String>,
    requests: Vec<String>,
    scripts: BTreeMap<EffectId, VecDeque<Say>>,
    /// Bytes of stdout that were looked at.
    looked: usize,
    /// Questions that nobody has answered.
    questions: Vec<Value>,
    prompts: usize,
    interrupts: usize,
    waits: usize,
    /// Interrupts are named by their number.
    controls: usize,
    ended: bool,
    /// Whether the turn has a call that only an interrupt ends.
    endless: bool,
}

/// Plays a session to its end.
///
/// # Panics
///
/// When it does not end, or the engine finds a fault.
pub fn play<E: Engine>(engine: E, tape: Tape) -> Transcript {
    let mut play = Play {
        engine,
        tape,
        steps: Vec::new(),
        requests: Vec::new(),
        scripts: BTreeMap::new(),
        looked: 0,
        questions: Vec::new(),
        prompts: PROMPTS,
        interrupts: INTERRUPTS,
        waits: WAITS,
        controls: 0,
        ended: false,
        endless: false,
    };
    while play.engine.seen().exit.is_none() {
        assert!(play.steps.len() < MOST_STEPS, "{:#?}", play.steps);
        play.look();
        let step = play.choose();
        play.steps.push(format!("{step:?}"));
        play.take(step);
    }
    let seen = play.engine.seen();
    let stdout = play.engine.stdout();
    Transcript {
        steps: play.steps,
        stdout: String::from_utf8(stdout).unwrap(),
        effects: seen.effects,
        requests: play.requests,
        status: play.engine.finish(),
    }
}

impl<E: Engine> Play<E> {
    /// Takes note of new records and of new requests to the model.
    fn look(&mut self) {
        let stdout = self.engine.stdout();
        for line in stdout[self.looked..].split_inclusive(|byte| *byte == b'\n') {
            assert!(line.ends_with(b"\n"), "a record that is cut");
            let record: Value = serde_json::from_slice(line).unwrap();
            let id = record["request_id"].clone();
            match record["type"].as_str() {
                Some("control_request") => self.questions.push(record),
                Some("control_cancel_request") => {
                    self.questions.retain(|open| open["request_id"] != id);
                }
                Some("result") => self.endless = false,
                _ => {}
            }
        }
        self.looked = stdout.len();
        for (id, open) in self.engine.seen().open {
            if open == Open::Model && !self.scripts.contains_key(&id) {
                self.requests.push(self.engine.request(id));
                let script = script(&mut self.tape, self.ended);
                self.endless |= script.iter().any(|say| say.bytes.contains(ENDLESS));
                self.scripts.insert(id, script.into());
            }
        }
    }

    fn choose(&mut self) -> Step {
        let seen = self.engine.seen();
        let passing = |(id, open): (&EffectId, &Open)| match open {
            Open::Model => Some(Step::Say(*id)),
            Open::Other => Some(Step::Release(*id)),
            Open::Endless => None,
        };
        let mut steps: Vec<Step> = seen.open.iter().filter_map(passing).collect();
        let written = self.tape.is_over();
        steps.extend(seen.late.iter().map(|id| Step::Release(*id)));
        if !self.ended && self.prompts > 0 && !written {
            steps.push(Step::Prompt);
        }
        let rulings = [Ruling::Allow, Ruling::Deny, Ruling::Always];
        for (question, ruling) in (0..self.questions.len()).flat_map(|n| rulings.map(|r| (n, r))) {
            if !self.ended {
                steps.push(Step::Answer(question, ruling));
            }
        }
        let chosen = self.interrupts > 0 && self.steps.len() > 4 && !written;
        let needed = seen.open.values().any(|open| *open == Open::Endless);
        if (chosen || needed && steps.is_empty()) && !self.ended {
            steps.push(Step::Interrupt);
        }
        let may_wait = seen.deadline.is_some() && self.waits > 0 && !written;
        if may_wait {
            steps.push(Step::Wait);
        }
        // The end may come while something is under way, but seldom does.
        let may_end = written || self.tape.below(16) == 1;
        let may_end = steps.is_empty() || may_end && !self.endless;
        if may_end && !self.ended {
            steps.push(Step::End);
        }
        if steps.is_empty() {
            // Nothing is left but time.
            return Step::Wait;
        }
        let at = self.tape.below(steps.len());
        steps.swap_remove(at)
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Release(id) => self.engine.release(id),
            Step::Say(id) => {
                let said = self.scripts.get_mut(&id).and_then(VecDeque::pop_front);
                let said = said.expect("an answer that goes on");
                let bytes = said.bytes.as_bytes();
                self.engine.say(id, bytes, said.close, said.pieces);
            }
            Step::Prompt => {
                self.prompts -= 1;
                let text = format!("prompt {}", PROMPTS - self.prompts);
                let message = json!({"role": "user", "content": text});
                self.write(&json!({"type": "user", "message": message,
                    "parent_tool_use_id": null}));
            }
            Step::Answer(at, ruling) => {
                let question = self.questions.remove(at);
                self.write(&json!({"type": "control_response", "response": {
                    "subtype": "success", "request_id": question["request_id"],
                    "response": answer(&question, ruling)}}));
            }
            Step::Interrupt => {
                self.interrupts = self.interrupts.saturating_sub(1);
                self.controls += 1;
                let id = format!("interrupt-{}", self.controls);
                self.write(&json!({"type": "control_request", "request_id": id,
                    "request": {"subtype": "interrupt"}}));
            }
            Step::Wait => {
                self.waits = self.waits.saturating_sub(1);
                let due = self.engine.seen().deadline.expect("a reason to wait");
                self.engine.advance(due);
            }
            Step::End => {
                self.ended = true;
                self.engine.end_input();
            }
        }
    }

    fn write(&mut self, record: &Value) {
        self.engine.write(format!("{record}\n").as_bytes());
    }
}

fn answer(question: &Value, ruling: Ruling) -> Value {
    let request = &question["request"];
    let (input, tool) = (&request["input"], &request["tool_name"]);
    match ruling {
        Ruling::Allow => json!({"behavior": "allow", "updatedInput": input}),
        Ruling::Always => json!({"behavior": "allow", "updatedInput": input,
            "updatedPermissions": [{"type": "addRules", "behavior": "allow",
                "destination": "localSettings", "rules": [{"toolName": tool}]}]}),
        Ruling::Deny => json!({"behavior": "deny", "message": "not now"}),
    }
}

/// How the model answers, in pieces; `ended` tells whether the input has.
fn script(tape: &mut Tape, ended: bool) -> Vec<Say> {
    const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let mut says = match tape.below(16) {
        0 => vec![text("well")],
        1 => vec![text("a longer "), text("answer "), text("in pieces")],
        2 => vec![
            text("two calls"),
            call(0, tape, ended),
            call(1, tape, ended),
        ],
        3..=5 => vec![
            call(0, tape, ended),
            call(1, tape, ended),
            call(2, tape, ended),
        ],
        6..=9 => vec![call(0, tape, ended)],
        10 => {
            let cut = Say {
                bytes: String::new(),
                close: true,
                pieces: 1,
            };
            return with_head(HEAD, vec![text("half an ans"), cut]);
        }
        11 => {
            let body = r#"{"error":{"message":"no such model"}}"#;
            let length = body.len();
            return vec![Say {
                bytes: format!("HTTP/1.1 400 Bad\r\ncontent-length: {length}\r\n\r\n{body}"),
                close: true,
                pieces: 1,
            }];
        }
        _ => vec![text("that"), text(" is all")],
    };
    says.push(Say {
        bytes: "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
                data: [DONE]\n\n"
            .to_owned(),
        close: true,
        pieces: 2,
    });
    with_head(HEAD, says)
}

fn with_head(head: &str, mut says: Vec<Say>) -> Vec<Say> {
    if let Some(first) = says.first_mut() {
        first.bytes.insert_str(0, head);
    }
    says
}

fn event(delta: &Value) -> String {
    format!("data: {}\n\n", json!({"choices": [{"delta": delta}]}))
}

fn text(text: &str) -> Say {
    Say {
        bytes: event(&json!({"content": text})),
        close: false,
        pieces: 1,
    }
}

fn call(index: usize, tape: &mut Tape, ended: bool) -> Say {
    let endless = format!("{ENDLESS} # {index}");
    let (name, input) = match tape.below(8) {
        0 => ("Read", json!({"file_path": "notes.txt"})),
        1 => ("Glob", json!({"pattern": "*.txt"})),
        2 => (
            "Grep",
            json!({"pattern": "t", "path": ".", "output_mode": "content"}),
        ),
        3 => (
            "Write",
            json!({"file_path": "made.txt", "content": "made\n"}),
        ),
        4 => (
            "Bash",
            json!({"command": "echo said; echo wrong >&2; exit 3"}),
        ),
        5 => (
            "Bash",
            json!({"command": "echo behind", "run_in_background": true}),
        ),
        // Nobody could interrupt it after the end of input.
        6 if !ended => ("Bash", json!({"command": endless, "timeout_ms": 600_000})),
        _ => ("Nothing", json!({"of": "that name"})),
    };
    let function = json!({"name": name, "arguments": input.to_string()});
    let calls = json!([{"index": index, "id": format!("call-{index}"), "type": "function",
        "function": function}]);
    Say {
        bytes: event(&json!({"tool_calls": calls})),
        close: false,
        pieces: 2,
    }
}
