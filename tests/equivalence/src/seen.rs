//! What passes between a session and whoever runs it.

use agentx_core::agent::{Input, Output, log};
use agentx_core::effect::{EffectId, Request};
use agentx_core::time::Instant;
use std::collections::{BTreeMap, BTreeSet};

/// A command that does not end by itself.
pub(crate) const ENDLESS: &str = "exec sleep 600";

/// What an open effect is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// A model request.
    Model,
    /// Something that has more to tell.
    Other,
    /// A tool that goes on until it is cancelled.
    Endless,
}

/// The session so far, as seen from outside.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Effects that began, were told about, were cancelled or ended, in order;
    /// and what the session told the embedder and the operator.
    pub effects: Vec<String>,
    /// Effects that are open.
    pub open: BTreeMap<EffectId, Open>,
    /// Effects that were cancelled and still have something to tell, too late.
    pub late: BTreeSet<EffectId>,
    /// Pieces of news that were taken, by their effect.
    pub taken: BTreeMap<EffectId, usize>,
    /// Bytes of input that were taken.
    pub bytes: usize,
    /// Whether the end of input was taken.
    pub ended: bool,
    /// Ticks that were taken.
    pub ticks: usize,
    /// Bytes of records that the session wrote, and that it was told were sent.
    pub written: usize,
    /// See `written`.
    pub sent: usize,
    /// When the session wants a tick.
    pub deadline: Option<Instant>,
    /// The exit status that it told.
    pub exit: Option<u8>,
}

impl Seen {
    /// The session takes this.
    pub(crate) fn input(&mut self, input: &Input<'_>) {
        match input {
            // Where the bytes were cut and when they were sent is the pipe's matter.
            Input::Bytes(bytes) => self.bytes += bytes.len(),
            Input::Sent(count) => self.sent += count,
            Input::Eof => self.ended = true,
            Input::Tick => self.ticks += 1,
            Input::Progress(id, _) | Input::Done(id, _) => {
                *self.taken.entry(*id).or_default() += 1;
            }
            Input::Command(_) | Input::WriteFailed => {}
        }
        if let Input::Done(id, _) = input {
            self.open.remove(id);
            self.late.remove(id);
        }
        if !matches!(input, Input::Sent(_)) {
            self.effects.extend(log::write(input));
        }
    }

    /// The session says this.
    pub(crate) fn output(&mut self, output: &Output) {
        match output {
            Output::Transmit(record) => {
                self.written += record.as_bytes().len();
                return;
            }
            Output::Start(id, request) => {
                self.open.insert(*id, kind(request));
            }
            Output::Cancel(id) => {
                if self.open.remove(id) == Some(Open::Other) {
                    self.late.insert(*id);
                }
            }
            Output::Exit(status) => self.exit = Some(*status),
            Output::Reply(..) | Output::Event(_) | Output::Diagnostic(_) => {}
        }
        self.effects.push(match output {
            Output::Start(id, Request::Vet(record)) => {
                format!("Start({id:?}, Vet({}))", String::from_utf8_lossy(record))
            }
            output => format!("{output:?}"),
        });
    }
}

fn kind(request: &Request) -> Open {
    match request {
        Request::Model(_) => Open::Model,
        Request::Tool(request) if request.call.input.as_str().contains(ENDLESS) => Open::Endless,
        _ => Open::Other,
    }
}
