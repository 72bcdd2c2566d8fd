use super::*;
use crate::schema::host::{Decision, EnvironmentUpdate, Interrupt, OtherCall, Prompt, SetModel};
use crate::schema::inbound::{Priority, UserContent};
use crate::schema::permission::{
    Behavior, Classification, Destination, DirectoriesAction, DirectoriesUpdate, ModeUpdate,
    PermissionMode, PermissionRule, PermissionUpdate, RulesAction, RulesUpdate,
};
use alloc::vec;
use alloc::vec::Vec;

fn raw(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

fn updates() -> Vec<PermissionUpdate> {
    let rule = |content: Option<&str>| PermissionRule {
        tool_name: "Bash".into(),
        rule_content: content.map(String::from),
    };
    vec![
        PermissionUpdate::Rules(RulesUpdate {
            action: RulesAction::Replace,
            rules: vec![rule(None), rule(Some("ls:*"))],
            behavior: Behavior::Ask,
            destination: Destination::UserSettings,
        }),
        PermissionUpdate::Mode(ModeUpdate {
            mode: PermissionMode::AcceptEdits,
            destination: Destination::Session,
        }),
        PermissionUpdate::Directories(DirectoriesUpdate {
            action: DirectoriesAction::Remove,
            directories: vec!["/a".into()],
            destination: Destination::CliArg,
        }),
    ]
}

fn commands() -> Vec<Command> {
    let blocks = UserContent::Blocks(vec!["a\n\u{2028}".into(), "\"".into()]);
    let prompt = Prompt {
        is_synthetic: true,
        timestamp: Some("now".into()),
        origin: Some(raw(r#"{"kind":"x"}"#)),
        parent_tool_use_id: Some("t".into()),
        ..Prompt::of(blocks)
            .with_uuid("u")
            .with_priority(Priority::Later)
    };
    let call = |timeout, call| Command::Call {
        id: CallId(u64::MAX),
        call: Box::new(call),
        timeout,
    };
    let variables = [("A".into(), "1 2".into()), ("B".into(), String::new())];
    let other = OtherCall::new("sing", raw(r#"{"a b":[1.50]}"#)).unwrap();
    vec![
        Command::Prompt(Box::new(Prompt::text("hello there"))),
        Command::Prompt(Box::new(prompt)),
        call(None, Interrupt.into()),
        call(
            Some(Duration::from_micros(7)),
            crate::schema::host::Call::Other(other),
        ),
        call(Some(Duration::ZERO), SetModel { model: None }.into()),
        Command::Forget(CallId(3)),
        Command::Environment(EnvironmentUpdate {
            variables: variables.into(),
        }),
        Command::KeepAlive,
        Command::Close,
        Command::Abandon,
    ]
}

fn answers() -> Vec<Answer> {
    let allow = Decision::allow_with(raw(r#"{"a":1.0e2}"#)).unwrap();
    vec![
        Answer::Permit(Decision::allow()),
        Answer::Permit(
            allow
                .and_update(updates())
                .filed(Classification::UserPermanent),
        ),
        Answer::Permit(Decision::deny("")),
        Answer::Permit(
            Decision::deny("no way")
                .and_interrupt()
                .filed(Classification::UserReject)
                .about("t".into()),
        ),
        Answer::Hook(raw(r#"{"continue":false}"#)),
        Answer::Elicit(McpReply::Accept(None)),
        Answer::Elicit(McpReply::Accept(Some(raw(r#"{"n":3}"#)))),
        Answer::Elicit(McpReply::Decline),
        Answer::Elicit(McpReply::Cancel),
        Answer::Mcp(None),
        Answer::Mcp(Some(raw("[null]"))),
        Answer::Failed("two\nlines \"of\" it".into()),
    ]
}

#[test]
fn every_input_reads_back() {
    let commands = commands().into_iter().map(Input::Command);
    let answers = answers().into_iter();
    let answers = answers.map(|answer| Input::Done(EffectId(12), answer));
    let others = [Input::Sent(usize::MAX), Input::WriteFailed];
    for input in commands.chain(answers).chain(others) {
        let line = write(&input).unwrap();
        assert!(!line.contains('\n'), "{line}");
        assert_eq!(read(&line), Ok(input), "{line}");
    }
    for fed in [Input::Bytes(b"x"), Input::Eof, Input::Tick] {
        assert_eq!(write(&fed), None);
    }
}

#[test]
fn a_line_that_is_none_is_refused() {
    for line in [
        "",
        "sing",
        "sent",
        "sent -1",
        "command",
        "command sing",
        "command forget x",
        "command prompt {}",
        "command call 1 - {}",
        "command call 1 soon {\"subtype\":\"interrupt\"}",
        "done 1",
        "done x failed \"\"",
        "done 1 permit {\"behavior\":\"maybe\"}",
        "done 1 permit {\"behavior\":\"allow\",\"updatedInput\":[]}",
        "done 1 failed why",
        "done 1 hook null",
    ] {
        assert!(read(line).is_err(), "{line}");
    }
}
