//! The scripted provider: answers without a model, everything else real.
//!
//! A script file gives its turns one after the other, one for each model
//! request. With `from_prompt` each prompt scripts the answers to itself: the
//! text `SCRIPT {"steps":[…]}` anywhere in a prompt gives the n-th request
//! after that prompt its n-th step, and a prompt without it is echoed.

mod prompt;
mod turn;

use crate::call::{Input, Output};
use agentx_core::json::closed::{Fault, Fields};
use agentx_core::json::{ScanLimits, Scanner};
use agentx_core::machine::Misuse;
use agentx_core::model::{Delta, ErrorCategory, Message, ModelFailure, ModelOutcome, ModelRequest};
use agentx_core::time::Instant;
use agentx_core::tool::ToolContent;
use std::collections::VecDeque;
use std::time::Duration;
use turn::Turn;

/// Where the turns come from.
#[derive(Debug)]
pub(crate) enum Scripted {
    /// A file.
    File {
        turns: Vec<Turn>,
        /// Whether the last turn answers all further requests.
        repeat_last: bool,
        /// Requests made so far.
        made: usize,
    },
    /// The prompts themselves.
    Prompt,
}

impl Scripted {
    /// Reads the text of a script file.
    pub(crate) fn from_file(text: &str) -> Result<Self, Fault> {
        let mut scanner = Scanner::new();
        let value = scanner.scan(text.as_bytes(), &ScanLimits::DEFAULT);
        let value = value.map_err(|error| Fault::new("script", error))?;
        let fields = Fields::open(value, "script".into(), &["turns", "repeat_last"])?;
        fields.need("turns")?;
        Ok(Self::File {
            turns: Turn::read_all(fields.array("turns")?)?,
            repeat_last: fields.flag("repeat_last")?,
            made: 0,
        })
    }

    /// The answer to the next request.
    pub(crate) fn answer(&mut self, request: &ModelRequest) -> Play {
        let results = last_results(&request.history);
        match self {
            Self::Prompt => match prompt::turn_for(request) {
                Ok(turn) => Play::new(&turn, &results),
                Err(message) => Play::failing(message),
            },
            Self::File {
                turns,
                repeat_last,
                made,
            } => {
                *made += 1;
                let last = repeat_last.then(|| turns.last()).flatten();
                match turns.get(*made - 1).or(last) {
                    Some(turn) => Play::new(turn, &results),
                    None => Play::failing(format!(
                        "the script has no turn for model request {made}: it holds {}",
                        turns.len()
                    )),
                }
            }
        }
    }
}

/// The tool results that the last assistant message got, joined with `|`;
/// empty when it called nothing.
fn last_results(history: &[std::sync::Arc<Message>]) -> String {
    let after_answer = history
        .iter()
        .rev()
        .take_while(|m| !matches!(***m, Message::Assistant(_)));
    let mut texts = Vec::new();
    for message in after_answer {
        if let Message::ToolResults(results) = &**message {
            texts = results.iter().map(|result| flat(&result.content)).collect();
        }
    }
    texts.join("|")
}

fn flat(content: &[ToolContent]) -> String {
    let parts = content.iter().map(|part| match part {
        ToolContent::Text(text) => text.as_str(),
    });
    parts.collect::<Vec<_>>().join("\n")
}

/// One answer being played.
#[derive(Debug)]
pub(crate) struct Play {
    deltas: Vec<Delta>,
    /// `None` keeps the stream open until the call is dropped.
    outcome: Option<ModelOutcome>,
    delay: Duration,
    due: Option<Instant>,
}

impl Play {
    fn new(turn: &Turn, results: &str) -> Self {
        Self {
            deltas: turn.deltas(results),
            outcome: turn.outcome(),
            delay: turn.delay,
            due: None,
        }
    }

    fn failing(message: String) -> Self {
        Self {
            deltas: Vec::new(),
            outcome: Some(ModelOutcome::Failed(ModelFailure {
                category: ErrorCategory::InvalidRequest,
                status: None,
                message,
            })),
            delay: Duration::ZERO,
            due: None,
        }
    }

    pub(crate) fn handle(
        &mut self,
        now: Instant,
        input: &Input<'_>,
        out: &mut VecDeque<Output>,
    ) -> Result<(), Misuse> {
        match input {
            // There is no exchange that could have events.
            Input::Http(_) => return Err(Misuse::UnknownEffect),
            Input::Begin => self.due = Some(now.after(self.delay)),
            Input::Tick => {}
        }
        if self.due.is_some_and(|due| due <= now) {
            self.due = None;
            out.extend(self.deltas.drain(..).map(Output::Delta));
            out.extend(self.outcome.take().map(Output::Done));
        }
        Ok(())
    }

    pub(crate) const fn deadline(&self) -> Option<Instant> {
        self.due
    }
}
