//! What is shown, gathered until it is taken.

use super::Facts;
use super::plain::{cut, gist, harmless, one_line};
use super::question::Question;
use crate::speak::text;
use agentx_core::json::{Object, Value};
use agentx_pump::terminal::printable;
use std::fmt::Write as _;

/// Columns of a terminal that does not tell.
const COLUMNS: usize = 80;

/// Columns below which nothing is cut any further.
const FEWEST_COLUMNS: usize = 10;

/// Characters of an input that are looked at for its one line.
const BRIEF_CHARS: usize = 1_000;

/// Colours, as parameters of the terminal's escape sequence.
const BOLD: &str = "1";
const GREY: &str = "2";
const RED: &str = "31";
const YELLOW: &str = "33";

/// Text on its way to the terminal.
#[derive(Debug)]
pub(super) struct Screen {
    colour: bool,
    columns: usize,
    shown: String,
    /// Whether the terminal stands in the middle of a line after all this.
    within: bool,
    /// Whether a carriage return came last, which may belong to a line end.
    returning: bool,
}

impl Screen {
    pub(super) const fn new(colour: bool) -> Self {
        Self {
            colour,
            columns: COLUMNS,
            shown: String::new(),
            within: false,
            returning: false,
        }
    }

    pub(super) fn resize(&mut self, columns: usize) {
        self.columns = columns.max(FEWEST_COLUMNS);
    }

    /// What was gathered.
    pub(super) fn take(&mut self) -> Option<String> {
        (!self.shown.is_empty()).then(|| std::mem::take(&mut self.shown))
    }

    /// The terminal ended a line by itself.
    pub(super) const fn returned(&mut self) {
        self.within = false;
    }

    /// Ends the line, if one was begun.
    pub(super) fn fresh_line(&mut self) {
        if std::mem::take(&mut self.returning) {
            self.shown.push_str("\\r");
        }
        if std::mem::take(&mut self.within) {
            self.shown.push('\n');
        }
    }

    /// A piece of streamed text.
    pub(super) fn piece(&mut self, piece: &str) {
        let mut text = piece;
        if self.returning && !text.is_empty() {
            self.returning = false;
            if !text.starts_with('\n') {
                self.shown.push_str("\\r");
            }
        }
        if let Some(rest) = text.strip_suffix('\r') {
            self.returning = true;
            self.within = true;
            text = rest;
        }
        if !text.is_empty() {
            self.shown.push_str(&printable(&text.replace("\r\n", "\n")));
            self.within = !text.ends_with('\n');
        }
    }

    /// One line, harmless already.
    pub(super) fn line(&mut self, line: &str) {
        self.fresh_line();
        self.shown.push_str(line);
        self.shown.push('\n');
    }

    fn painted(&mut self, colour: &str, line: &str) {
        if self.colour {
            self.line(&format!("\x1b[{colour}m{line}\x1b[0m"));
        } else {
            self.line(line);
        }
    }

    /// As much of a line as one row has room for.
    fn row(&mut self, colour: &str, line: &str) {
        // A full row would begin another one on some terminals.
        let line = cut(line, self.columns - 1);
        self.painted(colour, &line);
    }

    /// A line of a list, as much of it as one row has room for.
    pub(super) fn entry(&mut self, line: &str) {
        let line = cut(&one_line(line), self.columns - 1);
        self.line(&line);
    }

    pub(super) fn aside(&mut self, line: &str) {
        self.painted(GREY, &one_line(line));
    }

    pub(super) fn error(&mut self, error: &str) {
        self.painted(RED, &format!("error: {}", one_line(error)));
    }

    pub(super) fn report(&mut self, line: &str) {
        self.painted(YELLOW, &one_line(line));
    }

    pub(super) fn said(&mut self, prompt: &str) {
        for (at, line) in harmless(prompt).split('\n').enumerate() {
            let head = if at == 0 { "> " } else { "  " };
            self.painted(BOLD, &format!("{head}{line}"));
        }
    }

    pub(super) fn greeting(&mut self, init: Object<'_>, facts: &Facts) {
        let cwd = text(init, "cwd").unwrap_or_default();
        let mode = text(init, "permissionMode").unwrap_or_default();
        let mode = match mode.as_str() {
            "" | "default" => String::new(),
            mode => format!(", permission mode {mode}"),
        };
        let (model, provider) = (&facts.model, &facts.provider);
        self.aside(&format!(
            "model {model} of {provider}, in {cwd}{mode}; /help tells more"
        ));
    }

    pub(super) fn call(&mut self, name: &str, input: Option<Value<'_>>) {
        let input = input.and_then(Value::as_object).map(brief);
        let line = format!("* {} {}", one_line(name), input.unwrap_or_default());
        self.row(BOLD, line.trim_end());
    }

    pub(super) fn outcome(&mut self, name: &str, said: &str, failed: bool) {
        let word = if failed { "failed: " } else { "" };
        let colour = if failed { RED } else { GREY };
        self.row(
            colour,
            &format!("  {}: {word}{}", one_line(name), gist(said)),
        );
    }

    pub(super) fn question(&mut self, question: &Question, whole: bool) {
        self.painted(YELLOW, &format!("? {} wants to run", question.tool));
        self.shown.push_str(&question.shown(whole));
        if let Some(reason) = &question.reason {
            self.painted(GREY, &format!("  {reason}"));
        }
        if let Some(always) = &question.always {
            self.painted(GREY, &format!("  always: {}", always.label));
        }
    }

    pub(super) fn interrupting(&mut self) {
        self.within = true;
        self.aside("(interrupting; once more within 2 s quits)");
    }

    pub(super) fn result(&mut self, record: Object<'_>) {
        let stop = text(record, "stop_reason").unwrap_or_default();
        let errors = record.get("errors").and_then(Value::as_array);
        let errors = errors.into_iter().flatten().filter_map(Value::as_str);
        match stop.as_str() {
            "cancelled" => self.aside("(interrupted)"),
            "max_tokens" => self.aside("(the answer was cut at its limit)"),
            "refusal" => self.aside("(the model refused)"),
            _ => errors.for_each(|error| self.error(&error.decode_lossy())),
        }
        if let Some(account) = account(record) {
            self.aside(&account);
        }
    }
}

/// What the turn took, if it asked the model at all.
fn account(result: Object<'_>) -> Option<String> {
    let number = |object: Object<'_>, member: &str| object.get(member).and_then(Value::as_u64);
    let requests = number(result, "num_turns").filter(|requests| *requests > 0)?;
    let usage = result.get("usage").and_then(Value::as_object);
    let tokens = |member: &str| usage.and_then(|usage| number(usage, member)).unwrap_or(0);
    let mut account = format!(
        "({requests} model request{}, {} tokens in, {} out",
        if requests == 1 { "" } else { "s" },
        tokens("input_tokens"),
        tokens("output_tokens"),
    );
    if let Some(cost) = result.get("total_cost_usd").and_then(Value::as_number) {
        // Writing to a String cannot fail.
        let _ = write!(account, ", {cost} USD");
    }
    account.push(')');
    Some(account)
}

/// An input on one line.
fn brief(input: Object<'_>) -> String {
    let mut brief = String::new();
    for (name, value) in input.iter() {
        if brief.len() > BRIEF_CHARS {
            break;
        }
        if !brief.is_empty() {
            brief.push_str(", ");
        }
        let value = match value.as_str() {
            Some(text) => text.decode_lossy(),
            None => value.raw().into(),
        };
        let value: String = value.chars().take(BRIEF_CHARS).collect();
        let _ = write!(
            brief,
            "{}: {}",
            one_line(&name.decode_lossy()),
            one_line(&value)
        );
    }
    brief
}
