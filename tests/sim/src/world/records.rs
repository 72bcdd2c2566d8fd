//! Lines that a host writes, newline included.

/// Answers to a question about a call. The first two are the simplest.
pub(super) const PERMISSIONS: [&str; 14] = [
    r#"{"behavior":"allow","updatedInput":{}}"#,
    r#"{"behavior":"deny","message":"no"}"#,
    r#"{"behavior":"allow","updatedInput":{}}"#,
    r#"{"behavior":"allow","updatedInput":{"command":"pwd"}}"#,
    r#"{"behavior":"deny","message":"no","interrupt":true}"#,
    r#"{"behavior":"deny","message":"no","decisionClassification":"user_reject"}"#,
    r#"{"behavior":"allow","updatedInput":{},"decisionClassification":"perhaps"}"#,
    r#"{"behavior":"allow","updatedInput":{"a":1},"updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Do"}],"behavior":"allow","destination":"userSettings"},{"type":"removeRules","rules":[{"toolName":"Do"}],"behavior":"allow","destination":"userSettings"}]}"#,
    r#"{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"removeRules","rules":[{"toolName":"Do"}],"behavior":"allow","destination":"session"},{"type":"addRules","rules":[{"toolName":"Do"}],"behavior":"allow","destination":"session"}]}"#,
    r#"{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Change"}],"behavior":"deny","destination":"localSettings"},{"type":"setMode","mode":"acceptEdits","destination":"session"},{"type":"replaceRules","rules":[],"behavior":"deny","destination":"localSettings"}]}"#,
    r#"{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"setMode","mode":"plan","destination":"session"},{"type":"setMode","mode":"default","destination":"session"}]}"#,
    r#"{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"setMode","mode":"default","destination":"session"},{"type":"setMode","mode":"dontAsk","destination":"session"}]}"#,
    r#"{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"addDirectories","directories":["/etc"],"destination":"cliArg"},{"type":"conjure"}]}"#,
    r#"{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"addDirectories","directories":["/etc"],"destination":"session"},{"type":"removeDirectories","directories":["/etc"],"destination":"session"}]}"#,
];

/// Payloads that no waiter for a permission takes.
pub(super) const WRONG: [&str; 8] = [
    r#"{"behavior":"allow"}"#,
    r#"{"behavior":"perhaps"}"#,
    r#"{"behavior":"allow","updatedInput":null}"#,
    r#"{"behavior":"allow","updatedInput":[]}"#,
    r#"{"behavior":"deny"}"#,
    r#"{"behavior":"deny","message":null}"#,
    "7",
    r#"{"behavior":"deny","message":"no","interrupt":"yes"}"#,
];

fn line(text: String) -> Vec<u8> {
    let mut line = text.into_bytes();
    line.push(b'\n');
    line
}

/// A line of this text.
pub(super) fn raw(text: &str) -> Vec<u8> {
    line(text.to_string())
}

/// The `n`-th prompt uuid.
pub(super) fn uuid(n: u32) -> String {
    format!("00000000-0000-4000-8000-{n:012}")
}

/// A prompt; without `uuid` it has none.
pub(super) fn prompt(uuid: Option<&str>, text: &str, priority: &str) -> Vec<u8> {
    let uuid = uuid
        .map(|uuid| format!(r#""uuid":"{uuid}","#))
        .unwrap_or_default();
    let priority = if priority.is_empty() {
        String::new()
    } else {
        format!(r#""priority":"{priority}","#)
    };
    line(format!(
        r#"{{"type":"user",{uuid}{priority}"message":{{"role":"user","content":"{text}"}},"parent_tool_use_id":null}}"#
    ))
}

/// Context of an earlier conversation.
pub(super) fn context(uuid: &str, session_id: &str) -> Vec<u8> {
    line(format!(
        r#"{{"type":"user","uuid":"{uuid}","session_id":"{session_id}","isReplay":true,"message":{{"role":"user","content":"before"}},"parent_tool_use_id":null}}"#
    ))
}

/// A control request without members.
pub(super) fn control(id: &str, subtype: &str) -> Vec<u8> {
    line(format!(
        r#"{{"type":"control_request","request_id":"{id}","request":{{"subtype":"{subtype}"}}}}"#
    ))
}

/// A success.
pub(super) fn answer(id: &str, payload: &str) -> Vec<u8> {
    line(format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{id}","response":{payload}}}}}"#
    ))
}

/// An answer of this subtype.
pub(super) fn named(subtype: &str, id: &str, payload: &str) -> Vec<u8> {
    line(format!(
        r#"{{"type":"control_response","response":{{"subtype":"{subtype}","request_id":"{id}","response":{payload}}}}}"#
    ))
}

/// A success with the uuid that a transport has put on it.
pub(super) fn stamped(id: &str, payload: &str, uuid: &str) -> Vec<u8> {
    line(format!(
        r#"{{"type":"control_response","uuid":"{uuid}","response":{{"subtype":"success","request_id":"{id}","response":{payload}}}}}"#
    ))
}

/// An error.
pub(super) fn failure(id: &str, error: &str) -> Vec<u8> {
    line(format!(
        r#"{{"type":"control_response","response":{{"subtype":"error","request_id":"{id}","error":"{error}"}}}}"#
    ))
}

/// An object with `toolUseID` behind its other members.
pub(super) fn with_tool(object: &str, tool_use_id: &str) -> String {
    let members = object.strip_suffix('}').unwrap_or(object);
    format!(r#"{members},"toolUseID":"{tool_use_id}"}}"#)
}

/// The id of a control request of the agent.
pub(super) fn request_id(record: &[u8]) -> Option<String> {
    let rest = record.strip_prefix(br#"{"type":"control_request","request_id":""#)?;
    text_to_quote(rest)
}

/// The call that such a request asks about.
pub(super) fn asked_about(record: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(record).ok()?;
    if !text.contains(r#""subtype":"can_use_tool""#) {
        return None;
    }
    // The input stands before it, and may say anything.
    let (_, rest) = text.rsplit_once(r#""tool_use_id":""#)?;
    text_to_quote(rest.as_bytes())
}

/// The task that a record of the agent tells of.
pub(super) fn started_task(record: &[u8]) -> Option<String> {
    let prefix = br#"{"type":"system","subtype":"task_started","task_id":""#;
    text_to_quote(record.strip_prefix(prefix)?)
}

fn text_to_quote(rest: &[u8]) -> Option<String> {
    let end = rest.iter().position(|byte| *byte == b'"')?;
    std::str::from_utf8(&rest[..end])
        .ok()
        .map(ToString::to_string)
}
