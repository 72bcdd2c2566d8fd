//! What a hook answers.
//!
//! The answer is read strictly. A hook that meant to deny and misspelled it must
//! not be taken for one that has nothing to say.

use super::HookEvent;
use crate::json::{Object, RawJson, ScanLimits, Scanner};
use crate::schema::permission::PermissionUpdate;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Members of an answer.
const MEMBERS: [&str; 6] = [
    "decision",
    "message",
    "updatedInput",
    "updatedPermissions",
    "additionalContext",
    "continue",
];

/// Characters of the name of an unknown member that is shown.
const MEMBER_CHARS: usize = 40;

/// What one hook says about one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookOutput {
    pub(super) decision: Decision,
    pub(super) updated_input: Option<RawJson>,
    pub(super) updates: Vec<PermissionUpdate>,
    pub(super) context: Option<String>,
    pub(super) go_on: bool,
    pub(super) halt: Option<String>,
    pub(super) interrupt: bool,
    pub(super) notice: Option<String>,
    pub(super) result: Option<RawJson>,
}

/// What a hook, or several together, want.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Decision {
    /// Nothing.
    #[default]
    Pass,
    /// That it happens, without a question.
    Allow(HookLeave),
    /// That somebody is asked.
    Ask(String),
    /// That it does not happen; the text says why, and may be empty.
    Deny(String),
}

impl Decision {
    /// What beats what: deny, then ask, then allow.
    pub(super) const fn rank(&self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Allow(_) => 1,
            Self::Ask(_) => 2,
            Self::Deny(_) => 3,
        }
    }
}

/// Proof that a hook said `allow`. Only reading an answer makes one, so no
/// failure can turn into it (WIRE-PERM-002).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookLeave(pub(super) ());

/// Why a hook has failed (DEC-33). The text is for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookFault {
    /// It did not run to its end.
    Run(String),
    /// It ended with a status that means nothing.
    Status(u8),
    /// It printed something else than one JSON object.
    NoObject,
    /// Its answer has an escape for half of a surrogate pair, which is no text.
    Surrogate,
    /// Its answer has a member that is not known; its name, unless that is long:
    /// the beginning of one could be half a credential (DEC-30).
    UnknownMember(Option<String>),
    /// This member is not what it should be.
    Member(&'static str, &'static str),
    /// The host's answer has no payload, or one that is no object.
    NoPayload,
}

impl fmt::Display for HookFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(why) => f.write_str(why),
            Self::Status(status) => write!(f, "it ended with status {status}"),
            Self::NoObject => f.write_str("it printed something else than one JSON object"),
            Self::Surrogate => f.write_str("its answer holds an unpaired surrogate escape"),
            Self::UnknownMember(Some(name)) => {
                write!(f, "its answer has the unknown member {name:?}")
            }
            Self::UnknownMember(None) => {
                f.write_str("its answer has an unknown member with a long name")
            }
            Self::Member(name, expected) => write!(f, "its {name} is not {expected}"),
            Self::NoPayload => f.write_str("its answer is no JSON object"),
        }
    }
}

impl core::error::Error for HookFault {}

impl HookOutput {
    /// Reads what a hook printed; nothing but blanks is an answer that decides
    /// nothing.
    ///
    /// # Errors
    ///
    /// What is wrong with the answer, which then counts as a failure of the hook.
    pub fn parse(event: HookEvent, printed: &str) -> Result<Self, HookFault> {
        if printed.trim().is_empty() {
            return Ok(Self::default());
        }
        let mut scanner = Scanner::new();
        let value = scanner
            .scan(printed.as_bytes(), &ScanLimits::DEFAULT)
            .map_err(|_| HookFault::NoObject)?;
        let answer = value.as_object().ok_or(HookFault::NoObject)?;
        if value.has_unpaired_surrogate() {
            return Err(HookFault::Surrogate);
        }
        for (name, _) in answer {
            if !MEMBERS.iter().any(|known| name == **known) {
                let name = name.decode_lossy();
                let is_short = name.chars().count() <= MEMBER_CHARS;
                let shown = is_short.then(|| name.into_owned());
                return Err(HookFault::UnknownMember(shown));
            }
        }
        let message = text(answer, "message")?.unwrap_or_default();
        Ok(Self {
            decision: decision(event, answer, message)?,
            updated_input: updated_input(answer)?,
            updates: updates(answer)?,
            context: text(answer, "additionalContext")?.filter(|text| !text.trim().is_empty()),
            go_on: go_on(answer)?,
            ..Self::default()
        })
    }

    /// An answer that denies, for this reason.
    #[must_use]
    pub fn denial(reason: String) -> Self {
        Self {
            decision: Decision::Deny(reason),
            ..Self::default()
        }
    }
}

fn text(answer: Object<'_>, name: &'static str) -> Result<Option<String>, HookFault> {
    let Some(value) = answer.get(name) else {
        return Ok(None);
    };
    let text = value.as_str().and_then(|text| text.decode().ok());
    match text {
        Some(text) => Ok(Some(text.into_owned())),
        None => Err(HookFault::Member(name, "a text")),
    }
}

fn decision(event: HookEvent, answer: Object<'_>, message: String) -> Result<Decision, HookFault> {
    let may_ask = event == HookEvent::PreToolUse;
    Ok(match text(answer, "decision")?.as_deref() {
        None | Some("pass") => Decision::Pass,
        Some("allow") => Decision::Allow(HookLeave(())),
        Some("ask") if may_ask => Decision::Ask(message),
        Some("deny") => Decision::Deny(message),
        Some(_) => {
            let expected = if may_ask {
                "one of allow, ask, deny, pass"
            } else {
                "one of allow, deny, pass"
            };
            return Err(HookFault::Member("decision", expected));
        }
    })
}

pub(super) fn updated_input(answer: Object<'_>) -> Result<Option<RawJson>, HookFault> {
    let Some(value) = answer.get("updatedInput") else {
        return Ok(None);
    };
    match value.as_object() {
        // As in an answer of the host (WIRE-PERM-041).
        Some(members) if members.is_empty() => Ok(None),
        Some(_) => Ok(Some(RawJson::from_value(value))),
        None => Err(HookFault::Member("updatedInput", "an object")),
    }
}

pub(super) fn updates(answer: Object<'_>) -> Result<Vec<PermissionUpdate>, HookFault> {
    let Some(list) = answer.get("updatedPermissions") else {
        return Ok(Vec::new());
    };
    let list = list.as_array();
    let updates = list.and_then(|list| list.iter().map(PermissionUpdate::from_value).collect());
    updates.ok_or(HookFault::Member(
        "updatedPermissions",
        "a list of permission updates",
    ))
}

fn go_on(answer: Object<'_>) -> Result<bool, HookFault> {
    match answer.get("continue") {
        None => Ok(false),
        Some(flag) => flag
            .as_bool()
            .ok_or(HookFault::Member("continue", "true or false")),
    }
}

/// The words of a failed hook, with its event in front.
pub(super) fn failure(event: HookEvent, fault: &HookFault) -> String {
    format!("a {} hook failed: {fault}", event.as_str())
}
