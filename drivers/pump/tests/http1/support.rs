//! A caller of the exchange that can be told when and how everything happens.

use agentx_core::machine::Machine;
use agentx_core::time::Instant;
use agentx_providers::http::{HttpRequest, Scheme};
use agentx_providers::registry::{FileFacts, Registry, Secret};
use agentx_pump::http1::{AnswerFault, Exchange, Input, Limits, Output, TransportFailure};
use std::sync::Arc;
use std::time::Duration;

/// An instant `seconds` after the driver's start.
pub(crate) fn at(seconds: u64) -> Instant {
    Instant::ZERO.after(Duration::from_secs(seconds))
}

/// A request with a body over plain HTTP.
pub(crate) fn post(body: impl Into<Vec<u8>>) -> HttpRequest {
    HttpRequest {
        method: "POST",
        scheme: Scheme::Http,
        host: "127.0.0.1".to_owned(),
        port: 8080,
        path_and_query: "/v1/messages".to_owned(),
        headers: Vec::new(),
        auth: None,
        body: Arc::new(body.into()),
        ca_file: None,
    }
}

/// A request without a body over plain HTTP.
pub(crate) fn get() -> HttpRequest {
    HttpRequest {
        method: "GET",
        ..post("")
    }
}

/// `key` as a credential, which only a registry gives.
pub(crate) fn secret(key: &str) -> Secret {
    let text = format!(
        r#"{{"version":2,"providers":[{{"id":"p","type":"openai_compatible","openai_compatible":
        {{"base_url":"http://127.0.0.1/v1","model":"m","api_key":"{key}","api":"chat_completions"}}}}]}}"#
    );
    let registry = Registry::parse(text.as_bytes(), &FileFacts::PRIVATE).unwrap();
    registry.credentials().next().unwrap().clone()
}

/// An exchange of `request` that starts at zero.
pub(crate) fn exchange(request: HttpRequest, limits: &Limits) -> Exchange {
    Exchange::new(Instant::ZERO, request, None, None, limits).unwrap()
}

/// What an exchange said in all, pieces joined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) written: Vec<u8>,
    pub(crate) status: Option<u16>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) end: Option<Result<(), TransportFailure>>,
}

impl Outcome {
    /// Takes one output; nothing may follow an end.
    pub(crate) fn note(&mut self, output: Output) {
        assert!(self.end.is_none(), "{output:?} after the end");
        match output {
            Output::Write(bytes) => {
                assert!(!bytes.is_empty());
                self.written.extend(bytes);
            }
            Output::Head { status, headers } => {
                assert_eq!(self.status, None, "a second head");
                self.status = Some(status);
                self.headers = headers;
            }
            Output::Body(bytes) => {
                assert!(self.status.is_some(), "a body before its head");
                assert!(!bytes.is_empty());
                self.body.extend(bytes);
            }
            Output::Done => self.end = Some(Ok(())),
            Output::Failed(failure) => self.end = Some(Err(failure)),
        }
    }

    pub(crate) fn body(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    #[track_caller]
    pub(crate) fn assert_done(&self, status: u16, body: &str) {
        assert_eq!(self.end, Some(Ok(())));
        assert_eq!((self.status, self.body()), (Some(status), body));
    }

    #[track_caller]
    pub(crate) fn assert_failed(&self, failure: TransportFailure) {
        assert_eq!(self.end, Some(Err(failure)));
    }
}

/// Takes every output that is there.
pub(crate) fn drain(exchange: &mut Exchange, outcome: &mut Outcome) {
    while let Some(output) = exchange.poll() {
        outcome.note(output);
    }
    assert_eq!(exchange.poll(), None, "silence holds until the next input");
}

/// Feeds one input and takes what comes of it.
#[track_caller]
pub(crate) fn feed(exchange: &mut Exchange, outcome: &mut Outcome, now: Instant, input: Input<'_>) {
    assert_eq!(exchange.handle(now, input), Ok(()));
    let due = exchange.deadline();
    while let Some(output) = exchange.poll() {
        assert_eq!(due, Some(now), "undrained output shows in the deadline");
        outcome.note(output);
    }
}

/// Feeds `pieces` in turn to a connected exchange whose writes all succeed,
/// then `end`; stops as soon as the exchange is over.
fn run(
    request: &HttpRequest,
    limits: &Limits,
    pieces: &[&[u8]],
    end: Input<'_>,
    lazy: bool,
) -> Outcome {
    let mut exchange = exchange(request.clone(), limits);
    let mut outcome = Outcome::default();
    let inputs = [Input::Connected]
        .into_iter()
        .chain(pieces.iter().map(|piece| Input::Bytes(piece)))
        .chain([end]);
    for input in inputs {
        if exchange.is_over() {
            break;
        }
        exchange.handle(Instant::ZERO, input).unwrap();
        if !lazy {
            drain(&mut exchange, &mut outcome);
        }
    }
    drain(&mut exchange, &mut outcome);
    assert!(exchange.is_over(), "no end after the end of the stream");
    outcome
}

/// Reads `bytes` as the answer to `request`, under every cut in two, byte by
/// byte, and drained late: all must agree (chunk and drain laws).
#[track_caller]
pub(crate) fn answer_to(
    request: &HttpRequest,
    limits: &Limits,
    bytes: &[u8],
    end: Input<'_>,
) -> Outcome {
    let whole = run(request, limits, &[bytes], end, false);
    let late = run(request, limits, &[bytes], end, true);
    assert_eq!(late, whole, "drained late");
    let singles: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(
        run(request, limits, &singles, end, false),
        whole,
        "byte by byte"
    );
    // Every cut of a short answer; of a long one, a spread that moves with its length.
    let stride = bytes.len() / 1000 + 1;
    for cut in (0..=bytes.len()).step_by(stride) {
        let (left, right) = bytes.split_at(cut);
        assert_eq!(
            run(request, limits, &[left, right], end, false),
            whole,
            "cut at {cut}"
        );
    }
    whole
}

/// [`answer_to`] a plain GET under the default limits, closed in order.
#[track_caller]
pub(crate) fn answer(bytes: impl AsRef<[u8]>) -> Outcome {
    answer_to(&get(), &Limits::DEFAULT, bytes.as_ref(), Input::Eof)
}

/// The answer is refused for `fault`.
#[track_caller]
pub(crate) fn assert_refused(bytes: impl AsRef<[u8]>, fault: AnswerFault) {
    let outcome = answer(bytes);
    outcome.assert_failed(TransportFailure::Answer(fault));
}

/// A small generator for cuts, so that a failure can be repeated.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2).wrapping_add(0x9e37_79b9_7f4a_7c15))
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}
