//! A session under a real driver, behind a turnstile.
//!
//! Three things of the driver's own are left as they are: its loop and channels,
//! its threads, and its socket to the model, which is a server here. News of
//! threads are held on their road; what they bring about is acknowledged by the
//! [`Watch`] that the pump tells of every input and output.

use crate::scene::{EPOCH, LIMITS, SEED, Scene, model};
use crate::seen::Open;
use crate::{Engine, Seen};
use agentx_core::agent::{AgentSession, Input, Output};
use agentx_core::effect::EffectId;
use agentx_core::time::Instant;
use agentx_pump::clock::{Clock, LogicalClock};
use agentx_pump::pump::{News, Post, Streams};
use agentx_pump::tls::TrustStore;
use agentx_pump::world::{Stdio, Watch, World};
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, BufRead as _, BufReader, PipeWriter, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A wait that nobody should ever see; only a hang ends here.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a driver runs a session.
pub type Run = fn(AgentSession, World, Stdio) -> io::Result<u8>;

/// What the turnstile knows, shared with the threads around it.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    seen: Seen,
    stdout: Vec<u8>,
    /// Whether the session has said what it says first.
    begun: bool,
    /// Whether the session works on an input.
    busy: bool,
    /// What effects have to tell and may not yet.
    held: BTreeMap<EffectId, VecDeque<News>>,
    /// The road to the loop.
    road: Option<Post>,
}

impl State {
    /// Whether nothing is under way: what the session wrote is read, and whatever
    /// is open waits for its turn. Models are waited for at the socket.
    fn is_settled(&self) -> bool {
        let waits = |(id, open): (&EffectId, &Open)| match open {
            Open::Model | Open::Endless => true,
            Open::Other => self.held.get(id).is_some_and(|news| !news.is_empty()),
        };
        let written = self.seen.written;
        let read = written == self.stdout.len();
        let idle = self.begun
            && !self.busy
            && written == self.seen.sent
            && self.seen.open.iter().all(waits);
        read && (idle || self.seen.exit.is_some())
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Waits until this holds and nothing is under way.
    #[track_caller]
    fn until(&self, holds: impl Fn(&Seen) -> bool) {
        let fits =
            |state: &State| state.is_settled() && (holds(&state.seen) || state.seen.exit.is_some());
        let waited = self
            .changed
            .wait_timeout_while(self.lock(), PATIENCE, |state| !fits(state));
        let (state, late) = waited.unwrap();
        let held: Vec<_> = state.held.values().flatten().collect();
        assert!(!late.timed_out(), "it hangs: {:#?} {held:#?}", state.seen);
    }
}

/// The end of the turnstile that the pump knows.
struct Turnstile(Arc<Shared>);

impl Watch for Turnstile {
    fn road(&mut self, road: Post) -> Post {
        self.0.lock().road = Some(Arc::clone(&road));
        let shared = Arc::clone(&self.0);
        Arc::new(move |news| match news {
            News::Answer(id, _) | News::TaskBegan(id, _) | News::Stored(id, _) => {
                shared.change(|state| state.held.entry(id).or_default().push_back(news));
            }
            news => road(news),
        })
    }

    fn input(&mut self, _: Instant, input: &Input<'_>) {
        self.0.change(|state| {
            state.busy = true;
            state.seen.input(input);
        });
    }

    fn output(&mut self, output: &Output) {
        self.0.change(|state| {
            state.busy = true;
            state.seen.output(output);
        });
    }

    fn settled(&mut self, deadline: Option<Instant>) {
        self.0.change(|state| {
            (state.begun, state.busy) = (true, false);
            state.seen.deadline = deadline;
        });
    }
}

/// A driver and the world around it.
pub struct Driven {
    shared: Arc<Shared>,
    clock: LogicalClock,
    stdin: Option<PipeWriter>,
    written: usize,
    /// Requests as they arrive at the server: the socket and the body.
    arrivals: Receiver<(TcpStream, String)>,
    /// Model requests under way.
    models: BTreeMap<EffectId, (TcpStream, String)>,
    session: JoinHandle<io::Result<u8>>,
    reader: JoinHandle<()>,
}

impl Driven {
    /// Begins a session under this driver.
    ///
    /// # Panics
    ///
    /// When a pipe, a socket or a thread cannot be had.
    #[must_use]
    pub fn start(scene: &Scene, run: Run) -> Self {
        let shared = Arc::<Shared>::default();
        let clock = LogicalClock::default();
        let (port, arrivals) = serve();
        let (input, stdin) = io::pipe().unwrap();
        let (mut stdout, output) = io::pipe().unwrap();
        let model = model(port);
        let world = World {
            provider: model.provider,
            credential: model.credential,
            toolbox: scene.toolbox(),
            trust: Arc::new(TrustStore::new()),
            http: LIMITS,
            seed: SEED,
            epoch: EPOCH,
            streams: Some(Streams {
                input: Box::new(input),
                output: Box::new(output),
                errors: Box::new(io::sink()),
            }),
            clock: Clock::Logical(clock.clone()),
            watch: Some(Box::new(Turnstile(Arc::clone(&shared)))),
            persist: Some(Box::new(|_| true)),
            store: Some(Box::new(|_| Ok(()))),
            validator: Some(Box::new(|_| true)),
        };
        let session = scene.session();
        let session = thread::spawn(move || {
            let stdio = Stdio::Records {
                prompts: Vec::new(),
                stdin: true,
            };
            run(session, world, stdio)
        });
        let read = Arc::clone(&shared);
        let reader = thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = stdout.read(&mut piece) {
                let piece = &piece[..count];
                read.change(|state| state.stdout.extend_from_slice(piece));
            }
        });
        let mut driven = Self {
            shared,
            clock,
            stdin: Some(stdin),
            written: 0,
            arrivals,
            models: BTreeMap::new(),
            session,
            reader,
        };
        driven.settle(|_| true);
        driven
    }

    /// Waits until this holds and everything has settled, requests too.
    #[track_caller]
    fn settle(&mut self, holds: impl Fn(&Seen) -> bool) {
        self.shared.until(holds);
        let open = self.shared.lock().seen.open.clone();
        self.models.retain(|id, _| open.contains_key(id));
        for (id, open) in open {
            if open == Open::Model && !self.models.contains_key(&id) {
                let arrival = self.arrivals.recv_timeout(PATIENCE);
                self.models.insert(id, arrival.expect("a request"));
            }
        }
    }

    fn post(&self, news: News) {
        let road = self.shared.lock().road.clone();
        road.expect("the pump has begun")(news);
    }
}

/// A model server; gives its port, and the requests to it as they come.
fn serve() -> (u16, Receiver<(TcpStream, String)>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (arrived, arrivals) = channel();
    thread::spawn(move || {
        while let Ok((socket, _)) = listener.accept() {
            let body = read_request(&socket);
            if arrived.send((socket, body)).is_err() {
                return;
            }
        }
    });
    (port, arrivals)
}

/// The body of one whole request.
fn read_request(socket: &TcpStream) -> String {
    let mut reader = BufReader::new(socket);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    String::from_utf8(body).unwrap()
}

impl Engine for Driven {
    fn write(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().unwrap().write_all(bytes).unwrap();
        self.written += bytes.len();
        let written = self.written;
        self.settle(|seen| seen.bytes == written);
    }

    fn end_input(&mut self) {
        self.stdin = None;
        self.settle(|seen| seen.ended);
    }

    fn release(&mut self, id: EffectId) {
        let news = {
            let mut state = self.shared.lock();
            let news = state.held.get_mut(&id).and_then(VecDeque::pop_front);
            state.busy = true;
            news.expect("the effect has something to tell")
        };
        let before = taken(&self.seen(), id);
        self.post(news);
        self.settle(|seen| taken(seen, id) > before);
    }

    fn say(&mut self, id: EffectId, bytes: &[u8], close: bool, pieces: usize) {
        let before = taken(&self.seen(), id);
        if let Some((socket, _)) = self.models.get_mut(&id) {
            socket.write_all(bytes).unwrap();
        }
        if close {
            self.models.remove(&id);
        }
        self.settle(|seen| taken(seen, id) == before + pieces);
    }

    fn advance(&mut self, to: Instant) {
        let before = self.seen().ticks;
        self.clock.advance_to(to);
        self.post(News::ClockMoved);
        self.settle(|seen| seen.ticks > before && seen.deadline.is_none_or(|due| due > to));
    }

    fn seen(&self) -> Seen {
        self.shared.lock().seen.clone()
    }

    fn stdout(&self) -> Vec<u8> {
        self.shared.lock().stdout.clone()
    }

    fn request(&self, id: EffectId) -> String {
        self.models.get(&id).unwrap().1.clone()
    }

    fn finish(self) -> u8 {
        let status = self.session.join().unwrap().unwrap();
        self.reader.join().unwrap();
        status
    }
}

fn taken(seen: &Seen, id: EffectId) -> usize {
    seen.taken.get(&id).copied().unwrap_or(0)
}
