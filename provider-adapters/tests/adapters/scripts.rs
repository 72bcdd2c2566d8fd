//! The scripted provider.

use crate::support::{
    EPOCH, Hand, SEED, answer, calling, describe_end, prompt, provider, registry, request, results,
};
use agentx_core::machine::Machine;
use agentx_core::model::Message;
use agentx_providers::call::Input;
use agentx_providers::provider::Provider;
use std::sync::Arc;
use std::time::Duration;

const BY_PROMPT: &str =
    r#"{"id":"s","type":"scripted","scripted":{"model":"m","from_prompt":true}}"#;

fn by_file(script: &str) -> Result<Provider, String> {
    let text = r#"{"version":2,"providers":[{"id":"s","type":"scripted","scripted":{"model":"m","script":"s.json"}}]}"#;
    let registry = registry(text);
    let entry = registry.select(None).unwrap();
    assert_eq!(entry.script_file(), Some("s.json"));
    Provider::build(entry, Some(script)).map_err(|error| error.to_string())
}

fn ask(provider: &mut Provider, history: Vec<Arc<Message>>) -> Hand {
    let mut hand = Hand::new(provider.begin(request(history), SEED, EPOCH));
    hand.feed(Input::Begin);
    hand
}

/// What a history is answered when prompts hold their scripts.
fn reply(history: Vec<Arc<Message>>) -> String {
    ask(&mut provider(BY_PROMPT), history).story()
}

fn says(text: &str) -> String {
    format!("text {text:?}\nstop EndTurn\nfinished\n")
}

#[test]
fn a_file_gives_its_turns_in_order() {
    let mut provider = by_file(r#"{"turns":[{"text":"one"},{"deltas":["t","wo"]}]}"#).unwrap();
    assert_eq!(ask(&mut provider, vec![prompt("hi")]).story(), says("one"));
    assert_eq!(
        ask(&mut provider, vec![prompt("hi")]).story(),
        "text \"t\"\ntext \"wo\"\nstop EndTurn\nfinished\n"
    );
    assert_eq!(
        ask(&mut provider, vec![prompt("hi")]).failure(),
        "failed invalid_request: the script has no turn for model request 3: it holds 2"
    );
}

#[test]
fn the_last_turn_may_repeat() {
    let mut provider =
        by_file(r#"{"turns":[{"text":"one"},{"text":"two"}],"repeat_last":true}"#).unwrap();
    let said: Vec<_> = (0..4)
        .map(|_| ask(&mut provider, Vec::new()).story())
        .collect();
    assert_eq!(said, [says("one"), says("two"), says("two"), says("two")]);
    let mut empty = by_file(r#"{"turns":[],"repeat_last":true}"#).unwrap();
    assert!(ask(&mut empty, Vec::new()).failure().contains("it holds 0"));
}

#[test]
fn every_member_of_a_turn_is_played() {
    let turn = r#"{"turns":[{"text":"a {results}","deltas":["b","{results}"],"thinking":["hm"],
        "tool_calls":[{"id":"k","name":"f","input":{"z":1.50}},{"name":"g","input":{}}],
        "usage":{"input_tokens":3,"output_tokens":4},"stop_reason":"max_tokens"}]}"#;
    let history = vec![
        prompt("go"),
        calling(&["x", "y"]),
        results(&[("x", "1"), ("y", "2")]),
    ];
    assert_eq!(
        ask(&mut by_file(turn).unwrap(), history).story(),
        "thinking \"hm\"\ntext \"a 1|2\"\ntext \"b\"\ntext \"1|2\"\n\
         call 0 id=\"k\" name=\"f\"\nargs 0 \"{\\\"z\\\":1.50}\"\ncall 1 id=\"\" name=\"g\"\nargs 1 \"{}\"\n\
         usage in=3 out=4 read=0 write=0 reasoning=0\nstop MaxTokens\nfinished\n"
    );
    let mut natural =
        by_file(r#"{"turns":[{"tool_calls":[{"name":"f","input":{}}]},{}]}"#).unwrap();
    assert!(
        ask(&mut natural, Vec::new())
            .story()
            .contains("stop ToolUse")
    );
    assert_eq!(
        ask(&mut natural, Vec::new()).story(),
        "stop EndTurn\nfinished\n"
    );
}

#[test]
fn a_delay_is_a_deadline() {
    let mut provider = by_file(r#"{"turns":[{"text":"late","delay_ms":250}]}"#).unwrap();
    let mut hand = ask(&mut provider, Vec::new());
    assert!(hand.out.is_empty());
    let start = hand.now;
    hand.now = start.after(Duration::from_millis(249));
    hand.feed(Input::Tick);
    assert!(hand.out.is_empty());
    hand.wait();
    assert_eq!(hand.now.since(start), Duration::from_millis(250));
    assert_eq!(hand.story(), says("late"));
}

#[test]
fn a_held_stream_stays_open() {
    let mut provider = by_file(r#"{"turns":[{"text":"so far","hold":true}]}"#).unwrap();
    let mut hand = ask(&mut provider, Vec::new());
    assert_eq!(hand.story(), "text \"so far\"\n");
    assert_eq!(hand.call.deadline(), None);
    hand.feed(Input::Tick);
    assert_eq!(hand.outcome(), None);
}

// covers: DEC-41
#[test]
fn an_error_ends_like_a_real_one() {
    let script =
        r#"{"turns":[{"text":"half","error":{"status":429,"message":"slow down"}},{"error":{}}]}"#;
    let mut provider = by_file(script).unwrap();
    assert_eq!(
        ask(&mut provider, Vec::new()).story(),
        "text \"half\"\nfailed rate_limit (429): the model API answered with status 429: slow down\n"
    );
    let hand = ask(&mut provider, Vec::new());
    assert_eq!(
        describe_end(hand.outcome().unwrap()),
        "failed unknown: no answer from the model API"
    );
}

#[test]
fn a_file_that_is_no_script_is_refused_by_place() {
    for (script, fault) in [
        ("", "script: no JSON value at byte 1"),
        ("[]", "script: an object is expected"),
        ("{}", "script.turns: missing"),
        (r#"{"turns":{}}"#, "script.turns: an array is expected"),
        (
            r#"{"turns":[{}],"repeat":true}"#,
            "script: unknown member \"repeat\"",
        ),
        (
            r#"{"turns":[{},{"txt":"x"}]}"#,
            "script.turns[1]: unknown member \"txt\"",
        ),
        (
            r#"{"turns":[{"text":1}]}"#,
            "script.turns[0].text: a string is expected",
        ),
        (
            r#"{"turns":[{"tool_calls":[{"name":"f"}]}]}"#,
            "script.turns[0].tool_calls[0].input: missing",
        ),
        (
            r#"{"turns":[{"delay_ms":1.5}]}"#,
            "script.turns[0].delay_ms: a whole number is expected",
        ),
        (
            r#"{"turns":[{"error":{"status":200}}]}"#,
            "script.turns[0].error.status: expected a number from 300 to 599",
        ),
    ] {
        let error = by_file(script).unwrap_err();
        assert_eq!(
            error,
            format!("auth.json: id \"s\": scripted.script: {fault}"),
            "{script}"
        );
    }
    let error = by_file(r#"{"turns":[{"stop_reason":"done"}]}"#).unwrap_err();
    assert!(error.contains("script.turns[0].stop_reason: expected end_turn, "));
}

#[test]
fn a_prompt_without_a_script_is_echoed() {
    assert_eq!(reply(vec![prompt("hello")]), says("echo: hello"));
    assert_eq!(
        reply(vec![prompt("SCRIPT"), answer("x"), prompt("b")]),
        says("echo: b")
    );
    let parts = Arc::new(Message::User(vec!["a".into(), "b".into()]));
    assert_eq!(reply(vec![parts]), says("echo: a\nb"));
}

#[test]
fn a_prompt_scripts_the_answers_to_itself() {
    let script = prompt(
        r#"Please: SCRIPT {"steps":[{"tool_calls":[{"name":"f","input":{"s":"}\"{"}}]},{"text":"got {results}"}]} and thanks {"#,
    );
    let mut history = vec![prompt("before"), answer("echo: before"), script];
    assert!(reply(history.clone()).contains("stop ToolUse"));
    history.extend([calling(&["k"]), results(&[("k", "7")])]);
    assert_eq!(reply(history.clone()), says("got 7"));
    history.push(answer("got 7"));
    history.push(prompt("next"));
    assert_eq!(reply(history.clone()), says("echo: next"));
    history.extend([
        answer("echo: next"),
        prompt(r#"SCRIPT {"steps":[{"text":"new"}]}"#),
    ]);
    assert_eq!(reply(history), says("new"));
}

#[test]
fn notes_do_not_reset_the_count() {
    let script = prompt(r#"SCRIPT {"steps":[{"text":"one"},{"text":"two"},{"text":"three"}]}"#);
    let mut history = vec![script, answer("one"), prompt("note: go on")];
    assert_eq!(reply(history.clone()), says("two"));
    history.extend([
        calling(&["k"]),
        results(&[("k", "")]),
        prompt("note: a task ended"),
    ]);
    assert_eq!(reply(history), says("three"));
}

#[test]
fn a_turn_that_ended_without_an_answer_leaves_no_script() {
    let script = prompt(r#"SCRIPT {"steps":[{"hold":true},{"text":"never"}]}"#);
    assert_eq!(reply(vec![script.clone()]), "");
    assert_eq!(
        reply(vec![script, prompt("after the interrupt")]),
        says("echo: after the interrupt")
    );
}

#[test]
fn a_script_that_runs_out_says_so() {
    let script = prompt(r#"SCRIPT {"steps":[{"tool_calls":[{"name":"f","input":{}}]}]}"#);
    let history = vec![script, calling(&["k"]), results(&[("k", "")])];
    assert_eq!(
        reply(history),
        "failed invalid_request: the prompt's script has no step for model request 2: it holds 1\n"
    );
}

#[test]
fn a_script_that_is_none_says_where() {
    for (text, fault) in [
        (r#"SCRIPT {"steps":["#, "script: the object does not end"),
        (
            r#"SCRIPT {"steps":[}"#,
            "script: unexpected character in JSON at byte 11",
        ),
        (r#"SCRIPT {}"#, "script.steps: missing"),
        (
            r#"SCRIPT {"steps":[{"text":null}]}"#,
            "script.steps[0].text: a string is expected",
        ),
        (
            r#"SCRIPT {"steps":[],"steps":[]}"#,
            "script: ambiguous JSON: duplicate member name at byte 13",
        ),
    ] {
        assert_eq!(
            reply(vec![prompt(text)]),
            format!("failed invalid_request: the prompt's {fault}\n"),
            "{text}"
        );
    }
}
