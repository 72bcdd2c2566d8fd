//! The one shape of every state machine, and the five laws it keeps.
//!
//! A machine is fed through [`Machine::handle`], then drained through
//! [`Machine::poll`] until `None`; only then does [`Machine::deadline`] tell
//! when it wants to be woken. State moves in `handle`, never in `poll`.
//!
//! 1. *chunk*: any split of the same bytes at one instant gives the same outputs;
//! 2. *drain*: draining at once or later gives the same outputs;
//! 3. *tick*: early or repeated ticks change nothing, and after a due tick and
//!    a drain the deadline is later or `None`;
//! 4. *silence*: `None` stays `None` until the next `handle`; undrained output
//!    shows in `deadline`; after end of input no more bytes are wanted;
//! 5. *settlement*: every effect ends exactly once, and nothing follows an exit.

use crate::time::Instant;
use core::fmt;

/// A pure state machine: inputs and times in, outputs out.
pub trait Machine {
    /// What the machine is fed; borrowed and wholly consumed by `handle`.
    type Input<'a>;
    /// What the machine produces; owned, in causal order.
    type Output;

    /// Takes one input. The work is bounded by the size of the input.
    ///
    /// # Errors
    ///
    /// [`Misuse`] when the caller broke the contract; nothing has changed then.
    fn handle(&mut self, now: Instant, input: Self::Input<'_>) -> Result<(), Misuse>;

    /// The next output, or `None` when all are taken.
    fn poll(&mut self) -> Option<Self::Output>;

    /// When the machine wants a tick. While output is undrained this is the
    /// last `now`; `None` means it waits for input only.
    fn deadline(&self) -> Option<Instant>;

    /// Which inputs the machine would take now.
    fn wants(&self) -> Wants;
}

/// Backpressure: what a machine is willing to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wants {
    /// More bytes of the input stream.
    pub bytes: bool,
    /// More progress of running effects (model deltas, tool progress).
    pub progress: bool,
}

impl Wants {
    /// Everything is welcome.
    pub const ALL: Self = Self {
        bytes: true,
        progress: true,
    };
    /// Nothing is wanted any more.
    pub const NOTHING: Self = Self {
        bytes: false,
        progress: false,
    };
}

/// A bug of the caller: the input was refused and nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// Time went backwards.
    TimeReversed,
    /// Bytes, or a second end, after the end of the input.
    InputAfterEnd,
    /// Any input after the machine has ended.
    InputAfterExit,
    /// An answer or progress for an effect that was never started.
    UnknownEffect,
    /// A second settlement of one effect.
    EffectSettledTwice,
    /// An answer of another kind than the effect asked for.
    WrongAnswer,
    /// An input that this state cannot take.
    WrongState,
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TimeReversed => "time went backwards",
            Self::InputAfterEnd => "input after the end of the stream",
            Self::InputAfterExit => "input after the machine ended",
            Self::UnknownEffect => "settlement of an effect that was never started",
            Self::EffectSettledTwice => "second settlement of one effect",
            Self::WrongAnswer => "the answer does not fit the effect",
            Self::WrongState => "the input does not fit the state",
        })
    }
}

impl core::error::Error for Misuse {}
