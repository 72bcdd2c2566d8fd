use super::*;
use crate::agent_loop::{LoopConfig, LoopInput, Pricing};
use crate::ids::{IdGen, Seed};
use crate::json::RawJson;
use crate::machine::Machine as _;
use crate::model::{ErrorCategory, ModelFailure, ToolResult};
use crate::time::Instant;
use crate::tool::{ToolCall, ToolContent};
use alloc::format;

const LIMITS: AsideLimits = AsideLimits {
    history_bytes: 1_000,
    output_tokens: 50,
    answer_bytes: 20,
};

fn looped(budget: Option<u128>) -> AgentLoop {
    let config = LoopConfig {
        system: Some("be brief".into()),
        tools: Vec::new().into(),
        max_output_tokens: 1_000,
        effort: Some("low".into()),
        max_turns: None,
        max_budget: budget,
        pricing: Some(Pricing {
            input: 10,
            output: 10,
            cache_read: 0,
            cache_write: 0,
        }),
        guard: crate::guard::Guard::new(["sk-secret-key"]).expect("few literals"),
        input_depth: 120,
        input_bytes: usize::MAX,
        asks_before_stop: false,
    };
    AgentLoop::new(config, IdGen::new(Seed::from_u64(1)))
}

fn usage(tokens: u64) -> Delta {
    Delta::Usage(Usage {
        output_tokens: tokens,
        ..Usage::ZERO
    })
}

/// A turn: its prompt, and one answer of ten tokens.
fn turn(l: &mut AgentLoop, prompt: &str, answer: &str) {
    let inputs = [
        LoopInput::Prompt(vec![prompt.into()]),
        LoopInput::Delta(Delta::Text(answer.into())),
        LoopInput::Delta(usage(10)),
        LoopInput::ModelDone(ModelOutcome::Finished),
    ];
    for input in inputs {
        l.handle(Instant::ZERO, input).expect("the input fits");
    }
    while l.poll().is_some() {}
}

fn user(text: &str) -> Arc<Message> {
    Arc::new(Message::User(vec![text.into()]))
}

fn assistant(text: &str) -> Arc<Message> {
    Arc::new(Message::Assistant(vec![
        Block::Thinking {
            text: "hm".into(),
            signature: None,
        },
        Block::Text(text.into()),
        Block::ToolCall(ToolCall {
            id: "t".into(),
            name: "Look".into(),
            input: RawJson::empty_object(),
        }),
    ]))
}

fn results() -> Arc<Message> {
    Arc::new(Message::ToolResults(vec![ToolResult {
        tool_use_id: "t".into(),
        content: vec![ToolContent::Text("seen".into())],
        is_error: false,
    }]))
}

/// What is shown of a conversation, side by side, and where the prompt stands.
fn shown(
    before: &[Arc<Message>],
    turn: &[Arc<Message>],
    bytes: usize,
) -> Option<(Vec<String>, usize)> {
    let (messages, prompt) = excerpt(before, turn, bytes)?;
    let line = |spoken: &Spoken| format!("{:?}: {}", spoken.side, spoken.parts.join("|"));
    Some((messages.iter().map(line).collect(), prompt))
}

// covers: DEC-43
#[test]
fn only_the_text_of_a_conversation_is_shown_and_sides_take_turns() {
    let before = [
        user("one"),
        assistant("first"),
        results(),
        assistant("more"),
    ];
    let turn = [
        user("two"),
        assistant("second"),
        results(),
        assistant("end"),
    ];
    let (lines, prompt) = shown(&before, &turn, 1_000).expect("a prompt");
    assert_eq!(
        lines,
        [
            "User: one",
            "Assistant: first|more",
            "User: two",
            "Assistant: second|end"
        ]
    );
    assert_eq!(prompt, 2);
    assert_eq!(shown(&before, &[], 1_000), None);
    assert_eq!(shown(&before, &[user(" \n")], 1_000), None);
}

// covers: DEC-43
#[test]
fn a_long_conversation_is_cut_to_its_end() {
    let before = [
        user("one"),
        assistant("first"),
        user("two"),
        assistant("second"),
    ];
    let turn = [user("äöü"), assistant("answer"), assistant("ende")];
    // Half of it for the prompt, half for the answers, what is left for the rest.
    let lines = |bytes| shown(&before, &turn, bytes).expect("a prompt").0;
    assert_eq!(lines(6), ["User: ä", "Assistant: nde"]);
    assert_eq!(lines(12), ["User: äöü", "Assistant: er|ende"]);
    assert_eq!(lines(20)[..], ["User: äöü", "Assistant: answer|ende"]);
    assert_eq!(
        lines(25),
        [
            "User: two",
            "Assistant: second",
            "User: äöü",
            "Assistant: answer|ende"
        ]
    );
    assert_eq!(lines(100).len(), 6);
}

// covers: DEC-43, DEC-40
#[test]
fn an_aside_offers_no_tools_and_leaves_history_and_books_alone() {
    let mut l = looped(Some(250));
    turn(&mut l, "go", "done");
    let (request, mut aside) = l.ask_aside("what next?", &LIMITS).expect("there is money");
    assert_eq!(
        request.history,
        [
            user("go"),
            Arc::new(Message::Assistant(vec![Block::Text("done".into())])),
            user("what next?")
        ]
    );
    assert_eq!((request.prompt, request.round), (0, 1));
    assert_eq!(
        (request.tools.len(), request.tool_choice),
        (0, ToolChoice::None)
    );
    assert_eq!(request.max_output_tokens, 50);
    assert_eq!(request.effort.as_deref(), Some("low"));
    assert_eq!(request.system.as_deref(), Some("be brief"));
    assert!(aside.delta(Delta::Text("use sk-sec".into())));
    assert!(aside.delta(Delta::Text("ret-key".into())));
    assert!(aside.delta(usage(10)));
    let text = l.aside_done(aside, &ModelOutcome::Finished);
    assert_eq!(text.as_deref(), Some("use [redacted]"));
    assert_eq!(l.history().len(), 2);
    assert_eq!(
        (l.account.usage().output_tokens, l.account.requests()),
        (10, 1)
    );
    assert!(
        l.ask_aside("what next?", &LIMITS).is_some(),
        "200 of 250 are spent"
    );
    turn(&mut l, "again", "done");
    assert!(
        l.ask_aside("what next?", &LIMITS).is_none(),
        "300 of 250 are spent"
    );
}

// covers: DEC-43, DEC-40
#[test]
fn an_aside_that_comes_to_nothing_may_have_cost_something() {
    let failure = |status| {
        ModelOutcome::Failed(ModelFailure {
            category: ErrorCategory::ServerError,
            status,
            message: String::new(),
        })
    };
    let spent = |end: &dyn Fn(&mut AgentLoop, Aside)| {
        let mut l = looped(Some(101));
        turn(&mut l, "go", "done");
        let (_, aside) = l.ask_aside("what next?", &LIMITS).expect("there is money");
        end(&mut l, aside);
        l.account.exhausted()
    };
    assert!(spent(&|l, aside| l.aside_dropped(&aside)));
    assert!(spent(&|l, aside| assert_eq!(
        l.aside_done(aside, &failure(None)),
        None
    )));
    assert!(!spent(&|l, aside| assert_eq!(
        l.aside_done(aside, &failure(Some(500))),
        None
    )));
}

// covers: DEC-43
#[test]
fn a_cut_long_or_calling_answer_is_none() {
    let mut l = looped(None);
    turn(&mut l, "go", "done");
    let text = |deltas: &[Delta], l: &mut AgentLoop| {
        let (_, mut aside) = l.ask_aside("what next?", &LIMITS).expect("there is money");
        let fits = deltas.iter().all(|delta| aside.delta(delta.clone()));
        (fits, l.aside_done(aside, &ModelOutcome::Finished))
    };
    let say = |text: &str| Delta::Text(text.into());
    let call = Delta::CallStart {
        index: 0,
        id: String::new(),
        name: "Look".into(),
    };
    let stop = |stop| Delta::Stop(stop);
    assert_eq!(
        text(&[say("a"), Delta::Thinking("b".into()), say("c")], &mut l),
        (true, Some("ac".into()))
    );
    assert_eq!(text(&[say("a"), call], &mut l), (true, None));
    assert_eq!(
        text(&[say("a"), stop(StopReason::MaxTokens)], &mut l),
        (true, None)
    );
    assert_eq!(
        text(&[say("a"), stop(StopReason::Refusal)], &mut l),
        (true, None)
    );
    assert!(
        !text(&[Delta::Thinking("x".repeat(21))], &mut l).0,
        "too long"
    );
}
