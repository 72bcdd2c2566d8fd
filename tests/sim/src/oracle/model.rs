//! The reference model: what was said and told so far, and what is open. It judges
//! nothing; oracles look at it before it takes what they see.

use super::said::{Asked, Said, ShownCall};
use super::told::{Answer, Priority, Told};
use agentx_core::agent::{Command, Config, Input, Output};
use agentx_core::correlate::OrphanPolicy;
use agentx_core::effect::{self, EffectId, Request};
use agentx_core::time::Instant;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What the configuration says that oracles go by.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) reference: bool,
    pub(crate) vets: bool,
    pub(crate) stores: bool,
    /// Whether state records are written.
    pub(crate) states: bool,
    pub(crate) hooks: bool,
    /// Whether what the host says is echoed.
    pub(crate) replays: bool,
    /// Whether the provider names prices.
    pub(crate) priced: bool,
    /// Whether structured output is asked for.
    pub(crate) schema: bool,
    pub(crate) orphans: OrphanPolicy,
    pub(crate) limits: agentx_core::limits::Limits,
}

impl Rules {
    fn of(config: &Config) -> Self {
        let profile = &config.profile;
        let states = profile.reference().map(|reference| reference.states);
        Self {
            reference: profile.is_reference(),
            vets: config.vet_records,
            stores: config.store.is_some(),
            states: states != Some(agentx_core::agent::StateRecords::Off),
            replays: config.replay_user_messages,
            priced: config.provider.pricing.is_some(),
            schema: config.output_schema.is_some(),
            hooks: !config.hooks.list.is_empty(),
            orphans: config.orphans,
            limits: config.limits,
        }
    }
}

/// How a request of the agent stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Open,
    /// The host answered, at this step.
    Answered(u64),
    Withdrawn,
    /// The input ended.
    Closed,
}

/// A request of the agent.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub(crate) id: String,
    /// The call it asks about; `None` for a request of another kind.
    pub(crate) call: Option<String>,
    pub(crate) standing: Standing,
}

/// A call that the host was shown.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// Its place among all calls.
    pub(crate) place: usize,
    pub(crate) settled: bool,
}

/// What the session shows itself to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Idle,
    Running,
    RequiresAction,
}

/// What an effect is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Model,
    Tool,
    Task,
    Hook,
    Store,
    Flush,
    Vet,
    Other,
}

/// An effect that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Running {
    pub(crate) work: Work,
    pub(crate) since: u64,
}

/// What of a step can take back questions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Causes {
    pub(crate) interrupt: bool,
    pub(crate) urgent: bool,
    pub(crate) denial: bool,
    pub(crate) fatal: bool,
    pub(crate) shutdown: bool,
    pub(crate) hook: bool,
    pub(crate) tool: bool,
    pub(crate) store: bool,
    /// Something else that only some sessions have: time, an operation of a host.
    pub(crate) other: bool,
}

impl Causes {
    /// Whether something ends the turn.
    pub(crate) const fn ends_turn(self) -> bool {
        self.interrupt || self.urgent || self.denial || self.fatal || self.shutdown || self.store
    }

    /// Whether something can take back a question.
    pub(crate) const fn any(self) -> bool {
        self.ends_turn() || self.hook || self.tool || self.other
    }
}

/// Everything that oracles share.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) now: Instant,
    /// Inputs so far.
    pub(crate) step: u64,
    pub(crate) rules: Rules,
    /// The agent takes nothing of its input any more.
    pub(crate) closing: bool,
    /// Its output is closed for good.
    pub(crate) latched: bool,
    pub(crate) eof: bool,
    /// The step that closed the input, or made the agent take nothing more.
    pub(crate) closed_at: u64,
    pub(crate) exited: bool,
    pub(crate) state: State,
    /// Whether a turn was begun and its result not told.
    pub(crate) turn: bool,
    pub(crate) requests: Vec<Pending>,
    /// The places of those that are open, oldest first.
    open: Vec<usize>,
    by_id: HashMap<String, usize>,
    pub(crate) calls: BTreeMap<String, Call>,
    /// Calls without a result, in the order in which they were shown.
    pub(crate) unsettled: Vec<String>,
    pub(crate) tasks: BTreeSet<String>,
    pub(crate) effects: BTreeMap<EffectId, Running>,
    /// Records of this step's input.
    pub(crate) lines: usize,
    pub(crate) causes: Causes,
    /// State and requests as this step found them.
    pub(crate) before: Before,
}

/// What a step found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Before {
    pub(crate) turn: bool,
    pub(crate) requires_action: bool,
    /// The places of open requests, oldest first.
    pub(crate) open: Vec<usize>,
    /// Model requests, tools and tasks that ran.
    pub(crate) work: Vec<EffectId>,
}

impl Model {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            now: Instant::ZERO,
            step: 0,
            rules: Rules::of(config),
            closing: false,
            latched: false,
            eof: false,
            closed_at: u64::MAX,
            exited: false,
            state: State::Idle,
            turn: false,
            requests: Vec::new(),
            open: Vec::new(),
            by_id: HashMap::new(),
            calls: BTreeMap::new(),
            unsettled: Vec::new(),
            tasks: BTreeSet::new(),
            effects: BTreeMap::new(),
            lines: 0,
            causes: Causes::default(),
            before: Before::default(),
        }
    }

    /// Whether what is said may lag behind what is done.
    pub(crate) const fn lags(&self) -> bool {
        self.rules.vets
    }

    pub(crate) fn request(&self, id: &str) -> Option<&Pending> {
        self.requests.get(*self.by_id.get(id)?)
    }

    /// The open requests, oldest first.
    pub(crate) fn open(&self) -> impl DoubleEndedIterator<Item = &Pending> {
        self.open.iter().filter_map(|at| self.requests.get(*at))
    }

    /// Whether a question is open.
    pub(crate) fn asks(&self) -> bool {
        self.open().any(|request| request.call.is_some())
    }

    /// Whether this step's input is one record and nothing else.
    pub(crate) const fn is_single(&self) -> bool {
        self.lines == 1
    }

    fn set(&mut self, id: &str, standing: Standing) {
        let Some(at) = self.by_id.get(id).copied() else {
            return;
        };
        self.open.retain(|open| *open != at);
        if let Some(request) = self.requests.get_mut(at) {
            request.standing = standing;
        }
    }

    // ---- in -------------------------------------------------------------------------

    pub(crate) fn begin_step(&mut self, now: Instant, input: &Input<'_>) {
        self.now = now;
        self.step += 1;
        self.lines = 0;
        self.causes = Causes::default();
        self.before.turn = self.turn;
        self.before.requires_action = self.state == State::RequiresAction;
        self.before.open.clone_from(&self.open);
        self.before.work.clear();
        let work = self
            .effects
            .iter()
            .filter(|(_, running)| matches!(running.work, Work::Model | Work::Tool | Work::Task));
        self.before.work.extend(work.map(|(id, _)| *id));
        match input {
            Input::Tick => self.causes.other = true,
            Input::Command(Command::Shutdown { .. }) => self.causes.shutdown = true,
            Input::Command(_) => self.causes.other = true,
            Input::Done(id, answer) => self.done(*id, answer),
            Input::WriteFailed => self.latched = true,
            Input::Bytes(_) | Input::Eof | Input::Progress(..) | Input::Sent(_) => {}
        }
    }

    fn done(&mut self, id: EffectId, answer: &effect::Answer) {
        let Some(running) = self.effects.remove(&id) else {
            return;
        };
        match running.work {
            Work::Hook => self.causes.hook = true,
            Work::Tool => self.causes.tool = true,
            Work::Model | Work::Task | Work::Flush | Work::Other => self.causes.other = true,
            Work::Store | Work::Vet => {}
        }
        match answer {
            effect::Answer::Stored(effect::Verdict::Failed) => self.causes.store = true,
            effect::Answer::Vetted(effect::Verdict::Failed) => self.latched = true,
            _ => {}
        }
    }

    /// The commands that end a session do so once they have been seen.
    pub(crate) fn end_step_input(&mut self, input: &Input<'_>) {
        match input {
            Input::Command(Command::Shutdown { .. }) => self.close(),
            Input::Eof if !self.closing && !self.latched && !self.eof => {
                self.eof = true;
                self.closed_at = self.closed_at.min(self.step);
                for at in self.open.drain(..) {
                    if let Some(request) = self.requests.get_mut(at) {
                        request.standing = Standing::Closed;
                    }
                }
            }
            _ => {}
        }
    }

    pub(crate) fn told(&mut self, told: &Told) {
        self.lines += 1;
        match told {
            Told::Interrupt { .. } => self.causes.interrupt = true,
            Told::Prompt(prompt) => {
                self.causes.urgent |= prompt.priority == Priority::Now && !prompt.replay;
            }
            Told::Answer(answer) => self.answer(answer),
            Told::Fatal => {
                self.causes.fatal = true;
                self.close();
            }
            Told::Control { .. } | Told::Initialize { .. } => {
                self.causes.other |= self.rules.reference;
            }
            Told::Other => {}
        }
    }

    fn close(&mut self) {
        self.closing = true;
        self.closed_at = self.closed_at.min(self.step);
    }

    fn answer(&mut self, answer: &Answer) {
        if self.request(&answer.id).map(|request| request.standing) == Some(Standing::Open) {
            self.set(&answer.id, Standing::Answered(self.step));
            // It may deny and interrupt; a payload of another kind may end much.
            let interrupts = matches!(&answer.body, super::told::Body::Success(Some(payload))
                if super::json::member(payload.as_bytes(), "interrupt") == Some(b"true"));
            self.causes.denial |= interrupts;
            self.causes.other |= self.rules.reference;
        }
    }

    // ---- out ------------------------------------------------------------------------

    pub(crate) fn said(&mut self, said: &Said<'_>) {
        match said {
            Said::Call(call) => self.shown(call),
            Said::ToolResult { call, .. } => {
                if let Some(call) = self.calls.get_mut(&**call) {
                    call.settled = true;
                }
                self.unsettled.retain(|open| *open != **call);
            }
            Said::Result(ending) if !ending.never_ran() => self.turn = false,
            Said::Idle => self.state = State::Idle,
            Said::Running => {
                if self.state == State::Idle {
                    self.turn = true;
                }
                self.state = State::Running;
            }
            Said::RequiresAction(_) => self.state = State::RequiresAction,
            Said::TaskStarted { task } => {
                self.tasks.insert(task.to_string());
            }
            Said::TaskOver { task } => {
                self.tasks.remove(&**task);
            }
            Said::Question(asked) => self.asked(asked),
            Said::Request { id, hook, .. } => {
                self.rules.hooks |= *hook;
                self.registered(id, None);
            }
            Said::Withdrawn { id } => self.set(id, Standing::Withdrawn),
            _ => {}
        }
    }

    fn shown(&mut self, call: &ShownCall<'_>) {
        let place = self.calls.len();
        let known = Call {
            place,
            settled: false,
        };
        self.calls.insert(call.id.to_string(), known);
        self.unsettled.push(call.id.to_string());
    }

    fn asked(&mut self, asked: &Asked<'_>) {
        self.registered(&asked.request, Some(&asked.tool_use_id));
    }

    fn registered(&mut self, id: &str, call: Option<&str>) {
        self.by_id.insert(id.to_string(), self.requests.len());
        // The end may have been there before the record could leave, or have come
        // right behind what asked for it.
        let standing = if self.eof {
            Standing::Closed
        } else {
            self.open.push(self.requests.len());
            Standing::Open
        };
        self.requests.push(Pending {
            id: id.to_string(),
            call: call.map(Into::into),
            standing,
        });
    }

    pub(crate) fn output(&mut self, output: &Output) {
        match output {
            Output::Start(id, request) => {
                let work = match request {
                    Request::Model(_) => Work::Model,
                    Request::Tool(_) => Work::Tool,
                    Request::Task(_) => Work::Task,
                    Request::Hook(_) => Work::Hook,
                    Request::Store(_) => Work::Store,
                    Request::FlushRemote => Work::Flush,
                    Request::Vet(_) => Work::Vet,
                    _ => Work::Other,
                };
                let since = self.step;
                self.effects.insert(*id, Running { work, since });
            }
            Output::Cancel(id) => {
                self.effects.remove(id);
            }
            Output::Exit(_) => self.exited = true,
            Output::Diagnostic(diagnostic) if diagnostic.text.ends_with(LATCHES) => {
                self.latched = true;
            }
            _ => {}
        }
    }
}

/// How every line ends that tells of an output that was closed for good.
pub(crate) const LATCHES: &str = "; the session ends";
