//! A session as people read it.

use crate::speak::{content, parts, text};
use agentx_core::json::{Object, Value};
use agentx_pump::terminal::printable;
use std::fmt::Write as _;

/// How a session is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// The records themselves.
    Records,
    /// Text.
    Plain,
    /// Text for a terminal.
    Coloured,
}

/// Who speaks, in a column of this width.
const COLUMN: usize = 10;

/// Colours of speakers, as parameters of the terminal's escape sequence.
const BOLD: &str = "1";
const BLUE: &str = "1;34";
const GREEN: &str = "1;32";
const YELLOW: &str = "1;33";
const GREY: &str = "2";

/// Turns records into what is shown of them.
#[derive(Debug)]
pub(super) struct Transcript {
    style: Style,
    folder: String,
}

impl Transcript {
    /// A transcript of a session that works in `folder`.
    pub(super) fn new(style: Style, folder: &str) -> Self {
        Self {
            style,
            folder: folder.to_owned(),
        }
    }

    /// What is shown of a record; `prompt` is what the host answers the first one.
    pub(super) fn record(&self, record: Object<'_>, prompt: &str) -> String {
        if self.style == Style::Records {
            return format!("{}\n", record.value().raw());
        }
        let mut shown = String::new();
        match text(record, "type").unwrap_or_default().as_str() {
            "system" if text(record, "subtype").is_some_and(|kind| kind == "init") => {
                self.beginning(record, prompt, &mut shown);
            }
            "assistant" => self.answer(record, &mut shown),
            "user" => self.results(record, &mut shown),
            "control_request" => self.question(record, &mut shown),
            "result" => self.end(record, &mut shown),
            _ => {}
        }
        shown
    }

    fn line(&self, colour: &str, who: &str, what: &str, shown: &mut String) {
        let mut who = format!("{who:COLUMN$}");
        for line in printable(what).lines() {
            let head = if self.style == Style::Coloured {
                format!("\x1b[{colour}m{who}\x1b[0m")
            } else {
                who
            };
            // Writing to a String cannot fail.
            let _ = writeln!(shown, "{head}{line}");
            who = " ".repeat(COLUMN);
        }
    }

    fn beginning(&self, init: Object<'_>, prompt: &str, shown: &mut String) {
        let model = text(init, "model").unwrap_or_default();
        let facts = format!("model {model}, working in {}", self.folder);
        self.line(GREY, "session", &facts, shown);
        self.line(BOLD, "user", prompt, shown);
    }

    fn answer(&self, record: Object<'_>, shown: &mut String) {
        for block in content(record) {
            if let Some(said) = text(block, "text") {
                self.line(BLUE, "agent", &said, shown);
            } else if let Some(tool) = text(block, "name") {
                let input = block.get("input").map_or("", Value::raw);
                self.line(YELLOW, "call", &format!("{tool} {input}"), shown);
            }
        }
    }

    fn results(&self, record: Object<'_>, shown: &mut String) {
        for part in content(record).flat_map(parts) {
            self.line(GREY, "result", &part, shown);
        }
    }

    fn question(&self, record: Object<'_>, shown: &mut String) {
        let request = record.get("request").and_then(Value::as_object);
        let tool = request.and_then(|request| text(request, "tool_name"));
        let id = text(record, "request_id").unwrap_or_default();
        let question = format!("May {} run? ({id})", tool.unwrap_or_default());
        self.line(YELLOW, "question", &question, shown);
        self.line(
            BOLD,
            "host",
            "Yes: {\"behavior\":\"allow\",\"updatedInput\":{}}",
            shown,
        );
    }

    fn end(&self, record: Object<'_>, shown: &mut String) {
        let number = |object: Object<'_>, member: &str| {
            let value = object.get(member).and_then(Value::as_u64);
            value.unwrap_or_default()
        };
        let usage = record.get("usage").and_then(Value::as_object);
        let tokens = |member: &str| usage.map_or(0, |usage| number(usage, member));
        let outcome = format!(
            "{}: {} model requests, {} tokens in, {} out",
            text(record, "subtype").unwrap_or_default(),
            number(record, "num_turns"),
            tokens("input_tokens"),
            tokens("output_tokens"),
        );
        self.line(GREEN, "end", &outcome, shown);
    }
}
