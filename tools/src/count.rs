//! How many lines of one text another adds and takes away.

use crate::limits::{DIFF_EDITS, DIFF_LINES};

/// Lines that a change adds and takes away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lines {
    pub(crate) added: u64,
    pub(crate) removed: u64,
}

impl Lines {
    /// Of the change from `old` to `new`, as few as can be. Where they differ in
    /// more lines than are looked for, all between the first difference and the
    /// last count as replaced.
    pub(crate) fn of(old: &[u8], new: &[u8]) -> Self {
        let (old, new) = differing(old, new);
        let (removed, added) = (lines(old), lines(new));
        let replaced = Self { added, removed };
        if removed.max(added) > DIFF_LINES {
            return replaced;
        }
        let old: Vec<&[u8]> = old.split_inclusive(|byte| *byte == b'\n').collect();
        let new: Vec<&[u8]> = new.split_inclusive(|byte| *byte == b'\n').collect();
        // Both sums are known: of all edits, and of lines more than before.
        distance(&old, &new).map_or(replaced, |edits| Self {
            added: (edits + added - removed) / 2,
            removed: (edits + removed - added) / 2,
        })
    }
}

/// How many lines have to go or to come to make `new` of `old`: the greedy
/// algorithm of E. Myers, which takes time in proportion to the answer.
fn distance(old: &[&[u8]], new: &[&[u8]]) -> Option<u64> {
    let most = (old.len() + new.len()).min(DIFF_EDITS);
    let goal = old.len() as isize - new.len() as isize;
    let middle = most as isize + 1;
    // How far into `old` each diagonal (lines of `old` less lines of `new`) leads.
    let mut reach = vec![0_usize; 2 * most + 3];
    for edits in 0..=most as isize {
        for diagonal in (-edits..=edits).step_by(2) {
            let at = (middle + diagonal) as usize;
            let (less, more) = (reach[at - 1], reach[at + 1]);
            let inserts = diagonal == -edits || (diagonal != edits && less < more);
            let mut x = if inserts { more } else { less + 1 };
            let mut y = x.wrapping_add_signed(-diagonal);
            while x < old.len() && y < new.len() && old[x] == new[y] {
                (x, y) = (x + 1, y + 1);
            }
            reach[at] = x;
            if diagonal == goal && x >= old.len() {
                return u64::try_from(edits).ok();
            }
        }
    }
    None
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

    /// Length of the longest list of lines that both have, by the book.
    fn common(old: &[&[u8]], new: &[&[u8]]) -> usize {
        match (old, new) {
            ([a, old @ ..], [b, new @ ..]) if a == b => common(old, new) + 1,
            ([_, less @ ..], [_, fewer @ ..]) => common(less, new).max(common(old, fewer)),
            _ => 0,
        }
    }

    #[test]
    fn no_fewer_lines_would_do() {
        let mut texts = vec![String::new()];
        for n in 0..40 {
            let shorter = texts[n].clone();
            texts.extend(["a\n", "b\n", "c\n"].map(|line| shorter.clone() + line));
        }
        for old in &texts {
            for new in &texts {
                let lists = [old, new].map(|text| {
                    let lines = text.as_bytes().split_inclusive(|byte| *byte == b'\n');
                    lines.collect::<Vec<_>>()
                });
                let same = common(&lists[0], &lists[1]);
                let expected = (lists[1].len() - same, lists[0].len() - same);
                let (added, removed) = counted(old, new);
                let counts = (added as usize, removed as usize);
                assert_eq!(counts, expected, "{old:?} to {new:?}");
            }
        }
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
        let text = |count: usize, add: usize| -> String {
            (0..count).map(|n| format!("{}\nsame\n", n + add)).collect()
        };
        let some = DIFF_EDITS / 2;
        assert_eq!(
            counted(&text(some, 0), &text(some, 1_000_000)),
            (some as u64, some as u64)
        );
        let more = some + 1;
        let all = 2 * more as u64 - 1;
        assert_eq!(counted(&text(more, 0), &text(more, 1_000_000)), (all, all));
        let many = usize::try_from(DIFF_LINES).unwrap();
        let old = format!("a\n{}b", "same\n".repeat(many));
        let new = format!("c\n{}d", "same\n".repeat(many));
        assert_eq!(counted(&old, &new), (DIFF_LINES + 2, DIFF_LINES + 2));
    }
}
