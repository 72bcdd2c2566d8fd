use super::*;
use crate::model::Usage;
use crate::schema::outbound::{
    AssistantMessage, ControlRequest, HookCallback, McpMessage, MessageStop,
};
use alloc::sync::Arc;

const LIMIT: usize = 2_000;

fn long(chars: usize) -> String {
    "é\"".repeat(chars / 2)
}

/// The one record that stands for this one, and what room it leaves.
fn fitted(record: impl Into<Outbound>) -> (Outbound, usize) {
    let limit = LIMIT;
    let session_id = "s";
    let mut records = fitting(&record.into(), session_id, limit);
    let record = records.pop().expect("a record");
    assert!(records.is_empty());
    let room = Fit { session_id, limit }.room(&record);
    (record, room)
}

fn asks(request: impl Into<HostRequest>) -> ControlRequest {
    ControlRequest {
        request_id: "req_1".into(),
        request: request.into(),
    }
}

fn raw(text: &str) -> RawJson {
    RawJson::parse(text).expect("JSON")
}

// covers: DEC-34
#[test]
fn a_question_keeps_its_call_and_loses_explanations() {
    let input = raw(&format!(r#"{{"file_path":"{}"}}"#, "/x".repeat(300)));
    let ask = CanUseTool {
        blocked_path: Some("/x".repeat(300)),
        decision_reason: Some(long(2_000)),
        description: Some(long(200)),
        ..CanUseTool::new("Write".into(), input.clone(), "t1".into())
    };
    let (record, room) = fitted(asks(ask));
    assert!(room > 0);
    let Outbound::ControlRequest(ControlRequest {
        request: HostRequest::CanUseTool(ask),
        ..
    }) = record
    else {
        panic!("{record:?}");
    };
    assert_eq!((ask.input, ask.blocked_path), (input, None));
    assert!(
        ask.decision_reason
            .is_some_and(|text| text.ends_with(" bytes cut]"))
    );
}

// covers: DEC-34
#[test]
fn a_hook_is_told_as_much_as_fits() {
    let input = raw(&format!(
        r#"{{"hook_event_name":"UserPromptSubmit","prompt":"{}"}}"#,
        "x".repeat(5_000)
    ));
    let hook = HookCallback {
        callback_id: "h1".into(),
        input,
        tool_use_id: None,
    };
    let (record, room) = fitted(asks(hook));
    let Outbound::ControlRequest(ControlRequest {
        request: HostRequest::HookCallback(hook),
        ..
    }) = record
    else {
        panic!("{record:?}");
    };
    assert!(room > 0 && hook.input.as_str().contains("UserPromptSubmit"));
    assert!(hook.input.as_str().contains(" bytes cut]"));
}

// covers: DEC-34
#[test]
fn a_signature_without_room_for_the_text_is_left_out() {
    let record = |thinking: String, signature: String| AssistantRecord {
        message: AssistantMessage {
            id: "msg_1".into(),
            model: "m".into(),
            content: vec![ContentBlock::Thinking(ThinkingBlock {
                thinking,
                signature,
            })],
            stop_reason: Some(MessageStop::EndTurn),
            stop_sequence: None,
            usage: Usage::ZERO,
        },
        parent_tool_use_id: None,
        error: None,
    };
    for (signature, kept) in [(500, true), (1_200, false), (9_000, false)] {
        let long = record(long(3_000), "s".repeat(signature));
        let records = fitting(&long.into(), "s", LIMIT);
        let (mut signed, mut stops) = (0, 0);
        for record in &records {
            let mut writer = Writer::new();
            let ids = RecordIds {
                uuid: UUID,
                session_id: "s",
            };
            record.write(ids, &mut writer);
            assert!(writer.as_bytes().len() < LIMIT);
            let text = String::from_utf8_lossy(writer.as_bytes()).into_owned();
            signed += usize::from(!text.contains(r#""signature":"""#));
            stops += usize::from(text.contains("end_turn"));
        }
        assert_eq!((signed, stops), (usize::from(kept), 1), "{signature}");
    }
}

// covers: DEC-34
#[test]
fn what_has_no_part_that_could_go_stays() {
    let message = McpMessage {
        server_name: "s".into(),
        message: raw(&format!(r#"{{"a":"{}"}}"#, "x".repeat(5_000))),
    };
    let request = asks(message);
    assert_eq!(fitted(request.clone()).0, request.into());
}

// covers: DEC-34
#[test]
fn an_answer_that_does_not_fit_is_an_error() {
    let payload = raw(&format!(r#"["{}"]"#, "x".repeat(5_000)));
    let id: Arc<str> = "c1".into();
    let (record, _) = fitted(ControlResponse::success(Arc::clone(&id), Some(payload)));
    let told = "the answer takes more than the 2000 bytes of a record";
    assert_eq!(
        record,
        ControlResponse::error(Arc::clone(&id), told.into()).into()
    );
    let (record, room) = fitted(ControlResponse::error(id, long(5_000)));
    assert!(room > 0, "{record:?}");
}
