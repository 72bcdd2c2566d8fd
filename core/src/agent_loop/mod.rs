//! The agent loop: model request, streamed answer, tool calls, next request.
//!
//! It stands beside the wire and speaks model vocabulary alone, so that any
//! front end can drive it. Permission is asked of the outside ([`Step::Decide`])
//! and has no default.
//!
//! ```text
//!          prompt                 answer with calls
//!  idle ----------> requesting -------------------> tools
//!   ^                |      ^                         |
//!   |  no calls,     |      |   all calls settled     |
//!   |  failure,      |      +-------------------------+
//!   +-- cancel ------+--- turn limit, budget, cancel -+
//! ```
//!
//! A turn does not end before its background tasks have: where it would, the loop
//! waits for the last of them. What became of them reaches the model as one
//! message, and after an answer that ended well one more request follows (WIRE-004).
//!
//! Where somebody is asked before a turn ends, an answer without calls leads to
//! `stopping`, and from there to `idle` or once more to `requesting`.

mod account;
mod answer;
mod aside;
mod batch;
mod calls;
mod estimate;
mod history;
mod offered;
mod structured;
mod tasks;
#[cfg(test)]
mod tests;
mod vocabulary;

pub use account::Pricing;
pub use answer::{Opened, Piece, Streamed};
pub use aside::{Aside, AsideLimits};
pub use structured::StructuredLimits;

use crate::guard::Guard;
use crate::ids::IdGen;
use crate::json::RawJson;
use crate::lazy::Lazy;
use crate::machine::{Machine, Misuse, Wants};
use crate::model::{
    Block, Delta, ErrorCategory, Message, ModelFailure, ModelOutcome, ModelRequest, StopReason,
    ToolChoice, ToolResult, Usage,
};
use crate::plant::{Planted, planted};
use crate::store::Restored;
use crate::time::Instant;
use crate::tool::{ToolCall, ToolOutcome, ToolSpec};
use account::{Account, Tokens};
use alloc::boxed::Box;
use alloc::collections::{BTreeSet, VecDeque};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use answer::{Answer, Part};
use batch::Batch;
use calls::CallIds;
use structured::Structured;
use tasks::Tasks;
pub use vocabulary::{FinishedBlock, Kept, LoopInput, Step};

/// What a loop is made of.
#[derive(Clone, Debug)]
pub struct LoopConfig {
    /// System prompt, if any.
    pub system: Option<Arc<str>>,
    /// Tools offered to the model.
    pub tools: Arc<[ToolSpec]>,
    /// Output limit of one request, in tokens.
    pub max_output_tokens: u64,
    /// Reasoning effort, if the process chose one.
    pub effort: Option<Arc<str>>,
    /// Model requests one prompt may take (DEC-40).
    pub max_turns: Option<u32>,
    /// Money the process may spend, in 10^-12 USD (DEC-40).
    pub max_budget: Option<u128>,
    /// Prices, where they are known.
    pub pricing: Option<Pricing>,
    /// Credentials that must not pass through (DEC-30).
    pub guard: Guard,
    /// Arrays and objects open at once in the input of a call.
    pub input_depth: usize,
    /// Size of the input of a call, in bytes as records carry it (DEC-34).
    pub input_bytes: usize,
    /// Whether somebody wants to be asked before a turn ends because the model
    /// stopped ([`Step::Stopping`]).
    pub asks_before_stop: bool,
}

/// How a turn ended, with its books.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnEnd {
    /// The outcome.
    pub outcome: TurnOutcome,
    /// Model requests of this prompt.
    pub requests: u32,
    /// Tokens of this prompt.
    pub usage: Usage,
    /// Cost of this prompt in 10^-12 USD; `None` when no price is known, or not
    /// how many tokens were used (WIRE-012).
    pub cost: Option<u128>,
}

/// Why a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnOutcome {
    /// The model stopped.
    Done {
        /// Why.
        stop: StopReason,
        /// The text of its last answer.
        text: String,
        /// The output that was accepted, where the run asked for one.
        structured: Option<RawJson>,
    },
    /// The model request failed.
    Failed(ModelFailure),
    /// The turn limit was reached (DEC-40).
    MaxTurns(u32),
    /// The budget is spent (DEC-40).
    Budget {
        /// Whether that rests on an estimate, since the provider did not report
        /// the tokens of every answer.
        estimated: bool,
    },
    /// No output that fits the schema came in as many tries as there are (DEC-42).
    NoStructuredOutput {
        /// How often the model was told why.
        retries: u32,
        /// What was wrong the last time.
        fault: String,
    },
    /// Somebody wanted no further request ([`LoopInput::Halt`]).
    Halted {
        /// Why; may be empty.
        reason: String,
        /// The output that was accepted before, where the run asked for one.
        structured: Option<RawJson>,
    },
    /// Somebody cancelled it.
    Cancelled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    Requesting,
    Tools,
    /// The turn would be over, but tasks of it still run.
    Waiting,
    /// The answer is complete; somebody is asked whether the turn may end.
    Stopping,
}

/// The agent loop of one session.
#[derive(Debug)]
pub struct AgentLoop {
    config: LoopConfig,
    phase: Phase,
    now: Instant,
    history: Vec<Arc<Message>>,
    /// Where in the history the prompt stands that is being answered.
    prompt_at: usize,
    context: Vec<Arc<Message>>,
    account: Account,
    ids: CallIds,
    answer: Lazy<Answer>,
    shown: Vec<Block>,
    batch: Batch,
    tasks: Lazy<Tasks>,
    last_usage: Option<Usage>,
    dropped: Vec<Arc<str>>,
    /// Names of the tools that come and go.
    remote: BTreeSet<Arc<str>>,
    structured: Option<Box<Structured>>,
    /// How the turn ends if it may.
    stopping: Option<Box<TurnOutcome>>,
    /// Why the turn ends behind the calls that are open, if it does.
    halt: Option<String>,
    out: VecDeque<Step>,
    planted: Planted,
}

impl AgentLoop {
    /// An idle loop without history. `ids` makes call ids where the model's will not do.
    #[must_use]
    pub fn new(config: LoopConfig, ids: IdGen) -> Self {
        let account = Account::new(config.pricing, config.max_budget);
        Self {
            config,
            phase: Phase::Idle,
            now: Instant::ZERO,
            history: Vec::new(),
            prompt_at: 0,
            context: Vec::new(),
            account,
            ids: CallIds::new(ids),
            answer: Lazy::NEW,
            shown: Vec::new(),
            batch: Batch::default(),
            tasks: Lazy::NEW,
            last_usage: None,
            dropped: Vec::new(),
            remote: BTreeSet::new(),
            structured: None,
            stopping: None,
            halt: None,
            out: VecDeque::new(),
            planted: Planted::NONE,
        }
    }

    /// The same with a fault planted, if one is.
    pub(crate) fn with(self, planted: Planted) -> Self {
        Self { planted, ..self }
    }

    /// Goes on from a conversation that was stored. Only before the first input.
    pub fn resume(&mut self, restored: Restored) {
        self.history = restored.history;
        self.ids.use_up(restored.tool_use_ids);
        self.last_usage = restored.last_usage;
    }

    /// Ids of calls that were dropped since this was asked last: they are in no
    /// history, and used up all the same (DEC-35).
    pub fn take_dropped_calls(&mut self) -> Vec<Arc<str>> {
        core::mem::take(&mut self.dropped)
    }

    /// The conversation so far, oldest first.
    #[must_use]
    pub fn history(&self) -> &[Arc<Message>] {
        &self.history
    }

    /// The provider's id of the message that is being streamed, once known.
    #[must_use]
    pub fn message_id(&self) -> Option<&str> {
        self.answer.message_id()
    }

    /// Tokens of the newest complete answer.
    #[must_use]
    pub const fn last_usage(&self) -> Option<Usage> {
        self.last_usage
    }

    /// The call at a place of the current batch.
    #[must_use]
    pub fn call(&self, place: usize) -> Option<&ToolCall> {
        self.batch.call(place)
    }

    /// The outcome of the call at a place, while it is held back
    /// ([`LoopInput::Ended`]).
    #[must_use]
    pub fn held(&self, place: usize) -> Option<ToolOutcome> {
        self.batch.held(place)
    }

    /// The reasoning effort of later requests.
    #[must_use]
    pub const fn effort(&self) -> Option<&Arc<str>> {
        self.config.effort.as_ref()
    }

    /// Lets later requests have this reasoning effort, one of the entry's.
    pub fn set_effort(&mut self, effort: Option<Arc<str>>) {
        self.config.effort = effort;
    }

    /// Replaces the system prompt, from the next request on.
    pub fn set_system(&mut self, system: Option<Arc<str>>) {
        self.config.system = system;
    }

    /// Says whether somebody wants to be asked before a turn ends
    /// ([`Step::Stopping`]).
    pub const fn set_asks_before_stop(&mut self, asks: bool) {
        self.config.asks_before_stop = asks;
    }

    /// Checks an input that was made here as one of the model is checked (DEC-18).
    ///
    /// # Errors
    ///
    /// What is wrong with it, as a sentence about the arguments of a call.
    pub fn check_input(&self, input: &RawJson) -> Result<(), String> {
        calls::input(input.as_str(), &self.config).map(drop)
    }

    fn prompt(&mut self, parts: Vec<String>) {
        if !planted!(self.planted, Dec27) {
            self.account.next_prompt();
        }
        self.begin_output();
        self.take_context(true);
        self.prompt_at = self.history.len();
        let prompt = Arc::new(Message::User(parts));
        self.history.push(Arc::clone(&prompt));
        self.out.push_back(Step::Kept(Kept::Prompt(prompt)));
        if self.account.exhausted() {
            self.end(self.budget_spent());
        } else {
            self.request();
        }
    }

    fn request(&mut self) {
        self.take_context(false);
        self.account.request();
        self.phase = Phase::Requesting;
        self.answer = Lazy::with(Answer::new(self.config.guard.clone()));
        self.shown.clear();
        self.out.push_back(Step::Request(Box::new(ModelRequest {
            system: self.config.system.clone(),
            history: self.history.clone(),
            prompt: self.prompt_at,
            round: self.account.requests().saturating_sub(1),
            tools: Arc::clone(&self.config.tools),
            tool_choice: ToolChoice::Auto,
            max_output_tokens: self.config.max_output_tokens,
            effort: self.config.effort.clone(),
        })));
    }

    fn delta(&mut self, delta: Delta) {
        let ids = &mut self.ids;
        self.answer.delta(delta, |id| ids.map(id));
        self.show_streamed();
    }

    fn show_streamed(&mut self) {
        while let Some(streamed) = self.answer.poll() {
            if let Streamed::Block(block) = streamed {
                self.show_block(block, None, None);
            } else {
                self.out.push_back(Step::Streamed(streamed));
            }
        }
    }

    fn show_block(&mut self, block: Block, stop: Option<StopReason>, error: Option<ErrorCategory>) {
        self.shown.push(block.clone());
        self.out.push_back(Step::Block(FinishedBlock {
            message_id: self.answer.message_id().map(Into::into),
            block,
            stop,
            error,
            usage: self.answer.usage(),
        }));
    }

    fn model_done(&mut self, outcome: ModelOutcome) {
        match outcome {
            ModelOutcome::Finished => self.finish_answer(),
            ModelOutcome::Failed(failure) => self.fail(failure),
        }
    }

    fn finish_answer(&mut self) {
        let calls: Vec<_> = self.answer.call_ids().collect();
        let finished = self.answer.finish();
        self.show_streamed();
        let tokens = self.tokens(self.answer.usage_known());
        self.account.answer(tokens);
        self.last_usage = self.answer.usage_known().then(|| self.answer.usage());
        if finished.stop != StopReason::ToolUse {
            self.dropped.extend(calls);
        }
        if finished.stop == StopReason::ContentFilter {
            for block in blocks_of(finished.parts) {
                self.show_block(block, None, None);
            }
            self.keep_shown(self.last_usage);
            return self.report_failure(content_filter());
        }
        if finished.stop != StopReason::ToolUse {
            // A call in an answer that stopped for another reason may be half a call.
            return self.finish_turn(blocks_of(finished.parts), finished.stop);
        }
        self.start_batch(finished.parts);
    }

    fn finish_turn(&mut self, blocks: Vec<Block>, stop: StopReason) {
        // A tool stop without any call ends the turn (DEC-51).
        let stop = if stop == StopReason::ToolUse {
            StopReason::EndTurn
        } else {
            stop
        };
        let error = (stop == StopReason::MaxTokens).then_some(ErrorCategory::MaxOutputTokens);
        let last = blocks.len().saturating_sub(1);
        for (n, block) in blocks.into_iter().enumerate() {
            let (stop, error) = if n == last {
                (Some(stop), error)
            } else {
                (None, None)
            };
            self.show_block(block, stop, error);
        }
        // Joined, the blocks may spell what none of them does.
        let text = self.config.guard.redact(&text_of(&self.shown)).into_owned();
        self.keep_shown(self.last_usage);
        if self.account.exhausted() {
            return self.end(self.budget_spent());
        }
        // Where tasks are to be told of, the model is asked again anyway; until
        // then nothing is missing from its output, and nobody is asked whether
        // the turn may end.
        if self.tasks.hold_the_end() {
            let structured = None;
            return self.end(TurnOutcome::Done {
                stop,
                text,
                structured,
            });
        }
        match self.output_at_end(stop, text) {
            Some(outcome) => self.may_end(outcome),
            None => self.request_again(),
        }
    }

    /// Ends the turn; where it ended well, somebody may have to be asked first.
    fn may_end(&mut self, outcome: TurnOutcome) {
        let well = matches!(outcome, TurnOutcome::Done { .. });
        if !well || !self.config.asks_before_stop || self.tasks.hold_the_end() {
            return self.end(outcome);
        }
        self.phase = Phase::Stopping;
        self.stopping = Some(Box::new(outcome));
        self.out.push_back(Step::Stopping);
    }

    fn stop(&mut self) {
        if let Some(outcome) = self.stopping.take() {
            self.end(*outcome);
        }
    }

    fn go_on(&mut self) {
        let outcome = self.stopping.take();
        if self.account.exhausted() {
            self.end(self.budget_spent());
        } else if let Some(outcome) = outcome.and_then(|done| self.kept_at_limit(*done)) {
            self.end(outcome);
        } else {
            self.request_again();
        }
    }

    /// Shows the rest of an answer in the order of the model, whose signatures
    /// hold for that order alone, and starts its calls.
    fn start_batch(&mut self, parts: Vec<Part>) {
        self.batch = Batch::default();
        self.phase = Phase::Tools;
        let mut decide = Vec::new();
        let last = parts.len().saturating_sub(1);
        for (n, part) in parts.into_iter().enumerate() {
            let proposal = match part {
                Part::Call(proposal) => proposal,
                Part::Block(block) => {
                    self.show_block(block, (n == last).then_some(StopReason::ToolUse), None);
                    continue;
                }
            };
            let (call, fault) = calls::read(proposal, &self.config);
            let parallel = self.tool(&call.name).is_some_and(|tool| tool.parallel)
                || planted!(self.planted, Dec26);
            self.show_block(
                Block::ToolCall(call.clone()),
                Some(StopReason::ToolUse),
                None,
            );
            let place = self.batch.push(call.clone(), parallel);
            match fault {
                Some(text) => decide.push((place, Err(text))),
                None => decide.push((place, Ok(call))),
            }
        }
        self.keep_shown(self.last_usage);
        self.begin_submissions();
        let exhausted = self.account.exhausted();
        for (place, decision) in decide {
            let decision = match decision {
                decision if exhausted => decision,
                decision => match self.submission(place, decision) {
                    Some(decision) => decision,
                    None => continue,
                },
            };
            match decision {
                Ok(_) if exhausted => self.settle(place, ToolOutcome::error(BUDGET_NOT_RUN)),
                Ok(call) => self.out.push_back(Step::Decide { place, call }),
                Err(text) => self.settle(place, ToolOutcome::error(text)),
            }
        }
        self.advance();
    }

    fn settle(&mut self, place: usize, outcome: ToolOutcome) {
        let Some(id) = self.batch.call(place).map(|call| Arc::clone(&call.id)) else {
            return;
        };
        let outcome = self.redact(outcome);
        if self.batch.settle(place, outcome.clone()) {
            self.out.push_back(Step::Settled(ToolResult {
                tool_use_id: id,
                content: outcome.content,
                is_error: outcome.is_error,
            }));
        }
    }

    /// Starts what may start, and goes on once everything is settled.
    fn advance(&mut self) {
        if self.phase != Phase::Tools {
            return;
        }
        while let Some((place, call, access)) = self.batch.start_next() {
            self.out.push_back(Step::Run {
                place,
                call,
                access,
            });
        }
        let Some(results) = self.batch.results() else {
            return;
        };
        self.history.push(Arc::new(Message::ToolResults(results)));
        if self.account.exhausted() {
            self.end(self.budget_spent());
        } else if let Some(reason) = self.halt.take() {
            let structured = self.accepted_output();
            self.end(TurnOutcome::Halted { reason, structured });
        } else if let Some(outcome) = self.output_after_calls() {
            self.may_end(outcome);
        } else {
            self.request_again();
        }
    }

    /// One more request of this turn, if it may have one.
    fn request_again(&mut self) {
        match self.turn_limit_reached() {
            Some(limit) => self.end(TurnOutcome::MaxTurns(limit)),
            None => self.request(),
        }
    }

    /// The turn limit, if this turn may make no further request (DEC-40).
    fn turn_limit_reached(&self) -> Option<u32> {
        let requests = self.account.requests();
        self.config.max_turns.filter(|limit| requests >= *limit)
    }

    fn fail(&mut self, failure: ModelFailure) {
        if self.answer.started() || failure.may_have_run() {
            let tokens = self.tokens(false);
            self.account.answer(tokens);
        }
        self.cut_answer();
        let message = self.config.guard.redact(&failure.message).into_owned();
        self.report_failure(ModelFailure { message, ..failure });
    }

    fn report_failure(&mut self, failure: ModelFailure) {
        self.out.push_back(Step::Failed(failure.clone()));
        self.end(TurnOutcome::Failed(failure));
    }

    /// What is known of the tokens of the current answer.
    fn tokens(&self, reported: bool) -> Tokens {
        let told = self.answer.usage();
        if reported {
            return Tokens::Reported(told);
        }
        let estimate = Usage {
            input_tokens: estimate::request(&self.config, &self.history),
            output_tokens: self.answer.bytes(),
            ..Usage::ZERO
        };
        Tokens::Unreported { told, estimate }
    }

    const fn budget_spent(&self) -> TurnOutcome {
        TurnOutcome::Budget {
            estimated: self.account.estimated(),
        }
    }

    fn cut_answer(&mut self) {
        self.dropped.extend(self.answer.call_ids());
        let blocks = self.answer.cut();
        self.show_streamed();
        for block in blocks {
            self.show_block(block, None, None);
        }
        self.keep_shown(None);
    }

    fn cancel(&mut self, first: Option<(usize, ToolOutcome)>, reason: &'static str) {
        match self.phase {
            Phase::Idle => return,
            Phase::Stopping => self.stopping = None,
            Phase::Requesting => {
                let tokens = self.tokens(false);
                self.account.answer(tokens);
                self.cut_answer();
            }
            Phase::Tools => {
                if let Some((place, outcome)) = first {
                    self.settle(place, outcome);
                }
                for place in self.batch.unsettled() {
                    let ended = self.batch.held(place);
                    let outcome = ended.unwrap_or_else(|| ToolOutcome::error(reason));
                    self.settle(place, outcome);
                }
                if let Some(results) = self.batch.results() {
                    self.history.push(Arc::new(Message::ToolResults(results)));
                }
            }
            Phase::Waiting => {}
        }
        self.keep_notices();
        self.end_now(TurnOutcome::Cancelled);
    }

    fn end_now(&mut self, outcome: TurnOutcome) {
        self.phase = Phase::Idle;
        self.tasks.reset();
        self.stopping = None;
        self.halt = None;
        self.batch = Batch::default();
        self.out.push_back(Step::End(TurnEnd {
            outcome,
            requests: self.account.requests(),
            usage: self.account.usage(),
            cost: self.account.cost(),
        }));
    }

    fn redact(&self, outcome: ToolOutcome) -> ToolOutcome {
        use crate::tool::ToolContent;
        let content = outcome.content.into_iter().map(|part| match part {
            ToolContent::Text(text) => {
                ToolContent::Text(self.config.guard.redact(&text).into_owned())
            }
        });
        ToolOutcome {
            content: content.collect(),
            is_error: outcome.is_error,
        }
    }
}

impl Machine for AgentLoop {
    type Input<'a> = LoopInput;
    type Output = Step;

    fn handle(&mut self, now: Instant, input: LoopInput) -> Result<(), Misuse> {
        if now < self.now {
            return Err(Misuse::TimeReversed);
        }
        let fits = match &input {
            LoopInput::Prompt(_) => self.phase == Phase::Idle,
            LoopInput::Tick
            | LoopInput::Context(_)
            | LoopInput::PriorAnswer(_)
            | LoopInput::Cancel { .. } => true,
            LoopInput::TaskBegan => self.phase != Phase::Idle,
            LoopInput::TaskEnded { .. } | LoopInput::TaskStopped { .. } => self.tasks.is_running(),
            LoopInput::Delta(_) | LoopInput::ModelDone(_) => self.phase == Phase::Requesting,
            LoopInput::Stop | LoopInput::GoOn => self.phase == Phase::Stopping,
            LoopInput::Halt { .. } => self.phase == Phase::Tools,
            LoopInput::Validated { place, .. } => {
                self.phase == Phase::Tools && self.awaits_validation(*place)
            }
            LoopInput::Allow { place, .. }
            | LoopInput::Settle { place, .. }
            | LoopInput::Ended { place, .. }
            | LoopInput::Release { place } => {
                self.phase == Phase::Tools && self.batch.call(*place).is_some()
            }
        };
        if !fits {
            return Err(Misuse::WrongState);
        }
        self.now = now;
        match input {
            LoopInput::Tick => {}
            LoopInput::Prompt(parts) => self.prompt(parts),
            LoopInput::Context(parts) => self.context.push(Arc::new(Message::User(parts))),
            LoopInput::PriorAnswer(texts) => {
                let blocks = texts.into_iter().map(Block::Text).collect();
                self.context.push(Arc::new(Message::Assistant(blocks)));
            }
            LoopInput::Delta(delta) => self.delta(delta),
            LoopInput::ModelDone(outcome) => self.model_done(outcome),
            LoopInput::Allow {
                place,
                access,
                input,
            } => {
                self.batch.allow(place, access, input);
                self.advance();
            }
            LoopInput::Settle { place, outcome } => {
                self.settle(place, outcome);
                self.advance();
            }
            LoopInput::TaskBegan => self.tasks.begin(),
            LoopInput::TaskEnded { notice } => {
                self.task_ended(&notice);
                self.after_tasks();
            }
            LoopInput::TaskStopped { notice } => self.task_ended(&notice),
            LoopInput::Validated { place, validity } => {
                self.validated(place, &validity);
                self.advance();
            }
            LoopInput::Ended { place, outcome } => self.batch.hold(place, outcome),
            LoopInput::Release { place } => {
                if let Some(outcome) = self.batch.held(place) {
                    self.settle(place, outcome);
                    self.advance();
                }
            }
            LoopInput::Halt { reason } => self.halt = self.halt.take().or(Some(reason)),
            LoopInput::Stop => self.stop(),
            LoopInput::GoOn => self.go_on(),
            LoopInput::Cancel { first, reason } => self.cancel(first, reason),
        }
        Ok(())
    }

    fn poll(&mut self) -> Option<Step> {
        self.out.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        (!self.out.is_empty()).then_some(self.now)
    }

    fn wants(&self) -> Wants {
        Wants {
            bytes: false,
            progress: self.phase == Phase::Requesting,
        }
    }
}

/// Result of a call that was accepted when the budget was spent.
const BUDGET_NOT_RUN: &str = "Not run: the budget of this process is spent.";

fn content_filter() -> ModelFailure {
    ModelFailure {
        category: ErrorCategory::InvalidRequest,
        status: None,
        message: "the provider's content filter ended the answer".into(),
    }
}

/// What is left of an answer whose calls do not count.
fn blocks_of(parts: Vec<Part>) -> Vec<Block> {
    let block = |part| match part {
        Part::Block(block) => Some(block),
        Part::Call(_) => None,
    };
    parts.into_iter().filter_map(block).collect()
}

fn text_of(blocks: &[Block]) -> String {
    let mut text = String::new();
    for block in blocks {
        if let Block::Text(part) = block {
            text.push_str(part);
        }
    }
    text
}
