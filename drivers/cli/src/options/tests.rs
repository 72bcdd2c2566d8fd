use super::*;

const PIPES: Terminals = Terminals {
    stdin: false,
    stdout: false,
};
const SCREEN: Terminals = Terminals {
    stdin: true,
    stdout: true,
};

fn invoke(arguments: &[&str]) -> Result<Invocation, Refusal> {
    let arguments = ["agentx"].iter().chain(arguments).map(OsString::from);
    let arguments: Vec<OsString> = arguments.collect();
    read(&arguments, Launch::find(&arguments, None))
}

fn plan(arguments: &[&str], terminals: Terminals) -> Result<Plan, Refusal> {
    match invoke(arguments)? {
        Invocation::Run(options) => options.plan(terminals),
        other => panic!("{other:?} is no run"),
    }
}

fn refused(arguments: &[&str]) -> String {
    match invoke(arguments) {
        Err(refusal) => refusal.to_string(),
        Ok(invocation) => panic!("{arguments:?} was taken: {invocation:?}"),
    }
}

#[test]
fn the_definition_holds() {
    Options::command().debug_assert();
}

#[test]
fn every_option_reaches_the_plan() {
    let arguments = [
        "-p",
        "--output-format",
        "stream-json",
        "--provider=east",
        "--effort",
        "low",
        "--cwd",
        "sub",
        "--add-dir",
        "/data",
        "--add-dir=more",
        "--permission-mode",
        "acceptEdits",
        "--settings",
        "my.json",
        "--json-schema",
        "schema.json",
        "--trust-workspace",
        "--tools",
        "Read, Bash",
        "--profile",
        "standalone",
        "--driver=async-std",
        "--max-turns",
        "7",
        "--max-budget-usd",
        "0.5",
        "--replay-user-messages",
        "--include-partial-messages",
        "--verbose",
        "say hi",
    ];
    let expected = Plan {
        session: Wanted::New { id: None },
        source: Source::OneShot {
            argument: Some("say hi".into()),
            stdin: true,
        },
        output: OutputFormat::StreamJson,
        provider: Some("east".into()),
        effort: Some("low".into()),
        cwd: Some("sub".into()),
        add_dirs: vec!["/data".into(), "more".into()],
        permission_mode: Some(PermissionMode::AcceptEdits),
        settings: Some(TextOrFile::File("my.json".into())),
        json_schema: Some(TextOrFile::File("schema.json".into())),
        trust_workspace: true,
        tools: ToolChoice::Only(vec!["Read".into(), "Bash".into()]),
        max_turns: Some(7),
        max_budget: Some(Money(500_000_000_000)),
        replay_user_messages: true,
        include_partial_messages: true,
        driver: Driver::AsyncStd,
        reference: None,
    };
    assert_eq!(plan(&arguments, PIPES), Ok(expected));
}

#[test]
fn headless_runs_are_implied() {
    let one_shot = |stdin| Source::OneShot {
        argument: Some("x".into()),
        stdin,
    };
    let source = |arguments: &[&str], terminals| plan(arguments, terminals).map(|plan| plan.source);
    assert_eq!(source(&["-p", "x"], SCREEN), Ok(one_shot(false)));
    assert_eq!(
        source(&["--output-format", "stream-json", "x"], SCREEN),
        Ok(one_shot(false))
    );
    for (stdin, stdout) in [(false, true), (true, false)] {
        let terminals = Terminals { stdin, stdout };
        assert_eq!(source(&["x"], terminals), Ok(one_shot(!stdin)));
    }
    let both = [
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
    ];
    let records = Source::Records { argument: None };
    assert_eq!(source(&both, SCREEN), Ok(records));
    let interactive = |argument: Option<&str>| Source::Interactive {
        argument: argument.map(str::to_owned),
    };
    assert_eq!(source(&["x"], SCREEN), Ok(interactive(Some("x"))));
    assert_eq!(source(&[], SCREEN), Ok(interactive(None)));
    let fault = source(&both[..2], PIPES).unwrap_err().to_string();
    assert_eq!(
        fault,
        "--input-format stream-json needs --output-format stream-json"
    );
}

#[test]
fn commands_are_told_from_prompts() {
    assert!(matches!(
        invoke(&["demo"]),
        Ok(Invocation::Demo(OutputFormat::Text, Driver::Tokio))
    ));
    assert!(matches!(
        invoke(&["demo", "--output-format", "stream-json"]),
        Ok(Invocation::Demo(OutputFormat::StreamJson, Driver::Tokio))
    ));
    assert!(matches!(
        invoke(&["demo", "--driver", "mio"]),
        Ok(Invocation::Demo(OutputFormat::Text, Driver::Mio))
    ));
    for words in [["-p", "demo"], ["--print", "schema"], ["--", "sessions"]] {
        let plan = plan(&words, PIPES).unwrap();
        let argument = Some(words[1].to_owned());
        assert_eq!(
            plan.source,
            Source::OneShot {
                argument,
                stdin: true
            }
        );
    }
    assert!(matches!(invoke(&["schema"]), Ok(Invocation::Schema(None))));
    assert!(matches!(
        invoke(&["schema", "agent.result"]),
        Ok(Invocation::Schema(Some(record))) if record == "agent.result"
    ));
    assert!(
        refused(&["schema", "a", "b"])
            .contains("unexpected argument \"b\": `agentx schema` takes no")
    );
    assert!(matches!(
        invoke(&["sessions", "show", "x", "--output-format", "json"]),
        Ok(Invocation::Sessions(Question::Show { id, output_format: Some(Telling::Json) })) if id == "x"
    ));
    assert!(matches!(
        invoke(&["sessions", "list"]),
        Ok(Invocation::Sessions(Question::List {
            output_format: None
        }))
    ));
    for (words, told) in [
        (&["sessions"][..], "sessions: expected list or show"),
        (
            &["sessions", "forget"],
            "unexpected argument \"forget\": expected list or show",
        ),
        (
            &["sessions", "list", "x"],
            "unexpected argument \"x\": `agentx sessions list` takes no prompt",
        ),
        (
            &["sessions", "show"],
            "the following required arguments were not provided: <ID>",
        ),
        (
            &["sessions", "list", "--cwd", "x"],
            "unknown option \"--cwd\": expected one of --output-format, --help",
        ),
        (
            &["sessions", "--cwd", "x"],
            "unknown option \"--cwd\": expected list or show",
        ),
    ] {
        assert_eq!(refused(words), told);
    }
    assert_eq!(
        refused(&["demo", "--cwd", "x"]),
        "unknown option \"--cwd\": expected one of --output-format, --driver, --help"
    );
}

#[test]
fn what_is_not_there_yet_is_refused_by_name() {
    for name in NOT_YET {
        for arguments in [vec![name], vec![name, "x"], vec!["-p", name, "x"]] {
            assert_eq!(refused(&arguments), format!("{name} is not available yet"));
        }
        let joined = format!("{name}=x");
        assert_eq!(refused(&[&joined]), format!("{name} is not available yet"));
    }
}

#[test]
fn what_nobody_knows_is_refused_with_what_was_expected() {
    let text = refused(&["--colour"]);
    assert!(
        text.starts_with("unknown option \"--colour\": expected one of --print, "),
        "{text}"
    );
    assert!(text.contains("--max-budget-usd"), "{text}");
    assert!(text.ends_with(", --version, --help"), "{text}");
    assert_eq!(
        refused(&["demo", "x"]),
        "unexpected argument \"x\": `agentx demo` takes no prompt"
    );
    assert!(refused(&["-x"]).starts_with("unknown option \"-x\""));
    let text = refused(&["two", "prompts"]);
    assert_eq!(
        text,
        "unexpected argument \"prompts\": one prompt is expected, quoted as a whole"
    );
    for (arguments, expected) in [
        (["--input-format", "json"], "expected text or stream-json"),
        (
            ["--output-format", "xml"],
            "expected text, json or stream-json",
        ),
        (
            ["--settings", ""],
            "expected a file, or JSON that starts with {",
        ),
        (
            ["--tools", "Read,Reed"],
            "there is no built-in tool \"Reed\"; expected some of Read,Glob,Grep,CurrentTime,Write,Edit,Bash, or --no-tools",
        ),
        (["--tools", ""], "a name is missing; expected some of Read,"),
        (["--tools", "Read,,Bash"], "a name is missing; expected"),
        (["--profile", "x"], "expected standalone or reference"),
        (["--driver", "x"], "expected tokio, async-std or mio"),
        (
            ["--allowedTools", "Read"],
            "--allowedTools is an option of another profile: expected --profile reference with it",
        ),
        (
            ["--disallowed-tools=Read", "x"],
            "an option of another profile",
        ),
        (
            ["--permission-mode", "auto"],
            "expected one of default, acceptEdits, plan, dontAsk, bypassPermissions",
        ),
        (
            ["--max-turns", "0"],
            "expected a whole number from 1 to 4294967295",
        ),
        (["--max-turns", "-1"], "expected a whole number"),
        (["--max-turns", "4294967296"], "expected a whole number"),
        (["--max-budget-usd", "1e3"], "expected an amount of USD"),
    ] {
        let text = refused(&arguments);
        assert!(text.contains(expected), "{arguments:?}: {text}");
    }
}

#[test]
fn nothing_may_be_said_twice() {
    for (option, value) in [
        ("--print", None),
        ("--input-format", Some("text")),
        ("--output-format", Some("text")),
        ("--provider", Some("a")),
        ("--effort", Some("low")),
        ("--cwd", Some("/")),
        ("--permission-mode", Some("plan")),
        ("--settings", Some("{}")),
        ("--json-schema", Some("{}")),
        ("--trust-workspace", None),
        ("--tools", Some("Read")),
        ("--no-tools", None),
        ("--profile", Some("standalone")),
        ("--max-turns", Some("1")),
        ("--max-budget-usd", Some("1")),
        ("--replay-user-messages", None),
        ("--include-partial-messages", None),
        ("--verbose", None),
    ] {
        let once: Vec<&str> = [option].into_iter().chain(value).collect();
        let text = refused(&[once.clone(), once].concat());
        assert!(
            text.contains("cannot be used multiple times"),
            "{option}: {text}"
        );
    }
}

#[test]
fn tools_are_chosen_or_switched_off() {
    let chosen = |arguments: &[&str]| plan(arguments, PIPES).map(|plan| plan.tools);
    assert_eq!(chosen(&["x"]), Ok(ToolChoice::All));
    assert_eq!(chosen(&["--no-tools", "x"]), Ok(ToolChoice::Only(vec![])));
    assert!(ToolChoice::All.offers("Bash"));
    let text = refused(&["--tools", "Read", "--no-tools", "x"]);
    assert!(text.contains("cannot be used with"), "{text}");
}

#[test]
fn settings_are_a_file_or_json() {
    for (value, expected) in [
        ("a.json", TextOrFile::File("a.json".into())),
        (" {}", TextOrFile::Text(" {}".into())),
        ("{", TextOrFile::Text("{".into())),
        ("[]", TextOrFile::File("[]".into())),
    ] {
        let plan = plan(&["--settings", value, "x"], PIPES).unwrap();
        assert_eq!(plan.settings, Some(expected));
    }
}

#[test]
fn one_document_is_for_one_prompt() {
    let plan_of = |arguments: &[&str]| plan(arguments, SCREEN);
    let json = plan_of(&["--output-format", "json", "x"]).unwrap();
    assert_eq!(json.output, OutputFormat::Json);
    let fault = plan_of(&["--input-format", "stream-json", "--output-format", "json"]);
    assert_eq!(
        fault.unwrap_err().to_string(),
        "--input-format stream-json needs --output-format stream-json"
    );
    assert!(refused(&["demo", "--output-format", "json"]).contains("expected text or stream-json"));
}

#[test]
fn help_and_version_are_said() {
    for arguments in [["--version"], ["-v"]] {
        let Ok(Invocation::Say(text)) = invoke(&arguments) else {
            panic!("no version")
        };
        assert_eq!(text, format!("{} (agentx)\n", env!("CARGO_PKG_VERSION")));
    }
    let Ok(Invocation::Say(help)) = invoke(&["--help"]) else {
        panic!("no help")
    };
    for part in [
        "agentx demo",
        "--effort <E>",
        "agentx --list-providers",
        "Talk with the agent on this terminal",
        "agentx schema [RECORD]",
        "--max-budget-usd <USD>",
        "AGENTX_HOME",
        "128+N",
    ] {
        assert!(help.contains(part), "{part} is missing in {help}");
    }
    let Ok(Invocation::Say(help)) = invoke(&["schema", "--help"]) else {
        panic!("no help")
    };
    assert!(help.contains("\n  host.user\n"), "{help}");
    assert!(help.contains("\n  answer.can_use_tool\n"), "{help}");
}

#[test]
fn structured_output_is_not_for_a_terminal() {
    let asked = ["--json-schema", "{}", "x"];
    let refusal = plan(&asked, SCREEN).unwrap_err().to_string();
    assert!(refusal.ends_with("expected --print"), "{refusal}");
    for (arguments, terminals) in [
        (&[&["-p"], &asked[..]].concat()[..], SCREEN),
        (&asked, PIPES),
    ] {
        let plan = plan(arguments, terminals).unwrap();
        assert_eq!(plan.json_schema, Some(TextOrFile::Text("{}".into())));
    }
}
