//! Requests to the host: a small model of who is open, who may close it, and that
//! this happens once (WIRE-006 to 008, WIRE-PERM-010, 070 to 072).

use super::json::{items, text_member};
use super::model::{Model, Standing};
use super::said::Said;
use super::told::{Answer, Body, Told};
use super::{Drained, Judged, Oracle, broken};
use agentx_core::agent::{Config, Event, Input, Output};
use agentx_core::correlate::OrphanPolicy;
use std::collections::VecDeque;

/// The newest words of a bounded number.
#[derive(Debug, Default)]
struct Newest {
    limit: usize,
    words: VecDeque<String>,
}

impl Newest {
    fn has(&self, word: &str) -> bool {
        self.words.iter().any(|known| known == word)
    }

    fn add(&mut self, word: &str) {
        if self.has(word) {
            return;
        }
        self.words.push_back(word.to_string());
        if self.words.len() > self.limit {
            self.words.pop_front();
        }
    }
}

/// Closings of one step whose order may not be known.
const CROSSING: usize = 16;

/// The ledger of closed requests, and what is to come of stray answers.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    closed: Newest,
    resolved: Newest,
    admitted: Newest,
    /// Whether the order of closings is not known any more.
    unsure: bool,
    /// Whether it is not known in this step what came first.
    crossed: bool,
    /// Warnings that this step must bring.
    strays: usize,
    /// Calls that this step must offer to the embedder.
    offers: Vec<String>,
    warned: usize,
    offered: Vec<String>,
    /// The answer that is to be echoed before anything else.
    echo: Option<String>,
    /// The id of a second `initialize`.
    probe: Option<String>,
}

impl Requests {
    fn close(&mut self, id: &str, call: Option<&str>) {
        self.closed.add(id);
        if let Some(call) = call {
            self.resolved.add(call);
        }
    }

    fn answer(&mut self, model: &Model, answer: &Answer) {
        if model.causes.ends_turn() || model.causes.other {
            // What stands before it in the same bytes may have closed something.
            self.crossed = true;
            let full = self.closed.words.len().max(self.resolved.words.len()) + CROSSING;
            self.unsure |= full >= self.closed.limit;
        }
        let request = model.request(&answer.id);
        if let Some(request) = request.filter(|request| request.standing == Standing::Open) {
            if request.call.is_some() && answer.body != Body::Invalid {
                self.echo = Some(answer.id.clone());
            }
            return self.close(&answer.id, request.call.as_deref());
        }
        if self.closed.has(&answer.id) {
            return;
        }
        let call = answer.tool_use_id.as_deref();
        let call = call.filter(|_| matches!(answer.body, Body::Success(_)));
        match call {
            Some(call) if self.resolved.has(call) => {}
            Some(call)
                if model.rules.orphans == OrphanPolicy::AdmitOnce && !self.admitted.has(call) =>
            {
                self.admitted.add(call);
                self.offers.push(call.to_string());
            }
            _ => self.strays += 1,
        }
    }

    fn began_request(&self, model: &Model, id: &str) -> Judged {
        if model.request(id).is_some() {
            return broken("a request has an id of its own", "WIRE-006", id);
        }
        if model.step > model.closed_at && !model.lags() {
            let what = format!("{id} is asked after the end of the input");
            return broken("nobody is asked after the end", "WIRE-008", what);
        }
        Ok(())
    }

    fn withdrawn(&mut self, model: &Model, id: &str) -> Judged {
        let Some(request) = model.request(id) else {
            let what = format!("{id} is withdrawn and was never sent");
            return broken("only what is open is withdrawn", "WIRE-006", what);
        };
        // Both may be about the same input.
        let crossed = model.causes.ends_turn() || model.causes.other;
        let may_cross = |step: u64| model.lags() || (crossed && step == model.step);
        match request.standing {
            Standing::Withdrawn => {
                return broken("a request is withdrawn once", "WIRE-007", id);
            }
            Standing::Answered(step) if !may_cross(step) => {
                let what = format!("{id} is withdrawn and was answered");
                return broken("a request is closed once", "WIRE-006", what);
            }
            Standing::Closed if !may_cross(model.closed_at) => {
                let what = format!("{id} is withdrawn and the input has ended");
                return broken("the end closes every request", "WIRE-008", what);
            }
            Standing::Open if request.call.is_some() && !model.lags() && !model.causes.any() => {
                let what = format!("{id} is withdrawn without a cause");
                return broken("a question waits for its answer", "WIRE-007", what);
            }
            _ => {}
        }
        let call = request.call.clone();
        self.close(id, call.as_deref());
        Ok(())
    }

    /// What an answer causes stands behind its echo (DEC-50).
    fn echoed(&mut self, model: &Model, said: &Said<'_>) -> Judged {
        let Some(echo) = self.echo.take() else {
            return Ok(());
        };
        let strict = model.rules.replays && model.is_single() && !model.lags();
        let is_it = matches!(said, Said::Response { id, .. } if **id == *echo);
        if strict && !is_it && !model.rules.schema && !model.rules.reference {
            let what = format!("{said:?} stands before the echo of {echo}");
            return broken("an answer is echoed before what it causes", "DEC-50", what);
        }
        Ok(())
    }

    fn probed(&mut self, model: &Model, id: &str, pending: Option<&[u8]>) -> Judged {
        if self.probe.take_if(|probe| probe == id).is_none() || !model.is_single() {
            return Ok(());
        }
        let told = pending.map(items).into_iter().flatten();
        let told: Vec<_> = told
            .map(|item| text_member(item, "request_id").unwrap_or_default())
            .collect();
        let open = model.open().filter(|request| request.call.is_some());
        let open: Vec<_> = open.map(|request| request.id.as_str()).collect();
        if told != open {
            let what = format!("{told:?} are told as open, and {open:?} are");
            return broken("what is open is registered", "WIRE-006", what);
        }
        Ok(())
    }
}

impl Oracle for Requests {
    fn began(&mut self, config: &Config) {
        let limit = config.limits.resolved_tool_uses;
        let newest = || Newest {
            limit,
            words: VecDeque::new(),
        };
        *self = Self {
            closed: newest(),
            resolved: newest(),
            admitted: newest(),
            ..Self::default()
        };
    }

    fn input(&mut self, _model: &Model, _input: &Input<'_>) -> Judged {
        self.crossed = false;
        self.strays = 0;
        self.warned = 0;
        self.offers.clear();
        self.offered.clear();
        self.probe = None;
        self.echo = None;
        Ok(())
    }

    fn told(&mut self, model: &Model, told: &Told) -> Judged {
        match told {
            Told::Answer(answer) => self.answer(model, answer),
            Told::Initialize { id, .. } => self.probe = Some(id.clone()),
            _ => {}
        }
        Ok(())
    }

    fn ended(&mut self, model: &Model) -> Judged {
        let open: Vec<_> = model.open().cloned().collect();
        for request in open {
            self.close(&request.id, request.call.as_deref());
        }
        Ok(())
    }

    fn output(&mut self, _model: &Model, output: &Output) -> Judged {
        match output {
            Output::Diagnostic(diagnostic)
                if diagnostic.text.contains("matches no open request") =>
            {
                self.warned += 1;
            }
            Output::Event(Event::OrphanAnswer { tool_use_id, .. }) => {
                self.offered.push(tool_use_id.clone());
            }
            _ => {}
        }
        Ok(())
    }

    fn said(&mut self, model: &Model, _line: &[u8], said: &Said<'_>) -> Judged {
        self.echoed(model, said)?;
        match said {
            Said::Question(asked) => self.began_request(model, &asked.request),
            Said::Request { id, .. } => self.began_request(model, id),
            Said::Withdrawn { id } => self.withdrawn(model, id),
            Said::Response {
                id, error, pending, ..
            } if !model.lags() && error.as_deref() == Some("already initialized") => {
                self.probed(model, id, *pending)
            }
            _ => Ok(()),
        }
    }

    fn drained(&mut self, model: &Model, drained: &Drained) -> Judged {
        if model.lags() || model.latched {
            return Ok(());
        }
        let open = model.open().count();
        if open != drained.pending {
            let what = format!("{} requests wait, and {open} are open", drained.pending);
            return broken("a request waits as long as it is open", "WIRE-006", what);
        }
        if self.unsure || self.crossed {
            return Ok(());
        }
        if self.offers != self.offered {
            let what = format!("{:?} are offered, not {:?}", self.offered, self.offers);
            return broken("an orphan is admitted once", "WIRE-PERM-072", what);
        }
        if self.strays != self.warned {
            let what = format!("{} strays were told, not {}", self.warned, self.strays);
            return broken("what is known to be late is ignored", "WIRE-PERM-071", what);
        }
        Ok(())
    }
}
