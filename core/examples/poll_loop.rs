//! A session in an event loop of one's own: one thread, `poll(2)`, no driver.
//! Its model says each prompt again, a word every 20 ms (docs/embedding.md).
#![expect(clippy::disallowed_types, reason = "who waits has a clock")]

use agentx_core::agent::{AgentSession, Config, Input, Output, Provider};
use agentx_core::effect::{Answer, Progress, Request};
use agentx_core::model::{Delta, Message, ModelOutcome, ModelRequest, StopReason};
use agentx_core::{ids::Seed, machine::Machine, time::Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::{io, stdio};
use std::{collections::VecDeque, error::Error, fs::File, io::prelude::*, process::exit, time};

fn main() -> Result<(), Box<dyn Error>> {
    let began = time::Instant::now();
    let mut seed = [0; 32]; // Every id comes from it.
    File::open("/dev/urandom")?.read_exact(&mut seed)?;
    let config = Config::new(Seed(seed), "/", Provider::new("main", "echo", "echo-1"));
    let mut session = AgentSession::new(config, Instant::ZERO);
    let (mut unsent, mut speech, mut next) = (Vec::new(), None, Instant::ZERO);
    // Feed one input, drain what follows, wait for what is wanted until the deadline.
    loop {
        while let Some(output) = session.poll() {
            match output {
                Output::Transmit(record) => unsent.extend(record.into_bytes()),
                Output::Start(id, Request::Model(ask)) => speech = Some((id, words(&ask))),
                Output::Start(_, other) => return Err(format!("not configured: {other:?}").into()),
                Output::Cancel(_) => speech = None, // Nothing else is ever under way.
                Output::Diagnostic(told) => eprintln!("{}", told.text),
                Output::Reply(..) | Output::Event(_) => {}
                Output::Exit(code) => {
                    std::io::stdout().write_all(&unsent)?; // It may block now.
                    exit(code.into())
                }
            }
        }
        // What the session does not want is not waited for, so it comes no further.
        let (wants, now) = (session.wants(), Instant::ZERO.after(began.elapsed()));
        let word = (speech.is_some() && wants.progress).then_some(next);
        let due = session.deadline().into_iter().chain(word).min();
        let wait = due.and_then(|due| Timespec::try_from(due.since(now)).ok());
        let (mut fds, fd) = (Vec::new(), PollFd::from_borrowed_fd);
        fds.extend(wants.bytes.then(|| fd(stdio::stdin(), PollFlags::IN)));
        fds.extend((!unsent.is_empty()).then(|| fd(stdio::stdout(), PollFlags::OUT)));
        io::retry_on_intr(|| poll(&mut fds, wait.as_ref()))?;
        let ready = |fd: Option<&PollFd<'_>>| fd.is_some_and(|fd| !fd.revents().is_empty());
        let (mut piece, now) = ([0; 16 * 1024], Instant::ZERO.after(began.elapsed()));
        let input = if !unsent.is_empty() && ready(fds.last()) {
            // 4 KiB is what a pipe that is ready takes without blocking.
            match io::write(stdio::stdout(), &unsent[..unsent.len().min(4096)]) {
                Ok(count) => Input::Sent(unsent.drain(..count).len()),
                Err(_) => Input::WriteFailed,
            }
        } else if let (true, Some((id, rest))) = (word.is_some_and(|w| w <= now), &mut speech) {
            next = now.after(time::Duration::from_millis(20));
            match rest.pop_front() {
                Some(delta) => Input::Progress(*id, Progress::Delta(delta)),
                None => Input::Done(*id, Answer::Model(ModelOutcome::Finished)),
            }
        } else if wants.bytes && ready(fds.first()) {
            match io::read(stdio::stdin(), &mut piece)? {
                0 => Input::Eof,
                count => Input::Bytes(&piece[..count]),
            }
        } else {
            Input::Tick // One that is not due changes nothing.
        };
        speech = speech.filter(|_| !matches!(input, Input::Done(..)));
        session.handle(now, input)?;
    }
}

fn words(ask: &ModelRequest) -> VecDeque<Delta> {
    let Message::User(parts) = &*ask.history[ask.prompt] else {
        return VecDeque::new();
    };
    let words = parts.iter().flat_map(|part| part.split_inclusive(' '));
    let deltas = words.map(|word| Delta::Text(word.into()));
    deltas.chain([Delta::Stop(StopReason::EndTurn)]).collect()
}
