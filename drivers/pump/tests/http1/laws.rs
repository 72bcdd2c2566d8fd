//! The five laws, for exchanges.

use crate::support::{exchange, get, post};
use agentx_core::machine::{Machine, Misuse, Wants};
use agentx_core::time::Instant;
use agentx_laws::{Effect, Script, Subject, check};
use agentx_providers::http::HttpRequest;
use agentx_pump::http1::{ConnectFailure, Exchange, Input, Limits, Output};
use std::collections::VecDeque;

/// An exchange whose body comes byte by byte: how it is cut follows the cuts of
/// the input, what it says in all must not.
struct Bytewise {
    exchange: Exchange,
    /// Bytes taken from the exchange, as outputs.
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

/// An exchange of one request as the suite of laws sees it.
struct Exchanges(HttpRequest);

impl Subject for Exchanges {
    type Machine = Bytewise;
    type Other = Input<'static>;

    fn machine(&self) -> Bytewise {
        Bytewise {
            exchange: exchange(self.0.clone(), &Limits::DEFAULT),
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

fn connected() -> Script<Input<'static>> {
    Script::new().at(5).other(Input::Connected).at(6)
}

#[track_caller]
fn holds(request: HttpRequest, script: &Script<Input<'static>>) {
    if let Err(broken) = check(&Exchanges(request), script, 0..20) {
        panic!("{broken}");
    }
}

const HEAD: &str = "HTTP/1.1 103 Hint\r\nx: y\r\n\r\nHTTP/1.1 200 OK\r\n";

#[test]
fn the_laws_hold_for_every_framing() {
    for answer in [
        format!("{HEAD}content-length: 6\r\n\r\nanswer and more"),
        format!("{HEAD}\r\nanswer"),
        format!(
            "{HEAD}transfer-encoding: chunked\r\n\r\n4;x=y\r\nansw\r\n2\r\ner\r\n0\r\nt: u\r\n\r\n"
        ),
        format!("{HEAD}transfer-encoding: chunked\r\n\r\n4\r\nanswer"),
        format!("{HEAD}content-length: 60\r\n\r\nshort"),
        "HTTP/1.1 304 Same\r\n\r\n".to_owned(),
        "nothing of the kind".to_owned(),
    ] {
        holds(get(), &connected().bytes(&answer).at(9).eof());
        holds(
            post("question"),
            &connected()
                .other(Input::Wrote(10))
                .bytes(&answer)
                .at(9)
                .other(Input::ReadFailed),
        );
        // No end: a limit ends it.
        holds(get(), &connected().bytes(&answer));
    }
}

#[test]
fn the_laws_hold_for_an_upload() {
    let large = || post(vec![b'x'; 600_000]);
    let script = connected()
        .other(Input::Wrote(200_000))
        .at(7)
        .bytes("HTTP/1.1 413 Large\r\ncontent-length: 2\r\n\r\nno");
    holds(large(), &script);
    let script = connected()
        .other(Input::WriteFailed)
        .at(8)
        .bytes("HTTP/1.1 413 Large\r\n\r\n")
        .eof();
    holds(large(), &script);
    holds(large(), &connected().other(Input::WriteFailed));
}

#[test]
fn the_laws_hold_for_pauses_and_ends() {
    let script = connected()
        .bytes(format!("{HEAD}\r\nansw"))
        .at(7)
        .other(Input::Pause)
        .at(900_000_000)
        .other(Input::Resume)
        .bytes("er")
        .eof();
    holds(get(), &script);
    holds(get(), &connected().other(Input::Pause));
    holds(get(), &connected().bytes(HEAD).other(Input::Cancel));
    holds(get(), &Script::new());
    let refused = Input::ConnectFailed(ConnectFailure::Refused);
    holds(get(), &Script::new().at(3).other(refused));
}
