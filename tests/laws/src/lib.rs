//! The five laws of [`Machine`], checked on any machine.
//!
//! A test describes its machine once as a [`Subject`], writes a [`Script`] of
//! inputs with their times and calls [`check`]. The suite plays the script the
//! way a faultless driver would, ticking at each deadline, and then again with
//! other splits, other drains, needless ticks and second answers, all chosen
//! from seeds. A difference comes back as [`Broken`], which names the law and
//! the seed.
//!
//! | law | what is varied | what must not change |
//! |---|---|---|
//! | chunk | where the bytes of one instant are split | outputs, their times, deadline, wants |
//! | drain | when and how far outputs are polled | outputs and their order |
//! | tick | ticks before a deadline and repeated ones | outputs and their times; a due tick moves the deadline on |
//! | silence | polls after `None` | they give `None`; undrained output shows in the deadline; no bytes are wanted after the end |
//! | settlement | answers given twice, late, to nobody | each effect ends once, nothing follows an exit |
//!
//! A script is also a log: [`Script::to_log`] and [`Script::parse`] keep it as
//! text, one line for each input, so a recorded session is a test. [`replay`]
//! plays it once.

pub mod json;
mod laws;
mod rng;
mod run;
mod script;

pub use laws::{Broken, Law, check};
pub use rng::SplitMix64;
pub use run::{Event, Events, replay};
pub use script::{Feed, LogError, Nothing, Recorded, Script, record};

use agentx_core::machine::Machine;
use std::fmt::Debug;

/// The input type of a subject's machine.
pub type InputOf<'a, S> = <<S as Subject>::Machine as Machine>::Input<'a>;

/// The output type of a subject's machine.
pub type OutputOf<S> = <<S as Subject>::Machine as Machine>::Output;

/// A machine as the suite sees it.
pub trait Subject {
    /// The machine.
    type Machine: Machine<Output: Debug + PartialEq>;
    /// Its inputs other than bytes, the end and ticks.
    type Other;

    /// A new machine; always the same.
    fn machine(&self) -> Self::Machine;

    /// Bytes of the stream as an input. Never called when no script has bytes.
    fn bytes<'a>(&self, bytes: &'a [u8]) -> InputOf<'a, Self>;

    /// The end of the stream as an input. Never called when no script has it.
    fn eof<'a>(&self) -> InputOf<'a, Self>;

    /// A tick as an input.
    fn tick<'a>(&self) -> InputOf<'a, Self>;

    /// Any other input.
    fn other<'a>(&self, other: &'a Self::Other) -> InputOf<'a, Self>;

    /// What an output says about effects.
    fn effect(&self, output: &OutputOf<Self>) -> Effect {
        let _ = output;
        Effect::None
    }

    /// The effect that an input settles.
    fn settles(&self, other: &Self::Other) -> Option<u64> {
        let _ = other;
        None
    }

    /// Any answer that settles that effect, for machines that have effects.
    fn answer(&self, effect: u64) -> Option<Self::Other> {
        let _ = effect;
        None
    }
}

/// What an output says about effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    None,
    /// The effect of that id begins.
    Start(u64),
    /// The effect of that id is given up.
    Cancel(u64),
    /// The machine has ended.
    Exit,
}
