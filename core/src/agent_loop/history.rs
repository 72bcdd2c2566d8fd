//! What joins the history beside prompts and results of calls.

use super::{AgentLoop, Kept, Step};
use crate::model::{Message, Usage};
use alloc::sync::Arc;

impl AgentLoop {
    /// Puts the blocks of the current answer into the history.
    pub(super) fn keep_shown(&mut self, usage: Option<Usage>) {
        let blocks = core::mem::take(&mut self.shown);
        if !blocks.is_empty() {
            let message = Arc::new(Message::Assistant(blocks));
            self.history.push(Arc::clone(&message));
            let kept = Kept::Answer { message, usage };
            self.out.push_back(Step::Kept(kept));
        }
    }

    /// Takes what waits for the next request. An answer of the past waits for a
    /// prompt: a model that finds one at the end would go on with it.
    pub(super) fn take_context(&mut self, before_prompt: bool) {
        let is_answer = |message: &Arc<Message>| matches!(**message, Message::Assistant(_));
        let answer = self.context.iter().position(is_answer);
        let until = match answer {
            Some(answer) if !before_prompt => answer,
            Some(_) | None => self.context.len(),
        };
        for message in self.context.drain(..until) {
            self.history.push(Arc::clone(&message));
            let kept = if is_answer(&message) {
                let usage = None;
                Kept::Answer { message, usage }
            } else {
                Kept::Context(message)
            };
            self.out.push_back(Step::Kept(kept));
        }
    }
}
