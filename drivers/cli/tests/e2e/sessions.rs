//! Duplex sessions: a host speaks records with a scripted model.

use crate::support::{World, control, decide, from_prompt, kinds, script, tool_results, user};
use serde_json::{Value, json};

const WRITE: &str = "note.txt";

fn write_call() -> Value {
    json!({"name": "Write", "input": {"file_path": WRITE, "content": "kept\n"}})
}

// covers: DEC-39, WIRE-023, WIRE-PERM-020, WIRE-PERM-041
#[test]
fn two_turns_with_a_question_that_is_answered() {
    let world = World::scripted();
    let mut agent = world.duplex(&[]);
    agent.send(&user(&script(&json!([
        {"text": "writing", "tool_calls": [write_call()]},
        {"text": "wrote: {results}"}
    ]))));
    let question = agent.until_type("control_request");
    assert_eq!(question["request"]["subtype"], "can_use_tool");
    assert_eq!(question["request"]["tool_name"], "Write");
    assert!(!world.work().join(WRITE).exists());
    agent.send(&decide(
        &question,
        &json!({"behavior": "allow", "updatedInput": {}}),
    ));
    let result = agent.until_type("result");
    assert_eq!(result["result"], "wrote: Created `note.txt`: 5 bytes.");
    let written = std::fs::read_to_string(world.work().join(WRITE)).unwrap();
    assert_eq!(written, "kept\n");
    agent.send(&user("and now?"));
    assert_eq!(agent.until_type("result")["result"], "echo: and now?");
    let outcome = agent.end();
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
    assert_eq!(
        kinds(&outcome.records()),
        [
            "init",
            "running",
            "assistant",
            "assistant",
            "requires_action",
            "control_request",
            "running",
            "user",
            "assistant",
            "success",
            "idle",
            "running",
            "assistant",
            "success",
            "idle",
        ]
    );
}

// covers: WIRE-PERM-042
#[test]
fn a_denial_reaches_the_model_and_the_result() {
    let world = World::scripted();
    let mut agent = world.duplex(&[]);
    agent.send(&user(&script(&json!([
        {"tool_calls": [write_call()]},
        {"text": "{results}"}
    ]))));
    let question = agent.until_type("control_request");
    agent.send(&decide(
        &question,
        &json!({"behavior": "deny", "message": "not today"}),
    ));
    let result = agent.until_type("result");
    assert!(result["result"].as_str().unwrap().contains("not today"));
    assert_eq!(result["permission_denials"][0]["tool_name"], "Write");
    assert_eq!(agent.end().status, Some(0));
    assert!(!world.work().join(WRITE).exists());
}

// covers: ACC-11, WIRE-010, DEC-20
#[test]
fn an_interrupt_ends_the_turn_and_nothing_else() {
    let world = World::scripted();
    let mut agent = world.duplex(&["--include-partial-messages"]);
    agent.send(&user(&script(
        &json!([{"deltas": ["half "], "hold": true}]),
    )));
    agent.until_type("stream_event");
    agent.send(&control("int-1", "interrupt"));
    let answer = agent.until_type("control_response");
    assert_eq!(
        answer["response"],
        json!({"subtype": "success", "request_id": "int-1"})
    );
    let result = agent.until_type("result");
    assert_eq!(result["subtype"], "error_during_execution");
    assert_eq!(result["stop_reason"], "cancelled");
    agent.send(&user("still there?"));
    assert_eq!(agent.until_type("result")["result"], "echo: still there?");
    assert_eq!(agent.end().status, Some(0));
}

// covers: DEC-14, DEC-15
#[test]
fn prompts_before_the_end_of_input_still_run() {
    let world = World::scripted();
    let mut agent = world.duplex(&[]);
    for prompt in ["one", "two", "three"] {
        agent.send(&user(prompt));
    }
    let outcome = agent.end();
    assert_eq!(outcome.status, Some(0));
    let results = outcome.records().into_iter();
    let results: Vec<_> = results
        .filter(|record| record["type"] == "result")
        .map(|record| record["result"].clone())
        .collect();
    assert_eq!(results, ["echo: one", "echo: two", "echo: three"]);
}

// covers: WIRE-008, DEC-14
#[test]
fn a_question_after_the_end_of_input_is_a_denial() {
    let world = World::scripted();
    let mut agent = world.duplex(&[]);
    agent.send(&user(&script(&json!([
        {"tool_calls": [write_call()]},
        {"text": "over"}
    ]))));
    let outcome = agent.end();
    let records = outcome.records();
    assert_eq!(outcome.status, Some(0));
    // Nobody can answer any more, whether it was asked before the end or not.
    assert_eq!(tool_results(&records).len(), 1);
    assert_eq!(kinds(&records).last().map(String::as_str), Some("idle"));
    assert!(!world.work().join(WRITE).exists());
}

// covers: DEC-21, DEC-20
#[test]
fn a_failed_turn_leaves_the_session_and_the_last_result_decides() {
    let world = World::scripted();
    let failing = script(&json!([{"error": {"status": 429, "message": "slow down"}}]));
    let mut agent = world.duplex(&[]);
    agent.send(&user(&failing));
    let result = agent.until_type("result");
    assert_eq!(result["stop_reason"], "provider_error");
    assert!(result["errors"][0].as_str().unwrap().contains("rate_limit"));
    agent.send(&user("next"));
    assert_eq!(agent.until_type("result")["result"], "echo: next");
    assert_eq!(agent.end().status, Some(0));

    let mut agent = world.duplex(&[]);
    agent.send(&user("first"));
    agent.send(&user(&failing));
    assert_eq!(agent.end().status, Some(1));
}

// covers: DEC-20
#[test]
fn the_status_without_an_accepted_prompt() {
    let world = World::scripted();
    let asked_nothing = world.duplex(&[]).end();
    assert_eq!(asked_nothing.status, Some(0));
    assert_eq!(kinds(&asked_nothing.records()), ["init"]);
    let mut agent = world.duplex(&[]);
    agent.send(
        r#"{"type":"user","message":{"role":"user","content":[]},"parent_tool_use_id":null}"#,
    );
    assert_eq!(agent.until_type("result")["stop_reason"], "input_error");
    assert_eq!(agent.end().status, Some(1));
}

// covers: WIRE-001, DEC-10
#[test]
fn malformed_input_ends_the_session_and_is_told_with_its_place() {
    let world = World::scripted();
    let mut agent = world.duplex(&[]);
    agent.send(&control("c1", "mcp_status"));
    agent.until_type("control_response");
    agent.send(r#"{"type":"keep_alive"}"#);
    agent.send("zz-not-json-zz");
    let result = agent.until_type("result");
    assert_eq!(result["stop_reason"], "input_error");
    let text = result["errors"][0].as_str().unwrap();
    let start = "malformed NDJSON input: line 3, byte 1: ";
    assert!(text.starts_with(start), "{text}");
    let outcome = agent.wait();
    assert_eq!(outcome.status, Some(1));
    assert_eq!(
        outcome.stderr,
        format!("agentx: error: {text}: \"zz-not-json-zz\"\n")
    );
}

// covers: WIRE-EOF-001, ACC-14
#[test]
fn a_malformed_tail_is_malformed_too() {
    let world = World::scripted();
    let outcome = world.run(
        &crate::support::DUPLEX,
        "{\"type\":\"keep_alive\"}\n{\"type\":",
    );
    assert_eq!(outcome.status, Some(1));
    assert!(outcome.stderr.contains("line 2"), "{}", outcome.stderr);
    let whole = world.run(&crate::support::DUPLEX, &user("no newline"));
    assert_eq!(whole.status, Some(0));
    assert!(whole.stdout.contains("echo: no newline"));
}

// covers: DEC-23, ACC-24
#[test]
fn a_text_only_session_refuses_uploads() {
    let world = World::scripted();
    let mut agent = world.duplex(&[]);
    let init = agent.until_type("init");
    assert!(init.get("input_capabilities").is_none());
    agent.send(
        &json!({"type": "attachment_import", "version": 1, "operation": "commit", "upload_id": "upl_a"})
            .to_string(),
    );
    let refusal = agent.until_type("attachment_import_rejected");
    assert_eq!(refusal["reason"], "attachments_unavailable");
    agent.send(&user("text"));
    assert_eq!(agent.until_type("result")["result"], "echo: text");
    assert_eq!(agent.end().status, Some(0));
}

// covers: ACC-16, WIRE-012
#[test]
fn an_unknown_price_is_null_and_a_known_one_is_a_number() {
    let per_mtok = |input: Value, output: Value| json!({"pricing": {"input_per_mtok": input, "output_per_mtok": output}});
    for (extra, cost) in [
        (json!({}), Value::Null),
        (per_mtok(json!(0), json!(0)), json!(0)),
        (per_mtok(json!(2), json!(0.5)), json!(0.00025)),
    ] {
        let world = World::with(&json!([from_prompt("main", &extra)]));
        let usage = json!({"input_tokens": 100, "output_tokens": 100});
        let prompt = script(&json!([{"text": "x", "usage": usage}]));
        let outcome = world.run(&["--output-format", "stream-json", &prompt], "");
        let result = outcome
            .records()
            .into_iter()
            .find(|record| record["type"] == "result");
        let result = result.unwrap();
        assert_eq!(result["total_cost_usd"], cost);
        assert_eq!(result["modelUsage"]["fixture-model"]["costUSD"], cost);
    }
}

// covers: DEC-40
#[test]
fn limits_of_the_command_line_end_turns() {
    let loops = script(&json!([
        {"tool_calls": [{"name": "CurrentTime", "input": {}}]},
        {"text": "never said"}
    ]));
    let world = World::scripted();
    let mut agent = world.duplex(&["--max-turns", "1"]);
    agent.send(&user(&loops));
    assert_eq!(agent.until_type("result")["subtype"], "error_max_turns");
    agent.send(&user("one request is enough"));
    assert_eq!(agent.until_type("result")["subtype"], "success");
    assert_eq!(agent.end().status, Some(0));

    let pricing = json!({"pricing": {"input_per_mtok": 1, "output_per_mtok": 1}});
    let world = World::with(&json!([from_prompt("main", &pricing)]));
    let mut agent = world.duplex(&["--max-budget-usd", "0.000001"]);
    let usage = json!({"input_tokens": 1, "output_tokens": 0});
    agent.send(&user(&script(&json!([
        {"tool_calls": [{"name": "CurrentTime", "input": {}}], "usage": usage},
        {"text": "never said"}
    ]))));
    assert_eq!(
        agent.until_type("result")["subtype"],
        "error_max_budget_usd"
    );
    agent.send(&user("more"));
    assert_eq!(
        agent.until_type("result")["subtype"],
        "error_max_budget_usd"
    );
    assert_eq!(agent.end().status, Some(1));
}

#[test]
fn an_argument_is_the_first_prompt_of_a_duplex_session() {
    let world = World::scripted();
    let mut agent = world.duplex(&["from the command line"]);
    let first = agent.until_type("result");
    assert_eq!(first["result"], "echo: from the command line");
    agent.send(&user("from the host"));
    assert_eq!(agent.until_type("result")["result"], "echo: from the host");
    assert_eq!(agent.end().status, Some(0));
}

// covers: DEC-50
#[test]
fn replay_echoes_user_records() {
    let world = World::scripted();
    let mut agent = world.duplex(&["--replay-user-messages"]);
    agent.send(&user("echo me"));
    let echo = agent.until(|record| record["isReplay"] == true);
    assert_eq!(echo["message"]["content"], "echo me");
    assert_eq!(agent.end().status, Some(0));
}

#[test]
fn the_permission_mode_is_that_of_the_command_line() {
    let world = World::scripted();
    let mut agent = world.duplex(&["--permission-mode", "acceptEdits"]);
    assert_eq!(agent.until_type("init")["permissionMode"], "acceptEdits");
    agent.send(&user(&script(&json!([
        {"tool_calls": [write_call()]},
        {"text": "done"}
    ]))));
    agent.until_type("result");
    let records = agent.end().records();
    assert!(
        records
            .iter()
            .all(|record| record["type"] != "control_request")
    );
    assert!(world.work().join(WRITE).exists());
}

#[test]
fn tools_get_a_home_and_a_path_but_not_ours() {
    let world = World::scripted();
    let command = "echo \"[$HOME][$PATH][$AGENTX_PROFILE][$TMPDIR]\"; env | grep -c AGENTX_HOM";
    let prompt = script(&json!([
        {"tool_calls": [{"name": "Bash", "input": {"command": command}}]},
        {"text": "done"}
    ]));
    let arguments = [
        "--output-format",
        "stream-json",
        "--permission-mode",
        "bypassPermissions",
        &prompt,
    ];
    let outcome = world.run(&arguments, "");
    let said = tool_results(&outcome.records()).remove(0);
    let fields: Vec<&str> = said.split(['[', ']']).collect();
    assert!(fields[1].starts_with('/'), "HOME in {said}");
    assert_eq!(fields[3], "/usr/local/bin:/usr/bin:/bin");
    assert_eq!(fields[7], world.temporary().to_str().unwrap());
    assert!(said.contains("\n0"), "{said}");
}
