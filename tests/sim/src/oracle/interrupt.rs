//! The order of an interrupt (WIRE-010, WIRE-011): the questions are withdrawn, the
//! request is acknowledged, what runs is cancelled, every call gets its result, the
//! tasks end, the turn ends.

use super::model::{Model, Standing, State, Work};
use super::said::Said;
use super::told::Told;
use super::{Drained, Judged, Oracle, broken};
use agentx_core::agent::{Config, Input};

/// An interrupt that is not acknowledged.
#[derive(Clone, Debug)]
struct Asked {
    id: String,
    step: u64,
    /// Whether it came alone.
    alone: bool,
}

/// How far an interrupted turn has settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Running,
    Stream,
    Text,
    Results,
    Tasks,
}

/// Interrupts and what follows from them.
#[derive(Debug, Default)]
pub(crate) struct Interrupts {
    asked: Vec<Asked>,
    /// The turn that settles.
    settling: Option<Phase>,
    /// The place of the call whose result came last.
    place: Option<usize>,
    /// The request that was withdrawn last in this step.
    withdrawn: Option<usize>,
}

impl Interrupts {
    fn acknowledged(&mut self, model: &Model, asked: &Asked, bare: bool) -> Judged {
        let id = &asked.id;
        if !bare {
            let what = format!("{id} is not answered by a success without a payload");
            return broken("an interrupt is acknowledged", "WIRE-010", what);
        }
        for request in &model.requests {
            let open = match request.standing {
                Standing::Open => true,
                Standing::Answered(step) => step > asked.step,
                Standing::Withdrawn | Standing::Closed => false,
            };
            if open && request.call.is_some() {
                let what = format!("{id} is acknowledged and {} is open", request.id);
                return broken(
                    "cancellations stand before the acknowledgement",
                    "WIRE-011",
                    what,
                );
            }
        }
        if model.turn && model.state != State::Idle {
            self.settling = Some(Phase::Running);
            self.place = None;
        }
        Ok(())
    }

    fn settles(&mut self, model: &Model, said: &Said<'_>) -> Judged {
        let Some(phase) = self.settling else {
            return Ok(());
        };
        let next = match said {
            Said::Running => Phase::Running,
            Said::Stream(_) => Phase::Stream,
            Said::Text => Phase::Text,
            Said::ToolResult { call, .. } => {
                let place = model.calls.get(&**call).map(|call| call.place);
                if place <= self.place {
                    let what = format!("the result of {call} is out of order");
                    return broken("results stand in the order of calls", "WIRE-010", what);
                }
                self.place = place;
                Phase::Results
            }
            Said::TaskOver { .. } => Phase::Tasks,
            Said::Result(ending) if !ending.never_ran() => {
                self.settling = None;
                let cancelled = !ending.success && ending.stop == "cancelled";
                if !cancelled && !model.rules.stores && !model.rules.hooks && !model.rules.schema {
                    let what = format!("the turn ended with {:?}", ending.stop);
                    return broken("an interrupted turn ends as cancelled", "WIRE-010", what);
                }
                return Ok(());
            }
            Said::Call(_)
            | Said::Question(_)
            | Said::RequiresAction(_)
            | Said::TaskStarted { .. } => {
                let what = format!("{said:?} follows an acknowledgement");
                return broken("nothing begins in an interrupted turn", "WIRE-010", what);
            }
            _ => return Ok(()),
        };
        if next < phase {
            let what = format!("{next:?} follows {phase:?}");
            return broken("an interrupted turn settles in order", "WIRE-010", what);
        }
        self.settling = Some(next);
        Ok(())
    }

    fn withdrawn(&mut self, model: &Model, id: &str) -> Judged {
        let place = model.requests.iter().position(|request| request.id == id);
        let in_order = self.withdrawn < place;
        self.withdrawn = place;
        if !in_order && model.causes.ends_turn() && !model.lags() && model.is_single() {
            let what = format!("{id} is withdrawn behind a later one");
            return broken("the oldest is withdrawn first", "WIRE-011", what);
        }
        Ok(())
    }

    /// What stands between an interrupt and its acknowledgement.
    fn first(&self, model: &Model, said: &Said<'_>) -> Judged {
        let strict = !model.lags() && model.is_single() && !model.rules.schema;
        let mine = |asked: &Asked| asked.step == model.step && asked.alone;
        if strict && !model.rules.reference && self.asked.iter().any(mine) {
            let what = format!("{said:?} stands before it");
            return broken("the acknowledgement comes at once", "WIRE-010", what);
        }
        Ok(())
    }
}

impl Oracle for Interrupts {
    fn began(&mut self, _config: &Config) {
        *self = Self::default();
    }

    fn input(&mut self, _model: &Model, _input: &Input<'_>) -> Judged {
        self.withdrawn = None;
        Ok(())
    }

    fn told(&mut self, model: &Model, told: &Told) -> Judged {
        if let Told::Interrupt { id } = told {
            self.asked.push(Asked {
                id: id.clone(),
                step: model.step,
                alone: model.lines == 0,
            });
        }
        Ok(())
    }

    fn said(&mut self, model: &Model, _line: &[u8], said: &Said<'_>) -> Judged {
        match said {
            Said::Response {
                id,
                success,
                payload,
                ..
            } => {
                let at = self.asked.iter().position(|asked| asked.id == **id);
                if let Some(at) = at {
                    let asked = self.asked.remove(at);
                    return self.acknowledged(model, &asked, *success && payload.is_none());
                }
            }
            Said::Withdrawn { id } => return self.withdrawn(model, id),
            _ => {
                self.settles(model, said)?;
                return self.first(model, said);
            }
        }
        Ok(())
    }

    fn drained(&mut self, model: &Model, _drained: &Drained) -> Judged {
        if model.latched {
            self.asked.clear();
            return Ok(());
        }
        if model.causes.interrupt || model.causes.fatal || model.causes.shutdown {
            let runs = |id: &&agentx_core::effect::EffectId| model.effects.contains_key(id);
            if let Some(id) = model.before.work.iter().find(runs) {
                let what = format!("{id:?} runs on behind an interrupt");
                return broken("an interrupt stops what runs", "WIRE-010", what);
            }
            let open = |running: &super::model::Running| {
                matches!(running.work, Work::Tool | Work::Task) && running.since < model.step
            };
            if model.effects.values().any(open) {
                return broken("an interrupt stops what runs", "WIRE-010", "a tool runs on");
            }
        }
        if !model.lags()
            && let Some(asked) = self.asked.first()
            && !model.closing
        {
            let what = format!("{} is not acknowledged", asked.id);
            return broken("the acknowledgement comes at once", "WIRE-010", what);
        }
        let settled = !model.lags() && model.is_single() && model.causes.interrupt;
        if settled
            && !model.closing
            && let Some(id) = model.unsettled.first()
        {
            let what = format!("{id} has no result behind an interrupt");
            return broken("every call settles at once", "WIRE-010", what);
        }
        Ok(())
    }
}
