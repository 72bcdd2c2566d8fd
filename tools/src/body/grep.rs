//! `Grep`.
//!
//! The regular expressions run in linear time. They are matched line by line,
//! on bytes, so a file that is not all UTF-8 can be searched; what is shown of
//! it has U+FFFD in its place. Linear can be slow all the same: the time grows
//! with the size of the pattern, too. So patterns have a size, and a long line is
//! searched window by window, with a look at the cancel token before each.

use super::glob::{matcher, prefix};
use crate::input::{GrepInput, GrepMode};
use crate::limits::{SEARCH_OVERLAP_BYTES, SEARCH_WINDOW_BYTES, STEP_BYTES};
use crate::place::{Leaf, name_text};
use crate::stop::Stop;
use crate::text::{first_chars, is_binary, join_results, shown};
use crate::toolbox::Call;
use crate::walk::walk;
use globset::GlobMatcher;
use regex::bytes::{Regex, RegexBuilder};
use rustix::fs::Stat;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::ops::ControlFlow;
use std::path::Path;

pub(crate) fn run(call: &Call<'_>) -> Result<String, Stop> {
    let input = GrepInput::parse(&call.request.call.input, call.guard())?;
    let mut search = Search {
        call,
        regex: compile(call, &input.pattern)?,
        mode: input.output_mode,
        results: Vec::new(),
        more: false,
        skipped: Skipped::default(),
    };
    let filter = Filter::new(call, input.glob.as_deref())?;
    let fence = call.fence()?;
    let given = input.path.as_deref().unwrap_or(".");
    let shown = shown(given, call.guard());
    let start = fence.enter(given)?;
    let mut notes = Vec::new();
    match &start.leaf {
        Leaf::Missing { .. } => {
            return Err(Stop::fault(format!("`path` `{shown}` does not exist.")));
        }
        Leaf::File { .. } => {
            let (file, stat) = start.open_file().map_err(|fault| fault.told(&shown))?;
            fence.judge_file(&stat, &shown)?;
            let name = Path::new(given).file_name().map(Path::new);
            if name.is_some_and(|name| filter.admits(name)) {
                // Whether there is more or not, it is the only file.
                let _ = search.file(file, &stat, &name_text(OsStr::new(given), call.guard()))?;
            }
        }
        Leaf::Folder => {
            let prefix = prefix(input.path.as_deref());
            let left_out = walk(call, &fence, &start, &shown, |entry| {
                if entry.is_link || !filter.admits(entry.path) {
                    return Ok(ControlFlow::Continue(()));
                }
                call.check()?;
                let Some((file, stat)) = entry.open() else {
                    search.skipped.unreadable += 1;
                    return Ok(ControlFlow::Continue(()));
                };
                if fence.judge_file(&stat, "").is_err() {
                    return Ok(ControlFlow::Continue(()));
                }
                let path = prefix.join(entry.path);
                search.file(file, &stat, &name_text(path.as_os_str(), call.guard()))
            })?;
            notes = left_out.notes();
        }
    }
    Ok(search.answer(notes))
}

fn compile(call: &Call<'_>, pattern: &str) -> Result<Regex, Stop> {
    let limit = call.limits().pattern_bytes;
    if pattern.len() > limit {
        let text = format!("`pattern` is longer than {limit} bytes.");
        return Err(Stop::fault(text));
    }
    RegexBuilder::new(pattern)
        .size_limit(call.limits().grep_program_bytes)
        .build()
        .map_err(|fault| Stop::fault(format!("`pattern` is no regular expression here: {fault}")))
}

/// Which files are searched.
struct Filter {
    glob: Option<GlobMatcher>,
    /// The glob has no slash, so it is about the name alone.
    by_name: bool,
}

impl Filter {
    fn new(call: &Call<'_>, glob: Option<&str>) -> Result<Self, Stop> {
        Ok(Self {
            by_name: glob.is_some_and(|glob| !glob.contains('/')),
            glob: glob.map(|glob| matcher(call, "glob", glob)).transpose()?,
        })
    }

    fn admits(&self, path: &Path) -> bool {
        let Some(glob) = &self.glob else { return true };
        let name = path.file_name().map(Path::new).filter(|_| self.by_name);
        glob.is_match(name.unwrap_or(path))
    }
}

/// Files that were not searched.
#[derive(Default)]
struct Skipped {
    binary: u64,
    large: u64,
    unreadable: u64,
}

struct Search<'a> {
    call: &'a Call<'a>,
    regex: Regex,
    mode: GrepMode,
    results: Vec<String>,
    more: bool,
    skipped: Skipped,
}

impl Search<'_> {
    /// Searches one file; breaks off when there are enough results.
    fn file(&mut self, file: File, stat: &Stat, path: &str) -> Result<ControlFlow<()>, Stop> {
        let limit = self.call.limits().grep_file_bytes;
        if u64::try_from(stat.st_size).is_ok_and(|size| size > limit) {
            self.skipped.large += 1;
            return Ok(ControlFlow::Continue(()));
        }
        match read_whole(self.call, file, limit)? {
            Content::Text(bytes) => self.lines(&bytes, path),
            Content::Binary => {
                self.skipped.binary += 1;
                Ok(ControlFlow::Continue(()))
            }
            Content::Large => {
                self.skipped.large += 1;
                Ok(ControlFlow::Continue(()))
            }
            Content::Unreadable => {
                self.skipped.unreadable += 1;
                Ok(ControlFlow::Continue(()))
            }
        }
    }

    fn lines(&mut self, bytes: &[u8], path: &str) -> Result<ControlFlow<()>, Stop> {
        let mut count: u64 = 0;
        for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let Some(found) = find(&self.regex, line, WINDOWS, || self.call.check())? else {
                continue;
            };
            count += 1;
            match self.mode {
                GrepMode::Content => {
                    let text = excerpt(line, found, self.call);
                    let number = index + 1;
                    if self.add(format!("{path}:{number}:{text}")).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                GrepMode::FilesWithMatches => return Ok(self.add(path.to_owned())),
                GrepMode::Count => {}
            }
        }
        if self.mode == GrepMode::Count && count > 0 {
            return Ok(self.add(format!("{path}:{count}")));
        }
        Ok(ControlFlow::Continue(()))
    }

    fn add(&mut self, result: String) -> ControlFlow<()> {
        if self.results.len() == self.call.limits().grep_results {
            self.more = true;
            return ControlFlow::Break(());
        }
        self.results.push(result);
        ControlFlow::Continue(())
    }

    fn answer(self, walked: Vec<String>) -> String {
        let limits = self.call.limits();
        let mut notes = Vec::new();
        if self.results.is_empty() {
            notes.push("No matches.".to_owned());
        }
        if self.more {
            let limit = limits.grep_results;
            notes.push(format!(
                "[Cut: these are the first {limit} results in path order; there are more.]"
            ));
        }
        let bound = limits.grep_file_bytes;
        let Skipped {
            binary,
            large,
            unreadable,
        } = self.skipped;
        for (count, what) in [
            (binary, "binary files were not searched".to_owned()),
            (large, format!("files over {bound} bytes were not searched")),
            (unreadable, "files could not be read".to_owned()),
        ] {
            if count > 0 {
                notes.push(format!("[{count} {what}.]"));
            }
        }
        notes.extend(walked);
        join_results(&self.results, &notes, limits.output_chars)
    }
}

/// How a long line is divided, in bytes.
#[derive(Clone, Copy)]
struct Windows {
    size: usize,
    /// What a window has in common with the one before it. A match that is
    /// longer may not be found.
    overlap: usize,
}

const WINDOWS: Windows = Windows {
    size: SEARCH_WINDOW_BYTES,
    overlap: SEARCH_OVERLAP_BYTES,
};

/// Where the first match in a line begins. Before each window, `check` may stop
/// the search.
fn find(
    regex: &Regex,
    line: &[u8],
    windows: Windows,
    check: impl Fn() -> Result<(), Stop>,
) -> Result<Option<usize>, Stop> {
    let step = windows.size - windows.overlap;
    let (mut from, mut end) = (0, line.len().min(windows.size));
    loop {
        check()?;
        let whole = end == line.len();
        // Past its start, a match sees what stands before it. One that touches
        // the end of a window may owe it that end, so the next one decides.
        match regex.find_at(&line[..end], from) {
            Some(found) if whole || found.end() < end => return Ok(Some(found.start())),
            _ if whole => return Ok(None),
            _ => {}
        }
        from = end - windows.overlap;
        end = line.len().min(end + step);
    }
}

enum Content {
    Text(Vec<u8>),
    Binary,
    Large,
    Unreadable,
}

/// Reads a file of at most `limit` bytes.
fn read_whole(call: &Call<'_>, mut file: File, limit: u64) -> Result<Content, Stop> {
    let mut bytes = Vec::new();
    let mut step = vec![0; STEP_BYTES];
    loop {
        call.check()?;
        match file.read(&mut step) {
            Ok(0) => return Ok(Content::Text(bytes)),
            Ok(n) => {
                if bytes.is_empty() && is_binary(&step[..n]) {
                    return Ok(Content::Binary);
                }
                bytes.extend_from_slice(&step[..n]);
            }
            Err(fault) if fault.kind() == ErrorKind::Interrupted => {}
            Err(_) => return Ok(Content::Unreadable),
        }
        if bytes.len() as u64 > limit {
            return Ok(Content::Large);
        }
    }
}

/// What is shown of a matching line: all of it, or the part around the match,
/// which begins at the byte `found`.
fn excerpt(line: &[u8], found: usize, call: &Call<'_>) -> String {
    let limit = call.limits().grep_line_chars;
    let whole = String::from_utf8_lossy(line);
    let text = call.guard().redact(&whole);
    let total = text.chars().count();
    if total <= limit {
        return text.into_owned();
    }
    // What is held back begins a credential that the match stands in.
    let lead_in = String::from_utf8_lossy(&line[..found]);
    let before = call.guard().redactor().push(&lead_in).chars().count();
    let lead = limit / 4;
    let start = if before + lead < limit {
        0
    } else {
        before - lead
    };
    let from_start = &text[first_chars(&text, start).len()..];
    let mut out = String::new();
    if start > 0 {
        out.push('…');
    }
    out.push_str(first_chars(from_start, limit));
    let shown = limit.min(total.saturating_sub(start));
    out.push_str(&format!(" [… {} characters cut]", total - shown));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    const SMALL: Windows = Windows {
        size: 16,
        overlap: 8,
    };

    #[test]
    fn windows_find_what_the_whole_line_has() {
        let patterns = [
            "ab",
            "^ab",
            "ab$",
            "\\bab\\b",
            "a[^ab]*b",
            "b+",
            "(?-u:\\B)a",
            "x*$",
            "^$",
        ];
        for pattern in patterns {
            let regex = Regex::new(pattern).unwrap();
            for before in 0..40 {
                for after in 0..40 {
                    for (left, right) in [(".", "."), (".", "b"), ("a", "."), ("é", "é")] {
                        let line = format!("{}ab{}", left.repeat(before), right.repeat(after));
                        let whole = regex.find(line.as_bytes()).map(|found| found.start());
                        let found = find(&regex, line.as_bytes(), SMALL, || Ok(())).unwrap();
                        assert_eq!(found.is_some(), whole.is_some(), "{pattern} in {line}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_search_asks_before_each_window_whether_it_may_go_on() {
        let regex = Regex::new("(?:(?:a|b|ab){0,50}){0,50}[q-z]").unwrap();
        let line = "ab".repeat(32);
        let asked = Cell::new(0);
        let stopped = find(&regex, line.as_bytes(), SMALL, || {
            asked.set(asked.get() + 1);
            if asked.get() == 3 {
                Err(Stop::Cancelled)
            } else {
                Ok(())
            }
        });
        assert_eq!((stopped, asked.get()), (Err(Stop::Cancelled), 3));
    }
}
