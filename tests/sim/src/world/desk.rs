//! The host process: its session, and what it asks the world.

use super::{Step, What, World, answers, records};
use crate::event::{Event, Violation, Watch};
use crate::fault::Fault;
use agentx_core::effect::EffectId;
use agentx_core::host::{Command, Config, End, Exit, HostSession, Input, Output, Request};
use agentx_core::machine::Machine as _;
use agentx_core::time::Instant;
use std::collections::VecDeque;

/// Answers and questions that are remembered, to be misused later.
const REMEMBERED: usize = 8;

/// A line on its way to the agent.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) bytes: Vec<u8>,
    /// Whether the host's session wrote it.
    pub(super) own: bool,
}

/// A request of the agent that waits for the host's answer.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub(super) id: EffectId,
    pub(super) request: Request,
    /// Whether nothing is set up for it.
    pub(super) silent: bool,
}

/// What is known of a request of the agent, from its record.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) request_id: String,
    pub(super) tool_use_id: String,
    /// Whether it was answered or withdrawn.
    pub(super) closed: bool,
}

/// The host process.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) session: HostSession,
    /// Lines that were not written yet, oldest first.
    pub(super) out: VecDeque<Line>,
    /// Bytes of the first of them that were.
    pub(super) written: usize,
    /// Whether a read or a write is set up.
    pub(super) reading: bool,
    pub(super) writing: bool,
    /// When the next tick is set up.
    pub(super) tick_at: Option<u64>,
    /// Whether its side ends behind what is still to be written.
    pub(super) ended: bool,
    /// Whether it was told that it cannot write.
    pub(super) broken: bool,
    /// Whether it has ended.
    pub(super) over: bool,
    /// Requests of the agent that wait, oldest first.
    pub(super) asks: Vec<Ask>,
    /// Requests that the agent took back and that are answered all the same.
    pub(super) late: Vec<Ask>,
    /// Calls that were made.
    pub(super) calls: u64,
    /// Prompts that were sent.
    pub(super) prompts: u32,
    /// Prompts that have no result yet, as far as anybody can tell.
    pub(super) waiting: u32,
    /// Answers that were sent.
    pub(super) answered: VecDeque<Vec<u8>>,
    /// Questions about calls, as the agent's records tell.
    pub(super) asked: VecDeque<Asked>,
    /// Tasks that the agent has told of.
    pub(super) tasks: VecDeque<String>,
}

impl Desk {
    pub(super) fn new(config: Config, now: Instant) -> Self {
        Self {
            session: HostSession::new(config, now),
            out: VecDeque::new(),
            written: 0,
            reading: false,
            writing: false,
            tick_at: None,
            ended: false,
            broken: false,
            over: false,
            asks: Vec::new(),
            late: Vec::new(),
            calls: 0,
            prompts: 0,
            waiting: 0,
            answered: VecDeque::new(),
            asked: VecDeque::new(),
            tasks: VecDeque::new(),
        }
    }

    /// Looks at a record of the agent for what can be misused later.
    pub(super) fn overhear(&mut self, record: &[u8]) {
        if record.starts_with(br#"{"type":"result""#) {
            self.waiting = self.waiting.saturating_sub(1);
        } else if let Some(request_id) = records::request_id(record) {
            if let Some(tool_use_id) = records::asked_about(record) {
                remember(
                    &mut self.asked,
                    Asked {
                        request_id,
                        tool_use_id,
                        closed: false,
                    },
                );
            }
        } else if let Some(task) = records::started_task(record) {
            remember(&mut self.tasks, task);
        } else if record.starts_with(br#"{"type":"control_cancel_request""#) {
            self.closes(record);
        }
    }

    /// Takes note of a record that closes the question whose id it bears.
    fn closes(&mut self, record: &[u8]) {
        for asked in &mut self.asked {
            let id = format!(r#""request_id":"{}""#, asked.request_id);
            asked.closed |= memchr::memmem::find(record, id.as_bytes()).is_some();
        }
    }
}

/// Keeps the newest.
fn remember<T>(list: &mut VecDeque<T>, new: T) {
    if list.len() == REMEMBERED {
        list.pop_front();
    }
    list.push_back(new);
}

impl<W: Watch> World<'_, W> {
    /// Puts a line of nobody on the wire, behind all others.
    pub(super) fn inject(&mut self, bytes: Vec<u8>) -> Step {
        self.inject_fault(None, bytes)
    }

    /// The same for a fault, which has happened where the line gets that far.
    pub(super) fn inject_fault(&mut self, fault: Option<Fault>, bytes: Vec<u8>) -> Step {
        if self.desk.ended || self.up.is_closed() || self.agent.gone {
            return Ok(());
        }
        if let Some(fault) = fault {
            self.happened(fault)?;
        }
        self.records += 1;
        self.put(Line { bytes, own: false })
    }

    fn put(&mut self, line: Line) -> Step {
        if line.bytes.starts_with(br#"{"type":"control_response""#) {
            self.desk.closes(&line.bytes);
        }
        self.see(&Event::Sent {
            line: &line.bytes,
            own: line.own,
        })?;
        self.desk.out.push_back(line);
        self.set_up_host();
        Ok(())
    }

    /// The embedder of the host wants something.
    pub(super) fn order(&mut self, command: Command) -> Step {
        self.host_feed(Input::Command(command))
    }

    /// Feeds the host and does what it says.
    pub(super) fn host_feed(&mut self, input: Input<'_>) -> Step {
        if self.desk.over {
            return Ok(());
        }
        let now = self.instant();
        self.see(&Event::HostInput(&input))?;
        if let Err(misuse) = self.desk.session.handle(now, input) {
            self.see(&Event::HostRefused(misuse))?;
            let what = format!("the host refused an input: {misuse}");
            return Err(Violation::new("misuse", "law 5", what));
        }
        while let Some(output) = self.desk.session.poll() {
            self.see(&Event::HostOutput(&output))?;
            match output {
                Output::Transmit(record) => {
                    self.records += 1;
                    let bytes = record.into_bytes();
                    if bytes.starts_with(br#"{"type":"control_response""#) {
                        remember(&mut self.desk.answered, bytes.clone());
                    }
                    self.put(Line { bytes, own: true })?;
                }
                Output::Start(id, request) => self.asked(id, request)?,
                Output::Cancel(id) => self.ask_cancelled(id),
                Output::CloseInput => self.desk.ended = true,
                Output::Exit(exit) => self.host_exits(&exit)?,
                Output::Event(_) | Output::Diagnostic(_) => {}
            }
        }
        let now = self.instant();
        self.host_marks = self.host_marks.union(self.desk.session.marks());
        self.watch
            .see(now, &Event::HostDrained(&self.desk.session))?;
        if let Some(deadline) = self.desk.session.deadline() {
            let at = deadline.as_micros();
            if self.desk.tick_at.is_none_or(|earlier| at < earlier) {
                self.desk.tick_at = Some(at);
                self.after(at.saturating_sub(self.now), What::HostTick);
            }
        }
        self.set_up_host();
        Ok(())
    }

    /// The host is over. Nothing but a cut stream may be unreadable to it.
    fn host_exits(&mut self, exit: &Exit) -> Step {
        self.desk.over = true;
        self.desk.asks.clear();
        self.desk.late.clear();
        if matches!(exit.end, End::Fault { .. }) && !self.down.is_closed() {
            let what = format!("the host cannot read the agent: {:?}", exit.end);
            return Err(Violation::new("records", "DEC-47", what));
        }
        self.up.close();
        self.set_up_agent();
        Ok(())
    }

    fn asked(&mut self, id: EffectId, request: Request) -> Step {
        let times = if matches!(request, Request::Permit(_)) {
            8
        } else {
            16
        };
        let silent = self.strikes(Fault::HostSilent, times)?;
        self.desk.asks.push(Ask {
            id,
            request,
            silent,
        });
        if !silent {
            let pause = self.pause();
            self.after(pause, What::HostAnswers(id));
        }
        Ok(())
    }

    /// The host answers what it was silent about.
    pub(super) fn speak_up(&mut self) {
        let asks = self.desk.asks.iter_mut();
        let silent = asks.filter_map(|ask| std::mem::take(&mut ask.silent).then_some(ask.id));
        let silent: Vec<EffectId> = silent.collect();
        for id in silent {
            self.after(0, What::HostAnswers(id));
        }
    }

    /// The host answers one request of the agent, if it still waits.
    pub(super) fn host_answers(&mut self, id: EffectId) -> Step {
        let Some(place) = self.desk.asks.iter().position(|ask| ask.id == id) else {
            return Ok(());
        };
        if let Request::Permit(asked) = &self.desk.asks[place].request {
            let call = asked.tool_use_id.to_string();
            if self.threatens(Fault::WrongPayload, 6) {
                return self.answer_wrongly(id, &call);
            }
            if !self.calm && self.tape.one_in(6) {
                return self.answer_by_hand(place, &call);
            }
        }
        let request = self.desk.asks.remove(place).request;
        let answer = if self.strikes(Fault::HostError, 10)? {
            agentx_core::host::Answer::Failed("the host cannot say".to_string())
        } else {
            answers::answer(&mut self.tape, &request, self.calm)
        };
        self.host_feed(Input::Done(id, answer))?;
        if self.threatens(Fault::DuplicateReply, 12)
            && let Some(line) = self.desk.answered.back().cloned()
        {
            return self.inject_fault(Some(Fault::DuplicateReply), line);
        }
        Ok(())
    }

    /// A request is settled by its cancellation; who works on it may not know yet.
    fn ask_cancelled(&mut self, id: EffectId) {
        let Some(place) = self.desk.asks.iter().position(|ask| ask.id == id) else {
            return;
        };
        let ask = self.desk.asks.remove(place);
        if !self.calm && self.tape.one_in(4) {
            self.desk.late.push(ask);
            let pause = self.pause();
            self.after(pause, What::HostAnswersLate(id));
        }
    }

    /// The host answers a request that was cancelled.
    pub(super) fn host_answers_late(&mut self, id: EffectId) -> Step {
        let Some(place) = self.desk.late.iter().position(|ask| ask.id == id) else {
            return Ok(());
        };
        let request = self.desk.late.remove(place).request;
        let answer = answers::answer(&mut self.tape, &request, self.calm);
        self.host_feed(Input::Done(id, answer))
    }

    /// Something answers for the host, and wrongly; its own answer comes later.
    fn answer_wrongly(&mut self, id: EffectId, call: &str) -> Step {
        let pause = self.pause();
        self.after(pause, What::HostAnswers(id));
        let asked = self
            .desk
            .asked
            .iter()
            .find(|asked| asked.tool_use_id == call);
        let Some(request_id) = asked.map(|asked| asked.request_id.clone()) else {
            return Ok(());
        };
        let wrong = records::WRONG[self.tape.below(records::WRONG.len())];
        self.inject_fault(
            Some(Fault::WrongPayload),
            records::answer(&request_id, wrong),
        )
    }

    /// An answer as another host would write it; the session's own comes later.
    fn answer_by_hand(&mut self, place: usize, call: &str) -> Step {
        let id = self.desk.asks[place].id;
        let pause = self.pause();
        self.after(pause, What::HostAnswers(id));
        let asked = self
            .desk
            .asked
            .iter()
            .find(|asked| asked.tool_use_id == call);
        let Some(request_id) = asked.map(|asked| asked.request_id.clone()) else {
            return Ok(());
        };
        let said = records::PERMISSIONS[self.tape.below(records::PERMISSIONS.len())];
        let line = match self.tape.below(4) {
            0 | 1 => {
                let other = self.other_call().unwrap_or_default();
                records::answer(&request_id, &records::with_tool(said, &other))
            }
            2 if self.tape.one_in(2) => records::named("perhaps", &request_id, said),
            2 => records::stamped(&request_id, said, "00000000-0000-4000-8000-00000000abcd"),
            _ => records::answer(&request_id, said),
        };
        self.inject(line)
    }

    /// Some call that was asked about.
    pub(super) fn other_call(&mut self) -> Option<String> {
        let count = self.desk.asked.len();
        (count > 0).then(|| self.desk.asked[self.tape.below(count)].tool_use_id.clone())
    }

    /// The host is told the time, if it still wants to be.
    pub(super) fn host_tick(&mut self, at: u64) -> Step {
        if self.desk.tick_at != Some(at) {
            return Ok(());
        }
        self.desk.tick_at = None;
        self.host_feed(Input::Tick)
    }
}
