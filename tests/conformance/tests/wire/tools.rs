//! Tool calls: which run side by side, under which ids, with which environment.

use agentx_conformance::session::{Bench, brief, config, tool};
use agentx_core::agent::Config;
use agentx_core::effect::Answer;
use agentx_core::limits::Limits;
use agentx_core::model::{Delta, Message, StopReason};
use agentx_core::schema::permission::PermissionMode;
use agentx_core::tool::{ToolClass, ToolContent, ToolOutcome};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn running(b: &Bench, calls: &[&str]) -> Vec<bool> {
    calls
        .iter()
        .map(|call| b.find_tool(call).is_some())
        .collect()
}

// covers: DEC-26
#[test]
fn readers_run_side_by_side_and_the_others_in_call_order() {
    let mut b = Bench::new(Config {
        permission_mode: PermissionMode::BypassPermissions,
        ..config()
    });
    b.prompt(1, "go");
    b.calls(&[
        ("w1", "Do", "{}"),
        ("r1", "Look", "{}"),
        ("w2", "Change", "{}"),
        ("r2", "Look", "{}"),
    ]);
    let all = ["w1", "r1", "w2", "r2"];
    assert_eq!(running(&b, &all), [true, true, false, true]);
    b.records();
    b.tool_says("r2", "second reader");
    assert_eq!(
        b.briefs(),
        ["tool_result r2"],
        "as soon as its call settles"
    );
    b.tool_says("w1", "first writer");
    assert_eq!(running(&b, &all), [false, true, true, false]);
    b.tool_says("w2", "second writer");
    b.tool_says("r1", "first reader");
    assert_eq!(
        b.briefs(),
        ["tool_result w1", "tool_result w2", "tool_result r1"]
    );
    let Message::ToolResults(results) = &*b.model().1.history[2] else {
        panic!("results")
    };
    let order: Vec<_> = results.iter().map(|result| &*result.tool_use_id).collect();
    assert_eq!(order, all, "the model sees them in call order");
}

// covers: DEC-26
#[test]
fn all_questions_are_open_at_once_and_order_holds_after_the_answers() {
    let mut b = Bench::new(config());
    b.prompt(1, "go");
    b.calls(&[("w1", "Do", "{}"), ("w2", "Do", "{}"), ("w3", "Do", "{}")]);
    assert_eq!(b.session.pending_requests(), 3);
    let [one, two, three] = ["w1", "w2", "w3"].map(|call| b.question(call));
    b.allow(&three);
    b.allow(&two);
    assert_eq!(
        running(&b, &["w1", "w2", "w3"]),
        [false, false, false],
        "the first is not decided"
    );
    b.deny(&one);
    assert_eq!(running(&b, &["w2", "w3"]), [true, false]);
    b.tool_says("w2", "x");
    assert_eq!(running(&b, &["w3"]), [true]);
}

// covers: DEC-26
#[test]
fn a_command_tool_may_say_that_it_runs_beside_others() {
    let mut beside = tool("Beside", ToolClass::Execute);
    beside.parallel = true;
    let mut b = Bench::new(Config {
        permission_mode: PermissionMode::BypassPermissions,
        tools: [tool("Do", ToolClass::Execute), beside].into(),
        ..config()
    });
    b.prompt(1, "go");
    b.calls(&[
        ("a", "Do", "{}"),
        ("b", "Beside", "{}"),
        ("c", "Beside", "{}"),
        ("d", "Do", "{}"),
    ]);
    assert_eq!(
        running(&b, &["a", "b", "c", "d"]),
        [true, true, true, false]
    );
}

// covers: DEC-35
#[test]
fn every_call_has_an_id_of_its_own_for_the_whole_session() {
    let mut b = Bench::new(config());
    b.prompt(1, "go");
    b.calls(&[
        ("same", "Look", r#"{"file_path":"a"}"#),
        ("same", "Look", r#"{"file_path":"b"}"#),
        ("", "Look", r#"{"file_path":"c"}"#),
    ]);
    let ids = |records: &[Value]| -> Vec<String> {
        let uses = records
            .iter()
            .filter(|record| brief(record) == "assistant tool_use");
        uses.map(|record| {
            record["message"]["content"][0]["id"]
                .as_str()
                .expect("an id")
                .to_string()
        })
        .collect()
    };
    let first = ids(&b.records());
    assert_eq!(first[0], "same");
    assert!(
        first[1..]
            .iter()
            .all(|id| id.starts_with("toolu_") && id.len() == 38),
        "{first:?}"
    );
    for (id, path) in first.iter().zip(["a", "b", "c"]) {
        let input = format!(r#"{{"file_path":"{path}"}}"#);
        assert_eq!(
            b.tool(id).1.call.input.as_str(),
            input,
            "each runs with its own input"
        );
    }
    for id in &first {
        b.tool_says(id, "x");
    }
    b.says("done");
    b.records();
    b.prompt(2, "again");
    b.calls(&[("same", "Look", "{}")]);
    let second = ids(&b.records());
    assert!(second[0] != "same" && !first.contains(&second[0]));
    b.tool_says(&second[0], "x");
    let history = format!("{:?}", b.model().1.history);
    assert!(
        first.iter().all(|id| history.contains(id.as_str())),
        "the provider sees the mapped ids"
    );
}

// covers: DEC-51
#[test]
fn two_ids_under_one_index_are_two_calls() {
    let mut b = Bench::new(config());
    b.prompt(1, "go");
    for (id, path) in [("d", "1"), ("e", "2")] {
        b.delta(Delta::CallStart {
            index: 0,
            id: id.to_string(),
            name: "Look".to_string(),
        });
        b.delta(Delta::CallArguments {
            index: 0,
            text: format!(r#"{{"file_path":"{path}"}}"#),
        });
    }
    b.finish(StopReason::ToolUse);
    assert_eq!(b.tool("d").1.call.input.as_str(), r#"{"file_path":"1"}"#);
    assert_eq!(b.tool("e").1.call.input.as_str(), r#"{"file_path":"2"}"#);
}

// covers: DEC-51
#[test]
fn arguments_that_interleave_stay_apart() {
    let mut b = Bench::new(config());
    b.prompt(1, "go");
    let start = |index, id: &str| Delta::CallStart {
        index,
        id: id.to_string(),
        name: "Look".to_string(),
    };
    let more = |index, text: &str| Delta::CallArguments {
        index,
        text: text.to_string(),
    };
    for delta in [
        start(0, "a"),
        start(1, "b"),
        more(0, r#"{"file_"#),
        more(1, r#"{"file_path":"B"#),
        more(0, r#"path":"A"}"#),
        more(1, r#""}"#),
    ] {
        b.delta(delta);
    }
    b.finish(StopReason::EndTurn);
    assert_eq!(b.tool("a").1.call.input.as_str(), r#"{"file_path":"A"}"#);
    assert_eq!(
        b.tool("b").1.call.input.as_str(),
        r#"{"file_path":"B"}"#,
        "calls are answered whatever the stop says"
    );
}

// covers: DEC-51, DEC-42
#[test]
fn a_tool_stop_without_a_call_ends_the_turn() {
    let mut b = Bench::new(config());
    b.prompt(1, "go");
    b.delta(Delta::Text("hm".to_string()));
    b.finish(StopReason::ToolUse);
    let records = b.records();
    assert_eq!(
        (
            &records[1]["message"]["stop_reason"],
            &records[2]["stop_reason"]
        ),
        (&json!("end_turn"), &json!("end_turn"))
    );
    assert!(b.open.is_empty(), "no further request");
}

// covers: DEC-41
#[test]
fn a_call_that_cannot_be_read_gets_an_error_result_and_the_loop_goes_on() {
    let deep = |depth: usize| {
        format!(
            r#"{{"a":{}{}}}"#,
            "[".repeat(depth - 1),
            "]".repeat(depth - 1)
        )
    };
    for (name, arguments, part) in [
        ("Look", "{".to_string(), "not valid JSON"),
        ("Look", "7".to_string(), "not a JSON object"),
        (
            "Do",
            r#"{"command":"echo \ud800"}"#.to_string(),
            "unpaired surrogate escape",
        ),
        (
            "Do",
            r#"{"a":[{"\udc00":1}]}"#.to_string(),
            "unpaired surrogate escape",
        ),
        (
            "Fly",
            "{}".to_string(),
            "Unknown tool: Fly. Offered tools: Look, Change, Do.",
        ),
        ("Do", deep(121), "JSON nested too deep"),
        ("Do", deep(127), "JSON nested too deep"),
    ] {
        let mut b = Bench::new(config());
        b.prompt(1, "go");
        b.calls(&[("t1", name, &arguments)]);
        let records = b.records();
        assert_eq!(
            records.iter().map(brief).collect::<Vec<_>>(),
            ["state running", "assistant tool_use", "tool_result t1"]
        );
        assert_eq!(records[1]["message"]["content"][0]["input"], json!({}));
        let block = &records[2]["message"]["content"][0];
        let text = block["content"][0]["text"].as_str().expect("a text");
        assert!(text.contains(part) && block["is_error"] == true, "{text}");
        b.says("sorry");
        assert_eq!(
            b.records()[1]["permission_denials"],
            json!([]),
            "nobody denied it"
        );
    }
}

// covers: DEC-06, DEC-19
#[test]
fn the_deepest_input_fits_every_record_that_carries_it() {
    let depth = Limits::DEFAULT.tool_input_depth;
    let input = format!(
        r#"{{"a":{}{}}}"#,
        "[".repeat(depth - 1),
        "]".repeat(depth - 1)
    );
    let mut b = Bench::new(config());
    b.control("c1", "initialize");
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", &input)]);
    b.control("c2", "initialize");
    let id = b.question("t1");
    b.deny(&id);
    b.says("done");
    let bytes = String::from_utf8_lossy(&b.bytes).into_owned();
    let carriers = bytes.lines().filter(|line| line.contains(&input)).count();
    assert_eq!(
        carriers, 5,
        "call, state, question, list of questions, denial"
    );
    for line in bytes.lines() {
        let (mut open, mut deepest) = (0_usize, 0);
        for byte in line.bytes() {
            match byte {
                b'{' | b'[' => open += 1,
                b'}' | b']' => open -= 1,
                _ => {}
            }
            deepest = deepest.max(open);
        }
        assert!(deepest <= Limits::DEFAULT.depth, "{deepest} levels");
    }
    // The first refused depth is one more.
    let line = format!(r#"{{"a":{input}}}"#);
    let mut b = Bench::new(config());
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", &line)]);
    assert!(b.briefs().contains(&"tool_result t1".to_string()));
}

// covers: DEC-22
#[test]
fn variables_reach_later_tools_alone() {
    let mut b = Bench::new(config());
    b.prompt(1, "go");
    b.calls(&[("t1", "Look", "{}"), ("t2", "Do", "{}")]);
    b.line(r#"{"type":"update_environment_variables","variables":{"A":"1","B":"x"}}"#);
    b.line(r#"{"type":"update_environment_variables","environment_variables":{"B":"2"}}"#);
    b.allow(&b.question("t2"));
    assert!(
        b.tool("t1").1.environment.is_empty(),
        "what runs keeps what it had"
    );
    let pairs = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(n, v)| ((*n).to_string(), (*v).to_string()))
            .collect()
    };
    assert_eq!(
        *b.tool("t2").1.environment,
        pairs(&[("A", "1"), ("B", "2")]).into()
    );
    assert!(b.diagnostics().is_empty());
}

// covers: DEC-22
#[test]
fn a_refused_update_changes_nothing_and_is_told() {
    let mut b = Bench::new(Config {
        limits: Limits {
            environment_bytes: 10,
            environment_total_bytes: 12,
            ..Limits::DEFAULT
        },
        ..config()
    });
    b.line(r#"{"type":"update_environment_variables","variables":{"A":"12345"}}"#);
    for variables in [
        r#"{"B":"1","PATH":"/evil"}"#,
        r#"{"B":"1","agentx_home":"/evil"}"#,
        r#"{"B":7}"#,
        r#"{"B":"a\u0000b"}"#,
        r#"{"1B":"x"}"#,
        r#"{"B":"1234567890"}"#,
        r#"{"B":"123456"}"#,
        r#"[]"#,
    ] {
        b.line(&format!(
            r#"{{"type":"update_environment_variables","variables":{variables}}}"#
        ));
        let told = b.diagnostics();
        let told = told.last().expect("a warning");
        assert!(
            told.starts_with("update_environment_variables refused: "),
            "{told}"
        );
    }
    assert_eq!(b.diagnostics().len(), 8);
    b.line(r#"{"type":"update_environment_variables","variables":{"A":"1","B":"12345"}}"#);
    b.prompt(1, "go");
    b.calls(&[("t1", "Look", "{}")]);
    let environment = &b.tool("t1").1.environment;
    assert_eq!((environment.len(), environment["B"].as_str()), (2, "12345"));
    assert_eq!(
        (b.diagnostics().len(), b.exit),
        (8, None),
        "the stream goes on"
    );
}

// covers: DEC-27
#[test]
fn a_tool_may_say_several_things_or_nothing() {
    let mut b = Bench::new(config());
    b.prompt(1, "go");
    b.calls(&[("t1", "Look", "{}"), ("t2", "Look", "{}")]);
    b.records();
    for (call, content, is_error) in [("t1", vec![], false), ("t2", vec!["a", "b"], true)] {
        let (id, _) = b.tool(call);
        let content = content
            .into_iter()
            .map(|text| ToolContent::Text(text.to_string()))
            .collect();
        b.done(id, Answer::Tool(ToolOutcome { content, is_error }));
    }
    let blocks: Vec<_> = b
        .records()
        .into_iter()
        .map(|record| record["message"]["content"][0].clone())
        .collect();
    assert_eq!(
        blocks,
        [
            json!({"type": "tool_result", "tool_use_id": "t1", "content": [], "is_error": false}),
            json!({"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "is_error": true}),
        ]
    );
}
