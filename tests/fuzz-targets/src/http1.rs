//! HTTP/1.1 answers: the machine of one exchange.

use crate::seed;
use agentx_core::machine::{Machine, Misuse, Wants};
use agentx_core::time::Instant;
use agentx_laws::{Effect, Event, Script, Subject, check, replay};
use agentx_providers::http::{HttpRequest, Scheme};
use agentx_pump::http1::{Exchange, Input, Limits, Output};
use std::collections::VecDeque;
use std::sync::Arc;

/// Limits that inputs can reach.
const LIMITS: Limits = Limits {
    head_bytes: 512,
    interim_heads: 3,
    chunk_extension_bytes: 32,
    trailer_bytes: 64,
    body_bytes: 1024,
    ..Limits::DEFAULT
};

/// The bytes of an answer. Cut anywhere it says the same, to a GET, to a HEAD
/// and to a POST whose body is not written yet.
pub fn target(data: &[u8]) {
    for method in ["GET", "HEAD", "POST"] {
        let exchanges = Exchanges(request(method));
        let connected = || {
            Script::new()
                .at(5)
                .other(Input::Connected)
                .at(6)
                .bytes(data)
        };
        for script in [
            connected().at(9).eof(),
            connected().at(9).other(Input::ReadFailed),
        ] {
            if let Err(broken) = check(&exchanges, &script, [seed::of(data)]) {
                panic!("{method}: {broken}");
            }
        }
        let events = replay(&exchanges, &connected().at(9).eof()).unwrap_or_default();
        let (mut heads, mut body, mut ends) = (0, 0, 0);
        for (_, event) in events {
            match event {
                Event::Output(Output::Head { status, headers }) => {
                    heads += 1;
                    assert!((200..=999).contains(&status) && body == 0 && ends == 0);
                    let lower = |name: &str| !name.bytes().any(|b| b.is_ascii_uppercase());
                    assert!(headers.iter().all(|(name, _)| lower(name)));
                }
                Event::Output(Output::Body(bytes)) => body += bytes.len(),
                Event::Output(Output::Done) => {
                    ends += 1;
                    assert_eq!(heads, 1);
                }
                Event::Output(Output::Failed(_)) => ends += 1,
                Event::Output(Output::Write(_)) | Event::Refused(..) => {}
            }
        }
        assert!(heads <= 1 && ends == 1 && body as u64 <= LIMITS.body_bytes);
        assert!(method != "HEAD" || body == 0);
    }
}

fn request(method: &'static str) -> HttpRequest {
    let body = if method == "POST" { "question" } else { "" };
    HttpRequest {
        method,
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

/// An exchange whose body comes byte by byte: its pieces follow the cuts of the
/// input, what they are together must not.
struct Bytewise {
    exchange: Exchange,
    out: VecDeque<Output>,
    now: Instant,
}

impl Machine for Bytewise {
    type Input<'a> = Input<'a>;
    type Output = Output;

    fn handle(&mut self, now: Instant, input: Input<'_>) -> Result<(), Misuse> {
        self.exchange.handle(now, input)?;
        self.now = now;
        Ok(())
    }

    fn poll(&mut self) -> Option<Output> {
        if let Some(output) = self.out.pop_front() {
            return Some(output);
        }
        match self.exchange.poll()? {
            Output::Body(bytes) => {
                assert!(!bytes.is_empty());
                let single = |byte| Output::Body(vec![byte]);
                self.out.extend(bytes.into_iter().map(single));
            }
            output => return Some(output),
        }
        self.out.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        if self.out.is_empty() {
            return self.exchange.deadline();
        }
        Some(self.now)
    }

    fn wants(&self) -> Wants {
        self.exchange.wants()
    }
}

/// The exchange of a request as the suite of laws sees it.
struct Exchanges(HttpRequest);

impl Subject for Exchanges {
    type Machine = Bytewise;
    type Other = Input<'static>;

    fn machine(&self) -> Bytewise {
        let exchange = Exchange::new(Instant::ZERO, self.0.clone(), None, None, &LIMITS);
        Bytewise {
            exchange: exchange.expect("a request that can be sent"),
            out: VecDeque::new(),
            now: Instant::ZERO,
        }
    }

    fn bytes<'a>(&self, bytes: &'a [u8]) -> Input<'a> {
        Input::Bytes(bytes)
    }

    fn eof<'a>(&self) -> Input<'a> {
        Input::Eof
    }

    fn tick<'a>(&self) -> Input<'a> {
        Input::Tick
    }

    fn other<'a>(&self, other: &'a Input<'static>) -> Input<'a> {
        *other
    }

    fn effect(&self, output: &Output) -> Effect {
        match output {
            Output::Done | Output::Failed(_) => Effect::Exit,
            _ => Effect::None,
        }
    }
}
