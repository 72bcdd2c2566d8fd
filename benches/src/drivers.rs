//! The same session behind each driver, and without one.
//!
//! A host asks and the session answers at once, so what is left is the way of a
//! record from stdin to stdout. Streams are in memory: what a kernel does for a
//! pipe is the same for all.

use agentx_conformance::session::config;
use agentx_core::agent::{AgentSession, Input, Output};
use agentx_core::machine::Machine as _;
use agentx_core::time::Instant;
use agentx_providers::provider::Provider;
use agentx_providers::registry::{FileFacts, Registry};
use agentx_pump::pump::Streams;
use agentx_pump::stdio::READ_BYTES;
use agentx_pump::world::{Stdio, World};
use agentx_tools::{Toolbox, ToolboxConfig};
use std::collections::BTreeMap;
use std::io::{self, IoSlice, Read, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Runs a session to its end; as the drivers do it.
pub type Run = fn(AgentSession, World, Stdio) -> io::Result<u8>;

/// The drivers, by the name that chooses them.
pub const DRIVERS: [(&str, Run); 3] = [
    ("tokio", agentx_tokio::run),
    ("async-std", agentx_async_std::run),
    ("mio", agentx_mio::run),
];

/// How the record begins that answers a question.
const ANSWER: &[u8] = br#"{"type":"control_response","#;

/// How a host writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Everything at once.
    Stream,
    /// One record, and the next once that was answered.
    OneByOne,
}

/// What a host asks: so many questions, each answered by one record.
#[must_use]
pub fn questions(count: usize) -> Vec<Vec<u8>> {
    let question = |number| {
        format!(
            "{{\"type\":\"control_request\",\"request_id\":\"r{number}\",\"request\":{{\"subtype\":\"interrupt\"}}}}\n"
        )
        .into_bytes()
    };
    (0..count).map(question).collect()
}

/// The bare core: gives how many records it said.
///
/// # Panics
///
/// When the session refuses what it is told.
#[must_use]
pub fn core(questions: &[Vec<u8>], pace: Pace) -> usize {
    let mut session = AgentSession::new(config(), Instant::ZERO);
    let mut records = drain(&mut session);
    let whole;
    let pieces: Vec<&[u8]> = match pace {
        Pace::Stream => {
            whole = questions.concat();
            whole.chunks(READ_BYTES).collect()
        }
        Pace::OneByOne => questions.iter().map(Vec::as_slice).collect(),
    };
    for input in pieces.into_iter().map(Input::Bytes).chain([Input::Eof]) {
        session.handle(Instant::ZERO, input).expect("an input");
        records += drain(&mut session);
    }
    records
}

/// Takes all that a session says, as written at once.
fn drain(session: &mut AgentSession) -> usize {
    let mut records = 0;
    loop {
        let mut sent = 0;
        while let Some(output) = session.poll() {
            if let Output::Transmit(record) = output {
                records += 1;
                sent += record.into_bytes().len();
            }
        }
        if sent == 0 {
            return records;
        }
        session
            .handle(Instant::ZERO, Input::Sent(sent))
            .expect("what was sent");
    }
}

/// The same behind a driver: gives how many records it said.
///
/// # Panics
///
/// When the driver fails.
#[must_use]
pub fn driven(run: Run, questions: &[Vec<u8>], pace: Pace) -> usize {
    let host = Host::new(questions, pace);
    let streams = Streams {
        input: Box::new(host.clone()),
        output: Box::new(host.clone()),
        errors: Box::new(io::sink()),
    };
    let session = AgentSession::new(config(), Instant::ZERO);
    let stdio = Stdio::Records {
        prompts: Vec::new(),
        stdin: true,
    };
    let status = run(session, world(streams), stdio).expect("a driver");
    assert_eq!(status, 0, "exit status");
    host.lock().records
}

fn world(streams: Streams) -> World {
    let registry = br#"{"version": 2, "providers": [
        {"id": "main", "type": "scripted", "scripted": {"model": "m", "from_prompt": true}}]}"#;
    let registry = Registry::parse(registry, &FileFacts::PRIVATE).expect("a registry");
    let entry = registry.select(None).expect("an entry");
    World {
        streams: Some(streams),
        ..World::new(
            Provider::build(entry, None).expect("a provider"),
            Toolbox::new(ToolboxConfig::new("/nonexistent/home", BTreeMap::new())),
            1,
        )
    }
}

/// A host in memory: both ends of its streams.
#[derive(Clone)]
struct Host(Arc<(Mutex<State>, Condvar)>);

struct State {
    /// Pieces to be read, the last one first.
    pieces: Vec<Vec<u8>>,
    pace: Pace,
    /// Answers that must be there before the next piece, and those that are.
    awaited: usize,
    answers: usize,
    records: usize,
}

impl Host {
    fn new(questions: &[Vec<u8>], pace: Pace) -> Self {
        let mut pieces: Vec<Vec<u8>> = match pace {
            Pace::Stream => questions
                .concat()
                .chunks(READ_BYTES)
                .map(<[u8]>::to_vec)
                .collect(),
            Pace::OneByOne => questions.to_vec(),
        };
        pieces.reverse();
        let state = State {
            pieces,
            pace,
            awaited: 0,
            answers: 0,
            records: 0,
        };
        Self(Arc::new((Mutex::new(state), Condvar::new())))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Read for Host {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut state = self.lock();
        while state.pace == Pace::OneByOne && state.answers < state.awaited {
            state = self.0.1.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let Some(piece) = state.pieces.pop() else {
            return Ok(0);
        };
        state.awaited += 1;
        buffer[..piece.len()].copy_from_slice(&piece);
        Ok(piece.len())
    }
}

impl Write for Host {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut state = self.lock();
        // Each slice is one whole record, since all is taken each time.
        for slice in slices.iter().filter(|slice| !slice.is_empty()) {
            state.records += 1;
            state.answers += usize::from(slice.starts_with(ANSWER));
        }
        self.0.1.notify_one();
        Ok(slices.iter().map(|slice| slice.len()).sum())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
