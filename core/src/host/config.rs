//! What a host session is made of; fixed for its life.

use crate::guard::Guard;
use crate::ids::Seed;
use crate::limits::Limits;

/// Configuration of a [`HostSession`](super::HostSession).
#[derive(Clone, Debug)]
pub struct Config {
    /// Entropy of every id: of calls, and of prompts that bring none (DEC-17).
    pub seed: Seed,
    /// Credentials that no record to the agent may hold (WIRE-013).
    pub credentials: Guard,
    /// Bounds.
    pub limits: Limits,
}

impl Config {
    /// A host with this seed, the usual bounds and no credentials to keep.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        Self {
            seed,
            credentials: Guard::default(),
            limits: Limits::DEFAULT,
        }
    }
}
