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

#[cfg(test)]
mod tests;
mod text;

use crate::json::{RawJson, Writer};
use crate::schema::inbound::UserContent;
use crate::schema::outbound::{
    Answer, AssistantRecord, BlockDelta, CanUseTool, ContentBlock, ControlRequest, ControlResponse,
    ErrorAnswer, HookCallback, HostRequest, MessageEvent, Outbound, RecordIds,
    RedactedThinkingBlock, ResultRecord, StreamEvent, TextBlock, ThinkingBlock, ToolResultRecord,
    UserReplay,
};
use crate::tool::ToolContent;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use text::{BLOCK, cut, cut_texts, smaller, split};

/// Room for what stands around a payload in the record that carries it: names,
/// ids and the like, in bytes.
pub(super) const ENVELOPE_BYTES: usize = 1_024;

/// A uuid, for its length.
const UUID: &str = "00000000-0000-4000-8000-000000000000";

/// Longest timestamp that an echo repeats beside a text that is cut, in bytes.
const TIMESTAMP_BYTES: usize = 64;

/// The records that stand for one that takes more than `limit` bytes, its
/// newline included.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "all others have no part that could go"
)]
pub(super) fn fitting(record: &Outbound, session_id: &str, limit: usize) -> Vec<Outbound> {
    let fit = Fit { session_id, limit };
    match record {
        Outbound::Assistant(record) => fit.assistant(record.clone()),
        Outbound::StreamEvent(event) => fit.event(event.clone()),
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

    fn assistant(&self, mut record: AssistantRecord) -> Vec<Outbound> {
        let Some(block) = record.message.content.pop() else {
            return vec![record.into()];
        };
        match block {
            ContentBlock::Text(block) => self.spread(&record, &block.text, |text, _| {
                let text = text.to_string();
                ContentBlock::Text(TextBlock { text })
            }),
            ContentBlock::Thinking(block) => {
                self.spread(&record, &block.thinking, |text, signs| {
                    let signature = signs.then(|| block.signature.clone());
                    ContentBlock::Thinking(ThinkingBlock {
                        thinking: text.to_string(),
                        signature: signature.unwrap_or_default(),
                    })
                })
            }
            ContentBlock::RedactedThinking(block) => vec![self.refill(
                record,
                |_| block.data,
                |record, data, room| {
                    let data = cut(&data, room.saturating_sub(BLOCK));
                    let block = ContentBlock::RedactedThinking(RedactedThinkingBlock { data });
                    record.message.content.push(block);
                },
            )],
            ContentBlock::ToolUse(mut block) => {
                block.input = RawJson::empty_object();
                record.message.content.push(ContentBlock::ToolUse(block));
                vec![record.into()]
            }
        }
    }

    /// One record for each piece of a text; the last says why the answer stopped
    /// and has its signature, unless that would leave no room for the text.
    fn spread(
        &self,
        record: &AssistantRecord,
        text: &str,
        block: impl Fn(&str, bool) -> ContentBlock,
    ) -> Vec<Outbound> {
        let of = |text: &str, is_last: bool, signs: bool| {
            let mut record = record.clone();
            record.message.content = vec![block(text, signs)];
            if !is_last {
                (record.message.stop_reason, record.error) = (None, None);
            }
            Outbound::from(record)
        };
        let mut room = self.room(&of("", true, true));
        let signs = room >= self.limit / 2;
        if !signs {
            room = self.room(&of("", true, false));
        }
        let mut pieces = split(text, room).peekable();
        let mut records = Vec::new();
        while let Some(piece) = pieces.next() {
            let is_last = pieces.peek().is_none();
            records.push(of(piece, is_last, is_last && signs));
        }
        records
    }

    /// One event for each piece of a delta. A signature cannot be split; it
    /// comes with the record of its block, if at all.
    fn event(&self, mut event: StreamEvent) -> Vec<Outbound> {
        if let MessageEvent::BlockStart(start) = &mut event.event
            && let ContentBlock::RedactedThinking(block) = &mut start.content_block
        {
            block.data = cut(&block.data, self.limit / 2);
            return vec![event.into()];
        }
        let Some(text) = text_of(&mut event).map(core::mem::take) else {
            return Vec::new();
        };
        let of = |piece: &str| {
            let mut event = event.clone();
            if let Some(text) = text_of(&mut event) {
                *text = piece.to_string();
            }
            Outbound::from(event)
        };
        split(&text, self.room(&of(""))).map(of).collect()
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

/// The text of a delta that can be split.
const fn text_of(event: &mut StreamEvent) -> Option<&mut String> {
    let MessageEvent::BlockDelta(delta) = &mut event.event else {
        return None;
    };
    match &mut delta.delta {
        BlockDelta::Text(delta) => Some(&mut delta.text),
        BlockDelta::Thinking(delta) => Some(&mut delta.thinking),
        BlockDelta::InputJson(delta) => Some(&mut delta.partial_json),
        BlockDelta::Signature(_) => None,
    }
}
