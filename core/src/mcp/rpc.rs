//! JSON-RPC 2.0 messages as an MCP client reads and writes them. Leaves:
//! nothing here decides.

use super::text::CODE_CHARS;
use crate::json::{Object, RawJson, ScanLimits, Scanner, Value, Writer};
use crate::text::cut;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};

/// The code of an error that says a method is not known.
pub(super) const METHOD_NOT_FOUND: i64 = -32_601;

/// The code of an error that says parameters are wrong.
pub(super) const INVALID_PARAMS: i64 = -32_602;

/// The code of an error that says a request is not taken now.
pub(super) const OVERLOADED: i64 = -32_000;

/// A message that a server sends by itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent<'a> {
    /// The id that an answer repeats; `None` for a notification.
    pub(super) id: Option<Value<'a>>,
    /// What it wants.
    pub(super) method: &'a str,
    /// With what.
    pub(super) params: Option<Object<'a>>,
}

/// Reads a message and hands it on.
///
/// `read` gets the whole message as a value. What it says is given back; a text
/// that is no JSON cannot come, since a [`RawJson`] holds some.
pub(super) fn with<T>(
    message: &RawJson,
    read: impl FnOnce(Value<'_>) -> Result<T, String>,
) -> Result<T, String> {
    let mut scanner = Scanner::new();
    match scanner.scan(message.as_str().as_bytes(), &ScanLimits::DEFAULT) {
        Ok(value) => read(value),
        Err(error) => Err(error.to_string()),
    }
}

/// The envelope of every message.
fn envelope(message: Value<'_>) -> Result<Object<'_>, String> {
    let object = message.as_object().ok_or("it is no object")?;
    let version = object.get("jsonrpc").and_then(Value::as_str);
    if version.is_some_and(|version| version == *"2.0") {
        Ok(object)
    } else {
        Err("it is no JSON-RPC 2.0 message".to_string())
    }
}

/// Reads what answers the request `id`: its result, or its error as a text.
///
/// # Errors
///
/// What keeps the message from being an answer to that request.
pub(super) fn answer(message: Value<'_>, id: u64) -> Result<Result<Object<'_>, String>, String> {
    let object = envelope(message)?;
    if object.get("method").is_some() {
        return Err("it asks instead of answering".to_string());
    }
    if object.get("id").and_then(Value::as_u64) != Some(id) {
        return Err("it answers another request".to_string());
    }
    match (object.get("result"), object.get("error")) {
        (Some(result), None) => {
            let result = result.as_object().ok_or("its result is no object")?;
            Ok(Ok(result))
        }
        (None, Some(error)) => Ok(Err(error_text(error)?)),
        _ => Err("it has not either a result or an error".to_string()),
    }
}

/// The error of a server in words: its code, and its text whole.
fn error_text(error: Value<'_>) -> Result<String, String> {
    let error = error.as_object().ok_or("its error is no object")?;
    let code = error.get("code").and_then(Value::as_number);
    let message = error.get("message").and_then(Value::as_str);
    let (Some(code), Some(message)) = (code, message) else {
        return Err("its error has no code or no message".to_string());
    };
    let code = cut(code, CODE_CHARS);
    Ok(format!("error {code}: {}", message.decode_lossy()))
}

/// Reads a message that a server sends by itself. The method is handed on
/// decoded, since it may be spelled with escapes.
pub(super) fn sent<T>(
    message: Value<'_>,
    read: impl FnOnce(Sent<'_>) -> Result<T, String>,
) -> Result<T, String> {
    let object = envelope(message)?;
    let Some(method) = object.get("method") else {
        return Err("it answers, but not as an answer is passed on".to_string());
    };
    let method: Cow<'_, str> = method
        .as_str()
        .and_then(|method| method.decode().ok())
        .ok_or("its method is no text")?;
    let id = object.get("id");
    if let Some(id) = id
        && (id.has_unpaired_surrogate() || (id.as_str().is_none() && id.as_number().is_none()))
    {
        return Err("its id is neither a text nor a number".to_string());
    }
    let params = match object.get("params") {
        None => None,
        Some(params) => Some(params.as_object().ok_or("its params are no object")?),
    };
    read(Sent {
        id,
        method: &method,
        params,
    })
}

/// A request; `params` writes the members of its parameters.
pub(super) fn request(id: u64, method: &str, params: impl FnOnce(&mut Writer)) -> RawJson {
    message(|w| {
        w.member_u64("id", id);
        w.member_str("method", method);
        w.key("params");
        w.begin_object();
        params(w);
        w.end_object();
    })
}

/// A notification without parameters.
pub(super) fn notification(method: &str) -> RawJson {
    message(|w| w.member_str("method", method))
}

/// The answer to a request of the server; `result` writes the members of it.
pub(super) fn reply(id: &RawJson, result: impl FnOnce(&mut Writer)) -> RawJson {
    message(|w| {
        w.member_raw("id", id);
        w.key("result");
        w.begin_object();
        result(w);
        w.end_object();
    })
}

/// The refusal of a request of the server.
pub(super) fn refusal(id: &RawJson, code: i64, text: &str) -> RawJson {
    message(|w| {
        w.member_raw("id", id);
        w.key("error");
        w.begin_object();
        w.member_i64("code", code);
        w.member_str("message", text);
        w.end_object();
    })
}

fn message(members: impl FnOnce(&mut Writer)) -> RawJson {
    let mut w = Writer::new();
    w.begin_object();
    w.member_str("jsonrpc", "2.0");
    members(&mut w);
    w.end_object();
    // Everything in it was JSON before, or was written as such just now.
    RawJson::parse_bytes(&w.finish()).unwrap_or_else(|_| RawJson::empty_object())
}
