//! Permission updates of answers: applied in list order, and the ones for files
//! handed on in that order (WIRE-PERM-030). A small model of rules tells which
//! calls are asked about afterwards; where it cannot be sure, it says nothing.

use super::decision::{Decision, Update};
use super::model::{Model, Standing};
use super::said::Said;
use super::told::{Body, Told};
use super::{Drained, Judged, Oracle, broken};
use crate::kit::kit;
use agentx_core::agent::{Config, Input, Output};
use agentx_core::effect::{Answer, Request};
use agentx_core::hook::HookEvent;
use agentx_core::schema::permission::PermissionMode;
use std::collections::{HashMap, VecDeque};

/// What becomes of a call before anybody is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Runs,
    Denied,
    Asked,
    Unsure,
}

/// A rule over a whole tool.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    behavior: String,
    place: String,
    tool: String,
}

/// The rules as they stand.
#[derive(Debug)]
pub(crate) struct Rights {
    /// Whether everything that changes them is known.
    known: bool,
    /// Whether hooks of `PreToolUse` judge first; nothing but a rule that denies is
    /// above them (DEC-31).
    judged: bool,
    mode: PermissionMode,
    rules: Vec<Rule>,
    /// Tools of which some calls have a rule.
    partial: Vec<String>,
    /// What was to be thought of a call when it was shown.
    shown: HashMap<String, Fate>,
    asked: Vec<String>,
    /// Lists of updates that are to be stored in this step.
    storing: VecDeque<Vec<Update>>,
    /// Whether it is not known what is to be stored in this step.
    unclear: bool,
    /// Whether a hook may have updates stored, too.
    hooks: bool,
}

impl Default for Rights {
    fn default() -> Self {
        Self {
            known: false,
            judged: false,
            mode: PermissionMode::Default,
            rules: Vec::new(),
            partial: Vec::new(),
            shown: HashMap::new(),
            asked: Vec::new(),
            storing: VecDeque::new(),
            unclear: false,
            hooks: false,
        }
    }
}

impl Rights {
    fn rule(&mut self, behavior: &str, place: &str, tool: &str) {
        if tool.contains('(') {
            self.partial.extend(tool.split('(').next().map(Into::into));
            return;
        }
        self.rules.push(Rule {
            behavior: behavior.to_string(),
            place: place.to_string(),
            tool: tool.to_string(),
        });
    }

    fn apply(&mut self, update: &Update) {
        let Update {
            kind,
            behavior,
            place,
            what,
        } = update;
        let of_kind = |rule: &Rule| rule.behavior == *behavior && rule.place == *place;
        match &**kind {
            "setMode" => {
                let mode = what
                    .first()
                    .and_then(|mode| PermissionMode::from_word(mode));
                // Whether that mode may be had is a matter of options.
                self.known &= mode != Some(PermissionMode::BypassPermissions);
                self.mode = mode.unwrap_or(self.mode);
            }
            "removeRules" => self
                .rules
                .retain(|rule| !of_kind(rule) || !what.contains(&rule.tool)),
            "addRules" | "replaceRules" => {
                if kind == "replaceRules" {
                    self.rules.retain(|rule| !of_kind(rule));
                }
                for tool in what {
                    self.rule(behavior, place, tool);
                }
            }
            _ => {}
        }
    }

    fn has(&self, behavior: &str, tool: &str) -> bool {
        let mut rules = self.rules.iter();
        rules.any(|rule| rule.behavior == behavior && rule.tool == tool)
    }

    fn fate(&self, tool: &str) -> Fate {
        if !self.known || self.partial.iter().any(|partial| partial == tool) {
            return Fate::Unsure;
        }
        let changes = match tool {
            "Do" | "Change" => true,
            "Time" => false,
            _ => return Fate::Unsure,
        };
        let asked = if self.mode == PermissionMode::DontAsk {
            Fate::Denied
        } else {
            Fate::Asked
        };
        if self.has("deny", tool) {
            Fate::Denied
        } else if self.judged {
            Fate::Unsure
        } else if changes && self.mode == PermissionMode::Plan {
            Fate::Denied
        } else if self.mode == PermissionMode::BypassPermissions {
            Fate::Runs
        } else if self.has("ask", tool) {
            asked
        } else if tool == "Change"
            && (self.has("allow", tool) || self.mode == PermissionMode::AcceptEdits)
        {
            // It depends on the path.
            Fate::Unsure
        } else if !changes || self.has("allow", tool) {
            Fate::Runs
        } else {
            asked
        }
    }

    fn asks(&mut self, call: &str, tool: &str) -> Judged {
        self.asked.push(call.to_string());
        let fates = [self.shown.get(call).copied(), Some(self.fate(tool))];
        let decided = |fate: &Option<Fate>| matches!(fate, Some(Fate::Runs | Fate::Denied));
        if fates.iter().all(decided) {
            let what = format!("{call} of {tool} is asked about, and the rules decide");
            return broken("updates hold for later calls", "WIRE-PERM-030", what);
        }
        Ok(())
    }

    fn runs(&self, call: &str, tool: &str) -> Judged {
        if self.asked.iter().any(|asked| asked == call) {
            return Ok(());
        }
        let fates = [self.shown.get(call).copied(), Some(self.fate(tool))];
        let barred = |fate: &Option<Fate>| matches!(fate, Some(Fate::Asked | Fate::Denied));
        if fates.iter().all(barred) {
            let what = format!("{call} of {tool} runs, and nobody was asked");
            return broken("updates hold for later calls", "WIRE-PERM-030", what);
        }
        Ok(())
    }

    fn answered(&mut self, model: &Model, body: &Body) {
        let Decision::Allow { updates, .. } = Decision::of(body, model.rules.reference) else {
            return;
        };
        if updates.is_empty() {
            return;
        }
        if model.causes.ends_turn() || model.lags() {
            // It may have come too late.
            self.known = false;
            self.unclear = true;
            return;
        }
        for update in &updates {
            self.apply(update);
        }
        let stored: Vec<_> = updates.into_iter().filter(Update::is_persisted).collect();
        if !stored.is_empty() {
            self.storing.push_back(stored);
        }
    }
}

impl Oracle for Rights {
    fn began(&mut self, config: &Config) {
        let settings = kit().settings.iter();
        let of = |hook: &agentx_core::hook::Hook| hook.event == HookEvent::PreToolUse;
        let layers = settings.position_of(&config.settings);
        *self = Self {
            known: layers.is_some() && config.host_answers,
            judged: config.hooks.list.iter().any(of),
            mode: config.permission_mode,
            hooks: config.profile.is_reference() || !config.hooks.list.is_empty(),
            ..Self::default()
        };
        match layers {
            Some(1) => self.rule("allow", "userSettings", "Do"),
            Some(2) => {
                self.rule("deny", "userSettings", "Change");
                self.rule("ask", "userSettings", "Look");
            }
            _ => {}
        }
    }

    fn input(&mut self, _model: &Model, input: &Input<'_>) -> Judged {
        self.storing.clear();
        self.unclear = false;
        if let Input::Done(_, Answer::Hook(report)) = input {
            self.known &= !report.answer.contains("updatedPermissions");
        }
        Ok(())
    }

    fn told(&mut self, model: &Model, told: &Told) -> Judged {
        match told {
            Told::Control { subtype, .. } => {
                let changes = matches!(&**subtype, "set_permission_mode" | "apply_flag_settings");
                self.known &= !(changes && model.rules.reference);
            }
            Told::Initialize { .. } => self.known &= !model.rules.reference,
            Told::Answer(answer) => {
                let request = model.request(&answer.id);
                match request.filter(|request| request.standing == Standing::Open) {
                    Some(request) if request.call.is_some() => self.answered(model, &answer.body),
                    // A hook of the host can change them as well, and an answer behind
                    // it in the same bytes may have come too late.
                    Some(_) => {
                        self.known = false;
                        self.unclear = true;
                    }
                    None => {}
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn output(&mut self, model: &Model, output: &Output) -> Judged {
        match output {
            Output::Start(_, Request::Persist(list)) if !self.unclear => {
                let list: Vec<_> = list.iter().map(Update::of).collect();
                let expected = self.storing.pop_front();
                if expected.as_ref().is_some_and(|expected| *expected != list)
                    || (expected.is_none() && !self.hooks && !model.lags())
                {
                    let what = format!("{list:?} is stored, and {expected:?} was said");
                    return broken("updates apply in list order", "WIRE-PERM-030", what);
                }
                Ok(())
            }
            Output::Start(_, Request::Tool(run)) => self.runs(&run.call.id, &run.call.name),
            Output::Start(_, Request::Task(run)) => {
                self.runs(&run.tool.call.id, &run.tool.call.name)
            }
            _ => Ok(()),
        }
    }

    fn said(&mut self, model: &Model, _line: &[u8], said: &Said<'_>) -> Judged {
        match said {
            Said::Call(call) if !model.lags() => {
                self.shown
                    .insert(call.id.to_string(), self.fate(&call.name));
                Ok(())
            }
            Said::Question(asked) => self.asks(&asked.tool_use_id, &asked.tool_name),
            _ => Ok(()),
        }
    }

    fn drained(&mut self, model: &Model, _drained: &Drained) -> Judged {
        let clear = !self.unclear && !model.lags() && !model.latched;
        if !self.storing.is_empty() && clear {
            let what = format!("{:?} was not stored", self.storing);
            return broken("updates are stored", "WIRE-PERM-030", what);
        }
        Ok(())
    }
}

/// Where something stands in a list.
trait PositionOf<T> {
    fn position_of(self, value: &T) -> Option<usize>;
}

impl<'a, T: PartialEq + 'a, I: Iterator<Item = &'a T>> PositionOf<T> for I {
    fn position_of(mut self, value: &T) -> Option<usize> {
        self.position(|known| known == value)
    }
}
