//! Where the records of a session go and where its input comes from.

use super::Post;
use crate::contain::contained;
use crate::stdio::{self, Gate, Writer};
use crate::world::{Host, HostPort, Stdio};
use std::io::{self, Read, Write};
use std::sync::Arc;

/// The streams of a process.
pub struct Streams {
    /// Read to its end, on a thread.
    pub input: Box<dyn Read + Send>,
    /// Written in order, on a thread.
    pub output: Box<dyn Write + Send>,
    /// Lines for the operator, on a thread.
    pub errors: Box<dyn Write + Send>,
}

impl Streams {
    /// Those of this process.
    #[must_use]
    pub fn of_process() -> Self {
        Self {
            input: Box::new(io::stdin()),
            output: Box::new(io::stdout()),
            errors: Box::new(io::stderr()),
        }
    }
}

impl std::fmt::Debug for Streams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Streams").finish_non_exhaustive()
    }
}

/// How the record begins that tells how a turn ended.
const RESULT: &[u8] = br#"{"type":"result","#;

/// The host of this process stands for stdin and stdout, or neither does.
pub(super) enum Wire {
    Records {
        writer: Writer,
        /// Absent where stdin is not read.
        gate: Option<Gate>,
    },
    Text {
        writer: Writer,
        terminal: bool,
    },
    Document {
        writer: Writer,
    },
    /// Gone once it has failed.
    Host(Option<Box<dyn Host>>),
}

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// The writer has it and will tell.
    Queued,
    /// It was taken.
    Taken,
    /// Nobody takes records any more.
    Failed,
}

impl Wire {
    /// Opens the streams; gives the prompts to run first, too.
    pub(super) fn open(
        stdio: Stdio,
        input: Box<dyn Read + Send>,
        output: Box<dyn Write + Send>,
        post: &Post,
    ) -> io::Result<(Self, Vec<String>)> {
        let writer = || Writer::start(output, Arc::clone(post));
        Ok(match stdio {
            Stdio::Records { prompts, stdin } => {
                let reader = || stdio::read(input, Arc::clone(post));
                let wire = Self::Records {
                    writer: writer()?,
                    gate: stdin.then(reader).transpose()?,
                };
                (wire, prompts)
            }
            Stdio::Text { prompts, terminal } => {
                let writer = writer()?;
                (Self::Text { writer, terminal }, prompts)
            }
            Stdio::Document { prompts } => (Self::Document { writer: writer()? }, prompts),
            Stdio::Host(mut host) => {
                let port = HostPort::new(post);
                if contained(|| host.connect(port)).is_none() {
                    HostPort::new(post).fail();
                }
                (Self::Host(Some(host)), Vec::new())
            }
        })
    }

    /// Whether the input is over after the prompts that came with the wire.
    pub(super) const fn is_one_shot(&self) -> bool {
        matches!(
            self,
            Self::Text { .. } | Self::Document { .. } | Self::Records { gate: None, .. }
        )
    }

    /// Passes a record on. What a host in this process says to it is posted, as
    /// a reader thread would: so the loop looks at everything else in between,
    /// however chatty the host is.
    pub(super) fn transmit(&mut self, record: Vec<u8>, post: &Post) -> Fate {
        match self {
            Self::Records { writer, .. } => {
                writer.send(record);
                Fate::Queued
            }
            Self::Document { writer } if record.starts_with(RESULT) => {
                writer.send(record);
                Fate::Queued
            }
            Self::Text { .. } | Self::Document { .. } => Fate::Taken,
            Self::Host(slot) => {
                let Some(mut host) = slot.take() else {
                    return Fate::Taken;
                };
                let taken = contained(|| (host.record(&record), host.takes_later()));
                let Some((reply, later)) = taken else {
                    let _ = contained(|| drop(host));
                    return Fate::Failed;
                };
                *slot = Some(host);
                let port = HostPort::new(post);
                port.send(&reply.input);
                if reply.end {
                    port.end();
                }
                if later { Fate::Queued } else { Fate::Taken }
            }
        }
    }

    /// Shows a line for the operator where the host does that; else false.
    pub(super) fn report(&mut self, line: &str) -> bool {
        match self {
            // A panic here is one of the host; the next record tells.
            Self::Host(Some(host)) => contained(|| host.report(line)).unwrap_or(false),
            Self::Host(None) | Self::Records { .. } | Self::Text { .. } | Self::Document { .. } => {
                false
            }
        }
    }

    /// The piece of input that was read last was taken.
    pub(super) fn taken(&self) {
        if let Self::Records {
            gate: Some(gate), ..
        } = self
        {
            gate.open();
        }
    }

    /// What writes to stdout, where something does.
    pub(super) const fn writer(&mut self) -> Option<&mut Writer> {
        match self {
            Self::Records { writer, .. }
            | Self::Text { writer, .. }
            | Self::Document { writer } => Some(writer),
            Self::Host(_) => None,
        }
    }
}
