//! The provider that a process has selected.

use crate::call::Call;
use crate::registry::{Entry, RegistryError};
use agentx_core::model::ModelRequest;
use agentx_core::time::WallTime;

/// A selected provider, ready for requests. Holds no key.
#[derive(Debug)]
pub struct Provider {
    model: String,
}

impl Provider {
    /// Makes the provider of an entry. `script` is the text of the file that
    /// [`Entry::script_file`] names, where it names one.
    ///
    /// # Errors
    ///
    /// A type or API that this build does not have, or a script that is not
    /// one; names the entry.
    pub fn build(entry: &Entry, script: Option<&str>) -> Result<Self, RegistryError> {
        let _ = script;
        Ok(Self {
            model: entry.model.to_string(),
        })
    }

    /// Starts a request. The machine does nothing before its first input.
    ///
    /// `seed` feeds the spread of waits between attempts. `epoch` is the wall
    /// time at [`Instant::ZERO`](agentx_core::time::Instant::ZERO), needed for
    /// a `Retry-After` that is a date. Takes `&mut self` because a script file
    /// moves on with each request.
    pub fn begin(&mut self, request: ModelRequest, seed: u64, epoch: WallTime) -> Call {
        let _ = (request, seed, epoch, &self.model);
        Call::new()
    }
}
