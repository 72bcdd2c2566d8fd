//! Ceilings of turns: model requests, money, variables of children, and how often
//! hooks keep a turn going (DEC-22, DEC-40).

use super::model::Model;
use super::said::Said;
use super::{Judged, Oracle, broken};
use agentx_core::agent::{Config, Input, Output};
use agentx_core::agent_loop::Pricing;
use agentx_core::effect::{Answer, EffectId, Progress, Request};
use agentx_core::hook::HookEvent;
use agentx_core::model::{Delta, ModelOutcome, Usage};
use agentx_core::tool::ToolRequest;
use std::collections::BTreeMap;

/// What has been used.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    max_turns: Option<u32>,
    budget: Option<u128>,
    pricing: Option<Pricing>,
    /// What answers that run have told so far.
    usage: BTreeMap<EffectId, Usage>,
    /// What the process has spent at least, in 10^-12 USD.
    spent: u128,
    /// How often `Stop` hooks were asked in this turn, and in which step last.
    stops: (usize, u64),
}

impl Bounds {
    fn answered(&mut self, id: EffectId, outcome: &ModelOutcome) {
        let usage = self.usage.remove(&id);
        if let (Some(usage), Some(pricing), ModelOutcome::Finished) =
            (usage, &self.pricing, outcome)
        {
            self.spent += pricing.cost(&usage);
        }
    }

    fn runs(model: &Model, run: &ToolRequest) -> Judged {
        let variables = run.environment.iter();
        let bytes: usize = variables
            .map(|(name, value)| name.len() + value.len())
            .sum();
        if bytes > model.rules.limits.environment_total_bytes {
            let what = format!("{} runs with variables of {bytes} bytes", run.call.id);
            return broken("variables have a bound", "DEC-22", what);
        }
        Ok(())
    }

    fn stops(&mut self, model: &Model) -> Judged {
        let (count, step) = &mut self.stops;
        // Several hooks are asked at once.
        if *step != model.step {
            (*count, *step) = (*count + 1, model.step);
        }
        let most = usize::from(model.rules.limits.stop_continuations) + 1;
        if *count > most && !model.lags() {
            let what = format!("hooks are asked {count} times whether a turn may end");
            return broken("a turn is kept going so often", "configuration", what);
        }
        Ok(())
    }
}

impl Oracle for Bounds {
    fn began(&mut self, config: &Config) {
        *self = Self {
            max_turns: config.max_turns,
            budget: config.max_budget,
            pricing: config.provider.pricing,
            ..Self::default()
        };
    }

    fn input(&mut self, _model: &Model, input: &Input<'_>) -> Judged {
        match input {
            Input::Progress(id, Progress::Delta(Delta::Usage(usage))) => {
                self.usage.insert(*id, *usage);
            }
            Input::Done(id, Answer::Model(outcome)) => self.answered(*id, outcome),
            _ => {}
        }
        Ok(())
    }

    fn output(&mut self, model: &Model, output: &Output) -> Judged {
        match output {
            Output::Start(_, Request::Model(_))
                if self.budget.is_some_and(|budget| self.spent >= budget) =>
            {
                let what = format!("{} are spent of {:?}", self.spent, self.budget);
                broken("a budget that is spent ends all turns", "DEC-40", what)
            }
            Output::Start(_, Request::Tool(run)) => Self::runs(model, run),
            Output::Start(_, Request::Task(run)) => Self::runs(model, &run.tool),
            Output::Start(_, Request::Hook(run)) if run.event == HookEvent::Stop => {
                self.stops(model)
            }
            Output::Cancel(id) => {
                self.usage.remove(id);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn said(&mut self, _model: &Model, _line: &[u8], said: &Said<'_>) -> Judged {
        let Said::Result(ending) = said else {
            return Ok(());
        };
        if !ending.never_ran() {
            self.stops.0 = 0;
        }
        if self
            .max_turns
            .is_some_and(|most| ending.turns > most.into())
        {
            let what = format!("{} of {:?}", ending.turns, self.max_turns);
            return broken("a turn has so many model requests", "DEC-40", what);
        }
        Ok(())
    }
}
