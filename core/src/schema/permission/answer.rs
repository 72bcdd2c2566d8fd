//! The host's answer to `can_use_tool` (WIRE-PERM-040 to 044).

use super::PermissionUpdate;
use crate::json::{Object, RawJson, ScanLimits, Scanner, Value};
use crate::schema::declare::{Fault, Json as _, Member, Shape, open_faults, words};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// What the host decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermissionAnswer {
    /// The call runs.
    Allow(Allow),
    /// The call does not run.
    Deny(Deny),
}

/// Leave to run one call. Only a host's answer that passed every check gives
/// one, so no failure can turn into it (WIRE-PERM-002).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allow {
    updated_input: Option<RawJson>,
    updates: Vec<PermissionUpdate>,
    updates_dropped: bool,
    classification: Classification,
}

impl Allow {
    /// The input that replaces the original whole; `None` when the original
    /// stands (WIRE-PERM-041). Always an object with members.
    #[must_use]
    pub const fn updated_input(&self) -> Option<&RawJson> {
        self.updated_input.as_ref()
    }

    /// Permission updates to apply, in order (WIRE-PERM-030).
    #[must_use]
    pub fn updates(&self) -> &[PermissionUpdate] {
        &self.updates
    }

    /// Whether the answer had a list of updates that was dropped because
    /// something in it was invalid: worth a warning (WIRE-PERM-044).
    #[must_use]
    pub const fn updates_dropped(&self) -> bool {
        self.updates_dropped
    }

    /// How the host filed its decision (WIRE-PERM-043).
    #[must_use]
    pub const fn classification(&self) -> Classification {
        self.classification
    }
}

/// A refusal (WIRE-PERM-042).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deny {
    /// What the model is told.
    pub message: String,
    /// Whether the turn ends as well.
    pub interrupt: bool,
    /// How the host filed its decision (WIRE-PERM-043).
    pub classification: Classification,
}

words! {
    /// Telemetry of a decision; changes nothing.
    pub enum Classification {
        /// For this once.
        UserTemporary = "user_temporary",
        /// For good.
        UserPermanent = "user_permanent",
        /// Refused.
        UserReject = "user_reject",
    }
}

/// Why an answer decides nothing; the call is denied then (WIRE-PERM-044).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerFault {
    /// A success without a payload (WIRE-PERM-051).
    NoPayload,
    /// The payload is no object.
    NotAnObject,
    /// `behavior` is neither `allow` nor `deny`.
    UnknownBehavior,
    /// This member is missing.
    Missing(&'static str),
    /// This member is null or of another type.
    WrongType(&'static str),
}

impl fmt::Display for AnswerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPayload => f.write_str("the answer has no payload"),
            Self::NotAnObject => f.write_str("the answer's payload is not an object"),
            Self::UnknownBehavior => f.write_str("behavior must be allow or deny"),
            Self::Missing(member) => write!(f, "the answer has no {member}"),
            Self::WrongType(member) => write!(f, "the answer's {member} has the wrong type"),
        }
    }
}

impl core::error::Error for AnswerFault {}

impl PermissionAnswer {
    /// What a payload looks like of which nothing is dropped but unknown members.
    pub const SHAPE: Shape = Shape::Open(&Shape::OneOf(&[
        Shape::Object(&ALLOW),
        Shape::Object(&DENY),
    ]));

    /// Reads the payload of a success. Unknown members are dropped.
    ///
    /// # Errors
    ///
    /// [`AnswerFault`]: the payload is no decision, and the call must be denied.
    pub fn parse(payload: Option<&RawJson>) -> Result<Self, AnswerFault> {
        Self::read(payload, false)
    }

    /// The same in the profile `reference`, where an allow without
    /// `updatedInput` takes the original input.
    ///
    /// # Errors
    ///
    /// As [`PermissionAnswer::parse`].
    pub fn parse_reference(payload: Option<&RawJson>) -> Result<Self, AnswerFault> {
        Self::read(payload, true)
    }

    fn read(payload: Option<&RawJson>, reference: bool) -> Result<Self, AnswerFault> {
        let payload = payload.ok_or(AnswerFault::NoPayload)?;
        let mut scanner = Scanner::new();
        let answer = scanner
            .scan(payload.as_str().as_bytes(), &ScanLimits::DEFAULT)
            .ok()
            .and_then(Value::as_object)
            .ok_or(AnswerFault::NotAnObject)?;
        let behavior = answer.get("behavior");
        let behavior = behavior.ok_or(AnswerFault::Missing("behavior"))?;
        let behavior = behavior.as_str().ok_or(AnswerFault::UnknownBehavior)?;
        if behavior == *"allow" {
            allow(answer, reference).map(Self::Allow)
        } else if behavior == *"deny" {
            deny(answer).map(Self::Deny)
        } else {
            Err(AnswerFault::UnknownBehavior)
        }
    }
}

const ALLOW: [Member; 5] = [
    Member::constant("behavior", "\"allow\""),
    TOOL_USE_ID,
    Member::required("updatedInput", Shape::Map(&Shape::Any)),
    Member::optional("updatedPermissions", Shape::List(&PermissionUpdate::SHAPE)),
    CLASSIFICATION,
];

const DENY: [Member; 5] = [
    Member::constant("behavior", "\"deny\""),
    TOOL_USE_ID,
    Member::required("message", Shape::String),
    Member::optional("interrupt", Shape::Bool),
    CLASSIFICATION,
];

/// Never compared with the call's id, only checked in type (WIRE-PERM-010).
const TOOL_USE_ID: Member = Member::optional("toolUseID", Shape::String);

const CLASSIFICATION: Member = Member::optional("decisionClassification", Classification::SHAPE);

/// Holds an answer against its form. What is wrong in these two decides
/// nothing (WIRE-PERM-043, WIRE-PERM-044).
fn check(answer: Object<'_>, form: &[Member]) -> Result<(), AnswerFault> {
    let fault = open_faults(answer, form).find_map(|fault| match fault {
        Fault::Unknown(..) | Fault::Wrong("updatedPermissions" | "decisionClassification", _) => {
            None
        }
        Fault::Missing(member) => Some(AnswerFault::Missing(member)),
        Fault::Wrong(member, _) => Some(AnswerFault::WrongType(member)),
    });
    fault.map_or(Ok(()), Err)
}

fn allow(answer: Object<'_>, reference: bool) -> Result<Allow, AnswerFault> {
    match check(answer, &ALLOW) {
        Err(AnswerFault::Missing("updatedInput")) if reference => {}
        checked => checked?,
    }
    let input = answer.get("updatedInput");
    let replaces = |input: Value<'_>| input.as_object().is_some_and(|members| !members.is_empty());
    let input = input.filter(|input| replaces(*input));
    let updates = match answer.get("updatedPermissions") {
        None => Some(Vec::new()),
        Some(list) => updates(list),
    };
    Ok(Allow {
        updated_input: input.map(RawJson::from_value),
        updates_dropped: updates.is_none(),
        updates: updates.unwrap_or_default(),
        classification: classification(answer).unwrap_or(Classification::UserTemporary),
    })
}

/// One invalid update makes the whole list invalid (WIRE-PERM-044).
fn updates(list: Value<'_>) -> Option<Vec<PermissionUpdate>> {
    let list = list.as_array()?;
    list.iter().map(PermissionUpdate::from_value).collect()
}

fn deny(answer: Object<'_>) -> Result<Deny, AnswerFault> {
    check(answer, &DENY)?;
    let message = answer.get("message").and_then(Value::as_str);
    Ok(Deny {
        message: message
            .and_then(|text| text.decode().ok())
            .ok_or(AnswerFault::WrongType("message"))?
            .into_owned(),
        interrupt: answer.get("interrupt").and_then(Value::as_bool) == Some(true),
        classification: classification(answer).unwrap_or(Classification::UserReject),
    })
}

/// An invalid value counts as absent (WIRE-PERM-043).
fn classification(answer: Object<'_>) -> Option<Classification> {
    let word = answer.get("decisionClassification")?.as_str()?;
    Classification::from_word(&word.decode_lossy())
}
