//! The flag layer as a host changes it while the session runs
//! (`apply_flag_settings`).

use super::settings::{MEMBERS, Settings};
use crate::guard::Guard;
use crate::json::closed::{self, Fault, Fields};
use crate::json::{RawJson, ScanLimits, Scanner, Value, Writer};
use alloc::string::String;
use alloc::vec::Vec;

/// Members that a running session heeds anew. The others are built into it when
/// it starts.
const LIVE: [&str; 1] = ["permissions"];

/// What a host is told that wants to change another one.
const FIXED: &str =
    "is fixed while the session runs; start a new session with --settings to change it";

/// The flag layer after a change: each member of `given` takes the place of the
/// whole member of that name, and null takes the member away.
///
/// # Errors
///
/// Something else than an object, a member that is fixed or not known, or a text
/// that no settings file could hold. Of a value only the text of a rule is
/// shown, without `keys`.
pub fn change_flag(
    old: Option<&Settings>,
    given: &RawJson,
    keys: &Guard,
) -> Result<Settings, Fault> {
    let mut scanner = Scanner::new();
    let given = members(&mut scanner, given)?;
    for (name, _) in &given {
        let fixed = MEMBERS.contains(&name.as_str()) && !LIVE.contains(&name.as_str());
        if fixed {
            return Err(Fault::new(name, FIXED));
        }
    }
    let mut scanner = Scanner::new();
    let kept = match old {
        Some(old) => members(&mut scanner, old.text())?,
        None => Vec::new(),
    };
    let is_given = |name: &String| given.iter().any(|(new, _)| new == name);
    let kept = kept.iter().filter(|(name, _)| !is_given(name));
    let new = given.iter().filter(|(_, value)| !value.is_null());
    let mut w = Writer::new();
    w.begin_object();
    for (name, value) in kept.chain(new) {
        w.key(name);
        w.raw(&RawJson::from_value(*value));
    }
    w.end_object();
    Settings::read_guarded(&w.finish(), keys)
}

/// The members of an object, by their decoded names.
fn members<'a>(
    scanner: &'a mut Scanner,
    object: &'a RawJson,
) -> Result<Vec<(String, Value<'a>)>, Fault> {
    let text = object.as_str().as_bytes();
    let root = scanner
        .scan(text, &ScanLimits::DEFAULT)
        .map_err(|error| closed::unreadable(error, text))?;
    Fields::open(root, String::new(), &MEMBERS)?;
    let members = root.as_object().into_iter().flatten();
    Ok(members
        .map(|(name, value)| (name.decode_lossy().into_owned(), value))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString as _;

    fn raw(text: &str) -> RawJson {
        RawJson::parse(text).expect("JSON")
    }

    fn changed(old: &str, given: &str) -> Result<String, String> {
        let old = Settings::read(old.as_bytes()).expect("settings");
        let keys = Guard::new(["sk-secret-key"]).expect("few literals");
        change_flag(Some(&old), &raw(given), &keys)
            .map(|settings| settings.text().as_str().to_string())
            .map_err(|fault| fault.to_string())
    }

    const OLD: &str = r#"{"permissions":{"allow":["Read"],"deny":["Write"]},"tools":[]}"#;

    // covers: ACC-10
    #[test]
    fn a_member_is_replaced_whole_and_null_takes_it_away() {
        assert_eq!(
            changed(OLD, r#"{"permissions":{"ask":["Edit"]}}"#).as_deref(),
            Ok(r#"{"tools":[],"permissions":{"ask":["Edit"]}}"#)
        );
        assert_eq!(
            changed(OLD, r#"{"permissions":null}"#).as_deref(),
            Ok(r#"{"tools":[]}"#)
        );
        assert_eq!(changed(OLD, "{}").as_deref(), Ok(OLD));
        let fresh = change_flag(None, &raw(r#"{"permissions":{}}"#), &Guard::default());
        assert_eq!(
            fresh.map(|settings| settings.text().as_str().to_string()),
            Ok(r#"{"permissions":{}}"#.to_string())
        );
    }

    // covers: ACC-10
    #[test]
    fn what_cannot_be_live_or_is_no_setting_is_refused_by_name() {
        for member in ["hooks", "tools", "mcpServers"] {
            for value in ["{}", "[]", "null"] {
                assert_eq!(
                    changed(OLD, &format!(r#"{{"{member}":{value}}}"#)),
                    Err(format!("{member}: {FIXED}"))
                );
            }
        }
        for (given, fault) in [
            (r#"{"model":"x"}"#, r#"unknown member "model""#),
            (r#"{"mode\u006c":null}"#, r#"unknown member "model""#),
            ("[]", "an object is expected"),
            (
                r#"{"permissions":[]}"#,
                "permissions: an object is expected",
            ),
            (
                r#"{"permissions":{"allow":["Bash(sk-secret-key"]}}"#,
                r#"permissions.allow[0]: rule "Bash([redacted]": "#,
            ),
            (
                r#"{"permissions":{"defaultMode":"auto"}}"#,
                "permissions.defaultMode: expected one of ",
            ),
        ] {
            let told = changed(OLD, given).expect_err(given);
            assert!(told.starts_with(fault), "{given}: {told}");
        }
    }
}
