use super::*;

fn declared() -> ToolDeclaration {
    ToolDeclaration {
        name: "lookup".to_owned(),
        description: "Looks up.".to_owned(),
        input_schema: RawJson::parse(r#"{"type":"object"}"#).unwrap(),
        command: vec!["/bin/lookup".to_owned(), "-v".to_owned()],
        timeout: Duration::from_secs(60),
        background: false,
        parallel: false,
        permission: Behavior::Ask,
    }
}

fn fault(change: impl FnOnce(&mut ToolDeclaration)) -> String {
    let mut declared = declared();
    change(&mut declared);
    CommandTool::new(declared).unwrap_err().to_string()
}

// covers: DEC-26
#[test]
fn a_tool_runs_commands_one_at_a_time_unless_it_says_otherwise() {
    let mut declared = declared();
    let spec = CommandTool::new(declared.clone()).unwrap().spec();
    assert_eq!((&*spec.name, &*spec.description), ("lookup", "Looks up."));
    assert_eq!(spec.input_schema, declared.input_schema);
    assert_eq!(spec.class, ToolClass::Execute);
    assert_eq!((spec.path_member, spec.parallel), (None, false));
    declared.parallel = true;
    declared.permission = Behavior::Deny;
    let tool = CommandTool::new(declared).unwrap();
    assert!(tool.spec().parallel);
    assert_eq!(tool.permission(), Behavior::Deny);
}

#[test]
fn names_of_others_and_outside_the_grammar_are_refused() {
    let grammar = "name: expected 1 to 64 of A-Za-z0-9_-";
    for name in ["", "a b", "a.b", "\u{e9}", "a\n", &"x".repeat(65)] {
        assert_eq!(fault(|d| d.name = name.to_owned()), grammar, "{name}");
    }
    for spec in builtin_specs() {
        let expected = format!("name: {} is a built-in tool", spec.name);
        assert_eq!(fault(|d| d.name = spec.name.to_string()), expected);
    }
    assert_eq!(
        fault(|d| d.name = "StructuredOutput".to_owned()),
        "name: StructuredOutput is the tool that takes structured output"
    );
    assert_eq!(
        fault(|d| d.name = "SandboxNetworkAccess".to_owned()),
        "name: SandboxNetworkAccess is the name of questions about the network"
    );
    let mcp = fault(|d| d.name = "mcp__files__read".to_owned());
    assert_eq!(
        mcp,
        "name: mcp__files__read begins with mcp__, as only tools of MCP servers do"
    );
    for name in ["x", "Look-up_2", "read", &"x".repeat(64)] {
        let mut declared = declared();
        declared.name = name.to_owned();
        assert_eq!(CommandTool::new(declared).unwrap().name(), name);
    }
}

#[test]
fn a_command_needs_a_program_that_the_working_directory_cannot_replace() {
    let command = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let fault = |words: &[&str]| fault(|d| d.command = command(words));
    assert_eq!(fault(&[]), "command: expected a program");
    assert_eq!(fault(&["", "x"]), "command: expected a program");
    for program in ["./tool", "bin/tool", "../tool", "~/tool", ".", ".."] {
        let text = fault(&[program]);
        assert!(
            text.starts_with("command: expected a program that is an absolute path"),
            "{text}"
        );
    }
    assert_eq!(
        fault(&["/bin/a", "b\0"]),
        "command: expected words without NUL"
    );
    assert_eq!(fault(&["a"; 257]), "command: expected at most 256 words");
    let long = "x".repeat(65_537);
    assert_eq!(
        fault(&["a", &long]),
        "command: expected words of at most 65536 bytes"
    );
    for words in [
        &["python3", "./tool.py"][..],
        &["/bin/a b", ""],
        &["a"; 256],
    ] {
        let mut declared = declared();
        declared.command = command(words);
        assert_eq!(CommandTool::new(declared).unwrap().program(), words[0]);
    }
}

#[test]
fn times_schemas_and_texts_have_bounds() {
    for millis in [0, 3_600_001] {
        let text = fault(|d| d.timeout = Duration::from_millis(millis));
        assert_eq!(text, "timeout_ms: expected 1 to 3600000");
    }
    for schema in [
        "{}",
        "true",
        r#"{"type":"string"}"#,
        r#"{"type":["object"]}"#,
    ] {
        let text = fault(|d| d.input_schema = RawJson::parse(schema).unwrap());
        assert_eq!(text, "input_schema: expected a schema with type \"object\"");
    }
    let large = format!(r#"{{"type":"object","x":"{}"}}"#, "x".repeat(65_536));
    let text = fault(|d| d.input_schema = RawJson::parse(&large).unwrap());
    assert_eq!(text, "input_schema: expected at most 65536 bytes");
    let text = fault(|d| d.description = "x".repeat(16_385));
    assert_eq!(text, "description: expected at most 16384 bytes");
}

// covers: WIRE-004
#[test]
fn all_calls_of_a_background_tool_are_tasks() {
    let background = |flag| {
        let mut declared = declared();
        declared.background = flag;
        CommandTool::new(declared).unwrap().spec().background
    };
    assert_eq!(background(true), Background::Always);
    assert_eq!(background(false), Background::Never);
}

#[test]
fn a_name_stands_for_one_tool() {
    let tool = |name: &str| {
        let mut declared = declared();
        declared.name = name.to_owned();
        CommandTool::new(declared).unwrap()
    };
    let tools = CommandTools::new([tool("b"), tool("a")]).unwrap();
    assert_eq!(tools.names().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(tools.specs().len(), 2);
    let twice = CommandTools::new([tool("a"), tool("b"), tool("a")]).unwrap_err();
    assert_eq!(twice.to_string(), "name: a is the name of two tools");
    let many = CommandTools::new((0..129).map(|n| tool(&format!("t{n}")))).unwrap_err();
    assert_eq!(many.to_string(), "tools: expected at most 128 tools");
}

#[test]
fn printing_shows_no_argument() {
    let mut declared = declared();
    declared.command.push("--token=hidden".to_owned());
    let printed = format!(
        "{declared:?} {:?}",
        CommandTool::new(declared.clone()).unwrap()
    );
    assert!(
        printed.contains("lookup") && !printed.contains("hidden"),
        "{printed}"
    );
}
