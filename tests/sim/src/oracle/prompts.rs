//! Prompts: each has one terminal record, they run in the order of their
//! priorities, and no more wait than may (WIRE-020, DEC-15, 20, 21, 44, 45).

use super::decision::HookSays;
use super::model::{Model, State};
use super::said::{Ending, Said};
use super::told::{Form, Priority, Prompt, Told};
use super::{Drained, Judged, Oracle, broken};
use crate::event::Event as Happened;
use agentx_core::agent::{Command, Config, Event, Input, Output};
use agentx_core::effect::{Answer, EffectId, Request};
use agentx_core::hook::{HookEvent, HookReport};
use std::collections::{BTreeMap, BTreeSet};

/// How many terminal records are due, at least and at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Due {
    least: u32,
    most: u32,
    told: u32,
}

/// The prompts of one uuid.
#[derive(Clone, Debug)]
struct Sent {
    due: Due,
    /// The step of the first.
    step: u64,
    /// Its place among all.
    place: usize,
    priority: Priority,
    weight: usize,
    /// Whether there is a second that may have a place of its own.
    again: bool,
    /// Whether one of them has run.
    ran: bool,
    /// Whether it was repeated to the host.
    echoed: bool,
}

impl Sent {
    const fn waits(&self) -> bool {
        self.due.told < self.due.least
    }
}

/// A prompt of this step that wants to run at once.
#[derive(Clone, Debug)]
struct Urgent {
    uuid: String,
    refused: bool,
}

/// Hooks that look at a prompt before it runs. Those of one prompt are one group.
#[derive(Debug, Default)]
struct Submission {
    hooks: BTreeMap<EffectId, u64>,
    group: u64,
    /// Whether the newest group is waited for.
    waits: bool,
    /// Whether the input at hand is a denial of it.
    denied: bool,
}

impl Submission {
    fn began(&mut self, id: EffectId) {
        self.group += u64::from(!std::mem::replace(&mut self.waits, true));
        self.hooks.insert(id, self.group);
    }

    fn ended(&mut self, id: EffectId, report: &HookReport) {
        let newest = self.hooks.remove(&id) == Some(self.group);
        self.denied = newest && self.waits && HookSays::denies(report);
    }
}

/// All prompts of a session.
#[derive(Debug, Default)]
pub(crate) struct Prompts {
    sent: BTreeMap<String, Sent>,
    /// Prompts without a uuid that can be read.
    nameless: Due,
    /// Prompts of earlier lives that the session has read back.
    known: BTreeSet<String>,
    submission: Submission,
    /// Whether what is under way has changed since its bounds were looked at.
    changed: bool,
    /// The ids that those were given.
    given: BTreeSet<String>,
    /// Whether an `initialize` may have been refused, so that prompts are.
    unsure: bool,
    /// How often the end of a prompt was told to the embedder.
    ended: u32,
    /// The step in which the running turn began.
    began: u64,
    urgent: Option<Urgent>,
    /// Whether the end of the input was told as fatal.
    fatal: bool,
    /// Whether the last turn failed, if one ran; whether a prompt was refused.
    last: Option<bool>,
    refused: bool,
    /// Whether the exit status cannot be told from here.
    cancelled: bool,
    status: Option<u8>,
    exit: Option<u8>,
}

impl Prompts {
    fn sends(&mut self, model: &Model, prompt: &Prompt) {
        self.changed = true;
        let sure = prompt.form == Form::Right;
        let named = prompt.uuid.clone();
        let Some(uuid) = named else {
            self.nameless.least += u32::from(!prompt.replay);
            self.nameless.most += 1;
            return;
        };
        let place = self.sent.len();
        let forgets =
            self.sent.len() + self.nameless.most as usize + 1 >= model.rules.limits.seen_prompts;
        let unsure = self.unsure || forgets || !sure;
        if let Some(sent) = self.sent.get_mut(&uuid) {
            // It is known if one has run, or surely waits.
            let surely = sent.waits() && sent.step < model.step && !model.lags();
            let known = sent.ran || surely;
            if unsure || !known {
                sent.due.most += 1;
                sent.again = true;
            }
            return;
        }
        let known = self.known.contains(&uuid);
        let least = u32::from(!prompt.replay && !known);
        let sent = Sent {
            due: Due {
                least,
                most: u32::from(!prompt.replay || unsure),
                told: 0,
            },
            step: model.step,
            place,
            priority: prompt.priority,
            weight: prompt.bytes + model.rules.limits.queue_overhead_bytes,
            again: false,
            ran: false,
            echoed: false,
        };
        if prompt.priority == Priority::Now && sure && least == 1 {
            self.urgent = Some(Urgent {
                uuid: uuid.clone(),
                refused: false,
            });
        }
        self.sent.insert(uuid, sent);
    }

    fn ends(&mut self, model: &Model, ending: &Ending<'_>) -> Judged {
        self.changed = true;
        if ending.is_fatal() {
            if !model.closing || self.fatal {
                return broken("unreadable input is told once", "DEC-10", "without a cause");
            }
            self.fatal = true;
            return Ok(());
        }
        let ran = !ending.never_ran();
        if !model.rules.priced && !matches!(ending.cost, b"" | b"null") {
            let what = format!("it is {}", String::from_utf8_lossy(ending.cost));
            return broken("a cost that is not known is null", "WIRE-012", what);
        }
        if ran {
            self.last = Some(ending.is_error);
        } else if ending.stop == "input_error" {
            self.refused = true;
        } else {
            self.cancelled = true;
            let interrupted = model.causes.interrupt || model.causes.urgent;
            // A prompt that hooks look at ends like a turn.
            if interrupted && model.is_single() && !model.lags() && !model.rules.hooks {
                let what = format!("{:?} is cancelled with it", ending.prompt);
                return broken("an interrupt ends the running turn only", "DEC-15", what);
            }
        }
        let uuid = ending.prompt.as_deref().unwrap_or_default();
        self.full(model, uuid, ending)?;
        let step = self.began;
        let hooks = model.rules.hooks;
        if let Some(sent) = self.sent.get_mut(uuid) {
            sent.due.told += 1;
            sent.ran |= ran;
            if sent.due.told > sent.due.most {
                let what = format!("{uuid} has {} results", sent.due.told);
                return broken("a prompt has one terminal record", "DEC-21", what);
            }
            if ran && model.rules.replays && !sent.echoed {
                let what = format!("{uuid} has run and was not repeated");
                return broken("a prompt that runs is repeated", "configuration", what);
            }
            let ranked = (sent.priority, sent.place);
            if ran && !sent.again && !hooks && !model.lags() && model.rules.states {
                return self.in_order(uuid, ranked, step);
            }
            return Ok(());
        }
        self.nameless.told += 1;
        let again = !uuid.is_empty() && !self.given.insert(uuid.to_string());
        if again || self.nameless.told > self.nameless.most {
            let what = format!("{uuid:?} has a result, and nobody sent it");
            return broken("a prompt has one terminal record", "DEC-21", what);
        }
        Ok(())
    }

    /// Whether nothing else should have run before this prompt.
    fn in_order(&self, uuid: &str, ranked: (Priority, usize), step: u64) -> Judged {
        let before = |(other, sent): &(&String, &Sent)| {
            **other != *uuid
                && sent.waits()
                && sent.step < step
                && (sent.priority, sent.place) < ranked
                && sent.due.least == 1
                && !sent.again
        };
        match self.sent.iter().find(before) {
            Some((other, _)) => {
                let what = format!("{uuid} ran before {other}");
                broken(
                    "prompts run in the order of their priorities",
                    "DEC-15",
                    what,
                )
            }
            None => Ok(()),
        }
    }

    /// A refusal because the queue is full needs a queue that is full.
    fn full(&mut self, model: &Model, uuid: &str, ending: &Ending<'_>) -> Judged {
        if let Some(urgent) = &mut self.urgent
            && urgent.uuid == uuid
            && ending.stop == "input_error"
        {
            urgent.refused = true;
        }
        if !ending.says("input queue is full") || model.lags() {
            return Ok(());
        }
        let due = |due: &Due| due.most.saturating_sub(due.told);
        let others: u32 = self.sent.values().map(|sent| due(&sent.due)).sum();
        let others = (others + due(&self.nameless)).saturating_sub(1);
        let limits = &model.rules.limits;
        let running = usize::from(model.turn && model.before.turn);
        let least = limits.queue_records + running;
        if ending.says("prompts are waiting") && model.is_single() && (others as usize) < least {
            let what = format!("{uuid} is refused, and {others} others are under way");
            return broken("a queue takes what fits", "WIRE-020", what);
        }
        Ok(())
    }

    fn waiting(&self) -> u32 {
        let due: u32 = self.sent.values().map(|sent| sent.due.least).sum();
        (due + self.nameless.least).saturating_sub(self.ended)
    }

    fn bounds(&self, model: &Model) -> Judged {
        let limits = &model.rules.limits;
        let waiting = self.waiting() as usize;
        if waiting > limits.queue_records.saturating_add(1) {
            let what = format!("{waiting} prompts are under way");
            return broken("the queue has a bound", "WIRE-020", what);
        }
        if model.lags() {
            return Ok(());
        }
        let weights = || {
            self.sent
                .values()
                .filter(|sent| sent.waits())
                .map(|sent| sent.weight)
        };
        let (all, most) = (
            weights().sum::<usize>(),
            weights().max().unwrap_or_default(),
        );
        if all - most > limits.queue_bytes {
            let what = format!("prompts of {all} bytes are under way");
            return broken("the queue has a bound", "WIRE-020", what);
        }
        Ok(())
    }

    /// A prompt that is taken interrupts; one that is refused does not.
    fn interrupts(&self, model: &Model) -> Judged {
        let Some(urgent) = &self.urgent else {
            return Ok(());
        };
        if !model.is_single() || model.lags() || model.latched {
            return Ok(());
        }
        let work = &model.before.work;
        let gone = work.iter().any(|id| !model.effects.contains_key(id));
        if urgent.refused && gone {
            let what = format!("{} was refused and interrupts", urgent.uuid);
            return broken("a refused prompt interrupts nothing", "WIRE-020", what);
        }
        let runs = work.iter().any(|id| model.effects.contains_key(id));
        if !urgent.refused && !self.unsure && model.before.turn && runs {
            let what = format!("{} is taken, and what ran runs on", urgent.uuid);
            return broken("an urgent prompt interrupts", "DEC-15", what);
        }
        Ok(())
    }

    fn owes(&self) -> Option<&str> {
        let mut sent = self.sent.iter();
        let owed = sent.find(|(_, sent)| sent.waits()).map(|(uuid, _)| &**uuid);
        if owed.is_none() && self.nameless.told < self.nameless.least {
            return Some("one without a uuid");
        }
        owed
    }

    fn exits(&self, model: &Model, status: u8) -> Judged {
        let expected = if model.latched || (model.causes.fatal || self.fatal) {
            1
        } else if let Some(status) = self.status {
            status
        } else if let Some(is_error) = self.last {
            if self.cancelled {
                return Ok(());
            }
            u8::from(is_error)
        } else if self.cancelled {
            return Ok(());
        } else {
            u8::from(self.refused)
        };
        if expected != status {
            let what = format!("{status}, not {expected}");
            return broken("the exit status tells how it ended", "DEC-20", what);
        }
        Ok(())
    }
}

impl Oracle for Prompts {
    fn began(&mut self, config: &Config) {
        let resumed = config.resume.iter();
        let known = resumed.flat_map(|restored| &restored.prompts);
        *self = Self {
            known: known.map(ToString::to_string).collect(),
            ..Self::default()
        };
    }

    fn input(&mut self, model: &Model, input: &Input<'_>) -> Judged {
        self.urgent = None;
        self.submission.denied = false;
        let open = !model.closing && !model.latched;
        match input {
            Input::Command(Command::Prompt(_)) if open => {
                // Where hooks see the session end, nothing is begun behind them.
                self.changed = true;
                self.nameless.least += u32::from(!(model.eof && model.rules.hooks));
                self.nameless.most += 1;
            }
            Input::Done(id, Answer::Hook(report)) if open => self.submission.ended(*id, report),
            // Behind the end of the input hooks may see the session out already.
            Input::Command(Command::Shutdown { .. }) if model.eof && model.rules.hooks => {
                self.cancelled = true;
                self.last = None;
            }
            Input::Command(Command::Shutdown { status }) if open => self.status = Some(*status),
            _ => {}
        }
        Ok(())
    }

    fn told(&mut self, model: &Model, told: &Told) -> Judged {
        match told {
            Told::Prompt(prompt) => self.sends(model, prompt),
            Told::Initialize { bare, .. } => self.unsure |= !bare || model.rules.reference,
            _ => {}
        }
        Ok(())
    }

    fn output(&mut self, _model: &Model, output: &Output) -> Judged {
        match output {
            Output::Event(Event::TurnEnded(_)) => self.ended += 1,
            Output::Exit(status) => self.exit = Some(*status),
            Output::Start(id, Request::Hook(run)) if run.event == HookEvent::UserPromptSubmit => {
                self.submission.began(*id);
            }
            Output::Start(_, Request::Model(_)) => self.submission.waits = false,
            Output::Cancel(id) => {
                self.submission.hooks.remove(id);
            }
            _ => {}
        }
        Ok(())
    }

    fn said(&mut self, model: &Model, _line: &[u8], said: &Said<'_>) -> Judged {
        match said {
            Said::Running if model.state == State::Idle => {
                self.began = model.step;
                self.submission.waits = false;
                Ok(())
            }
            Said::Echo { uuid } => {
                if let Some(sent) = self.sent.get_mut(&**uuid) {
                    sent.echoed = true;
                }
                Ok(())
            }
            Said::Result(ending) => {
                if ending.never_ran() {
                    (self.submission.waits, self.submission.denied) = (false, false);
                }
                self.ends(model, ending)
            }
            _ => Ok(()),
        }
    }

    fn drained(&mut self, model: &Model, _drained: &Drained) -> Judged {
        if !model.latched && std::mem::take(&mut self.changed) {
            self.bounds(model)?;
        }
        self.interrupts(model)?;
        if self.submission.denied && !model.lags() && !model.latched {
            let what = "a hook has denied a prompt, and it is not refused";
            return broken("a prompt that a hook denies is refused", "DEC-33", what);
        }
        let Some(status) = self.exit.take() else {
            return Ok(());
        };
        if let Some(owed) = self.owes().filter(|_| !model.latched) {
            let what = format!("{owed} has none at the exit");
            return broken("a prompt has one terminal record", "DEC-21", what);
        }
        self.exits(model, status)
    }

    fn event(&mut self, model: &Model, event: &Happened<'_>) -> Judged {
        match event {
            Happened::Rested(_) if !model.latched && !model.rules.reference => match self.owes() {
                Some(owed) => {
                    let what = format!("{owed} has none, and nothing moves");
                    broken("a prompt has one terminal record", "DEC-21", what)
                }
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }
}
