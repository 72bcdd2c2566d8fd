//! Tools and hooks.

use super::{Step, World};
use crate::event::Watch;
use crate::fault::Fault;
use crate::kit::SECRET;
use agentx_core::hook::{HookEnd, HookEvent, HookReport};
use agentx_core::tool::ToolOutcome;

impl<W: Watch> World<'_, W> {
    /// How a tool or a task ends.
    pub(super) fn tool_outcome(&mut self) -> Step<ToolOutcome> {
        if self.strikes(Fault::ToolFailure, 6)? {
            return Ok(ToolOutcome::error("the tool has failed"));
        }
        if self.strikes(Fault::Credential, 8)? {
            return Ok(ToolOutcome::text(format!("found {SECRET} in a file")));
        }
        Ok(match self.tape.below(16) {
            0..12 => ToolOutcome::text("seen"),
            12 => ToolOutcome::text("a line of output\n".repeat(16 * self.tape.below(32))),
            13 => ToolOutcome::text(""),
            14 => ToolOutcome::text("a line of output\n".repeat(30)),
            _ => ToolOutcome::text("é\u{2029}\u{0}\"\\".repeat(1 + self.tape.below(64))),
        })
    }

    /// How long a task runs: some outlive the answer that began them.
    pub(super) fn task_delay(&mut self) -> u64 {
        match self.tape.below(4) {
            0 => 0,
            1 => self.delay(),
            2 => 2_000 * self.tape.below(250) as u64,
            _ => 100_000 * self.tape.below(128) as u64,
        }
    }

    /// How a hook of the settings ends.
    pub(super) fn hook_report(&mut self, event: HookEvent) -> Step<HookReport> {
        if self.strikes(Fault::HookFailure, 6)? {
            return Ok(match self.tape.below(3) {
                0 => HookReport::failed("it is gone"),
                1 => printed("garbage"),
                _ => HookReport {
                    end: HookEnd::Exited(7),
                    ..HookReport::failed("")
                },
            });
        }
        if self.strikes(Fault::Credential, 12)? {
            return Ok(printed(&format!(r#"{{"additionalContext":"{SECRET}"}}"#)));
        }
        let about_tool = event.is_about_tool();
        Ok(match self.tape.below(12) {
            0..4 => printed(""),
            4 if about_tool => printed(r#"{"decision":"allow"}"#),
            5 if about_tool => printed(r#"{"decision":"allow","updatedInput":{"b":2}}"#),
            6 if about_tool => printed(r#"{"decision":"ask"}"#),
            7 => printed(r#"{"decision":"deny","message":"no"}"#),
            8 => printed(r#"{"continue":true,"additionalContext":"so it is"}"#),
            9 if about_tool => {
                printed(r#"{"updatedInput":{"b":2},"additionalContext":"so it is"}"#)
            }
            10 => HookReport {
                end: HookEnd::Exited(2),
                stderr: "denied".to_string(),
                ..HookReport::failed("")
            },
            _ => printed("{}"),
        })
    }
}

/// A hook that ended with status 0 and printed this.
fn printed(text: &str) -> HookReport {
    HookReport {
        end: HookEnd::Exited(0),
        answer: text.to_string(),
        stdout: text.to_string(),
        stderr: String::new(),
    }
}
