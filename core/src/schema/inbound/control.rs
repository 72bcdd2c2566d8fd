//! Control requests of the host and its answers to ours.

use super::{
    ControlRequest, ControlResponse, Malformed, Operation, ParseContext, ResponseBody, shared,
};
use crate::json::{Object, RawJson, Value};
use crate::schema::declare::{Fault, Member, Shape, open_faults};
use alloc::borrow::Cow;
use alloc::string::{String, ToString};

/// A control request that is served, as schemas tell it.
pub(super) const REQUEST: Shape = Shape::Open(&Shape::Object(&[
    REQUEST_TYPE,
    REQUEST_ID,
    Member::required("request", Operation::SHAPE),
]));

/// An answer of the host, as schemas tell it.
pub(super) const RESPONSE: Shape = Shape::Open(&Shape::Object(&[
    Member::constant("type", "\"control_response\""),
    Member::required(
        "response",
        Shape::OneOf(&[Shape::Object(&SUCCESS), Shape::Object(&ERROR)]),
    ),
]));

pub(super) const REQUEST_TYPE: Member = Member::constant("type", "\"control_request\"");
pub(super) const REQUEST_ID: Member = Member::aliased("request_id", "requestId", Shape::String);

const SUCCESS: [Member; 3] = [
    Member::constant("subtype", "\"success\""),
    REQUEST_ID,
    Member::optional("response", Shape::NotNull),
];

const ERROR: [Member; 4] = [
    Member::constant("subtype", "\"error\""),
    REQUEST_ID,
    Member::required("error", Shape::String),
    Member::optional("pending_permission_requests", Shape::List(&ENVELOPE)),
];

/// A complete `control_request` envelope, whatever it asks (WIRE-PERM-010).
const ENVELOPE: Shape = Shape::Object(&[
    REQUEST_TYPE,
    REQUEST_ID,
    Member::required("request", Shape::Object(&[])),
]);

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
    if record.value().has_unpaired_surrogate() && !context.reference {
        return Err("unpaired surrogate escape".into());
    }
    let request = match record.get("request") {
        None => return Err("missing request".into()),
        Some(request) if request.is_null() => return Err("missing request".into()),
        Some(request) => request.as_object().ok_or("request must be an object")?,
    };
    let subtype = request.get("subtype").ok_or("missing subtype")?;
    let subtype = decoded(subtype).ok_or("subtype must be a string")?;
    if context.reference {
        let other = || Ok(Operation::Other(context.shown(&subtype)));
        let shared = shared::operation(&subtype, request);
        return shared.map_or_else(other, |operation| operation.map(Operation::Shared));
    }
    Ok(Operation::named(&subtype, request.len() > 1, context))
}

pub(crate) fn response(record: Object<'_>) -> Result<ControlResponse, Malformed> {
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
    check(response, &SUCCESS)?;
    let payload = response.get("response");
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
    check(response, &ERROR)?;
    let message = response.get("error").and_then(decoded);
    let pending = response
        .get("pending_permission_requests")
        .and_then(Value::as_array);
    Ok(ResponseBody::Error {
        message: message.ok_or_else(|| reason("error"))?.into_owned(),
        pending_permission_requests: pending
            .map(|list| list.iter().map(RawJson::from_value).collect()),
    })
}

fn check(response: Object<'_>, form: &[Member]) -> Result<(), &'static str> {
    match open_faults(response, form).next() {
        Some(Fault::Missing(name) | Fault::Wrong(name, _)) => Err(reason(name)),
        Some(Fault::Unknown(..)) | None => Ok(()),
    }
}

/// What is told of a member of an answer that is missing or wrong.
fn reason(member: &str) -> &'static str {
    match member {
        "response" => "payload of a success must not be null",
        "error" => "error answer without an error text",
        "pending_permission_requests" => {
            "pending_permission_requests must be a list of control requests"
        }
        _ => "answer of an unknown form",
    }
}

/// The readable request id, or its alias where that is absent (WIRE-PERM-012).
fn request_id(object: Object<'_>) -> Result<String, Malformed> {
    let Some(id) = REQUEST_ID.of(object) else {
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
