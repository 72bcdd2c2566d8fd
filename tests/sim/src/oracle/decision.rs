//! What an answer to a question decides (WIRE-PERM-040 to 044), and what a hook
//! says about one.

use super::json::{items, member, members, text, text_member};
use super::told::Body;
use super::tree::is_sound;
use agentx_core::hook::{HookEnd, HookReport};
use agentx_core::schema::permission::{
    Behavior, Destination, DirectoriesAction, PermissionMode, PermissionUpdate, RulesAction,
};

/// One permission update, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Update {
    pub(crate) kind: String,
    /// What its rules do.
    pub(crate) behavior: String,
    /// Where it is kept.
    pub(crate) place: String,
    /// A mode, directories, or rules as `Tool` or `Tool(content)`.
    pub(crate) what: Vec<String>,
}

impl Update {
    /// Reads one update, strictly.
    fn read(raw: &[u8]) -> Option<Self> {
        if raw.first() != Some(&b'{') {
            return None;
        }
        let kind = text_member(raw, "type")?.into_owned();
        let place = text_member(raw, "destination")?.into_owned();
        Destination::from_word(&place)?;
        let mut behavior = String::new();
        let what = if RulesAction::from_word(&kind).is_some() {
            behavior = text_member(raw, "behavior")?.into_owned();
            Behavior::from_word(&behavior)?;
            list(member(raw, "rules")?, rule)?
        } else if DirectoriesAction::from_word(&kind).is_some() {
            list(member(raw, "directories")?, |item| {
                text(item).map(Into::into)
            })?
        } else if kind == "setMode" {
            let mode = text_member(raw, "mode")?.into_owned();
            PermissionMode::from_word(&mode)?;
            vec![mode]
        } else {
            return None;
        };
        Some(Self {
            kind,
            behavior,
            place,
            what,
        })
    }

    /// An update of the agent.
    pub(crate) fn of(update: &PermissionUpdate) -> Self {
        let place = update.destination().as_str().to_string();
        match update {
            PermissionUpdate::Rules(update) => Self {
                kind: update.action.as_str().to_string(),
                behavior: update.behavior.as_str().to_string(),
                place,
                what: (update.rules.iter())
                    .map(|rule| spelled(&rule.tool_name, rule.rule_content.as_deref()))
                    .collect(),
            },
            PermissionUpdate::Mode(update) => Self {
                kind: "setMode".to_string(),
                behavior: String::new(),
                place,
                what: vec![update.mode.as_str().to_string()],
            },
            PermissionUpdate::Directories(update) => Self {
                kind: update.action.as_str().to_string(),
                behavior: String::new(),
                place,
                what: update.directories.clone(),
            },
        }
    }

    /// Whether it goes to a file of settings.
    pub(crate) fn is_persisted(&self) -> bool {
        matches!(
            &*self.place,
            "userSettings" | "projectSettings" | "localSettings"
        )
    }
}

fn spelled(tool: &str, content: Option<&str>) -> String {
    match content {
        Some(content) => format!("{tool}({content})"),
        None => tool.to_string(),
    }
}

fn list(raw: &[u8], read: impl Fn(&[u8]) -> Option<String>) -> Option<Vec<String>> {
    if raw.first() != Some(&b'[') {
        return None;
    }
    items(raw).map(read).collect()
}

fn rule(raw: &[u8]) -> Option<String> {
    let tool = text_member(raw, "toolName")?;
    let content = match member(raw, "ruleContent") {
        Some(content) => Some(text(content)?),
        None => None,
    };
    Some(spelled(&tool, content.as_deref()))
}

/// A list of updates; `None` if one of them is invalid (WIRE-PERM-044).
fn updates(raw: &[u8]) -> Option<Vec<Update>> {
    if raw.first() != Some(&b'[') {
        return None;
    }
    items(raw).map(Update::read).collect()
}

/// What an answer of a host decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Allow {
        /// The input to run with; `None` is the one that was asked about.
        input: Option<Vec<u8>>,
        /// The updates to apply.
        updates: Vec<Update>,
    },
    Deny {
        message: String,
        interrupt: bool,
    },
    /// It decides nothing, which is a denial (WIRE-PERM-002).
    Fault,
}

impl Decision {
    /// Reads an answer. `reference`: whether an allowance may come without an input.
    pub(crate) fn of(body: &Body, reference: bool) -> Self {
        let Body::Success(Some(payload)) = body else {
            return Self::Fault;
        };
        Self::read(payload.as_bytes(), reference).unwrap_or(Self::Fault)
    }

    fn read(payload: &[u8], reference: bool) -> Option<Self> {
        if payload.first() != Some(&b'{') {
            return None;
        }
        if let Some(named) = member(payload, "toolUseID") {
            text(named)?;
        }
        match &*text_member(payload, "behavior")? {
            "allow" => {
                let input = member(payload, "updatedInput");
                let object = input.filter(|input| input.first() == Some(&b'{'));
                if object.is_none() && (input.is_some() || !reference) {
                    return None;
                }
                let replaces = object.filter(|input| members(input).next().is_some());
                let list = member(payload, "updatedPermissions");
                Some(Self::Allow {
                    input: replaces.map(Into::into),
                    updates: list.and_then(updates).unwrap_or_default(),
                })
            }
            "deny" => Some(Self::Deny {
                message: text_member(payload, "message")?.into_owned(),
                interrupt: match member(payload, "interrupt") {
                    None | Some(b"false") => false,
                    Some(b"true") => true,
                    Some(_) => return None,
                },
            }),
            _ => None,
        }
    }
}

/// What a hook says about a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HookSays {
    Pass(Option<Vec<u8>>),
    Allow(Option<Vec<u8>>),
    /// It denies, or has failed.
    Deny,
}

/// The members that an answer of a hook may have.
const HOOK: [&[u8]; 6] = [
    b"decision",
    b"message",
    b"updatedInput",
    b"updatedPermissions",
    b"additionalContext",
    b"continue",
];

impl HookSays {
    /// Reads how a hook ended (configuration, "hook command"; DEC-33).
    pub(crate) fn of(report: &HookReport) -> Self {
        match report.end {
            HookEnd::Exited(0) => Self::read(report.answer.trim().as_bytes()).unwrap_or(Self::Deny),
            _ => Self::Deny,
        }
    }

    /// Whether a hook of any event surely denies, and has not just failed.
    pub(crate) fn denies(report: &HookReport) -> bool {
        let answer = report.answer.trim().as_bytes();
        match report.end {
            HookEnd::Exited(0) => {
                is_sound(answer) && text_member(answer, "decision").as_deref() == Some("deny")
            }
            HookEnd::Exited(2) => true,
            _ => false,
        }
    }

    fn read(answer: &[u8]) -> Option<Self> {
        if answer.is_empty() {
            return Some(Self::Pass(None));
        }
        let sound = answer.first() == Some(&b'{') && is_sound(answer);
        let known = |(name, value): (&[u8], &[u8])| {
            HOOK.contains(&name)
                && match name {
                    b"continue" => matches!(value, b"true" | b"false"),
                    b"updatedInput" => value.first() == Some(&b'{'),
                    b"updatedPermissions" => updates(value).is_some(),
                    _ => text(value).is_some(),
                }
        };
        if !sound || !members(answer).all(known) {
            return None;
        }
        let input = member(answer, "updatedInput");
        let input = input.filter(|input| members(input).next().is_some());
        let input = input.map(Into::into);
        match text_member(answer, "decision").as_deref() {
            None | Some("pass") => Some(Self::Pass(input)),
            Some("allow") => Some(Self::Allow(input)),
            _ => None,
        }
    }
}

/// Whether two texts are the same JSON.
pub(crate) fn same_json(one: &[u8], other: &[u8]) -> bool {
    let read = |text| serde_json::from_slice::<serde_json::Value>(text).ok();
    one == other || read(one).is_some_and(|one| Some(one) == read(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(payload: &str) -> Decision {
        Decision::of(&Body::Success(Some(payload.to_string())), false)
    }

    // covers: WIRE-PERM-040, WIRE-PERM-044
    #[test]
    fn answers_are_read_as_the_catalogue_says() {
        let allow = |input: Option<&str>| Decision::Allow {
            input: input.map(|input| input.as_bytes().to_vec()),
            updates: Vec::new(),
        };
        assert_eq!(
            read(r#"{"behavior":"allow","updatedInput":{}}"#),
            allow(None)
        );
        assert_eq!(
            read(r#"{"behavior":"allow","updatedInput":{"a":1},"updatedPermissions":[{}]}"#),
            allow(Some(r#"{"a":1}"#)),
            "an invalid list is dropped whole"
        );
        for fault in [
            "[]",
            "{}",
            r#"{"behavior":"allow"}"#,
            r#"{"behavior":"allow","updatedInput":null}"#,
            r#"{"behavior":"maybe","updatedInput":{}}"#,
            r#"{"behavior":"allow","updatedInput":{},"toolUseID":null}"#,
            r#"{"behavior":"deny"}"#,
            r#"{"behavior":"deny","message":"no","interrupt":1}"#,
        ] {
            assert_eq!(read(fault), Decision::Fault, "{fault}");
        }
        let open = Body::Success(Some(r#"{"behavior":"allow"}"#.to_string()));
        assert_eq!(Decision::of(&open, true), allow(None));
        let update = r#"{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Do"}],"behavior":"allow","destination":"session"}]}"#;
        let Decision::Allow { updates, .. } = read(update) else {
            panic!("an allowance")
        };
        assert_eq!(updates[0].what, ["Do"]);
        assert!(!updates[0].is_persisted());
    }

    #[test]
    fn a_hook_that_is_not_understood_denies() {
        let report = |end, answer: &str| HookReport {
            end,
            answer: answer.to_string(),
            ..HookReport::failed("")
        };
        let said = |answer| HookSays::of(&report(HookEnd::Exited(0), answer));
        assert_eq!(said(" "), HookSays::Pass(None));
        assert_eq!(said(r#"{"decision":"allow"}"#), HookSays::Allow(None));
        for wrong in ["x", r#"{"decison":"deny"}"#, r#"{"decision":"ask"}"#] {
            assert_eq!(said(wrong), HookSays::Deny);
        }
        let failed = report(HookEnd::Exited(1), r#"{"decision":"allow"}"#);
        assert_eq!(HookSays::of(&failed), HookSays::Deny);
    }
}
