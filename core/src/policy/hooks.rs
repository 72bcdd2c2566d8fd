//! `hooks` of a settings file (configuration, "hook command").

use super::limits;
use super::settings::{command, timeout};
use crate::hook::HookEvent;
use crate::json::closed::{self, Fault, Fields};
use crate::json::{RawJson, Value};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

/// A hook command as a settings file declares it: the types are right, the rest
/// is for whoever runs it to judge.
#[derive(Clone, PartialEq, Eq)]
pub struct HookSettings {
    /// Where it stands in its file, for messages: `hooks.Stop[0].hooks[1]`.
    pub place: String,
    /// Where its matcher stands.
    pub matcher_place: String,
    /// What it is told of.
    pub event: HookEvent,
    /// The tools it is for: empty or `*` for all, else a regular expression.
    pub matcher: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// How long it may run.
    pub timeout: Duration,
}

/// Without the command, whose arguments may hold secrets.
impl fmt::Debug for HookSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookSettings")
            .field("place", &self.place)
            .field("event", &self.event)
            .field("matcher", &self.matcher)
            .field("words", &self.command.len())
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// The hooks of one event, as they were written.
pub(super) type Written = (HookEvent, Vec<RawJson>);

/// Reads `hooks`.
pub(super) fn read(root: &Fields<'_>) -> Result<(Vec<HookSettings>, Vec<Written>), Fault> {
    let (mut hooks, mut written) = (Vec::new(), Vec::new());
    let Some(value) = root.get("hooks") else {
        return Ok((hooks, written));
    };
    let Some(events) = value.as_object() else {
        return Err(root.fault("hooks", "an object is expected"));
    };
    for (name, value) in events {
        let Some(event) = HookEvent::from_word(&name.decode_lossy()) else {
            let words: Vec<&str> = HookEvent::ALL.iter().map(|event| event.as_str()).collect();
            let what = format!("unknown event; expected one of {}", words.join(", "));
            return Err(root.fault("hooks", what));
        };
        let place = format!("hooks.{}", event.as_str());
        let groups = value
            .as_array()
            .ok_or_else(|| Fault::new(&place, "an array is expected"))?;
        let mut texts = Vec::new();
        for (at, group) in groups.iter().enumerate() {
            hooks.extend(read_group(group, format!("{place}[{at}]"), event)?);
            texts.push(RawJson::from_value(group));
        }
        written.push((event, texts));
    }
    if hooks.len() > limits::HOOKS {
        let what = format_args!("at most {} hooks are expected", limits::HOOKS);
        return Err(root.fault("hooks", what));
    }
    Ok((hooks, written))
}

/// A matcher, and the hooks that it is for.
fn read_group(
    value: Value<'_>,
    place: String,
    event: HookEvent,
) -> Result<Vec<HookSettings>, Fault> {
    let group = Fields::open(value, place, &["matcher", "hooks"])?;
    let matcher = group.text("matcher")?.unwrap_or_default();
    if !event.is_about_tool() && !matches!(&*matcher, "" | "*") {
        let what = "this event is about no tool; expected it absent, empty or `*`";
        return Err(group.fault("matcher", what));
    }
    group.need("hooks")?;
    let hooks = group.array("hooks")?.into_iter();
    hooks
        .map(|(value, place)| {
            let fields = Fields::open(value, place.clone(), &["type", "command", "timeout_ms"])?;
            if closed::text(fields.need("type")?, &fields.place("type"))? != "command" {
                return Err(fields.fault("type", "expected command"));
            }
            Ok(HookSettings {
                place,
                matcher_place: group.place("matcher"),
                event,
                matcher: matcher.clone(),
                command: command(&fields)?,
                timeout: timeout(&fields)?,
            })
        })
        .collect()
}
