//! One model request over one connection at a time: the provider's call machine
//! on top, the HTTP exchange below it.
//!
//! ```text
//! Begin -> call --Send--> Connect --Connected--> exchange --Head, Body--> call -> deltas, Done
//!            ^                                       |
//!            +------- a failure, then a wait --------+
//! ```
//!
//! The driver has one socket for each [`Output::Connect`] and closes it at
//! [`Output::Close`]; a scripted call never asks for one.

mod vocabulary;

#[cfg(test)]
mod tests;

use crate::convert;
use crate::http1::{self, Exchange, Limits, Phase, TransportFailure};
use agentx_core::machine::{Machine, Misuse, Wants};
use agentx_core::model::Delta;
use agentx_core::time::Instant;
use agentx_providers::call::{self, Call};
use agentx_providers::http::{HttpEvent, HttpRequest, Scheme};
use agentx_providers::registry::Secret;
use rustls::ClientConfig;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use self::vocabulary::{Input, Output, Target};

/// Most bytes of text in one delta; a longer one is handed on in pieces, so that
/// a step of the session takes a few of them at most (DEC-28).
pub const DELTA_BYTES: usize = 64 * 1024;

/// One model request, ready to be driven.
#[derive(Debug)]
pub struct ModelRun {
    call: Call,
    credential: Option<Secret>,
    limits: Limits,
    connection: Connection,
    now: Instant,
    /// Since when deltas are not taken.
    paused: Option<Instant>,
    /// How long they were not taken before that. The call and its limits live
    /// in the rest of the time: a pause is not the peer's silence.
    lag: Duration,
    begun: bool,
    over: bool,
    /// Connections asked for so far, one for each attempt.
    attempts: u32,
    out: VecDeque<Output>,
}

#[derive(Debug)]
enum Connection {
    None,
    Dialling {
        request: HttpRequest,
        /// When to give up, on the call's clock.
        until: Instant,
    },
    Open(Box<Exchange>),
}

impl ModelRun {
    /// A run that has done nothing. The credential goes where the request names a slot.
    #[must_use]
    pub const fn new(call: Call, credential: Option<Secret>, limits: Limits) -> Self {
        Self {
            call,
            credential,
            limits,
            connection: Connection::None,
            now: Instant::ZERO,
            paused: None,
            lag: Duration::ZERO,
            begun: false,
            over: false,
            attempts: 0,
            out: VecDeque::new(),
        }
    }

    fn dial(&mut self, request: HttpRequest) {
        self.attempts += 1;
        tracing::debug!(
            attempt = self.attempts,
            tls = request.scheme == Scheme::Https,
            body = request.body.len(),
            "attempt begins"
        );
        self.out.push_back(Output::Connect(Target {
            host: request.host.clone(),
            port: request.port,
            tls: request.scheme == Scheme::Https,
            ca_file: request.ca_file.as_ref().map(PathBuf::from),
        }));
        self.connection = Connection::Dialling {
            request,
            until: self.call_now().after(self.limits.connect),
        };
    }

    fn connected(&mut self, tls: Option<Arc<ClientConfig>>) -> Result<(), Misuse> {
        let dialled = std::mem::replace(&mut self.connection, Connection::None);
        let Connection::Dialling { request, .. } = dialled else {
            return Err(Misuse::WrongState);
        };
        let credential = self.credential.as_ref();
        match Exchange::new(self.now, request, credential, tls, &self.limits) {
            Ok(mut exchange) => {
                exchange.handle(self.now, http1::Input::Connected)?;
                if self.paused.is_some() {
                    exchange.handle(self.now, http1::Input::Pause)?;
                }
                self.connection = Connection::Open(Box::new(exchange));
            }
            Err(failure) => {
                self.out.push_back(Output::Close);
                self.fail(failure)?;
            }
        }
        Ok(())
    }

    /// Tells the call that the transport failed, and closes what there was.
    fn fail(&mut self, failure: TransportFailure) -> Result<(), Misuse> {
        self.close();
        let failure = convert::failure(failure);
        tracing::debug!(attempt = self.attempts, kind = ?failure.kind, "attempt failed");
        self.tell_call(call::Input::Http(HttpEvent::Failed(failure)))
    }

    fn close(&mut self) {
        if !matches!(self.connection, Connection::None) {
            self.connection = Connection::None;
            self.out.push_back(Output::Close);
        }
    }

    /// Now, as the call is told it.
    fn call_now(&self) -> Instant {
        let now = self.paused.unwrap_or(self.now);
        Instant::ZERO.after(now.since(Instant::ZERO).saturating_sub(self.lag))
    }

    fn tell_call(&mut self, input: call::Input<'_>) -> Result<(), Misuse> {
        self.call.handle(self.call_now(), input)
    }

    fn pause(&mut self) -> Result<(), Misuse> {
        if self.paused.is_none() {
            self.paused = Some(self.now);
            self.tell_exchange(http1::Input::Pause)?;
        }
        Ok(())
    }

    fn resume(&mut self) -> Result<(), Misuse> {
        if let Some(since) = self.paused.take() {
            self.lag += self.now.since(since);
            self.tell_exchange(http1::Input::Resume)?;
        }
        Ok(())
    }

    fn tell_exchange(&mut self, input: http1::Input<'_>) -> Result<(), Misuse> {
        match &mut self.connection {
            Connection::Open(exchange) => exchange.handle(self.now, input),
            Connection::None | Connection::Dialling { .. } => Ok(()),
        }
    }

    fn tick(&mut self) -> Result<(), Misuse> {
        if let Connection::Open(exchange) = &mut self.connection
            && exchange.deadline().is_some_and(|due| due <= self.now)
        {
            exchange.handle(self.now, http1::Input::Tick)?;
        }
        if self.paused.is_some() {
            return Ok(());
        }
        if let Connection::Dialling { until, .. } = &self.connection
            && *until <= self.call_now()
        {
            self.fail(TransportFailure::Timeout(Phase::Connect))?;
        }
        self.tell_call(call::Input::Tick)
    }

    /// When the call, or the dial, wants a tick; never in a pause.
    fn call_deadline(&self) -> Option<Instant> {
        let dial = match &self.connection {
            Connection::Dialling { until, .. } => Some(*until),
            Connection::None | Connection::Open(_) => None,
        };
        let due = [self.call.deadline(), dial].into_iter().flatten().min();
        due.filter(|_| self.paused.is_none())
            .map(|due| due.after(self.lag))
    }

    /// Refuses what the contract does not allow now.
    fn check(&self, now: Instant, input: &Input<'_>) -> Result<(), Misuse> {
        if now < self.now {
            return Err(Misuse::TimeReversed);
        }
        if self.over {
            return Err(Misuse::InputAfterExit);
        }
        let fits = match input {
            Input::Begin => !self.begun,
            Input::Connected(_) | Input::ConnectFailed(_) | Input::TlsFailed(_) => {
                matches!(self.connection, Connection::Dialling { .. })
            }
            _ => true,
        };
        if fits {
            Ok(())
        } else {
            Err(Misuse::WrongState)
        }
    }

    /// Moves what both machines say to where it goes, until they are silent.
    fn settle(&mut self) -> Result<(), Misuse> {
        while !self.over {
            if let Some(output) = self.call.poll() {
                self.take_call(output);
            } else if let Connection::Open(exchange) = &mut self.connection
                && let Some(output) = exchange.poll()
            {
                self.take_exchange(output)?;
            } else {
                break;
            }
        }
        Ok(())
    }

    fn take_call(&mut self, output: call::Output) {
        match output {
            call::Output::Send(request) => {
                self.close();
                self.dial(request);
            }
            call::Output::Abort => self.close(),
            call::Output::Delta(delta) => self.take_delta(delta),
            call::Output::Warn(text) => self.out.push_back(Output::Warn(text)),
            call::Output::Done(outcome) => {
                self.close();
                self.over = true;
                self.out.push_back(Output::Done(outcome));
            }
        }
    }

    fn take_delta(&mut self, delta: Delta) {
        match delta {
            Delta::Text(text) => self.pieces(text, Delta::Text),
            Delta::Thinking(text) => self.pieces(text, Delta::Thinking),
            Delta::CallArguments { index, text } => {
                self.pieces(text, |text| Delta::CallArguments { index, text });
            }
            delta => self.out.push_back(Output::Delta(delta)),
        }
    }

    /// Hands text on in pieces, each with room for itself alone: a piece cut off
    /// in place would keep the room of all that stood behind it.
    fn pieces(&mut self, text: String, delta: impl Fn(String) -> Delta) {
        if text.len() <= DELTA_BYTES {
            return self.out.push_back(Output::Delta(delta(text)));
        }
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.floor_char_boundary(DELTA_BYTES));
            self.out.push_back(Output::Delta(delta(piece.to_owned())));
            rest = after;
        }
    }

    fn take_exchange(&mut self, output: http1::Output) -> Result<(), Misuse> {
        match output {
            http1::Output::Write(bytes) => self.out.push_back(Output::Write(bytes)),
            http1::Output::Head { status, headers } => {
                tracing::debug!(attempt = self.attempts, status, "answer begins");
                let event = HttpEvent::Head {
                    status,
                    headers: &headers,
                };
                self.tell_call(call::Input::Http(event))?;
            }
            http1::Output::Body(bytes) => {
                self.tell_call(call::Input::Http(HttpEvent::Body(&bytes)))?;
            }
            http1::Output::Done => {
                self.close();
                self.tell_call(call::Input::Http(HttpEvent::End))?;
            }
            http1::Output::Failed(failure) => self.fail(failure)?,
        }
        Ok(())
    }
}

impl Machine for ModelRun {
    type Input<'a> = Input<'a>;
    type Output = Output;

    fn handle(&mut self, now: Instant, input: Input<'_>) -> Result<(), Misuse> {
        self.check(now, &input)?;
        if let Connection::Open(exchange) = &mut self.connection
            && let Some(input) = input.of_socket()
        {
            // The exchange refuses what cannot be; nothing has changed then.
            exchange.handle(now, input)?;
        }
        self.now = now;
        match input {
            Input::Begin => {
                self.begun = true;
                self.tell_call(call::Input::Begin)?;
            }
            Input::Connected(tls) => self.connected(tls)?,
            Input::ConnectFailed(failure) => self.fail(TransportFailure::Connect(failure))?,
            Input::TlsFailed(fault) => self.fail(TransportFailure::Tls(fault))?,
            Input::Pause => self.pause()?,
            Input::Resume => self.resume()?,
            Input::Tick => self.tick()?,
            // What a socket still reports after its exchange ended means nothing.
            Input::Bytes(_)
            | Input::Eof
            | Input::ReadFailed
            | Input::Wrote(_)
            | Input::WriteFailed => {}
        }
        self.settle()
    }

    fn poll(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        if !self.out.is_empty() {
            return Some(self.now);
        }
        if self.over {
            return None;
        }
        let exchange = match &self.connection {
            Connection::Open(exchange) => exchange.deadline(),
            Connection::None | Connection::Dialling { .. } => None,
        };
        [self.call_deadline(), exchange].into_iter().flatten().min()
    }

    fn wants(&self) -> Wants {
        match &self.connection {
            Connection::Open(exchange) => exchange.wants(),
            Connection::None | Connection::Dialling { .. } => Wants::NOTHING,
        }
    }
}
