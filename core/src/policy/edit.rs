//! Permission updates in the text of a settings file (WIRE-PERM-030).
//!
//! Only what an update changes is written anew: every other member, number and
//! blank of the file stays as it was.

use super::resolve;
use super::settings::{Settings, member};
use super::spelling::{self, RuleFault};
use crate::json::closed::Fault;
use crate::json::{Object, ScanLimits, Scanner, Value, Writer};
use crate::schema::permission::{
    Destination, DirectoriesAction, DirectoriesUpdate, ModeUpdate, PermissionUpdate, RulesAction,
    RulesUpdate,
};
use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

/// What a file without any settings is taken for.
const EMPTY: &str = "{\n}\n";

/// Why updates cannot be stored; nothing is to be written then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditFault {
    /// The file as it is, or as it would be, breaks a rule.
    File(Fault),
    /// A rule that no settings file could hold.
    Rule(RuleFault),
}

impl fmt::Display for EditFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(fault) => fault.fmt(f),
            Self::Rule(fault) => write!(f, "a rule cannot be written: {fault}"),
        }
    }
}

impl core::error::Error for EditFault {}

/// The text of a settings file after some updates, in order. A file that is not
/// there yet is `None`; `cwd` is where the relative paths of updates start that
/// go to the user's file.
///
/// # Errors
///
/// A file that breaks a rule, before or after; a rule that cannot be written.
pub fn edit<'u>(
    file: Option<&str>,
    updates: impl IntoIterator<Item = &'u PermissionUpdate>,
    cwd: &str,
) -> Result<String, EditFault> {
    let mut text = file.unwrap_or(EMPTY).to_owned();
    let check = |text: &str| match Settings::read(text.as_bytes()) {
        Ok(_) => Ok(()),
        Err(fault) => Err(EditFault::File(fault)),
    };
    check(&text)?;
    for update in updates {
        text = match update {
            PermissionUpdate::Rules(update) => rules(&text, update)?,
            PermissionUpdate::Mode(update) => mode(&text, update)?,
            PermissionUpdate::Directories(update) => directories(&text, update, cwd)?,
        };
    }
    check(&text)?;
    Ok(text)
}

fn rules(text: &str, update: &RulesUpdate) -> Result<String, EditFault> {
    let spelled = |rule| spelling::write(rule, update.behavior).map_err(EditFault::Rule);
    let given: Vec<String> = match update.action {
        // What could never be written is not there to be taken out.
        RulesAction::Remove => {
            let rules = update.rules.iter();
            rules.filter_map(|rule| spelled(rule).ok()).collect()
        }
        RulesAction::Add | RulesAction::Replace => {
            update.rules.iter().map(spelled).collect::<Result<_, _>>()?
        }
    };
    let change = match update.action {
        RulesAction::Add => Change::Add,
        RulesAction::Replace => Change::Replace,
        RulesAction::Remove => Change::Remove,
    };
    change_list(text, member(update.behavior), change, &given)
}

fn directories(text: &str, update: &DirectoriesUpdate, cwd: &str) -> Result<String, EditFault> {
    let given: Vec<String> = if update.destination == Destination::UserSettings {
        // The user's file is read in other folders, too.
        let paths = update.directories.iter();
        paths.map(|path| resolve(cwd, path)).collect()
    } else {
        update.directories.clone()
    };
    let change = match update.action {
        DirectoriesAction::Add => Change::Add,
        DirectoriesAction::Remove => Change::Remove,
    };
    change_list(text, "additionalDirectories", change, &given)
}

fn mode(text: &str, update: &ModeUpdate) -> Result<String, EditFault> {
    put(text, "defaultMode", |_, _| {
        Some(quoted(update.mode.as_str()))
    })
}

/// What happens to a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Add,
    Replace,
    Remove,
}

fn change_list(
    text: &str,
    name: &str,
    change: Change,
    given: &[String],
) -> Result<String, EditFault> {
    put(text, name, |old, indent| {
        let kept = |value: &Value<'_>| match change {
            Change::Add => true,
            Change::Replace => false,
            Change::Remove => !given.iter().any(|item| is(*value, item)),
        };
        let there: Vec<Value<'_>> = old
            .and_then(Value::as_array)
            .map(|list| list.iter().collect())
            .unwrap_or_default();
        let mut items: Vec<String> = there
            .iter()
            .filter(|value| kept(value))
            .map(|value| value.raw().to_owned())
            .collect();
        let before = items.len();
        for item in given.iter().filter(|_| change != Change::Remove) {
            let item_text = quoted(item);
            let known = change == Change::Add && there.iter().any(|value| is(*value, item));
            if !known && !items.contains(&item_text) {
                items.push(item_text);
            }
        }
        let same = items.len() == before && before == there.len() && change != Change::Replace;
        // A list that is not there and would be empty is not needed either.
        let needless = old.is_none() && items.is_empty();
        (!same && !needless).then(|| list(&items, old, indent))
    })
}

fn is(value: Value<'_>, text: &str) -> bool {
    value.as_str().is_some_and(|found| found == *text)
}

/// A string as JSON.
fn quoted(text: &str) -> String {
    let mut w = Writer::new();
    w.string(text);
    String::from_utf8_lossy(&w.finish()).into_owned()
}

/// A list in the form that the old one had, else with a line for each item
/// where the object around it has lines.
fn list(items: &[String], old: Option<Value<'_>>, indent: &str) -> String {
    let raw = old.map_or("", Value::raw);
    let first = gap(raw);
    let (between, last) = match (raw.contains('\n'), old) {
        (true, _) if first.contains('\n') => (first.to_owned(), last_gap(raw).to_owned()),
        (false, None) if indent.contains('\n') => (format!("{indent}  "), indent.to_owned()),
        _ => (String::new(), String::new()),
    };
    if items.is_empty() {
        return "[]".to_owned();
    }
    if between.is_empty() {
        return format!("[{}]", items.join(", "));
    }
    format!("[{between}{}{last}]", items.join(&format!(",{between}")))
}

/// The blanks after the opening bracket of a container.
fn gap(container: &str) -> &str {
    let inside = container.get(1..).unwrap_or_default();
    let end = inside.len() - inside.trim_start_matches(BLANKS).len();
    inside.get(..end).unwrap_or_default()
}

/// The blanks before its closing bracket.
fn last_gap(container: &str) -> &str {
    let end = container.len().saturating_sub(1);
    let inside = container.get(..end).unwrap_or_default();
    let start = inside.trim_end_matches(BLANKS).len();
    inside.get(start..).unwrap_or_default()
}

const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];

/// Puts what `make` gives in the place of a member of `permissions`. It is told
/// the old value and what stands before each member, such as a newline and
/// blanks; `None` changes nothing.
fn put(
    text: &str,
    name: &str,
    make: impl FnOnce(Option<Value<'_>>, &str) -> Option<String>,
) -> Result<String, EditFault> {
    let mut scanner = Scanner::new();
    let refuse = |what: &dyn fmt::Display| EditFault::File(Fault::new("", what));
    let root = scanner.scan(text.as_bytes(), &ScanLimits::DEFAULT);
    let root = root.map_err(|error| refuse(&error))?.as_object();
    let root = root.ok_or_else(|| refuse(&"an object is expected"))?;
    let permissions = root.get("permissions").and_then(Value::as_object);
    let (place, new) = match permissions {
        Some(object) => {
            let before = before_members(object);
            let old = object.get(name);
            let Some(value) = make(old, &before) else {
                return Ok(text.to_owned());
            };
            match old {
                Some(old) => (span(old), value),
                None => inserted(object, name, &value),
            }
        }
        None => {
            let outer = before_members(root);
            let inner = match outer.contains('\n') {
                true => format!("{outer}  "),
                false => String::new(),
            };
            let Some(value) = make(None, &inner) else {
                return Ok(text.to_owned());
            };
            let close = if inner.is_empty() { "" } else { &*outer };
            let object = format!("{{{inner}{}: {value}{close}}}", quoted(name));
            inserted(root, "permissions", &object)
        }
    };
    let (head, tail) = (text.get(..place.start), text.get(place.end..));
    Ok([head.unwrap_or_default(), &new, tail.unwrap_or_default()].concat())
}

fn span(value: Value<'_>) -> Range<usize> {
    let start = value.start();
    start..start + value.raw().len()
}

/// What stands before each member of an object: what stands before the first,
/// or where there is none, a line more indented than the closing bracket.
fn before_members(object: Object<'_>) -> String {
    let raw = object.value().raw();
    if object.is_empty() && raw.contains('\n') {
        return format!("{}  ", last_gap(raw));
    }
    gap(raw).to_string()
}

/// A new last member: the place in the text, and what is to stand there.
fn inserted(object: Object<'_>, name: &str, value: &str) -> (Range<usize>, String) {
    let raw = object.value().raw();
    let start = object.value().start();
    let closing = start + raw.len().saturating_sub(1);
    let last = closing - last_gap(raw).len();
    let before = before_members(object);
    let name = quoted(name);
    if object.is_empty() {
        return (
            start + 1..last.max(start + 1),
            format!("{before}{name}: {value}"),
        );
    }
    let before = if before.contains('\n') { &*before } else { " " };
    (last..last, format!(",{before}{name}: {value}"))
}

#[cfg(test)]
mod tests;
