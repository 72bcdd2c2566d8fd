//! The machine over one connection: connect, secure, ask, read the answer.
//!
//! ```text
//! Connecting --Connected--> Securing --handshake done--> Waiting --head--> Streaming
//!     |          (plain: straight to Waiting)              |                  |
//!     +-- a failure, a limit or Cancel in any phase: Failed --> Over <-- Done +
//! ```
//!
//! The driver connects to [`Exchange::target`], then reports what the socket
//! did, at most [`SEND_STEP_BYTES`] of input at a time (DEC-28). It writes every
//! [`Output::Write`] in order and says how far it got
//! ([`Input::Wrote`]); the next slice of the request body follows that, so a
//! large body is neither encrypted at once nor queued whole (DEC-28). After
//! [`Output::Done`] or [`Output::Failed`] it tries once to write what is queued
//! (it may be an alert), without waiting, and closes the connection.
//!
//! An answer may come while the body is still being sent. With a status of 300
//! or above the rest is not sent any more; either way the exchange is over when
//! the answer is. A failed write does not end it: the peer may have answered
//! first, so what it sent is read before the failure is told.

mod outgoing;
mod vocabulary;

use self::outgoing::Outgoing;
use super::codec::{ResponseReader, Step};
use super::failure::{CutAt, Phase, RequestFault, TransportFailure};
use super::limits::Limits;
use super::request::encode_head;
use crate::tls::Transform;
use agentx_core::machine::{Machine, Misuse, Wants};
use agentx_core::time::Instant;
use agentx_providers::http::{HttpRequest, Scheme};
use agentx_providers::registry::Secret;
use rustls::ClientConfig;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

pub use self::vocabulary::{Input, Output};

/// Most request bytes that are encoded in one step, and most that are handed
/// out and not yet written, before encryption (DEC-28).
pub const SEND_STEP_BYTES: usize = 256 * 1024;

/// Unwritten bytes under which the next slice is handed out.
const SEND_AGAIN_BYTES: usize = SEND_STEP_BYTES / 2;

/// Lowest status at which the unsent rest of the request is of no use.
const FIRST_STATUS_WITHOUT_NEED: u16 = 300;

/// One request and its answer over one connection.
pub struct Exchange {
    stage: Stage,
    host: String,
    port: u16,
    transform: Transform,
    reader: ResponseReader,
    outgoing: Outgoing,
    outputs: VecDeque<Output>,
    limits: Limits,
    started: Instant,
    /// When something last moved; what the limit of the phase counts from.
    progress: Instant,
    /// Time of the last input.
    now: Instant,
    /// Bytes handed out as `Write` and not yet reported as written.
    unwritten: usize,
    write_failed: bool,
    paused: bool,
}

/// How far the exchange is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Connecting,
    Securing,
    Waiting,
    Streaming,
    Over,
}

impl Exchange {
    /// Prepares the exchange of `request` as of `now`. `credential` fills the
    /// request's slot, if it has one; `tls` is needed for `https` alone
    /// ([`crate::tls::TrustStore::config`]).
    ///
    /// # Errors
    ///
    /// Why the request cannot be sent: a [`TransportFailure::Request`], or a
    /// host that no certificate can be for.
    pub fn new(
        now: Instant,
        request: HttpRequest,
        credential: Option<&Secret>,
        tls: Option<Arc<ClientConfig>>,
        limits: &Limits,
    ) -> Result<Self, TransportFailure> {
        let head = encode_head(&request, credential)?;
        let transform = match (request.scheme, tls) {
            (Scheme::Http, _) => Transform::Plain,
            (Scheme::Https, Some(config)) => Transform::tls(config, &request.host)?,
            (Scheme::Https, None) => return Err(RequestFault::TlsMissing.into()),
        };
        Ok(Self {
            stage: Stage::Connecting,
            host: request.host,
            port: request.port,
            transform,
            reader: ResponseReader::new(limits, request.method == "HEAD"),
            outgoing: Outgoing::new(head, request.body),
            outputs: VecDeque::new(),
            limits: *limits,
            started: now,
            progress: now,
            now,
            unwritten: 0,
            write_failed: false,
            paused: false,
        })
    }

    /// Host (a name, or an address without brackets) and port to connect to.
    #[must_use]
    pub fn target(&self) -> (&str, u16) {
        (&self.host, self.port)
    }

    /// Whether the exchange has ended; there may still be output to take.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over)
    }

    /// Refuses what the contract does not allow now.
    fn check(&self, now: Instant, input: &Input<'_>) -> Result<(), Misuse> {
        if now < self.now {
            return Err(Misuse::TimeReversed);
        }
        let connected = match self.stage {
            Stage::Over => return Err(Misuse::InputAfterExit),
            Stage::Connecting => false,
            Stage::Securing | Stage::Waiting | Stage::Streaming => true,
        };
        match input {
            Input::Connected | Input::ConnectFailed(_) if connected => Err(Misuse::WrongState),
            Input::Bytes(_) | Input::Eof | Input::ReadFailed | Input::Wrote(_) if !connected => {
                Err(Misuse::WrongState)
            }
            Input::WriteFailed if !connected || self.write_failed => Err(Misuse::WrongState),
            Input::Wrote(count) if *count > self.unwritten => Err(Misuse::WrongAnswer),
            _ => Ok(()),
        }
    }

    fn connected(&mut self) {
        self.progress = self.now;
        if self.transform.is_ready() {
            self.stage = Stage::Waiting;
        } else {
            self.stage = Stage::Securing;
        }
        self.write_on();
    }

    /// Takes bytes of the transport through all three layers, a TLS record at
    /// a time. What follows the end of the exchange is nobody's.
    fn receive(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !self.is_over() {
            let received = self.transform.receive(&mut bytes);
            if self.stage == Stage::Securing && self.transform.is_ready() {
                self.stage = Stage::Waiting;
                self.progress = self.now;
            }
            if !received.plaintext.is_empty() {
                self.progress = self.now;
                self.read(&received.plaintext);
            }
            if self.is_over() {
                return;
            }
            if let Some(fault) = received.fault {
                self.hand_out_pending();
                self.fail(TransportFailure::Tls(fault));
            } else if received.closed {
                self.end_of_stream();
            } else {
                self.write_on();
            }
        }
    }

    /// Decodes plaintext; the body bytes of one call leave together.
    fn read(&mut self, mut plaintext: &[u8]) {
        let mut body = Vec::new();
        let end = loop {
            match self.reader.step(&mut plaintext) {
                Step::More => break None,
                Step::Head(head) => {
                    self.stage = Stage::Streaming;
                    if head.status >= FIRST_STATUS_WITHOUT_NEED {
                        self.outgoing.clear();
                    }
                    self.outputs.push_back(Output::Head {
                        status: head.status,
                        headers: head.headers,
                    });
                }
                Step::Body(piece) => body.extend_from_slice(piece),
                Step::End => break Some(Output::Done),
                Step::Fault(fault) => {
                    break Some(Output::Failed(TransportFailure::Answer(fault)));
                }
            }
        };
        if !body.is_empty() {
            self.outputs.push_back(Output::Body(body));
        }
        if let Some(end) = end {
            self.end(end);
        }
    }

    /// The peer sends nothing more, and said so.
    fn end_of_stream(&mut self) {
        match self.cut() {
            None => self.end(Output::Done),
            Some(at) => self.end_cut(at),
        }
    }

    /// The transport ended without a word of the layer above it, which a
    /// truncation by others looks like too.
    fn transport_ended(&mut self, in_order: bool) {
        let trusted = in_order && matches!(self.transform, Transform::Plain);
        if !trusted && self.reader.ends_with_stream() {
            self.end_cut(CutAt::Body);
        } else {
            self.end_of_stream();
        }
    }

    fn cut(&self) -> Option<CutAt> {
        match self.stage {
            Stage::Connecting | Stage::Securing => Some(CutAt::Handshake),
            _ => self.reader.at_end_of_stream().err(),
        }
    }

    fn end_cut(&mut self, at: CutAt) {
        self.fail(match at {
            CutAt::Answer if self.write_failed => TransportFailure::Write,
            at => TransportFailure::Cut(at),
        });
    }

    fn wrote(&mut self, count: usize) {
        self.unwritten -= count;
        if count > 0 && self.stage == Stage::Waiting {
            self.progress = self.now;
        }
        self.write_on();
    }

    fn write_failed(&mut self) {
        self.write_failed = true;
        self.unwritten = 0;
        self.outgoing.clear();
        self.progress = self.now;
    }

    /// Hands out what the channel wants to send, and behind it the next slice
    /// of the request when the transport has room for it.
    fn write_on(&mut self) {
        let open = matches!(self.stage, Stage::Waiting | Stage::Streaming);
        if !open || self.outgoing.is_empty() || self.unwritten > SEND_AGAIN_BYTES {
            self.hand_out_pending();
            return;
        }
        let room = SEND_STEP_BYTES.saturating_sub(self.unwritten);
        match self.transform.send(self.outgoing.next(room)) {
            Ok(bytes) => self.hand_out(bytes),
            Err(fault) => self.fail(TransportFailure::Tls(fault)),
        }
    }

    fn hand_out_pending(&mut self) {
        let pending = self.transform.take_pending();
        self.hand_out(pending);
    }

    fn hand_out(&mut self, bytes: Vec<u8>) {
        if bytes.is_empty() || self.write_failed {
            return;
        }
        self.unwritten = self.unwritten.saturating_add(bytes.len());
        self.outputs.push_back(Output::Write(bytes));
    }

    fn tick(&mut self) {
        let total = self.started.after(self.limits.total);
        let phase = self.phase_deadline();
        let due = phase.filter(|(at, _)| *at <= self.now && *at < total);
        if let Some((_, failure)) = due {
            self.fail(failure);
        } else if total <= self.now {
            self.fail(TransportFailure::Timeout(Phase::Total));
        }
    }

    /// When the current phase has lasted too long, and what that is then.
    fn phase_deadline(&self) -> Option<(Instant, TransportFailure)> {
        let (span, failure) = match self.stage {
            Stage::Over => return None,
            _ if self.paused => return None,
            Stage::Connecting => (
                self.limits.connect,
                TransportFailure::Timeout(Phase::Connect),
            ),
            _ if self.write_failed && self.stage != Stage::Streaming => {
                (self.limits.after_write_failure, TransportFailure::Write)
            }
            Stage::Securing => (
                self.limits.handshake,
                TransportFailure::Timeout(Phase::Handshake),
            ),
            Stage::Waiting => (self.limits.head, TransportFailure::Timeout(Phase::Head)),
            Stage::Streaming => (self.limits.idle, TransportFailure::Timeout(Phase::Body)),
        };
        Some((self.progress.after(span), failure))
    }

    fn fail(&mut self, failure: TransportFailure) {
        self.end(Output::Failed(failure));
    }

    fn end(&mut self, output: Output) {
        self.outputs.push_back(output);
        self.outgoing.clear();
        self.stage = Stage::Over;
    }
}

impl Machine for Exchange {
    type Input<'a> = Input<'a>;
    type Output = Output;

    fn handle(&mut self, now: Instant, input: Input<'_>) -> Result<(), Misuse> {
        self.check(now, &input)?;
        self.now = now;
        match input {
            Input::Connected => self.connected(),
            Input::ConnectFailed(failure) => self.fail(TransportFailure::Connect(failure)),
            Input::Bytes(bytes) => self.receive(bytes),
            Input::Eof => self.transport_ended(true),
            Input::ReadFailed => self.transport_ended(false),
            Input::Wrote(count) => self.wrote(count),
            Input::WriteFailed => self.write_failed(),
            Input::Pause => self.paused = true,
            Input::Resume => {
                self.paused = false;
                self.progress = now;
            }
            Input::Tick => self.tick(),
            Input::Cancel => self.fail(TransportFailure::Cancelled),
        }
        Ok(())
    }

    fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        if !self.outputs.is_empty() {
            return Some(self.now);
        }
        if self.is_over() {
            return None;
        }
        let total = self.started.after(self.limits.total);
        Some(match self.phase_deadline() {
            Some((at, _)) => at.min(total),
            None => total,
        })
    }

    fn wants(&self) -> Wants {
        let reading = matches!(
            self.stage,
            Stage::Securing | Stage::Waiting | Stage::Streaming
        );
        Wants {
            bytes: reading && !self.paused,
            progress: self.unwritten > 0 && !self.is_over(),
        }
    }
}

/// The stage and sizes: no byte of either side.
impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange")
            .field("stage", &self.stage)
            .field("transform", &self.transform)
            .field("unwritten", &self.unwritten)
            .field("unsent", &self.outgoing.len())
            .finish_non_exhaustive()
    }
}
