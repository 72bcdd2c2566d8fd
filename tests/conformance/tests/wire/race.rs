//! The race for a permission, in every order of what can happen to it: bytes in,
//! records out.
//!
//! A session runs for each order, with one hook for each hook of the order. What
//! it must do is told by a few lines that know nothing of the session; then it
//! is brought to its end, and nothing may be left.

use agentx_conformance::session::{hooked, printed_by_hook};
use agentx_core::agent::{AgentSession, Config, Input, Output};
use agentx_core::effect::{Answer, EffectId, Progress, Request};
use agentx_core::hook::{Hook, HookEvent, HookReport, Matcher};
use agentx_core::machine::Machine as _;
use agentx_core::model::{Delta, ModelOutcome, StopReason};
use agentx_core::time::Instant;
use agentx_core::tool::ToolOutcome;
use std::thread;
use std::time::Duration;

const PROMPT: &str =
    r#"{"type":"user","message":{"role":"user","content":"go"},"parent_tool_use_id":null}"#;
const INTERRUPT: &str =
    r#"{"type":"control_request","request_id":"i","request":{"subtype":"interrupt"}}"#;
const ALLOW: &str = r#"{"behavior":"allow","updatedInput":{}}"#;
const DENY: &str = r#"{"behavior":"deny","message":"the host denies"}"#;

/// What can happen to the question about one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Happens {
    HostAllows,
    HostDenies,
    /// An answer of the host that repeats one.
    HostAgain,
    HookAllows,
    HookDenies,
    HookPasses,
    HookFails,
    Interrupt,
    End,
}

use Happens::{
    End, HookAllows, HookDenies, HookFails, HookPasses, HostAgain, HostAllows, HostDenies,
    Interrupt,
};

impl Happens {
    const ALL: [Self; 9] = [
        HostAllows, HostDenies, HostAgain, HookAllows, HookDenies, HookPasses, HookFails,
        Interrupt, End,
    ];

    const fn is_hook(self) -> bool {
        matches!(self, HookAllows | HookDenies | HookPasses | HookFails)
    }
}

/// What becomes of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Runs,
    HostDenied,
    HookDenied,
    HookFailed,
    Cancelled,
    Closed,
}

/// The first decisive event decides; hooks that only pass or allow wait for one
/// another, and an input that ends denies.
fn fate(order: &[Happens]) -> Fate {
    let hooks = order.iter().filter(|event| event.is_hook()).count();
    let (mut answered, mut allowed) = (0, false);
    for event in order {
        answered += usize::from(event.is_hook());
        allowed |= *event == HookAllows;
        match event {
            HostAllows | HostAgain => return Fate::Runs,
            HostDenies => return Fate::HostDenied,
            HookDenies => return Fate::HookDenied,
            HookFails => return Fate::HookFailed,
            Interrupt => return Fate::Cancelled,
            End => return Fate::Closed,
            HookAllows | HookPasses if allowed && answered == hooks => return Fate::Runs,
            HookAllows | HookPasses => {}
        }
    }
    Fate::Closed
}

/// A session, told short: each record and effect as a word.
struct Light {
    session: AgentSession,
    told: Vec<String>,
    /// Results of calls: id and text.
    results: Vec<String>,
    /// Request ids of the questions, in order.
    questions: Vec<String>,
    open: Vec<(EffectId, Request)>,
    hooks: Vec<EffectId>,
    ran: Vec<String>,
    exit: Option<u8>,
}

impl Light {
    fn new(config: &Config, calls: &[&str]) -> Self {
        let mut light = Self {
            session: AgentSession::new(config.clone(), Instant::ZERO),
            told: Vec::new(),
            results: Vec::new(),
            questions: Vec::new(),
            open: Vec::new(),
            hooks: Vec::new(),
            ran: Vec::new(),
            exit: None,
        };
        light.drain();
        light.line(PROMPT);
        let id = light.model().expect("the model is asked");
        for (index, call) in (0..).zip(calls) {
            let name = if *call == "t1" { "Do" } else { "Change" }.to_string();
            let call = (*call).to_string();
            let start = Delta::CallStart {
                index,
                id: call,
                name,
            };
            light.feed(Input::Progress(id, Progress::Delta(start)));
        }
        light.answer_model(id, StopReason::ToolUse);
        light.told.clear();
        light
    }

    fn feed(&mut self, input: Input<'_>) {
        self.session
            .handle(Instant::ZERO, input)
            .expect("the input fits");
        self.drain();
    }

    fn line(&mut self, line: &str) {
        self.feed(Input::Bytes(format!("{line}\n").as_bytes()));
    }

    fn respond(&mut self, question: usize, payload: &str) {
        let id = &self.questions[question];
        self.line(&format!(
            r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{id}","response":{payload}}}}}"#
        ));
    }

    /// A hook ends; after the session nobody is there to be told.
    fn hook(&mut self, nth: usize, report: HookReport) {
        if self.exit.is_some() {
            return;
        }
        self.feed(Input::Done(self.hooks[nth], Answer::Hook(report)));
    }

    fn model(&self) -> Option<EffectId> {
        let mut open = self.open.iter();
        open.find_map(|(id, request)| matches!(request, Request::Model(_)).then_some(*id))
    }

    fn answer_model(&mut self, id: EffectId, stop: StopReason) {
        self.feed(Input::Progress(id, Progress::Delta(Delta::Stop(stop))));
        self.feed(Input::Done(id, Answer::Model(ModelOutcome::Finished)));
    }

    /// Ends what is open and the input; the session must come to its end.
    fn finish(&mut self, ended: bool) {
        if !ended {
            self.feed(Input::Eof);
        }
        while let Some((id, request)) = self.open.first().cloned() {
            match request {
                Request::Model(_) => self.answer_model(id, StopReason::EndTurn),
                Request::Tool(_) => {
                    self.feed(Input::Done(id, Answer::Tool(ToolOutcome::text("it ran"))));
                }
                Request::Hook(_) => self.feed(Input::Done(id, Answer::Hook(printed_by_hook("")))),
                other => panic!("nobody asked for {other:?}"),
            }
        }
        assert!(self.exit.is_some(), "it ends");
        assert_eq!(self.session.pending_requests(), 0);
    }

    fn drain(&mut self) {
        while let Some(output) = self.session.poll() {
            match output {
                Output::Transmit(record) => {
                    let record = std::str::from_utf8(record.as_bytes()).expect("UTF-8");
                    self.record(record);
                }
                Output::Start(id, request) => {
                    match &request {
                        Request::Hook(_) => self.hooks.push(id),
                        Request::Tool(tool) => self.ran.push(tool.call.id.to_string()),
                        _ => {}
                    }
                    self.open.push((id, request));
                }
                Output::Cancel(id) => self.open.retain(|(open, _)| *open != id),
                Output::Exit(status) => self.exit = Some(status),
                Output::Reply(..) | Output::Event(_) | Output::Diagnostic(_) => {}
            }
        }
        let session = &self.session;
        self.open.retain(|(id, _)| session.is_open(*id));
    }

    fn record(&mut self, record: &str) {
        let after = |mark: &str| {
            let rest = &record[record.find(mark).expect(mark) + mark.len()..];
            rest[..rest.find('"').expect("a string ends")].to_string()
        };
        let word = if record.contains(r#""state":"requires_action""#) {
            "requires_action".to_string()
        } else if record.contains(r#""subtype":"session_state_changed""#) {
            after(r#""state":""#)
        } else if record.contains(r#""subtype":"can_use_tool""#) {
            self.questions.push(after(r#""request_id":""#));
            format!("ask {}", after(r#""tool_use_id":""#))
        } else if record.contains(r#""type":"control_cancel_request""#) {
            let id = after(r#""request_id":""#);
            let nth = self.questions.iter().position(|known| *known == id);
            format!("cancel {}", nth.expect("a question"))
        } else if record.contains(r#""type":"tool_result""#) {
            let id = after(r#""tool_use_id":""#);
            self.results.push(format!("{id}: {}", after(r#""text":""#)));
            format!("tool_result {id}")
        } else if record.contains(r#""type":"result""#) {
            "result".to_string()
        } else if record.contains(r#""type":"control_response""#) {
            "ack".to_string()
        } else {
            return;
        };
        self.told.push(word);
    }
}

fn report(event: Happens) -> HookReport {
    match event {
        HookAllows => printed_by_hook(r#"{"decision":"allow"}"#),
        HookDenies => printed_by_hook(r#"{"decision":"deny","message":"the hook denies"}"#),
        HookFails => HookReport::failed("it is gone"),
        _ => printed_by_hook(""),
    }
}

/// Runs one order to its end and holds it against its fate.
fn run(order: &[Happens], configs: &[Config]) {
    let hooks = order.iter().filter(|event| event.is_hook()).count();
    let mut s = Light::new(&configs[hooks], &["t1"]);
    assert_eq!((s.questions.len(), s.hooks.len()), (1, hooks));
    let mut nth = 0;
    for event in order {
        match event {
            HostAllows | HostAgain => s.respond(0, ALLOW),
            HostDenies => s.respond(0, DENY),
            Interrupt => s.line(INTERRUPT),
            End => s.feed(Input::Eof),
            hook => {
                s.hook(nth, report(*hook));
                nth += 1;
            }
        }
    }
    s.finish(order.contains(&End));
    let fate = fate(order);
    let cancelled = "Cancelled: the turn was interrupted before this call finished.";
    let interrupted = order.contains(&Interrupt);
    let (texts, withdrawn): (&[&str], usize) = match fate {
        Fate::Runs if interrupted => (&["it ran", cancelled], 0),
        Fate::Runs => (&["it ran"], 0),
        Fate::HostDenied => (&["the host denies"], 0),
        Fate::HookDenied => (&["the hook denies"], 1),
        Fate::HookFailed => (
            &["Tool permission request failed: a PermissionRequest hook failed: it is gone"],
            1,
        ),
        Fate::Cancelled => (&[cancelled], 1),
        Fate::Closed => (
            &[
                "Tool permission request failed: the permission stream closed before an answer came.",
            ],
            0,
        ),
    };
    let allowed_by_hook = fate == Fate::Runs && !first_is_host(order);
    let withdrawn = withdrawn + usize::from(allowed_by_hook);
    let [result] = &*s.results else {
        panic!("one result: {:?}", s.results);
    };
    let text = result.strip_prefix("t1: ").expect("of the call");
    assert!(texts.contains(&text), "{text}");
    assert_eq!(s.ran.len(), usize::from(fate == Fate::Runs), "runs");
    let count = |word: &str| s.told.iter().filter(|told| *told == word).count();
    assert_eq!(count("cancel 0"), withdrawn, "{:?}", s.told);
    assert_eq!(count("result"), 1);
    assert_eq!(s.told.last().map(String::as_str), Some("idle"));
    assert_eq!(count("running"), 1, "no question is left: {:?}", s.told);
    // A withdrawal stands before everything that follows from it.
    if withdrawn > 0 {
        assert_eq!(s.told[0], "cancel 0", "{:?}", s.told);
    }
    let at = |word: &str| s.told.iter().position(|told| told == word);
    assert!(at("running") < at("tool_result t1"), "{:?}", s.told);
}

/// Whether the allowance of an order that allows is the host's.
fn first_is_host(order: &[Happens]) -> bool {
    let hooks = order.iter().filter(|event| event.is_hook()).count();
    let (mut answered, mut allowed) = (0, false);
    for event in order {
        answered += usize::from(event.is_hook());
        allowed |= *event == HookAllows;
        if matches!(event, HostAllows | HostAgain) {
            return true;
        }
        if allowed && answered == hooks {
            return false;
        }
    }
    true
}

/// Whether this can happen behind that: nothing of the host behind the end of its
/// input, no repetition of what was not said.
fn can_follow(prefix: &[Happens], event: Happens) -> bool {
    let said = |known| prefix.contains(&known);
    !said(event)
        && (event.is_hook() || !said(End))
        && (event != HostAgain || said(HostAllows) || said(HostDenies))
}

/// Calls `each` with every order of every subset of at most `most` events.
fn orders(prefix: &mut Vec<Happens>, most: usize, each: &mut impl FnMut(&[Happens])) {
    each(prefix);
    if prefix.len() == most {
        return;
    }
    for event in Happens::ALL {
        if can_follow(prefix, event) {
            prefix.push(event);
            orders(prefix, most, each);
            prefix.pop();
        }
    }
}

/// Events of the longest orders, and how many orders there are. With
/// `AGENTX_EVERY_ORDER` it is all of them, which takes minutes.
fn extent() -> (usize, usize) {
    match std::env::var_os("AGENTX_EVERY_ORDER") {
        Some(_) => (9, 205_004),
        None => (6, 30_284),
    }
}

/// Threads that share the orders.
const SHARES: usize = 2;

// covers: WIRE-PERM-001, WIRE-PERM-002, WIRE-PERM-060, WIRE-PERM-070, WIRE-007, WIRE-008, ACC-05, ACC-06, DEC-33, DEC-37
#[test]
fn every_order_of_what_can_happen_to_a_question_settles_it_once() {
    let events = [HookEvent::PermissionRequest; 4];
    let configs: Vec<Config> = (0..=4).map(|hooks| hooked(&events[..hooks])).collect();
    let (most, all) = extent();
    let (share, configs) = (
        |share: usize, configs: &[Config]| {
            let (mut at, mut ran) = (0, 0);
            orders(&mut Vec::new(), most, &mut |order| {
                at += 1;
                if at % SHARES == share {
                    ran += 1;
                    let told = std::panic::catch_unwind(|| run(order, configs));
                    assert!(told.is_ok(), "the order is {order:?}");
                }
            });
            ran
        },
        &configs,
    );
    let ran: usize = thread::scope(|scope| {
        let shares = (0..SHARES).map(|n| scope.spawn(move || share(n, configs)));
        let shares: Vec<_> = shares.collect();
        shares
            .into_iter()
            .map(|share| share.join().expect("a share fails"))
            .sum()
    });
    eprintln!("{ran} orders of one call");
    assert_eq!(ran, all, "every order that can be");
}

/// Three events of one question. Hooks end in the order in which they stand.
type Triple = [Happens; 3];

const TRIPLES: [Triple; 3] = [
    [HostAllows, HookDenies, HostAgain],
    [HostDenies, HookAllows, HookPasses],
    [HookFails, HostAllows, HookAllows],
];

/// Every order of these triples that can be.
fn triples() -> Vec<Triple> {
    let mut all = Vec::new();
    for [a, b, c] in TRIPLES {
        for order in [
            [a, b, c],
            [a, c, b],
            [b, a, c],
            [b, c, a],
            [c, a, b],
            [c, b, a],
        ] {
            let can = |at: usize| can_follow(&order[..at], order[at]);
            if (0..3).all(can) {
                all.push(order);
            }
        }
    }
    all
}

/// All ways to mix three events of the first call with three of the second:
/// whether each is the second's.
fn mixes() -> Vec<[bool; 6]> {
    let mix = |bits: u32| core::array::from_fn(|at| bits >> at & 1 == 1);
    (0_u32..64)
        .filter(|bits| bits.count_ones() == 3)
        .map(mix)
        .collect()
}

/// What happens to which call; the end of the input happens to both.
type Step = (usize, Happens);

fn mixed(first: Triple, second: Triple, mix: [bool; 6]) -> Vec<Step> {
    let mut of = [first.into_iter(), second.into_iter()];
    mix.into_iter()
        .filter_map(|second| Some((usize::from(second), of[usize::from(second)].next()?)))
        .collect()
}

/// The records that have to come, up to the end of the last step.
fn expected(steps: &[Step]) -> Vec<String> {
    let mut told = Vec::new();
    let mut open = [true, true];
    for at in 0..steps.len() {
        let (call, event) = steps[at];
        if event == End {
            if open.contains(&true) {
                told.push("running".to_string());
            }
            for (call, open) in open.iter_mut().enumerate() {
                if core::mem::take(open) {
                    told.push(format!("tool_result t{}", call + 1));
                }
            }
            continue;
        }
        let so_far = of_call(&steps[..=at], call);
        let all = of_call(steps, call);
        if !open[call] || !decides(&so_far, &all) {
            continue;
        }
        open[call] = false;
        if event.is_hook() {
            told.push(format!("cancel {call}"));
        }
        if !open.contains(&true) {
            told.push("running".to_string());
        }
        if fate(&all) != Fate::Runs {
            told.push(format!("tool_result t{}", call + 1));
        }
    }
    told
}

fn of_call(steps: &[Step], call: usize) -> Vec<Happens> {
    let of = steps
        .iter()
        .filter(|(of, event)| *of == call || *event == End);
    of.map(|(_, event)| *event).collect()
}

/// Whether what has happened so far decides, of all that happens.
fn decides(so_far: &[Happens], all: &[Happens]) -> bool {
    let hooks = |of: &[Happens]| of.iter().filter(|event| event.is_hook()).count();
    let said = |event| so_far.contains(&event);
    said(HostAllows)
        || said(HostDenies)
        || said(HookDenies)
        || said(HookFails)
        || said(HookAllows) && hooks(so_far) == hooks(all)
}

/// The hooks of both calls: each for the tool of its call.
fn hooks_of(first: Triple, second: Triple) -> Config {
    let mut config = hooked(&[]);
    let hook = |tool: &str| Hook {
        event: HookEvent::PermissionRequest,
        matcher: Matcher::Tools([tool.into()].into()),
        pattern: None,
        callback: None,
        timeout: Duration::from_secs(60),
    };
    let count = |of: Triple| of.iter().filter(|event| event.is_hook()).count();
    let hooks = std::iter::repeat_n(hook("Do"), count(first));
    let hooks = hooks.chain(std::iter::repeat_n(hook("Change"), count(second)));
    config.hooks.list = hooks.collect();
    config
}

fn run_two(config: &Config, steps: &[Step], hooks: [usize; 2]) {
    let mut s = Light::new(config, &["t1", "t2"]);
    assert_eq!(s.questions.len(), 2);
    assert_eq!(s.hooks.len(), hooks[0] + hooks[1]);
    let mut next = [0, hooks[0]];
    for (call, event) in steps.iter().copied() {
        match event {
            HostAllows | HostAgain => s.respond(call, ALLOW),
            HostDenies => s.respond(call, DENY),
            End => s.feed(Input::Eof),
            hook => {
                s.hook(next[call], report(hook));
                next[call] += 1;
            }
        }
    }
    let expected = expected(steps);
    assert_eq!(s.told, expected, "records");
    s.finish(steps.iter().any(|(_, event)| *event == End));
    let of = [of_call(steps, 0), of_call(steps, 1)];
    let runs: Vec<_> = (0..2)
        .filter(|call| fate(&of[*call]) == Fate::Runs)
        .map(|call| format!("t{}", call + 1))
        .collect();
    assert_eq!(s.ran, runs, "runs, in call order");
    let mut results = s.results.clone();
    results.sort();
    let ids: Vec<_> = results.iter().map(|result| &result[..2]).collect();
    assert_eq!(ids, ["t1", "t2"], "one result each");
}

// covers: WIRE-PERM-001, WIRE-PERM-060, WIRE-003, ACC-05, DEC-12, DEC-26, DEC-37
#[test]
fn two_questions_settle_in_every_mix_of_their_events() {
    let (triples, mixes) = (triples(), mixes());
    assert_eq!((triples.len(), mixes.len()), (15, 20));
    let mut ran = 0;
    for first in &triples {
        for second in &triples {
            let config = hooks_of(*first, *second);
            let count = |of: &Triple| of.iter().filter(|event| event.is_hook()).count();
            let hooks = [count(first), count(second)];
            for mix in &mixes {
                let steps = mixed(*first, *second, *mix);
                let mut each = vec![steps.clone()];
                for at in 0..=steps.len() {
                    if steps[at..].iter().all(|(_, event)| event.is_hook()) {
                        let mut ended = steps.clone();
                        ended.insert(at, (0, End));
                        each.push(ended);
                    }
                }
                for steps in each {
                    ran += 1;
                    let told = std::panic::catch_unwind(|| run_two(&config, &steps, hooks));
                    assert!(told.is_ok(), "the order is {steps:?}");
                }
            }
        }
    }
    eprintln!("{ran} orders of two calls");
    assert!(ran > 9_000, "{ran}");
}
