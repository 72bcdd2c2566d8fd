//! What a world is judged by.
//!
//! [`Oracles`] watches a world and knows it from the outside alone: bytes, inputs,
//! outputs and effects. It reads the text of records with a reader of its own
//! (`tree`, `said`, `told`), keeps a reference model of what is open (`model`), and
//! has each oracle judge every event before the model takes it:
//!
//! | oracle | holds | requirements |
//! |---|---|---|
//! | `laws` | tick, silence, settlement; no misuse by a good driver | the laws |
//! | `output` | one FIFO of whole lines, nothing behind a closed output, ceilings of unsent bytes | WIRE-003, WIRE-015, DEC-36 |
//! | `secrets` | no credential in any decoded form | WIRE-013 |
//! | `requests` | who is open, who may close it, and that this happens once | WIRE-006, 007, 008, WIRE-PERM-070 to 072 |
//! | `calls` | every call settled once and as the first decisive answer says | WIRE-PERM-001, 002, 010, 040, 060, WIRE-EOF-001 |
//! | `outcomes` | results say how calls ended, to host and model, without credentials | DEC-26, DEC-30 |
//! | `policy` | updates of answers, in order | WIRE-PERM-030 |
//! | `interrupt` | the order of an interrupt | WIRE-010, 011 |
//! | `books` | the model requests that a result tells | DEC-27 |
//! | `bounds` | model requests, money, variables, continuations | DEC-22, DEC-40 |
//! | `states` | running, requires_action, idle | WIRE-004, WIRE-PERM-023 |
//! | `prompts` | one terminal record for each prompt, order and bounds of the queue | WIRE-020, DEC-15, 20, 21, 44, 45 |
//! | `store` | what is promised is stored, and nothing runs twice | DEC-32 |
//! | `host` | of the host: the laws, one end of each call and prompt, records in order | WIRE-003, 006, 007, 008, 015, WIRE-EOF-001, WIRE-PERM-002, 010, 070, DEC-10, 21 |

mod books;
mod bounds;
mod calls;
mod decision;
mod host;
mod interrupt;
mod json;
mod laws;
mod model;
mod outcomes;
mod output;
mod policy;
mod prompts;
mod requests;
mod said;
mod secrets;
mod states;
mod store;
#[cfg(test)]
mod tests;
mod told;
mod tree;
mod way;

use crate::event::{Event, Violation, Watch};
use agentx_core::agent::{Config, Input, Output};
use agentx_core::machine::{Machine as _, Wants};
use agentx_core::time::Instant;
pub(crate) use model::{LATCHES, Model, Pending, Standing};
pub(crate) use said::Said;
use std::ops::ControlFlow;
use told::Lines;
pub(crate) use told::Told;
pub(crate) use tree::Tree;
use way::Way;

/// What an oracle finds.
pub(crate) type Judged = Result<(), Violation>;

/// A rule that was broken.
fn broken(rule: &'static str, requirement: &'static str, what: impl Into<String>) -> Judged {
    Err(Violation::new(rule, requirement, what))
}

/// What a machine says of itself between two inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Drained {
    pub(crate) deadline: Option<Instant>,
    pub(crate) wants: Wants,
    /// Requests to the host that wait.
    pub(crate) pending: usize,
}

/// One judge. The model is as it was before what it sees.
pub(crate) trait Oracle {
    /// A process began.
    fn began(&mut self, _config: &Config) {}

    /// An input is about to be fed.
    fn input(&mut self, _model: &Model, _input: &Input<'_>) -> Judged {
        Ok(())
    }

    /// It held this record.
    fn told(&mut self, _model: &Model, _told: &Told) -> Judged {
        Ok(())
    }

    /// It ended the stream, whose last record was told.
    fn ended(&mut self, _model: &Model) -> Judged {
        Ok(())
    }

    /// An output; records are said besides.
    fn output(&mut self, _model: &Model, _output: &Output) -> Judged {
        Ok(())
    }

    /// A record was let go.
    fn said(&mut self, _model: &Model, _line: &[u8], _said: &Said<'_>) -> Judged {
        Ok(())
    }

    /// All outputs of an input are taken.
    fn drained(&mut self, _model: &Model, _drained: &Drained) -> Judged {
        Ok(())
    }

    /// Anything else that happens in a world.
    fn event(&mut self, _model: &Model, _event: &Event<'_>) -> Judged {
        Ok(())
    }
}

/// All oracles.
#[derive(Debug, Default)]
pub struct Oracles {
    pub(crate) model: Option<Box<Model>>,
    lines: Lines,
    /// The line that the agent is told.
    tree: Tree,
    /// What it says, until the host has it.
    way: Way,
    laws: laws::Laws,
    output: output::Out,
    secrets: secrets::Secrets,
    requests: requests::Requests,
    calls: calls::Calls,
    outcomes: outcomes::Outcomes,
    policy: policy::Rights,
    interrupt: interrupt::Interrupts,
    states: states::States,
    books: books::Books,
    bounds: bounds::Bounds,
    prompts: prompts::Prompts,
    store: store::Stored,
    /// Judges the host, of which the others and the model know nothing.
    host: host::Hosts,
}

/// Has every oracle judge.
macro_rules! judge {
    ($self:ident . $verb:ident ( $($arg:expr),* )) => {{
        $self.laws.$verb($($arg),*)?;
        $self.secrets.$verb($($arg),*)?;
        $self.output.$verb($($arg),*)?;
        $self.requests.$verb($($arg),*)?;
        $self.policy.$verb($($arg),*)?;
        $self.calls.$verb($($arg),*)?;
        $self.outcomes.$verb($($arg),*)?;
        $self.interrupt.$verb($($arg),*)?;
        $self.states.$verb($($arg),*)?;
        $self.books.$verb($($arg),*)?;
        $self.bounds.$verb($($arg),*)?;
        $self.prompts.$verb($($arg),*)?;
        $self.store.$verb($($arg),*)?;
    }};
}

impl Oracles {
    /// Oracles that have seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn began(&mut self, config: &Config) {
        self.model = Some(Box::new(Model::new(config)));
        self.lines = Lines::default();
        self.way.clear();
        self.laws.began(config);
        self.secrets.began(config);
        self.output.began(config);
        self.requests.began(config);
        self.policy.began(config);
        self.calls.began(config);
        self.outcomes.began(config);
        self.interrupt.began(config);
        self.states.began(config);
        self.books.began(config);
        self.bounds.began(config);
        self.prompts.began(config);
        self.store.began(config);
    }

    fn input(&mut self, model: &mut Model, now: Instant, input: &Input<'_>) -> Judged {
        model.begin_step(now, input);
        judge!(self.input(model, input));
        if !model.closing && !model.latched && !model.eof {
            let mut lines = Vec::new();
            let limit = model.rules.limits.record_bytes;
            match input {
                Input::Bytes(bytes) => self.lines.feed(bytes, limit, |line| {
                    let told = Told::read(line, limit, model.rules.reference, &mut self.tree);
                    let fatal = told == Some(Told::Fatal);
                    lines.extend(told);
                    if fatal {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                }),
                Input::Eof => {
                    let tail = self.lines.end();
                    let reference = model.rules.reference;
                    lines.extend(Told::read(&tail, limit, reference, &mut self.tree));
                }
                _ => {}
            }
            for told in &lines {
                judge!(self.told(model, told));
                model.told(told);
            }
            if matches!(input, Input::Eof) && !model.closing {
                judge!(self.ended(model));
            }
        }
        model.end_step_input(input);
        Ok(())
    }

    fn drained(&mut self, model: &Model, drained: &Drained) -> Judged {
        judge!(self.drained(model, drained));
        Ok(())
    }

    fn heard(&mut self, model: &mut Model, output: &Output) -> Judged {
        judge!(self.output(model, output));
        model.output(output);
        if let Output::Transmit(record) = output {
            let bytes = record.as_bytes();
            let line = self.way.read(bytes.strip_suffix(b"\n").unwrap_or(bytes));
            let said = Said::read(line.node());
            judge!(self.said(model, bytes, &said));
            model.said(&said);
            self.way.leaves(line);
        }
        Ok(())
    }

    fn other(&mut self, model: &Model, event: &Event<'_>) -> Judged {
        judge!(self.event(model, event));
        Ok(())
    }
}

impl Watch for Oracles {
    fn see(&mut self, now: Instant, event: &Event<'_>) -> Result<(), Violation> {
        if let Event::Began { config, .. } = event {
            self.began(config);
        }
        self.host.see(now, event, &mut self.way)?;
        let Some(mut model) = self.model.take() else {
            return Ok(());
        };
        let judged = match event {
            Event::AgentInput(input) => self.input(&mut model, now, input),
            Event::AgentOutput(output) => self.heard(&mut model, output),
            Event::AgentDrained(agent) => {
                let drained = Drained {
                    deadline: agent.deadline(),
                    wants: agent.wants(),
                    pending: agent.pending_requests(),
                };
                self.drained(&model, &drained)
            }
            other => self.other(&model, other),
        };
        self.model = Some(model);
        judged
    }
}
