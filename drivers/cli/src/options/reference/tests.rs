use super::*;
use crate::options::{
    Driver, Invocation, Launch, Plan, Source as PromptSource, Terminals, Wanted, Which, read,
};
use agentx_core::schema::Money;
use agentx_core::schema::permission::PermissionMode;
use std::ffi::OsString;

const PIPES: Terminals = Terminals {
    stdin: false,
    stdout: false,
};

const ID: &str = "5b0d3c9e-1f8a-4c55-8a8e-7f6d1c2b3a49";

fn invoke(arguments: &[&str]) -> Result<Invocation, Refusal> {
    let arguments = ["claude"].iter().chain(arguments).map(OsString::from);
    let arguments: Vec<OsString> = arguments.collect();
    read(&arguments, Launch::find(&arguments, None))
}

/// What a host starts, with these options among those that all of them give.
fn plan(options: &[&str]) -> Plan {
    let begin = ["--output-format", "stream-json", "--verbose"];
    let arguments = [&begin, options, &["--input-format", "stream-json"]].concat();
    match invoke(&arguments) {
        Ok(Invocation::Run(run)) => run.plan(PIPES).unwrap(),
        other => panic!("{options:?}: {other:?}"),
    }
}

fn asked(options: &[&str]) -> Reference {
    plan(options).reference.unwrap()
}

#[track_caller]
fn refused(arguments: &[&str]) -> String {
    let plan = match invoke(arguments) {
        Ok(Invocation::Run(run)) => run.plan(PIPES),
        Ok(other) => panic!("{arguments:?}: {other:?}"),
        Err(refusal) => Err(refusal),
    };
    let refusal = plan.expect_err(&format!("{arguments:?} was taken"));
    assert_eq!(refusal.status(), 2);
    refusal.to_string()
}

/// Every option of hosts that has a value, one that it takes, and what says that
/// the value has come to where it belongs.
type Row = (&'static str, &'static str, fn(&Plan) -> bool);

fn host(plan: &Plan) -> &Reference {
    plan.reference.as_ref().unwrap()
}

fn warns(plan: &Plan, option: &str) -> bool {
    let begin = format!("warning: {option}: ");
    host(plan).notes.iter().any(|note| note.starts_with(&begin))
}

const VALUED: &[Row] = &[
    ("--system-prompt", "- be brief", |plan| {
        host(plan).system.base == Base::Text("- be brief".into())
    }),
    ("--system-prompt", "", |plan| {
        host(plan).system.base == Base::Text(String::new())
    }),
    ("--system-prompt-file", "-p.txt", |plan| {
        host(plan).system.base == Base::File("-p.txt".into())
    }),
    ("--append-system-prompt", "--list", |plan| {
        host(plan).system.append.as_deref() == Some("--list")
    }),
    ("--append-system-prompt", "", |plan| {
        host(plan).system.append.is_none()
    }),
    ("--tools", "Read,Bash", |plan| {
        plan.tools.offers("Bash") && !plan.tools.offers("Edit")
    }),
    ("--tools", "default", |plan| plan.tools.offers("Edit")),
    ("--tools", "", |plan| !plan.tools.offers("Read")),
    ("--tools", "WebFetch,Read", |plan| {
        plan.tools.offers("Read") && warns(plan, "--tools")
    }),
    (
        "--allowedTools",
        "Bash(ls:*, x),mcp__a__b Skill(pdf)",
        |plan| host(plan).allow == ["Bash(ls:*, x)", "mcp__a__b", "Skill(pdf)"],
    ),
    ("--allowedTools", "", |plan| host(plan).allow.is_empty()),
    ("--allowed-tools", "Read", |plan| {
        host(plan).allow == ["Read"]
    }),
    ("--disallowedTools", "Write,Edit", |plan| {
        host(plan).deny == ["Write", "Edit"]
    }),
    ("--disallowed-tools", "Write", |plan| {
        host(plan).deny == ["Write"]
    }),
    ("--model", "m", |plan| {
        host(plan).models == [("--model", "m".into())]
    }),
    ("--fallback-model", "m", |plan| {
        host(plan).models == [("--fallback-model", "m".into())]
    }),
    ("--betas", "context-1m", |plan| warns(plan, "--betas")),
    ("--betas", "", |plan| host(plan).notes.is_empty()),
    ("--effort", "high", |plan| {
        plan.effort.as_deref() == Some("high")
    }),
    ("--max-turns", "3", |plan| plan.max_turns == Some(3)),
    ("--max-budget-usd", "1e-05", |plan| {
        plan.max_budget == Some(Money(10_000_000))
    }),
    ("--task-budget", "9000", |plan| warns(plan, "--task-budget")),
    ("--max-thinking-tokens", "1024", |plan| {
        warns(plan, "--max-thinking-tokens") && !host(plan).thinking_disabled
    }),
    ("--max-thinking-tokens", "0", |plan| {
        host(plan).thinking_disabled
    }),
    ("--thinking", "adaptive", |plan| {
        !host(plan).thinking_disabled
    }),
    ("--thinking", "enabled", |plan| {
        !host(plan).thinking_disabled
    }),
    ("--thinking", "disabled", |plan| {
        host(plan).thinking_disabled
    }),
    ("--thinking-display", "omitted", |plan| {
        warns(plan, "--thinking-display")
    }),
    ("--permission-mode", "acceptEdits", |plan| {
        plan.permission_mode == Some(PermissionMode::AcceptEdits) && host(plan).notes.is_empty()
    }),
    ("--permission-mode", "default", |plan| {
        plan.permission_mode == Some(PermissionMode::Default) && host(plan).notes.is_empty()
    }),
    ("--permission-mode", "auto", |plan| {
        plan.permission_mode == Some(PermissionMode::Default)
            && warns(plan, "--permission-mode auto")
    }),
    ("--permission-prompt-tool", "stdio", |plan| {
        host(plan).ask_host
    }),
    ("--permission-prompts", "none", |plan| !host(plan).ask_host),
    ("--resume", "-x", |plan| {
        plan.session == Wanted::Resumed(Which::Id("-x".into()))
    }),
    ("--session-id", ID, |plan| {
        plan.session
            == Wanted::New {
                id: Some(ID.into()),
            }
    }),
    ("--settings", "{}", |plan| {
        plan.settings == Some(TextOrFile::Text("{}".into()))
    }),
    ("--settings", "s.json", |plan| {
        plan.settings == Some(TextOrFile::File("s.json".into()))
    }),
    ("--setting-sources", "user, local", |plan| {
        host(plan).sources == [Source::User, Source::Local]
    }),
    ("--setting-sources", "", |plan| {
        host(plan).sources.is_empty()
    }),
    ("--add-dir", "/data", |plan| {
        plan.add_dirs == [PathBuf::from("/data")]
    }),
    ("--mcp-config", "{\"mcpServers\":{}}", |plan| {
        host(plan).mcp_configs == [TextOrFile::Text("{\"mcpServers\":{}}".into())]
    }),
    ("--mcp-config", "mcp.json", |plan| {
        host(plan).mcp_configs == [TextOrFile::File("mcp.json".into())]
    }),
    ("--plugin-dir", "/plugin", |plan| {
        warns(plan, "--plugin-dir")
    }),
    ("--json-schema", "{}", |plan| {
        plan.json_schema == Some(TextOrFile::Text("{}".into()))
    }),
    ("--agent", "reviewer", |plan| warns(plan, "--agent")),
    ("--debug", "api,hooks", |_| true),
    ("--debug-file", "log", |_| true),
    ("--provider", "east", |plan| {
        plan.provider.as_deref() == Some("east")
    }),
    ("--profile", "reference", |_| true),
    ("--cwd", "/", |plan| plan.cwd == Some("/".into())),
    ("--driver", "mio", |plan| plan.driver == Driver::Mio),
];

/// Every option of hosts that has no value.
type Flag = (&'static str, fn(&Plan) -> bool);

const FLAGS: &[Flag] = &[
    ("--allow-dangerously-skip-permissions", |plan| {
        host(plan).allow_bypass
    }),
    ("--continue", |plan| {
        plan.session == Wanted::Resumed(Which::Newest)
    }),
    ("--strict-mcp-config", |plan| host(plan).notes.is_empty()),
    ("--include-partial-messages", |plan| {
        plan.include_partial_messages
    }),
    ("--include-hook-events", |plan| host(plan).hook_events),
    ("--no-session-persistence", |plan| {
        plan.session == Wanted::Unstored { id: None }
    }),
    ("--debug", |_| true),
    ("--debug-to-stderr", |_| true),
    ("--await-initialize", |plan| host(plan).await_initialize),
    ("--replay-user-messages", |plan| plan.replay_user_messages),
    ("--trust-workspace", |plan| plan.trust_workspace),
    ("--print", |_| true),
];

// covers: DEC-31, DEC-43
#[test]
fn every_value_is_taken_in_both_spellings() {
    for (option, value, arrived) in VALUED {
        let joined = format!("{option}={value}");
        for words in [&[*option, *value][..], &[&joined]] {
            let plan = plan(words);
            assert!(arrived(&plan), "{words:?}: {plan:?}");
            assert_eq!(plan.source, PromptSource::Records { argument: None });
        }
    }
    for (option, arrived) in FLAGS {
        let plan = plan(&[option]);
        assert!(arrived(&plan), "{option}: {plan:?}");
    }
}

#[test]
fn every_option_of_this_profile_stands_in_the_table() {
    let grammar = command(<crate::options::Options as clap::CommandFactory>::command());
    grammar.debug_assert();
    let tabled: Vec<&str> = VALUED
        .iter()
        .map(|row| row.0)
        .chain(FLAGS.iter().map(|row| row.0))
        .collect();
    let own = ReferenceOptions::augment_args(Command::new(""));
    for option in own.get_arguments() {
        let name = format!("--{}", option.get_long().unwrap());
        assert!(tabled.contains(&&*name), "{name}");
    }
}

#[test]
fn without_any_option_little_is_asked_for() {
    let reference = asked(&[]);
    assert_eq!(reference.system, SystemPrompt::default());
    assert_eq!(reference.sources, Source::ALL);
    assert!(reference.ask_host && reference.notes.is_empty());
    assert!(!reference.allow_bypass && !reference.hook_events && !reference.await_initialize);
}

#[test]
fn lists_add_up_and_of_the_rest_the_last_one_counts() {
    let plan = plan(&[
        "--model=a",
        "--allowedTools=Read,Bash",
        "--add-dir",
        "/a",
        "--permission-mode=auto",
        "--model",
        "b",
        "--verbose",
        "--allowed-tools",
        "Edit",
        "--add-dir=/b",
        "--mcp-config",
        "a.json",
        "--mcp-config=b.json",
        "--permission-mode=plan",
        "--fork-session",
        "--fork-session",
        "--resume=x",
    ]);
    let reference = host(&plan);
    assert_eq!(reference.models, [("--model", "b".to_owned())]);
    assert_eq!(reference.allow, ["Read", "Bash", "Edit"]);
    assert_eq!(reference.mcp_configs.len(), 2);
    assert_eq!(plan.add_dirs.len(), 2);
    assert_eq!(plan.permission_mode, Some(PermissionMode::Plan));
    assert_eq!(reference.notes, Vec::<String>::new());
    let origin = Which::Id("x".into());
    assert_eq!(plan.session, Wanted::Forked { origin, id: None });
}

#[test]
fn values_may_look_like_options() {
    let plan = plan(&["--append-system-prompt", "--model", "--model", "--model=-x"]);
    assert_eq!(host(&plan).system.append.as_deref(), Some("--model"));
    assert_eq!(host(&plan).models, [("--model", "--model=-x".to_owned())]);
}

#[test]
fn logs_are_asked_for_with_and_without_a_word() {
    let debugging = |options: &[&str]| match invoke(options) {
        Ok(Invocation::Run(run)) => run.debugging(),
        other => panic!("{other:?}"),
    };
    assert_eq!(debugging(&[]), Debugging::default());
    for options in [
        &["--debug"][..],
        &["--debug", "--verbose"],
        &["--debug=api"],
        &["--debug-to-stderr"],
    ] {
        let on = Debugging {
            on: true,
            file: None,
        };
        assert_eq!(debugging(options), on, "{options:?}");
    }
    let file = Some("x".into());
    assert_eq!(debugging(&["--debug-file=x"]), Debugging { on: true, file });
}

// covers: DEC-31
#[test]
fn what_cannot_be_had_is_refused_by_name() {
    for (name, why) in REFUSED {
        let joined = format!("{name}=x");
        for words in [&[name][..], &[&*joined], &["--verbose", name, "x"]] {
            assert_eq!(refused(words), format!("{name} is not available: {why}"));
        }
    }
    for (words, told) in [
        (
            &["--no-such-flag"][..],
            "unknown option \"--no-such-flag\": expected one of --print, ",
        ),
        (
            &["--no-such-flag=-x"],
            "unknown option \"--no-such-flag\": expected one of --print, ",
        ),
        (&["--model"], "a value is required for '--model <NAME>'"),
        (&["--permission-prompt-tool", "mcp__a__b"], "expected stdio"),
        (&["--permission-prompts=ask"], "expected none"),
        (&["--permission-mode=yolo"], "bypassPermissions, auto"),
        (
            &["--thinking", "much"],
            "expected adaptive, enabled or disabled",
        ),
        (
            &["--max-thinking-tokens=-1"],
            "expected a whole number from 0",
        ),
        (
            &["--setting-sources=user,policy"],
            "expected some of user, project, local",
        ),
        (&["--max-budget-usd=nan"], "expected an amount of USD"),
        (&["--max-turns=0"], "expected a whole number from 1"),
        (
            &["--mcp-config="],
            "expected a file, or JSON that starts with {",
        ),
        (&["--session-id=x"], "expected a UUID"),
        (&["--resume=a", "--continue"], "name two sessions"),
        (
            &["--system-prompt=a", "--system-prompt-file=b"],
            "cannot be used with",
        ),
        (&["--attachment=x"], "--attachment is not available yet"),
    ] {
        let text = refused(words);
        assert!(text.contains(told), "{words:?}: {text}");
    }
}

#[test]
fn under_that_name_the_version_begins_with_one_that_hosts_know() {
    for word in ["-v", "--version"] {
        let Ok(Invocation::Say(text)) = invoke(&[word]) else {
            panic!("no version")
        };
        assert_eq!(
            text,
            format!("2.1.0 (agentx {})\n", env!("CARGO_PKG_VERSION"))
        );
    }
    let Ok(Invocation::Say(help)) = invoke(&["--help"]) else {
        panic!("no help")
    };
    for (option, ..) in VALUED.iter().filter(|row| !row.0.contains("wed-")) {
        assert!(help.contains(option), "{option} is missing in {help}");
    }
    assert!(help.contains("or auto (as default)"), "{help}");
    assert!(help.starts_with("A coding agent behind a pipe\n"), "{help}");
}

#[test]
fn commands_and_prompts_stay() {
    assert!(matches!(invoke(&["demo"]), Ok(Invocation::Demo(..))));
    assert!(matches!(
        invoke(&["sessions", "list"]),
        Ok(Invocation::Sessions(_))
    ));
    assert!(matches!(
        invoke(&["--list-providers"]),
        Ok(Invocation::List(_))
    ));
    let Ok(Invocation::Run(run)) = invoke(&["-p", "--model", "default", "hello"]) else {
        panic!("no run")
    };
    let one_shot = PromptSource::OneShot {
        argument: Some("hello".into()),
        stdin: true,
    };
    assert_eq!(run.plan(PIPES).unwrap().source, one_shot);
}
