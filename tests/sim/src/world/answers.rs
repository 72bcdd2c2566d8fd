//! What a host answers.

use crate::kit::kit;
use crate::tape::Tape;
use agentx_core::host::{Answer, Request};
use agentx_core::json::RawJson;
use agentx_core::mcp::McpReply;
use agentx_core::schema::host::Decision;
use agentx_core::schema::outbound::McpMessage;
use agentx_core::schema::permission::Classification;

/// Answers to a hook callback.
const CALLBACKS: [&str; 9] = [
    "{}",
    r#"{"decision":"block","reason":"no"}"#,
    r#"{"continue":false,"stopReason":"enough"}"#,
    r#"{"decision":"approve"}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"c":3}}}"#,
    r#"{"hookSpecificOutput":7}"#,
    r#"{"systemMessage":"take care"}"#,
    "7",
];

/// An answer to this request; the simplest one when all is calm.
pub(super) fn answer(tape: &mut Tape, request: &Request, calm: bool) -> Answer {
    match request {
        Request::Permit(_) if calm => Answer::Permit(Decision::deny("no more")),
        Request::Permit(_) => Answer::Permit(decision(tape)),
        Request::Hook(_) if calm => Answer::Hook(RawJson::empty_object()),
        Request::Hook(_) => Answer::Hook(raw(CALLBACKS[tape.below(CALLBACKS.len())])),
        Request::Elicit(_) => Answer::Elicit(match tape.below(3) {
            0 => McpReply::Accept(Some(raw(r#"{"n":1}"#))),
            1 => McpReply::Decline,
            _ => McpReply::Cancel,
        }),
        Request::Mcp(message) => Answer::Mcp(message_answer(tape, message, calm)),
    }
}

fn raw(text: &str) -> RawJson {
    RawJson::parse(text).expect("JSON of the simulator")
}

fn decision(tape: &mut Tape) -> Decision {
    match tape.below(16) {
        0..4 => Decision::allow(),
        4..6 => Decision::allow_with(raw(r#"{"command":"pwd"}"#)).expect("an object"),
        6 => Decision::deny("no"),
        7 => Decision::deny("no").filed(Classification::UserReject),
        8 => Decision::deny("no").and_interrupt(),
        9 => Decision::allow().filed(Classification::UserPermanent),
        _ => {
            let lists = &kit().updates;
            Decision::allow().and_update(lists[tape.below(lists.len())].clone())
        }
    }
}

fn message_answer(tape: &mut Tape, message: &McpMessage, calm: bool) -> Option<RawJson> {
    let way = if calm { 0 } else { tape.below(16) };
    let text = message.message.as_str();
    let id = member(text, "\"id\":")?;
    let method = member(text, "\"method\":").unwrap_or_default();
    let result = match (method.trim_matches('"'), way) {
        (_, 12) => return Some(raw("7")),
        (_, 13) => return Some(raw(r#"{"jsonrpc":"2.0","id":987,"result":{}}"#)),
        (_, 14) => {
            let error = r#""error":{"code":-32000,"message":"no"}"#;
            return Some(raw(&format!(r#"{{"jsonrpc":"2.0","id":{id},{error}}}"#)));
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
    Some(raw(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#
    )))
}

/// The value behind a name, up to the next comma or brace: messages of the agent
/// are written by one writer, and begin with these members.
fn member<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(name)?;
    Some(rest.split([',', '}']).next().unwrap_or(rest))
}
