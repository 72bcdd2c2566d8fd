//! A run and everything that watches it.

use crate::event::Violation;
use crate::oracle::Oracles;
use crate::tape::Tape;
use crate::trace::{Hash, Steps};
use crate::world::{self, Outcome};

/// Lives a run under all oracles.
///
/// # Errors
///
/// The first rule that it breaks.
pub fn run(tape: Tape) -> Result<Outcome, Violation> {
    Ok(world::run(tape, &mut Oracles::default()))
}
