//! Situations that tapes are kept of: each is looked for in seeds, made small, and
//! looked for again whenever its tape is replayed.

use crate::event::{Event, Violation, Watch};
use crate::oracle::{LATCHES, Model, Oracles, Said, Standing, Told, Tree};
use crate::shrink::shrink;
use crate::tape::Tape;
use crate::text::TextTape;
use crate::world;
use agentx_core::agent::{Input, Output};
use agentx_core::effect::Answer;
use agentx_core::store::Entry;
use agentx_core::time::Instant;

macro_rules! situations {
    ($($name:ident = $word:literal, $shows:literal, $tells:literal;)*) => {
        /// What a run can come to.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Situation {
            $(#[doc = $tells] $name,)*
        }

        impl Situation {
            /// All of them.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$name),*];

            /// Its name, and that of the file of its tape.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// The requirements that it is about.
            #[must_use]
            pub const fn shows(self) -> &'static str {
                match self { $(Self::$name => $shows,)* }
            }

            /// What happens in it.
            #[must_use]
            pub const fn tells(self) -> &'static str {
                match self { $(Self::$name => $tells,)* }
            }
        }
    };
}

situations! {
    TwoQuestions = "interrupt-two-questions", "WIRE-010, WIRE-011",
        "The host interrupts while two questions are open.";
    TornPromise = "crash-before-result", "DEC-32",
        "The process is killed when the end of a turn is stored and its result is not told; the next one goes on.";
    LastWords = "answer-without-newline", "WIRE-EOF-001, WIRE-008",
        "The input ends behind an answer without its newline, and another question is open.";
    LateAnswer = "hook-before-host", "WIRE-PERM-001, WIRE-007",
        "A hook decides, and the host's answer to the withdrawn question comes later.";
    RefusedNow = "urgent-and-full", "WIRE-020",
        "An urgent prompt is refused by a full queue while a turn runs.";
    ClosedAtOnce = "credential-behind-flush", "WIRE-013, WIRE-015",
        "A turn begins behind a remote flush, and its first record holds a credential: the session once hung until its next input.";
}

/// Watches with all oracles, and stops a world that came to a situation.
#[derive(Debug)]
pub struct Looking {
    oracles: Oracles,
    situation: Situation,
    /// The end of a turn is stored, and its result was not told.
    unsaid: bool,
    torn: bool,
    /// Questions that hooks have withdrawn.
    withdrawn: Vec<String>,
    /// The prompt of this step that wants to run at once.
    urgent: Option<String>,
    flushed: bool,
    latched: bool,
}

impl Looking {
    /// Looks for this.
    #[must_use]
    pub fn new(situation: Situation) -> Self {
        Self {
            oracles: Oracles::new(),
            situation,
            unsaid: false,
            torn: false,
            withdrawn: Vec::new(),
            urgent: None,
            flushed: false,
            latched: false,
        }
    }

    fn takes(&mut self, model: &Model, input: &Input<'_>) -> bool {
        self.urgent = None;
        self.flushed = matches!(input, Input::Done(_, Answer::Flushed(_)));
        let mut answered = false;
        if let Input::Bytes(bytes) = input {
            let mut tree = Tree::default();
            for line in bytes.split(|byte| *byte == b'\n') {
                match Told::read(line, usize::MAX, false, &mut tree) {
                    Some(Told::Prompt(prompt)) if prompt.is_urgent() => self.urgent = prompt.uuid,
                    Some(Told::Answer(answer)) => answered |= self.withdrawn.contains(&answer.id),
                    _ => {}
                }
            }
        }
        match self.situation {
            Situation::LateAnswer => answered,
            Situation::LastWords => {
                let mut now = model
                    .requests
                    .iter()
                    .filter(|request| request.call.is_some());
                let ended = matches!(input, Input::Eof) && model.closed_at == model.step;
                let answered = |request: &crate::oracle::Pending| {
                    request.standing == Standing::Answered(model.step)
                };
                let lost = model
                    .before
                    .open
                    .iter()
                    .filter_map(|at| model.requests.get(*at));
                let lost = lost.filter(|request| request.standing == Standing::Closed);
                ended && now.any(answered) && lost.count() > 0
            }
            _ => false,
        }
    }

    fn says(&mut self, model: &Model, said: &Said<'_>) -> bool {
        match said {
            Said::Result(ending) if !ending.never_ran() => {
                self.unsaid = false;
                return self.situation == Situation::TornPromise && self.torn;
            }
            Said::Result(ending) => {
                let refused = ending.stop == "input_error" && ending.prompt.is_some();
                let urgent = ending.prompt.as_deref() == self.urgent.as_deref();
                let full = ending.says("input queue is full");
                return self.situation == Situation::RefusedNow
                    && refused
                    && urgent
                    && full
                    && model.turn;
            }
            Said::Withdrawn { id } if model.causes.hook => self.withdrawn.push(id.to_string()),
            Said::Response { payload: None, .. } if model.causes.interrupt => {
                let gone = model
                    .before
                    .open
                    .iter()
                    .filter_map(|at| model.requests.get(*at));
                let gone = gone.filter(|request| request.standing == Standing::Withdrawn);
                return self.situation == Situation::TwoQuestions && gone.count() > 1;
            }
            _ => {}
        }
        false
    }

    fn is_there(&mut self, event: &Event<'_>) -> bool {
        let Some(model) = self.oracles.model.take() else {
            return false;
        };
        let there = match event {
            Event::AgentInput(input) => self.takes(&model, input),
            Event::AgentOutput(Output::Transmit(record)) => {
                let mut tree = Tree::default();
                let said = Said::read(tree.read(record.as_bytes()));
                self.says(&model, &said)
            }
            Event::AgentOutput(Output::Diagnostic(diagnostic)) => {
                self.latched |= self.flushed && diagnostic.text.ends_with(LATCHES);
                false
            }
            Event::AgentOutput(Output::Exit(_)) => {
                self.situation == Situation::ClosedAtOnce && self.latched && self.flushed
            }
            Event::Stored(entries) => {
                self.unsaid |= entries.iter().any(|entry| matches!(entry, Entry::Turn(_)));
                false
            }
            Event::Crashed { .. } => {
                self.torn |= self.unsaid;
                false
            }
            _ => false,
        };
        self.oracles.model = Some(model);
        there
    }
}

impl Watch for Looking {
    fn see(&mut self, now: Instant, event: &Event<'_>) -> Result<(), Violation> {
        self.oracles.see(now, event)?;
        if self.is_there(event) {
            let name = self.situation.name();
            return Err(Violation::new(FOUND, name, self.situation.tells()));
        }
        Ok(())
    }
}

/// The rule that a run breaks by coming to what was looked for.
const FOUND: &str = "what was looked for";

/// Whether a run of this tape comes to the situation.
///
/// # Errors
///
/// The rule that it breaks before.
pub fn reaches(tape: Tape, situation: Situation) -> Result<bool, Violation> {
    match world::run(tape, &mut Looking::new(situation)).violation {
        Some(violation) if violation.rule == FOUND => Ok(true),
        Some(violation) => Err(violation),
        None => Ok(false),
    }
}

/// Looks for a situation in so many seeds, and makes its tape small.
#[must_use]
pub fn find(situation: Situation, seeds: u64) -> Option<TextTape> {
    let look = |tape: Tape| {
        let outcome = world::run(tape, &mut Looking::new(situation));
        (outcome.tape.used().to_vec(), outcome.violation)
    };
    let found = (0..seeds).find_map(|seed| {
        let (used, violation) = look(Tape::of_seed(seed));
        let violation = violation.filter(|violation| violation.rule == FOUND)?;
        Some((used, violation))
    });
    let (used, violation) = found?;
    let small = shrink(used, violation, |bytes| look(Tape::of_bytes(bytes)));
    Some(TextTape {
        notes: vec![
            situation.tells().to_string(),
            format!("shows: {}", situation.shows()),
        ],
        bytes: small.tape,
    })
}
