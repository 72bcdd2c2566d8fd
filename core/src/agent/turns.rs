//! Turns: from a queued prompt to its result and `idle`.

use super::hooks::{About, Occasion};
use super::mcp::RemoteCalls;
use super::profile::StateRecords;
use super::queue::Prompt;
use super::records::Asked;
use super::storing::{Held, NOT_STORED};
use super::submissions::Submission;
use super::tasks::Beat;
use super::{AgentSession, Event, Output, Stage, TurnReport};
use super::{partial, records};
use crate::agent_loop::{FinishedBlock, LoopInput, Step, Streamed, TurnEnd, TurnOutcome};
use crate::effect::{EffectId, Request, Verdict};
use crate::hook::HookEvent;
use crate::json::RawJson;
use crate::machine::Machine as _;
use crate::mark::mark;
use crate::model::{Delta, ModelFailure, ModelOutcome, ModelRequest, StopReason};
use crate::plant::planted;
use crate::schema::Money;
use crate::schema::outbound::{
    Outbound, PermissionDenial, ResultRecord, ResultStop, SessionState, StateChanged,
};
use crate::time::Instant;
use crate::tool::{Access, ToolCall, ToolOutcome, ToolRequest};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

/// The prompt that runs.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) prompt_uuid: Arc<str>,
    /// Where the prompt came from, as the host said.
    origin: Option<RawJson>,
    began: Instant,
    /// Time spent waiting for the model so far.
    api: Duration,
    model: Option<(EffectId, Instant)>,
    /// Calls that run, by their places in the batch.
    tools: BTreeMap<EffectId, (usize, Beat)>,
    /// Calls that run at MCP servers.
    pub(super) remote: RemoteCalls,
    pub(super) denials: Vec<PermissionDenial>,
    /// Id of the message that is being streamed, as records show it.
    message_id: Option<Arc<str>>,
    /// Whether a rate limit of the newest request was told.
    told_limit: bool,
    /// Entries that have to be stored before anything else is begun.
    pub(super) barrier: u64,
    /// Submissions of structured output that are being checked.
    pub(super) submissions: BTreeMap<EffectId, Submission>,
    /// What waits for that, oldest first.
    pub(super) held: VecDeque<(u64, Held)>,
    /// Whether entries of this turn could not be stored.
    pub(super) store_failed: bool,
    /// How often hooks have kept it going.
    pub(super) continued: u8,
}

impl Turn {
    /// When a call that runs is to be told of next.
    pub(super) fn next_progress(&self) -> Option<Instant> {
        let tools = self.tools.values().map(|(_, beat)| beat.next());
        tools.chain(self.remote.next_progress()).min()
    }

    /// Places of the calls that are to be told of now, and how long each has run.
    pub(super) fn due_progress(&mut self, now: Instant, every: Duration) -> Vec<(usize, Duration)> {
        let due = self.tools.values_mut();
        due.filter_map(|(place, beat)| Some((*place, beat.due(now, every)?)))
            .chain(self.remote.due_progress(now, every))
            .collect()
    }
}

/// The status of a provider that takes no more requests for now.
const TOO_MANY_REQUESTS: u16 = 429;

/// What the results of calls say that an interrupt left open.
pub(super) const CANCELLED: &str = "Cancelled: the turn was interrupted before this call finished.";

impl AgentSession {
    /// Whether a prompt has to wait.
    pub(super) fn is_busy(&self) -> bool {
        self.turn.is_some()
            || self.flushing.is_some()
            || self.hooks_hold_prompts()
            || self.is_initializing()
            || self.files_hold_prompts()
    }

    /// Starts the next prompt once nothing runs.
    pub(super) fn next_turn(&mut self) {
        loop {
            self.fail_unsent_hooks();
            if self.is_busy() || !matches!(self.stage, Stage::Open | Stage::Ended) {
                return;
            }
            let Some(prompt) = self.queue.pop() else {
                return;
            };
            self.begin_turn(prompt);
        }
    }

    /// Lets hooks see the prompt first, if there are some.
    fn begin_turn(&mut self, prompt: Prompt) {
        self.told_init = false;
        let hooks = self.hooks_of(HookEvent::UserPromptSubmit, None);
        if self.config.hooks.records && !hooks.is_empty() {
            // What is told of them belongs to the turn.
            self.tell_init();
        }
        let text = prompt.record.content.parts().join("\n");
        let occasion = Occasion::Submit(Box::new(prompt));
        if let Err(Occasion::Submit(prompt)) = self.begin_hooks(occasion, About::Prompt(&text)) {
            self.run_prompt(*prompt);
        }
    }

    /// Tells what the session is made of, before all else of a turn (DEC-39).
    fn tell_init(&mut self) {
        if self.config.profile.is_reference() && !core::mem::replace(&mut self.told_init, true) {
            self.send_init();
        }
    }

    /// Runs a prompt that nobody has refused.
    pub(super) fn run_prompt(&mut self, prompt: Prompt) {
        self.set_checkpoint(&prompt.uuid);
        self.turn = Some(Box::new(Turn {
            prompt_uuid: Arc::clone(&prompt.uuid),
            origin: prompt.record.origin.clone(),
            began: self.now,
            api: Duration::ZERO,
            model: None,
            tools: BTreeMap::new(),
            remote: RemoteCalls::default(),
            denials: Vec::new(),
            message_id: None,
            told_limit: false,
            barrier: 0,
            submissions: BTreeMap::new(),
            held: VecDeque::new(),
            store_failed: false,
            continued: 0,
        }));
        if let Some(journal) = &mut self.journal {
            journal.retry();
        }
        self.offer_mcp_tools();
        self.tell_init();
        self.set_state(SessionState::Running);
        let Prompt { uuid, record } = prompt;
        self.echo(&record, uuid);
        self.feed_loop(LoopInput::Prompt(record.content.parts()));
    }

    /// Feeds the loop and carries out what it asks for, until it asks no more.
    pub(super) fn feed_loop(&mut self, input: LoopInput) {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            // The loop refuses only what its phase cannot take, such as an
            // answer to a call that a cancellation has settled before.
            if self.agent_loop.handle(self.now, input).is_err() {
                continue;
            }
            while let Some(step) = self.agent_loop.poll() {
                inputs.extend(self.step(step));
            }
        }
    }

    /// Carries out one step; gives what the loop has to be told at once. Once
    /// the output is closed nothing new is begun.
    fn step(&mut self, step: Step) -> Option<LoopInput> {
        match step {
            Step::Request(_) | Step::Decide { .. } | Step::Validate { .. } | Step::Run { .. }
                if self.stage == Stage::Latched => {}
            Step::Request(request) => return self.when_stored(Held::Request(request)),
            Step::Streamed(streamed) => self.show_partial(streamed),
            Step::Block(block) => self.show_block(block),
            Step::Decide { place, call } => return self.decide(place, &call),
            Step::Validate { place, value } => self.check_submission(place, value),
            Step::Run {
                call,
                place,
                access,
            } => {
                return self.when_stored(Held::Run {
                    place,
                    call,
                    access,
                });
            }
            Step::Settled(result) => {
                self.keep_result(&result);
                self.send(&records::tool_result(result));
            }
            Step::Kept(kept) => self.keep(kept),
            Step::Failed(failure) => self.show_failure(&failure),
            Step::Stopping => return self.may_stop(),
            Step::End(end) => {
                self.tell_stopped_tasks();
                return self.when_stored(Held::End(end));
            }
        }
        None
    }

    pub(super) fn ask_model(&mut self, request: Box<ModelRequest>) {
        let Some(mut request) = self.wait_for_servers(request) else {
            return;
        };
        self.offer_mcp_tools();
        request.tools = Arc::clone(self.agent_loop.tools());
        let id = self.start(Request::Model(request));
        let now = self.now;
        if let Some(turn) = &mut self.turn {
            turn.model = Some((id, now));
            turn.message_id = None;
            turn.told_limit = false;
        }
    }

    pub(super) fn model_delta(&mut self, delta: Delta) {
        if let Delta::RateLimited { resets_at } = delta {
            return self.tell_rate_limit(resets_at);
        }
        self.feed_loop(LoopInput::Delta(delta));
    }

    pub(super) fn model_done(&mut self, outcome: ModelOutcome) {
        self.close_model_clock();
        self.feed_loop(LoopInput::ModelDone(outcome));
    }

    fn close_model_clock(&mut self) -> Option<EffectId> {
        let turn = self.turn.as_mut()?;
        let (id, since) = turn.model.take()?;
        turn.api = turn.api.saturating_add(self.now.since(since));
        Some(id)
    }

    /// Runs a call; gives its result if it cannot.
    pub(super) fn run_tool(
        &mut self,
        place: usize,
        call: ToolCall,
        access: Access,
    ) -> Option<LoopInput> {
        if self.is_mcp_tool(&call.name) {
            return self.run_mcp_tool(place, &call);
        }
        let background = self.agent_loop.tool(&call.name).map(|tool| tool.background);
        let request = ToolRequest {
            call,
            access,
            directories: self.policy.directories().map(ToString::to_string).collect(),
            environment: Arc::clone(&self.environment),
            bookkeeping: self.bookkeeping(),
        };
        if background.is_some_and(|background| background.holds(&request.call.input)) {
            return self.start_task(place, request);
        }
        let id = self.start(Request::Tool(Box::new(request)));
        let beat = Beat::new(self.now, self.config.limits.progress_every);
        if let Some(turn) = &mut self.turn {
            turn.tools.insert(id, (place, beat));
        }
        None
    }

    /// A tool has ended. Hooks may look at the result before the model does.
    pub(super) fn tool_done(&mut self, id: EffectId, outcome: ToolOutcome) {
        self.close_questions_of(id);
        let place = self.turn.as_mut().and_then(|turn| turn.tools.remove(&id));
        if let Some((place, _)) = place {
            self.call_ended(place, outcome);
        }
    }

    /// A call has ended, wherever it ran.
    pub(super) fn call_ended(&mut self, place: usize, outcome: ToolOutcome) {
        let Some(call) = self.agent_loop.call(place).cloned() else {
            return;
        };
        let about = About::Called(&call, &outcome);
        if self.begin_hooks(Occasion::Called { place }, about).is_ok() {
            self.feed_loop(LoopInput::Ended { place, outcome });
        } else {
            self.feed_loop(LoopInput::Settle { place, outcome });
        }
    }

    /// Asks hooks whether the turn may end; the loop's next input if none is asked.
    fn may_stop(&mut self) -> Option<LoopInput> {
        let before = self.turn.as_ref().is_some_and(|turn| turn.continued > 0);
        match self.begin_hooks(Occasion::Stop, About::Stop(before)) {
            Ok(()) => None,
            Err(_) => Some(LoopInput::Stop),
        }
    }

    /// Cancels what the turn started and ends it (the caller sent what goes before).
    /// `first`: a call that ends in its own way before the others; `reason`: what
    /// the results of those say.
    pub(super) fn cancel_turn_because(
        &mut self,
        first: Option<(usize, ToolOutcome)>,
        reason: &'static str,
    ) {
        self.answer_withdrawn();
        if self.turn.is_none() {
            return;
        }
        if let Some(id) = self.close_model_clock() {
            self.cancel_effect(id);
        }
        let tools = self
            .turn
            .as_mut()
            .map(|turn| core::mem::take(&mut turn.tools))
            .unwrap_or_default();
        for id in tools.into_keys() {
            self.cancel_effect(id);
        }
        self.drop_remote_calls();
        self.stop_hooks(false);
        self.stop_tasks();
        self.drop_submissions();
        self.feed_loop(LoopInput::Cancel { first, reason });
    }

    // ---- what the host sees ---------------------------------------------------------

    /// The id of the message that is being streamed: the provider's, or one made for it.
    fn message_id(&mut self) -> Arc<str> {
        if let Some(id) = self.turn.as_ref().and_then(|turn| turn.message_id.clone()) {
            return id;
        }
        let id: Arc<str> = match self.agent_loop.message_id() {
            Some(id) => id.into(),
            None => self.ids.tagged("msg_").into(),
        };
        if let Some(turn) = &mut self.turn {
            turn.message_id = Some(Arc::clone(&id));
        }
        id
    }

    fn show_partial(&mut self, streamed: Streamed) {
        if !self.config.include_partial_messages {
            return;
        }
        let id = self.message_id();
        let model = Arc::clone(&self.config.provider.model);
        for event in partial::events(streamed, id, model) {
            self.send(&records::stream_event(event));
        }
    }

    fn show_block(&mut self, block: FinishedBlock) {
        let id = self.message_id();
        let model = Arc::clone(&self.config.provider.model);
        self.send(&records::assistant(block, id, model));
    }

    /// One assistant record says that the request failed (DEC-41).
    fn show_failure(&mut self, failure: &ModelFailure) {
        mark!(self.marks, DEC_41);
        let told = self.turn.as_ref().is_some_and(|turn| turn.told_limit);
        if failure.status == Some(TOO_MANY_REQUESTS) && !told {
            self.tell_rate_limit(None);
        }
        let id = self.ids.tagged("msg_").into();
        let model = Arc::clone(&self.config.provider.model);
        self.send(&records::api_error(failure, id, model));
    }

    /// The provider takes no more for now (DEC-43).
    fn tell_rate_limit(&mut self, resets_at: Option<u64>) {
        if let Some(turn) = &mut self.turn {
            turn.told_limit = true;
        }
        if self.config.profile.is_reference() {
            self.send(&records::rate_limited(resets_at));
        }
    }

    pub(super) fn set_state(&mut self, state: SessionState) {
        if self.state != state {
            mark!(self.marks, DEC_12);
            self.state = state;
            self.tell_state(match state {
                SessionState::Idle => StateChanged::IDLE,
                SessionState::Running | SessionState::RequiresAction => StateChanged::RUNNING,
            });
        }
    }

    /// Tells a state to whom it is for (DEC-12).
    pub(super) fn tell_state(&mut self, record: StateChanged) {
        let reference = self.config.profile.reference();
        let record = match reference.map_or(StateRecords::Plain, |reference| reference.states) {
            StateRecords::Plain => record,
            StateRecords::HostOnly => record.for_sdk_host(),
            StateRecords::Off => return,
        };
        self.send(&Outbound::StateChanged(record));
    }

    // ---- the end --------------------------------------------------------------------

    pub(super) fn end_turn(&mut self, end: TurnEnd) {
        let Some(turn) = self.turn.take() else { return };
        if end.cost.is_none() {
            mark!(self.marks, WIRE_012);
        }
        let (result, report) = self.result(*turn, end);
        self.books.last_ordinary_is_error = Some(report.is_error);
        let went_well = !report.is_error;
        if !went_well && self.stage == Stage::Open {
            mark!(self.marks, DEC_21);
        }
        self.send(&Outbound::Result(result));
        self.out.push_back(Output::Event(Event::TurnEnded(report)));
        if matches!(self.stage, Stage::Closing(_)) {
            self.finish_closing();
        }
        if self.stage.is_closing() {
            return;
        }
        if went_well && self.begin_suggestion() {
            return;
        }
        self.after_result();
    }

    /// What follows a result, and the suggestion behind it if there is one.
    pub(super) fn after_result(&mut self) {
        if self.config.flush_remote {
            self.flushing = Some(self.start(Request::FlushRemote));
            if planted!(self.planted, Wire004) {
                self.set_state(SessionState::Idle);
            }
        } else {
            mark!(self.marks, WIRE_004);
            self.set_state(SessionState::Idle);
        }
    }

    /// `idle` follows the flush, whatever became of it (WIRE-004).
    pub(super) fn flushed(&mut self, id: EffectId, verdict: Verdict) {
        if self.flushing == Some(id) {
            self.flushing = None;
            if verdict == Verdict::Failed {
                self.warn("the remote flush of a turn failed");
            }
            self.set_state(SessionState::Idle);
        }
    }

    fn result(&self, turn: Turn, mut end: TurnEnd) -> (ResultRecord, TurnReport) {
        if planted!(self.planted, Wire012) {
            end.cost = end.cost.or(Some(0));
        }
        let books = records::Books {
            duration: self.now.since(turn.began),
            api: turn.api,
            requests: end.requests,
            usage: end.usage,
            cost: end.cost.map(Money),
            denials: turn.denials,
        };
        let asked = Asked {
            uuid: Some(turn.prompt_uuid),
            origin: turn.origin,
        };
        let provider = &self.config.provider;
        let not_stored = turn.store_failed.then(|| NOT_STORED.to_string());
        let (subtype, stop, error) = match as_done(end.outcome) {
            TurnOutcome::Done {
                stop,
                text,
                structured,
            } if not_stored.is_none() => {
                let report = TurnReport {
                    text: text.clone(),
                    structured_output: structured.clone(),
                    errors: Vec::new(),
                    is_error: false,
                    at_limit: stop == StopReason::MaxTokens,
                };
                return (
                    records::success(
                        provider,
                        ResultStop::of(stop),
                        text,
                        structured,
                        books,
                        asked,
                    ),
                    report,
                );
            }
            outcome @ (TurnOutcome::Failed(_)
            | TurnOutcome::MaxTurns(_)
            | TurnOutcome::Budget { .. }
            | TurnOutcome::NoStructuredOutput { .. }
            | TurnOutcome::Cancelled
            | TurnOutcome::Halted { .. }
            | TurnOutcome::Done { .. }) => records::error_of(outcome),
        };
        let errors = match (not_stored, stop) {
            (Some(text), ResultStop::Cancelled) => vec![text],
            // Put together from words of ours and of the provider.
            (None, _) => vec![self.placeless(&error)],
            (Some(text), _) => vec![self.placeless(&error), text],
        };
        let report = TurnReport {
            text: String::new(),
            structured_output: None,
            errors: errors.clone(),
            is_error: true,
            at_limit: false,
        };
        (
            records::error(provider, subtype, stop, errors, books, asked),
            report,
        )
    }
}

/// What a result says of a turn that a hook ended and that gave no reason.
const HALTED: &str = "A hook ended this turn.";

/// A turn that a hook ended has ended well; its text is the hook's reason.
fn as_done(outcome: TurnOutcome) -> TurnOutcome {
    let TurnOutcome::Halted { reason, structured } = outcome else {
        return outcome;
    };
    let text = if reason.trim().is_empty() {
        HALTED.to_string()
    } else {
        reason
    };
    TurnOutcome::Done {
        stop: StopReason::EndTurn,
        text,
        structured,
    }
}
