//! The beginning of an agent process, new or taken up again.

use super::agent::Process;
use super::desk::Desk;
use super::store::{self, Store};
use super::{Step, World};
use crate::event::{Event, Watch};
use crate::pipe::Pipe;
use agentx_core::ids::Seed;
use agentx_core::store::Beginning;

impl<W: Watch> World<'_, W> {
    /// Starts a process and a host. What the store holds is taken up again, or the
    /// session is another one.
    pub(super) fn begin(&mut self) -> Step {
        self.epoch += 1;
        let mut config = self.plan.config.clone();
        if self.epoch > 1 {
            config.seed = Seed::from_u64(u64::from(self.epoch) << 32);
            if let Some(storing) = &mut config.store {
                if self.store.entries.is_empty() || self.tape.one_in(4) {
                    config.session_id =
                        Some(format!("00000000-0000-4000-8000-77{:010}", self.epoch));
                    self.plan.config.session_id.clone_from(&config.session_id);
                    self.store = Store::default();
                } else {
                    let restored = store::restore(&self.store.entries)?;
                    storing.beginning = Beginning::Resumed(restored.entries);
                    config.resume = Some(restored);
                }
            }
        }
        self.up = Pipe::new(self.plan.pipe);
        self.down = Pipe::new(self.plan.pipe);
        let now = self.instant();
        self.desk = Desk::new(u64::from(self.epoch), now);
        self.agent = Process::new(config.clone(), now);
        self.watch.see(
            now,
            &Event::Began {
                config: &config,
                agent: &self.agent.session,
            },
        )?;
        self.drain()?;
        self.set_up_act();
        Ok(())
    }
}
