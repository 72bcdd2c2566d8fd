//! Control requests of the host and its answers to ours.

use super::{ControlRequest, ControlResponse, Malformed, Operation, ParseContext, ResponseBody};
use crate::json::{Object, RawJson, Value};
use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub(super) fn request(
    record: Object<'_>,
    context: &ParseContext<'_>,
) -> Result<ControlRequest, Malformed> {
    Ok(ControlRequest {
        id: request_id(record)?,
        operation: operation(record, context),
    })
}

/// The operation, or the text of the correlated error (DEC-04, DEC-07).
fn operation(record: Object<'_>, context: &ParseContext<'_>) -> Result<Operation, String> {
    if record.value().has_unpaired_surrogate() {
        return Err("unpaired surrogate escape".into());
    }
    let request = match record.get("request") {
        None => return Err("missing request".into()),
        Some(request) if request.is_null() => return Err("missing request".into()),
        Some(request) => request.as_object().ok_or("request must be an object")?,
    };
    let subtype = request.get("subtype").ok_or("missing subtype")?;
    let subtype = decoded(subtype).ok_or("subtype must be a string")?;
    let extra_fields = request.len() > 1;
    Ok(match &*subtype {
        "initialize" => Operation::Initialize { extra_fields },
        "interrupt" => Operation::Interrupt { extra_fields },
        "get_context_usage" => Operation::GetContextUsage { extra_fields },
        "mcp_status" => Operation::McpStatus { extra_fields },
        "set_model" => Operation::SetModel,
        "set_permission_mode" => Operation::SetPermissionMode,
        "set_max_thinking_tokens" => Operation::SetMaxThinkingTokens,
        other => Operation::Other(context.shown(other)),
    })
}

pub(super) fn response(record: Object<'_>) -> Result<ControlResponse, Malformed> {
    let Some(response) = record.get("response").and_then(Value::as_object) else {
        return Err(Malformed {
            at: record.value().start(),
            reason: "control_response without a response object",
        });
    };
    let id = request_id(response)?;
    let body = if record.value().has_unpaired_surrogate() {
        Err("unpaired surrogate escape")
    } else {
        body(response)
    };
    Ok(ControlResponse {
        id,
        uuid: record.get("uuid").and_then(decoded).map(Cow::into_owned),
        body: body.unwrap_or_else(|reason| ResponseBody::Invalid {
            reason: reason.to_string(),
        }),
    })
}

/// The closed union, no optional member null (WIRE-PERM-011, DEC-13).
fn body(response: Object<'_>) -> Result<ResponseBody, &'static str> {
    let subtype = response.get("subtype").ok_or("answer without a subtype")?;
    match decoded(subtype).as_deref() {
        Some("success") => success(response),
        Some("error") => error(response),
        _ => Err("answer is neither success nor error"),
    }
}

fn success(response: Object<'_>) -> Result<ResponseBody, &'static str> {
    let payload = response.get("response");
    if payload.is_some_and(Value::is_null) {
        return Err("payload of a success must not be null");
    }
    let tool_use_id = payload
        .and_then(Value::as_object)
        .and_then(|payload| payload.get("toolUseID"))
        .and_then(decoded)
        .map(Cow::into_owned);
    Ok(ResponseBody::Success {
        payload: payload.map(RawJson::from_value),
        tool_use_id,
    })
}

fn error(response: Object<'_>) -> Result<ResponseBody, &'static str> {
    let message = response
        .get("error")
        .and_then(decoded)
        .ok_or("error answer without an error text")?
        .into_owned();
    let pending_permission_requests = match response.get("pending_permission_requests") {
        None => None,
        Some(list) => Some(
            pending(list)
                .ok_or("pending_permission_requests must be a list of control requests")?,
        ),
    };
    Ok(ResponseBody::Error {
        message,
        pending_permission_requests,
    })
}

/// Complete `control_request` envelopes (WIRE-PERM-010).
fn pending(list: Value<'_>) -> Option<Vec<RawJson>> {
    let envelope = |value: Value<'_>| {
        let envelope = value.as_object()?;
        let is_request = envelope.get("type")?.as_str()? == *"control_request";
        let complete = is_request
            && request_id(envelope).is_ok()
            && envelope.get("request")?.as_object().is_some();
        complete.then(|| RawJson::from_value(value))
    };
    list.as_array()?.iter().map(envelope).collect()
}

/// `request_id`, or its alias where that is absent (WIRE-PERM-012).
fn request_id(object: Object<'_>) -> Result<String, Malformed> {
    let Some(id) = object.get("request_id").or_else(|| object.get("requestId")) else {
        return Err(Malformed {
            at: object.value().start(),
            reason: "control record without request_id",
        });
    };
    decoded(id).map(Cow::into_owned).ok_or_else(|| Malformed {
        at: id.start(),
        reason: "request_id is no readable string",
    })
}

fn decoded(value: Value<'_>) -> Option<Cow<'_, str>> {
    value.as_str()?.decode().ok()
}
