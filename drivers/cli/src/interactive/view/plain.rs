//! Words of others in lines of ours.

use std::fmt::Write as _;
use unicode_width::UnicodeWidthChar as _;

/// Whether a character could move the cursor, reorder what is read, or hide.
fn disguises(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}'
                | '\u{200b}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{2069}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// The text with such characters spelled out; line ends and tabs stay. For what
/// somebody decides by; the words of a model may need marks of direction.
pub(crate) fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            character if disguises(character) => shown.extend(character.escape_default()),
            character => shown.push(character),
        }
    }
    shown
}

/// The same on one line.
pub(crate) fn one_line(text: &str) -> String {
    let shown = harmless(text);
    shown.replace('\n', "\\n").replace('\t', " ")
}

/// As much of one line as fits into so many columns; what is left out is told
/// by a final `…`.
pub(crate) fn cut(line: &str, columns: usize) -> String {
    let width = |character: char| character.width().unwrap_or(0);
    if line.chars().map(width).sum::<usize>() <= columns {
        return line.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let fits = |character: &char| {
        let fits = width(*character) <= left;
        left = left.saturating_sub(width(*character));
        fits
    };
    let mut kept: String = line.chars().take_while(fits).collect();
    kept.push('…');
    kept
}

/// The first line that says something, and how many others there are.
pub(crate) fn gist(text: &str) -> String {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let mut gist = one_line(lines.next().unwrap_or("(nothing)"));
    match lines.count() {
        0 => {}
        1 => gist.push_str(" (+1 line)"),
        // Writing to a String cannot fail.
        more => drop(write!(gist, " (+{more} lines)")),
    }
    gist
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_move_or_hide_is_spelled_out() {
        let text = "a\u{1b}[2J\rb\u{9b}\u{7f}\tc\n\u{202e}d\u{200b}\u{e0041}é\u{2028}🙂";
        let shown = "a\\u{1b}[2J\\rb\\u{9b}\\u{7f}\tc\n\\u{202e}d\\u{200b}\\u{e0041}é\\u{2028}🙂";
        assert_eq!(harmless(text), shown);
        assert_eq!(one_line("a\tb\nc\u{7}"), "a b\\nc\\u{7}");
    }

    #[test]
    fn a_line_is_cut_by_columns() {
        for (line, columns, kept) in [
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("日本語", 6, "日本語"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("abcd", 1, "…"),
            ("abcd", 0, "…"),
            ("", 0, ""),
        ] {
            assert_eq!(cut(line, columns), kept, "{line} in {columns}");
        }
    }

    #[test]
    fn the_gist_is_the_first_line_that_says_something() {
        assert_eq!(gist("\n  \n one\ntwo\n\nthree\n"), " one (+2 lines)");
        assert_eq!(gist(""), "(nothing)");
    }
}
