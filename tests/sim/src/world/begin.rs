//! The beginning of an agent process, new or taken up again.

use super::agent::Process;
use super::desk::Desk;
use super::store::{self, Store};
use super::{Step, World};
use crate::event::{Event, Watch};
use crate::pipe::Pipe;
use agentx_core::ids::Seed;
#[cfg(agentx_planted)]
use agentx_core::plant::Plant;
use agentx_core::store::Beginning;
use agentx_core::{agent, host};

/// How a host is set up. A fault of hosts that is planted is planted here.
#[cfg_attr(
    not(agentx_planted),
    expect(
        unused_variables,
        unused_mut,
        reason = "a host takes nothing else over"
    )
)]
pub(super) fn host_config(seed: u64, agent: &agent::Config) -> host::Config {
    let mut config = host::Config::new(Seed::from_u64(seed));
    #[cfg(agentx_planted)]
    {
        let planted = agent.limits.planted;
        let of_host = |fault: Plant| fault.name().starts_with("Host");
        if planted.fault().is_some_and(of_host) {
            config.limits.planted = planted;
        }
    }
    config
}

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
        self.desk = Desk::new(host_config(u64::from(self.epoch), &config), now);
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
