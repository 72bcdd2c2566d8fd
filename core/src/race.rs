//! One permission question: the host and the hooks race for it, and the first
//! decisive result wins (WIRE-PERM-001, WIRE-PERM-060).
//!
//! ```text
//! open --- host: allow, deny, failure ---------------------> settled
//!   | \--- hooks: a denial, a failure, all in and an allow -> settled
//!   |  \-- abort -------------------------------------------> settled
//!   +----- hooks: all passed; the host decides -------------> open
//!   +----- all passed, and no host to wait for -------------> settled
//! ```
//!
//! The order in which events are fed is the order in which they completed; there
//! is no other clock. A race knows its hooks by number alone: whether one is a
//! program or a callback of the host is nothing to it. What comes after the
//! first ruling changes nothing.

use crate::hook::{Combined, Decision, Gather, HookEvent, HookFault, HookOutput};
use crate::schema::permission::{Allow, Deny};
use alloc::string::String;

/// What happens in a race, in any order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RaceEvent {
    /// The host allows.
    HostAllows(Allow),
    /// The host denies.
    HostDenies(Deny),
    /// The host's answer cannot be had or read; the text says why.
    HostFailed(String),
    /// A hook has answered, or failed.
    Hook {
        /// Its number in this race.
        nth: usize,
        /// What it says.
        said: Result<HookOutput, HookFault>,
    },
    /// Nobody needs a ruling any more.
    Abort,
}

/// How a race ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// The host allows.
    HostAllows(Allow),
    /// The host denies.
    HostDenies(Deny),
    /// No answer could be had from the host, which is a denial (WIRE-PERM-002).
    HostFailed(String),
    /// The hooks decide: [`Decision::Allow`] or [`Decision::Deny`].
    Hooks(Combined),
    /// Every hook has passed, and there is no host that could be asked.
    Nobody,
    /// It was called off.
    Aborted,
}

/// The race for one question.
#[derive(Clone, Debug)]
pub struct Race {
    host: bool,
    hooks: Gather,
    settled: bool,
}

impl Race {
    /// A race between the host, if it is asked, and so many hooks.
    #[must_use]
    pub fn new(host: bool, hooks: usize) -> Self {
        Self {
            host,
            hooks: Gather::new(HookEvent::PermissionRequest, hooks),
            settled: false,
        }
    }

    /// Whether it has ended.
    #[must_use]
    pub const fn is_settled(&self) -> bool {
        self.settled
    }

    /// Takes what happened; gives the ruling, once.
    pub fn on(&mut self, event: RaceEvent) -> Option<Ruling> {
        if self.settled {
            return None;
        }
        let ruling = match event {
            RaceEvent::HostAllows(allow) => Some(Ruling::HostAllows(allow)),
            RaceEvent::HostDenies(deny) => Some(Ruling::HostDenies(deny)),
            RaceEvent::HostFailed(why) => Some(Ruling::HostFailed(why)),
            RaceEvent::Hook { nth, said } => self.hook(nth, said),
            RaceEvent::Abort => Some(Ruling::Aborted),
        };
        self.settled = ruling.is_some();
        ruling
    }

    fn hook(&mut self, nth: usize, said: Result<HookOutput, HookFault>) -> Option<Ruling> {
        let combined = self.hooks.take(nth, said)?;
        match combined.decision {
            Decision::Allow(_) | Decision::Deny(_) => Some(Ruling::Hooks(combined)),
            // A hook of this event cannot ask; the question is out already.
            Decision::Pass | Decision::Ask(_) => (!self.host).then_some(Ruling::Nobody),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::RawJson;
    use crate::schema::permission::PermissionAnswer;
    use alloc::vec::Vec;

    fn host(payload: &str) -> RaceEvent {
        let payload = RawJson::parse(payload).unwrap();
        match PermissionAnswer::parse(Some(&payload)).unwrap() {
            PermissionAnswer::Allow(allow) => RaceEvent::HostAllows(allow),
            PermissionAnswer::Deny(deny) => RaceEvent::HostDenies(deny),
        }
    }

    fn hook(nth: usize, printed: &str) -> RaceEvent {
        let said = HookOutput::parse(HookEvent::PermissionRequest, printed);
        RaceEvent::Hook { nth, said }
    }

    const ALLOW: &str = r#"{"decision":"allow"}"#;
    const DENY: &str = r#"{"decision":"deny","message":"no"}"#;

    fn host_allows() -> RaceEvent {
        host(r#"{"behavior":"allow","updatedInput":{}}"#)
    }

    fn host_denies() -> RaceEvent {
        host(r#"{"behavior":"deny","message":"no"}"#)
    }

    fn word(ruling: Option<Ruling>) -> &'static str {
        match ruling {
            None => "open",
            Some(Ruling::HostAllows(_)) => "host allows",
            Some(Ruling::HostDenies(_)) => "host denies",
            Some(Ruling::HostFailed(_)) => "host failed",
            Some(Ruling::Hooks(combined)) => match combined.decision {
                Decision::Allow(_) => "hooks allow",
                Decision::Deny(_) if combined.failed => "hook failed",
                Decision::Deny(_) => "hooks deny",
                Decision::Pass | Decision::Ask(_) => "undecided",
            },
            Some(Ruling::Nobody) => "nobody",
            Some(Ruling::Aborted) => "aborted",
        }
    }

    fn run(host: bool, hooks: usize, events: Vec<RaceEvent>) -> Vec<&'static str> {
        let mut race = Race::new(host, hooks);
        events.into_iter().map(|e| word(race.on(e))).collect()
    }

    // covers: WIRE-PERM-001, WIRE-PERM-060, ACC-06
    #[test]
    fn the_first_decisive_event_rules_and_nothing_follows() {
        let both = |first: RaceEvent, second: RaceEvent| run(true, 1, alloc::vec![first, second]);
        assert_eq!(both(hook(0, ALLOW), host_denies()), ["hooks allow", "open"]);
        assert_eq!(both(host_denies(), hook(0, ALLOW)), ["host denies", "open"]);
        assert_eq!(both(hook(0, DENY), host_allows()), ["hooks deny", "open"]);
        assert_eq!(both(host_allows(), hook(0, DENY)), ["host allows", "open"]);
        assert_eq!(both(hook(0, ""), host_allows()), ["open", "host allows"]);
        assert_eq!(both(RaceEvent::Abort, hook(0, ALLOW)), ["aborted", "open"]);
        assert_eq!(both(RaceEvent::Abort, host_allows()), ["aborted", "open"]);
    }

    // covers: WIRE-PERM-002, DEC-33
    #[test]
    fn every_failure_denies() {
        let failed = |said| RaceEvent::Hook {
            nth: 0,
            said: Err(said),
        };
        for event in [
            failed(HookFault::Run("gone".into())),
            failed(HookFault::Status(1)),
            hook(0, "garbage"),
            hook(0, r#"{"decision":"ask"}"#),
            hook(0, r#"{"decison":"deny"}"#),
        ] {
            assert_eq!(run(true, 1, alloc::vec![event]), ["hook failed"]);
        }
        let lost = RaceEvent::HostFailed("closed".into());
        assert_eq!(run(true, 1, alloc::vec![lost]), ["host failed"]);
    }

    #[test]
    fn several_hooks_speak_as_one() {
        let three = |events| run(true, 3, events);
        assert_eq!(
            three(alloc::vec![hook(0, ALLOW), hook(1, ""), hook(2, "")]),
            ["open", "open", "hooks allow"],
            "an allowance waits for those that could deny"
        );
        assert_eq!(
            three(alloc::vec![hook(0, ALLOW), hook(2, DENY), hook(1, "")]),
            ["open", "hooks deny", "open"]
        );
        assert_eq!(
            three(alloc::vec![
                hook(1, ""),
                hook(1, ALLOW),
                hook(0, ""),
                hook(2, "")
            ]),
            ["open", "open", "open", "open"],
            "a hook answers once"
        );
        assert_eq!(three(alloc::vec![hook(7, DENY)]), ["open"]);
    }

    #[test]
    fn without_a_host_somebody_has_to_allow() {
        assert_eq!(run(false, 1, alloc::vec![hook(0, "")]), ["nobody"]);
        assert_eq!(run(false, 1, alloc::vec![hook(0, ALLOW)]), ["hooks allow"]);
    }
}
