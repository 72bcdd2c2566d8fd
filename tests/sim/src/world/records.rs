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

/// Answers to a hook callback.
pub(super) const CALLBACKS: [&str; 8] = [
    "{}",
    r#"{"decision":"block","reason":"no"}"#,
    r#"{"continue":false,"stopReason":"enough"}"#,
    r#"{"decision":"approve"}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"c":3}}}"#,
    r#"{"hookSpecificOutput":7}"#,
    r#"{"systemMessage":"take care"}"#,
];

/// Answers to a question of a server.
pub(super) const QUESTIONS: [&str; 4] = [
    r#"{"action":"accept","content":{"n":1}}"#,
    r#"{"action":"decline"}"#,
    r#"{"action":"cancel"}"#,
    r#"{"action":"shrug"}"#,
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

/// A control request; `members` begins with a comma or is empty.
pub(super) fn control(id: &str, subtype: &str, members: &str) -> Vec<u8> {
    line(format!(
        r#"{{"type":"control_request","request_id":"{id}","request":{{"subtype":"{subtype}"{members}}}}}"#
    ))
}

/// A success.
pub(super) fn answer(id: &str, payload: &str) -> Vec<u8> {
    line(format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{id}","response":{payload}}}}}"#
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

/// What a server of the host says to a message.
pub(super) fn message(method: &str, id: &str, way: usize) -> String {
    let id = if id.is_empty() { "null" } else { id };
    let result = match (method, way) {
        (_, 12) => return r#"{"mcp_response":7}"#.to_string(),
        (_, 13) => return r#"{"mcp_response":{"jsonrpc":"2.0","id":987,"result":{}}}"#.to_string(),
        (_, 14) => {
            return format!(
                r#"{{"mcp_response":{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32000,"message":"no"}}}}}}"#
            );
        }
        ("initialize", _) => {
            r#"{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1.0.0"}}"#
        }
        ("tools/list", 8..=11) => {
            r#"{"tools":[{"name":"add","description":"adds numbers","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}],"nextCursor":"more"}"#
        }
        ("tools/list", _) => {
            r#"{"tools":[{"name":"see","description":"a tool","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"add","description":"adds","inputSchema":{"type":"object"}},{"name":"sub","inputSchema":{"type":"object"}}]}"#
        }
        ("tools/call", 8..=11) => {
            r#"{"content":[{"type":"text","text":"one"},{"type":"image","data":"","mimeType":"image/png"}],"structuredContent":{"n":1},"isError":true}"#
        }
        ("tools/call", _) => {
            r#"{"content":[{"type":"text","text":"three"}],"structuredContent":{"n":3}}"#
        }
        _ => "{}",
    };
    format!(r#"{{"mcp_response":{{"jsonrpc":"2.0","id":{id},"result":{result}}}}}"#)
}
