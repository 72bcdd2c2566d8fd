//! A call over HTTP: attempts, and the waits between them.

use super::{Input, Output};
use crate::adapter::{Adapter, Decode, Encode, Step};
use crate::failure::{self, Failure};
use crate::http::{HttpEvent, TransportFailure};
use crate::limits::{ATTEMPTS, DELTA_IDLE, ERROR_BODY_BYTES, RETRY_AFTER};
use crate::retry::{self, Retry};
use agentx_core::machine::Misuse;
use agentx_core::model::{Delta, ModelOutcome, ModelRequest};
use agentx_core::time::{Instant, WallTime};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// The status of a provider that takes no more requests for now.
const TOO_MANY_REQUESTS: u16 = 429;

#[derive(Debug)]
pub(super) struct Exchange {
    adapter: Arc<dyn Adapter>,
    stage: Stage,
    /// An exchange of the transport is under way.
    running: bool,
    /// When the answer is given up, while one is awaited.
    idle_at: Instant,
    retry: Retry,
    epoch: WallTime,
    body: Arc<Vec<u8>>,
    /// Scratch.
    deltas: Vec<Delta>,
}

#[derive(Debug)]
enum Stage {
    /// The body is being encoded; the next step is due.
    Encoding {
        encoder: Box<dyn Encode>,
        due: Instant,
    },
    /// The request is sent.
    Waiting,
    /// The answer is a success so far.
    Streaming {
        decoder: Box<dyn Decode>,
        /// The content type, if it is not that of an event stream.
        odd_type: Option<String>,
    },
    /// The answer is a refusal.
    Refused {
        status: u16,
        asked: Option<Duration>,
        body: Vec<u8>,
    },
    /// The next attempt is due later.
    Pause { until: Instant },
    /// Nothing is left to do.
    Over,
}

impl Exchange {
    pub(super) fn new(
        adapter: Arc<dyn Adapter>,
        request: ModelRequest,
        seed: u64,
        epoch: WallTime,
    ) -> Self {
        let encoder = adapter.encoder(request);
        Self {
            adapter,
            stage: Stage::Encoding {
                encoder,
                due: Instant::ZERO,
            },
            running: false,
            idle_at: Instant::ZERO,
            retry: Retry::new(seed),
            epoch,
            body: Arc::default(),
            deltas: Vec::new(),
        }
    }

    pub(super) fn handle(
        &mut self,
        now: Instant,
        input: Input<'_>,
        out: &mut VecDeque<Output>,
    ) -> Result<(), Misuse> {
        match input {
            Input::Begin | Input::Tick => self.tick(now, out),
            Input::Http(event) => return self.event(now, event, out),
        }
        Ok(())
    }

    /// Whether an exchange of the transport is under way.
    pub(super) const fn is_running(&self) -> bool {
        self.running
    }

    pub(super) const fn deadline(&self) -> Option<Instant> {
        match &self.stage {
            Stage::Encoding { due, .. } => Some(*due),
            Stage::Waiting | Stage::Streaming { .. } | Stage::Refused { .. } => Some(self.idle_at),
            Stage::Pause { until } => Some(*until),
            Stage::Over => None,
        }
    }

    fn tick(&mut self, now: Instant, out: &mut VecDeque<Output>) {
        if self.deadline().is_none_or(|due| now < due) {
            return;
        }
        match &mut self.stage {
            Stage::Encoding { encoder, due } => match encoder.step() {
                // The next step waits for the next look at all other inputs.
                Ok(None) => *due = now.after(Duration::from_micros(1)),
                Ok(Some(body)) => {
                    self.body = Arc::new(body);
                    self.send(now, out);
                }
                Err(failure) => self.fail(failure, out),
            },
            Stage::Pause { .. } => self.send(now, out),
            Stage::Refused { .. } => self.refused(now, out),
            Stage::Waiting | Stage::Streaming { .. } => {
                let text = format!("no part of the answer for {} s", DELTA_IDLE.as_secs());
                self.fail(Failure::broken_stream(text), out);
            }
            Stage::Over => {}
        }
    }

    fn send(&mut self, now: Instant, out: &mut VecDeque<Output>) {
        let mut request = self.adapter.template().clone();
        request.body = Arc::clone(&self.body);
        out.push_back(Output::Send(request));
        self.stage = Stage::Waiting;
        self.running = true;
        self.idle_at = now.after(DELTA_IDLE);
    }

    fn event(
        &mut self,
        now: Instant,
        event: HttpEvent<'_>,
        out: &mut VecDeque<Output>,
    ) -> Result<(), Misuse> {
        match (&mut self.stage, event) {
            (Stage::Encoding { .. }, _) => return Err(Misuse::WrongState),
            // Late news of an exchange that was dropped.
            (Stage::Pause { .. } | Stage::Over, _) => {}
            (_, HttpEvent::Failed(failure)) => self.transport_failed(now, failure, out),
            (Stage::Waiting, HttpEvent::Head { status, headers }) => {
                self.head(now, status, headers, out);
            }
            (Stage::Streaming { decoder, .. }, HttpEvent::Body(bytes)) => {
                let step = decoder.feed(bytes, &mut self.deltas);
                self.stepped(now, step, out);
            }
            (Stage::Streaming { decoder, .. }, HttpEvent::End) => {
                self.running = false;
                let step = decoder.end(&mut self.deltas);
                self.stepped(now, step, out);
            }
            (Stage::Refused { body, .. }, HttpEvent::Body(bytes)) => {
                let room = ERROR_BODY_BYTES.saturating_sub(body.len());
                body.extend(bytes.iter().take(room));
                if bytes.len() >= room {
                    self.refused(now, out);
                }
            }
            (Stage::Refused { .. }, HttpEvent::End) => {
                self.running = false;
                self.refused(now, out);
            }
            (Stage::Waiting, HttpEvent::Body(_) | HttpEvent::End)
            | (Stage::Streaming { .. } | Stage::Refused { .. }, HttpEvent::Head { .. }) => {
                return Err(Misuse::WrongState);
            }
        }
        Ok(())
    }

    fn head(
        &mut self,
        now: Instant,
        status: u16,
        headers: &[(String, String)],
        out: &mut VecDeque<Output>,
    ) {
        if (200..300).contains(&status) {
            if let Some(coding) = coding(headers) {
                let text = format!("the answer is compressed ({coding}), which was not asked for");
                return self.fail(Failure::broken_stream(text), out);
            }
            self.stage = Stage::Streaming {
                decoder: self.adapter.decoder(),
                odd_type: odd_type(headers),
            };
            return;
        }
        let wall = self.wall(now);
        self.stage = Stage::Refused {
            status,
            asked: retry::asked_wait(headers, wall),
            body: Vec::new(),
        };
    }

    /// Milliseconds since the Unix epoch.
    const fn wall(&self, at: Instant) -> WallTime {
        WallTime(self.epoch.0.saturating_add(at.as_micros() / 1000))
    }

    /// The first whole second that is not before.
    const fn unix_seconds(&self, at: Instant) -> u64 {
        self.wall(at).0.div_ceil(1000)
    }

    fn stepped(&mut self, now: Instant, step: Step, out: &mut VecDeque<Output>) {
        if !self.deltas.is_empty() {
            self.idle_at = now.after(DELTA_IDLE);
            out.extend(self.deltas.drain(..).map(Output::Delta));
        }
        match step {
            Step::More => {}
            Step::Finished => self.done(ModelOutcome::Finished, out),
            Step::Failed(failure) => self.stream_failed(now, failure, out),
        }
    }

    /// A success that came to nothing.
    fn stream_failed(&mut self, now: Instant, mut failure: Failure, out: &mut VecDeque<Output>) {
        if let Stage::Streaming { decoder, odd_type } = &mut self.stage {
            if decoder.begun() {
                return self.fail(failure, out);
            }
            // What is no stream of events will be none the next time.
            if let Some(found) = odd_type.take() {
                failure =
                    Failure::broken_stream(format!("the answer is no event stream but {found}"));
            }
        }
        self.again_or_fail(now, failure, None, out);
    }

    fn transport_failed(
        &mut self,
        now: Instant,
        failure: TransportFailure,
        out: &mut VecDeque<Output>,
    ) {
        self.running = false;
        match &self.stage {
            Stage::Streaming { .. } => {
                self.stream_failed(now, failure::of_transport(failure, true), out);
            }
            // The status says more than the cut.
            Stage::Refused { .. } => self.refused(now, out),
            _ => self.again_or_fail(now, failure::of_transport(failure, false), None, out),
        }
    }

    fn refused(&mut self, now: Instant, out: &mut VecDeque<Output>) {
        if let Stage::Refused {
            status,
            asked,
            body,
        } = &self.stage
        {
            let (failure, asked) = (failure::of_status(*status, body), *asked);
            self.again_or_fail(now, failure, asked, out);
        }
    }

    /// Nothing of an answer has been seen: pauses before the next attempt, or
    /// fails when there is to be none.
    fn again_or_fail(
        &mut self,
        now: Instant,
        mut failure: Failure,
        asked: Option<Duration>,
        out: &mut VecDeque<Output>,
    ) {
        if failure.model.status == Some(TOO_MANY_REQUESTS) {
            let resets_at = asked.map(|wait| self.unix_seconds(now.after(wait)));
            out.push_back(Output::Delta(Delta::RateLimited { resets_at }));
        }
        if !failure.transient {
            return self.fail(failure, out);
        }
        let made = self.retry.attempts();
        if let Some(wait) = self.retry.next_wait(asked) {
            self.drop_exchange(out);
            out.push_back(Output::Warn(format!(
                "model request: attempt {made} of {ATTEMPTS} failed ({}); next attempt in {}.{:03} s",
                failure.safe_cause(),
                wait.as_secs(),
                wait.subsec_millis()
            )));
            self.stage = Stage::Pause {
                until: now.after(wait),
            };
            return;
        }
        let note = match asked {
            Some(wait) if wait > RETRY_AFTER => format!(
                " (asked to wait {} s, at most {} s are waited)",
                wait.as_secs(),
                RETRY_AFTER.as_secs()
            ),
            _ => format!(" (after {made} attempts)"),
        };
        failure.model.message.push_str(&note);
        self.fail(failure, out);
    }

    fn fail(&mut self, failure: Failure, out: &mut VecDeque<Output>) {
        self.done(ModelOutcome::Failed(failure.model), out);
    }

    fn done(&mut self, outcome: ModelOutcome, out: &mut VecDeque<Output>) {
        self.drop_exchange(out);
        self.stage = Stage::Over;
        out.push_back(Output::Done(outcome));
    }

    fn drop_exchange(&mut self, out: &mut VecDeque<Output>) {
        if std::mem::take(&mut self.running) {
            out.push_back(Output::Abort);
        }
    }
}

/// The first coding of the content but `identity`. None was asked for.
fn coding(headers: &[(String, String)]) -> Option<String> {
    let is_coded = |value: &str| {
        let mut codings = value.split(',').map(str::trim);
        codings.any(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case("identity"))
    };
    // Whole, as below.
    headers
        .iter()
        .filter(|(name, value)| name.eq_ignore_ascii_case("content-encoding") && is_coded(value))
        .find_map(|(_, value)| failure::excerpt(value))
}

/// The content type, if one is told and it is not `text/event-stream`.
fn odd_type(headers: &[(String, String)]) -> Option<String> {
    let (_, value) = headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("content-type"))?;
    let essence = value.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("text/event-stream") {
        return None;
    }
    // Whole: a parameter cut off could be the rest of a key, which nobody would
    // recognise without it.
    failure::excerpt(value)
}
