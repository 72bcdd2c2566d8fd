use super::*;
use crate::ids::Seed;
use crate::tool::{Access, Background, ToolClass, ToolContent};
use alloc::string::ToString;
use alloc::vec;

const T: Instant = Instant::ZERO;

fn tool(name: &str, parallel: bool) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: "".into(),
        input_schema: RawJson::empty_object(),
        class: ToolClass::Execute,
        path_member: None,
        parallel,
        background: Background::Never,
    }
}

fn config() -> LoopConfig {
    LoopConfig {
        system: None,
        tools: [tool("Look", true), tool("Change", false)].into(),
        max_output_tokens: 1_000,
        effort: None,
        max_turns: None,
        max_budget: None,
        pricing: None,
        guard: Guard::new(["sk-secret-key", "sk-🚀-key"]).expect("few literals"),
        input_depth: 120,
        input_bytes: usize::MAX,
        asks_before_stop: false,
    }
}

struct Bench {
    l: AgentLoop,
}

impl Bench {
    fn new(config: LoopConfig) -> Self {
        Self {
            l: AgentLoop::new(config, IdGen::new(Seed::from_u64(1))),
        }
    }

    fn feed(&mut self, input: LoopInput) -> Vec<Step> {
        self.l.handle(T, input).expect("the input fits");
        core::iter::from_fn(|| self.l.poll()).collect()
    }

    fn prompt(&mut self) -> Vec<Step> {
        self.feed(LoopInput::Prompt(vec!["go".to_string()]))
    }

    fn answer(&mut self, deltas: Vec<Delta>) -> Vec<Step> {
        let mut steps = Vec::new();
        for delta in deltas {
            steps.extend(self.feed(LoopInput::Delta(delta)));
        }
        steps.extend(self.feed(LoopInput::ModelDone(ModelOutcome::Finished)));
        steps
    }
}

fn call(index: u32, id: &str, name: &str, arguments: &str) -> Vec<Delta> {
    vec![
        Delta::CallStart {
            index,
            id: id.to_string(),
            name: name.to_string(),
        },
        Delta::CallArguments {
            index,
            text: arguments.to_string(),
        },
    ]
}

fn text(text: &str) -> Delta {
    Delta::Text(text.to_string())
}

fn end(steps: &[Step]) -> &TurnEnd {
    match steps.last() {
        Some(Step::End(end)) => end,
        other => panic!("no end but {other:?}"),
    }
}

fn settled(steps: &[Step]) -> Vec<(&str, bool, &str)> {
    steps
        .iter()
        .filter_map(|step| match step {
            Step::Settled(ToolResult {
                tool_use_id,
                content,
                is_error,
            }) => {
                let [ToolContent::Text(text)] = content.as_slice() else {
                    return None;
                };
                Some((&**tool_use_id, *is_error, text.as_str()))
            }
            _ => None,
        })
        .collect()
}

fn requests(steps: &[Step]) -> usize {
    steps
        .iter()
        .filter(|step| matches!(step, Step::Request(_)))
        .count()
}

#[test]
fn a_plain_answer_ends_the_turn_with_its_text() {
    let mut b = Bench::new(config());
    assert_eq!(requests(&b.prompt()), 1);
    let steps = b.answer(vec![
        text("he"),
        text("llo"),
        Delta::Stop(StopReason::EndTurn),
    ]);
    let blocks: Vec<_> = steps
        .iter()
        .filter_map(|step| match step {
            Step::Block(block) => Some((block.block.clone(), block.stop)),
            _ => None,
        })
        .collect();
    assert_eq!(
        blocks,
        vec![(Block::Text("hello".to_string()), Some(StopReason::EndTurn))]
    );
    let expected = TurnOutcome::Done {
        stop: StopReason::EndTurn,
        text: "hello".to_string(),
        structured: None,
    };
    assert_eq!((&end(&steps).outcome, end(&steps).requests), (&expected, 1));
    assert_eq!(b.l.history().len(), 2);
}

#[test]
fn calls_are_decided_run_and_answered_before_the_next_request() {
    let mut b = Bench::new(config());
    b.prompt();
    let mut deltas = call(0, "c1", "Look", "{\"a\": 1}");
    deltas.extend(call(1, "c2", "Change", ""));
    deltas.push(Delta::Stop(StopReason::ToolUse));
    let steps = b.answer(deltas);
    let places: Vec<_> = steps
        .iter()
        .filter_map(|step| match step {
            Step::Decide { place, call } => Some((*place, call.input.as_str().to_string())),
            _ => None,
        })
        .collect();
    assert_eq!(
        places,
        vec![(0, "{\"a\":1}".to_string()), (1, "{}".to_string())]
    );
    let steps = b.feed(LoopInput::Allow {
        place: 0,
        access: Access::Granted,
        input: None,
    });
    assert!(matches!(steps.as_slice(), [Step::Run { place: 0, .. }]));
    let steps = b.feed(LoopInput::Settle {
        place: 1,
        outcome: ToolOutcome::error("no"),
    });
    assert_eq!(settled(&steps), vec![("c2", true, "no")]);
    let steps = b.feed(LoopInput::Settle {
        place: 0,
        outcome: ToolOutcome::text("yes"),
    });
    assert_eq!(requests(&steps), 1);
    let Some(Message::ToolResults(results)) = b.l.history().last().map(|message| &**message) else {
        panic!("results come last");
    };
    assert_eq!(
        results.iter().map(|r| &*r.tool_use_id).collect::<Vec<_>>(),
        vec!["c1", "c2"]
    );
}

#[test]
fn malformed_arguments_and_unknown_tools_become_error_results() {
    for (name, arguments, part) in [
        ("Look", "{\"a\":", "not valid JSON"),
        ("Look", "[1]", "not a JSON object"),
        ("Look", "{\"a\":1,\"\\u0061\":2}", "duplicate member name"),
        // Two halves of one character: what no redactor of pieces puts together.
        ("Look", "{\"a\":\"sk-\\ud83d\\ude80-key\"}", "credential"),
        (
            "Fly",
            "{}",
            "Unknown tool: Fly. Offered tools: Look, Change.",
        ),
    ] {
        let mut b = Bench::new(config());
        b.prompt();
        let mut deltas = call(0, "c1", name, arguments);
        deltas.push(Delta::Stop(StopReason::ToolUse));
        let steps = b.answer(deltas);
        let results = settled(&steps);
        assert!(
            matches!(results.as_slice(), [("c1", true, text)] if text.contains(part)),
            "{results:?}"
        );
        assert_eq!(requests(&steps), 1, "the loop goes on after {arguments}");
    }
}

// covers: DEC-35
#[test]
fn empty_and_repeated_call_ids_get_fresh_ones_and_both_calls_run() {
    let mut b = Bench::new(config());
    b.prompt();
    let mut deltas = call(0, "same", "Look", "{}");
    deltas.extend(call(1, "same", "Look", "{}"));
    deltas.extend(call(2, "", "Look", "{}"));
    deltas.push(Delta::Stop(StopReason::ToolUse));
    let steps = b.answer(deltas);
    let ids: Vec<_> = steps
        .iter()
        .filter_map(|step| match step {
            Step::Decide { call, .. } => Some(call.id.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!((ids.len(), ids[0].as_str()), (3, "same"));
    assert!(ids[1].starts_with("toolu_") && ids[2].starts_with("toolu_") && ids[1] != ids[2]);
}

// covers: DEC-51
#[test]
fn a_tool_stop_without_a_call_ends_the_turn() {
    let mut b = Bench::new(config());
    b.prompt();
    let steps = b.answer(vec![text("hm"), Delta::Stop(StopReason::ToolUse)]);
    assert!(matches!(
        end(&steps).outcome,
        TurnOutcome::Done {
            stop: StopReason::EndTurn,
            ..
        }
    ));
}

// covers: DEC-41
#[test]
fn a_cut_answer_keeps_its_text_and_drops_its_calls() {
    let mut b = Bench::new(config());
    b.prompt();
    b.feed(LoopInput::Delta(text("so far")));
    for delta in call(0, "c1", "Look", "{\"a\"") {
        b.feed(LoopInput::Delta(delta));
    }
    let failure = ModelFailure {
        category: ErrorCategory::ServerError,
        status: Some(500),
        message: "echo of sk-secret-key".to_string(),
    };
    let steps = b.feed(LoopInput::ModelDone(ModelOutcome::Failed(failure)));
    let shown = steps.iter().any(
        |step| matches!(step, Step::Block(block) if matches!(block.block, Block::ToolCall(_))),
    );
    assert!(!shown);
    let TurnOutcome::Failed(failure) = &end(&steps).outcome else {
        panic!("no failure")
    };
    assert_eq!(failure.message, "echo of [redacted]");
    assert_eq!(
        b.l.history().last().map(|message| (**message).clone()),
        Some(Message::Assistant(vec![Block::Text("so far".to_string())]))
    );
}

// covers: DEC-41
#[test]
fn the_output_limit_is_a_success_that_says_so_and_runs_no_half_call() {
    let mut b = Bench::new(config());
    b.prompt();
    let mut deltas = vec![text("a")];
    deltas.extend(call(0, "c1", "Look", "{}"));
    deltas.extend([text("b"), Delta::Stop(StopReason::MaxTokens)]);
    let steps = b.answer(deltas);
    let last = steps
        .iter()
        .rev()
        .find_map(|step| match step {
            Step::Block(block) => Some((block.stop, block.error)),
            _ => None,
        })
        .expect("a block");
    assert_eq!(
        last,
        (
            Some(StopReason::MaxTokens),
            Some(ErrorCategory::MaxOutputTokens)
        )
    );
    assert!(!steps.iter().any(|step| matches!(step, Step::Decide { .. })));
}

// covers: DEC-40
#[test]
fn the_turn_limit_ends_before_the_next_request() {
    let mut b = Bench::new(LoopConfig {
        max_turns: Some(1),
        ..config()
    });
    b.prompt();
    let mut deltas = call(0, "c1", "Look", "{}");
    deltas.push(Delta::Stop(StopReason::ToolUse));
    b.answer(deltas);
    let steps = b.feed(LoopInput::Settle {
        place: 0,
        outcome: ToolOutcome::text("x"),
    });
    assert_eq!(end(&steps).outcome, TurnOutcome::MaxTurns(1));
    assert_eq!(requests(&steps), 0);
}

// covers: DEC-40
#[test]
fn a_spent_budget_ends_this_prompt_and_every_later_one() {
    let pricing = Pricing {
        input: 1,
        output: 1,
        cache_read: 1,
        cache_write: 1,
    };
    let mut b = Bench::new(LoopConfig {
        max_budget: Some(5),
        pricing: Some(pricing),
        ..config()
    });
    b.prompt();
    let usage = Usage {
        input_tokens: 5,
        ..Usage::default()
    };
    let mut deltas = call(0, "c1", "Look", "{}");
    deltas.extend([Delta::Usage(usage), Delta::Stop(StopReason::ToolUse)]);
    let steps = b.answer(deltas);
    assert_eq!(settled(&steps), vec![("c1", true, BUDGET_NOT_RUN)]);
    assert_eq!(
        (&end(&steps).outcome, end(&steps).cost),
        (&TurnOutcome::Budget { estimated: false }, Some(5))
    );
    let steps = b.prompt();
    assert_eq!(
        (&end(&steps).outcome, requests(&steps)),
        (&TurnOutcome::Budget { estimated: false }, 0)
    );
}

#[test]
fn cancelling_settles_every_call_once_and_leaves_the_loop_usable() {
    let mut b = Bench::new(config());
    b.prompt();
    let mut deltas = call(0, "c1", "Look", "{}");
    deltas.extend(call(1, "c2", "Look", "{}"));
    deltas.push(Delta::Stop(StopReason::ToolUse));
    b.answer(deltas);
    b.feed(LoopInput::Settle {
        place: 1,
        outcome: ToolOutcome::text("done"),
    });
    let steps = b.feed(LoopInput::Cancel {
        first: None,
        reason: "stopped",
    });
    assert_eq!(settled(&steps), vec![("c1", true, "stopped")]);
    assert_eq!(end(&steps).outcome, TurnOutcome::Cancelled);
    let late = LoopInput::Settle {
        place: 0,
        outcome: ToolOutcome::text("late"),
    };
    assert_eq!(b.l.handle(T, late), Err(Misuse::WrongState));
    assert_eq!(requests(&b.prompt()), 1);
    assert_eq!(
        b.feed(LoopInput::Cancel {
            first: None,
            reason: "stopped"
        })
        .len(),
        1
    );
    assert!(
        b.feed(LoopInput::Cancel {
            first: None,
            reason: "idle"
        })
        .is_empty()
    );
}

// covers: DEC-30
#[test]
fn a_key_split_over_deltas_is_replaced() {
    let mut b = Bench::new(config());
    b.prompt();
    let steps = b.answer(vec![
        text("x sk-sec"),
        text("ret-key y"),
        Delta::Stop(StopReason::EndTurn),
    ]);
    let TurnOutcome::Done { text, .. } = &end(&steps).outcome else {
        panic!("no end")
    };
    assert_eq!(text, "x [redacted] y");
}

// covers: RT-TOOL-016
#[test]
fn tools_that_come_and_go_stand_beside_the_own_ones() {
    let mut l = AgentLoop::new(config(), IdGen::new(Seed::from_u64(1)));
    let names = |l: &AgentLoop| {
        let names = l.tools().iter().map(|tool| tool.name.to_string());
        names.collect::<Vec<_>>()
    };
    l.offer_remote(vec![tool("far", false), tool("Look", false)]);
    assert_eq!(names(&l), ["Look", "Change", "far"]);
    assert!(
        l.tool("Look").is_some_and(|look| look.parallel),
        "the own one"
    );
    let limits = crate::limits::Limits::DEFAULT;
    let schema = crate::structured::OutputSchema::parse(b"{}", &limits).expect("a schema");
    l.require_output(&schema, StructuredLimits::of(&limits));
    l.offer_remote(vec![tool("farther", false)]);
    assert_eq!(names(&l), ["Look", "Change", "StructuredOutput", "farther"]);
    l.offer_remote(Vec::new());
    assert_eq!(names(&l), ["Look", "Change", "StructuredOutput"]);
}
