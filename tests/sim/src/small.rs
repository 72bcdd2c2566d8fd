//! A small world, which can be seen whole: one call that is asked about, with a
//! hook beside the host, an interrupt, and the end of the input, in every order.

use crate::event::{Event, Violation, Watch};
use crate::kit::kit;
use crate::plan::Plan;
use crate::tape::Tape;
use agentx_core::agent::{AgentSession, Config, Input, Output};
use agentx_core::effect::{Answer, EffectId, Progress, Request};
use agentx_core::hook::{HookEnd, HookEvent, HookReport, Hooks};
use agentx_core::machine::Machine as _;
use agentx_core::model::{Delta, ModelOutcome, StopReason};
use agentx_core::time::Instant;
use agentx_core::tool::ToolOutcome;

/// What can happen to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happens {
    /// The host answers.
    Host(&'static str),
    /// The hook ends.
    Hook(&'static str),
    /// The host interrupts.
    Interrupt,
    /// The input ends.
    Eof,
    /// The tool ends, where it runs.
    Tool,
}

/// What came of one order.
#[derive(Clone, Debug, Default)]
pub struct Race {
    /// What happened, in order.
    pub order: Vec<Happens>,
    /// The records behind the question.
    pub records: Vec<String>,
    /// How often the tool was started.
    pub ran: usize,
    /// The exit status.
    pub exit: Option<u8>,
    /// The tape.
    pub tape: Option<Tape>,
}

/// Answers of the host.
pub const HOST: [&str; 5] = [
    r#"{"subtype":"success","response":{"behavior":"allow","updatedInput":{}}"#,
    r#"{"subtype":"success","response":{"behavior":"deny","message":"no"}"#,
    r#"{"subtype":"success","response":{"behavior":"deny","message":"no","interrupt":true}"#,
    r#"{"subtype":"success","response":{"behavior":"perhaps"}"#,
    r#"{"subtype":"error","error":"cannot say""#,
];

/// What the hook prints; the last one fails.
pub const HOOK: [&str; 4] = [
    r#"{"decision":"allow"}"#,
    r#"{"decision":"deny","message":"never"}"#,
    "",
    "garbage",
];

struct Small<'w, W> {
    watch: &'w mut W,
    session: AgentSession,
    now: u64,
    open: Vec<(EffectId, Request)>,
    race: Race,
}

/// Lives one order to its end.
///
/// # Errors
///
/// What the watcher has against it.
pub fn race(mut tape: Tape, watch: &mut impl Watch) -> Result<Race, Violation> {
    let config = config();
    let session = AgentSession::new(config.clone(), Instant::ZERO);
    let mut small = Small {
        watch,
        session,
        now: 0,
        open: Vec::new(),
        race: Race::default(),
    };
    small.watch.see(
        Instant::ZERO,
        &Event::Began {
            config: &config,
            agent: &small.session,
        },
    )?;
    small.drain()?;
    let request_id = small.ask()?;
    small.race.records.clear();
    let mut left = vec![0, 1, 2, 3];
    while !left.is_empty() {
        let runs = small.open_tool().is_some();
        let choice = tape.below(left.len() + usize::from(runs));
        if choice == left.len() {
            small.race.order.push(Happens::Tool);
            small.tool_ends()?;
            continue;
        }
        let happens = match left.remove(choice) {
            0 => Happens::Host(HOST[tape.below(HOST.len())]),
            1 => Happens::Hook(HOOK[tape.below(HOOK.len())]),
            2 => Happens::Interrupt,
            _ => Happens::Eof,
        };
        small.race.order.push(happens);
        small.happens(happens, &request_id)?;
        if happens == Happens::Eof {
            // Nothing is read behind the end.
            left.retain(|other| *other == 1);
        }
    }
    small.settle()?;
    Ok(Race {
        tape: Some(tape),
        ..small.race
    })
}

/// The simplest session, with one hook for questions.
fn config() -> Config {
    let simple = Plan::draw(&mut Tape::of_bytes(Vec::new())).config;
    let hooks = kit().hooks.iter();
    let list = hooks.filter(|hook| hook.event == HookEvent::PermissionRequest);
    Config {
        hooks: Hooks {
            list: list.cloned().collect(),
            ..Hooks::default()
        },
        ..simple
    }
}

impl<W: Watch> Small<'_, W> {
    fn feed(&mut self, input: Input<'_>) -> Result<(), Violation> {
        if self.race.exit.is_some() {
            return Ok(());
        }
        self.now += 1;
        let now = Instant::from_micros(self.now);
        self.watch.see(now, &Event::AgentInput(&input))?;
        if let Err(misuse) = self.session.handle(now, input) {
            self.watch.see(now, &Event::AgentRefused(misuse))?;
            return Err(Violation::new("misuse", "law 5", misuse.to_string()));
        }
        self.drain()
    }

    fn drain(&mut self) -> Result<(), Violation> {
        let now = Instant::from_micros(self.now);
        while let Some(output) = self.session.poll() {
            self.watch.see(now, &Event::AgentOutput(&output))?;
            match output {
                Output::Transmit(record) => {
                    let text = String::from_utf8_lossy(record.as_bytes()).into_owned();
                    self.race.records.push(text);
                }
                Output::Start(id, request) => {
                    self.race.ran += usize::from(matches!(request, Request::Tool(_)));
                    self.open.push((id, request));
                }
                Output::Cancel(id) => self.open.retain(|(open, _)| *open != id),
                Output::Exit(status) => self.race.exit = Some(status),
                Output::Reply(..) | Output::Event(_) | Output::Diagnostic(_) => {}
            }
        }
        self.watch.see(now, &Event::AgentDrained(&self.session))
    }

    fn line(&mut self, text: &str) -> Result<(), Violation> {
        let line = format!("{text}\n");
        let now = Instant::from_micros(self.now);
        let sent = Event::Sent {
            line: line.as_bytes(),
            own: false,
        };
        self.watch.see(now, &sent)?;
        self.feed(Input::Bytes(line.as_bytes()))
    }

    fn done(&mut self, id: EffectId, answer: Answer) -> Result<(), Violation> {
        self.open.retain(|(open, _)| *open != id);
        self.feed(Input::Done(id, answer))
    }

    fn find(&self, wanted: impl Fn(&Request) -> bool) -> Option<EffectId> {
        let open = self.open.iter().find(|(_, request)| wanted(request));
        open.map(|(id, _)| *id)
    }

    fn open_tool(&self) -> Option<EffectId> {
        self.find(|request| matches!(request, Request::Tool(_)))
    }

    /// Prompt, answer, question; gives the id of the question.
    fn ask(&mut self) -> Result<String, Violation> {
        self.line(
            r#"{"type":"user","uuid":"00000000-0000-4000-8000-000000000001","message":{"role":"user","content":"go"},"parent_tool_use_id":null}"#,
        )?;
        self.answer(&[
            Delta::CallStart {
                index: 0,
                id: "t1".to_string(),
                name: "Do".to_string(),
            },
            Delta::CallArguments {
                index: 0,
                text: "{}".to_string(),
            },
            Delta::Stop(StopReason::ToolUse),
        ])?;
        let id = self.race.records.iter().find_map(|record| {
            let rest = record.strip_prefix(r#"{"type":"control_request","request_id":""#)?;
            rest.split('"').next().map(ToString::to_string)
        });
        id.ok_or_else(|| Violation::new("race", "WIRE-PERM-020", "nothing was asked"))
    }

    fn answer(&mut self, deltas: &[Delta]) -> Result<(), Violation> {
        let Some(id) = self.find(|request| matches!(request, Request::Model(_))) else {
            return Ok(());
        };
        for delta in deltas {
            self.feed(Input::Progress(id, Progress::Delta(delta.clone())))?;
        }
        self.done(id, Answer::Model(ModelOutcome::Finished))
    }

    fn happens(&mut self, happens: Happens, request_id: &str) -> Result<(), Violation> {
        match happens {
            Happens::Host(says) => self.line(&format!(
                r#"{{"type":"control_response","response":{says},"request_id":"{request_id}"}}}}"#
            )),
            Happens::Hook(prints) => {
                let Some(id) = self.find(|request| matches!(request, Request::Hook(_))) else {
                    return Ok(());
                };
                let report = HookReport {
                    end: HookEnd::Exited(0),
                    answer: prints.to_string(),
                    stdout: prints.to_string(),
                    stderr: String::new(),
                };
                self.done(id, Answer::Hook(report))
            }
            Happens::Interrupt => self.line(
                r#"{"type":"control_request","request_id":"i1","request":{"subtype":"interrupt"}}"#,
            ),
            Happens::Eof => self.feed(Input::Eof),
            Happens::Tool => self.tool_ends(),
        }
    }

    fn tool_ends(&mut self) -> Result<(), Violation> {
        match self.open_tool() {
            Some(id) => self.done(id, Answer::Tool(ToolOutcome::text("done"))),
            None => Ok(()),
        }
    }

    /// Everything that is open ends well.
    fn settle(&mut self) -> Result<(), Violation> {
        for _ in 0..20 {
            if self.race.exit.is_some() {
                break;
            }
            self.tool_ends()?;
            self.answer(&[
                Delta::Text("done".to_string()),
                Delta::Stop(StopReason::EndTurn),
            ])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::Oracles;
    use crate::tape::Odometer;

    /// Who decides first, and whether that is leave.
    fn decided(order: &[Happens]) -> Option<(Happens, bool)> {
        order.iter().find_map(|happens| match happens {
            Happens::Host(says) => Some((*happens, *says == HOST[0])),
            Happens::Hook(prints) if *prints == HOOK[2] => None,
            Happens::Hook(prints) => Some((*happens, *prints == HOOK[0])),
            Happens::Interrupt | Happens::Eof => Some((*happens, false)),
            Happens::Tool => None,
        })
    }

    fn count(race: &Race, words: &[&str]) -> usize {
        let has = |record: &&String| words.iter().all(|word| record.contains(word));
        race.records.iter().filter(has).count()
    }

    // covers: WIRE-PERM-001, WIRE-PERM-002, WIRE-PERM-060, WIRE-007, WIRE-008, WIRE-010, WIRE-011
    #[test]
    fn every_order_of_a_race_has_one_winner() {
        let mut odometer = Odometer::new();
        let mut orders = 0;
        while let Some(tape) = odometer.tape() {
            let race = race(tape, &mut Oracles::new()).unwrap();
            let order = &race.order;
            let (winner, leave) = decided(order).expect("the end of the input decides");
            assert_eq!(race.ran, usize::from(leave), "{order:?}");
            assert_eq!(count(&race, &[r#""type":"tool_result""#]), 1, "{order:?}");
            assert_eq!(count(&race, &[r#"{"type":"result""#]), 1, "{order:?}");
            // Only a question that the host could still answer is taken back.
            let withdrawn = matches!(winner, Happens::Hook(_) | Happens::Interrupt);
            let cancels = count(&race, &["control_cancel_request"]);
            assert_eq!(cancels, usize::from(withdrawn), "{order:?}");
            // An interrupt is acknowledged, unless it came behind the end.
            let interrupted = order.contains(&Happens::Interrupt);
            let acknowledged = count(&race, &["control_response", "\"i1\""]);
            assert_eq!(acknowledged, usize::from(interrupted), "{order:?}");
            assert!(race.exit.is_some(), "{order:?}");
            orders += 1;
            odometer.turn(race.tape.expect("the tape comes back"));
        }
        assert_eq!(orders, 301, "how many orders there are");
    }
}
