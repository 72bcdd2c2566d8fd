//! Values against JSON Schemas (RT-SCHM-004 to 006).
//!
//! Schemas are read as draft 2020-12 unless they name another draft. Nothing
//! outside a schema is ever fetched; patterns run on an engine of linear time,
//! so those with look-around or back references are refused; `format` asserts
//! nothing. A validation cannot be stopped from outside: it runs on a thread that
//! nobody waits for, with a stack for everything that fits the bounds.

use crate::contain::contained;
use agentx_core::structured::{OutputSchema, Validation, Validity};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError};
use serde_json::Value;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

#[cfg(test)]
mod tests;

/// Validations that run at once; others wait, and their time runs.
pub(crate) const THREADS: usize = 2;

/// Stack of a validation: the deepest value under a schema whose subschemas all
/// stand inside one another. It is reserved, and used as far as it is needed.
pub(crate) const STACK_BYTES: usize = 512 << 20;

/// Faults of one value that are looked for.
const FAULTS: usize = 16;

/// Characters of one fault that are kept.
const FAULT_CHARS: usize = 1_000;

/// Branches of `anyOf` and `oneOf` of which the first fault is told.
const BRANCHES: usize = 3;

/// A compiled pattern, and the table of its automaton.
const PATTERN_BYTES: usize = 1 << 20;

/// How long a schema may take to be read before a session.
const CHECK_TIME: Duration = Duration::from_secs(3);

/// Looks whether a schema can be used, before a session depends on it.
///
/// # Errors
///
/// What is wrong with it and where, in one line that may quote the schema.
pub fn check(schema: &OutputSchema) -> Result<(), String> {
    let (answer, answers) = channel();
    let schema = schema.clone();
    let read = move || {
        let read = contained(|| compile(&schema).map(|_| ()));
        let failed = || Err("the validator failed inside; this is a fault of AgentX".to_owned());
        let _ = answer.send(read.unwrap_or_else(failed));
    };
    let spawned = thread::Builder::new()
        .name("schema".into())
        .stack_size(STACK_BYTES)
        .spawn(read);
    spawned.map_err(|error| format!("no thread to read it: {error}"))?;
    answers
        .recv_timeout(CHECK_TIME)
        .unwrap_or_else(|_| Err(format!("not read in {} s", CHECK_TIME.as_secs())))
}

/// Validates, and keeps the newest schema as it was compiled.
#[derive(Default)]
pub(crate) struct Schemas(Mutex<Option<(OutputSchema, Arc<jsonschema::Validator>)>>);

impl Schemas {
    /// Holds a value against its schema.
    pub(crate) fn validate(&self, validation: &Validation) -> Validity {
        let Some(validator) = self.validator(&validation.schema) else {
            return Validity::Unknown;
        };
        match serde_json::from_str::<Value>(validation.value.as_str()) {
            Ok(value) => judge(&validator, &value),
            // A number that no machine number comes near.
            Err(error) => Validity::Breaks(vec![error.to_string()]),
        }
    }

    fn validator(&self, schema: &OutputSchema) -> Option<Arc<jsonschema::Validator>> {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, validator)) = &*kept()
            && known == schema
        {
            return Some(Arc::clone(validator));
        }
        // Not under the lock: it may take long.
        let validator = Arc::new(compile(schema).ok()?);
        *kept() = Some((schema.clone(), Arc::clone(&validator)));
        Some(validator)
    }
}

fn compile(schema: &OutputSchema) -> Result<jsonschema::Validator, String> {
    let schema: Value =
        serde_json::from_str(schema.as_raw().as_str()).map_err(|e| e.to_string())?;
    let patterns = PatternOptions::regex()
        .size_limit(PATTERN_BYTES)
        .dfa_size_limit(PATTERN_BYTES);
    jsonschema::options()
        .offline()
        .should_validate_formats(false)
        .with_pattern_options(patterns)
        .build(&schema)
        .map_err(|error| located(error.instance_path().as_str(), &error.to_string()))
}

fn judge(validator: &jsonschema::Validator, value: &Value) -> Validity {
    let faults = validator.iter_errors(value).take(FAULTS);
    let faults: Vec<String> = faults.map(|fault| told(&fault)).collect();
    if faults.is_empty() {
        Validity::Fits
    } else {
        Validity::Breaks(faults)
    }
}

/// A fault without the value it was found in.
fn told(fault: &ValidationError<'_>) -> String {
    let mut text = one(fault);
    if let ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } =
        fault.kind()
    {
        let branches = context.iter().filter_map(|branch| branch.first());
        let branches: Vec<String> = branches.take(BRANCHES).map(one).collect();
        text = format!("{text} ({})", branches.join("; "));
    }
    text.chars().take(FAULT_CHARS).collect()
}

fn one(fault: &ValidationError<'_>) -> String {
    let text = fault.masked_with("the value").to_string();
    located(fault.instance_path().as_str(), &text)
}

fn located(path: &str, text: &str) -> String {
    let text: String = text.chars().take(FAULT_CHARS).collect();
    if path.is_empty() {
        text
    } else {
        format!("at {path}: {text}")
    }
}
