//! Whether a session is the same whichever driver runs it.
//!
//! A [`play()`] is one session: prompts, parallel tools, questions, hooks,
//! background tasks, a store, interrupts and the end of input. All its choices
//! come from a tape of bytes. The world stands behind a turnstile: whatever
//! tools, hooks, tasks, the store and the model have to tell is held back until
//! the tape lets it pass, one piece at a time, and nothing else is chosen until
//! the session has taken it and everything that followed is on its way. The time
//! is a [`LogicalClock`](agentx_pump::clock::LogicalClock), the seed is fixed.
//!
//! Who runs the session is an [`Engine`]: [`Driven`], a real driver with its
//! threads, its socket to a model server and pipes of the operating system; or
//! [`Bare`], a straight loop around the machines. What both leave is a
//! [`Transcript`], and it is the same byte for byte, or one of them is wrong.
//!
//! Nothing here waits for time to pass; the one time limit turns a hang into a
//! failure.

mod bare;
mod driven;
mod play;
mod scene;
mod seen;
mod tape;

pub use bare::Bare;
pub use driven::{Driven, Run};
pub use play::{Play, Transcript, play};
pub use scene::Scene;
pub use seen::Seen;
pub use tape::Tape;

use agentx_core::effect::EffectId;
use agentx_core::time::Instant;

/// Who runs a session. After each call everything has settled: every effect that
/// is open has something to tell, and is held back.
pub trait Engine {
    /// The host writes these bytes.
    fn write(&mut self, bytes: &[u8]);

    /// The host ends its input.
    fn end_input(&mut self);

    /// The next piece of what this effect has to tell passes. Not for models.
    fn release(&mut self, id: EffectId);

    /// The model of this effect sends these bytes, then closes the connection if
    /// it is told to. The session hears of it in so many pieces.
    fn say(&mut self, id: EffectId, bytes: &[u8], close: bool, pieces: usize);

    /// The clock moves on.
    fn advance(&mut self, to: Instant);

    /// What the session did so far.
    fn seen(&self) -> Seen;

    /// What is on stdout so far.
    fn stdout(&self) -> Vec<u8>;

    /// The body of the request of this effect.
    fn request(&self, id: EffectId) -> String;

    /// Waits for the end of a session that is over; gives its exit status.
    fn finish(self) -> u8;
}
