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

use crate::guard::{Guard, Redactor};
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
    /// More of a reasoning block's signature.
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

/// What a complete answer leaves: its last open block, its calls, why it stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finished {
    /// Blocks not yet given as [`Streamed::Block`], oldest first.
    pub(crate) blocks: Vec<Block>,
    pub(crate) calls: Vec<Proposed>,
    pub(crate) stop: StopReason,
    pub(crate) usage: Usage,
}

/// The answer under construction.
#[derive(Debug)]
pub(crate) struct Answer {
    guard: Guard,
    message_id: Option<String>,
    started: bool,
    opened: usize,
    open: Option<OpenBlock>,
    /// Finished blocks that are shown when the answer ends: the last before a
    /// call, and all that came after one.
    waiting: Vec<Block>,
    calls: Vec<OpenCall>,
    usage: Usage,
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
}

#[derive(Debug)]
struct OpenCall {
    key: u32,
    number: usize,
    redactor: Redactor,
    call: Proposed,
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
            calls: Vec::new(),
            usage: Usage::ZERO,
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
        self.calls.iter().map(|open| Arc::clone(&open.call.id))
    }

    /// Takes one delta. `map_id` gives the session-wide id of a call (DEC-35).
    pub(crate) fn delta(&mut self, delta: Delta, map_id: impl FnOnce(&str) -> Arc<str>) {
        if !self.started && !matches!(delta, Delta::MessageId(_)) {
            self.started = true;
            self.out.push_back(Streamed::Started);
        }
        match delta {
            Delta::MessageId(id) => {
                if !id.is_empty() {
                    self.message_id = Some(self.guard.redact(&id).into_owned());
                }
            }
            Delta::Text(text) => self.text(&text),
            Delta::Thinking(text) => self.thinking(&text),
            Delta::Signature(text) => self.signature(&text),
            Delta::CallStart { index, id, name } => {
                let id = map_id(&self.guard.redact(&id));
                self.call(index, id, &name);
            }
            Delta::CallArguments { index, text } => self.arguments(index, &text),
            Delta::Usage(usage) => self.usage = usage,
            Delta::Stop(stop) => self.stop = Some(stop),
        }
    }

    /// The next thing to show.
    pub(crate) fn poll(&mut self) -> Option<Streamed> {
        self.out.pop_front()
    }

    /// Ends a complete answer. Drain [`Answer::poll`] before and after.
    pub(crate) fn finish(&mut self) -> Finished {
        let last = self.take_open();
        for call in &mut self.calls {
            let rest = call.redactor.finish();
            if !rest.is_empty() {
                call.call.arguments.push_str(&rest);
                let piece = Piece::Arguments(rest);
                self.out.push_back(Streamed::Piece {
                    block: call.number,
                    piece,
                });
            }
            self.out.push_back(Streamed::Closed { block: call.number });
        }
        let mut blocks = core::mem::take(&mut self.waiting);
        blocks.extend(last);
        // A tool stop without any call is none (DEC-51), and calls ask for answers.
        let mut stop = self.stop.unwrap_or(StopReason::EndTurn);
        if matches!(stop, StopReason::EndTurn | StopReason::ToolUse) {
            let calls = !self.calls.is_empty();
            stop = if calls {
                StopReason::ToolUse
            } else {
                StopReason::EndTurn
            };
        }
        self.end(Some(stop));
        Finished {
            blocks,
            calls: self.calls.drain(..).map(|open| open.call).collect(),
            stop,
            usage: self.usage,
        }
    }

    /// Ends an answer that was cut, failed or was cancelled: text and thinking
    /// stay, calls are dropped (DEC-41).
    pub(crate) fn cut(&mut self) -> Vec<Block> {
        let last = self.take_open();
        for call in self.calls.drain(..) {
            self.out.push_back(Streamed::Closed { block: call.number });
        }
        self.end(None);
        let mut blocks = core::mem::take(&mut self.waiting);
        blocks.extend(last);
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
        let before = self.take_open();
        self.waiting.extend(before);
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
        self.calls.push(OpenCall {
            key,
            number,
            redactor: self.guard.redactor(),
            call: Proposed {
                id,
                name,
                arguments: String::new(),
            },
        });
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
        if !matches!(
            &self.open,
            Some(OpenBlock {
                kind: BlockKind::Thinking { .. },
                ..
            })
        ) {
            self.close_block();
            self.open_block(BlockKind::Thinking { signature: None });
        }
        // The text of the block is over; its redactor goes on with the signature.
        let rest = self.open.as_mut().and_then(OpenBlock::begin_signature);
        self.show_piece(rest);
        self.append(text);
    }

    fn arguments(&mut self, key: u32, text: &str) {
        let Some(open) = self.calls.iter_mut().rev().find(|open| open.key == key) else {
            return;
        };
        let text = open.redactor.push(text);
        if !text.is_empty() {
            open.call.arguments.push_str(&text);
            self.out.push_back(Streamed::Piece {
                block: open.number,
                piece: Piece::Arguments(text),
            });
        }
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
        let opened = match kind {
            BlockKind::Text => Opened::Text,
            BlockKind::Thinking { .. } => Opened::Thinking,
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
        if self.calls.is_empty() {
            self.out.push_back(Streamed::Block(block));
        } else {
            self.waiting.push(block);
        }
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
        })
    }

    const fn next_number(&mut self) -> usize {
        let number = self.opened;
        self.opened += 1;
        number
    }
}

impl OpenBlock {
    /// Takes more text, or more of the signature once that has begun.
    fn push(&mut self, text: &str) -> Option<(usize, Piece)> {
        let safe = self.redactor.push(text);
        self.keep(safe)
    }

    /// What the redactor still held back.
    fn finish(&mut self) -> Option<(usize, Piece)> {
        let safe = self.redactor.finish();
        self.keep(safe)
    }

    /// Ends the text of a thinking block, if its signature has not begun.
    fn begin_signature(&mut self) -> Option<(usize, Piece)> {
        if self.kind != (BlockKind::Thinking { signature: None }) {
            return None;
        }
        let rest = self.finish();
        self.kind = BlockKind::Thinking {
            signature: Some(String::new()),
        };
        rest
    }

    fn keep(&mut self, safe: String) -> Option<(usize, Piece)> {
        if safe.is_empty() {
            return None;
        }
        let piece = match &mut self.kind {
            BlockKind::Text => {
                self.text.push_str(&safe);
                Piece::Text(safe)
            }
            BlockKind::Thinking { signature: None } => {
                self.text.push_str(&safe);
                Piece::Thinking(safe)
            }
            BlockKind::Thinking {
                signature: Some(signature),
            } => {
                signature.push_str(&safe);
                Piece::Signature(safe)
            }
        };
        Some((self.number, piece))
    }
}
