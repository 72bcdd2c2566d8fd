//! Failures of a model request, in the words of the wire.
//!
//! A provider's own message is passed on as a bounded excerpt, cut at white
//! space: a key holds none, so a cut can leave no part of an echoed key that
//! the agent would not recognise and replace.

use crate::http::{FailureKind, TransportFailure};
use crate::limits::{ERROR_BODY_BYTES, ERROR_EXCERPT_CHARS};
use agentx_core::json::{ScanLimits, Scanner, Value};
use agentx_core::model::{ErrorCategory, ModelFailure};

#[cfg(test)]
mod tests;

/// A failed attempt and what may be done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) model: ModelFailure,
    /// Whether another attempt may fare better.
    pub(crate) transient: bool,
    /// The cause in our words alone, for stderr, where there is no status.
    pub(crate) cause: &'static str,
}

impl Failure {
    /// A final failure without a status.
    pub(crate) fn new(category: ErrorCategory, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            model: ModelFailure {
                category,
                status: None,
                message,
            },
            transient: false,
            cause: "the answer broke off",
        }
    }

    /// A stream that ended, or lost its meaning, before the answer was whole.
    pub(crate) fn broken_stream(message: impl Into<String>) -> Self {
        Self::new(ErrorCategory::ServerError, message)
    }

    pub(crate) const fn transient(mut self) -> Self {
        self.transient = true;
        self
    }

    /// The cause for stderr: no secret, and nothing that a provider wrote.
    pub(crate) fn safe_cause(&self) -> String {
        match self.model.status {
            Some(status) => format!("status {status}"),
            None => self.cause.to_owned(),
        }
    }
}

/// What a provider says about an error, as far as it can be read.
#[derive(Debug, Default, PartialEq, Eq)]
struct Report {
    message: Option<String>,
    kind: Option<String>,
    code: Option<String>,
    status: Option<u16>,
}

impl Report {
    /// Reads the shapes in use: `{"error":{…}}`, `{"error":"…"}`, the error
    /// object itself, and `{"detail":"…"}`.
    fn read(value: Value<'_>) -> Self {
        let error = match member(value, "error") {
            Some(error) if !error.is_null() => error,
            _ => value,
        };
        let word = |name| member(error, name).and_then(text);
        let number = |name| member(error, name).and_then(Value::as_u64);
        Self {
            message: text(error)
                .or_else(|| word("message"))
                .or_else(|| word("detail")),
            kind: word("type"),
            code: word("code"),
            status: number("code")
                .or_else(|| number("status"))
                .and_then(|status| u16::try_from(status).ok())
                .filter(|status| (400..600).contains(status)),
        }
    }

    /// The status under which vendors send an error of this type or code.
    fn usual_status(&self) -> Option<u16> {
        [&self.code, &self.kind]
            .into_iter()
            .flatten()
            .find_map(|word| match word.as_str() {
                "invalid_request_error"
                | "invalid_prompt"
                | "context_length_exceeded"
                | "content_filter" => Some(400),
                "authentication_error" | "invalid_api_key" => Some(401),
                "billing_error" => Some(402),
                "permission_error" => Some(403),
                "not_found_error" | "model_not_found" => Some(404),
                "request_too_large" => Some(413),
                "rate_limit_error" | "rate_limit_exceeded" | "insufficient_quota" => Some(429),
                "api_error" | "server_error" | "internal_server_error" => Some(500),
                "timeout_error" => Some(504),
                "overloaded_error" | "service_unavailable" => Some(529),
                _ => None,
            })
    }

    /// Whether the account is empty, which no waiting mends.
    fn out_of_quota(&self) -> bool {
        [&self.code, &self.kind]
            .into_iter()
            .flatten()
            .any(|word| word == "insufficient_quota")
    }
}

/// An answer whose status is no success. `body` may be cut at
/// [`ERROR_BODY_BYTES`].
pub(crate) fn of_status(status: u16, body: &[u8]) -> Failure {
    let mut scanner = Scanner::new();
    let report = scanner
        .scan(body, &ScanLimits::DEFAULT)
        .map(Report::read)
        .ok();
    let cut = body.len() >= ERROR_BODY_BYTES;
    let words = match &report {
        Some(report) => report.message.as_deref().and_then(excerpt),
        None if cut => cut_message(body).or_else(|| plain_text(body).and_then(excerpt)),
        None => plain_text(body).and_then(excerpt),
    };
    let quota = report.is_some_and(|report| report.out_of_quota());
    let mut message = format!("the model API answered with status {status}");
    if let Some(words) = words {
        message.push_str(": ");
        message.push_str(&words);
    } else if cut {
        message.push_str(&format!(" and over {ERROR_BODY_BYTES} bytes"));
    } else if (300..400).contains(&status) {
        message.push_str(": redirects are not followed");
    }
    Failure {
        model: ModelFailure {
            category: ErrorCategory::of_status(status),
            status: Some(status),
            message,
        },
        transient: crate::retry::status_is_transient(status) && !quota,
        cause: "",
    }
}

/// An error that a provider reports inside a stream whose status was a success.
pub(crate) fn of_stream(value: Value<'_>) -> Failure {
    let report = Report::read(value);
    let status = report.status.or_else(|| report.usual_status());
    let mut message = "the model API reported an error in its stream".to_owned();
    if let Some(words) = report.message.as_deref().and_then(excerpt) {
        message.push_str(": ");
        message.push_str(&words);
    }
    Failure {
        model: ModelFailure {
            category: status.map_or(ErrorCategory::ServerError, ErrorCategory::of_status),
            status: report.status,
            message,
        },
        transient: status.is_none_or(crate::retry::status_is_transient) && !report.out_of_quota(),
        cause: "an error in the stream",
    }
}

/// A transport fault. A stream that was cut counts as the server's failure
/// (DEC-41), a server that was never reached as unknown.
pub(crate) fn of_transport(failure: TransportFailure, answer_began: bool) -> Failure {
    let (category, what) = match failure.kind {
        _ if answer_began => (ErrorCategory::ServerError, "the answer was cut"),
        FailureKind::Cut | FailureKind::Malformed => {
            (ErrorCategory::ServerError, "no answer from the model API")
        }
        _ => (ErrorCategory::Unknown, "no answer from the model API"),
    };
    let mut out = Failure::new(category, format!("{what}: {}", failure.text));
    out.transient = crate::retry::transport_is_transient(failure.kind);
    out.cause = failure.text;
    out
}

fn member<'a>(value: Value<'a>, name: &str) -> Option<Value<'a>> {
    value.as_object()?.get(name)
}

/// The text of a string.
fn text(value: Value<'_>) -> Option<String> {
    value.as_str().map(|text| text.decode_lossy().into_owned())
}

/// The message of a JSON body that was cut: the first text of that name that
/// has begun, without the word in which it ends.
fn cut_message(body: &[u8]) -> Option<String> {
    let text = body.utf8_chunks().next()?.valid();
    if !text.trim_start().starts_with('{') {
        return None;
    }
    let mut scanner = Scanner::new();
    text.match_indices("\"message\"").find_map(|(at, name)| {
        let value = text.get(at + name.len()..)?.trim_start();
        let value = value.strip_prefix(':')?.trim_start().strip_prefix('"')?;
        let words = excerpt(&beginning(value, &mut scanner)?)?;
        Some(words)
    })
}

/// The text of a string whose opening quote is taken off and which may have no end.
fn beginning(raw: &str, scanner: &mut Scanner) -> Option<String> {
    let mut escaped = false;
    let end = raw.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    // Without an end the last word may be half a word, and half an escape.
    let whole = match end {
        Some(end) => raw.get(..end)?,
        None => raw.get(..raw.rfind(' ')?)?,
    };
    let quoted = format!("\"{whole}\"");
    let value = scanner.scan(quoted.as_bytes(), &ScanLimits::DEFAULT).ok()?;
    text(value)
}

/// A body that is neither JSON nor markup.
fn plain_text(body: &[u8]) -> Option<&str> {
    let text = if body.len() < ERROR_BODY_BYTES {
        std::str::from_utf8(body).ok()?
    } else {
        body.utf8_chunks().next()?.valid()
    };
    let text = text.trim();
    let plain = !text.starts_with(['<', '{', '[', '"']);
    plain.then_some(text)
}

/// At most [`ERROR_EXCERPT_CHARS`] characters on one line, cut at white space;
/// `None` when nothing can be shown.
pub(crate) fn excerpt(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = 0;
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        if word.is_empty() {
            continue;
        }
        chars += word.chars().count() + 1;
        if chars > ERROR_EXCERPT_CHARS {
            out.push_str(if out.is_empty() { "" } else { " …" });
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    (!out.is_empty()).then_some(out)
}
