//! What a session must say and begin in an order of events, from the answer that
//! calls tools to its exit, word by word.
//!
//! It follows from the texts alone: whatever decides first decides, hooks that
//! only allow or pass wait for one another (WIRE-PERM-001); a failure denies
//! (WIRE-PERM-002); a withdrawal stands before what follows from it, and before
//! the acknowledgement of an interrupt (WIRE-011); `running` comes when no
//! question is left (DEC-12); calls run one at a time in their order (DEC-26).

use super::Setup;
use super::orders::{Happens, Step};

/// Results of calls.
pub(super) const RAN: &str = "it ran";
pub(super) const HOST_DENIES: &str = "the host denies";
pub(super) const HOOK_DENIES: &str = "the hook denies";
const HOOK_FAILED: &str =
    "Tool permission request failed: a PermissionRequest hook failed: it is gone";
const CALLBACK_FAILED: &str = "Tool permission request failed: a PermissionRequest hook failed: the host answered with an error: it is gone";
const CANCELLED: &str = "Cancelled: the turn was interrupted before this call finished.";
const CLOSED: &str =
    "Tool permission request failed: the permission stream closed before an answer came.";

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Allowed,
    Running,
    Settled,
}

struct Call {
    state: State,
    /// Hooks that have neither denied nor failed.
    agree: usize,
    allowed: bool,
}

/// A hook that was told of a call and has not ended yet.
struct Hook {
    number: usize,
    call: usize,
    /// Whether the host runs it.
    by_host: bool,
}

struct Oracle<'a> {
    setup: &'a Setup,
    calls: Vec<Call>,
    hooks: Vec<Hook>,
    /// The next hook of each call that ends.
    next: Vec<usize>,
    denied: usize,
    interrupted: bool,
    told: Vec<String>,
}

/// Everything that is to be told.
pub(super) fn tell(setup: &Setup, steps: &[Step]) -> Vec<String> {
    let mut oracle = Oracle::new(setup);
    for (call, event) in steps.iter().copied() {
        match event {
            Happens::HostAllows => oracle.host(call, true),
            Happens::HostDenies => oracle.host(call, false),
            // The first answer has settled the question, if anything was left to settle.
            Happens::HostAgain => {}
            Happens::Interrupt => oracle.interrupt(),
            Happens::End => oracle.end(),
            hook => oracle.hook(call, hook),
        }
    }
    oracle.finish();
    oracle.told
}

impl<'a> Oracle<'a> {
    fn new(setup: &'a Setup) -> Self {
        let open = || Call {
            state: State::Open,
            agree: 0,
            allowed: false,
        };
        let mut oracle = Self {
            setup,
            calls: setup.hooks.iter().map(|_| open()).collect(),
            hooks: Vec::new(),
            next: Vec::new(),
            denied: 0,
            interrupted: false,
            told: Vec::new(),
        };
        for call in 0..setup.hooks.len() {
            oracle.say(format!("call t{}", call + 1));
        }
        for (call, hooks) in setup.hooks.iter().enumerate() {
            oracle.say(format!("requires_action t{}", call + 1));
            oracle.say(format!("ask t{}", call + 1));
            oracle.next.push(oracle.hooks.len());
            for nth in 0..hooks.all() {
                let number = oracle.hooks.len();
                let by_host = nth < hooks.callbacks;
                oracle.say(format!("hook {number} starts"));
                if by_host {
                    oracle.say(format!("call back {number}"));
                }
                let hook = Hook {
                    number,
                    call,
                    by_host,
                };
                oracle.hooks.push(hook);
            }
        }
        oracle
    }

    fn say(&mut self, word: impl Into<String>) {
        self.told.push(word.into());
    }

    fn open(&self) -> Vec<usize> {
        let open = |call: &usize| self.calls[*call].state == State::Open;
        (0..self.calls.len()).filter(open).collect()
    }

    fn host(&mut self, call: usize, allows: bool) {
        if self.calls[call].state != State::Open {
            return;
        }
        if self.setup.replay {
            self.say(format!("echo t{}", call + 1));
        }
        self.decide(call, (!allows).then_some(HOST_DENIES));
    }

    fn hook(&mut self, call: usize, event: Happens) {
        let number = self.next[call];
        self.next[call] += 1;
        let runs = self.hooks.iter().position(|hook| hook.number == number);
        let Some(at) = runs else {
            return;
        };
        let by_host = self.hooks.remove(at).by_host;
        if by_host && self.setup.replay {
            self.say(format!("echo hook {number}"));
        }
        let end = if event == Happens::HookFails {
            "error"
        } else {
            "success"
        };
        self.say(format!("hook {number} ends: {end}"));
        let of = &mut self.calls[call];
        if of.state != State::Open {
            return;
        }
        let denial = match event {
            Happens::HookDenies => Some(HOOK_DENIES),
            Happens::HookFails if by_host => Some(CALLBACK_FAILED),
            Happens::HookFails => Some(HOOK_FAILED),
            _ => None,
        };
        of.agree += usize::from(denial.is_none());
        of.allowed |= event == Happens::HookAllows;
        if denial.is_some() || (of.allowed && of.agree == self.setup.hooks[call].all()) {
            self.say(format!("cancel t{}", call + 1));
            self.decide(call, denial);
        }
    }

    fn decide(&mut self, call: usize, denial: Option<&str>) {
        self.calls[call].state = State::Allowed;
        if self.open().is_empty() {
            self.say("running");
        }
        if let Some(text) = denial {
            self.denied += 1;
            self.settle(call, text);
        }
        self.advance();
    }

    fn settle(&mut self, call: usize, text: &str) {
        self.calls[call].state = State::Settled;
        self.say(format!("result of t{}: {text}", call + 1));
    }

    /// One call at a time; then the model goes on.
    fn advance(&mut self) {
        let next = self
            .calls
            .iter()
            .position(|call| call.state != State::Settled);
        match next {
            None => self.say("model"),
            Some(call) if self.calls[call].state == State::Allowed => {
                self.calls[call].state = State::Running;
                self.say(format!("run t{}", call + 1));
            }
            Some(_) => {}
        }
    }

    fn interrupt(&mut self) {
        let open = self.open();
        // Whatever the host was asked, in the order in which it was.
        for call in 0..self.calls.len() {
            if open.contains(&call) {
                self.say(format!("cancel t{}", call + 1));
            }
            for number in self.asked_of_host(call) {
                self.say(format!("cancel hook {number}"));
            }
        }
        self.say("acknowledged");
        if !open.is_empty() {
            self.say("running");
        }
        let unsettled: Vec<usize> = (0..self.calls.len())
            .filter(|call| self.calls[*call].state != State::Settled)
            .collect();
        if unsettled.is_empty() {
            self.say("stop model");
        }
        for call in &unsettled {
            if self.calls[*call].state == State::Running {
                self.say(format!("stop t{}", call + 1));
            }
        }
        // Those that the turn waited for, and those of the host; other programs run on.
        let stops = |hook: &Hook| hook.by_host || open.contains(&hook.call);
        let (stopped, left): (Vec<Hook>, _) = core::mem::take(&mut self.hooks)
            .into_iter()
            .partition(stops);
        self.hooks = left;
        for hook in stopped {
            if !hook.by_host {
                self.say(format!("stop hook {}", hook.number));
            }
            self.say(format!("hook {} ends: cancelled", hook.number));
        }
        for call in unsettled {
            self.settle(call, CANCELLED);
        }
        self.interrupted = true;
        self.turn_ends("error_during_execution");
    }

    fn turn_ends(&mut self, result: &str) {
        let denied = self.denied;
        self.say(format!("result {result}, {denied} denied"));
        self.say("idle");
    }

    fn asked_of_host(&self, call: usize) -> Vec<usize> {
        let asked = |hook: &&Hook| hook.by_host && hook.call == call;
        let asked = self.hooks.iter().filter(asked);
        asked.map(|hook| hook.number).collect()
    }

    /// The end of the input fails what the host was asked, in the order in which
    /// it was, and so denies what is open; none of it is left.
    fn end(&mut self) {
        let open = self.open();
        for call in 0..self.calls.len() {
            if open.contains(&call) {
                if open.first() == Some(&call) {
                    self.say("running");
                }
                self.denied += 1;
                self.settle(call, CLOSED);
                self.advance();
            }
            for number in self.asked_of_host(call) {
                self.say(format!("hook {number} ends: error"));
            }
        }
        self.hooks.retain(|hook| !hook.by_host);
    }

    /// The input ends, then what is open, the oldest first.
    fn finish(&mut self) {
        self.end();
        for hook in core::mem::take(&mut self.hooks) {
            self.say(format!("hook {} ends: success", hook.number));
        }
        if !self.interrupted {
            for call in 0..self.calls.len() {
                if self.calls[call].state == State::Running {
                    self.settle(call, RAN);
                    self.advance();
                }
            }
            self.turn_ends("success");
        }
        self.say(format!("exit {}", u8::from(self.interrupted)));
    }
}
