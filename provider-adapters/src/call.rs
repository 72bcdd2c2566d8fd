//! One model request from start to end, whatever the provider.

use crate::http::{HttpEvent, HttpRequest};
use agentx_core::machine::{Machine, Misuse, Wants};
use agentx_core::model::{Delta, ModelOutcome};
use agentx_core::time::Instant;

/// What a call is fed.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// Start. Comes first, once.
    Begin,
    /// Progress of the exchange that the last [`Output::Send`] started.
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
}

impl Machine for Call {
    type Input<'a> = Input<'a>;
    type Output = Output;

    fn handle(&mut self, now: Instant, _input: Input<'_>) -> Result<(), Misuse> {
        self.last = now;
        Ok(())
    }

    fn poll(&mut self) -> Option<Output> {
        None
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }

    fn wants(&self) -> Wants {
        Wants::NOTHING
    }
}

impl Call {
    pub(crate) fn new() -> Self {
        Self {
            last: Instant::ZERO,
        }
    }
}
