//! Which tools a hook of the settings is for.

use crate::limits::{MATCHER_BYTES, MATCHER_PROGRAM_BYTES};
use agentx_core::hook::Matcher;
use regex::RegexBuilder;
use std::sync::Arc;

/// Resolves a matcher against the names that there are: empty and `*` stand for
/// all tools, anything else is a regular expression that the whole name has to
/// match. The engine takes time in proportion to the name.
///
/// # Errors
///
/// Why it is no such expression.
pub fn resolve_matcher<'a>(
    pattern: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Result<Matcher, String> {
    if pattern.is_empty() || pattern == "*" {
        return Ok(Matcher::All);
    }
    if pattern.len() > MATCHER_BYTES {
        return Err(format!("expected at most {MATCHER_BYTES} bytes"));
    }
    // By itself first, so that it cannot close the group around it.
    regex(pattern)?;
    let whole = regex(&format!("^(?:{pattern})$"))?;
    let matching = names.into_iter().filter(|name| whole.is_match(name));
    Ok(Matcher::Tools(matching.map(Arc::from).collect()))
}

fn regex(pattern: &str) -> Result<regex::Regex, String> {
    let built = RegexBuilder::new(pattern)
        .size_limit(MATCHER_PROGRAM_BYTES)
        .build();
    built.map_err(|fault| match fault {
        regex::Error::CompiledTooBig(_) => "a regular expression that is too large".to_owned(),
        _ => "not a regular expression (without look-around and back-references)".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] = ["Bash", "Edit", "Write", "mcp__files__read", "NotWrite"];

    fn matches(pattern: &str) -> Vec<&'static str> {
        let matcher = resolve_matcher(pattern, NAMES).unwrap();
        let names = NAMES.into_iter();
        names.filter(|name| matcher.matches(Some(name))).collect()
    }

    #[test]
    fn a_matcher_is_anchored_at_both_ends() {
        assert_eq!(matches(""), NAMES);
        assert_eq!(matches("*"), NAMES);
        assert_eq!(matches("Write"), ["Write"]);
        assert_eq!(matches("Write|Edit"), ["Edit", "Write"]);
        assert_eq!(matches("mcp__files__.*"), ["mcp__files__read"]);
        assert_eq!(matches("(?i)bash"), ["Bash"]);
        assert_eq!(matches("Not"), [] as [&str; 0]);
        assert_eq!(matches(".*"), NAMES);
    }

    #[test]
    fn what_is_no_expression_is_told() {
        for pattern in ["(", "a)|(b", "[", "(?=a)b", "\\1", "**"] {
            let fault = resolve_matcher(pattern, NAMES).unwrap_err();
            assert!(fault.starts_with("not a regular expression"), "{pattern}");
        }
        let fault = resolve_matcher("\\w{1000}{1000}", NAMES).unwrap_err();
        assert_eq!(fault, "a regular expression that is too large");
        let fault = resolve_matcher(&"a".repeat(MATCHER_BYTES + 1), NAMES).unwrap_err();
        assert_eq!(fault, "expected at most 1024 bytes");
    }
}
