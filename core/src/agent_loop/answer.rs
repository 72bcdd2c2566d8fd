//! One model answer being streamed: deltas in, finished blocks out.
//!
//! ```text
//! empty -> text | thinking | calls -> ... -> finish (Stop seen) | cut
//! ```
//!
//! A text or thinking block is finished when the next block begins or the
//! answer ends. One that a call follows may be the last that is shown, since an
//! answer can lose its calls; so it waits for the end, which says why the answer
//! stopped (DEC-42). Calls are finished by the end of the answer alone, so a cut
//! answer shows and keeps none of them (DEC-41).

use crate::guard::{Guard, JsonRedactor, Redactor};
use crate::lazy::Empty;
use crate::model::{Block, Delta, StopReason, Usage};
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Something the host may be shown while the answer is streamed. Blocks are
/// numbered from 0 within an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Streamed {
    /// The first delta came.
    Started,
    /// A block begins.
    Opened {
        /// Its number.
        block: usize,
        /// What it is.
        kind: Opened,
    },
    /// More of an open block.
    Piece {
        /// Its number.
        block: usize,
        /// What is added.
        piece: Piece,
    },
    /// No more of a block.
    Closed {
        /// Its number.
        block: usize,
    },
    /// The whole answer ended.
    Ended {
        /// Why it stopped; absent when it was cut.
        stop: Option<StopReason>,
        /// Its tokens.
        usage: Usage,
    },
    /// A text or thinking block is complete, and another one follows it.
    Block(Block),
}

/// What a block is that begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opened {
    /// Text.
    Text,
    /// Reasoning.
    Thinking,
    /// Reasoning that the provider keeps secret. It has no pieces.
    RedactedThinking {
        /// Opaque text of the provider.
        data: String,
    },
    /// A tool call.
    Call {
        /// Its session-wide id.
        id: Arc<str>,
        /// Name of the tool.
        name: Arc<str>,
    },
}

/// A piece of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// More text.
    Text(String),
    /// More reasoning.
    Thinking(String),
    /// The signature of a reasoning block; comes last.
    Signature(String),
    /// More of a call's argument text.
    Arguments(String),
}

/// A call as the model spelled it; its arguments are not parsed yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proposed {
    pub(crate) id: Arc<str>,
    pub(crate) name: Arc<str>,
    pub(crate) arguments: String,
}

/// What a complete answer leaves: what was not shown yet, why it stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finished {
    /// The calls, and the blocks not yet given as [`Streamed::Block`], in the
    /// order in which the model began them.
    pub(crate) parts: Vec<Part>,
    pub(crate) stop: StopReason,
}

/// A part of an answer that is shown at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Block(Block),
    Call(Proposed),
}

/// The answer under construction.
#[derive(Debug)]
pub(crate) struct Answer {
    guard: Guard,
    message_id: Option<String>,
    started: bool,
    opened: usize,
    open: Option<OpenBlock>,
    /// What is shown when the answer ends, in the order of the model: the last
    /// block before a call, the calls, and all blocks that came after one.
    waiting: Vec<Waiting>,
    usage: Usage,
    /// Whether `usage` is a report of the whole answer.
    usage_known: bool,
    /// Bytes of text, reasoning and arguments that came.
    bytes: u64,
    stop: Option<StopReason>,
    out: VecDeque<Streamed>,
}

#[derive(Debug)]
struct OpenBlock {
    number: usize,
    redactor: Redactor,
    text: String,
    kind: BlockKind,
}

#[derive(Debug, PartialEq, Eq)]
enum BlockKind {
    Text,
    Thinking { signature: Option<String> },
    RedactedThinking { data: String },
}

#[derive(Debug)]
enum Waiting {
    Block(Block),
    Call(OpenCall),
}

#[derive(Debug)]
struct OpenCall {
    key: u32,
    number: usize,
    redactor: JsonRedactor,
    call: Proposed,
}

impl Default for Answer {
    fn default() -> Self {
        Self::new(Guard::default())
    }
}

/// Stands before the first request, where no delta can come.
impl Empty for Answer {
    const EMPTY: &'static Self = &Self::new(Guard::NONE);
}

impl Answer {
    /// An empty answer; `guard` holds the session's credentials.
    pub(crate) const fn new(guard: Guard) -> Self {
        Self {
            guard,
            message_id: None,
            started: false,
            opened: 0,
            open: None,
            waiting: Vec::new(),
            usage: Usage::ZERO,
            usage_known: false,
            bytes: 0,
            stop: None,
            out: VecDeque::new(),
        }
    }

    /// The provider's id of this message, once known.
    pub(crate) fn message_id(&self) -> Option<&str> {
        self.message_id.as_deref()
    }

    /// Tokens as last reported.
    pub(crate) const fn usage(&self) -> Usage {
        self.usage
    }

    /// Ids of the calls that have begun.
    pub(crate) fn call_ids(&self) -> impl Iterator<Item = Arc<str>> + '_ {
        self.waiting.iter().filter_map(|waiting| match waiting {
            Waiting::Block(_) => None,
            Waiting::Call(open) => Some(Arc::clone(&open.call.id)),
        })
    }

    /// Whether that report accounts for the whole answer.
    pub(crate) const fn usage_known(&self) -> bool {
        self.usage_known
    }

    /// Whether anything of the answer came.
    pub(crate) const fn started(&self) -> bool {
        self.started
    }

    /// Bytes of text, reasoning and arguments that came.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes one delta. `map_id` gives the session-wide id of a call (DEC-35).
    pub(crate) fn delta(&mut self, delta: Delta, map_id: impl FnOnce(&str) -> Arc<str>) {
        let is_part = !matches!(delta, Delta::MessageId(_) | Delta::RateLimited { .. });
        if !self.started && is_part {
            self.started = true;
            self.out.push_back(Streamed::Started);
        }
        self.bytes = self.bytes.saturating_add(content_bytes(&delta));
        match delta {
            Delta::MessageId(id) => {
                if !id.is_empty() {
                    self.message_id = Some(self.guard.redact(&id).into_owned());
                }
            }
            Delta::Text(text) => self.text(&text),
            Delta::Thinking(text) => self.thinking(&text),
            Delta::Signature(text) => self.signature(&text),
            Delta::RedactedThinking(data) => self.redacted_thinking(&data),
            Delta::CallStart { index, id, name } => {
                let id = map_id(&self.guard.redact(&id));
                self.call(index, id, &name);
            }
            Delta::CallArguments { index, text } => self.arguments(index, &text),
            Delta::Usage(usage) => {
                self.usage = usage;
                self.usage_known = true;
            }
            Delta::UsageUnknown => self.usage_known = false,
            Delta::Stop(stop) => self.stop = Some(stop),
            Delta::RateLimited { .. } => {}
        }
    }

    /// The next thing to show.
    pub(crate) fn poll(&mut self) -> Option<Streamed> {
        self.out.pop_front()
    }

    /// Ends a complete answer. Drain [`Answer::poll`] before and after.
    pub(crate) fn finish(&mut self) -> Finished {
        // A tool stop without any call is none (DEC-51), and calls ask for answers.
        let mut stop = self.stop.unwrap_or(StopReason::EndTurn);
        if matches!(stop, StopReason::EndTurn | StopReason::ToolUse) {
            stop = if self.has_calls() {
                StopReason::ToolUse
            } else {
                StopReason::EndTurn
            };
        }
        self.wait_open();
        let mut parts = Vec::with_capacity(self.waiting.len());
        for waiting in core::mem::take(&mut self.waiting) {
            parts.push(match waiting {
                Waiting::Block(block) => Part::Block(block),
                Waiting::Call(mut open) => {
                    let rest = open.redactor.finish();
                    self.show_piece(open.arguments(rest));
                    self.out.push_back(Streamed::Closed { block: open.number });
                    Part::Call(open.call)
                }
            });
        }
        self.end(Some(stop));
        Finished { parts, stop }
    }

    /// Ends an answer that was cut, failed or was cancelled: text and thinking
    /// stay, calls are dropped (DEC-41).
    pub(crate) fn cut(&mut self) -> Vec<Block> {
        if let Some(open) = &mut self.open {
            let rest = open.break_off();
            self.show_piece(rest);
        }
        self.wait_open();
        let mut blocks = Vec::new();
        for waiting in core::mem::take(&mut self.waiting) {
            match waiting {
                Waiting::Block(block) => blocks.push(block),
                Waiting::Call(open) => {
                    self.out.push_back(Streamed::Closed { block: open.number });
                }
            }
        }
        self.end(None);
        blocks
    }

    /// Tells the end of an answer whose beginning was told.
    fn end(&mut self, stop: Option<StopReason>) {
        if self.started {
            let usage = self.usage;
            self.out.push_back(Streamed::Ended { stop, usage });
        }
    }

    fn call(&mut self, key: u32, id: Arc<str>, name: &str) {
        self.wait_open();
        let number = self.next_number();
        let name: Arc<str> = self.guard.redact(name).into();
        let kind = Opened::Call {
            id: Arc::clone(&id),
            name: Arc::clone(&name),
        };
        self.out.push_back(Streamed::Opened {
            block: number,
            kind,
        });
        self.waiting.push(Waiting::Call(OpenCall {
            key,
            number,
            redactor: self.guard.json_redactor(),
            call: Proposed {
                id,
                name,
                arguments: String::new(),
            },
        }));
    }

    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if !matches!(
            &self.open,
            Some(OpenBlock {
                kind: BlockKind::Text,
                ..
            })
        ) {
            self.close_block();
            self.open_block(BlockKind::Text);
        }
        self.append(text);
    }

    fn thinking(&mut self, text: &str) {
        let continues = matches!(
            &self.open,
            Some(OpenBlock {
                kind: BlockKind::Thinking { signature: None },
                ..
            })
        );
        if !continues {
            self.close_block();
            self.open_block(BlockKind::Thinking { signature: None });
        }
        self.append(text);
    }

    fn signature(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let text = self.guard.redact(text).into_owned();
        let unsigned = BlockKind::Thinking { signature: None };
        if self.open.as_ref().is_none_or(|open| open.kind != unsigned) {
            self.close_block();
            self.open_block(unsigned);
        }
        let rest = self.open.as_mut().and_then(OpenBlock::finish);
        self.show_piece(rest);
        let signed = self.open.as_mut().map(|open| open.sign(text));
        self.show_piece(signed);
    }

    fn redacted_thinking(&mut self, data: &str) {
        let data = self.guard.redact(data).into_owned();
        self.close_block();
        self.open_block(BlockKind::RedactedThinking { data });
    }

    fn arguments(&mut self, key: u32, text: &str) {
        let calls = self.waiting.iter_mut().rev().filter_map(Waiting::call);
        let Some(open) = calls.into_iter().find(|open| open.key == key) else {
            return;
        };
        let text = open.redactor.push(text);
        let piece = open.arguments(text);
        self.show_piece(piece);
    }

    fn has_calls(&self) -> bool {
        let call = |waiting: &Waiting| matches!(waiting, Waiting::Call(_));
        self.waiting.iter().any(call)
    }

    fn append(&mut self, text: &str) {
        let piece = self.open.as_mut().and_then(|open| open.push(text));
        self.show_piece(piece);
    }

    fn show_piece(&mut self, piece: Option<(usize, Piece)>) {
        if let Some((block, piece)) = piece {
            self.out.push_back(Streamed::Piece { block, piece });
        }
    }

    fn open_block(&mut self, kind: BlockKind) {
        let block = self.next_number();
        let opened = match &kind {
            BlockKind::Text => Opened::Text,
            BlockKind::Thinking { .. } => Opened::Thinking,
            BlockKind::RedactedThinking { data } => {
                let data = data.clone();
                Opened::RedactedThinking { data }
            }
        };
        self.out.push_back(Streamed::Opened {
            block,
            kind: opened,
        });
        let redactor = self.guard.redactor();
        self.open = Some(OpenBlock {
            number: block,
            redactor,
            text: String::new(),
            kind,
        });
    }

    /// Closes the open block because other text or thinking begins.
    fn close_block(&mut self) {
        let Some(block) = self.take_open() else {
            return;
        };
        if self.has_calls() {
            self.waiting.push(Waiting::Block(block));
        } else {
            self.out.push_back(Streamed::Block(block));
        }
    }

    /// Closes the open block and lets it wait for the end of the answer.
    fn wait_open(&mut self) {
        let open = self.take_open();
        self.waiting.extend(open.map(Waiting::Block));
    }

    fn take_open(&mut self) -> Option<Block> {
        let mut open = self.open.take()?;
        let rest = open.finish();
        self.show_piece(rest);
        self.out.push_back(Streamed::Closed { block: open.number });
        Some(match open.kind {
            BlockKind::Text => Block::Text(open.text),
            BlockKind::Thinking { signature } => Block::Thinking {
                text: open.text,
                signature,
            },
            BlockKind::RedactedThinking { data } => Block::RedactedThinking { data },
        })
    }

    const fn next_number(&mut self) -> usize {
        let number = self.opened;
        self.opened += 1;
        number
    }
}

/// Bytes of what the model said in a delta.
const fn content_bytes(delta: &Delta) -> u64 {
    let bytes = match delta {
        Delta::Text(text)
        | Delta::Thinking(text)
        | Delta::RedactedThinking(text)
        | Delta::CallArguments { text, .. } => text.len(),
        Delta::CallStart { name, .. } => name.len(),
        Delta::MessageId(_)
        | Delta::Signature(_)
        | Delta::Usage(_)
        | Delta::UsageUnknown
        | Delta::RateLimited { .. }
        | Delta::Stop(_) => 0,
    };
    bytes as u64
}

impl OpenBlock {
    /// Takes more text.
    fn push(&mut self, text: &str) -> Option<(usize, Piece)> {
        let safe = self.redactor.push(text);
        self.keep(safe)
    }

    /// What the redactor still held back.
    fn finish(&mut self) -> Option<(usize, Piece)> {
        let safe = self.redactor.finish();
        self.keep(safe)
    }

    /// The same where the text broke off.
    fn break_off(&mut self) -> Option<(usize, Piece)> {
        let safe = self.redactor.break_off();
        self.keep(safe)
    }

    /// Signs a reasoning block, whose text is over.
    fn sign(&mut self, signature: String) -> (usize, Piece) {
        self.kind = BlockKind::Thinking {
            signature: Some(signature.clone()),
        };
        (self.number, Piece::Signature(signature))
    }

    fn keep(&mut self, safe: String) -> Option<(usize, Piece)> {
        if safe.is_empty() {
            return None;
        }
        self.text.push_str(&safe);
        let piece = match &self.kind {
            BlockKind::Thinking { .. } => Piece::Thinking(safe),
            BlockKind::Text | BlockKind::RedactedThinking { .. } => Piece::Text(safe),
        };
        Some((self.number, piece))
    }
}

impl Waiting {
    const fn call(&mut self) -> Option<&mut OpenCall> {
        match self {
            Self::Call(open) => Some(open),
            Self::Block(_) => None,
        }
    }
}

impl OpenCall {
    fn arguments(&mut self, safe: String) -> Option<(usize, Piece)> {
        if safe.is_empty() {
            return None;
        }
        self.call.arguments.push_str(&safe);
        Some((self.number, Piece::Arguments(safe)))
    }
}
