//! Tool calls as a model spells them, read into calls that can be judged.

use super::LoopConfig;
use super::answer::Proposed;
use crate::ids::IdGen;
use crate::json::{RawJson, ScanLimits, Scanner};
use crate::tool::{ToolCall, ToolSpec};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;

/// Makes call ids unique in the session (DEC-35): an empty id, or one that was
/// used before, gets a fresh one; the others stay.
#[derive(Debug)]
pub(crate) struct CallIds {
    used: BTreeSet<Arc<str>>,
    ids: IdGen,
}

impl CallIds {
    pub(crate) const fn new(ids: IdGen) -> Self {
        Self {
            used: BTreeSet::new(),
            ids,
        }
    }

    /// Counts ids of an earlier run of the session as used.
    pub(crate) fn use_up(&mut self, mut ids: BTreeSet<Arc<str>>) {
        self.used.append(&mut ids);
    }

    /// The session-wide id of a call that the model named `id`.
    pub(crate) fn map(&mut self, id: &str) -> Arc<str> {
        let mut mapped: Arc<str> = id.into();
        while mapped.is_empty() || self.used.contains(&mapped) {
            mapped = self.ids.tagged("toolu_").into();
        }
        self.used.insert(Arc::clone(&mapped));
        mapped
    }
}

/// Reads a proposed call. What cannot be read becomes a call with an empty
/// input and the text of its error result; it never ends the turn.
pub(crate) fn read(proposed: Proposed, config: &LoopConfig) -> (ToolCall, Option<String>) {
    let Proposed {
        id,
        name,
        arguments,
    } = proposed;
    let tools = &config.tools;
    let (input, fault) = match input(&arguments, config) {
        Ok(input) => (input, None),
        Err(text) => (RawJson::empty_object(), Some(text)),
    };
    let unknown = || {
        let known = tools.iter().any(|tool| tool.name == name);
        (!known).then(|| format!("Unknown tool: {name}. {}", offered(tools)))
    };
    let fault = unknown().or(fault);
    (ToolCall { id, name, input }, fault)
}

/// Reads the input of a call, or says what is wrong with it.
pub(crate) fn input(arguments: &str, config: &LoopConfig) -> Result<RawJson, String> {
    if arguments.trim().is_empty() {
        return Ok(RawJson::empty_object());
    }
    let depths = ScanLimits {
        max_depth: config.input_depth,
        node_depth: 0,
    };
    let mut scanner = Scanner::new();
    let value = scanner
        .scan(arguments.as_bytes(), &depths)
        .map_err(|error| format!("The arguments of this call are not valid JSON: {error}."))?;
    // Grammar, but no text (DEC-04): a strict reader would refuse our record.
    if value.has_unpaired_surrogate() {
        return Err("The arguments of this call hold an unpaired surrogate escape.".into());
    }
    let input = RawJson::from_value(value);
    if !input.is_object() {
        return Err("The arguments of this call are not a JSON object.".into());
    }
    let bytes = input.as_str().len();
    if bytes > config.input_bytes {
        let most = config.input_bytes;
        return Err(format!(
            "The arguments of this call take {bytes} bytes, and at most {most} can be passed on."
        ));
    }
    if config.guard.check(input.as_str().as_bytes()).is_err() {
        return Err("The arguments of this call hold a credential.".into());
    }
    Ok(input)
}

fn offered(tools: &[ToolSpec]) -> String {
    if tools.is_empty() {
        return "No tools are offered.".into();
    }
    let mut text = String::from("Offered tools:");
    for (n, tool) in tools.iter().enumerate() {
        text.push_str(if n == 0 { " " } else { ", " });
        text.push_str(&tool.name);
    }
    text.push('.');
    text
}
