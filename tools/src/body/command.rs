//! A command tool: a program of the settings, started without a shell.
//!
//! It reads its input object on stdin and answers on stdout: with an object
//! `{"content":[…],"is_error":false}`, or with anything else, which is taken as
//! plain text. It runs in the first working directory, with the environment that
//! `Bash` has, and a socket where it may ask about the network (WIRE-PERM-080).

use super::ending;
use crate::command::CommandTool;
use crate::environment::{Known, NETWORK_VARIABLE, child_environment, names_home};
use crate::limits::MAX_ANSWER_PARTS;
use crate::network::Counter;
use crate::process::{self, End, Finished, Job, Stderr};
use crate::stop::Stop;
use crate::text::{cut_result, shown};
use crate::toolbox::Call;
use agentx_core::guard::Guard;
use agentx_core::json::{ScanLimits, Scanner, Value};
use agentx_core::tool::{ToolContent, ToolOutcome};
use std::ffi::OsString;
use std::path::Path;

/// Characters that a part must have room for to be shown in part.
const LEAST_ROOM: usize = 100;

pub(crate) fn run(call: &Call<'_>, tool: &CommandTool) -> Result<ToolOutcome, Stop> {
    let input = &call.request.call.input;
    if !input.is_object() {
        return Err(Stop::fault("The input must be a JSON object."));
    }
    let fence = call.fence()?;
    let directory = fence.working_directory()?;
    check(call, tool, directory)?;
    let (config, limits) = (call.config, call.limits());
    let arguments: Vec<OsString> = tool.arguments().iter().map(OsString::from).collect();
    let mut environment =
        child_environment(&config.environment, &call.request.environment, directory);
    // A tool that finds no socket has nobody to ask, which means no.
    let counter = Counter::open(&config.temp, call.network, call.cancel).ok();
    if let Some(counter) = &counter {
        environment.insert(NETWORK_VARIABLE.into(), counter.path().into());
    }
    let stdin = [input.as_str().as_bytes(), b"\n"].concat();
    let job = Job {
        program: Path::new(tool.program()),
        arguments: &arguments,
        directory,
        environment: &environment,
        stdin: Some(&stdin),
        stderr: Stderr::Apart,
        keep_chars: limits.output_chars,
        keep_bytes: limits.command_answer_bytes,
        guard: call.guard(),
        timeout: tool.timeout(),
        ending: &limits.ending,
        task: call.task,
        watch: None,
    };
    let finished = process::run(&job, call.cancel).map_err(|fault| {
        let program = shown(tool.program(), call.guard());
        Stop::io(format_args!("`{program}` was not started"), fault)
    })?;
    // Whatever the tool asked comes before what it answers.
    drop(counter);
    Ok(outcome(call, tool, &finished))
}

/// Refuses a command that names `$AGENTX_HOME`.
fn check(call: &Call<'_>, tool: &CommandTool, directory: &Path) -> Result<(), Stop> {
    let known = Known {
        home: &call.config.home,
        user_home: call.config.user_home(),
        directory,
    };
    let mut words = std::iter::once(tool.program()).chain(tool.arguments().iter().map(|w| &**w));
    if words.any(|word| names_home(word, known)) {
        return Err(Stop::fault(
            "The command of this tool names the folder AGENTX_HOME, which no tool may touch.",
        ));
    }
    Ok(())
}

/// What the program said; where it failed, also the end of its stderr and why
/// it counts as failed.
fn outcome(call: &Call<'_>, tool: &CommandTool, finished: &Finished) -> ToolOutcome {
    let limits = call.limits();
    let why = ending::note(&finished.end, tool.timeout());
    let mut last = String::new();
    if let Some(why) = &why {
        last = finished.stderr.tail(limits.command_stderr_chars);
        ending::add_line(&mut last, why);
    }
    let room = limits.output_chars.saturating_sub(last.chars().count() + 1);
    let by_itself = matches!(finished.end, End::Exited(_));
    let answer = finished.raw.as_deref().filter(|_| by_itself);
    let mut is_error = why.is_some();
    let mut parts = match answer.and_then(|stdout| read_answer(stdout, call.guard())) {
        Some(answer) => {
            is_error |= answer.is_error;
            let mut parts = bounded(answer.parts, room, call.guard());
            parts.extend((!last.is_empty()).then_some(last));
            parts
        }
        None => {
            let mut text = finished.stdout.text(room);
            if !last.is_empty() {
                ending::add_line(&mut text, &last);
            }
            vec![text]
        }
    };
    if parts.iter().all(String::is_empty) {
        parts = vec!["[The tool said nothing.]".to_owned()];
    }
    ToolOutcome {
        content: parts.into_iter().map(ToolContent::Text).collect(),
        is_error,
    }
}

/// An answer that came as an object.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    parts: Vec<String>,
    is_error: bool,
}

/// Reads an answer in the form of an object. Whatever does not have that form
/// is no answer of that kind.
fn read_answer(stdout: &[u8], guard: &Guard) -> Option<Answer> {
    let mut scanner = Scanner::new();
    let object = scanner
        .scan(stdout, &ScanLimits::DEFAULT)
        .ok()?
        .as_object()?;
    let content = object.get("content")?.as_array()?;
    let is_error = match object.get("is_error") {
        None => false,
        Some(flag) => flag.as_bool()?,
    };
    let parts = content.into_iter().map(|part| read_part(part, guard));
    Some(Answer {
        parts: parts.collect::<Option<_>>()?,
        is_error,
    })
}

/// The text of one part; of other kinds only that they were there.
fn read_part(part: Value<'_>, guard: &Guard) -> Option<String> {
    let part = part.as_object()?;
    let kind = part.get("type")?.as_str()?;
    if kind == *"text" {
        return Some(part.get("text")?.as_str()?.decode_lossy().into_owned());
    }
    let kind = shown(&kind.decode_lossy(), guard);
    Some(format!(
        "[A part of the type `{kind}` was left out: only text is taken.]"
    ))
}

/// The first parts, together in at most `room` characters, and how many are
/// left out.
fn bounded(parts: Vec<String>, room: usize, guard: &Guard) -> Vec<String> {
    let count = parts.len();
    let mut room = room.saturating_sub(LEAST_ROOM);
    let mut kept = Vec::new();
    for part in parts.into_iter().take(MAX_ANSWER_PARTS) {
        let part = guard.redact(&part).into_owned();
        let chars = part.chars().count();
        if chars > room {
            if room >= LEAST_ROOM {
                kept.push(cut_result(part, room, guard));
            }
            break;
        }
        room -= chars;
        kept.push(part);
    }
    let left = count - kept.len();
    if left > 0 {
        kept.push(format!("[… {left} more parts left out]"));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(Vec<String>, bool)> {
        read_answer(text.as_bytes(), &Guard::default())
            .map(|answer| (answer.parts, answer.is_error))
    }

    #[test]
    fn an_object_of_the_form_is_an_answer() {
        let a = r#" {"content":[{"type":"text","text":"\u0061\n"}],"is_error":true}"#;
        assert_eq!(read(a), Some((vec!["a\n".to_owned()], true)));
        let more = r#"{"is_error":false,"other":1,"content":[{"type":"text","text":"x","y":2},
            {"type":"text","text":"\ud800"}]}"#;
        let expected = vec!["x".to_owned(), "\u{FFFD}".to_owned()];
        assert_eq!(read(more), Some((expected, false)));
        assert_eq!(read(r#"{"content":[]}"#), Some((vec![], false)));
        let image = r#"{"content":[{"type":"image","data":"AA=="}]}"#;
        let told = "[A part of the type `image` was left out: only text is taken.]";
        assert_eq!(read(image), Some((vec![told.to_owned()], false)));
    }

    #[test]
    fn whatever_else_is_no_answer() {
        for text in [
            "",
            "plain",
            "[]",
            "null",
            r#"{"result":1}"#,
            r#"{"content":"text"}"#,
            r#"{"content":["text"]}"#,
            r#"{"content":[{"type":"text"}]}"#,
            r#"{"content":[{"text":"x"}]}"#,
            r#"{"content":[],"is_error":"no"}"#,
            r#"{"content":[],"content":[]}"#,
            r#"{"content":[]} {"content":[]}"#,
            r#"{"content":[]"#,
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    // covers: DEC-34
    #[test]
    fn parts_share_one_bound_and_the_cut_is_told() {
        let part = |chars| "a".repeat(chars);
        let guard = Guard::default();
        let all = |parts: &[String]| parts.iter().map(|part| part.chars().count()).sum::<usize>();
        assert_eq!(
            bounded(vec![part(10), part(20)], 200, &guard),
            [part(10), part(20)]
        );
        let cut = bounded(vec![part(300), part(300), part(300)], 500, &guard);
        assert_eq!(cut.len(), 3);
        assert!(
            cut[1].ends_with(" characters cut]") && all(&cut) <= 500,
            "{cut:?}"
        );
        assert_eq!(cut[2], "[… 1 more parts left out]");
        let many = bounded(vec![part(1); 1_000], 5_000, &guard);
        assert_eq!(many.len(), MAX_ANSWER_PARTS + 1);
        assert_eq!(bounded(vec![part(50), part(90)], 150, &guard).len(), 2);
    }
}
