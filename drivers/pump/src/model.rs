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

use crate::convert;
use crate::http1::{self, ConnectFailure, Exchange, Limits, TransportFailure};
use crate::tls::TlsFault;
use agentx_core::machine::{Machine, Misuse, Wants};
use agentx_core::model::{Delta, ModelOutcome};
use agentx_core::time::Instant;
use agentx_providers::call::{self, Call};
use agentx_providers::http::{HttpEvent, HttpRequest, Scheme};
use agentx_providers::registry::Secret;
use rustls::ClientConfig;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

/// What the driver tells a run.
#[derive(Clone, Debug)]
pub enum Input<'a> {
    /// Go.
    Begin,
    /// The connection stands; for https with the configuration to speak TLS.
    Connected(Option<Arc<ClientConfig>>),
    /// There is no connection.
    ConnectFailed(ConnectFailure),
    /// There is no TLS configuration.
    TlsFailed(TlsFault),
    /// Bytes of the peer.
    Bytes(&'a [u8]),
    /// The peer sends no more.
    Eof,
    /// Reading failed.
    ReadFailed,
    /// So many bytes were written.
    Wrote(usize),
    /// Writing failed.
    WriteFailed,
    /// Nobody takes deltas right now; silence of the peer does not count.
    Pause,
    /// Deltas are taken again.
    Resume,
    /// Time passed.
    Tick,
}

/// What a run asks for and tells.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Connect to this place.
    Connect(Target),
    /// Write these bytes, in order.
    Write(Vec<u8>),
    /// Try once to write what is queued, then close.
    Close,
    /// The answer goes on.
    Delta(Delta),
    /// A line for the operator, safe to show.
    Warn(String),
    /// The request ended; nothing follows.
    Done(ModelOutcome),
}

/// Where to connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Host name or address, without brackets.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Whether TLS is spoken.
    pub tls: bool,
    /// Further roots to trust, of the provider's entry.
    pub ca_file: Option<PathBuf>,
}

/// One model request, ready to be driven.
#[derive(Debug)]
pub struct ModelRun {
    call: Call,
    credential: Option<Secret>,
    limits: Limits,
    connection: Connection,
    now: Instant,
    over: bool,
    out: VecDeque<Output>,
}

#[derive(Debug)]
enum Connection {
    None,
    Dialling {
        request: HttpRequest,
        since: Instant,
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
            over: false,
            out: VecDeque::new(),
        }
    }

    fn dial(&mut self, request: HttpRequest) {
        self.out.push_back(Output::Connect(Target {
            host: request.host.clone(),
            port: request.port,
            tls: request.scheme == Scheme::Https,
            ca_file: request.ca_file.as_ref().map(PathBuf::from),
        }));
        self.connection = Connection::Dialling {
            request,
            since: self.now,
        };
    }

    fn connected(&mut self, tls: Option<Arc<ClientConfig>>) -> Result<(), Misuse> {
        let Connection::Dialling { request, .. } =
            std::mem::replace(&mut self.connection, Connection::None)
        else {
            return Err(Misuse::WrongState);
        };
        match Exchange::new(
            self.now,
            request,
            self.credential.as_ref(),
            tls,
            &self.limits,
        ) {
            Ok(mut exchange) => {
                exchange.handle(self.now, http1::Input::Connected)?;
                self.connection = Connection::Open(Box::new(exchange));
            }
            Err(failure) => self.fail(failure)?,
        }
        Ok(())
    }

    /// Tells the call that the transport failed, and closes what there was.
    fn fail(&mut self, failure: TransportFailure) -> Result<(), Misuse> {
        self.close();
        let failure = convert::failure(failure);
        self.call
            .handle(self.now, call::Input::Http(HttpEvent::Failed(failure)))
    }

    fn close(&mut self) {
        if !matches!(self.connection, Connection::None) {
            self.connection = Connection::None;
            self.out.push_back(Output::Close);
        }
    }

    fn exchange(&mut self, input: http1::Input<'_>) -> Result<(), Misuse> {
        match &mut self.connection {
            // What a socket still reports after its exchange ended means nothing.
            Connection::Open(exchange) if !exchange.is_over() => exchange.handle(self.now, input),
            _ => Ok(()),
        }
    }

    fn tick(&mut self) -> Result<(), Misuse> {
        if let Connection::Dialling { since, .. } = &self.connection
            && self.now >= since.after(self.limits.connect)
        {
            self.fail(TransportFailure::Timeout(http1::Phase::Connect))?;
        }
        let due = |deadline: Option<Instant>, now| deadline.is_some_and(|deadline| deadline <= now);
        if let Connection::Open(exchange) = &mut self.connection
            && due(exchange.deadline(), self.now)
        {
            exchange.handle(self.now, http1::Input::Tick)?;
        }
        self.call.handle(self.now, call::Input::Tick)
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
            call::Output::Delta(delta) => self.out.push_back(Output::Delta(delta)),
            call::Output::Warn(text) => self.out.push_back(Output::Warn(text)),
            call::Output::Done(outcome) => {
                self.close();
                self.over = true;
                self.out.push_back(Output::Done(outcome));
            }
        }
    }

    fn take_exchange(&mut self, output: http1::Output) -> Result<(), Misuse> {
        match output {
            http1::Output::Write(bytes) => self.out.push_back(Output::Write(bytes)),
            http1::Output::Head { status, headers } => {
                let event = HttpEvent::Head {
                    status,
                    headers: &headers,
                };
                self.call.handle(self.now, call::Input::Http(event))?;
            }
            http1::Output::Body(bytes) => {
                self.call
                    .handle(self.now, call::Input::Http(HttpEvent::Body(&bytes)))?;
            }
            http1::Output::Done => {
                self.close();
                self.call
                    .handle(self.now, call::Input::Http(HttpEvent::End))?;
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
        if now < self.now {
            return Err(Misuse::TimeReversed);
        }
        if self.over {
            return Err(Misuse::InputAfterExit);
        }
        self.now = now;
        match input {
            Input::Begin => self.call.handle(now, call::Input::Begin)?,
            Input::Connected(tls) => self.connected(tls)?,
            Input::ConnectFailed(failure) => self.fail(TransportFailure::Connect(failure))?,
            Input::TlsFailed(fault) => self.fail(TransportFailure::Tls(fault))?,
            Input::Bytes(bytes) => self.exchange(http1::Input::Bytes(bytes))?,
            Input::Eof => self.exchange(http1::Input::Eof)?,
            Input::ReadFailed => self.exchange(http1::Input::ReadFailed)?,
            Input::Wrote(count) => self.exchange(http1::Input::Wrote(count))?,
            Input::WriteFailed => self.exchange(http1::Input::WriteFailed)?,
            Input::Pause => self.exchange(http1::Input::Pause)?,
            Input::Resume => self.exchange(http1::Input::Resume)?,
            Input::Tick => self.tick()?,
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
        let connection = match &self.connection {
            Connection::None => None,
            Connection::Dialling { since, .. } => Some(since.after(self.limits.connect)),
            Connection::Open(exchange) => exchange.deadline(),
        };
        [self.call.deadline(), connection]
            .into_iter()
            .flatten()
            .min()
    }

    fn wants(&self) -> Wants {
        Wants {
            bytes: matches!(self.connection, Connection::Open(_)),
            progress: false,
        }
    }
}
