//! Words that options of the profile `reference` take.

use crate::money;
use crate::options::{ToolChoice, words};
use agentx_core::schema::Money;
use agentx_core::schema::permission::PermissionMode;

/// The mode that is taken as `default` (configuration, "Profiles").
pub(super) const AUTO: &str = "auto";

/// The word of `--tools` for all there are.
const ALL_TOOLS: &str = "default";

/// What `--thinking` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thinking {
    /// As the provider does it.
    AsProvided,
    /// None at all.
    Disabled,
}

/// A settings file that `--setting-sources` may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// That of the user.
    User,
    /// That of the project.
    Project,
    /// That of the project on this machine.
    Local,
}

impl Source {
    /// All there are.
    pub(crate) const ALL: [Self; 3] = [Self::User, Self::Project, Self::Local];
}

/// The settings files that count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sources(pub(super) Vec<Source>);

/// Items of a list, separated by commas; an empty text has none.
pub(super) fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
}

/// Rules of a list: separated by commas or blanks that stand outside of brackets.
pub(super) fn rules(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let parts = text.split(|character: char| {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (character == ',' || character.is_whitespace())
    });
    let parts = parts.filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

pub(super) fn thinking(word: &str) -> Result<Thinking, String> {
    match word {
        "adaptive" | "enabled" => Ok(Thinking::AsProvided),
        "disabled" => Ok(Thinking::Disabled),
        _ => Err("expected adaptive, enabled or disabled".into()),
    }
}

/// A number of tokens.
pub(super) fn tokens(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}

/// The host answers questions over stdin, and nobody else does (DEC-31).
pub(super) fn prompt_tool(word: &str) -> Result<(), String> {
    match word {
        "stdio" => Ok(()),
        _ => Err("expected stdio: questions go to the host, not to a tool".into()),
    }
}

/// Questions can be switched off (DEC-31).
pub(super) fn prompts(word: &str) -> Result<(), String> {
    match word {
        "none" => Ok(()),
        _ => Err("expected none, which denies what would be asked".into()),
    }
}

pub(super) fn sources(text: &str) -> Result<Sources, String> {
    let sources = items(text).map(|word| match word {
        "user" => Ok(Source::User),
        "project" => Ok(Source::Project),
        "local" => Ok(Source::Local),
        _ => Err("expected some of user, project, local".to_owned()),
    });
    sources.collect::<Result<_, _>>().map(Sources)
}

/// Names of tools; hosts also name some that we do not have.
pub(super) fn tools(text: &str) -> Result<ToolChoice, String> {
    if text.trim() == ALL_TOOLS {
        return Ok(ToolChoice::All);
    }
    Ok(ToolChoice::Only(items(text).map(str::to_owned).collect()))
}

pub(super) fn permission_mode(word: &str) -> Result<PermissionMode, String> {
    match word {
        AUTO => Ok(PermissionMode::Default),
        _ => words::permission_mode(word).map_err(|fault| format!("{fault}, {AUTO}")),
    }
}

/// An amount as programs print a double: perhaps with an exponent, perhaps with
/// more digits than count, which are left off.
pub(super) fn dollars(text: &str) -> Result<Money, String> {
    let plain = without_exponent(text).unwrap_or_else(|| text.to_owned());
    let kept = plain.find('.').map_or(plain.len(), |point| {
        (point + 1 + money::PLACES).min(plain.len())
    });
    money::dollars(plain.get(..kept).unwrap_or(&plain))
}

/// Digits and a point for a number with an exponent; nothing for other texts.
fn without_exponent(text: &str) -> Option<String> {
    let (digits, exponent) = text.split_once(['e', 'E'])?;
    let exponent: i32 = exponent
        .parse()
        .ok()
        .filter(|exponent| (-99..=99).contains(exponent))?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{whole}{fraction}");
    if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let point = i32::try_from(whole.len()).ok()? + exponent;
    let length = i32::try_from(all.len()).ok()?;
    // Zeros on either side, so that the point lies inside.
    let before = usize::try_from(-point).unwrap_or(0);
    let after = usize::try_from(point - length).unwrap_or(0);
    let mut plain = format!("{}{all}{}", "0".repeat(before), "0".repeat(after));
    plain.insert(usize::try_from(point).unwrap_or(0), '.');
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_cut_outside_of_brackets() {
        for (text, expected) in [
            ("", &[][..]),
            (" , ,", &[]),
            ("Read", &["Read"]),
            (
                "Read,Bash(git log:*),mcp__a__b",
                &["Read", "Bash(git log:*)", "mcp__a__b"],
            ),
            ("Read Edit(a, b), Write", &["Read", "Edit(a, b)", "Write"]),
            ("Bash(f (x, y), z),Read", &["Bash(f (x, y), z)", "Read"]),
            ("Bash(a, b", &["Bash(a, b"]),
            ("a),b", &["a)", "b"]),
        ] {
            assert_eq!(rules(text), expected, "{text}");
        }
    }

    // covers: DEC-40
    #[test]
    fn amounts_are_taken_as_programs_print_them() {
        for (text, amount) in [
            ("0.5", 500_000_000_000),
            ("1e-05", 10_000_000),
            ("1.5e-07", 150_000),
            ("2E+2", 200_000_000_000_000),
            ("12.34e1", 123_400_000_000_000),
            ("0.30000000000000004", 300_000_000_000),
            ("1.9999999999999e0", 1_999_999_999_999),
        ] {
            assert_eq!(dollars(text), Ok(Money(amount)), "{text}");
        }
        for text in [
            "", "e1", "1e", "1e1.5", "-1e1", "1e100", "nan", "inf", ".e1", "1e-13", "0",
        ] {
            assert!(dollars(text).is_err(), "{text}");
        }
    }
}
