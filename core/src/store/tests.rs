use super::*;
use crate::json::{RawJson, ScanLimits, Scanner};
use crate::model::{Block, Message, Usage};
use crate::schema::declare::{Json as _, fits};
use crate::schema::outbound::{RedactedThinkingBlock, ResultStop, TextBlock};
use crate::tool::ToolContent;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

fn text(text: &str) -> TextBlock {
    TextBlock { text: text.into() }
}

fn prompt(uuid: &str) -> Entry {
    Entry::Prompt(PromptEntry {
        time_ms: 1,
        uuid: uuid.into(),
        content: vec!["a\u{2028}\"b\\".to_string(), String::new()],
    })
}

fn call(id: &str) -> EntryBlock {
    EntryBlock::Call(CallEntry {
        id: id.into(),
        name: "Read".into(),
        input: RawJson::parse(r#"{"z": 1.50, "a":"\u00e9"}"#).unwrap(),
    })
}

fn answer(content: Vec<EntryBlock>) -> Entry {
    let usage = Some(Usage {
        input_tokens: 1,
        output_tokens: 2,
        cache_creation_input_tokens: 3,
        cache_read_input_tokens: 4,
        reasoning_output_tokens: 5,
    });
    Entry::Answer(AnswerEntry {
        time_ms: u64::MAX,
        content,
        usage,
    })
}

fn result(id: &str, said: &str) -> Entry {
    Entry::Result(ResultEntry {
        time_ms: 3,
        tool_use_id: id.into(),
        content: vec![text(said), text("")],
        is_error: true,
    })
}

fn turn(dropped: &[&str]) -> Entry {
    Entry::Turn(TurnEntry {
        time_ms: 4,
        prompt_uuid: "u".into(),
        stop_reason: ResultStop::Cancelled,
        is_error: true,
        num_turns: 7,
        usage: Usage::ZERO,
        dropped_calls: dropped.iter().map(|id| (*id).into()).collect(),
    })
}

fn thinking(signature: Option<&str>) -> EntryBlock {
    EntryBlock::Thinking(ThinkingEntry {
        thinking: "hm".into(),
        signature: signature.map(Into::into),
    })
}

fn all() -> Vec<Entry> {
    vec![
        prompt("u"),
        Entry::Context(ContextEntry {
            time_ms: 0,
            uuid: "c".into(),
            content: Vec::new(),
        }),
        answer(vec![
            thinking(Some("c2ln")),
            thinking(None),
            EntryBlock::RedactedThinking(RedactedThinkingBlock {
                data: "b3BhcXVl".into(),
            }),
            EntryBlock::Text(text("é")),
            call("t1"),
        ]),
        Entry::Answer(AnswerEntry {
            time_ms: 2,
            content: vec![EntryBlock::Text(text("cut"))],
            usage: None,
        }),
        result("t1", "said"),
        turn(&["t2", "t3"]),
    ]
}

// covers: DEC-32
#[test]
fn an_entry_reads_back_as_it_was_written_and_as_it_is_declared() {
    for entry in all() {
        let written = entry.to_json();
        assert_eq!(Entry::parse(&written), Ok(entry));
        let mut scanner = Scanner::new();
        let value = scanner.scan(&written, &ScanLimits::DEFAULT).unwrap();
        assert!(fits::fits(&Entry::SHAPE, value), "{}", value.raw());
    }
}

#[test]
fn what_is_no_entry_is_a_fault_that_quotes_nothing() {
    let whole = String::from_utf8(all().swap_remove(0).to_json()).unwrap();
    for (from, to, fault) in [
        ("\"prompt\"", "\"sang\"", "an entry is of an unknown type"),
        (
            "\"time_ms\":1",
            "\"time_ms\":-1",
            "an entry has a value that is no whole number",
        ),
        (
            "\"uuid\":\"u\"",
            "\"uuid\":null",
            "an entry has a value that is no text",
        ),
        (",\"uuid\":\"u\"", "", "an entry lacks one of its members"),
        (
            "\"content\":[",
            "\"content\":[1,",
            "an entry has a value that is no text",
        ),
        ("}", "", "an entry is no JSON"),
    ] {
        let broken = whole.replace(from, to);
        assert_ne!(broken, whole);
        assert_eq!(Entry::parse(broken.as_bytes()), Err(EntryFault(fault)));
    }
    assert_eq!(
        Entry::parse(b"[]"),
        Err(EntryFault("an entry has a value that is no object"))
    );
}

fn restored(entries: Vec<Entry>) -> Result<Restored, EntryFault> {
    let mut restorer = Restorer::new();
    for entry in entries {
        restorer.push(entry)?;
    }
    Ok(restorer.finish())
}

fn results(message: &Message) -> Vec<(&str, bool, &str)> {
    let Message::ToolResults(results) = message else {
        panic!("{message:?} holds no results");
    };
    let told = results.iter().map(|result| {
        let ToolContent::Text(text) = &result.content[0];
        (&*result.tool_use_id, result.is_error, text.as_str())
    });
    told.collect()
}

// covers: DEC-32, DEC-35, DEC-44
#[test]
fn entries_become_the_history_they_were_made_of() {
    let thought = thinking(Some("c2ln"));
    let entries = vec![
        prompt("u1"),
        answer(vec![thought, call("t1"), call("t2")]),
        result("t2", "second"),
        result("t1", "first"),
        answer(vec![EntryBlock::Text(text("done"))]),
        turn(&["t9"]),
    ];
    let restored = restored(entries).unwrap();
    assert_eq!(restored.entries, 6);
    assert_eq!(restored.prompts, ["u1".into()]);
    let ids: Vec<_> = restored.tool_use_ids.iter().map(|id| &**id).collect();
    assert_eq!(ids, ["t1", "t2", "t9"]);
    assert_eq!(restored.last_usage.map(|usage| usage.input_tokens), Some(1));
    let [asked, called, settled, done] = restored.history.as_slice() else {
        panic!("{:?}", restored.history);
    };
    assert!(matches!(&**asked, Message::User(parts) if parts.len() == 2));
    let Message::Assistant(blocks) = &**called else {
        panic!("{called:?}");
    };
    assert!(matches!(&blocks[0], Block::Thinking { signature: Some(s), .. } if s == "c2ln"));
    assert!(
        matches!(&blocks[1], Block::ToolCall(call) if call.input.as_str() == "{\"z\":1.50,\"a\":\"\\u00e9\"}")
    );
    assert_eq!(
        results(settled),
        [("t1", true, "first"), ("t2", true, "second")],
        "results stand in call order"
    );
    assert!(matches!(&**done, Message::Assistant(_)));
}

// covers: DEC-32
#[test]
fn a_call_without_a_result_is_unconfirmed_wherever_the_entries_end() {
    let entries = || {
        vec![
            prompt("u1"),
            answer(vec![call("t1"), call("t2")]),
            result("t2", "second"),
        ]
    };
    for next in [None, Some(prompt("u2")), Some(turn(&[]))] {
        let mut entries = entries();
        entries.extend(next);
        let restored = restored(entries).unwrap();
        assert_eq!(
            results(&restored.history[2]),
            [("t1", true, UNCONFIRMED), ("t2", true, "second")]
        );
    }
}

#[test]
fn entries_that_cannot_follow_one_another_are_a_fault() {
    for entries in [
        vec![result("t1", "alone")],
        vec![answer(vec![call("t1")]), result("t2", "of another")],
        vec![
            answer(vec![call("t1"), call("t2")]),
            result("t1", "a"),
            result("t1", "b"),
        ],
        vec![
            answer(vec![call("t1")]),
            result("t1", "a"),
            result("t1", "b"),
        ],
    ] {
        let stray = EntryFault("an entry has the result of no open call");
        assert_eq!(restored(entries), Err(stray));
    }
    let twice = vec![answer(vec![call("t1")]), answer(vec![call("t1")])];
    assert_eq!(
        restored(twice),
        Err(EntryFault("an entry repeats the id of a call"))
    );
}

// covers: WIRE-025
#[test]
fn a_binding_admits_itself_alone_and_says_what_is_wrong() {
    let bound = Binding {
        provider: "east".into(),
        kind: "azure_openai".into(),
        model: "sol".into(),
        route: "ab".into(),
    };
    assert_eq!(bound.admits(&bound), Ok(()));
    let other = Binding {
        provider: "west".into(),
        ..bound.clone()
    };
    let told = bound.admits(&other).unwrap_err().to_string();
    assert!(told.contains("--provider east"), "{told}");
    for moved in [
        Binding {
            kind: "openai".into(),
            ..bound.clone()
        },
        Binding {
            model: "luna".into(),
            ..bound.clone()
        },
        Binding {
            route: "cd".into(),
            ..bound.clone()
        },
    ] {
        let told = bound.admits(&moved).unwrap_err().to_string();
        assert!(told.contains("restore its type, endpoint"), "{told}");
    }
}

#[test]
fn a_title_is_the_beginning_of_the_prompt_on_one_line() {
    let title_of = |parts: &[&str]| {
        let parts: Vec<String> = parts.iter().map(|part| (*part).into()).collect();
        title(&parts)
    };
    assert_eq!(
        title_of(&["  fix\nthe\u{7}  build", "now"]),
        "fix the build now"
    );
    assert_eq!(title_of(&[]), "");
    let long = title_of(&["é".repeat(1_000).as_str()]);
    assert_eq!(long.chars().count(), TITLE_CHARS);
    assert!(long.ends_with('…'));
}
