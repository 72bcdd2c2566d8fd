//! Races for permission, in every order of what can happen in them: bytes in,
//! records out.
//!
//! A session runs for each order, with one hook for each hook of the order: a
//! program of the settings, or a callback that the host registered over the wire.
//! What the session must say and begin from the first question to its exit is
//! told, word by word, by an [`oracle`] that knows nothing of it; and when it is
//! at its end nothing may be left.
//!
//! With `AGENTX_EVERY_ORDER` it is every order there is, which is for a release
//! build; without it the short ones and a sample of the others.

mod bench;
mod oracle;
mod orders;

use agentx_conformance::session::{hooked, reference};
use agentx_core::agent::Config;
use agentx_core::hook::{Hook, HookEvent, Matcher};
use orders::{Happens, Step};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Who runs the hooks of the orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Via {
    /// Programs of the settings.
    Programs,
    /// The host, as it asked for in `initialize`.
    Callbacks,
    /// The host those that stand first, programs the others.
    Both,
}

/// Hooks of one call; callbacks stand before programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct HooksOf {
    programs: usize,
    callbacks: usize,
}

impl HooksOf {
    const fn all(self) -> usize {
        self.programs + self.callbacks
    }
}

/// How a session is set up: hooks of each call, and whether it is in replay mode.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Setup {
    via: Via,
    hooks: Vec<HooksOf>,
    replay: bool,
}

/// The tools of the calls `t1` and `t2`. Neither runs beside another.
const TOOLS: [&str; 2] = ["Do", "Change"];

impl Setup {
    /// With a hook for each hook of these steps.
    fn of(calls: usize, steps: &[Step], via: Via, replay: bool) -> Self {
        let of = |call| {
            let hooks = |(of, event): &&Step| *of == call && event.is_hook();
            let all = steps.iter().filter(hooks).count();
            let programs = match via {
                Via::Programs => all,
                Via::Callbacks => 0,
                Via::Both => all / 2,
            };
            HooksOf {
                programs,
                callbacks: all - programs,
            }
        };
        let hooks = (0..calls).map(of).collect();
        Self { via, hooks, replay }
    }

    /// The number of the first hook of a call.
    fn first(&self, call: usize) -> usize {
        self.hooks[..call].iter().map(|of| of.all()).sum()
    }

    fn config(&self) -> Config {
        let mut config = hooked(&[]);
        let hook = |tool: &str| Hook {
            event: HookEvent::PermissionRequest,
            matcher: Matcher::Tools([tool.into()].into()),
            pattern: None,
            callback: None,
            timeout: Duration::from_secs(60),
        };
        let of = |(tool, of): (&&str, &HooksOf)| std::iter::repeat_n(hook(tool), of.programs);
        config.hooks.list = TOOLS.iter().zip(&self.hooks).flat_map(of).collect();
        config.replay_user_messages = self.replay;
        if self.via != Via::Programs {
            config.profile = reference().profile;
        }
        config
    }
}

/// Threads that share the orders.
const SHARES: usize = 2;

/// One order of so many is held against the laws.
const LAWS: usize = 499;

/// Whether every order is run.
fn every() -> bool {
    std::env::var_os("AGENTX_EVERY_ORDER").is_some()
}

/// Runs the orders that `all` gives to the end; how many there were.
fn run_all(calls: usize, vias: &[Via], all: impl Fn(&mut dyn FnMut(&[Step])) + Sync) -> usize {
    let (ran, held) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let share = |share: usize| {
        let mut configs = BTreeMap::new();
        let mut at: usize = 0;
        all(&mut |steps| {
            for via in vias {
                at += 1;
                let nth = at / SHARES;
                let setup = Setup::of(calls, steps, *via, nth.is_multiple_of(2));
                if at % SHARES != share {
                    continue;
                }
                let config = configs
                    .entry(setup.clone())
                    .or_insert_with(|| setup.config());
                let lawful = nth.is_multiple_of(LAWS);
                let told = std::panic::catch_unwind(|| bench::run(config, &setup, steps, lawful));
                assert!(told.is_ok(), "the order is {steps:?}, {setup:?}");
                ran.fetch_add(1, Ordering::Relaxed);
                held.fetch_add(usize::from(lawful), Ordering::Relaxed);
            }
        });
    };
    thread::scope(|scope| {
        let shares: Vec<_> = (0..SHARES).map(|n| scope.spawn(move || share(n))).collect();
        for share in shares {
            share.join().expect("every order goes well");
        }
    });
    let ran = ran.into_inner();
    let held = held.into_inner();
    eprintln!("{ran} orders of {calls} calls, {held} of them held against the laws");
    assert!(held > 0);
    ran
}

/// Every order of every subset of what can happen to one call; without
/// [`every`] a sample of those that are longer than this.
fn one_call(whole: usize, stride: usize, each: &mut dyn FnMut(&[Step])) {
    let mut long: usize = 0;
    orders::of_one_call(&mut Vec::new(), &mut |order| {
        let is_long = order.len() > whole && !every();
        long += usize::from(is_long);
        if !is_long || long.is_multiple_of(stride) {
            let steps: Vec<Step> = order.iter().map(|event| (0, *event)).collect();
            each(&steps);
        }
    });
}

/// Every mix of two orders of three events; without [`every`] one of so many.
fn two_calls(stride: usize, each: &mut dyn FnMut(&[Step])) {
    let mut at: usize = 0;
    orders::of_two_calls(&mut |steps| {
        at += 1;
        if every() || at.is_multiple_of(stride) {
            each(steps);
        }
    });
}

/// Whether as many orders ran as there are, or a fair part of them.
fn are_enough(ran: usize, all: usize, part: usize) {
    if every() {
        assert_eq!(ran, all, "every order that can be");
    } else {
        assert!(ran >= part, "{ran}");
    }
}

// covers: WIRE-PERM-001, WIRE-PERM-002, WIRE-PERM-060, WIRE-PERM-070, WIRE-003, WIRE-007, WIRE-008, WIRE-011, ACC-05, ACC-06, DEC-12, DEC-33, DEC-37, DEC-50
#[test]
fn every_order_of_what_can_happen_to_a_question_settles_it_once() {
    let ran = run_all(1, &[Via::Programs], |each| one_call(5, 37, each));
    are_enough(ran, 205_004, 10_000);
}

// covers: WIRE-PERM-001, WIRE-PERM-002, WIRE-PERM-060, WIRE-003, WIRE-006, WIRE-007, WIRE-008, ACC-05, ACC-06, DEC-33, DEC-37, DEC-50
#[test]
fn callbacks_of_the_host_race_like_programs() {
    let vias = [Via::Callbacks, Via::Both];
    let ran = run_all(1, &vias, |each| one_call(4, 97, each));
    are_enough(ran, 410_008, 3_000);
}

// covers: WIRE-PERM-001, WIRE-PERM-060, WIRE-003, WIRE-011, ACC-05, ACC-06, ACC-12, DEC-12, DEC-26, DEC-37
#[test]
fn two_questions_settle_in_every_mix_of_their_events() {
    let ran = run_all(2, &[Via::Programs], |each| two_calls(797, each));
    are_enough(ran, 4_515_200, 5_000);
}

// covers: WIRE-PERM-001, WIRE-PERM-060, WIRE-003, WIRE-011, ACC-05, ACC-06, DEC-12, DEC-37
#[test]
fn two_questions_with_callbacks_settle_in_every_mix_of_their_events() {
    let vias = [Via::Callbacks, Via::Both];
    let ran = run_all(2, &vias, |each| two_calls(1_999, each));
    are_enough(ran, 9_030_400, 3_000);
}

/// The count of orders that the full run has, from their number alone.
#[test]
fn the_orders_are_as_many_as_there_can_be() {
    let mut one = 0;
    orders::of_one_call(&mut Vec::new(), &mut |_| one += 1);
    assert_eq!(one, 205_004);
    assert_eq!(orders::triples().len(), 148);
    assert_eq!(orders::mixes().len(), 20);
    let mut two = 0;
    orders::of_two_calls(&mut |steps| {
        two += 1;
        assert!(steps.len() >= 6);
    });
    assert_eq!(two, 4_515_200);
    let again = [Happens::HostAllows, Happens::HostAgain];
    assert!(orders::can_follow(&again[..1], again[1]));
    assert!(!orders::can_follow(&[], Happens::HostAgain));
}
