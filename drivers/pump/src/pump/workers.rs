//! Who does the blocking part of an effect: a thread, never the loop (DEC-28).
//!
//! Storing permission updates is work on a disk. A validator is the embedder's
//! code: it may compute or wait as long as it likes, and on the loop's thread an
//! interrupt would wait with it. Here it holds up the output alone, which waits
//! for its verdict anyway. It costs a thread for each record that is judged.

use super::Post;
use crate::contain::contained;
use crate::pool::{Lost, Pool, THREADS};
use crate::world::{Persist, Validator};
use agentx_core::effect::{Answer, EffectId, Verdict};
use agentx_core::hook::{HookReport, HookRequest};
use agentx_core::schema::permission::PermissionUpdate;
use agentx_core::tool::{ToolOutcome, ToolRequest};
use agentx_tools::Toolbox;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The pools of a session.
#[derive(Debug)]
pub(super) struct Workers {
    pub(super) tools: Pool<Box<ToolRequest>>,
    /// Apart from tools, so that tools which keep every thread busy do not hold
    /// up what decides about them.
    pub(super) hooks: Pool<Box<HookRequest>>,
    /// One job at a time, since each changes what the one before it wrote.
    pub(super) persist: Option<Pool<Vec<PermissionUpdate>>>,
    /// One record at a time, in the order of the output.
    pub(super) validator: Option<Pool<Vec<u8>>>,
}

impl Workers {
    pub(super) fn new(
        toolbox: Arc<Toolbox>,
        persist: Option<Persist>,
        validator: Option<Validator>,
        post: &Post,
    ) -> Self {
        let programs = Arc::clone(&toolbox);
        Self {
            hooks: Pool::new(
                THREADS,
                Box::new(move |request: Box<HookRequest>, cancel| {
                    Answer::Hook(programs.run_hook(&request, cancel))
                }),
                |lost| {
                    Answer::Hook(HookReport::failed(match lost {
                        Lost::Panicked => "running it failed inside; this is a fault of AgentX",
                        Lost::NoThread => "it could not be started: no thread",
                    }))
                },
                Arc::clone(post),
            ),
            tools: Pool::new(
                THREADS,
                Box::new(move |request, cancel| Answer::Tool(toolbox.run(&request, cancel))),
                |lost| {
                    Answer::Tool(ToolOutcome::error(match lost {
                        Lost::Panicked => "The tool failed inside; this is a fault of AgentX.",
                        Lost::NoThread => "The tool could not be started: no thread.",
                    }))
                },
                Arc::clone(post),
            ),
            persist: persist.map(|persist| {
                let persist = Mutex::new(persist);
                Pool::new(
                    1,
                    Box::new(move |updates: Vec<PermissionUpdate>, _| {
                        let persist = persist.lock().unwrap_or_else(PoisonError::into_inner);
                        Answer::Persisted(verdict(persist(&updates)))
                    }),
                    |_| Answer::Persisted(Verdict::Failed),
                    Arc::clone(post),
                )
            }),
            validator: validator.map(|validator| {
                let validator = Mutex::new(Some(validator));
                Pool::new(
                    1,
                    Box::new(move |copy, _| Answer::Vetted(judge(&validator, copy))),
                    |_| Answer::Vetted(Verdict::Failed),
                    Arc::clone(post),
                )
            }),
        }
    }

    /// Cancels whatever this effect is.
    pub(super) fn cancel(&self, id: EffectId) {
        self.tools.cancel(id);
        self.hooks.cancel(id);
        if let Some(persist) = &self.persist {
            persist.cancel(id);
        }
        if let Some(validator) = &self.validator {
            validator.cancel(id);
        }
    }

    /// Waits for tools, hooks and for what is being stored; nobody needs a verdict any
    /// more. False when that takes longer than `grace`.
    pub(super) fn join(&self, grace: Duration) -> bool {
        let end = Instant::now() + grace;
        let tools = self.tools.join(grace);
        let left = end.saturating_duration_since(Instant::now());
        let hooks = self.hooks.join(left);
        let left = end.saturating_duration_since(Instant::now());
        let stored = self.persist.as_ref().is_none_or(|pool| pool.join(left));
        tools && hooks && stored
    }

    /// Kills what tools and hooks run; `grace` is left to each to be reaped.
    pub(super) fn abandon(&self, grace: Duration) {
        self.tools.abandon(grace);
        self.hooks.abandon(grace);
    }
}

/// A validator that panicked or refused is not asked again (WIRE-015).
fn judge(validator: &Mutex<Option<Validator>>, mut copy: Vec<u8>) -> Verdict {
    let mut slot = validator.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut validator) = slot.take() else {
        return Verdict::Failed;
    };
    if contained(|| validator(&mut copy)) == Some(true) {
        *slot = Some(validator);
        return Verdict::Passed;
    }
    // Its parts are its embedder's, too.
    let _ = contained(|| drop(validator));
    Verdict::Failed
}

pub(super) const fn verdict(passed: bool) -> Verdict {
    if passed {
        Verdict::Passed
    } else {
        Verdict::Failed
    }
}
