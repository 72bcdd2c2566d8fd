//! `session_state_changed`: what a session shows itself to be is what it is
//! (WIRE-004, DEC-12, WIRE-PERM-023).

use super::model::{Model, State, Work};
use super::said::{Asked, Said};
use super::{Drained, Judged, Oracle, broken};
use agentx_core::agent::Config;

/// States and what they stand before.
#[derive(Debug, Default)]
pub(crate) struct States {
    /// The question that must follow at once.
    announced: Option<(String, String, String, Vec<u8>)>,
}

fn key(asked: &Asked<'_>) -> (String, String, String, Vec<u8>) {
    (
        asked.request.to_string(),
        asked.tool_name.to_string(),
        asked.tool_use_id.to_string(),
        asked.input.to_vec(),
    )
}

impl States {
    fn follows(&mut self, model: &Model, said: &Said<'_>) -> Judged {
        let announced = self.announced.take();
        match (said, announced) {
            (Said::Question(asked), Some(announced)) => {
                let told = key(asked);
                let same = told.0 == announced.0 && told.1 == announced.1 && told.2 == announced.2;
                // An input that is too long for one record may be shortened.
                if !same || (!model.rules.reference && told.3 != announced.3) {
                    let what = format!("{announced:?} was announced, and {told:?} is asked");
                    return broken("a question is asked as announced", "WIRE-PERM-023", what);
                }
            }
            (Said::Question(asked), None) if model.rules.states => {
                let what = format!("{} was not announced", asked.request);
                return broken("a question is announced", "WIRE-PERM-023", what);
            }
            (_, Some(announced)) => {
                let what = format!("{said:?} stands between {} and its state", announced.0);
                return broken("a question follows its state", "WIRE-003", what);
            }
            _ => {}
        }
        if let Said::RequiresAction(asked) = said {
            self.announced = Some(key(asked));
        }
        Ok(())
    }

    /// Whether something of the turn runs.
    fn runs(model: &Model) -> Option<&'static str> {
        let works = |work: Work| model.effects.values().any(|running| running.work == work);
        if !model.tasks.is_empty() {
            Some("a task runs")
        } else if model.lags() {
            None
        } else if works(Work::Task) {
            Some("a task is about to run")
        } else if works(Work::Tool) {
            Some("a tool runs")
        } else if works(Work::Model) {
            Some("the model is asked")
        } else {
            None
        }
    }

    fn idle(model: &Model) -> Judged {
        let flushes = |running: &super::model::Running| running.work == Work::Flush;
        let why = if model.state == State::Idle {
            Some("it was so")
        } else if model.turn {
            Some("the turn has no result")
        } else if model.asks() {
            Some("a question is open")
        } else if !model.unsettled.is_empty() {
            Some("a call has no result")
        } else if !model.lags() && model.effects.values().any(flushes) {
            Some("a flush is under way")
        } else {
            Self::runs(model)
        };
        match why {
            Some(why) => broken("idle comes last", "WIRE-004", why),
            None => Ok(()),
        }
    }
}

impl Oracle for States {
    fn began(&mut self, _config: &Config) {
        *self = Self::default();
    }

    fn said(&mut self, model: &Model, _line: &[u8], said: &Said<'_>) -> Judged {
        self.follows(model, said)?;
        match said {
            Said::Idle => Self::idle(model),
            Said::TaskOver { task } if !model.tasks.contains(&**task) => {
                let what = format!("{task} is over, and does not run");
                broken("a task ends once", "WIRE-004", what)
            }
            Said::Running if model.state == State::Running => {
                broken("a state is told when it changes", "DEC-12", "running twice")
            }
            Said::Running if model.asks() => broken(
                "running means that nothing is asked",
                "WIRE-PERM-060",
                "a question is open",
            ),
            Said::Result(ending) if !ending.never_ran() => {
                if let Some(why) = Self::runs(model) {
                    return broken("a result waits for what runs", "WIRE-004", why);
                }
                if model.asks() {
                    return broken(
                        "a result waits for what runs",
                        "WIRE-004",
                        "a question is open",
                    );
                }
                if model.rules.states && !model.turn {
                    return broken("a turn has one result", "DEC-21", "none runs");
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn drained(&mut self, model: &Model, _drained: &Drained) -> Judged {
        if model.lags() || model.latched || model.closing || !model.rules.states {
            return Ok(());
        }
        let shown = model.state == State::RequiresAction;
        if shown != model.asks() {
            let requirement = if model.eof {
                "WIRE-008"
            } else {
                "WIRE-PERM-060"
            };
            let what = format!("the state is {:?}", model.state);
            return broken(
                "requires_action means that something is asked",
                requirement,
                what,
            );
        }
        Ok(())
    }
}
