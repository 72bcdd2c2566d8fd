use super::{SESSION, read, read_sized};
use crate::json::RawJson;
use crate::limits::Limits;
use crate::schema::inbound::{Inbound, Priority, UserContent, UserRecord, UserRejected};
use alloc::string::{String, ToString};
use alloc::{format, vec};

const UUID: &str = "3f1e7948-5c1f-4c1f-8e2c-88bc9839ec27";

fn user(line: &str) -> UserRecord {
    match read(line) {
        Ok(Inbound::User(user)) => user,
        other => panic!("{line}: {other:?}"),
    }
}

fn rejected(line: &str) -> UserRejected {
    match read(line) {
        Ok(Inbound::UserRejected(rejected)) => rejected,
        other => panic!("{line}: {other:?}"),
    }
}

pub(super) fn reason(line: &str) -> String {
    rejected(line).reason
}

/// A record with this member beside a plain message.
fn with(member: &str) -> String {
    format!(r#"{{"type":"user","message":"hi",{member}}}"#)
}

/// A record with these members in its message.
pub(super) fn message(members: &str) -> String {
    format!(r#"{{"type":"user","message":{{{members}}}}}"#)
}

/// A versioned record with these blocks.
pub(super) fn blocks(blocks: &str) -> String {
    message(&format!(r#""content_version":1,"content":[{blocks}]"#))
}

// covers: WIRE-017
#[test]
fn three_plain_forms_of_a_message() {
    let hi = UserContent::Text("hi".into());
    assert_eq!(user(r#"{"type":"user","message":"hi"}"#).content, hi);
    assert_eq!(user(&message(r#""content":"hi""#)).content, hi);
    assert_eq!(
        user(&message(r#""role":"user","content":"hi""#)).content,
        hi
    );
    let line = message(
        r#""content":[{"type":"text","text":"a"},{"text":"b","type":"input_text"}],"role":"user""#,
    );
    let content = user(&line).content;
    assert_eq!(content, UserContent::Blocks(vec!["a".into(), "b".into()]));
    assert_eq!(content.text(), "a\nb");
    assert_eq!(content.parts(), ["a", "b"]);
    assert_eq!(hi.parts(), ["hi"]);
}

// covers: WIRE-017
#[test]
fn version_1_takes_text_alone() {
    let line = blocks(r#"{"type":"text","text":"a"}"#);
    assert_eq!(user(&line).content, UserContent::Blocks(vec!["a".into()]));
}

#[test]
fn everything_a_record_may_carry() {
    let line = format!(
        concat!(
            r#"{{"type":"user","uuid":"{}","session_id":"{}","parent_tool_use_id":"toolu_1","#,
            r#""isSynthetic":true,"isReplay":true,"tool_use_result":{{ "n": 1.0 }},"#,
            r#""timestamp":"2025-01-01T00:00:00Z","priority":"later","message":"\u0068\ni"}}"#
        ),
        UUID, SESSION
    );
    let expected = UserRecord {
        uuid: Some(UUID.into()),
        content: UserContent::Text("h\ni".into()),
        parent_tool_use_id: Some("toolu_1".into()),
        is_synthetic: true,
        is_replay: true,
        tool_use_result: Some(RawJson::parse(r#"{"n":1.0}"#).unwrap()),
        priority: Priority::Later,
        priority_given: true,
        timestamp: Some("2025-01-01T00:00:00Z".into()),
        origin: None,
        weight: line.len() + 256,
    };
    assert_eq!(user(&line), expected);
}

#[test]
fn everything_optional_may_be_absent() {
    let line = r#"{"type":"user","message":"hi"}"#;
    let expected = UserRecord {
        uuid: None,
        content: UserContent::Text("hi".into()),
        parent_tool_use_id: None,
        is_synthetic: false,
        is_replay: false,
        tool_use_result: None,
        priority: Priority::Next,
        priority_given: false,
        timestamp: None,
        origin: None,
        weight: line.len() + 256,
    };
    assert_eq!(user(line), expected);
    assert_eq!(
        user(&with(r#""parent_tool_use_id":null"#)).parent_tool_use_id,
        None
    );
}

// covers: DEC-15, DEC-44
#[test]
fn priorities_are_three_words() {
    for (word, priority) in [
        ("now", Priority::Now),
        ("next", Priority::Next),
        ("later", Priority::Later),
    ] {
        let user = user(&with(&format!(r#""priority":"{word}""#)));
        assert_eq!((user.priority, user.priority_given), (priority, true));
    }
    for wrong in [r#""Now""#, r#""""#, "null", "1"] {
        assert_eq!(
            reason(&with(&format!(r#""priority":{wrong}"#))),
            "user record: priority must be now, next or later"
        );
    }
}

// covers: DEC-24
#[test]
fn a_session_id_names_this_session_or_none() {
    for own in ["null", r#""""#, r#""default""#, &format!(r#""{SESSION}""#)] {
        user(&with(&format!(r#""session_id":{own}"#)));
    }
    assert_eq!(
        reason(&with(r#""session_id":"another""#)),
        "user record: session_id names another session"
    );
    assert_eq!(
        reason(&with(r#""session_id":5"#)),
        "user record: session_id must be a string"
    );
}

// covers: DEC-25
#[test]
fn a_uuid_is_kept_byte_for_byte() {
    for uuid in [
        UUID.to_string(),
        UUID.to_uppercase(),
        "3f1e7948-5c1f-1c1f-be2c-88bc9839ec27".into(),
        "0199a7a0-5c1f-7c1f-8e2c-88bc9839ec27".into(),
    ] {
        let user = user(&with(&format!(r#""uuid":"{uuid}""#)));
        assert_eq!(user.uuid, Some(uuid));
    }
}

// covers: DEC-25
#[test]
fn anything_else_is_no_uuid() {
    for wrong in [
        "null",
        "7",
        r#""""#,
        r#""prompt-1""#,
        r#""00000000-0000-0000-0000-000000000000""#,
        r#""3f1e7948-5c1f-4c1f-0e2c-88bc9839ec27""#,
        r#""3f1e79485c1f4c1f8e2c88bc9839ec27""#,
        r#""{3f1e7948-5c1f-4c1f-8e2c-88bc9839ec}""#,
        r#""3f1e7948-5c1f-4c1f-8e2c-88bc9839ec27 ""#,
        r#""3f1e7948-5c1f-4c1f-8e2c-88bc9839ecé""#,
    ] {
        let rejected = rejected(&with(&format!(r#""uuid":{wrong}"#)));
        assert_eq!(rejected.uuid, None, "{wrong}");
        assert_eq!(rejected.reason, "user record: uuid is not an RFC 4122 UUID");
    }
}

// covers: DEC-44
#[test]
fn a_replay_needs_uuid_and_session_id() {
    let needs = "user record: isReplay needs uuid and session_id";
    let uuid = format!(r#""uuid":"{UUID}""#);
    let session = format!(r#""session_id":"{SESSION}""#);
    let replay = r#""isReplay":true"#;
    assert_eq!(reason(&with(replay)), needs);
    assert_eq!(reason(&with(&format!("{replay},{uuid}"))), needs);
    assert_eq!(reason(&with(&format!("{session},{replay}"))), needs);
    let null = r#""session_id":null"#;
    assert_eq!(reason(&with(&format!("{replay},{uuid},{null}"))), needs);
    assert!(user(&with(&format!("{replay},{uuid},{session}"))).is_replay);
    assert!(!user(&with(r#""isReplay":false"#)).is_replay);
}

// covers: WIRE-021
#[test]
fn a_refusal_keeps_a_readable_uuid() {
    let line = format!(r#"{{"type":"user","message":"hi","bad":1,"uuid":"{UUID}"}}"#);
    assert_eq!(
        rejected(&line),
        UserRejected {
            uuid: Some(UUID.into()),
            origin: None,
            reason: r#"user record: unknown member "bad""#.into(),
        }
    );
}

// covers: WIRE-021
#[test]
fn unknown_members_are_refused_at_every_level() {
    let cases = [
        (
            with(r#""origin":{}"#),
            r#"user record: unknown member "origin""#,
        ),
        (
            with(r#""Is\u0052eplay":true"#),
            r#"user record: unknown member "IsReplay""#,
        ),
        (
            message(r#""content":"hi","id":"m""#),
            r#"user message: unknown member "id""#,
        ),
        (
            message(r#""content":[{"type":"text","text":"a","cache_control":{}}]"#),
            r#"content block: unknown member "cache_control""#,
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(reason(&line), expected);
    }
    let long = "x".repeat(500);
    let shown = "x".repeat(128);
    assert_eq!(
        reason(&with(&format!(r#""{long}":1"#))),
        format!(r#"user record: unknown member "{shown}""#)
    );
}

// covers: WIRE-017, WIRE-021
#[test]
fn every_other_refusal_has_its_text() {
    let cases = [
        (
            r#"{"type":"user"}"#.to_string(),
            "user record: missing message",
        ),
        (
            r#"{"type":"user","message":null}"#.into(),
            "user record: message must be a string or an object",
        ),
        (message(r#""role":"user""#), "user record: missing content"),
        (
            message(r#""role":"assistant","content":"hi""#),
            "user record: role must be user",
        ),
        (
            message(r#""role":null,"content":"hi""#),
            "user record: role must be user",
        ),
        (
            message(r#""content":null"#),
            "user record: content must be a string or an array of blocks",
        ),
        (
            message(r#""content":[]"#),
            "user record: content has no blocks",
        ),
        (
            message(r#""content":["hi"]"#),
            "content block: must be an object",
        ),
        (message(r#""content":[{}]"#), "content block: missing type"),
        (
            message(r#""content":[{"type":"text"}]"#),
            "content block: missing text",
        ),
        (
            message(r#""content":[{"type":"text","text":null}]"#),
            "user record: text must be a string",
        ),
        (
            message(r#""content":[{"type":"image","source":{}}]"#),
            r#"content block: unsupported type "image""#,
        ),
        (
            message(r#""content_version":2,"content":[{"type":"text","text":"a"}]"#),
            "user record: content_version must be 1",
        ),
        (
            message(r#""content_version":null,"content":"a""#),
            "user record: content_version must be 1",
        ),
        (
            message(r#""content_version":1,"content":"a""#),
            "user record: content_version needs an array of blocks",
        ),
        (
            with(r#""parent_tool_use_id":3"#),
            "user record: parent_tool_use_id must be a string",
        ),
        (
            with(r#""isSynthetic":null"#),
            "user record: isSynthetic must be true or false",
        ),
        (
            with(r#""isReplay":"true""#),
            "user record: isReplay must be true or false",
        ),
        (
            with(r#""timestamp":null"#),
            "user record: timestamp must be a string",
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(reason(&line), expected, "{line}");
    }
}

// covers: DEC-04
#[test]
fn an_unpaired_surrogate_anywhere_refuses_the_record() {
    for line in [
        r#"{"type":"user","message":"\ud800"}"#.to_string(),
        message(r#""content":[{"type":"text","text":"a\udc00b"}]"#),
        with(r#""tool_use_result":{"\ud83d":1}"#),
    ] {
        assert_eq!(reason(&line), "user record: unpaired surrogate escape");
    }
    let pair = message(r#""content":"\ud83d\ude00""#);
    assert_eq!(user(&pair).content.text(), "\u{1f600}");
}

// covers: DEC-45
#[test]
fn the_heaviest_record_that_can_be_admitted() {
    let line = r#"{"type":"user","message":"hi"}"#;
    let limit = 16 * 1024 * 1024;
    let sized = |bytes| read_sized(line, bytes, Limits::DEFAULT);
    match sized(limit - 256) {
        Ok(Inbound::User(user)) => assert_eq!(user.weight, limit),
        other => panic!("{other:?}"),
    }
    match sized(limit - 255) {
        Ok(Inbound::UserRejected(rejected)) => assert_eq!(
            rejected.reason,
            "user record: weighs 16777217 bytes, at most 16777216 can be admitted"
        ),
        other => panic!("{other:?}"),
    }
}
