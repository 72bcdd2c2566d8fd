//! What a call came to is what is told of it: how its tool ended, to the host and to
//! the model alike (DEC-26), and without its credentials, which end no session
//! (DEC-30).

use super::calls::content_text;
use super::model::{LATCHES, Model};
use super::said::Said;
use super::{Drained, Judged, Oracle, broken};
use crate::kit::{FRAGMENTS, SECRET};
use agentx_core::agent::{Config, Input, Output};
use agentx_core::effect::{Answer, EffectId, Request};
use agentx_core::model::{Message, ModelRequest};
use agentx_core::tool::{ToolContent, ToolOutcome};
use std::collections::BTreeMap;

/// Characters of a text that no limit cuts.
const SHORT: usize = 20;

/// Messages at the end of a history that are looked at; older ones were before.
const NEWEST: usize = 4;

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
struct End {
    is_error: bool,
    text: String,
}

impl End {
    fn of(is_error: bool, content: &[ToolContent]) -> Self {
        let texts = content.iter().map(|ToolContent::Text(text)| text.as_str());
        let text = texts.collect::<Vec<_>>().join("\n");
        Self { is_error, text }
    }
}

/// Tools that run, and how they ended.
#[derive(Debug, Default)]
pub(crate) struct Outcomes {
    runs: BTreeMap<EffectId, String>,
    /// Runs that ended by themselves, until their results are told.
    ended: BTreeMap<String, End>,
    /// What the host was told.
    told: BTreeMap<String, End>,
    /// Whether the credential is the only one, so that text of tools cannot spell
    /// another together with what stands around it.
    plain: bool,
    /// Whether the input at hand is the end of a tool that tells the credential.
    leaky: bool,
}

impl Outcomes {
    fn ends(&mut self, id: EffectId, outcome: &ToolOutcome) {
        let Some(call) = self.runs.remove(&id) else {
            return;
        };
        let end = End::of(outcome.is_error, &outcome.content);
        self.leaky = self.plain && end.text.contains(SECRET);
        self.ended.insert(call, end);
    }

    /// A result says how its call ended. Hooks may have put another text in its place.
    fn tells(&mut self, model: &Model, call: &str, told: End) -> Judged {
        if let Some(end) = self.ended.remove(call) {
            let whole = !model.rules.hooks && end.text.chars().count() <= SHORT;
            if told.is_error != end.is_error || (whole && told.text != end.text) {
                let what = format!("{call} ended as {end:?}, and {told:?} is told");
                return broken("a result says how its call ended", "DEC-26", what);
            }
        }
        self.told.insert(call.to_string(), told);
        Ok(())
    }

    fn asks(&self, model: &Model, request: &ModelRequest) -> Judged {
        // A result that is too long for one record may be shortened there, and where
        // records lag it is told later.
        if model.lags() || model.rules.reference {
            return Ok(());
        }
        let newest = request.history.iter().rev().take(NEWEST);
        let results = newest.filter_map(|message| match &**message {
            Message::ToolResults(results) => Some(results),
            Message::User(_) | Message::Assistant(_) => None,
        });
        for result in results.flatten() {
            let read = End::of(result.is_error, &result.content);
            let told = self.told.get(&*result.tool_use_id);
            if told.is_some_and(|told| *told != read) {
                let what = format!("{}: {read:?}, and {told:?} to the host", result.tool_use_id);
                return broken("the model reads what the host is told", "DEC-26", what);
            }
        }
        Ok(())
    }
}

impl Oracle for Outcomes {
    fn began(&mut self, config: &Config) {
        let known = |text: &&str| config.credentials.check(text.as_bytes()).is_err();
        *self = Self {
            plain: !FRAGMENTS.iter().any(known),
            ..Self::default()
        };
    }

    fn input(&mut self, model: &Model, input: &Input<'_>) -> Judged {
        self.leaky = false;
        match input {
            Input::Done(id, Answer::Tool(outcome)) if !model.latched => self.ends(*id, outcome),
            _ => {}
        }
        Ok(())
    }

    fn output(&mut self, model: &Model, output: &Output) -> Judged {
        match output {
            Output::Start(id, Request::Tool(run)) => {
                self.runs.insert(*id, run.call.id.to_string());
                Ok(())
            }
            Output::Start(_, Request::Model(request)) => self.asks(model, request),
            Output::Cancel(id) => {
                self.runs.remove(id);
                Ok(())
            }
            Output::Diagnostic(diagnostic) if self.leaky && diagnostic.text.ends_with(LATCHES) => {
                let what = diagnostic.text.clone();
                broken("a credential of a tool is taken out", "DEC-30", what)
            }
            _ => Ok(()),
        }
    }

    fn said(&mut self, model: &Model, _line: &[u8], said: &Said<'_>) -> Judged {
        // The next prompt may be repeated behind it, with a credential of its own.
        self.leaky &= !matches!(said, Said::Result(_));
        let Said::ToolResult {
            call,
            is_error,
            content,
        } = said
        else {
            return Ok(());
        };
        let told = End {
            is_error: *is_error,
            text: content_text(content),
        };
        self.tells(model, call, told)
    }

    fn drained(&mut self, _model: &Model, _drained: &Drained) -> Judged {
        self.leaky = false;
        Ok(())
    }
}
