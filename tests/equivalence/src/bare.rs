//! A session without a driver: a straight loop, one thread, no sockets.

use crate::scene::{EPOCH, LIMITS, Model, SEED, Scene, model};
use crate::seen::Open;
use crate::{Engine, Seen};
use agentx_core::agent::{AgentSession, Input, Output};
use agentx_core::effect::{Answer, EffectId, Progress, Request, Verdict};
use agentx_core::machine::Machine as _;
use agentx_core::time::Instant;
use agentx_pump::drive::{Act, Drive};
use agentx_pump::model::ModelRun;
use agentx_pump::pump::ModelNews;
use agentx_tools::{CancelToken, Toolbox};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Any port: nobody connects.
const PORT: u16 = 1;

/// The straight loop.
pub struct Bare {
    session: AgentSession,
    model: Model,
    toolbox: Arc<Toolbox>,
    now: Instant,
    seen: Seen,
    stdout: Vec<u8>,
    drives: BTreeMap<EffectId, (Drive, String)>,
    held: BTreeMap<EffectId, VecDeque<Input<'static>>>,
}

impl Bare {
    /// Begins a session.
    #[must_use]
    pub fn start(scene: &Scene) -> Self {
        let mut bare = Self {
            session: scene.session(),
            model: model(PORT),
            toolbox: scene.toolbox(),
            now: Instant::ZERO,
            seen: Seen::default(),
            stdout: Vec::new(),
            drives: BTreeMap::new(),
            held: BTreeMap::new(),
        };
        bare.drain();
        bare
    }

    fn feed(&mut self, input: Input<'_>) {
        if self.seen.exit.is_some() {
            return;
        }
        self.seen.input(&input);
        self.session.handle(self.now, input).unwrap();
        self.drain();
    }

    /// Takes what the session says; what was written counts as sent then.
    fn drain(&mut self) {
        while let Some(output) = self.session.poll() {
            self.seen.output(&output);
            match output {
                Output::Transmit(record) => self.stdout.extend(record.as_bytes()),
                Output::Start(id, request) => self.begin(id, request),
                // What came of anything else may still be told.
                Output::Cancel(id) => drop(self.drives.remove(&id)),
                Output::Reply(..) | Output::Event(_) | Output::Diagnostic(_) | Output::Exit(_) => {}
            }
        }
        self.seen.deadline = self.session.deadline();
        let unsent = self.seen.written - self.seen.sent;
        if unsent > 0 {
            self.feed(Input::Sent(unsent));
        } else if self.seen.deadline.is_some_and(|due| due <= self.now) {
            self.feed(Input::Tick);
        }
    }

    /// Does at once what is asked for, and holds back what came of it.
    fn begin(&mut self, id: EffectId, request: Request) {
        let token = CancelToken::new();
        let toolbox = Arc::clone(&self.toolbox);
        let news = match request {
            Request::Model(request) => {
                let seed = SEED.wrapping_add(id.0);
                let call = self.model.provider.begin(*request, seed, EPOCH);
                let run = ModelRun::new(call, self.model.credential.clone(), LIMITS);
                return self.dial(id, run);
            }
            Request::Tool(_) if self.seen.open.get(&id) == Some(&Open::Endless) => return,
            Request::Tool(request) => vec![done(id, Answer::Tool(toolbox.run(&request, &token)))],
            Request::Task(task) => {
                let began = RefCell::new(Vec::new());
                let tell = |path: &str| {
                    let output_file = path.to_owned();
                    let news = Input::Progress(id, Progress::Began { output_file });
                    began.borrow_mut().push(news);
                };
                let outcome = toolbox.run_task(&task, &tell, &token);
                let mut news = began.into_inner();
                news.push(done(id, Answer::Task(outcome)));
                news
            }
            Request::Hook(request) => {
                let report = toolbox.run_hook(&request, &|_, _| {}, &token);
                vec![done(id, Answer::Hook(report))]
            }
            Request::Store(_) => vec![done(id, Answer::Stored(Verdict::Passed))],
            Request::Vet(_) => vec![done(id, Answer::Vetted(Verdict::Passed))],
            Request::Persist(_) => vec![done(id, Answer::Persisted(Verdict::Passed))],
            other => panic!("a play has no such effect: {other:?}"),
        };
        self.held.insert(id, news.into());
    }

    /// Sends the request, to nobody.
    fn dial(&mut self, id: EffectId, run: ModelRun) {
        let mut drive = Drive::begin(run, id, Arc::new(drop), self.now);
        assert!(matches!(drive.poll(), Act::Dial(_)));
        assert_eq!(drive.poll(), Act::Wait);
        drive.dialled(Ok(None));
        let mut request = Vec::new();
        while drive.poll() == Act::Wait && !drive.unwritten().is_empty() {
            let bytes = drive.unwritten().to_vec();
            drive.wrote(Ok(bytes.len()));
            request.extend(bytes);
        }
        let request = String::from_utf8(request).unwrap();
        let (_, body) = request.split_once("\r\n\r\n").unwrap();
        self.drives.insert(id, (drive, body.to_owned()));
    }

    /// Passes on what a run has to tell; gives how much that was.
    fn hear(&mut self, id: EffectId) -> usize {
        let mut pieces = 0;
        while let Some((drive, _)) = self.drives.get_mut(&id) {
            match drive.poll() {
                Act::Tell(ModelNews::Delta(delta)) => {
                    pieces += 1;
                    self.feed(Input::Progress(id, Progress::Delta(delta)));
                }
                Act::Tell(ModelNews::Done(outcome)) => {
                    pieces += 1;
                    self.feed(done(id, Answer::Model(outcome)));
                }
                Act::Tell(ModelNews::Warn(_)) => {}
                Act::Close => drive.closed(),
                Act::Wait => break,
                Act::Over => drop(self.drives.remove(&id)),
                Act::Dial(_) => panic!("a play does not ask again"),
            }
        }
        pieces
    }
}

fn done(id: EffectId, answer: Answer) -> Input<'static> {
    Input::Done(id, answer)
}

impl Engine for Bare {
    fn write(&mut self, bytes: &[u8]) {
        self.feed(Input::Bytes(bytes));
    }

    fn end_input(&mut self) {
        self.feed(Input::Eof);
    }

    fn release(&mut self, id: EffectId) {
        let news = self.held.get_mut(&id).and_then(VecDeque::pop_front);
        self.feed(news.expect("the effect has something to tell"));
    }

    fn say(&mut self, id: EffectId, bytes: &[u8], close: bool, pieces: usize) {
        let mut heard = 0;
        // Nothing read is the end of the stream.
        let end = close.then_some(&[][..]);
        for read in (!bytes.is_empty()).then_some(bytes).into_iter().chain(end) {
            if let Some((drive, _)) = self.drives.get_mut(&id) {
                drive.read(Ok(read));
                heard += self.hear(id);
            }
        }
        assert_eq!(heard, pieces, "what a script says is told in other pieces");
    }

    fn advance(&mut self, to: Instant) {
        self.now = self.now.max(to);
        self.feed(Input::Tick);
    }

    fn seen(&self) -> Seen {
        self.seen.clone()
    }

    fn stdout(&self) -> Vec<u8> {
        self.stdout.clone()
    }

    fn request(&self, id: EffectId) -> String {
        self.drives.get(&id).unwrap().1.clone()
    }

    fn finish(self) -> u8 {
        self.seen.exit.unwrap()
    }
}
