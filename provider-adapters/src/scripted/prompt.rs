//! Scripts inside prompts, found by looking at the history alone.
//!
//! The history does not tell prompts from notes that the agent adds on the
//! user's side, so this is settled by where a message stands. A message with
//! the marker is a prompt. One without it is a note if it follows an answer or
//! tool results while the script of the last marked prompt has steps left;
//! otherwise it is a prompt, and the script is over. So a script goes on over
//! a note in the middle of its turn, a script that has run out never answers
//! for the next prompt, and neither does one whose turn ended before its first
//! answer.

use super::turn::Turn;
use crate::strict::Fields;
use agentx_core::json::{ScanLimits, Scanner};
use agentx_core::model::Message;
use std::sync::Arc;

/// What announces a script. The object begins at the brace.
const MARKER: &str = "SCRIPT {";

/// The answer to a request with this history, or why there is none.
pub(super) fn turn_for(history: &[Arc<Message>]) -> Result<Turn, String> {
    let mut scene = Scene::default();
    let mut after_answer = false;
    for message in history {
        match &**message {
            Message::User(parts) => scene.user(parts, after_answer),
            Message::Assistant(_) => scene.answered += 1,
            Message::ToolResults(_) => {}
        }
        after_answer = !matches!(**message, Message::User(_));
    }
    scene.turn()
}

/// The prompt that is being answered.
#[derive(Default)]
struct Scene<'a> {
    prompt: &'a [String],
    /// The steps of its script, if it has one.
    script: Option<Result<Vec<Turn>, String>>,
    /// Answers since that prompt.
    answered: usize,
}

impl<'a> Scene<'a> {
    fn user(&mut self, parts: &'a [String], after_answer: bool) {
        let script = parts.iter().find_map(|text| script_in(text));
        let steps_left = matches!(&self.script, Some(Ok(steps)) if self.answered < steps.len());
        if script.is_none() && after_answer && steps_left {
            return;
        }
        *self = Self {
            prompt: parts,
            script,
            answered: 0,
        };
    }

    fn turn(self) -> Result<Turn, String> {
        let Some(script) = self.script else {
            return Ok(Turn::saying(format!("echo: {}", self.prompt.join("\n"))));
        };
        let mut steps = script?;
        let count = steps.len();
        if self.answered >= count {
            return Err(format!(
                "the prompt's script has no step for model request {}: it holds {count}",
                self.answered + 1
            ));
        }
        Ok(steps.swap_remove(self.answered))
    }
}

/// The script that a text holds, if it holds the marker.
fn script_in(text: &str) -> Option<Result<Vec<Turn>, String>> {
    let (_, after) = text.split_once(MARKER)?;
    let object = text.get(text.len() - after.len() - 1..)?;
    Some(read(object))
}

fn read(text: &str) -> Result<Vec<Turn>, String> {
    let end = object_end(text).ok_or("the prompt's script: the object does not end")?;
    let object = text.get(..end).unwrap_or_default();
    let mut scanner = Scanner::new();
    let value = scanner.scan(object.as_bytes(), &ScanLimits::DEFAULT);
    let value = value.map_err(|error| format!("the prompt's script: {error}"))?;
    let steps = Fields::open(value, "script".into(), &["steps"]).and_then(|fields| {
        fields.need("steps")?;
        Turn::read_all(fields.array("steps")?)
    });
    steps.map_err(|fault| format!("the prompt's {fault}"))
}

/// Where the object at the start of the text ends.
fn object_end(text: &str) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' if !quoted => depth += 1,
            b'}' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}
