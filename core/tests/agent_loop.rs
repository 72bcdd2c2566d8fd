//! The five laws on the agent loop, on turns that are written out and on turns
//! from seeds.

use agentx_core::agent_loop::{AgentLoop, LoopConfig, LoopInput, Step, StructuredLimits};
use agentx_core::guard::Guard;
use agentx_core::ids::{IdGen, Seed};
use agentx_core::json::RawJson;
use agentx_core::limits::Limits;
use agentx_core::model::{
    Delta, ErrorCategory, Message, ModelFailure, ModelOutcome, StopReason, Usage,
};
use agentx_core::structured::{OutputSchema, TOOL, Validity};
use agentx_core::tool::{Access, Background, ToolClass, ToolOutcome, ToolSpec};
use agentx_laws::{Event, InputOf, Script, SplitMix64, Subject, check, replay};

struct Loop {
    /// Whether structured output is asked for.
    structured: bool,
    /// Whether it asks before a turn ends.
    asks: bool,
}

const PLAIN: Loop = Loop {
    structured: false,
    asks: false,
};

impl Subject for Loop {
    type Machine = AgentLoop;
    type Other = LoopInput;

    fn machine(&self) -> AgentLoop {
        let tool = |name: &str, parallel| ToolSpec {
            name: name.into(),
            description: "".into(),
            input_schema: RawJson::empty_object(),
            class: ToolClass::Execute,
            path_member: None,
            parallel,
            background: Background::Never,
        };
        let config = LoopConfig {
            system: None,
            tools: [tool("Look", true), tool("Change", false)].into(),
            max_output_tokens: 1_000,
            effort: None,
            max_turns: Some(3),
            max_budget: None,
            pricing: None,
            guard: Guard::new(["sk-secret-key"]).expect("few literals"),
            input_depth: 20,
            input_bytes: usize::MAX,
            asks_before_stop: self.asks,
        };
        let mut machine = AgentLoop::new(config, IdGen::new(Seed::from_u64(1)));
        if self.structured {
            let limits = Limits {
                structured_retries: 1,
                ..Limits::DEFAULT
            };
            let schema = OutputSchema::parse(b"{}", &limits).expect("a schema");
            machine.require_output(&schema, StructuredLimits::of(&limits));
        }
        machine
    }

    fn bytes<'a>(&self, _: &'a [u8]) -> InputOf<'a, Self> {
        unreachable!("the loop reads no stream")
    }

    fn eof<'a>(&self) -> InputOf<'a, Self> {
        unreachable!("the loop reads no stream")
    }

    fn tick<'a>(&self) -> InputOf<'a, Self> {
        LoopInput::Tick
    }

    fn other<'a>(&self, other: &'a LoopInput) -> InputOf<'a, Self> {
        other.clone()
    }
}

fn delta(delta: Delta) -> LoopInput {
    LoopInput::Delta(delta)
}

fn call(index: u32, id: &str, name: &str) -> LoopInput {
    delta(Delta::CallStart {
        index,
        id: id.to_string(),
        name: name.to_string(),
    })
}

fn prompt() -> LoopInput {
    LoopInput::Prompt(vec!["go".to_string()])
}

const FINISHED: LoopInput = LoopInput::ModelDone(ModelOutcome::Finished);

fn allow(place: usize) -> LoopInput {
    LoopInput::Allow {
        place,
        access: Access::Granted,
        input: None,
    }
}

fn settle(place: usize) -> LoopInput {
    LoopInput::Settle {
        place,
        outcome: ToolOutcome::text("seen sk-secret-key"),
    }
}

const CANCEL: LoopInput = LoopInput::Cancel {
    first: None,
    reason: "stopped",
};

fn ended(notice: &str) -> LoopInput {
    let notice = notice.to_string();
    LoopInput::TaskEnded { notice }
}

/// The message that the newest request ends with.
fn told(events: &[(agentx_core::time::Instant, Event<Step>)]) -> Option<Message> {
    let request = events.iter().rev().find_map(|(_, event)| match event {
        Event::Output(Step::Request(request)) => Some(request),
        _ => None,
    });
    request?.history.last().map(|message| (**message).clone())
}

// covers: WIRE-004
#[test]
fn a_turn_waits_for_its_tasks_and_tells_them_at_once() {
    let script = Script::new()
        .other(prompt())
        .other(call(0, "c1", "Change"))
        .other(delta(Delta::Stop(StopReason::ToolUse)))
        .other(FINISHED)
        .other(allow(0))
        .other(LoopInput::TaskBegan)
        .other(LoopInput::TaskBegan)
        .other(settle(0))
        .at(10)
        .other(ended("one"))
        .other(FINISHED)
        .other(prompt())
        .at(20)
        .other(ended("two sk-secret-key"))
        .other(ended("three"));
    check(&PLAIN, &script, 0..20).unwrap_or_else(|broken| panic!("{broken}"));
    let events = replay(&PLAIN, &script).expect("a turn");
    let refused: Vec<_> = events
        .iter()
        .filter_map(|(_, event)| match event {
            Event::Refused(step, _) => Some(*step),
            Event::Output(_) => None,
        })
        .collect();
    assert_eq!(refused, [10, 12], "a prompt meanwhile, and a task too many");
    let parts = vec!["one".to_string(), "two [redacted]".to_string()];
    assert_eq!(told(&events), Some(Message::User(parts)));
}

#[test]
fn a_turn_with_tools_keeps_the_laws() {
    let script = Script::new()
        .other(prompt())
        .other(delta(Delta::Text("a sk-secret".to_string())))
        .at(10)
        .other(delta(Delta::Text("-key b".to_string())))
        .other(call(0, "c1", "Look"))
        .other(call(1, "c1", "Change"))
        .other(delta(Delta::Stop(StopReason::ToolUse)))
        .at(20)
        .other(FINISHED)
        .other(LoopInput::Context(vec!["by the way".to_string()]))
        .other(allow(1))
        .other(allow(0))
        .at(30)
        .other(settle(0))
        .other(settle(1))
        .other(delta(Delta::Text("done".to_string())))
        .other(FINISHED)
        .other(settle(0));
    check(&PLAIN, &script, 0..20).unwrap_or_else(|broken| panic!("{broken}"));
    let events = replay(&PLAIN, &script).expect("a turn");
    let ends = events
        .iter()
        .filter(|(_, event)| matches!(event, Event::Output(Step::End(_))));
    assert_eq!(ends.count(), 1);
    let refused = events.last().map(|(_, event)| event);
    assert!(
        matches!(refused, Some(Event::Refused(14, _))),
        "an answer after the end is refused: {refused:?}"
    );
}

fn chosen(rng: &mut SplitMix64) -> LoopInput {
    let index = u32::try_from(rng.below(2)).unwrap_or_default();
    let text = |text: &str| text.to_string();
    let stops = [
        StopReason::EndTurn,
        StopReason::ToolUse,
        StopReason::MaxTokens,
        StopReason::ContentFilter,
    ];
    match rng.below(26) {
        20 | 21 => LoopInput::TaskBegan,
        22 => ended("it is sk-secret-key"),
        23 if rng.one_in(3) => LoopInput::TaskStopped {
            notice: text("stopped"),
        },
        24 | 25 => LoopInput::Validated {
            place: rng.below(3),
            validity: match rng.below(3) {
                0 => Validity::Fits,
                1 => Validity::Breaks(vec![text("at /sk-secret-key: no")]),
                _ => Validity::Unknown,
            },
        },
        0 | 1 => prompt(),
        2 => delta(Delta::Text(text("sk-secret"))),
        3 => delta(Delta::Thinking(text("-key"))),
        4 => delta(Delta::Signature(text("sk-"))),
        5 | 6 => call(
            index,
            ["", "a", "b"][rng.below(3)],
            ["Look", "Change", "Fly", TOOL, TOOL][rng.below(5)],
        ),
        7 => delta(Delta::CallArguments {
            index,
            text: text(["{}", "{", "[["][rng.below(3)]),
        }),
        8 => delta(Delta::Usage(Usage {
            input_tokens: 3,
            ..Usage::default()
        })),
        9 => delta(Delta::Stop(stops[rng.below(stops.len())])),
        10 | 11 => FINISHED,
        12 => allow(rng.below(3)),
        13 => settle(rng.below(3)),
        14 => CANCEL,
        15 => LoopInput::Ended {
            place: rng.below(3),
            outcome: ToolOutcome::text("seen"),
        },
        16 => LoopInput::Release {
            place: rng.below(3),
        },
        17 => LoopInput::Stop,
        18 => LoopInput::GoOn,
        _ => LoopInput::ModelDone(ModelOutcome::Failed(ModelFailure {
            category: ErrorCategory::Unknown,
            status: None,
            message: text("no route"),
        })),
    }
}

#[test]
fn inputs_in_any_order_keep_the_laws() {
    for seed in 0..200 {
        let mut rng = SplitMix64::new(seed);
        let mut script = Script::new();
        for step in 0..60 {
            script = script.at(step * 5).other(chosen(&mut rng));
        }
        let subject = Loop {
            structured: seed % 2 == 1,
            asks: seed % 4 < 2,
        };
        check(&subject, &script, [seed]).unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
    }
}
