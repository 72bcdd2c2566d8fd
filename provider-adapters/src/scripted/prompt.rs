//! Scripts inside prompts.
//!
//! The request says which message is the prompt and how many requests it had;
//! notes that the agent adds on the user's side are no prompts.

use super::turn::Turn;
use agentx_core::json::closed::Fields;
use agentx_core::json::{ScanLimits, Scanner};
use agentx_core::model::{Message, ModelRequest};

/// What announces a script. The object begins at the brace.
const MARKER: &str = "SCRIPT {";

/// The answer to a request, or why there is none.
pub(super) fn turn_for(request: &ModelRequest) -> Result<Turn, String> {
    let prompt = match request
        .history
        .get(request.prompt)
        .map(|message| &**message)
    {
        Some(Message::User(parts)) => parts.as_slice(),
        _ => &[],
    };
    let Some(script) = prompt.iter().find_map(|text| script_in(text)) else {
        return Ok(Turn::saying(format!("echo: {}", prompt.join("\n"))));
    };
    let mut steps = script?;
    let (count, step) = (steps.len(), request.round as usize);
    if step >= count {
        return Err(format!(
            "the prompt's script has no step for model request {}: it holds {count}",
            step + 1
        ));
    }
    Ok(steps.swap_remove(step))
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
