//! A question beside the conversation: asked of the model, shown to nobody, and
//! no part of the history.
//!
//! It counts against the budget of the process, and into the books of no prompt.

use super::account::Tokens;
use super::answer::{Answer, Part};
use super::{AgentLoop, Streamed, estimate};
use crate::model::{
    Block, Delta, Message, ModelOutcome, ModelRequest, StopReason, ToolChoice, Usage,
};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

/// How much of the conversation such a question may show, and how long its
/// answer may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsideLimits {
    /// Bytes of text of the conversation.
    pub history_bytes: usize,
    /// Tokens of the answer.
    pub output_tokens: u64,
    /// Bytes of the answer, with everything that is not its text.
    pub answer_bytes: u64,
}

/// An answer that is on its way.
#[derive(Debug)]
pub struct Aside {
    answer: Answer,
    /// What it said so far, block by block.
    text: String,
    /// Prompt tokens of the request, guessed on the high side.
    asked: u64,
    limit: u64,
}

impl Aside {
    /// Takes one delta; false once the answer is longer than it may be.
    pub fn delta(&mut self, delta: Delta) -> bool {
        self.answer.delta(delta, |id| id.into());
        self.take_blocks();
        self.answer.bytes() <= self.limit
    }

    /// The text of a complete answer that ended well and called nothing.
    fn text(mut self) -> Option<String> {
        let finished = self.answer.finish();
        self.take_blocks();
        for part in finished.parts {
            match part {
                Part::Block(block) => self.add(block),
                Part::Call(_) => return None,
            }
        }
        let ended_well = matches!(
            finished.stop,
            StopReason::EndTurn | StopReason::StopSequence
        );
        ended_well.then_some(self.text)
    }

    fn take_blocks(&mut self) {
        while let Some(streamed) = self.answer.poll() {
            if let Streamed::Block(block) = streamed {
                self.add(block);
            }
        }
    }

    fn add(&mut self, block: Block) {
        if let Block::Text(part) = block {
            self.text.push_str(&part);
        }
    }

    fn tokens(&self, reported: bool) -> Tokens {
        let told = self.answer.usage();
        if reported && self.answer.usage_known() {
            return Tokens::Reported(told);
        }
        let estimate = Usage {
            input_tokens: self.asked,
            output_tokens: self.answer.bytes(),
            ..Usage::ZERO
        };
        Tokens::Unreported { told, estimate }
    }
}

impl AgentLoop {
    /// Asks `question` about the end of the conversation, with its text alone and
    /// without tools. `None` once the budget is spent, and for a prompt without text.
    #[must_use]
    pub fn ask_aside(&self, question: &str, limits: &AsideLimits) -> Option<(ModelRequest, Aside)> {
        if self.account.exhausted() {
            return None;
        }
        let prompt = self.history.get(self.prompt_at..).unwrap_or_default();
        let before = self.history.get(..self.prompt_at).unwrap_or_default();
        let (mut messages, place) = excerpt(before, prompt, limits.history_bytes)?;
        push(&mut messages, Side::User, question.into());
        let request = ModelRequest {
            system: self.config.system.clone(),
            history: messages.into_iter().map(Spoken::message).collect(),
            prompt: place,
            round: self.account.requests(),
            tools: Vec::new().into(),
            tool_choice: ToolChoice::None,
            max_output_tokens: self.config.max_output_tokens.min(limits.output_tokens),
            effort: self.config.effort.clone(),
        };
        let aside = Aside {
            answer: Answer::new(self.config.guard.clone()),
            text: String::new(),
            asked: estimate::request(&self.config, &request.history),
            limit: limits.answer_bytes,
        };
        Some((request, aside))
    }

    /// Takes the end of such a request: what it used is spent. Gives the text of
    /// an answer that ended well.
    pub fn aside_done(&mut self, aside: Aside, outcome: &ModelOutcome) -> Option<String> {
        match outcome {
            ModelOutcome::Finished => {
                self.account.aside(aside.tokens(true));
                aside.text()
            }
            ModelOutcome::Failed(failure) => {
                if aside.answer.started() || failure.may_have_run() {
                    self.account.aside(aside.tokens(false));
                }
                None
            }
        }
    }

    /// Takes the end of one that was given up.
    pub fn aside_dropped(&mut self, aside: &Aside) {
        self.account.aside(aside.tokens(false));
    }
}

/// Who says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    User,
    Assistant,
}

/// What one side says until the other does.
#[derive(Debug)]
struct Spoken {
    side: Side,
    parts: Vec<String>,
}

impl Spoken {
    fn message(self) -> Arc<Message> {
        Arc::new(match self.side {
            Side::User => Message::User(self.parts),
            Side::Assistant => {
                Message::Assistant(self.parts.into_iter().map(Block::Text).collect())
            }
        })
    }
}

/// The text of the last turn, its prompt and its answers cut to half of `bytes`
/// each, and of as many whole messages before it as find room; and where the
/// prompt stands.
fn excerpt(
    before: &[Arc<Message>],
    turn: &[Arc<Message>],
    bytes: usize,
) -> Option<(Vec<Spoken>, usize)> {
    let half = bytes / 2;
    let (first, rest) = turn.split_first()?;
    let (_, asked) = spoken(first)?;
    let asked = head(&asked, half);
    let answers = newest(rest, half, true);
    let taken: usize = answers.iter().map(|(_, text)| text.len()).sum();
    let room = bytes.saturating_sub(asked.len()).saturating_sub(taken);
    let mut earlier = newest(before, room, false);
    // A conversation begins on the user's side.
    let begins = earlier.iter().position(|(side, _)| *side == Side::User);
    earlier.drain(..begins.unwrap_or(earlier.len()));
    let mut messages = Vec::new();
    for (side, text) in earlier {
        push(&mut messages, side, text);
    }
    push(&mut messages, Side::User, asked);
    let prompt = messages.len().saturating_sub(1);
    for (side, text) in answers {
        push(&mut messages, side, text);
    }
    Some((messages, prompt))
}

/// The newest messages that fit into `bytes`, oldest first; with `cut` the end
/// of the first one that does not.
fn newest(messages: &[Arc<Message>], bytes: usize, cut: bool) -> Vec<(Side, String)> {
    let mut room = bytes;
    let mut found = Vec::new();
    for (side, text) in messages.iter().rev().filter_map(|message| spoken(message)) {
        if text.len() > room {
            if cut && room > 0 {
                found.push((side, tail(&text, room)));
            }
            break;
        }
        room = room.saturating_sub(text.len());
        found.push((side, text));
    }
    found.reverse();
    found
}

/// The text of a message, if it has some; results of calls are none.
fn spoken(message: &Message) -> Option<(Side, String)> {
    let (side, text) = match message {
        Message::User(parts) => (Side::User, parts.join("\n")),
        Message::Assistant(blocks) => (Side::Assistant, super::text_of(blocks)),
        Message::ToolResults(_) => return None,
    };
    (!text.trim().is_empty()).then_some((side, text))
}

/// Both sides take turns: what one says twice in a row is one message.
fn push(messages: &mut Vec<Spoken>, side: Side, text: String) {
    match messages.last_mut() {
        Some(last) if last.side == side => last.parts.push(text),
        _ => messages.push(Spoken {
            side,
            parts: vec![text],
        }),
    }
}

/// As many whole characters from the start as fit into `bytes`.
fn head(text: &str, bytes: usize) -> String {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().into()
}

/// As many whole characters from the end as fit into `bytes`.
fn tail(text: &str, bytes: usize) -> String {
    let mut start = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..).unwrap_or_default().into()
}

#[cfg(test)]
mod tests;
