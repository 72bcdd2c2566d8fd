//! `Edit`.
//!
//! Works on bytes, so a file that is not all UTF-8 keeps what it has. Line ends
//! are part of the text: in a file with CRLF, `old_string` must have them too.

use crate::change::Change;
use crate::input::EditInput;
use crate::place::Leaf;
use crate::replace::Target;
use crate::stop::Stop;
use crate::text::{is_binary, read_bounded, shown};
use crate::toolbox::Call;
use memchr::memmem::{Finder, find_iter};
use std::fs::File;

pub(crate) fn run(call: &Call<'_>) -> Result<String, Stop> {
    let input = EditInput::parse(&call.request.call.input, call.guard())?;
    if input.old_string.is_empty() {
        return Err(Stop::fault(
            "`old_string` is empty; use Write to make a file.",
        ));
    }
    if input.old_string == input.new_string {
        return Err(Stop::fault("`old_string` and `new_string` are the same."));
    }
    let shown = shown(&input.file_path, call.guard());
    let fence = call.fence()?;
    let place = fence.enter(&input.file_path)?;
    let (file, stat) = place.open_file().map_err(|fault| fault.told(&shown))?;
    fence.judge_file(&stat, &shown)?;
    let Leaf::File { name, .. } = &place.leaf else {
        return Err(Stop::fault(format!("`{shown}` is not a file.")));
    };
    let text = read(call, file, &shown)?;
    if is_binary(&text) {
        return Err(Stop::fault(format!("`{shown}` is a binary file.")));
    }
    let places = find_places(call, &input, &text, &shown)?;
    let edited = splice(call, &input, &text, &places, &shown)?;
    let target = Target {
        folder: &place.folder,
        name,
        shown: &shown,
        old: Some(&stat),
        unchanged: true,
        rights: None,
    };
    let mut change = Change::of(call, &place);
    change.replaces(&text, &stat);
    let made = target.replace(call.cancel, &edited)?;
    change.done(&edited, &made);
    let first = places.first().copied().unwrap_or_default();
    let line = memchr::memchr_iter(b'\n', &text[..first]).count() + 1;
    Ok(match places.len() {
        1 => format!("Edited `{shown}`: 1 replacement, at line {line}."),
        count => format!("Edited `{shown}`: {count} replacements, the first at line {line}."),
    })
}

fn read(call: &Call<'_>, file: File, shown: &str) -> Result<Vec<u8>, Stop> {
    let limit = call.limits().edit_bytes;
    read_bounded(call.cancel, file, shown, limit)?.ok_or_else(|| {
        Stop::fault(format!(
            "`{shown}` is larger than the {limit} bytes that Edit takes."
        ))
    })
}

/// Where the old text stands, without overlaps: once, or as often as may be.
fn find_places(
    call: &Call<'_>,
    input: &EditInput,
    text: &[u8],
    shown: &str,
) -> Result<Vec<usize>, Stop> {
    let places: Vec<usize> = find_iter(text, &input.old_string).collect();
    call.check()?;
    match places.len() {
        0 => Err(Stop::fault(not_found(input, text, shown))),
        1 => Ok(places),
        _ if input.replace_all => Ok(places),
        count => Err(Stop::fault(format!(
            "`old_string` stands {count} times in `{shown}`; give more of the text around it, or \
             set `replace_all`."
        ))),
    }
}

fn not_found(input: &EditInput, text: &[u8], shown: &str) -> String {
    let crlf = input.old_string.replace("\r\n", "\n").replace('\n', "\r\n");
    let with_crlf = crlf != input.old_string && Finder::new(&crlf).find(text).is_some();
    let hint = if with_crlf {
        " The lines of this file end with CRLF (\\r\\n), and `old_string` must have that too."
    } else {
        ""
    };
    format!("`old_string` does not stand in `{shown}`.{hint}")
}

/// The text with the new one in all `places`.
fn splice(
    call: &Call<'_>,
    input: &EditInput,
    text: &[u8],
    places: &[usize],
    shown: &str,
) -> Result<Vec<u8>, Stop> {
    let (old, new) = (input.old_string.len(), input.new_string.as_bytes());
    let kept = text.len() - places.len() * old;
    let size = places.len().saturating_mul(new.len()).saturating_add(kept);
    let limit = call.limits().edit_bytes;
    if size as u64 > limit {
        return Err(Stop::fault(format!(
            "`{shown}` would have {size} bytes, more than the {limit} that Edit makes."
        )));
    }
    let mut edited = Vec::with_capacity(size);
    let mut from = 0;
    for &at in places {
        edited.extend_from_slice(&text[from..at]);
        edited.extend_from_slice(new);
        from = at + old;
    }
    edited.extend_from_slice(&text[from..]);
    Ok(edited)
}
