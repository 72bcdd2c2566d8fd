//! The wire between bytes and records: one way in, one FIFO out (WIRE-003).
//!
//! Outbound, a record is encoded whole, guarded over its exact final bytes and
//! queued (WIRE-013). Where the embedder vets records, the head of the queue
//! waits for its verdict. A leak, a refusal or a failed write latches one fixed
//! failure: nothing leaves after it (WIRE-015).
//!
//! ```text
//! send -> encode -> guard -> fifo -> [vet] -> transmit
//!                    \__________________\____> latched
//! ```

use crate::frame::{FrameError, Framer, Line};
use crate::guard::Guard;
use crate::json::{RawJson, Reason, ScanLimits, Scanner, Value, Writer, without_unpaired};
use crate::lazy::Lazy;
use crate::limits::Limits;
use crate::mark::{Marks, mark};
use crate::plant::{Planted, planted};
use crate::schema::inbound::{self, Inbound, Malformed, ParseContext};
use crate::schema::received::{self, Received};
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::marker::PhantomData;

/// What a link reads: any record of the peer.
pub trait Incoming: Sized {
    /// Reads one scanned record, whose raw line has `line_bytes`.
    ///
    /// # Errors
    ///
    /// [`Malformed`] when the fault ends the stream.
    fn parse(
        value: Value<'_>,
        context: &ParseContext<'_>,
        line_bytes: usize,
    ) -> Result<Self, Malformed>;
}

/// What an agent reads.
impl Incoming for Inbound {
    fn parse(
        value: Value<'_>,
        context: &ParseContext<'_>,
        line_bytes: usize,
    ) -> Result<Self, Malformed> {
        inbound::parse(value, context, line_bytes)
    }
}

/// What a host reads.
impl Incoming for Received {
    fn parse(value: Value<'_>, context: &ParseContext<'_>, _: usize) -> Result<Self, Malformed> {
        received::parse(value, context)
    }
}

/// One whole record: escaped, guarded, with its newline. Only a link makes one.
#[derive(Clone, PartialEq, Eq)]
pub struct Record(Vec<u8>);

impl Record {
    /// The bytes to write.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes, for a writer that owns them.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

impl core::fmt::Debug for Record {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Record({})", String::from_utf8_lossy(&self.0).trim_end())
    }
}

/// What the link lets go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outgoing {
    /// A record that may be written.
    Transmit(Record),
    /// A copy of the record at the head, to be judged.
    Vet(Vec<u8>),
}

/// Why a record did not enter the queue. Carries nothing of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It held a credential; the link is latched from here on.
    Credential,
    /// It repeats a member name (DEC-03).
    Ambiguous,
    /// It is no single JSON object.
    Malformed,
    /// It takes more bytes than it may.
    TooLong,
    /// The link was latched before.
    Latched,
}

impl Refused {
    /// The fixed text of this refusal.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Credential => "the record holds a credential",
            Self::Ambiguous => "ambiguous JSON: duplicate member name",
            Self::Malformed => "the record is not one JSON object",
            Self::TooLong => "the record is too long",
            Self::Latched => "the output is closed",
        }
    }
}

/// A fault of the input stream that ends it (DEC-10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Line, counted from 1, blank ones included.
    pub line: u64,
    /// Byte within the line, counted from 1.
    pub byte: u64,
    /// What is wrong; a fixed text.
    pub reason: &'static str,
    /// The beginning of the line, bounded. Peer text that is not guarded yet:
    /// longer than what is shown, so that a credential is seen whole first.
    pub source: Vec<u8>,
}

impl core::fmt::Display for Fault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self {
            line, byte, reason, ..
        } = self;
        write!(
            f,
            "malformed NDJSON input: line {line}, byte {byte}: {reason}"
        )
    }
}

/// Both directions of one record stream: of an agent, which reads [`Inbound`], or
/// of a host, which reads [`Received`].
#[derive(Debug)]
pub struct Link<R = Inbound> {
    framer: Framer,
    /// Made for the first record.
    scanner: Lazy<Scanner>,
    session_id: String,
    reference: bool,
    vets: bool,
    asked: bool,
    latched: bool,
    fifo: VecDeque<Vec<u8>>,
    /// Bytes of the records in `fifo`.
    waiting: usize,
    /// Whether a record had unpaired surrogates, until that is told.
    repaired: bool,
    marks: Marks,
    planted: Planted,
    reads: PhantomData<fn() -> R>,
}

impl Link {
    /// A link of an agent that has seen and said nothing. `vets`: every record
    /// waits for a verdict.
    #[must_use]
    pub fn new(limits: &Limits, session_id: String, vets: bool) -> Self {
        Self::reading(limits, session_id, vets)
    }
}

impl Link<Received> {
    /// A link of a host that has seen and said nothing. Escapes of half a character
    /// are repaired, since nothing is decided by the words that hold them.
    #[must_use]
    pub fn of_host(limits: &Limits) -> Self {
        Self::reading(limits, String::new(), false).for_reference(true)
    }
}

impl<R: Incoming> Link<R> {
    fn reading(limits: &Limits, session_id: String, vets: bool) -> Self {
        Self {
            framer: Framer::new(limits),
            scanner: Lazy::NEW,
            session_id,
            reference: false,
            vets,
            asked: false,
            latched: false,
            fifo: VecDeque::new(),
            waiting: 0,
            repaired: false,
            marks: Marks::NONE,
            planted: limits.planted(),
            reads: PhantomData,
        }
    }

    /// The same, reading records as the profile `reference` takes them, or not.
    #[must_use]
    pub fn for_reference(self, reference: bool) -> Self {
        Self { reference, ..self }
    }

    /// The requirement marks that were reached.
    #[must_use]
    pub const fn marks(&self) -> Marks {
        self.marks
    }

    // ---- in -------------------------------------------------------------------------

    /// The next record of `bytes`, which shrinks by what was taken. `None`: all
    /// is taken, and an unfinished line is kept. `guard` keeps its literals out of
    /// the words of the peer that a refusal cuts and shows (DEC-30).
    pub fn next(
        &mut self,
        bytes: &mut &[u8],
        guard: &Guard,
        limits: &Limits,
    ) -> Option<Result<R, Fault>> {
        let line = self.framer.next(bytes)?;
        let context = ParseContext {
            session_id: &self.session_id,
            limits,
            guard,
            reference: self.reference,
        };
        let read = read(&mut self.scanner, line, &context, &mut self.marks);
        self.repaired |= matches!(read, Ok((_, true)));
        Some(read.map(|(record, _)| record))
    }

    /// The record that the end of the input completes, if any (WIRE-EOF-001).
    pub fn end(&mut self, guard: &Guard, limits: &Limits) -> Option<Result<R, Fault>> {
        let line = self.framer.end()?;
        mark!(self.marks, WIRE_EOF_001);
        let context = ParseContext {
            session_id: &self.session_id,
            limits,
            guard,
            reference: self.reference,
        };
        let read = read(&mut self.scanner, line, &context, &mut self.marks);
        self.repaired |= matches!(read, Ok((_, true)));
        Some(read.map(|(record, _)| record))
    }

    /// Whether the newest record had unpaired surrogate escapes, which were taken
    /// as U+FFFD (DEC-04). Asked once.
    pub const fn take_repaired(&mut self) -> bool {
        core::mem::replace(&mut self.repaired, false)
    }

    // ---- out ------------------------------------------------------------------------

    /// Encodes one record, guards its final bytes and queues it.
    ///
    /// # Errors
    ///
    /// [`Refused::Credential`] latches the link; [`Refused::Latched`] after that.
    pub fn send(&mut self, guard: &Guard, write: impl FnOnce(&mut Writer)) -> Result<(), Refused> {
        self.send_within(usize::MAX, guard, write)
    }

    /// The same for a record that may take `limit` bytes, its newline included.
    ///
    /// # Errors
    ///
    /// As [`Link::send`], and [`Refused::TooLong`], after which the link is as
    /// it was (DEC-34).
    pub fn send_within(
        &mut self,
        limit: usize,
        guard: &Guard,
        write: impl FnOnce(&mut Writer),
    ) -> Result<(), Refused> {
        if self.latched {
            return Err(Refused::Latched);
        }
        let mut writer = Writer::with_buffer(Vec::with_capacity(FIRST_BYTES));
        write(&mut writer);
        self.enqueue(guard, limit, writer.finish())
    }

    /// Queues a record that comes as text, such as a stored one.
    ///
    /// # Errors
    ///
    /// As [`Link::send`]; a record that repeats a name at any depth, holds half
    /// of a surrogate pair, or is no object, is refused and the link stays usable
    /// (WIRE-014, DEC-04).
    pub fn send_raw(&mut self, guard: &Guard, text: &str) -> Result<(), Refused> {
        if self.latched {
            return Err(Refused::Latched);
        }
        let record = RawJson::parse(text).map_err(|error| {
            if error.reason == Reason::DuplicateName {
                Refused::Ambiguous
            } else {
                Refused::Malformed
            }
        })?;
        if record.has_unpaired_surrogate() || !record.is_object() {
            return Err(Refused::Malformed);
        }
        self.enqueue(guard, usize::MAX, record.as_str().as_bytes().to_vec())
    }

    /// Queues a record whose final bytes, its newline included, were guarded.
    ///
    /// # Errors
    ///
    /// [`Refused::Latched`] when the output is closed.
    pub(crate) fn send_checked(&mut self, bytes: Vec<u8>) -> Result<(), Refused> {
        if self.latched {
            return Err(Refused::Latched);
        }
        mark!(self.marks, WIRE_003);
        self.waiting = self.waiting.saturating_add(bytes.len());
        self.fifo.push_back(bytes);
        Ok(())
    }

    fn enqueue(&mut self, guard: &Guard, limit: usize, mut bytes: Vec<u8>) -> Result<(), Refused> {
        bytes.push(b'\n');
        // Before it may be cut, which would make two halves of a credential.
        if guard.check(&bytes).is_err() {
            let half = bytes.get(..bytes.len() / 2).unwrap_or_default();
            if planted!(self.planted, Wire013) && guard.check(half).is_ok() {
                return self.send_checked(bytes);
            }
            mark!(self.marks, WIRE_013);
            self.latch();
            return Err(Refused::Credential);
        }
        if bytes.len() > limit {
            mark!(self.marks, DEC_34);
            return Err(Refused::TooLong);
        }
        self.send_checked(bytes)
    }

    /// What may leave now, in order.
    pub fn poll(&mut self) -> Option<Outgoing> {
        if self.vets {
            if self.asked {
                return None;
            }
            let copy = self.fifo.front()?.clone();
            self.asked = true;
            return Some(Outgoing::Vet(copy));
        }
        self.take().map(Outgoing::Transmit)
    }

    fn take(&mut self) -> Option<Record> {
        let bytes = self.fifo.pop_front()?;
        self.waiting = self.waiting.saturating_sub(bytes.len());
        Some(Record(bytes))
    }

    /// The record at the head passed its validator.
    pub fn vetted(&mut self) -> Option<Record> {
        if !core::mem::take(&mut self.asked) {
            return None;
        }
        self.take()
    }

    /// Closes the output for good: what waits is dropped, what comes is refused.
    pub fn latch(&mut self) {
        self.latched = true;
        self.asked = false;
        self.fifo.clear();
        self.waiting = 0;
    }

    /// Whether the output is closed for good.
    #[must_use]
    pub const fn is_latched(&self) -> bool {
        self.latched
    }

    /// Bytes of the records that wait (DEC-36).
    #[must_use]
    pub const fn waiting_bytes(&self) -> usize {
        self.waiting
    }

    /// Gives back the room for records when none waits.
    pub fn rest(&mut self) {
        if self.fifo.is_empty() {
            self.fifo = VecDeque::new();
        }
    }

    /// Whether no record waits.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        self.fifo.is_empty()
    }
}

/// Memory taken for a record before its length is known, in bytes; most need no more.
pub(crate) const FIRST_BYTES: usize = 512;

/// Bytes of an offending line that are kept so that it can be shown.
const SOURCE_BYTES: usize = 32 * 1024;

impl Fault {
    fn new(line: u64, byte: usize, reason: &'static str, source: &[u8]) -> Self {
        let source = source.get(..SOURCE_BYTES).unwrap_or(source).to_vec();
        Self {
            line,
            byte: byte as u64,
            reason,
            source,
        }
    }
}

fn read<R: Incoming>(
    scanner: &mut Scanner,
    line: Result<Line<'_>, FrameError<'_>>,
    context: &ParseContext<'_>,
    marks: &mut Marks,
) -> Result<(R, bool), Fault> {
    let Line { number, bytes, .. } =
        line.map_err(|error| Fault::new(error.line, error.byte, error.reason, error.source))?;
    let fault = |at: usize, reason| Fault::new(number, at.saturating_add(1), reason, bytes);
    let depths = ScanLimits {
        max_depth: context.limits.depth,
        node_depth: context.limits.node_depth,
    };
    let value = match scanner.scan(bytes, &depths) {
        Ok(value) => value,
        Err(error) => {
            if error.reason == Reason::DuplicateName {
                if planted!(context.limits.planted(), Wire014) {
                    let nothing = scanner.scan(b"{\"type\":\"keep_alive\"}", &depths);
                    let nothing =
                        nothing.map_err(|error| fault(error.at, error.reason.as_str()))?;
                    return R::parse(nothing, context, 0)
                        .map(|record| (record, false))
                        .map_err(|error| fault(error.at, error.reason));
                }
                mark!(marks, WIRE_014);
            }
            return Err(fault(error.at, error.reason.as_str()));
        }
    };
    let parse = |value: Value<'_>| {
        R::parse(value, context, bytes.len()).map_err(|error| fault(error.at, error.reason))
    };
    if !context.reference || !value.has_unpaired_surrogate() {
        return parse(value).map(|record| (record, false));
    }
    mark!(marks, DEC_04);
    // Existing hosts send such escapes. Names that differ in nothing else are
    // the same name then, which the second look tells.
    let repaired = without_unpaired(&String::from_utf8_lossy(bytes));
    let value = scanner
        .scan(repaired.as_bytes(), &depths)
        .map_err(|error| fault(error.at, error.reason.as_str()))?;
    parse(value).map(|record| (record, true))
}
