//! Command lines against `prefix:*` patterns, part by part.
//!
//! The reading is one-sided on purpose: a pattern that allows has to cover
//! every part and nothing that could hide another command; a pattern that
//! denies or asks needs one part. Quotes are not understood, so a quoted
//! separator only ever leads to a question.

/// Whether the pattern covers the whole line.
pub(super) fn every_part(line: &str, pattern: &str) -> bool {
    let hides = line.contains(['`', '$', '(', ')', '<', '>', '{', '}', '\\']);
    !hides && parts(line).all(|part| covers(pattern, part)) && parts(line).next().is_some()
}

/// Whether the pattern covers some part of the line, those inside substitutions included.
pub(super) fn some_part(line: &str, pattern: &str) -> bool {
    line.split(['`', '(', ')', '{', '}'])
        .flat_map(parts)
        .any(|part| covers(pattern, part))
}

fn parts(line: &str) -> impl Iterator<Item = &str> {
    line.split([';', '&', '|', '\n'])
        .map(str::trim)
        .filter(|part| !part.is_empty())
}

/// `prefix:*` covers the prefix and whatever follows it after a blank; any
/// other pattern covers exactly itself.
fn covers(pattern: &str, part: &str) -> bool {
    match pattern.strip_suffix(":*") {
        Some(prefix) => part
            .strip_prefix(prefix)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace)),
        None => part == pattern,
    }
}
