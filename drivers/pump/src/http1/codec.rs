//! Reading one HTTP/1.1 answer, strictly.
//!
//! ```text
//! Head --1xx, at most 8--> Head
//!   | final head
//!   +--> Counted --+
//!   +--> Chunked --+--> Ended          any state --> Failed (latched)
//!   +--> UntilClose   (end of stream)
//! ```
//!
//! The head is parsed once, when its blank line is found; the search goes on
//! where it stopped, so a head that comes byte by byte costs the same. Framing
//! is decided here, not by the parser. A fault is a step of its own: what was
//! decoded before it has been handed out by then, whatever the cuts were.

mod chunked;
mod framing;
mod head;

use self::chunked::{Chunk, ChunkReader};
use self::framing::Framing;
use self::head::HeadReader;
use super::failure::{AnswerFault, CutAt};
use super::limits::Limits;

pub use self::head::{MAX_FIELDS, ResponseHead};

/// One step of reading an answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// The input is used up.
    More,
    /// The final head.
    Head(ResponseHead),
    /// Bytes of the body, at least one.
    Body(&'a [u8]),
    /// The answer is complete. Whatever follows is not part of it.
    End,
    /// The answer breaks a rule; every later step says the same.
    Fault(AnswerFault),
}

/// Decodes one answer, fed by slices.
#[derive(Debug)]
pub struct ResponseReader {
    state: State,
    limits: Limits,
    /// Whether the request was a HEAD, whose answer has no body.
    bodiless: bool,
    interim: u32,
    /// Body bytes that may still come before the answer is too large.
    body_room: u64,
}

#[derive(Debug)]
enum State {
    Head(HeadReader),
    Counted(u64),
    Chunked(ChunkReader),
    UntilClose,
    Ended,
    Failed(AnswerFault),
}

impl ResponseReader {
    /// A reader for the answer to one request; `bodiless` when that was a HEAD.
    #[must_use]
    pub fn new(limits: &Limits, bodiless: bool) -> Self {
        Self {
            state: State::Head(HeadReader::default()),
            limits: *limits,
            bodiless,
            interim: 0,
            body_room: limits.body_bytes,
        }
    }

    /// Takes the next part from the front of `input`. Call it until it answers
    /// [`Step::More`], [`Step::End`] or [`Step::Fault`].
    pub fn step<'a>(&mut self, input: &mut &'a [u8]) -> Step<'a> {
        let step = match &mut self.state {
            State::Head(_) => self.step_head(input),
            State::Counted(0) | State::Ended => Ok(Step::End),
            State::Counted(left) => {
                let most = usize::try_from(*left).unwrap_or(usize::MAX);
                let piece = take(input, most);
                *left -= piece.len() as u64;
                Ok(Step::Body(piece))
            }
            State::Chunked(chunks) => chunks.step(input, &self.limits).map(|chunk| match chunk {
                Chunk::More => Step::More,
                Chunk::Data(piece) => Step::Body(piece),
                Chunk::End => Step::End,
            }),
            State::UntilClose => Ok(Step::Body(take(input, usize::MAX))),
            State::Failed(fault) => Err(*fault),
        };
        match step {
            Ok(Step::Body([])) => Step::More,
            Ok(Step::Body(piece)) => self.bound(piece),
            Ok(Step::End) => {
                self.state = State::Ended;
                Step::End
            }
            Ok(step) => step,
            Err(fault) => self.fail(fault),
        }
    }

    /// Judges the end of the stream, after all input was stepped through.
    ///
    /// # Errors
    ///
    /// Where the answer was cut when it is not complete.
    pub const fn at_end_of_stream(&self) -> Result<(), CutAt> {
        match &self.state {
            State::UntilClose | State::Counted(0) | State::Ended => Ok(()),
            State::Head(head) if head.is_empty() && self.interim == 0 => Err(CutAt::Answer),
            State::Head(_) => Err(CutAt::Head),
            State::Counted(_) | State::Chunked(_) | State::Failed(_) => Err(CutAt::Body),
        }
    }

    /// Whether the body ends only with the stream, so that a truncation shows
    /// in nothing else.
    #[must_use]
    pub const fn ends_with_stream(&self) -> bool {
        matches!(self.state, State::UntilClose)
    }

    fn step_head<'a>(&mut self, input: &mut &'a [u8]) -> Result<Step<'a>, AnswerFault> {
        loop {
            let State::Head(reader) = &mut self.state else {
                return Ok(Step::More);
            };
            if !reader.fill(input, self.limits.head_bytes)? {
                return Ok(Step::More);
            }
            let parsed = reader.parse()?;
            match parsed.head.status {
                101 => return Err(AnswerFault::Upgrade),
                100..=199 => {
                    self.interim += 1;
                    if self.interim > self.limits.interim_heads {
                        return Err(AnswerFault::TooManyInterim);
                    }
                    self.state = State::Head(HeadReader::default());
                }
                _ => {
                    self.state = match framing::of(&parsed, self.bodiless)? {
                        Framing::Counted(length) => State::Counted(length),
                        Framing::Chunked => State::Chunked(ChunkReader::default()),
                        Framing::UntilClose => State::UntilClose,
                    };
                    return Ok(Step::Head(parsed.head));
                }
            }
        }
    }

    /// Hands out as much of `piece` as the limit of the body allows; the fault
    /// is latched behind it.
    fn bound<'a>(&mut self, piece: &'a [u8]) -> Step<'a> {
        let room = usize::try_from(self.body_room).unwrap_or(usize::MAX);
        let Some((allowed, rest)) = piece.split_at_checked(room) else {
            self.body_room -= piece.len() as u64;
            return Step::Body(piece);
        };
        self.body_room = 0;
        if !rest.is_empty() {
            self.state = State::Failed(AnswerFault::BodyTooLarge);
        }
        if allowed.is_empty() {
            return Step::Fault(AnswerFault::BodyTooLarge);
        }
        Step::Body(allowed)
    }

    fn fail<'a>(&mut self, fault: AnswerFault) -> Step<'a> {
        self.state = State::Failed(fault);
        Step::Fault(fault)
    }
}

/// Splits at most `most` bytes off the front of `input`.
fn take<'a>(input: &mut &'a [u8], most: usize) -> &'a [u8] {
    let (piece, rest) = input.split_at_checked(most).unwrap_or((*input, &[]));
    *input = rest;
    piece
}
