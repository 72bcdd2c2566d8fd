use super::control::upload;
use super::{raw, s, text};
use crate::model::{self, ErrorCategory};
use crate::schema::declare::{Json, Shape};
use crate::schema::inbound::{self, ResponseBody};
use crate::schema::outbound::*;
use crate::schema::{Fraction, Money};
use alloc::string::ToString;
use alloc::vec;

// covers: WIRE-023, DEC-46
#[test]
fn a_default_effort_is_one_of_the_efforts() {
    let efforts = || vec![s("low"), s("high")];
    let some = ReasoningCapabilities::new(efforts(), s("low")).unwrap();
    assert!(some.supported());
    assert_eq!(some.efforts(), efforts());
    assert_eq!(some.default_effort(), Some(&s("low")));
    for list in [efforts(), vec![]] {
        assert_eq!(
            ReasoningCapabilities::new(list, s("max")),
            Err(UndeclaredDefault)
        );
    }
    let none = ReasoningCapabilities::none();
    assert!(!none.supported() && none.efforts().is_empty());
    assert_eq!(none.default_effort(), None);
}

// covers: DEC-12
#[test]
fn a_state_knows_itself() {
    assert_eq!(StateChanged::RUNNING.state(), SessionState::Running);
    assert_eq!(StateChanged::IDLE.state(), SessionState::Idle);
}

// covers: DEC-09
#[test]
fn each_reason_has_its_status() {
    for reason in UploadReason::ALL {
        let status = match reason.as_str() {
            "caller_abort" | "eof" | "cancelled" | "process_failure" => "aborted",
            "timeout" => "expired",
            _ => "failed",
        };
        let line = text(&AttachmentImportResult::ended(upload(), *reason).into());
        assert!(line.contains(&alloc::format!(r#""status":"{status}","terminal":true"#)));
        assert!(line.ends_with(&alloc::format!(r#""reason":"{}"}}"#, reason.as_str())));
    }
}

// covers: DEC-42, DEC-51
#[test]
fn model_stops_have_their_words() {
    use model::StopReason;
    let cases = [
        (StopReason::EndTurn, Some("end_turn"), "end_turn"),
        (StopReason::ToolUse, Some("tool_use"), "end_turn"),
        (StopReason::MaxTokens, Some("max_tokens"), "max_tokens"),
        (
            StopReason::StopSequence,
            Some("stop_sequence"),
            "stop_sequence",
        ),
        (StopReason::Refusal, Some("refusal"), "refusal"),
        (StopReason::ContentFilter, None, "provider_error"),
    ];
    for (stop, message, result) in cases {
        assert_eq!(MessageStop::of(stop).map(MessageStop::as_str), message);
        assert_eq!(ResultStop::of(stop).as_str(), result);
    }
    for word in ResultStop::ALL {
        assert_eq!(ResultStop::from_word(word.as_str()), Some(*word));
    }
    assert_eq!(ResultStop::from_word("completed"), None);
}

// covers: DEC-40, WIRE-012
#[test]
fn money_is_a_decimal_without_exponent() {
    for (amount, expected) in [
        (0, "0"),
        (1, "0.000000000001"),
        (1_500_000, "0.0000015"),
        (1_000_000_000_000, "1"),
        (12_300_000_000_000, "12.3"),
        (1_000_000_000_001, "1.000000000001"),
    ] {
        assert_eq!(Money(amount).to_string(), expected);
    }
    assert_eq!(
        Money(u128::MAX).to_string(),
        "340282366920938463463374607.431768211455"
    );
    assert_eq!(Money(3).plus(Money(4)), Money(7));
    assert_eq!(Money(u128::MAX).plus(Money(1)), Money(u128::MAX));
}

#[test]
fn fractions_stay_between_nothing_and_all() {
    assert_eq!(Fraction::of(1, 0), Fraction(0));
    assert_eq!(Fraction::of(1, 4).to_string(), "0.25");
    assert_eq!(Fraction::of(9, 4), Fraction::ONE);
    assert_eq!(Fraction::of(u64::MAX, u64::MAX).to_string(), "1");
    assert_eq!(Fraction::of(1, 3).to_string(), "0.333333");
}

// covers: DEC-50
#[test]
fn an_echoed_answer_keeps_known_members_only() {
    let answer = |body| inbound::ControlResponse {
        id: "r1".into(),
        uuid: Some("x".into()),
        body,
    };
    let success = answer(ResponseBody::Success {
        payload: Some(raw(r#"{ "behavior": "allow" }"#)),
        tool_use_id: None,
    });
    assert_eq!(
        text(&ControlResponse::echo(&success).unwrap().into()),
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"behavior":"allow"}}}"#
    );
    let error = answer(ResponseBody::Error {
        message: "no".into(),
        pending_permission_requests: Some(vec![]),
    });
    assert_eq!(
        text(&ControlResponse::echo(&error).unwrap().into()),
        r#"{"type":"control_response","response":{"subtype":"error","request_id":"r1","error":"no","pending_permission_requests":[]}}"#
    );
    let invalid = answer(ResponseBody::Invalid { reason: "x".into() });
    assert_eq!(ControlResponse::echo(&invalid), None);
}

// covers: DEC-41
#[test]
fn error_categories_are_the_closed_seven() {
    let Shape::Words(words) = ErrorCategory::SHAPE else {
        panic!("no words");
    };
    assert_eq!(
        words,
        [
            "authentication_failed",
            "billing_error",
            "rate_limit",
            "invalid_request",
            "server_error",
            "unknown",
            "max_output_tokens"
        ]
    );
}

/// What no constructor makes is not read either.
#[test]
fn records_that_break_their_rules_are_not_read() {
    use crate::json::{ScanLimits, Scanner};
    let state = r#"{"type":"system","subtype":"session_state_changed","state":"#;
    let action = r#""requires_action":{"request_id":"r","tool_name":"t","tool_use_id":"u","description":"","input":{}}"#;
    let import = r#"{"type":"attachment_import_result","version":1,"upload_id":"u","attachment_id":"a","prompt_uuid":"p","#;
    for broken in [
        alloc::format!(r#"{state}"requires_action"}}"#),
        alloc::format!(r#"{state}"running",{action}}}"#),
        alloc::format!(r#"{import}"status":"accepted","terminal":true}}"#),
        alloc::format!(r#"{import}"status":"committed","terminal":true}}"#),
        alloc::format!(r#"{import}"status":"failed","terminal":true}}"#),
    ] {
        let mut scanner = Scanner::new();
        let value = scanner
            .scan(broken.as_bytes(), &ScanLimits::DEFAULT)
            .unwrap();
        assert_eq!(Outbound::read(value.as_object().unwrap()), None, "{broken}");
    }
    for (broken, sound) in [
        (r#"{"supported":true,"efforts":[]}"#, false),
        (r#"{"supported":false,"efforts":["low"]}"#, false),
        (
            r#"{"supported":true,"efforts":["low"],"defaultEffort":"high"}"#,
            false,
        ),
        (
            r#"{"supported":true,"efforts":["low"],"defaultEffort":"low"}"#,
            true,
        ),
    ] {
        use crate::schema::declare::FromJson as _;
        let mut scanner = Scanner::new();
        let value = scanner
            .scan(broken.as_bytes(), &ScanLimits::DEFAULT)
            .unwrap();
        assert_eq!(
            ReasoningCapabilities::read(value).is_some(),
            sound,
            "{broken}"
        );
    }
}
