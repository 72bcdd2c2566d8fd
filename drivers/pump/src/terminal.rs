//! Text of others on a terminal.

use std::borrow::Cow;

/// `text` without anything that would steer a terminal: control characters but
/// line feed and tab are written as escapes.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    let steers = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if steers(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_shown_and_nothing_else_changes() {
        let text = "a\tb\nc \u{e9}\u{1f600}\u{2028}";
        assert!(matches!(printable(text), Cow::Borrowed(same) if same == text));
        assert_eq!(
            printable("\u{1b}]0;x\u{7}\r\u{9b}31m\u{7f}\u{0}!"),
            "\\u{1b}]0;x\\u{7}\\r\\u{9b}31m\\u{7f}\\u{0}!"
        );
    }
}
