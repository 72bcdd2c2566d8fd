//! `Glob`.

use crate::input::GlobInput;
use crate::place::{Leaf, name_text};
use crate::stop::Stop;
use crate::text::{join_results, shown};
use crate::toolbox::Call;
use crate::walk::walk;
use globset::{GlobBuilder, GlobMatcher};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

pub(crate) fn run(call: &Call<'_>) -> Result<String, Stop> {
    let input = GlobInput::parse(&call.request.call.input, call.guard())?;
    let matcher = matcher(call, "pattern", &input.pattern)?;
    let fence = call.fence()?;
    let given = input.path.as_deref().unwrap_or(".");
    let shown = shown(given, call.guard());
    let start = fence.enter(given)?;
    match start.leaf {
        Leaf::Folder => {}
        Leaf::File { .. } => {
            return Err(Stop::fault(format!("`path` `{shown}` is not a folder.")));
        }
        Leaf::Missing { .. } => {
            return Err(Stop::fault(format!("`path` `{shown}` does not exist.")));
        }
    }
    let limit = call.limits().glob_results;
    let prefix = prefix(input.path.as_deref());
    let mut found = Vec::new();
    let mut more = false;
    let left_out = walk(call, &fence, &start, &shown, |entry| {
        if !matcher.is_match(entry.path) {
            return Ok(ControlFlow::Continue(()));
        }
        // A link counts as the file it leads to, where the call may go there.
        let path = prefix.join(entry.path);
        if entry.is_link && !leads_to_file(&fence, &path) {
            return Ok(ControlFlow::Continue(()));
        }
        if found.len() == limit {
            more = true;
            return Ok(ControlFlow::Break(()));
        }
        found.push(name_text(path.as_os_str(), call.guard()));
        Ok(ControlFlow::Continue(()))
    })?;
    let mut notes = Vec::new();
    if more {
        notes.push(format!(
            "[Cut: these are the first {limit} files in path order; more match.]"
        ));
    }
    notes.extend(left_out.notes());
    if found.is_empty() {
        notes.insert(0, "No files match.".to_owned());
    }
    Ok(join_results(&found, &notes, call.limits().output_chars))
}

fn leads_to_file(fence: &crate::place::Fence, path: &Path) -> bool {
    fence
        .admits(path)
        .is_some_and(|place| place.open_file().is_ok())
}

/// What results begin with, so that Read takes them as they stand.
pub(crate) fn prefix(path: Option<&str>) -> PathBuf {
    match path {
        None | Some("." | "./") => PathBuf::new(),
        Some(path) => PathBuf::from(path),
    }
}

/// Compiles a glob for paths below a folder; `member` is where it stands.
pub(crate) fn matcher(call: &Call<'_>, member: &str, pattern: &str) -> Result<GlobMatcher, Stop> {
    let limit = call.limits().pattern_bytes;
    if pattern.len() > limit {
        let text = format!("`{member}` is longer than {limit} bytes.");
        return Err(Stop::fault(text));
    }
    let relative = pattern.strip_prefix("./").unwrap_or(pattern);
    let climbs = relative.split('/').any(|name| name == "..");
    if relative.is_empty() || relative.starts_with('/') || climbs {
        return Err(Stop::fault(format!(
            "`{member}` must be a pattern for paths below the folder, without a leading `/` and \
             without `..`; name the folder in `path`."
        )));
    }
    GlobBuilder::new(relative)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|fault| Stop::fault(format!("`{member}` is no glob pattern: {}.", fault.kind())))
}
