//! `agentx sessions`: what is stored, for people or for programs.

use crate::options::Question;
use crate::options::Telling;
use crate::refusal::Refusal;
use crate::session::home_path;
use agentx_core::json::{RawJson, Writer};
use agentx_core::store::{Entry, EntryBlock};
use agentx_store::{Store, StoreError, Summary};
use jiff::Timestamp;
use std::fmt::Write as _;

/// Version of the documents.
const VERSION: u64 = 1;

/// Answers the question on stdout; gives the exit status.
///
/// # Errors
///
/// A store that cannot be read, or no such session (status 1); nothing is on
/// stdout then.
pub(crate) fn run(question: &Question) -> Result<u8, Refusal> {
    Ok(crate::say(&tell(question)?))
}

/// The answer to the question.
///
/// # Errors
///
/// As for [`run`].
pub(crate) fn tell(question: &Question) -> Result<String, Refusal> {
    let store = Store::open_existing(&home_path()?);
    let store = store.map_err(|error| unreadable(&error))?;
    Ok(match question {
        Question::List { output_format } => {
            let sessions = store.map_or(Ok(Vec::new()), |store| store.sessions());
            let sessions = sessions.map_err(|error| unreadable(&error))?;
            match output_format.unwrap_or_default() {
                Telling::Text => list_text(&sessions),
                Telling::Json => list_json(&sessions),
            }
        }
        Question::Show { id, output_format } => {
            let store = store.ok_or_else(|| unknown(id))?;
            let told = match output_format.unwrap_or_default() {
                Telling::Text => show_text(&store, id),
                Telling::Json => show_json(&store, id),
            };
            told.map_err(|error| match error {
                StoreError::Unknown => unknown(id),
                error => Refusal::failed(format_args!("session {id}: {error}")),
            })?
        }
    })
}

fn unknown(id: &str) -> Refusal {
    Refusal::failed(format_args!(
        "no stored session has the id {id:?}; agentx sessions list shows all"
    ))
}

fn unreadable(error: &StoreError) -> Refusal {
    Refusal::failed(format_args!("the session store: {error}"))
}

/// A line for each session: id, when it was written last, prompts, title.
fn list_text(sessions: &[Summary]) -> String {
    let mut text = String::new();
    for session in sessions {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{}  {}  {:>3} {}  {}",
            session.id,
            time(session.updated_ms),
            session.prompts,
            if session.prompts == 1 {
                "prompt "
            } else {
                "prompts"
            },
            printable(&session.title)
        );
    }
    text
}

fn list_json(sessions: &[Summary]) -> String {
    let mut writer = Writer::new();
    writer.begin_object();
    writer.member_u64("version", VERSION);
    writer.key("sessions");
    writer.begin_array();
    for session in sessions {
        write_summary(session, &mut writer);
    }
    writer.end_array();
    writer.end_object();
    document(writer)
}

/// What a program is told of a session. The route of its provider is not.
fn write_summary(session: &Summary, writer: &mut Writer) {
    writer.begin_object();
    writer.member_str("session_id", &session.id);
    writer.member_str("created_at", &time(session.created_ms));
    writer.member_str("updated_at", &time(session.updated_ms));
    writer.member_str("cwd", &session.cwd);
    writer.member_str("provider", &session.binding.provider);
    writer.member_str("provider_type", &session.binding.kind);
    writer.member_str("model", &session.binding.model);
    writer.member_str("title", &session.title);
    writer.member_u64("prompts", session.prompts);
    writer.member_opt_str("forked_from", session.origin.as_deref());
    writer.end_object();
}

fn document(writer: Writer) -> String {
    let mut text = String::from_utf8_lossy(&writer.finish()).into_owned();
    text.push('\n');
    text
}

fn show_json(store: &Store, id: &str) -> Result<String, StoreError> {
    let mut entries = Vec::new();
    let session = store.each_entry(id, |_, text| {
        let entry = RawJson::parse(text).map_err(|_| StoreError::Corrupt);
        entry.map(|entry| entries.push(entry))
    })?;
    let mut writer = Writer::new();
    writer.begin_object();
    writer.member_u64("version", VERSION);
    writer.key("session");
    write_summary(&session, &mut writer);
    writer.key("entries");
    writer.begin_array();
    for entry in &entries {
        writer.raw(entry);
    }
    writer.end_array();
    writer.end_object();
    Ok(document(writer))
}

fn show_text(store: &Store, id: &str) -> Result<String, StoreError> {
    let mut entries = String::new();
    let session = store.each_entry(id, |entry, _| {
        show_entry(&entry, &mut entries);
        Ok::<(), StoreError>(())
    })?;
    let binding = &session.binding;
    let origin = session.origin.iter();
    let origin: String = origin.map(|id| format!("forked    {id}\n")).collect();
    Ok(format!(
        "session   {}\n{origin}folder    {}\nprovider  {} ({}, {})\nbegun     {}\nwritten   {}\n{entries}",
        session.id,
        printable(&session.cwd),
        binding.provider,
        binding.kind,
        printable(&binding.model),
        time(session.created_ms),
        time(session.updated_ms),
    ))
}

fn show_entry(entry: &Entry, out: &mut String) {
    let mut head = |what: &str| {
        let _ = writeln!(out, "\n{}  {what}", time(entry.time_ms()));
    };
    match entry {
        Entry::Prompt(prompt) => {
            head("user");
            prompt.content.iter().for_each(|part| indent(part, out));
        }
        Entry::Context(context) => {
            head("context");
            context.content.iter().for_each(|part| indent(part, out));
        }
        Entry::Answer(answer) => {
            head("assistant");
            answer
                .content
                .iter()
                .for_each(|block| show_block(block, out));
        }
        Entry::Result(result) => {
            let failed = if result.is_error { ", an error" } else { "" };
            head(&format!(
                "result of {}{failed}",
                printable(&result.tool_use_id)
            ));
            result
                .content
                .iter()
                .for_each(|part| indent(&part.text, out));
        }
        Entry::Turn(turn) => head(&format!(
            "end of turn: {}, {} requests, {} tokens",
            turn.stop_reason.as_str(),
            turn.num_turns,
            turn.usage.total()
        )),
    }
}

fn show_block(block: &EntryBlock, out: &mut String) {
    match block {
        EntryBlock::Text(block) => indent(&block.text, out),
        EntryBlock::Thinking(block) => indent(&format!("(thinking) {}", block.thinking), out),
        EntryBlock::RedactedThinking(_) => indent("(secret thinking)", out),
        EntryBlock::Call(call) => {
            indent(
                &format!("{} {} {}", call.name, call.id, call.input.as_str()),
                out,
            );
        }
    }
}

fn indent(text: &str, out: &mut String) {
    for line in text.lines() {
        let _ = writeln!(out, "    {}", printable(line));
    }
}

/// Text of others without anything that moves a terminal.
fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() && c != '\t' {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// RFC 3339, in UTC, to the second.
fn time(milliseconds: u64) -> String {
    let seconds = i64::try_from(milliseconds / 1_000).unwrap_or(i64::MAX);
    Timestamp::from_second(seconds).map_or_else(|_| "-".to_owned(), |time| time.to_string())
}
