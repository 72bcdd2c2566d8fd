//! The host's machine, held against a model of its own.
//!
//! The model reads what the host reads and knows what its embedder wants. Of each
//! input it says at once which outputs have to follow, in which order (`want`); the
//! host then has to say these and no others. So a call is answered once, a prompt
//! told once, an effect ended once, and no record is lost or comes before another.

mod want;

use super::json::is_json;
use super::told::Lines;
use super::tree::Node;
use super::way::Way;
use super::{Judged, broken};
use crate::event::Event;
use agentx_core::effect::EffectId;
use agentx_core::host::{Answer, CallId, Command, HostSession, Input, Output};
use agentx_core::limits::Limits;
use agentx_core::machine::Machine as _;
use agentx_core::schema::host::Prompt;
use agentx_core::time::Instant;
use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;
use std::time::Duration;
use want::{Closing, Outcome, Want};

/// The requests of an agent that a host knows.
const KNOWN: [&str; 4] = [
    "can_use_tool",
    "hook_callback",
    "mcp_message",
    "elicitation",
];

/// A call that waits.
#[derive(Debug)]
struct Call {
    id: CallId,
    /// Its id on the wire.
    wire: String,
    due: Instant,
}

/// A request of the agent that waits.
#[derive(Clone, Debug)]
struct Ask {
    /// Which of all requests it is.
    number: usize,
    request: String,
    tool_use_id: Option<String>,
}

/// One host, seen from the outside.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    now: Instant,
    lines: Lines,
    /// What the input at hand has to lead to, next first.
    wants: VecDeque<Want>,
    /// Whether the input at hand is a tick with nothing due.
    quiet: bool,
    /// Oldest first.
    calls: Vec<Call>,
    /// Oldest first.
    asks: Vec<Ask>,
    /// Requests so far.
    asked: usize,
    /// The effects of the requests that were started.
    effects: BTreeMap<usize, EffectId>,
    /// Oldest first.
    prompts: Vec<String>,
    /// Whether the agent's input has ended, as far as inputs tell.
    closed: bool,
    /// Whether the end of it was told.
    told_closed: bool,
    /// Whether the session has ended, as far as inputs tell.
    ended: bool,
    /// Whether its exit was told.
    exited: bool,
    unsent: usize,
}

impl Hosts {
    /// One event of a world.
    pub(crate) fn see(&mut self, now: Instant, event: &Event<'_>, way: &mut Way) -> Judged {
        match event {
            Event::Began { .. } => *self = Self::default(),
            Event::HostInput(input) => self.input(now, input, way),
            Event::HostRefused(misuse) => {
                return broken("no misuse by a good driver", "law 5", misuse.to_string());
            }
            Event::HostOutput(output) => return self.output(output, way),
            Event::HostDrained(host) => return self.drained(host),
            _ => {}
        }
        Ok(())
    }

    // ---- what has to follow ---------------------------------------------------------

    fn input(&mut self, now: Instant, input: &Input<'_>, way: &mut Way) {
        self.now = now;
        self.wants.clear();
        if self.ended {
            return;
        }
        self.time_out();
        self.quiet = matches!(input, Input::Tick) && self.wants.is_empty();
        match input {
            Input::Bytes(bytes) => self.read(bytes, way),
            Input::Eof => {
                let tail = self.lines.end();
                // Of a tail nothing is certain but that it was cut.
                let whole = tail.trim_ascii().is_empty() || is_json(&tail);
                if !whole || self.line(&tail, true, way).is_break() {
                    self.end(Closing::Fault);
                } else {
                    self.end(Closing::Stream);
                }
            }
            Input::Tick => {}
            Input::Command(command) => self.command(command),
            Input::Done(id, answer) => self.done(*id, answer),
            Input::Sent(bytes) => self.unsent = self.unsent.saturating_sub(*bytes),
            Input::WriteFailed if !self.closed => {
                self.close();
                self.close_calls();
            }
            Input::WriteFailed => {}
        }
    }

    /// What is due is due before the input that comes with it.
    fn time_out(&mut self) {
        let now = self.now;
        let mut over: Vec<Call> = self.calls.extract_if(.., |call| call.due <= now).collect();
        over.sort_by_key(|call| call.due);
        for call in over {
            self.wants
                .push_back(Want::Answered(call.id, Outcome::TimedOut));
        }
    }

    fn read(&mut self, bytes: &[u8], way: &mut Way) {
        let mut lines = std::mem::take(&mut self.lines);
        let mut fault = false;
        lines.feed(bytes, Limits::DEFAULT.record_bytes, |line| {
            let read = self.line(line, false, way);
            fault |= read.is_break();
            read
        });
        self.lines = lines;
        if fault {
            self.end(Closing::Fault);
        }
    }

    /// One line of the agent. Breaks where nobody can read on.
    fn line(&mut self, bytes: &[u8], tail: bool, way: &mut Way) -> ControlFlow<()> {
        if bytes.trim_ascii().is_empty() {
            return ControlFlow::Continue(());
        }
        let line = way.arrives(bytes);
        let record = line.node().filter(|record| record.is_object());
        let Some(record) = record.filter(|_| bytes.len() <= Limits::DEFAULT.record_bytes) else {
            return ControlFlow::Break(());
        };
        let kind = record.text_of("type").unwrap_or_default();
        let id = |object: Node<'_>| object.text_of("request_id").map(String::from);
        match &*kind {
            "control_request" => match id(record) {
                Some(id) => self.request(id, record.get("request")),
                None => return ControlFlow::Break(()),
            },
            "control_response" => match record
                .get("response")
                .and_then(|response| Some((id(response)?, response)))
            {
                Some((id, response)) => self.response(&id, response),
                None => return ControlFlow::Break(()),
            },
            "control_cancel_request" => match id(record) {
                Some(id) => self.taken_back(&id),
                None => return ControlFlow::Break(()),
            },
            "keep_alive" => {}
            _ => {
                if kind == "result" {
                    self.ends(record);
                }
                self.wants.push_back(Want::Record { line, tail });
                return ControlFlow::Continue(());
            }
        }
        way.done(line);
        ControlFlow::Continue(())
    }

    /// A prompt has its result.
    fn ends(&mut self, result: Node<'_>) {
        let ended = result.text_of("prompt_uuid");
        let place = self
            .prompts
            .iter()
            .position(|prompt| ended.as_deref() == Some(prompt));
        if let Some(place) = place {
            self.prompts.remove(place);
        }
    }

    fn request(&mut self, request: String, body: Option<Node<'_>>) {
        let open = self.asks.iter().any(|ask| ask.request == request);
        if self.closed || open {
            return;
        }
        let said = |name: &str| body.and_then(|body| body.text_of(name));
        let subtype = said("subtype").unwrap_or_default();
        if !KNOWN.contains(&&*subtype) || self.asks.len() >= Limits::DEFAULT.host_requests {
            self.wants.push_back(Want::Reply {
                request,
                fails: true,
                tool_use_id: None,
            });
            return;
        }
        self.asked += 1;
        let ask = Ask {
            number: self.asked,
            request,
            tool_use_id: said("tool_use_id")
                .filter(|_| subtype == KNOWN[0])
                .map(String::from),
        };
        self.wants.push_back(Want::Start {
            number: ask.number,
            subtype: subtype.into_owned(),
            tool_use_id: ask.tool_use_id.clone(),
        });
        self.asks.push(ask);
    }

    fn response(&mut self, id: &str, response: Node<'_>) {
        let Some(place) = self.calls.iter().position(|call| call.wire == id) else {
            return;
        };
        let call = self.calls.remove(place);
        let outcome = match response.text_of("subtype").as_deref() {
            Some("success") => {
                let payload = response.get("response").map(Node::raw);
                let payload = payload.filter(|payload| *payload != b"null");
                Outcome::Payload(payload.map(<[u8]>::to_vec))
            }
            Some("error") => Outcome::Refused(response.text_of("error").map(String::from)),
            _ => Outcome::Invalid,
        };
        self.wants.push_back(Want::Answered(call.id, outcome));
    }

    fn taken_back(&mut self, id: &str) {
        if let Some(place) = self.asks.iter().position(|ask| ask.request == id) {
            let ask = self.asks.remove(place);
            self.wants.push_back(Want::Cancel(ask.number));
        }
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Prompt(prompt) => self.prompt(prompt),
            Command::Call { id, timeout, .. } => self.call(*id, *timeout),
            Command::Forget(id) => {
                if let Some(place) = self.calls.iter().position(|call| call.id == *id) {
                    self.calls.remove(place);
                    self.wants
                        .push_back(Want::Answered(*id, Outcome::Forgotten));
                }
            }
            Command::Environment(_) if self.closed => self.wants.push_back(Want::Unsent(None)),
            Command::Environment(_) => self
                .wants
                .push_back(Want::Sent("update_environment_variables")),
            Command::KeepAlive if self.closed => {}
            Command::KeepAlive => self.wants.push_back(Want::Sent("keep_alive")),
            Command::Close => self.close(),
            Command::Abandon => self.end(Closing::Abandoned),
        }
    }

    fn prompt(&mut self, prompt: &Prompt) {
        let uuid = prompt.uuid.as_deref();
        let bad = uuid.is_some_and(|uuid| !is_uuid(uuid) || self.waits(uuid));
        if bad || self.closed || self.prompts.len() >= Limits::DEFAULT.host_prompts {
            self.wants
                .push_back(Want::Unsent(uuid.map(String::from).or(Some(String::new()))));
            return;
        }
        self.wants.push_back(Want::Prompt(uuid.map(String::from)));
        self.wants.push_back(Want::Prompted);
    }

    fn waits(&self, uuid: &str) -> bool {
        self.prompts.iter().any(|prompt| prompt == uuid)
    }

    fn call(&mut self, id: CallId, timeout: Option<Duration>) {
        if self.calls.len() >= Limits::DEFAULT.host_calls {
            self.wants.push_back(Want::Answered(id, Outcome::Unsent));
        } else if self.closed {
            self.wants.push_back(Want::Answered(id, Outcome::Closed));
        } else {
            let timeout = timeout.unwrap_or(Limits::DEFAULT.host_call_timeout);
            let due = self.now.after(timeout);
            self.wants.push_back(Want::Call(id, due));
        }
    }

    fn done(&mut self, id: EffectId, answer: &Answer) {
        let of = |ask: &Ask| self.effects.get(&ask.number) == Some(&id);
        // Of one that was taken back nothing follows.
        let Some(place) = self.asks.iter().position(of) else {
            return;
        };
        let ask = self.asks.remove(place);
        let fails = match answer {
            Answer::Failed(_) => true,
            Answer::Hook(says) => !says.as_str().starts_with('{'),
            Answer::Permit(_) | Answer::Elicit(_) | Answer::Mcp(_) => false,
        };
        self.wants.push_back(Want::Reply {
            request: ask.request,
            fails,
            tool_use_id: ask.tool_use_id,
        });
    }

    fn close(&mut self) {
        if !self.closed {
            self.closed = true;
            self.cancel_asks();
            self.wants.push_back(Want::CloseInput);
        }
    }

    fn cancel_asks(&mut self) -> usize {
        let asks = std::mem::take(&mut self.asks);
        let cancels = asks.iter().map(|ask| Want::Cancel(ask.number));
        self.wants.extend(cancels);
        asks.len()
    }

    fn close_calls(&mut self) -> usize {
        let calls = std::mem::take(&mut self.calls);
        let closed = calls
            .iter()
            .map(|call| Want::Answered(call.id, Outcome::Closed));
        self.wants.extend(closed);
        calls.len()
    }

    /// The session ends: every waiter is closed, every effect cancelled.
    fn end(&mut self, end: Closing) {
        let calls = self.close_calls();
        let requests = self.cancel_asks();
        self.close();
        self.ended = true;
        self.wants.push_back(Want::Exit {
            end,
            calls,
            requests,
            prompts: std::mem::take(&mut self.prompts),
        });
    }

    // ---- what follows ---------------------------------------------------------------

    fn output(&mut self, output: &Output, way: &mut Way) -> Judged {
        if self.exited {
            return broken("nothing after an exit", "law 5", format!("{output:?}"));
        }
        if self.quiet {
            let what = format!("a tick that was not due made {output:?}");
            return broken("an early tick changes nothing", "law 3", what);
        }
        match output {
            Output::Diagnostic(_) => return Ok(()),
            Output::Transmit(record) if self.told_closed => {
                let what = String::from_utf8_lossy(record.as_bytes()).into_owned();
                return broken("nothing is sent behind a closed input", "WIRE-015", what);
            }
            Output::Transmit(record) => self.unsent += record.as_bytes().len(),
            _ => {}
        }
        let Some(want) = self.wants.pop_front() else {
            return want::unwanted(output);
        };
        if self.meets(&want, output) {
            if let Want::Record { line, .. } = want {
                way.done(line);
            }
            return Ok(());
        }
        let (rule, requirement) = want.held_by();
        let what = format!("due is {want:?}, and the host says {output:?}");
        broken(rule, requirement, what)
    }

    fn drained(&mut self, host: &HostSession) -> Judged {
        self.quiet = false;
        if let Some(want) = self.wants.front() {
            let (rule, requirement) = want.held_by();
            return broken(rule, requirement, format!("{want:?} did not come"));
        }
        let due = self.calls.iter().map(|call| call.due).min();
        if host.deadline() != due {
            let what = format!("{:?}, and a call waits until {due:?}", host.deadline());
            return broken("the deadline is that of the first call", "law 3", what);
        }
        if host.waiting_calls() != self.calls.len() {
            let what = format!("{} calls, not {}", host.waiting_calls(), self.calls.len());
            return broken("a call waits until it is answered", "WIRE-006", what);
        }
        if host.waiting_prompts() != self.prompts.len() && !self.ended {
            let (has, open) = (host.waiting_prompts(), self.prompts.len());
            let what = format!("{has} prompts, not {open}");
            return broken("a prompt waits for its result", "DEC-21", what);
        }
        let effects = &self.effects;
        let lost = |ask: &&Ask| {
            let effect = effects.get(&ask.number);
            !effect.is_some_and(|effect| host.is_open(*effect))
        };
        if let Some(ask) = self.asks.iter().find(lost) {
            let what = format!("{ask:?} is not");
            return broken("a request is open until it is settled", "law 5", what);
        }
        let wants = host.wants();
        if wants.bytes == self.ended {
            let what = format!("{wants:?}");
            return broken("the agent is read to its end", "law 4", what);
        }
        Ok(())
    }
}

/// Whether a prompt may be named by this.
fn is_uuid(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let lengths = parts.iter().map(|part| part.len());
    lengths.eq([8, 4, 4, 4, 12])
        && parts
            .iter()
            .all(|part| part.bytes().all(|byte| byte.is_ascii_hexdigit()))
        && matches!(parts[2].as_bytes()[0], b'1'..=b'8')
        && matches!(
            parts[3].as_bytes()[0],
            b'8' | b'9' | b'a' | b'b' | b'A' | b'B'
        )
}
