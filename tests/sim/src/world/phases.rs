//! The phases of a run: faults, then calm, then the end.

use super::{Step, World};
use crate::event::{Event, Violation, Watch};
use agentx_core::host::Command;

/// Bytes that a pipe holds when all is calm.
const CALM_PIPE: usize = 65_536;

/// Steps within which everything has to settle.
const SETTLING: u64 = 20_000;

impl<W: Watch> World<'_, W> {
    /// The whole run.
    pub(super) fn live(&mut self) -> Step {
        self.begin()?;
        while self.steps < self.plan.steps {
            if self.agent.gone && self.desk.over {
                self.begin()?;
            }
            if !self.step()? {
                // A host that has left does nothing any more, and what hangs goes on
                // only when all is calm.
                if self.desk.over && self.agent.lives() {
                    break;
                }
                self.stuck("nothing is set up")?;
            }
            self.mischief()?;
        }
        self.calm = true;
        self.see(&Event::Calm)?;
        self.up.widen(CALM_PIPE);
        self.down.widen(CALM_PIPE);
        self.release();
        self.speak_up();
        self.settle()?;
        if self.agent.lives() && !self.agent.ended {
            self.rested()?;
            self.see(&Event::Closing)?;
            self.order(Command::Close)?;
            self.settle()?;
        }
        if self.agent.gone && self.desk.over {
            return Ok(());
        }
        self.stuck("the input has ended, and the process has not")
    }

    /// Goes on until nothing is set up any more.
    fn settle(&mut self) -> Step {
        let begun = self.steps;
        while self.step()? {
            if self.steps - begun > SETTLING {
                return self.stuck("it does not come to rest");
            }
        }
        Ok(())
    }

    /// Everything came to rest with the input still open.
    fn rested(&mut self) -> Step {
        let now = self.instant();
        self.watch.see(now, &Event::Rested(&self.agent.session))?;
        let open = self.agent.running.len() + self.agent.session.pending_requests();
        if open > 0 || !self.agent.out.is_empty() {
            return self.stuck("something is open at rest");
        }
        Ok(())
    }

    /// The world does not get on.
    fn stuck(&self, why: &str) -> Step {
        let what = format!(
            "{why}: {} effects, {} requests, {} unwritten records, {} bytes up, {} bytes down, {:?}",
            self.agent.running.len(),
            self.agent.session.pending_requests(),
            self.agent.out.len(),
            self.up.len(),
            self.down.len(),
            self.agent.running,
        );
        Err(Violation::new("liveness", "WIRE-004", what))
    }
}
