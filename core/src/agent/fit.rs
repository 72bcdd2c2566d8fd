//! Records that are too long for the profile `reference`, split or cut until
//! they fit (DEC-34). Leaves: nothing here decides.
//!
//! | record | what becomes of it |
//! |---|---|
//! | text and thinking of an answer, deltas | several records |
//! | result, tool result, echo, error | the text is cut, and says so |
//! | question, hook | what only explains is cut, or left out |
//! | payload of an answer to the host | an error in its place |
//!
//! What has no such part stays as it is.

mod text;

use crate::json::{RawJson, Writer};
use crate::schema::inbound::UserContent;
use crate::schema::outbound::{
    Answer, AssistantRecord, BlockDelta, CanUseTool, ContentBlock, ControlRequest, ControlResponse,
    ErrorAnswer, HookCallback, HostRequest, MessageEvent, Outbound, RecordIds, ResultRecord,
    StreamEvent, ToolResultRecord, UserReplay,
};
use crate::tool::ToolContent;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use text::{cut, cut_texts, smaller, split};

/// A uuid, for its length.
const UUID: &str = "00000000-0000-4000-8000-000000000000";

/// Longest timestamp that an echo repeats beside a text that is cut, in bytes.
const TIMESTAMP_BYTES: usize = 64;

/// The records that stand for one that takes more than `limit` bytes, its
/// newline included.
pub(super) fn fitting(record: &Outbound, session_id: &str, limit: usize) -> Vec<Outbound> {
    let fit = Fit { session_id, limit };
    match record {
        Outbound::Assistant(record) => fit.assistant(record),
        Outbound::StreamEvent(event) => fit.event(event),
        Outbound::Result(result) => vec![fit.result(result.clone())],
        Outbound::ToolResult(result) => vec![fit.tool_result(result.clone())],
        Outbound::UserReplay(replay) => vec![fit.echo(replay.clone())],
        Outbound::ControlRequest(request) => vec![fit.request(request)],
        Outbound::ControlResponse(response) => vec![fit.response(response)],
        other => vec![other.clone()],
    }
}

/// The same answer without its payload, if that would leave no room for the rest.
pub(super) fn without_long_payload(mut echo: ControlResponse, limit: usize) -> ControlResponse {
    if let Answer::Success(answer) = &mut echo.response {
        answer.response.take_if(|payload| is_long(payload, limit));
    }
    echo
}

/// Whether a value takes more than half of the limit.
fn is_long(value: &RawJson, limit: usize) -> bool {
    value.as_str().len() > limit / 2
}

struct Fit<'a> {
    session_id: &'a str,
    limit: usize,
}

impl Fit<'_> {
    /// What a record leaves of the limit, in bytes.
    fn room(&self, record: &Outbound) -> usize {
        let (uuid, session_id) = (UUID, self.session_id);
        let mut writer = Writer::new();
        record.write(RecordIds { uuid, session_id }, &mut writer);
        self.limit.saturating_sub(writer.as_bytes().len() + 1)
    }

    /// Takes a part out, looks how much room the rest leaves, and puts back as
    /// much as fits.
    fn refill<R: Clone + Into<Outbound>, T>(
        &self,
        mut record: R,
        take: impl FnOnce(&mut R) -> T,
        put: impl FnOnce(&mut R, T, usize),
    ) -> Outbound {
        let part = take(&mut record);
        let room = self.room(&record.clone().into());
        put(&mut record, part, room);
        record.into()
    }

    /// One record for each piece; the last says why the answer stopped.
    fn assistant(&self, record: &AssistantRecord) -> Vec<Outbound> {
        let [block] = record.message.content.as_slice() else {
            return vec![record.clone().into()];
        };
        let of = |text: &str, is_last: bool| {
            let mut record = record.clone();
            record.message.content = vec![with_text(block, text, is_last)];
            if !is_last {
                (record.message.stop_reason, record.error) = (None, None);
            }
            Outbound::from(record)
        };
        let (text, room) = match block {
            ContentBlock::Text(block) => (&block.text, self.room(&of("", true))),
            ContentBlock::Thinking(block) => (&block.thinking, self.room(&of("", true))),
            ContentBlock::RedactedThinking(block) => {
                return vec![of(&cut(&block.data, self.room(&of("", true))), true)];
            }
            ContentBlock::ToolUse(_) => return vec![of("", true)],
        };
        if room < self.limit / 2 {
            // A signature cannot be cut, and leaves no room for the text.
            let room = self.room(&of("", false));
            return split(text, room).map(|piece| of(piece, false)).collect();
        }
        let mut pieces: Vec<_> = split(text, room).collect();
        let last = pieces.pop().unwrap_or_default();
        let mut records: Vec<_> = pieces.iter().map(|piece| of(piece, false)).collect();
        records.push(of(last, true));
        records
    }

    /// One event for each piece of a delta. A signature cannot be split; it
    /// comes with the record of its block, if at all.
    fn event(&self, event: &StreamEvent) -> Vec<Outbound> {
        let MessageEvent::BlockDelta(delta) = &event.event else {
            return Vec::new();
        };
        let of = |text: &str| {
            let mut event = event.clone();
            if let MessageEvent::BlockDelta(delta) = &mut event.event {
                match &mut delta.delta {
                    BlockDelta::Text(delta) => delta.text = text.to_string(),
                    BlockDelta::Thinking(delta) => delta.thinking = text.to_string(),
                    BlockDelta::InputJson(delta) => delta.partial_json = text.to_string(),
                    BlockDelta::Signature(_) => {}
                }
            }
            Outbound::from(event)
        };
        let text = match &delta.delta {
            BlockDelta::Text(delta) => &delta.text,
            BlockDelta::Thinking(delta) => &delta.thinking,
            BlockDelta::InputJson(delta) => &delta.partial_json,
            BlockDelta::Signature(_) => return Vec::new(),
        };
        split(text, self.room(&of(""))).map(of).collect()
    }

    /// Inputs of denied calls go before the origin, and that before the text.
    fn result(&self, mut result: ResultRecord) -> Outbound {
        let (accounting, origin) = match &mut result {
            ResultRecord::Success(success) => (&mut success.accounting, &mut success.origin),
            ResultRecord::Error(error) => (&mut error.accounting, &mut error.origin),
        };
        let denials = &mut accounting.permission_denials;
        let inputs: usize = denials.iter().map(|d| d.tool_input.as_str().len()).sum();
        if inputs > self.limit / 4 {
            let empty = |denial: &mut crate::schema::outbound::PermissionDenial| {
                denial.tool_input = RawJson::empty_object();
            };
            denials.iter_mut().for_each(empty);
        }
        origin.take_if(|origin| is_long(origin, self.limit / 2));
        match result {
            ResultRecord::Success(success) => self.refill(
                ResultRecord::Success(success),
                |result| match result {
                    ResultRecord::Success(success) => core::mem::take(&mut success.result),
                    ResultRecord::Error(_) => String::new(),
                },
                |result, text, room| {
                    if let ResultRecord::Success(success) = result {
                        success.result = cut(&text, room);
                    }
                },
            ),
            ResultRecord::Error(error) => self.refill(
                ResultRecord::Error(error),
                |result| match result {
                    ResultRecord::Error(error) => core::mem::take(&mut error.errors),
                    ResultRecord::Success(_) => Vec::new(),
                },
                |result, texts, room| {
                    if let ResultRecord::Error(error) = result {
                        error.errors = cut_texts(texts, room);
                    }
                },
            ),
        }
    }

    fn tool_result(&self, result: ToolResultRecord) -> Outbound {
        self.refill(
            result,
            |result| {
                let [block] = &mut result.message.content;
                core::mem::take(&mut block.content)
            },
            |result, content, room| {
                let texts = content.into_iter().map(|ToolContent::Text(text)| text);
                let texts = cut_texts(texts.collect(), room).into_iter();
                let [block] = &mut result.message.content;
                block.content = texts.map(ToolContent::Text).collect();
            },
        )
    }

    fn echo(&self, mut replay: UserReplay) -> Outbound {
        let echo = &mut replay.echo;
        echo.origin
            .take_if(|origin| is_long(origin, self.limit / 2));
        echo.timestamp.take_if(|text| text.len() > TIMESTAMP_BYTES);
        self.refill(
            replay,
            |replay| {
                let none = UserContent::Text(String::new());
                core::mem::replace(&mut replay.echo.message.content, none)
            },
            |replay, content, room| {
                replay.echo.message.content = match content {
                    UserContent::Text(text) => UserContent::Text(cut(&text, room)),
                    UserContent::Blocks(texts) => UserContent::Blocks(cut_texts(texts, room)),
                };
            },
        )
    }

    fn request(&self, request: &ControlRequest) -> Outbound {
        let whole = |asked: HostRequest| ControlRequest {
            request_id: request.request_id.clone(),
            request: asked,
        };
        match &request.request {
            HostRequest::CanUseTool(ask) => whole(self.question(ask)).into(),
            HostRequest::HookCallback(hook) => {
                let empty = HookCallback {
                    input: RawJson::empty_object(),
                    ..hook.clone()
                };
                let room = self.room(&whole(empty.clone().into()).into());
                let input = smaller(&hook.input, room);
                whole(HookCallback { input, ..empty }.into()).into()
            }
            HostRequest::McpMessage(_) | HostRequest::Elicitation(_) => request.clone().into(),
        }
    }

    /// The call stays whole; what explains the question gives way.
    fn question(&self, ask: &CanUseTool) -> HostRequest {
        let words = self.limit / 64;
        let shorter = |text: &Option<String>| text.as_deref().map(|text| cut(text, words));
        CanUseTool {
            blocked_path: None,
            decision_reason: shorter(&ask.decision_reason),
            description: shorter(&ask.description),
            ..ask.clone()
        }
        .into()
    }

    fn response(&self, response: &ControlResponse) -> Outbound {
        match &response.response {
            Answer::Success(answer) => {
                let limit = self.limit;
                let text = format!("the answer takes more than the {limit} bytes of a record");
                ControlResponse::error(answer.request_id.clone(), text).into()
            }
            Answer::Error(answer) => self.error(answer.clone()),
        }
    }

    fn error(&self, answer: ErrorAnswer) -> Outbound {
        let mut left = self.limit / 2;
        let mut kept = answer.pending_permission_requests.clone();
        if let Some(requests) = &mut kept {
            requests.retain(|request| {
                let rest = left.checked_sub(request.as_str().len() + 1);
                left = rest.unwrap_or(0);
                rest.is_some()
            });
        }
        let empty = ErrorAnswer {
            error: String::new(),
            pending_permission_requests: kept,
            ..answer.clone()
        };
        let response = |answer: ErrorAnswer| ControlResponse {
            response: Answer::Error(answer),
        };
        let room = self.room(&response(empty.clone()).into());
        let error = cut(&answer.error, room);
        response(ErrorAnswer { error, ..empty }).into()
    }
}

/// The block with another text, and without its signature but for the last.
fn with_text(block: &ContentBlock, text: &str, is_last: bool) -> ContentBlock {
    let mut block = block.clone();
    match &mut block {
        ContentBlock::Text(block) => block.text = text.to_string(),
        ContentBlock::RedactedThinking(block) => block.data = text.to_string(),
        ContentBlock::Thinking(block) => {
            block.thinking = text.to_string();
            if !is_last {
                block.signature = String::new();
            }
        }
        ContentBlock::ToolUse(block) => block.input = RawJson::empty_object(),
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::outbound::{ControlRequest, HookCallback, McpMessage};
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
}
