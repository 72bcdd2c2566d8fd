//! One model request from start to end, whatever the provider.
//!
//! ```text
//!           Begin                 Http(Head 2xx)
//! encoding ───────► waiting ───────────────────► streaming ───► Done
//!                    ▲   │ Http(Head), Failed         │ nothing seen yet
//!                    │   ▼                            ▼
//!               Send │  refused ───────────────► pause │ Done(Failed)
//!                    └─────────────── Tick ─────────┘
//! ```
//!
//! A request is sent again only while nothing of an answer has been seen
//! (see [`retry`](crate::retry)).

mod exchange;

use crate::adapter::Adapter;
use crate::http::{HttpEvent, HttpRequest};
use crate::scripted::Play;
use agentx_core::machine::{Machine, Misuse, Wants};
use agentx_core::model::{Delta, ModelOutcome, ModelRequest};
use agentx_core::time::{Instant, WallTime};
use exchange::Exchange;
use std::collections::VecDeque;
use std::sync::Arc;

/// What a call is fed.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// Start. Comes first, once.
    Begin,
    /// Progress of the exchange that the last [`Output::Send`] started. After
    /// [`Output::Abort`] or [`Output::Done`] it is late and ignored.
    Http(HttpEvent<'a>),
    /// The deadline came.
    Tick,
}

/// What a call produces.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Start this exchange. None is running.
    Send(HttpRequest),
    /// Drop the running exchange; none of its events may follow.
    Abort,
    /// One step of the answer.
    Delta(Delta),
    /// A line for stderr, free of secrets and of the provider's words.
    Warn(String),
    /// The end. No exchange is running and nothing follows.
    Done(ModelOutcome),
}

/// One model request: encoding, attempts, waiting and decoding. To cancel it,
/// drop it together with its exchange.
#[derive(Debug)]
pub struct Call {
    last: Instant,
    begun: bool,
    over: bool,
    out: VecDeque<Output>,
    source: Source,
}

/// Where the answer comes from.
#[derive(Debug)]
enum Source {
    Exchange(Box<Exchange>),
    Play(Box<Play>),
}

impl Call {
    pub(crate) fn over_http(
        adapter: Arc<dyn Adapter>,
        request: ModelRequest,
        seed: u64,
        epoch: WallTime,
    ) -> Self {
        let exchange = Exchange::new(adapter, request, seed, epoch);
        Self::new(Source::Exchange(Box::new(exchange)))
    }

    pub(crate) fn scripted(play: Play) -> Self {
        Self::new(Source::Play(Box::new(play)))
    }

    const fn new(source: Source) -> Self {
        Self {
            last: Instant::ZERO,
            begun: false,
            over: false,
            out: VecDeque::new(),
            source,
        }
    }

    fn check(&self, now: Instant, input: &Input<'_>) -> Result<(), Misuse> {
        if now < self.last {
            return Err(Misuse::TimeReversed);
        }
        match input {
            Input::Begin if self.over => Err(Misuse::InputAfterExit),
            Input::Begin if self.begun => Err(Misuse::WrongState),
            Input::Http(_) if !self.begun => Err(Misuse::WrongState),
            Input::Begin | Input::Http(_) | Input::Tick => Ok(()),
        }
    }
}

impl Machine for Call {
    type Input<'a> = Input<'a>;
    type Output = Output;

    fn handle(&mut self, now: Instant, input: Input<'_>) -> Result<(), Misuse> {
        self.check(now, &input)?;
        let begins = matches!(input, Input::Begin);
        if (self.begun || begins) && !self.over {
            match &mut self.source {
                Source::Exchange(exchange) => exchange.handle(now, input, &mut self.out)?,
                Source::Play(play) => play.handle(now, &input, &mut self.out)?,
            }
        }
        self.last = now;
        self.begun |= begins;
        self.over |= matches!(self.out.back(), Some(Output::Done(_)));
        Ok(())
    }

    fn poll(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        if !self.out.is_empty() {
            return Some(self.last);
        }
        if self.over || !self.begun {
            return None;
        }
        match &self.source {
            Source::Exchange(exchange) => exchange.deadline(),
            Source::Play(play) => play.deadline(),
        }
    }

    /// Bytes and progress are wanted while an exchange is running.
    fn wants(&self) -> Wants {
        match &self.source {
            Source::Exchange(exchange) if exchange.is_running() => Wants::ALL,
            Source::Exchange(_) | Source::Play(_) => Wants::NOTHING,
        }
    }
}
