//! The host's side: what it has sent, what it was asked, and how it answers.

use super::peer::{About, Ask, News, Peer};
use super::records;
use super::{Step, What, World};
use crate::event::{Event, Watch};
use crate::fault::Fault;
use std::collections::VecDeque;

/// Answers and questions that are remembered, to be misused later.
const REMEMBERED: usize = 8;

/// The host process.
#[derive(Debug, Default)]
pub(super) struct Desk {
    pub(super) peer: Peer,
    /// Lines that were not written yet, oldest first.
    pub(super) out: VecDeque<Vec<u8>>,
    /// Bytes of the first of them that were.
    pub(super) written: usize,
    /// Whether a read or a write is set up.
    pub(super) reading: bool,
    pub(super) writing: bool,
    /// Whether the host's side ends behind what is still to be written.
    pub(super) ended: bool,
    /// Whether the agent's side has ended.
    pub(super) over: bool,
    /// Requests of the agent that wait, oldest first, and whether nothing is set
    /// up for them.
    pub(super) asks: Vec<(Ask, bool)>,
    /// Answers that were sent.
    pub(super) answered: VecDeque<Vec<u8>>,
    /// Questions that were asked: id of the request, id of the call.
    pub(super) asked: VecDeque<(String, String)>,
    /// Prompts that were sent.
    pub(super) prompts: u32,
    /// Other requests that were sent.
    pub(super) controls: u32,
    /// Ids of tasks that the agent told of.
    pub(super) tasks: VecDeque<String>,
}

impl<W: Watch> World<'_, W> {
    /// Sends a line behind all others; `own` says whether the host's machine wrote it.
    pub(super) fn send(&mut self, line: Vec<u8>, own: bool) -> Step {
        if self.desk.ended || self.up.is_closed() || self.agent.gone {
            return Ok(());
        }
        self.records += 1;
        self.see(&Event::Sent { line: &line, own })?;
        self.desk.out.push_back(line);
        self.set_up_host();
        Ok(())
    }

    /// The host reads bytes of the agent.
    pub(super) fn host_feed(&mut self, bytes: &[u8]) -> Step {
        self.see(&Event::HostRead(bytes))?;
        self.desk.peer.take(bytes);
        while let Some(news) = self.desk.peer.poll() {
            match news {
                News::Asked(ask) => self.asked(ask)?,
                News::Withdrawn(number) => {
                    self.desk.asks.retain(|(ask, _)| ask.number != number);
                }
            }
        }
        Ok(())
    }

    fn asked(&mut self, ask: Ask) -> Step {
        let number = ask.number;
        let silent = match &ask.about {
            About::Permission { tool_use_id } => {
                if self.desk.asked.len() == REMEMBERED {
                    self.desk.asked.pop_front();
                }
                let asked = (ask.request_id.clone(), tool_use_id.clone());
                self.desk.asked.push_back(asked);
                self.strikes(Fault::HostSilent, 8)?
            }
            About::Hook | About::Message { .. } | About::Question => {
                self.strikes(Fault::HostSilent, 16)?
            }
        };
        self.desk.asks.push((ask, silent));
        if !silent {
            let delay = self.delay();
            self.after(delay, What::HostAnswers(number));
        }
        Ok(())
    }

    /// The host answers what it was silent about.
    pub(super) fn speak_up(&mut self) {
        let silent: Vec<u64> = self
            .desk
            .asks
            .iter_mut()
            .filter(|(_, silent)| *silent)
            .map(|(ask, silent)| {
                *silent = false;
                ask.number
            })
            .collect();
        for number in silent {
            self.after(0, What::HostAnswers(number));
        }
    }

    /// The host answers one request of the agent, if it still waits.
    pub(super) fn host_answers(&mut self, number: u64) -> Step {
        let place = self
            .desk
            .asks
            .iter()
            .position(|(ask, _)| ask.number == number);
        let Some(place) = place else {
            return Ok(());
        };
        let (ask, _) = self.desk.asks.remove(place);
        self.desk.peer.answered(number);
        let line = if self.strikes(Fault::HostError, 10)? {
            records::failure(&ask.request_id, "the host cannot say")
        } else if self.strikes(Fault::WrongPayload, 8)? {
            let wrong = records::WRONG[self.tape.below(records::WRONG.len())];
            records::answer(&ask.request_id, wrong)
        } else {
            let payload = self.payload(&ask);
            records::answer(&ask.request_id, &payload)
        };
        if self.desk.answered.len() == REMEMBERED {
            self.desk.answered.pop_front();
        }
        self.desk.answered.push_back(line.clone());
        let twice = self.strikes(Fault::DuplicateReply, 12)?;
        if twice {
            self.send(line.clone(), true)?;
        }
        self.send(line, !twice)
    }

    fn payload(&mut self, ask: &Ask) -> String {
        match &ask.about {
            About::Permission { tool_use_id } => {
                if self.calm {
                    return records::PERMISSIONS[1].to_string();
                }
                let said = records::PERMISSIONS[self.tape.below(records::PERMISSIONS.len())];
                match self.tape.below(8) {
                    6 => records::with_tool(said, tool_use_id),
                    7 => {
                        let other = self.other_call().unwrap_or_default();
                        records::with_tool(said, &other)
                    }
                    _ => said.to_string(),
                }
            }
            About::Hook => {
                records::CALLBACKS[self.tape.below(records::CALLBACKS.len())].to_string()
            }
            About::Message { method, id } => {
                let way = if self.calm { 0 } else { self.tape.below(16) };
                records::message(method, id, way)
            }
            About::Question => {
                records::QUESTIONS[self.tape.below(records::QUESTIONS.len())].to_string()
            }
        }
    }

    /// Some call that was asked about.
    pub(super) fn other_call(&mut self) -> Option<String> {
        let count = self.desk.asked.len();
        (count > 0).then(|| self.desk.asked[self.tape.below(count)].1.clone())
    }

    /// The host is told the time.
    pub(super) fn host_tick(&mut self) -> Step {
        Ok(())
    }

    /// The agent's side has ended.
    pub(super) fn host_end(&mut self) -> Step {
        self.desk.over = true;
        self.desk.asks.clear();
        Ok(())
    }
}
