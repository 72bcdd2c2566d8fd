//! What existing hosts may send, and the profile `reference` takes.

use agentx_conformance::session::{Bench, config, reference, stored, uuid};
use agentx_core::agent::{Config, Profile, Reference};
use agentx_core::guard::Guard;
use agentx_core::model::{Block, Message};
use agentx_core::store::{Beginning, Restorer};
use serde_json::{Value, json};

/// A session whose host asks the model, up to its first request.
fn bench() -> Bench {
    Bench::new(reference())
}

/// The texts of all messages of the open request, with their side.
fn said(b: &Bench) -> Vec<String> {
    let (_, request) = b.model();
    let messages = request.history.iter().map(|message| match &**message {
        Message::User(parts) => format!("user: {}", parts.join("|")),
        Message::Assistant(blocks) => {
            let texts = blocks.iter().map(|block| match block {
                Block::Text(text) => text.as_str(),
                _ => "?",
            });
            format!("assistant: {}", texts.collect::<Vec<_>>().join("|"))
        }
        Message::ToolResults(_) => "results".to_string(),
    });
    messages.collect()
}

fn results(b: &Bench) -> Vec<Value> {
    let records = b.all_records().into_iter();
    records
        .filter(|record| record["type"] == "result")
        .collect()
}

// covers: DEC-24
#[test]
fn members_that_nobody_knows_are_dropped_at_every_level() {
    let line = json!({
        "type": "user", "uuid": uuid(1), "session_id": "another", "client_composed": true,
        "shouldQuery": false, "pastedContents": {"1": {"type": "text"}}, "parent_tool_use_id": null,
        "message": {
            "role": "user", "id": 7, "extra": {"a": [1]},
            "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}, "citations": null}],
        },
    });
    let mut b = bench();
    b.line(&line.to_string());
    assert_eq!(said(&b), ["user: hi"]);
    b.says("there");
    assert_eq!(b.briefs().last().map(String::as_str), Some("state idle"));
    let mut strict = Bench::new(config());
    strict.line(&line.to_string());
    assert_eq!(strict.briefs(), ["result error_during_execution"]);
}

// covers: DEC-24
#[test]
fn the_session_id_of_a_prompt_is_a_hint() {
    for id in [
        json!(null),
        json!(""),
        json!("default"),
        json!("elsewhere"),
        json!(7),
    ] {
        let mut b = bench();
        b.user_with("hi", json!({"session_id": id}));
        assert_eq!(said(&b), ["user: hi"], "{id}");
        let records = b.all_records();
        let own = b.session.session_id();
        assert!(records.iter().all(|record| record["session_id"] == own));
    }
}

// covers: WIRE-017, WIRE-021
#[test]
fn a_block_that_is_not_supported_is_one_error_and_the_stream_goes_on() {
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}});
    let document =
        json!({"type": "document", "source": {"type": "text", "data": "hi"}, "title": "t"});
    let text = json!({"type": "text", "text": "look"});
    for content in [
        json!([image]),
        json!([text, image]),
        json!([document, text, image]),
        json!([{"type": "tool_result", "tool_use_id": "t1", "content": "x"}]),
        json!([{"text": "no type"}]),
        json!([]),
        json!(7),
    ] {
        let mut b = bench();
        let message = json!({"role": "user", "content": content});
        b.line(&json!({"type": "user", "uuid": uuid(1), "origin": {"kind": "human"}, "message": message}).to_string());
        assert_eq!(b.briefs(), ["result error_during_execution"], "{content}");
        let refused = &results(&b)[0];
        assert_eq!(refused["stop_reason"], "input_error");
        assert_eq!(refused["prompt_uuid"], uuid(1));
        assert_eq!(refused["origin"], json!({"kind": "human"}));
        b.user("hi");
        b.says("there");
        assert_eq!(results(&b).len(), 2);
        b.eof();
        assert_eq!(b.exit, Some(0), "the last ordinary result decides");
    }
}

// covers: DEC-04
#[test]
fn halves_of_surrogate_pairs_become_replacement_characters() {
    let mut b = bench();
    b.line(r#"{"type":"user","odd\udc00":1,"message":{"role":"user","content":"a\ud800b \ud83d\ude00"}}"#);
    assert_eq!(said(&b), ["user: a\u{FFFD}b 😀"]);
    b.calls(&[("t1", "Do", "{}")]);
    let id = b.question("t1");
    b.line(&format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{id}","response":{{"behavior":"allow","updatedInput":{{"command":"\ud83d!"}}}}}}}}"#
    ));
    assert_eq!(
        b.tool("t1").1.call.input.as_str(),
        r#"{"command":"\ufffd!"}"#
    );
    b.line(r#"{"type":"control_request","request_id":"r\udfff","request":{"subtype":"interrupt","why":"\ud800"}}"#);
    let records = b.records();
    let answer = records.iter().find(|r| r["type"] == "control_response");
    assert_eq!(
        answer.expect("an acknowledgement")["response"],
        json!({"subtype": "success", "request_id": "r\u{FFFD}"})
    );
    assert_eq!(b.diagnostics().len(), 3, "{:?}", b.diagnostics());
    assert!(b.diagnostics().iter().all(|text| text.contains("U+FFFD")));
}

// covers: DEC-03, DEC-04
#[test]
fn names_that_are_the_same_once_they_are_text_are_ambiguous() {
    let mut b = bench();
    b.line(r#"{"type":"user","a\ud800":1,"a\udbff":2,"message":"hi"}"#);
    assert_eq!(b.exit, Some(1));
    let told = b.diagnostics().join("\n");
    assert!(
        told.contains("ambiguous JSON: duplicate member name"),
        "{told}"
    );
}

// covers: WIRE-001, DEC-04
#[test]
fn a_bare_nan_in_an_answer_is_still_malformed() {
    let mut b = bench();
    b.user("go");
    b.calls(&[("t1", "Do", "{}")]);
    let id = b.question("t1");
    b.line(&format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{id}","response":{{"behavior":"allow","updatedInput":{{"n":NaN}}}}}}}}"#
    ));
    assert_eq!(b.exit, Some(1));
    assert!(b.find_tool("t1").is_none(), "nothing runs");
}

/// What becomes of a call whose question is answered so.
fn answered(config: Config, payload: &Value) -> (Option<String>, String) {
    let mut b = Bench::new(config);
    b.user("go");
    b.calls(&[("t1", "Do", r#"{"command":"ls"}"#)]);
    let id = b.question("t1");
    b.respond(&id, payload);
    let input = b.find_tool("t1");
    let input = input.map(|(_, request)| request.call.input.as_str().to_string());
    let results = b.all_records().into_iter();
    let text = results
        .filter(|record| record["type"] == "user")
        .filter_map(|record| {
            let text = &record["message"]["content"][0]["content"][0]["text"];
            text.as_str().map(ToString::to_string)
        });
    let mut text = text;
    (input, text.next_back().unwrap_or_default())
}

// covers: DEC-13, WIRE-PERM-002, WIRE-PERM-040
#[test]
fn an_answer_without_an_input_takes_the_original_one() {
    let original = Some(r#"{"command":"ls"}"#.to_string());
    for payload in [
        json!({"behavior": "allow"}),
        json!({"behavior": "allow", "toolUseID": "t1", "classification": "x", "more": [1]}),
        json!({"behavior": "allow", "updatedInput": {}}),
    ] {
        assert_eq!(answered(reference(), &payload).0, original, "{payload}");
    }
    let edited = json!({"behavior": "allow", "updatedInput": {"command": "pwd"}});
    let input = answered(reference(), &edited).0;
    assert_eq!(input.as_deref(), Some(r#"{"command":"pwd"}"#));
    let (input, text) = answered(config(), &json!({"behavior": "allow"}));
    assert_eq!(input, None, "no answer in the other profile");
    assert!(text.contains("has no updatedInput"), "{text}");
}

// covers: DEC-13, WIRE-PERM-002, WIRE-PERM-044
#[test]
fn an_answer_that_says_nothing_denies() {
    for payload in [
        json!({}),
        json!({"updatedInput": {}}),
        json!({"behavior": "ask", "updatedInput": {}}),
        json!({"behavior": null}),
        json!({"behavior": "allow", "updatedInput": null}),
        json!({"behavior": "allow", "updatedInput": "ls"}),
        json!({"behavior": "deny"}),
        json!("allow"),
    ] {
        let (input, text) = answered(reference(), &payload);
        assert_eq!(input, None, "{payload}");
        assert!(
            text.starts_with("Tool permission request failed:"),
            "{payload}: {text}"
        );
    }
    let (input, text) = answered(
        reference(),
        &json!({"behavior": "deny", "message": "no", "x": 1}),
    );
    assert_eq!((input, text.as_str()), (None, "no"));
    let mut b = bench();
    b.user("go");
    b.calls(&[("t1", "Do", "{}")]);
    let id = b.question("t1");
    b.line(&json!({"type": "control_response", "response": {"subtype": "error", "request_id": id, "error": "boom", "error_code": "E1", "x": null}}).to_string());
    assert!(b.find_tool("t1").is_none());
    b.line(&json!({"type": "control_response", "response": {"subtype": "error", "request_id": id, "error": "late", "error_code": "E1"}}).to_string());
    assert_eq!(b.exit, None, "a late error is swallowed");
}

// covers: WIRE-010
#[test]
fn members_of_an_interrupt_are_ignored() {
    let mut b = bench();
    b.user("go");
    b.records();
    b.line(&json!({"type": "control_request", "request_id": "i1", "request": {"subtype": "interrupt", "cancel_queued": true}}).to_string());
    assert_eq!(
        b.briefs(),
        ["ack i1", "result error_during_execution", "state idle"]
    );
}

// covers: DEC-44
#[test]
fn what_was_said_before_becomes_context() {
    let mut b = bench();
    b.line(&json!({"type": "system", "subtype": "informational", "content": "a note", "uuid": uuid(5)}).to_string());
    b.user_with(
        "old",
        json!({"uuid": uuid(1), "session_id": "s", "isReplay": true}),
    );
    let answer = json!([
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "text", "text": "I looked"},
        {"type": "tool_use", "id": "t0", "name": "Do", "input": {"command": "rm -r /"}},
    ]);
    b.line(
        &json!({"type": "assistant", "message": {"role": "assistant", "content": answer}})
            .to_string(),
    );
    assert!(b.records().is_empty(), "context is no turn");
    assert_eq!(b.diagnostics().len(), 1, "{:?}", b.diagnostics());
    assert!(b.diagnostics()[0].starts_with("2 blocks of a replayed assistant record"));
    b.user("new");
    assert_eq!(
        said(&b),
        [
            "user: a note",
            "user: old",
            "assistant: I looked",
            "user: new"
        ]
    );
    assert!(
        b.running().is_empty(),
        "a call of the past is not made again"
    );
    b.says("done");
    assert_eq!(results(&b).len(), 1);
}

// covers: DEC-44
#[test]
fn records_without_words_and_the_other_profile_only_warn() {
    let init = json!({"type": "system", "subtype": "init", "tools": []}).to_string();
    let answer =
        json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "hi"}]}});
    let answer = answer.to_string();
    let mut b = bench();
    b.line(&init);
    b.line(r#"{"type":"assistant","message":{"content":[{"type":"text","text":" "}]}}"#);
    assert_eq!(b.diagnostics().len(), 2);
    assert!(
        b.diagnostics()
            .iter()
            .all(|text| text.contains("without text was ignored"))
    );
    b.user("new");
    assert_eq!(said(&b), ["user: new"]);
    let mut b = Bench::new(config());
    b.line(&init);
    b.line(&answer);
    b.user("new");
    assert_eq!(said(&b), ["user: new"]);
    assert_eq!(
        b.diagnostics(),
        [
            "a replayed system record was ignored",
            "a replayed assistant record was ignored"
        ]
    );
}

// covers: DEC-44
#[test]
fn an_answer_of_the_past_waits_for_a_prompt() {
    let mut b = bench();
    b.user("go");
    b.calls(&[("t1", "Look", r#"{"file_path":"a"}"#)]);
    b.line(r#"{"type":"system","content":"first"}"#);
    b.line(r#"{"type":"assistant","message":{"content":"before"}}"#);
    b.line(r#"{"type":"system","content":"second"}"#);
    b.tool_says("t1", "seen");
    assert_eq!(
        said(&b)[3..],
        ["user: first"],
        "a request does not end with an answer"
    );
    b.says("done");
    b.user("on");
    assert_eq!(
        said(&b)[4..],
        [
            "assistant: done",
            "assistant: before",
            "user: second",
            "user: on"
        ]
    );
}

// covers: DEC-32, DEC-44
#[test]
fn context_is_stored_and_read_back() {
    let mut b = Bench::new(Config {
        profile: Profile::Reference(Reference::default()),
        credentials: Guard::new(["key-123456".to_string()]).expect("few"),
        ..stored(Beginning::New)
    });
    b.line(r#"{"type":"assistant","message":{"content":"before key-123456"}}"#);
    b.line(r#"{"type":"system","content":"a note"}"#);
    b.user("go");
    let mut restorer = Restorer::new();
    let entries = b.store_all();
    entries
        .into_iter()
        .for_each(|entry| restorer.push(entry).expect("entries follow one another"));
    let restored = restorer.finish();
    assert_eq!(restored.history, b.model().1.history);
    assert_eq!(said(&b)[0], "assistant: before [redacted]");
}

// covers: DEC-47
#[test]
fn an_origin_comes_back_on_the_echo_and_the_result() {
    for origin in [
        json!({"kind": "human", "n": [1, {"a": null}]}),
        json!("ide"),
        json!(3),
        json!(false),
    ] {
        let mut b = Bench::new(Config {
            replay_user_messages: true,
            ..reference()
        });
        b.user_with("hi", json!({"uuid": uuid(1), "origin": origin}));
        b.says("there");
        b.user("plain");
        b.says("there");
        let records = b.all_records();
        let with: Vec<_> = records
            .iter()
            .filter(|r| r.get("origin").is_some())
            .collect();
        assert_eq!(with.len(), 2, "{with:?}");
        assert_eq!(
            (&with[0]["type"], &with[1]["type"]),
            (&json!("user"), &json!("result"))
        );
        assert!(with.iter().all(|record| record["origin"] == origin));
    }
}

// covers: DEC-47
#[test]
fn every_ending_of_a_prompt_tells_its_origin() {
    let mut b = bench();
    for (n, text) in [(1, "runs"), (2, "waits")] {
        b.user_with(text, json!({"uuid": uuid(n), "origin": {"n": n}}));
    }
    b.line("no record");
    let results = results(&b);
    let told: Vec<_> = results
        .iter()
        .map(|r| (r["prompt_uuid"].clone(), r["origin"].clone()))
        .collect();
    assert_eq!(
        told,
        [
            (json!(uuid(1)), json!({"n": 1})),
            (json!(uuid(2)), json!({"n": 2})),
            (Value::Null, Value::Null),
        ]
    );
}

// covers: DEC-30, DEC-47
#[test]
fn an_origin_without_a_meaning_or_with_a_credential_is_dropped() {
    for origin in [json!(null), json!({"token": "key-123456"})] {
        let mut b = Bench::new(Config {
            credentials: Guard::new(["key-123456".to_string()]).expect("few"),
            ..reference()
        });
        b.user_with("hi", json!({"origin": origin}));
        b.says("there");
        let results = results(&b);
        assert_eq!(results[0]["subtype"], "success", "{origin}");
        assert_eq!(results[0].get("origin"), None, "{origin}");
    }
}
