//! How things end: interrupts, fatal input, signals, closed output, exit.

use super::records::Asked;
use super::{AgentSession, Diagnostic, Event, Output, Severity, Stage, TurnReport, records};
use crate::effect::Kind;
use crate::link::Fault;
use crate::mark::mark;
use crate::plant::planted;
use crate::schema::outbound::{Outbound, SessionState};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// Exit status once the output is closed for good (DEC-20).
const LATCHED: u8 = 1;

/// What the result of a prompt says that the end of the session overtook.
const NEVER_RAN: &str = "the session ended before this prompt ran";

/// Exit status of a session whose input could not be read to its end.
const INPUT_LOST: u8 = 1;

/// The exit status of a process whose session told `exit`, or ended without one.
///
/// A session is over before its last records are written, and takes nothing
/// more then; `output_failed` says that they could not be (DEC-11, DEC-20).
/// `input_failed` says that the input broke off: for the session that is its
/// end, but what was to come is lost, as with input that is malformed.
#[must_use]
pub const fn exit_status(exit: Option<u8>, input_failed: bool, output_failed: bool) -> u8 {
    match exit {
        Some(_) if output_failed => LATCHED,
        Some(0) if input_failed => INPUT_LOST,
        Some(status) => status,
        None => LATCHED,
    }
}

impl AgentSession {
    /// Ends the running turn; `ack` is the host's request that asked for it.
    ///
    /// Questions are withdrawn first, then the request is acknowledged, then
    /// the turn settles (WIRE-010, WIRE-011, hard-interrupt order). Queued
    /// prompts stay (DEC-15).
    pub(super) fn interrupt_turn(&mut self, ack: Option<&str>) {
        let idle = planted!(self.planted, Wire010Idle) && self.turn.is_none();
        let late = planted!(self.planted, Wire010);
        let early = planted!(self.planted, Wire011);
        if early && let Some(id) = ack {
            Self::answer(self, id, None);
        }
        self.withdraw_questions();
        let suggesting = self.drop_suggestion();
        if !(early || late || idle)
            && let Some(id) = ack
        {
            mark!(self.marks, WIRE_010);
            self.answer(id, None);
        }
        self.back_to_running();
        self.cancel_submission("the prompt was cancelled before it ran");
        if self.turn.is_none() {
            self.stop_hooks(false);
        }
        self.cancel_turn(None);
        if late && let Some(id) = ack {
            Self::answer(self, id, None);
        }
        if suggesting {
            self.after_result();
        }
    }

    /// Ends everything because the input cannot be read on (DEC-10).
    pub(super) fn fatal_input(&mut self, fault: Fault) {
        mark!(self.marks, WIRE_001);
        self.settle_everything(1, Some(fault));
    }

    fn tell_fault(&mut self, fault: &Fault) {
        let text = fault.to_string();
        let result = records::input_error(&self.config.provider, text.clone(), Asked::default());
        self.send(&Outbound::Result(result));
        self.report_cancelled(vec![text]);
        let excerpt = self.excerpt(&fault.source);
        self.diagnose(Severity::Error, format!("{fault}: {excerpt}"));
    }

    /// The beginning of a line as printable text: guarded, then cut (DEC-10).
    fn excerpt(&self, source: &[u8]) -> String {
        let source = String::from_utf8_lossy(source);
        let mut redactor = self.config.credentials.redactor();
        // What the redactor holds back may be the first half of a credential.
        let safe = redactor.push(&source);
        if self.config.credentials.is_spelled_in(&safe) {
            return "(the line spells a credential and is not shown)".to_string();
        }
        let mut text = String::from("\"");
        for c in safe.chars() {
            let shown = c.escape_debug();
            if text.len() + shown.to_string().len() >= self.config.limits.excerpt_bytes {
                break;
            }
            text.extend(shown);
        }
        text.push('"');
        text
    }

    /// Ends everything because a signal came.
    ///
    /// Where all has run to its end already, the hooks of that end do not outlast
    /// the signal.
    pub(super) fn shutdown(&mut self, status: u8) {
        if matches!(self.stage, Stage::Leaving(_)) {
            self.stage = Stage::Closing(status);
            self.stop_hooks(true);
        } else {
            self.settle_everything(status, None);
        }
    }

    /// Settles what runs and what waits, in the order of DEC-10.
    fn settle_everything(&mut self, status: u8, fault: Option<Fault>) {
        self.stage = Stage::Closing(status);
        self.fault = fault.map(Box::new);
        self.stop_files();
        self.drop_initialize();
        self.withdraw_requests(true);
        self.mcp.forget();
        self.withdraw_questions();
        self.drop_suggestion();
        if self.turn.is_none() {
            self.cancel_submission(NEVER_RAN);
            self.stop_hooks(true);
            return self.finish_closing();
        }
        // The rest follows the result of the turn, which may wait for the store.
        self.stop_hooks(true);
        self.cancel_turn(None);
    }

    /// What follows the last result of a session that closes.
    pub(super) fn finish_closing(&mut self) {
        while let Some(prompt) = self.queue.pop() {
            if planted!(self.planted, Dec10) {
                continue;
            }
            let text = NEVER_RAN;
            let result = records::never_ran(&self.config.provider, text, prompt);
            self.send(&Outbound::Result(result));
            self.report_cancelled(vec![text.to_string()]);
        }
        if let Some(id) = self.flushing.take() {
            self.cancel_effect(id);
        }
        self.set_state(SessionState::Idle);
        if let Some(fault) = self.fault.take() {
            mark!(self.marks, DEC_10);
            self.tell_fault(&fault);
        }
    }

    pub(super) fn report_cancelled(&mut self, errors: Vec<String>) {
        let report = TurnReport {
            text: String::new(),
            structured_output: None,
            errors,
            is_error: true,
            at_limit: false,
        };
        self.out.push_back(Output::Event(Event::TurnEnded(report)));
    }

    /// Closes the output for good (WIRE-013, WIRE-015, DEC-11). What is open is
    /// settled when the input that caused this has been handled.
    pub(super) fn latch(&mut self, text: &'static str) {
        if matches!(self.stage, Stage::Latched | Stage::Exited) {
            return;
        }
        mark!(self.marks, WIRE_015);
        self.stage = Stage::Latched;
        self.link.latch();
        let text = format!("{text}; the session ends");
        self.out.push_back(Output::Diagnostic(Diagnostic {
            severity: Severity::Error,
            text,
        }));
    }

    /// Settles what a closed output left open; nothing is written any more.
    pub(super) fn close_latched(&mut self) {
        if self.stage != Stage::Latched {
            return;
        }
        self.waiters.abort_all();
        self.mcp.forget();
        self.cancel_turn(None);
        while self.queue.pop().is_some() {}
        self.flushing = None;
        self.suggestion = None;
        self.forget_hooks();
        self.stop_files();
        // What is being stored is stored; the next run may need it.
        let open = self.effects.iter().filter(|(_, kind)| *kind != Kind::Store);
        let open: Vec<_> = open.map(|(id, _)| id).collect();
        for id in open {
            self.cancel_effect(id);
        }
    }

    /// Whether nothing runs or is on its way.
    fn is_settled(&self) -> bool {
        self.effects.is_empty() && self.link.is_drained()
    }

    /// Tells the exit once nothing runs, waits or is on its way (DEC-14, DEC-20).
    pub(super) fn settle_exit(&mut self) {
        let status = match self.stage {
            Stage::Open | Stage::Exited => return,
            Stage::Ended if !self.is_busy() && self.queue.is_empty() => self.books.status(),
            Stage::Ended => return,
            Stage::Closing(_) if self.turn.is_some() => return,
            Stage::Leaving(status) | Stage::Closing(status) => status,
            Stage::Latched => LATCHED,
        };
        if self.is_settled() {
            if self.begin_end_hooks() {
                // Nothing is begun behind them.
                self.stage = if self.stage == Stage::Ended {
                    Stage::Leaving(status)
                } else {
                    Stage::Closing(status)
                };
                self.fail_unsent_hooks();
                if !self.is_settled() {
                    return;
                }
            }
            mark!(self.marks, DEC_20);
            self.stage = Stage::Exited;
            self.out.push_back(Output::Exit(status));
        }
    }
}
