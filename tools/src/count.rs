//! How many lines of one text another adds and takes away.

use crate::limits::DIFF_LINES;
use imara_diff::{Algorithm, Diff, InternedInput, sources::byte_lines};

/// Lines that a change adds and takes away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lines {
    pub(crate) added: u64,
    pub(crate) removed: u64,
}

impl Lines {
    /// Of the change from `old` to `new`. A text with more different lines than
    /// are compared counts as replaced between its first and last difference.
    pub(crate) fn of(old: &[u8], new: &[u8]) -> Self {
        let (old, new) = differing(old, new);
        let (removed, added) = (lines(old), lines(new));
        if removed.max(added) > DIFF_LINES || removed == 0 || added == 0 {
            return Self { added, removed };
        }
        let input = InternedInput::new(byte_lines(old), byte_lines(new));
        let diff = Diff::compute(Algorithm::Histogram, &input);
        Self {
            added: u64::from(diff.count_additions()),
            removed: u64::from(diff.count_removals()),
        }
    }
}

/// Lines of a text; a last one needs no line end.
fn lines(text: &[u8]) -> u64 {
    let ends = memchr::memchr_iter(b'\n', text).count() as u64;
    ends + u64::from(text.last().is_some_and(|last| *last != b'\n'))
}

/// Both texts without the whole lines that they begin and end with alike.
fn differing<'a>(old: &'a [u8], new: &'a [u8]) -> (&'a [u8], &'a [u8]) {
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let head = |text: &[u8]| memchr::memrchr(b'\n', text).map_or(0, |at| at + 1);
    let from = if old == new { same } else { head(&old[..same]) };
    let (old, new) = (&old[from..], &new[from..]);
    let alike = old.iter().rev().zip(new.iter().rev());
    let same = alike.take_while(|(a, b)| a == b).count();
    // Of what ends alike, whole lines are what follows a line end.
    let tail = &old[old.len() - same..];
    let keep = memchr::memchr(b'\n', tail).map_or(same, |at| at + 1);
    let cut = same - keep;
    (&old[..old.len() - cut], &new[..new.len() - cut])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(old: &str, new: &str) -> (u64, u64) {
        let lines = Lines::of(old.as_bytes(), new.as_bytes());
        (lines.added, lines.removed)
    }

    #[test]
    fn lines_are_counted_as_a_diff_counts_them() {
        for (old, new, expected) in [
            ("", "", (0, 0)),
            ("a\nb\n", "a\nb\n", (0, 0)),
            ("", "a\nb\n", (2, 0)),
            ("a\nb", "", (0, 2)),
            ("a\nb\nc\n", "a\nx\nc\n", (1, 1)),
            ("a\nb\nc\nd\n", "0\na\nb\nc\nd\n9\n", (2, 0)),
            ("a\nb\nc\nd\ne\n", "a\nc\ne\n", (0, 2)),
            // A line end that comes or goes makes another line.
            ("a\nb", "a\nb\n", (1, 1)),
            ("ab\n", "b\n", (1, 1)),
            ("b\n", "ab\n", (1, 1)),
            ("x\nb\n", "b\n", (0, 1)),
            ("a\r\nb\r\n", "a\nb\n", (2, 2)),
            ("é\n\u{2028}\n", "é\n", (0, 1)),
        ] {
            assert_eq!(counted(old, new), expected, "{old:?} to {new:?}");
        }
        let bytes = Lines::of(b"\xff\n\xfe\n", b"\xff\n\xfd\n");
        assert_eq!((bytes.added, bytes.removed), (1, 1));
    }

    #[test]
    fn what_begins_and_ends_alike_is_not_compared() {
        let many = "same\n".repeat(300_000);
        let old = format!("{many}old\n{many}");
        let new = format!("{many}new\nmore\n{many}");
        assert_eq!(counted(&old, &new), (2, 1));
    }

    #[test]
    fn a_text_with_too_many_differences_counts_as_replaced() {
        let line = |n: u64| format!("{n}\nsame\n");
        let old: String = (0..DIFF_LINES).map(line).collect();
        let new: String = (0..DIFF_LINES).map(|n| line(n + 1_000_000)).collect();
        assert_eq!(
            counted(&old, &new),
            (2 * DIFF_LINES - 1, 2 * DIFF_LINES - 1)
        );
    }
}
