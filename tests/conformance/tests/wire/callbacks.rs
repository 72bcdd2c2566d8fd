//! The last line of defence: the credential guard, the embedder's validator and
//! a writer that fails. Each latches one fixed failure.

use agentx_conformance::session::{Bench, brief, config};
use agentx_core::agent::{Config, Input, Output, Severity, exit_status};
use agentx_core::correlate::{Correlator, OrphanPolicy, Unmatched};
use agentx_core::effect::{Answer, Request, Verdict};
use agentx_core::guard::Guard;
use agentx_core::limits::Limits;
use agentx_core::link::{Link, Outgoing, Refused};
use agentx_core::machine::{Machine as _, Misuse};
use agentx_core::model::{Delta, ErrorCategory, ModelFailure, StopReason};
use agentx_core::tool::{ToolContent, ToolOutcome};
use serde_json::json;

const KEY: &str = "sk-key-12345678";

fn guarded(literal: &str) -> Config {
    Config {
        credentials: Guard::new([literal]).expect("one literal"),
        ..config()
    }
}

fn vetted() -> Config {
    Config {
        vet_records: true,
        ..config()
    }
}

/// The session is over for `text`: told once, nothing open, status 1, no word more.
fn latched(b: &mut Bench, text: &str) {
    let errors: Vec<_> = b
        .outputs
        .iter()
        .filter_map(|output| match output {
            Output::Diagnostic(told) if told.severity == Severity::Error => Some(&told.text),
            _ => None,
        })
        .collect();
    assert_eq!(errors, [&format!("{text}; the session ends")]);
    assert_eq!((b.exit, b.open.len()), (Some(1), 0));
    assert_eq!(b.session.pending_requests(), 0);
    assert_eq!(b.try_feed(Input::Tick), Err(Misuse::InputAfterExit));
}

const LEAK: &str = "a record held a credential and was not written";
const REFUSED: &str = "a record was refused by its validator";
const BROKEN: &str = "stdout cannot be written";

// covers: ACC-17, WIRE-013, WIRE-015, DEC-20
#[test]
fn the_encoder_refuses_a_credential_made_of_its_own_framing() {
    let record = r#"{"type":"result","a":"one","b":"two"}"#;
    let spelled = r#"{"a":"\u0073k-key-\u00312345678"}"#;
    for (literal, bad) in [
        (r#"","b":""#, record),
        ("\"two\"}\n", record),
        ("one\",\"b\"", record),
        (KEY, spelled),
    ] {
        let guard = Guard::new([literal]).expect("one literal");
        let mut link = Link::new(&Limits::DEFAULT, String::new(), false);
        let good = r#"{"fine":true}"#;
        assert_eq!(link.send_raw(&guard, good), Ok(()));
        assert_eq!(
            link.send_raw(&guard, bad),
            Err(Refused::Credential),
            "{literal}"
        );
        assert_eq!(link.send_raw(&guard, good), Err(Refused::Latched));
        assert_eq!(link.send(&guard, |w| w.null()), Err(Refused::Latched));
        assert!(
            link.is_latched() && link.poll().is_none(),
            "not a byte leaves"
        );
        assert!(!Refused::Credential.as_str().contains(literal));
    }
    // Without credentials the same records leave as they are, in order.
    let mut link = Link::new(&Limits::DEFAULT, String::new(), false);
    for text in [record, r#"{"fine":true}"#] {
        assert_eq!(link.send_raw(&Guard::default(), text), Ok(()));
    }
    let sent: Vec<_> = std::iter::from_fn(|| link.poll())
        .map(|outgoing| match outgoing {
            Outgoing::Transmit(record) => String::from_utf8(record.into_bytes()).expect("UTF-8"),
            Outgoing::Vet(_) => panic!("nobody vets"),
        })
        .collect();
    assert_eq!(
        sent,
        [format!("{record}\n"), "{\"fine\":true}\n".to_string()]
    );
}

// covers: ACC-17, WIRE-013, WIRE-014, DEC-03
#[test]
fn a_safe_repetition_hides_no_credential_and_passes_as_nothing() {
    let guard = Guard::new([KEY]).expect("one literal");
    let repeated = r#"{"a":"\u0073k-key-12345678","a":"safe"}"#;
    assert!(
        guard.check(repeated.as_bytes()).is_err(),
        "every occurrence is inspected"
    );
    let mut link = Link::new(&Limits::DEFAULT, String::new(), false);
    assert_eq!(link.send_raw(&guard, repeated), Err(Refused::Ambiguous));
    assert_eq!(link.poll(), None);
}

// covers: ACC-17, WIRE-013, DEC-30, DEC-11
#[test]
fn a_literal_that_no_redactor_can_see_latches_in_the_middle_of_a_step() {
    // Two parts of a tool result, each harmless, and the separator between them.
    let separator = r#"one"},{"type":"text","text":"two"#;
    let mut b = Bench::new(guarded(separator));
    b.prompt(1, "go");
    b.prompt(2, "more");
    b.calls(&[("t1", "Look", "{}"), ("t2", "Do", "{}")]);
    b.records();
    let (id, _) = b.tool("t1");
    let content = ["one", "two"].map(|text| ToolContent::Text(text.to_string()));
    b.done(
        id,
        Answer::Tool(ToolOutcome {
            content: content.into(),
            is_error: false,
        }),
    );
    assert_eq!(
        b.records(),
        [] as [serde_json::Value; 0],
        "no byte, and no idle"
    );
    latched(&mut b, LEAK);

    // The text of an answer and what follows it in its record.
    let mut b = Bench::new(guarded(r#"secret"}],"stop"#));
    b.prompt(1, "go");
    b.records();
    b.delta(Delta::Text("secret".to_string()));
    let (id, _) = b.model();
    let stop = agentx_core::effect::Progress::Delta(Delta::Stop(StopReason::EndTurn));
    b.feed(Input::Progress(id, stop));
    b.done(
        id,
        Answer::Model(agentx_core::model::ModelOutcome::Finished),
    );
    assert_eq!(b.records(), [] as [serde_json::Value; 0]);
    latched(&mut b, LEAK);
}

// covers: DEC-30, WIRE-013
#[test]
fn what_providers_tools_and_hosts_say_is_redacted_before_it_is_a_record() {
    let mut b = Bench::new(guarded(KEY));
    b.prompt(1, "go");
    let piece = |text: &str| text.to_string();
    b.delta(Delta::MessageId(format!("msg_{KEY}")));
    b.delta(Delta::Thinking(piece("hm sk-key-")));
    b.delta(Delta::Thinking(piece("12345678")));
    b.delta(Delta::Signature(piece("sig sk-key-12345678")));
    b.delta(Delta::RedactedThinking(piece("opaque sk-key-12345678")));
    b.delta(Delta::Text(piece("my sk-key-1234")));
    b.delta(Delta::Text(piece("5678.")));
    b.delta(Delta::CallStart {
        index: 0,
        id: KEY.to_string(),
        name: format!("X{KEY}"),
    });
    b.delta(Delta::CallArguments {
        index: 0,
        text: piece(r#"{"a":"sk-key"#),
    });
    b.delta(Delta::CallArguments {
        index: 0,
        text: piece(r#"-12345678"}"#),
    });
    b.finish(StopReason::ToolUse);
    b.calls(&[
        ("t1", "Look", "{}"),
        ("t2", "Do", r#"{"command":"sk\u002dkey-12345678"}"#),
        ("t3", "Do", "{}"),
    ]);
    b.tool_says("t1", &format!("env: {KEY}"));
    let id = b.question("t2");
    b.deny(&id);
    let id = b.question("t3");
    b.respond(
        &id,
        &json!({"behavior": "deny", "message": format!("never {KEY}")}),
    );
    b.fails(ModelFailure {
        category: ErrorCategory::AuthenticationFailed,
        status: Some(401),
        message: format!("bad key {KEY}"),
    });
    b.line(&format!(r#"{{"type":"user","message":"x","{KEY}":1}}"#));
    b.control("c1", KEY);
    b.line(&format!(r#"{{"type":"{KEY}"}}"#));
    let text = String::from_utf8_lossy(&b.bytes).into_owned();
    assert!(!text.contains(KEY), "{text}");
    let told = format!("{:?}", b.outputs);
    let started = told.matches(KEY).count();
    assert_eq!(
        started, 0,
        "nor in an effect, an event or a diagnostic: {told}"
    );
    for shown in [
        r#""thinking":"hm [redacted]","signature":"sig [redacted]""#,
        r#""data":"opaque [redacted]""#,
        r#""text":"my [redacted].""#,
        r#""input":{"a":"[redacted]"}"#,
        r#""text":"env: [redacted]""#,
        r#""text":"never [redacted]""#,
        r#""input":{"command":"[redacted]"}"#,
        r#"bad key [redacted]"#,
        r#"unknown member \"[redacted]\""#,
        r#"unsupported control request \"[redacted]\""#,
    ] {
        assert!(text.contains(shown), "{shown} in {text}");
    }
    assert_eq!(b.exit, None, "the guard never had to fire");
}

// covers: DEC-30
#[test]
fn a_word_of_the_host_is_freed_of_credentials_before_it_is_cut() {
    let mut b = Bench::new(guarded(KEY));
    // The bound of 128 characters stands at every place of the key.
    for pad in 128 - KEY.len()..128 {
        let word = format!("{}{KEY}", "x".repeat(pad));
        let records = [
            json!({"type": word}),
            json!({"type": "user", "message": "x", word.as_str(): 1}),
            json!({"type": "user", "message": {"content": [{"type": word}]}}),
            json!({"type": "update_environment_variables", "variables": {word.as_str(): "x"}}),
        ];
        for record in records {
            b.line(&record.to_string());
        }
        b.control("c", &word);
    }
    let told = format!("{:?}", b.outputs);
    assert!(!told.contains("xsk"), "{told}");
    assert!(told.matches("x[redacted]").count() > 5, "{told}");
}

// covers: DEC-30
#[test]
fn a_credential_in_escapes_is_replaced_in_arguments_that_are_shown_as_they_come() {
    let mut b = Bench::new(Config {
        include_partial_messages: true,
        ..guarded(KEY)
    });
    b.prompt(1, "go");
    let arguments = r#"{"a":"\u0073k\u002Dkey-1234567\u0038 \u00e9\n","b":"sk-key-12345678"}"#;
    b.delta(Delta::CallStart {
        index: 0,
        id: "t1".to_string(),
        name: "Look".to_string(),
    });
    for piece in arguments.chars() {
        b.delta(Delta::CallArguments {
            index: 0,
            text: piece.to_string(),
        });
    }
    b.finish(StopReason::ToolUse);
    let pieces = b.records().into_iter().filter_map(|record| {
        let piece = record["event"]["delta"]["partial_json"].as_str();
        piece.map(str::to_string)
    });
    assert_eq!(
        pieces.collect::<String>(),
        r#"{"a":"[redacted] \u00e9\n","b":"[redacted]"}"#
    );
    let (_, request) = b.tool("t1");
    assert_eq!(
        request.call.input.as_str(),
        r#"{"a":"[redacted] \u00e9\n","b":"[redacted]"}"#
    );
}

// covers: DEC-30
#[test]
fn a_text_that_breaks_off_inside_a_credential_tells_no_part_of_it() {
    for (begun, shown) in [("ok sk-key-1234567", "ok [redacted]"), ("ok sk-", "ok sk-")] {
        let mut b = Bench::new(guarded(KEY));
        b.prompt(1, "go");
        b.delta(Delta::Text(begun.to_string()));
        b.control("c1", "interrupt");
        let records = b.records();
        let text = records
            .iter()
            .find_map(|record| record["message"]["content"][0]["text"].as_str());
        assert_eq!(text, Some(shown));
    }
}

// covers: DEC-30
#[test]
fn an_error_tells_no_route_that_a_server_names() {
    let mut b = Bench::new(Config {
        metadata: Guard::new(["https://east.example/v1"]).expect("one literal"),
        ..config()
    });
    b.prompt(1, "go");
    b.fails(ModelFailure {
        category: ErrorCategory::InvalidRequest,
        status: Some(404),
        message: "nothing at https://east.example/v1".to_string(),
    });
    b.line(r#"{"type":"https://east.example/v1"}"#);
    let told = format!("{:?}", b.outputs);
    assert!(!told.contains("east.example"), "{told}");
    assert!(told.contains("nothing at [redacted]"), "{told}");
    assert_eq!(b.diagnostics().len(), 1);
}

// covers: DEC-30
#[test]
fn blocks_that_spell_a_credential_only_together_do_not_kill_the_session() {
    let mut b = Bench::new(guarded(KEY));
    b.prompt(1, "go");
    b.delta(Delta::Text("sk-key-".to_string()));
    b.delta(Delta::Thinking("hm".to_string()));
    b.says("12345678");
    let records = b.records();
    assert_eq!(records.last().map(brief), Some("state idle".to_string()));
    assert_eq!(records[4]["result"], "[redacted]");
}

// covers: DEC-30, WIRE-024, WIRE-013
#[test]
fn public_metadata_with_a_credential_ends_the_session_before_a_byte() {
    let mut b = Bench::with_init(Config {
        metadata: Guard::new(["test-model"]).expect("one literal"),
        ..config()
    });
    assert!(b.bytes.is_empty());
    latched(&mut b, LEAK);

    // The catalogue has its own words; init is safe here.
    let mut b = Bench::new(Config {
        metadata: Guard::new(["main (test-model)"]).expect("one literal"),
        ..config()
    });
    b.prompt(1, "go");
    b.records();
    b.control("c1", "initialize");
    assert_eq!(
        b.records(),
        [] as [serde_json::Value; 0],
        "no shortened catalogue either"
    );
    latched(&mut b, LEAK);
}

// covers: DEC-30, DEC-11, DEC-50
#[test]
fn an_echo_with_a_credential_is_not_written_and_ends_the_session() {
    let mut b = Bench::new(Config {
        replay_user_messages: true,
        ..guarded(KEY)
    });
    b.prompt(1, &format!("use {KEY}"));
    assert_eq!(b.briefs(), ["state running"]);
    latched(&mut b, LEAK);
}

// covers: ACC-18, WIRE-015, WIRE-003
#[test]
fn the_validator_gets_a_copy_and_its_verdict_decides() {
    let mut b = Bench::with_init(vetted());
    let mut plain = Bench::with_init(config());
    let (_, init) = b.vetting().expect("init waits for its verdict");
    assert_eq!(init.as_bytes(), plain.bytes);
    assert!(b.bytes.is_empty());
    b.prompt(1, "go");
    assert_eq!(
        b.open
            .iter()
            .filter(|(_, r)| matches!(r, Request::Vet(_)))
            .count(),
        1,
        "one at a time"
    );
    b.vet_all();
    b.says("hi");
    b.vet_all();
    plain.prompt(1, "go");
    plain.says("hi");
    assert_eq!(
        b.bytes, plain.bytes,
        "byte for byte what leaves without a validator"
    );
    b.eof();
    assert_eq!(b.exit, Some(0));
}

// covers: ACC-18, WIRE-015, DEC-20
#[test]
fn a_refusal_latches_and_no_later_record_is_asked_about() {
    let mut b = Bench::with_init(vetted());
    b.vet_all();
    b.prompt(1, "go");
    b.calls(&[("t1", "Look", "{}"), ("t2", "Do", "{}")]);
    b.records();
    let (id, _) = b.vetting().expect("a record waits");
    let vets = |b: &Bench| {
        b.outputs
            .iter()
            .filter(|o| matches!(o, Output::Start(_, Request::Vet(_))))
            .count()
    };
    let asked = vets(&b);
    b.done(id, Answer::Vetted(Verdict::Failed));
    assert_eq!(b.records(), [] as [serde_json::Value; 0]);
    assert_eq!(vets(&b), asked);
    latched(&mut b, REFUSED);
}

// covers: ACC-19, WIRE-015, WIRE-006
#[test]
fn a_question_that_may_not_leave_strands_nobody() {
    let mut b = Bench::with_init(vetted());
    b.vet_all();
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", "{}"), ("t2", "Do", "{}")]);
    let asks = |b: &Bench| {
        b.vetting()
            .is_some_and(|(_, record)| record.contains("\"control_request\""))
    };
    while !asks(&b) {
        let (id, _) = b.vetting().expect("a record waits");
        b.done(id, Answer::Vetted(Verdict::Passed));
    }
    assert_eq!(
        b.session.pending_requests(),
        2,
        "both are registered before they can leave"
    );
    b.records();
    let (id, _) = b.vetting().expect("the question");
    b.done(id, Answer::Vetted(Verdict::Failed));
    assert_eq!(b.records(), [] as [serde_json::Value; 0]);
    latched(&mut b, REFUSED);
}

// covers: ACC-19, WIRE-015, WIRE-007, WIRE-PERM-070
#[test]
fn a_cancellation_that_may_not_leave_strands_nobody() {
    let mut b = Bench::with_init(vetted());
    b.vet_all();
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", "{}"), ("t2", "Do", "{}")]);
    b.vet_all();
    b.records();
    assert_eq!(b.session.pending_requests(), 2);
    b.control("i1", "interrupt");
    assert_eq!(
        b.session.pending_requests(),
        0,
        "rejected at once, before the first cancellation has left"
    );
    let (id, record) = b.vetting().expect("the first cancellation");
    assert!(record.contains("\"control_cancel_request\""), "{record}");
    b.done(id, Answer::Vetted(Verdict::Failed));
    assert_eq!(
        b.records(),
        [] as [serde_json::Value; 0],
        "neither the other cancellation nor the acknowledgement"
    );
    let started = b
        .outputs
        .iter()
        .filter(|o| matches!(o, Output::Start(_, Request::Tool(_))));
    assert_eq!(started.count(), 0);
    latched(&mut b, REFUSED);
}

// covers: ACC-19, WIRE-015, WIRE-PERM-060
#[test]
fn a_decision_that_was_taken_before_the_failure_stands() {
    let mut b = Bench::with_init(vetted());
    b.vet_all();
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", "{}"), ("t2", "Do", "{}")]);
    while !b
        .vetting()
        .is_some_and(|(_, record)| record.contains("\"control_request\""))
    {
        let (id, _) = b.vetting().expect("a record waits");
        b.done(id, Answer::Vetted(Verdict::Passed));
    }
    let (vet, record) = b.vetting().expect("the question");
    let record: serde_json::Value = serde_json::from_str(&record).expect("JSON");
    let id = record["request_id"].as_str().expect("an id").to_string();
    b.allow(&id);
    assert!(b.find_tool("t1").is_some(), "the answer wins at once");
    assert_eq!(b.session.pending_requests(), 1);
    b.done(vet, Answer::Vetted(Verdict::Failed));
    let started = b
        .outputs
        .iter()
        .filter(|o| matches!(o, Output::Start(_, Request::Tool(_))));
    assert_eq!(started.count(), 1);
    latched(&mut b, REFUSED);
}

// covers: ACC-19, WIRE-006, WIRE-007
#[test]
fn the_correlator_is_whole_again_after_a_failed_emission() {
    let mut waiters = Correlator::new(10, OrphanPolicy::Ignore);
    waiters.register("req_1".to_string(), Some("t1".into()), 1);
    waiters.register("req_2".to_string(), Some("t2".into()), 2);
    assert_eq!(
        waiters.resolve("req_1").map(|pending| pending.waiter),
        Some(1)
    );
    let left: Vec<_> = waiters
        .abort_all()
        .into_iter()
        .map(|pending| pending.waiter)
        .collect();
    assert_eq!(left, [2], "the one that was answered keeps its answer");
    assert!(waiters.is_empty());
    assert_eq!(waiters.unmatched("req_1", None), Unmatched::Late);
    assert_eq!(waiters.unmatched("req_2", Some("t2")), Unmatched::Late);
    waiters.register("req_3".to_string(), None, 3);
    assert_eq!(
        waiters.resolve("req_3").map(|pending| pending.waiter),
        Some(3)
    );
}

// covers: ACC-19, DEC-11, WIRE-015, DEC-20
#[test]
fn a_failed_write_cancels_everything() {
    let mut b = Bench::new(config());
    b.prompt(1, "go");
    b.prompt(2, "more");
    b.calls(&[("t1", "Look", "{}"), ("t2", "Do", "{}")]);
    b.records();
    b.feed(Input::WriteFailed);
    assert_eq!(b.records(), [] as [serde_json::Value; 0]);
    let stopped = b.outputs.iter().filter(|o| matches!(o, Output::Cancel(_)));
    assert_eq!(stopped.count(), 1, "the running tool is stopped");
    latched(&mut b, BROKEN);

    let mut b = Bench::new(config());
    b.prompt(1, "go");
    b.feed(Input::WriteFailed);
    latched(&mut b, BROKEN);
}

// covers: DEC-11, DEC-20
#[test]
fn a_closed_output_means_status_1_however_the_session_was_ending() {
    let mut b = Bench::with_init(vetted());
    b.vet_all();
    b.prompt(1, "go");
    b.shutdown(143);
    assert_eq!(b.exit, None, "records wait for their verdict");
    b.feed(Input::WriteFailed);
    latched(&mut b, BROKEN);

    let mut b = Bench::with_init(vetted());
    b.vet_all();
    b.prompt(1, "go");
    b.line("{");
    let (id, _) = b.vetting().expect("the records of the ending");
    b.done(id, Answer::Vetted(Verdict::Failed));
    assert_eq!(b.exit, Some(1));
}

// covers: DEC-11, DEC-20
#[test]
fn a_process_whose_last_records_are_lost_has_failed() {
    for told in [0, 1, 2, 143] {
        assert_eq!(exit_status(Some(told), false, false), told);
        assert_eq!(exit_status(Some(told), false, true), 1);
        assert_eq!(exit_status(Some(told), true, true), 1);
        let lost = if told == 0 { 1 } else { told };
        assert_eq!(exit_status(Some(told), true, false), lost);
    }
    let none = exit_status(None, false, false);
    assert_eq!(none, 1, "a session without an exit");
}

// covers: DEC-36
#[test]
fn unsent_output_pauses_progress_first_and_stdin_last() {
    let limits = Limits {
        progress_pause_bytes: 1_000,
        input_pause_bytes: 3_000,
        ..Limits::DEFAULT
    };
    for vets in [false, true] {
        let mut b = Bench::with_init(Config {
            limits,
            vet_records: vets,
            ..config()
        });
        b.prompt(1, "go");
        b.delta(Delta::Text("x".to_string()));
        let wants = |b: &Bench| (b.session.wants().bytes, b.session.wants().progress);
        let mut seen = vec![wants(&b)];
        for n in 0..40 {
            b.control(&format!("c{n}"), "nonsense");
            if seen.last() != Some(&wants(&b)) {
                seen.push(wants(&b));
            }
        }
        assert_eq!(
            seen,
            [(true, true), (true, false), (false, false)],
            "validator: {vets}"
        );
        // Interrupts are taken as long as stdin is read at all.
        b.control("i1", "interrupt");
        if vets {
            b.vet_all();
        }
        b.feed(Input::Sent(b.bytes.len()));
        assert_eq!(wants(&b), (true, true));
    }
}
