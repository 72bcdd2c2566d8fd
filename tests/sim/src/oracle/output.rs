//! The one FIFO (WIRE-003), whole lines, and what a closed output lets through:
//! nothing (WIRE-015). Unsent bytes and backpressure (DEC-36).

use super::model::Model;
use super::said::Said;
use super::{Drained, Judged, Oracle, broken};
use crate::event::Event;
use agentx_core::agent::{Config, Input, Output};
use agentx_core::effect::{Answer, EffectId, Request, Verdict};

/// What the output may do.
#[derive(Debug, Default)]
pub(crate) struct Out {
    /// Records that were let go, from the first that the host has not read.
    way: Vec<u8>,
    /// Bytes of them that it has read.
    arrived: usize,
    unsent: usize,
    /// The record that is being judged.
    vetted: Option<(EffectId, Vec<u8>)>,
    /// The record that passed, until it leaves.
    passed: Option<Vec<u8>>,
}

fn torn(line: &[u8]) -> Judged {
    let what = String::from_utf8_lossy(line).into_owned();
    broken("a record is one JSON object on one line", "WIRE-003", what)
}

impl Out {
    fn transmit(&mut self, model: &Model, line: &[u8]) -> Judged {
        if model.latched {
            let what = String::from_utf8_lossy(line).into_owned();
            return broken("nothing leaves a closed output", "WIRE-015", what);
        }
        let one_line = memchr::memchr(b'\n', line).is_some_and(|at| at + 1 == line.len())
            && !memchr::memchr_iter(0xe2, line)
                .any(|at| matches!(line[at..], [_, 0x80, 0xa8 | 0xa9, ..]));
        if !one_line {
            return torn(line);
        }
        if model.rules.vets && self.passed.take().as_deref() != Some(line) {
            let what = String::from_utf8_lossy(line).into_owned();
            return broken("what was judged is what leaves", "WIRE-015", what);
        }
        self.way.extend_from_slice(line);
        self.unsent += line.len();
        Ok(())
    }

    fn read(&mut self, bytes: &[u8]) -> Judged {
        if !self.way[self.arrived..].starts_with(bytes) {
            let what = String::from_utf8_lossy(bytes).into_owned();
            return broken("records arrive as they were let go", "WIRE-003", what);
        }
        self.arrived += bytes.len();
        if self.arrived == self.way.len() {
            self.way.clear();
            self.arrived = 0;
        }
        Ok(())
    }
}

impl Oracle for Out {
    fn began(&mut self, _config: &Config) {
        *self = Self::default();
    }

    fn input(&mut self, _model: &Model, input: &Input<'_>) -> Judged {
        match input {
            Input::Sent(bytes) => self.unsent = self.unsent.saturating_sub(*bytes),
            Input::Done(id, Answer::Vetted(verdict)) => {
                let judged = self.vetted.take_if(|(open, _)| open == id);
                self.passed = judged
                    .filter(|_| *verdict == Verdict::Passed)
                    .map(|(_, copy)| copy);
            }
            _ => {}
        }
        Ok(())
    }

    fn output(&mut self, model: &Model, output: &Output) -> Judged {
        match output {
            Output::Transmit(record) => self.transmit(model, record.as_bytes()),
            Output::Start(id, Request::Vet(copy)) => {
                if model.latched {
                    return broken(
                        "nothing leaves a closed output",
                        "WIRE-015",
                        "a validator was asked",
                    );
                }
                if self.vetted.is_some() || self.passed.is_some() {
                    return broken(
                        "one record drains at a time",
                        "WIRE-003",
                        "two are being judged",
                    );
                }
                self.vetted = Some((*id, copy.clone()));
                Ok(())
            }
            Output::Start(_, Request::Model(_) | Request::Tool(_) | Request::Task(_))
                if model.latched =>
            {
                broken(
                    "nothing begins behind a closed output",
                    "WIRE-015",
                    format!("{output:?}"),
                )
            }
            Output::Cancel(id) => {
                self.vetted.take_if(|(open, _)| open == id);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn said(&mut self, _model: &Model, line: &[u8], said: &Said<'_>) -> Judged {
        if *said == Said::Unsound {
            return torn(line);
        }
        if *said == Said::Unreadable {
            let what = String::from_utf8_lossy(line).into_owned();
            return broken("a record has a known form", "WIRE-003", what);
        }
        Ok(())
    }

    fn drained(&mut self, model: &Model, drained: &Drained) -> Judged {
        if self.passed.is_some() && !model.latched {
            return broken("what passed leaves at once", "WIRE-003", "it did not");
        }
        if model.exited || model.lags() {
            return Ok(());
        }
        let limits = &model.rules.limits;
        let over = |limit: usize| self.unsent > limit;
        if !model.latched && drained.wants.progress == over(limits.progress_pause_bytes) {
            let what = format!(
                "{} bytes are unsent, and progress is {:?}",
                self.unsent, drained.wants
            );
            return broken("progress pauses above its mark", "DEC-36", what);
        }
        let open = !model.eof && !model.closing && !model.latched;
        if open && drained.wants.bytes == over(limits.input_pause_bytes) {
            let what = format!(
                "{} bytes are unsent, and input is {:?}",
                self.unsent, drained.wants
            );
            return broken("input pauses above its mark", "DEC-36", what);
        }
        Ok(())
    }

    fn event(&mut self, _model: &Model, event: &Event<'_>) -> Judged {
        match event {
            Event::HostRead(bytes) => self.read(bytes),
            _ => Ok(()),
        }
    }
}
