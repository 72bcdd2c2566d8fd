//! Laws 3 to 5: tick, silence, settlement. A driver that keeps its half of the
//! contract is never told of a misuse.

use super::model::Model;
use super::{Drained, Judged, Oracle, broken};
use crate::event::Event;
use agentx_core::agent::{Config, Input, Output};
use agentx_core::effect::EffectId;
use std::collections::BTreeSet;

/// Tick, silence and settlement.
#[derive(Debug, Default)]
pub(crate) struct Laws {
    last: Option<Drained>,
    /// What the input at hand must leave as it is.
    quiet: Option<Drained>,
    /// Whether the input at hand is a tick that was due.
    due: bool,
    /// An effect that was answered when it was due, so that it may be cancelled.
    overdue: Option<EffectId>,
    open: BTreeSet<EffectId>,
    newest: Option<EffectId>,
    exited: bool,
}

impl Oracle for Laws {
    fn began(&mut self, _config: &Config) {
        *self = Self::default();
    }

    fn input(&mut self, model: &Model, input: &Input<'_>) -> Judged {
        self.quiet = None;
        self.due = false;
        self.overdue = None;
        match (input, self.last) {
            (Input::Tick, Some(last)) if last.deadline.is_none_or(|due| due > model.now) => {
                self.quiet = Some(last);
            }
            (Input::Tick, Some(_)) => self.due = true,
            (Input::Done(id, _), last) => {
                self.open.remove(id);
                let due = last.and_then(|last| last.deadline);
                self.overdue = due.is_some_and(|due| due <= model.now).then_some(*id);
            }
            _ => {}
        }
        Ok(())
    }

    fn output(&mut self, _model: &Model, output: &Output) -> Judged {
        if self.exited {
            return broken("nothing after an exit", "law 5", format!("{output:?}"));
        }
        if self.quiet.is_some() {
            let what = format!("a tick that was not due made {output:?}");
            return broken("an early tick changes nothing", "law 3", what);
        }
        match output {
            Output::Start(id, _) => {
                if self.newest.is_some_and(|newest| *id <= newest) {
                    return broken(
                        "an effect's id is never used again",
                        "law 5",
                        format!("{id:?}"),
                    );
                }
                self.newest = Some(*id);
                self.open.insert(*id);
            }
            // What is due is due before an answer that comes at the same time.
            Output::Cancel(id) if self.overdue == Some(*id) => self.overdue = None,
            Output::Cancel(id) if !self.open.remove(id) => {
                let what = format!("{id:?} was cancelled and is not open");
                return broken("an effect ends once", "law 5", what);
            }
            Output::Reply(id, _) if !self.open.contains(id) => {
                let what = format!("{id:?} was told something and is not open");
                return broken("an effect ends once", "law 5", what);
            }
            Output::Exit(_) => {
                self.exited = true;
                if let Some(id) = self.open.first() {
                    let what = format!("{id:?} was left open by the exit");
                    return broken("every effect ends", "law 5", what);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn drained(&mut self, model: &Model, drained: &Drained) -> Judged {
        if let Some(quiet) = self.quiet.take()
            && quiet != *drained
        {
            let what = format!("a tick that was not due made {drained:?} of {quiet:?}");
            return broken("an early tick changes nothing", "law 3", what);
        }
        if drained
            .deadline
            .is_some_and(|due| due < model.now || (self.due && due == model.now))
        {
            let what = format!("at {} the deadline is {:?}", model.now, drained.deadline);
            return broken("a deadline lies ahead", "law 3", what);
        }
        if (model.eof || self.exited) && drained.wants.bytes {
            return broken("no bytes are wanted after the end", "law 4", "they are");
        }
        self.last = Some(*drained);
        Ok(())
    }

    fn event(&mut self, _model: &Model, event: &Event<'_>) -> Judged {
        match event {
            Event::AgentRefused(misuse) => {
                broken("no misuse by a good driver", "law 5", misuse.to_string())
            }
            _ => Ok(()),
        }
    }
}
