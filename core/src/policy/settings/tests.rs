use super::*;
use crate::hook::HookEvent;
use alloc::string::ToString as _;

fn read(text: &str) -> Settings {
    Settings::read(text.as_bytes()).unwrap()
}

#[track_caller]
fn refused(text: &str, fault: &str) {
    let told = Settings::read(text.as_bytes()).map_err(|fault| fault.to_string());
    assert_eq!(told.unwrap_err(), fault, "{text}");
}

fn rule(name: &str, content: Option<&str>) -> PermissionRule {
    PermissionRule {
        tool_name: name.into(),
        rule_content: content.map(Into::into),
    }
}

#[test]
fn nothing_has_to_stand_in_a_file() {
    for text in ["{}", " { } ", r#"{"permissions":{}}"#, r#"{"tools":[]}"#] {
        let settings = read(text);
        assert_eq!(settings.permissions, Permissions::default());
        assert!(settings.tools.is_empty());
    }
}

#[test]
fn every_member_is_read() {
    let settings = read(
        r#"{"permissions": {"defaultMode": "acceptEdits", "allow": ["Bash(git status:*)", "Read"],
            "ask": ["Write"], "deny": ["Bash(rm:*)"], "additionalDirectories": ["/data", "../x"]},
            "tools": [{"name": "look-up_2", "description": "Looks up.", "input_schema": {"type": "object"},
            "command": ["/path/tool", "-x", ""], "timeout_ms": 1500, "background": true, "parallel": true,
            "permission": "allow"}]}"#,
    );
    let permissions = Permissions {
        default_mode: Some(PermissionMode::AcceptEdits),
        allow: [rule("Bash", Some("git status:*")), rule("Read", None)].into(),
        ask: [rule("Write", None)].into(),
        deny: [rule("Bash", Some("rm:*"))].into(),
        additional_directories: ["/data".to_string(), "../x".to_string()].into(),
    };
    assert_eq!(settings.permissions, permissions);
    let [tool] = settings.tools.as_slice() else {
        panic!("{settings:?}")
    };
    let tool = &tool.declared;
    assert_eq!(
        (&*tool.name, &*tool.description),
        ("look-up_2", "Looks up.")
    );
    assert_eq!(tool.input_schema.as_str(), r#"{"type":"object"}"#);
    assert_eq!(tool.command, ["/path/tool", "-x", ""]);
    assert_eq!(tool.timeout, Duration::from_millis(1500));
    assert!(tool.background && tool.parallel);
    assert_eq!(tool.permission, Behavior::Allow);
}

// covers: DEC-30
#[test]
fn what_is_shown_of_settings_holds_no_command() {
    let settings = read(
        r#"{"tools": [{"name": "t", "description": "", "input_schema": {"type": "object"}, "command": ["t", "--token=hush"]}],
            "hooks": {"Stop": [{"hooks": [{"type": "command", "command": ["h", "--token=hush"]}]}]}}"#,
    );
    let shown = format!("{settings:?}");
    assert!(
        shown.contains("\"t\"") && shown.contains("hooks.Stop[0].hooks[0]"),
        "{shown}"
    );
    assert!(!shown.contains("hush"), "{shown}");
}

#[test]
fn what_a_tool_does_not_say_has_a_default() {
    let settings = read(
        r#"{"tools": [{"name": "t", "description": "", "input_schema": {"type": "object"}, "command": ["t"]}]}"#,
    );
    let tool = &settings.tools[0].declared;
    assert_eq!(tool.timeout, Duration::from_secs(60));
    assert!(!tool.background && !tool.parallel);
    assert_eq!(tool.permission, Behavior::Ask);
}

#[test]
fn a_text_that_is_no_settings_is_refused() {
    refused("", "no JSON value at byte 1");
    refused("{", "unexpected end of JSON at byte 2");
    refused("[]", "an object is expected");
    refused(
        "\u{feff}{}",
        "byte order mark before the JSON value at byte 1",
    );
    refused(
        r#"{"tools":[],"tool\u0073":[]}"#,
        "ambiguous JSON: duplicate member name at byte 13",
    );
    refused(
        r#"{"tools":[],"tools":[]}"#,
        "ambiguous JSON: duplicate member name \"tools\" at byte 13",
    );
    refused(
        r#"{"permissions":{"allow":[],"allow":[]}}"#,
        "ambiguous JSON: duplicate member name \"allow\" at byte 28",
    );
    refused(
        r#"{"permissions":{"allow":["\ud800"]}}"#,
        "an unpaired surrogate escape",
    );
    let long = ["{}", &" ".repeat(limits::FILE_BYTES)].concat();
    refused(&long, "over 1048576 bytes");
    let longest = ["{}", &" ".repeat(limits::FILE_BYTES - 2)].concat();
    assert!(read(&longest).tools.is_empty());
}

#[test]
fn unknown_members_are_refused_wherever_they_stand() {
    refused(r#"{"permission":{}}"#, "unknown member \"permission\"");
    refused(
        r#"{"permissions":{"denied":[]}}"#,
        "permissions: unknown member \"denied\"",
    );
    refused(
        r#"{"permissions":{"sk-VERYSECRET":[]}}"#,
        "permissions: unknown member",
    );
    refused(
        r#"{"tools":[{"name":"a","timeout":1}]}"#,
        "tools[0]: unknown member \"timeout\"",
    );
    refused(r#"{"mcpServers":{}}"#, "mcpServers: not available yet");
}

#[test]
fn members_of_permissions_keep_their_types() {
    for (text, fault) in [
        (r"[]", "permissions: an object is expected"),
        (
            r#"{"allow":"Bash"}"#,
            "permissions.allow: an array is expected",
        ),
        (r#"{"ask":[1]}"#, "permissions.ask[0]: a string is expected"),
        (
            r#"{"deny":["Write",null]}"#,
            "permissions.deny[1]: a string is expected",
        ),
        (
            r#"{"defaultMode":"auto"}"#,
            "permissions.defaultMode: expected one of default, acceptEdits, plan, dontAsk, bypassPermissions",
        ),
        (
            r#"{"defaultMode":null}"#,
            "permissions.defaultMode: a string is expected",
        ),
        (
            r#"{"additionalDirectories":[""]}"#,
            "permissions.additionalDirectories[0]: an empty path",
        ),
        (
            r#"{"additionalDirectories":["/a","~/x"]}"#,
            "permissions.additionalDirectories[1]: `~` is no folder here; expected an absolute path or a relative one",
        ),
        (
            r#"{"additionalDirectories":["a\u0000"]}"#,
            "permissions.additionalDirectories[0]: a NUL character",
        ),
    ] {
        refused(&format!(r#"{{"permissions":{text}}}"#), fault);
    }
    let long = "x".repeat(limits::PATH_BYTES + 1);
    refused(
        &format!(r#"{{"permissions":{{"additionalDirectories":["{long}"]}}}}"#),
        "permissions.additionalDirectories[0]: a path that is too long",
    );
    let many = ["\"Read\""; limits::LIST_ENTRIES + 1].join(",");
    refused(
        &format!(r#"{{"permissions":{{"allow":[{many}]}}}}"#),
        "permissions.allow: at most 4096 entries are expected",
    );
}

#[test]
fn a_bad_rule_is_named_with_its_place() {
    for (text, fault) in [
        (
            r#"{"allow":["Read","Bash(ls"]}"#,
            "permissions.allow[1]: rule \"Bash(ls\": expected `)` at the end, and nothing after it",
        ),
        (
            r#"{"deny":["Bash(rm *)"]}"#,
            "permissions.deny[0]: rule \"Bash(rm *)\": `*` means itself in a command; write `prefix:*` for all commands that begin so",
        ),
        (
            r#"{"ask":["Read(~/.ssh/**)"]}"#,
            "permissions.ask[0]: rule \"Read(~/.ssh/**)\": `~` is no folder here; expected an absolute path or a relative one",
        ),
        (
            r#"{"ask":["a\u001bb"]}"#,
            "permissions.ask[0]: rule \"a\\u{1b}b\": expected Tool or Tool(...), the name 1 to 128 of A-Za-z0-9_.-",
        ),
    ] {
        refused(&format!(r#"{{"permissions":{text}}}"#), fault);
    }
    let long = ["Bash(", &"x".repeat(200)].concat();
    let shown: String = long.chars().take(80).collect();
    refused(
        &format!(r#"{{"permissions":{{"allow":["{long}"]}}}}"#),
        &format!(
            "permissions.allow[0]: rule \"{shown}\"…: expected `)` at the end, and nothing after it"
        ),
    );
}

#[test]
fn a_tool_that_is_half_declared_is_refused() {
    let whole =
        r#"{"name":"a","description":"d","input_schema":{"type":"object"},"command":["c"]}"#;
    let tool = |from: &str, to: &str| {
        let changed = whole.replace(from, to);
        assert_ne!(changed, whole);
        format!(r#"{{"tools":[{changed}]}}"#)
    };
    for (from, to, fault) in [
        (r#""name":"a","#, "", "name: missing"),
        (r#""a""#, "null", "name: a string is expected"),
        (r#""description":"d","#, "", "description: missing"),
        (r#""d""#, "7", "description: a string is expected"),
        (
            r#""input_schema":{"type":"object"},"#,
            "",
            "input_schema: missing",
        ),
        (
            r#"{"type":"object"}"#,
            "true",
            "input_schema: an object is expected",
        ),
        (r#","command":["c"]"#, "", "command: missing"),
        (r#"["c"]"#, r#""c""#, "command: an array is expected"),
        (r#"["c"]"#, r#"["c",1]"#, "command[1]: a string is expected"),
        (
            r#"["c"]"#,
            r#"["c"],"timeout_ms":1.5"#,
            "timeout_ms: a whole number is expected",
        ),
        (
            r#"["c"]"#,
            r#"["c"],"background":1"#,
            "background: true or false is expected",
        ),
        (
            r#"["c"]"#,
            r#"["c"],"parallel":"yes""#,
            "parallel: true or false is expected",
        ),
        (
            r#"["c"]"#,
            r#"["c"],"permission":"never""#,
            "permission: expected one of ask, allow, deny",
        ),
    ] {
        refused(&tool(from, to), &format!("tools[0].{fault}"));
    }
    refused(
        &format!(r#"{{"tools":[{whole},{whole}]}}"#),
        "tools[1].name: another tool has the same name",
    );
    let many: Vec<String> = (0..=limits::TOOLS)
        .map(|at| whole.replace(r#""a""#, &format!("\"a{at}\"")))
        .collect();
    refused(
        &format!(r#"{{"tools":[{}]}}"#, many.join(",")),
        "tools: at most 128 entries are expected",
    );
}

#[test]
fn hooks_are_read_event_by_event() {
    let settings = read(
        r#"{"hooks": {"PreToolUse": [
                {"matcher": "Write|Edit", "hooks": [{"type": "command", "command": ["/path/hook", "-x"], "timeout_ms": 5000},
                    {"type": "command", "command": ["two"]}]},
                {"hooks": []}],
            "Stop": [{"matcher": "*", "hooks": [{"type": "command", "command": ["three"]}]}],
            "SessionEnd": []}}"#,
    );
    let hook = |place: &str, event, matcher: &str, command: &[&str], millis| HookSettings {
        place: place.into(),
        matcher_place: [place.split(".hooks").next().unwrap(), ".matcher"].concat(),
        event,
        matcher: matcher.into(),
        command: command.iter().map(|word| (*word).into()).collect(),
        timeout: Duration::from_millis(millis),
    };
    let pre = HookEvent::PreToolUse;
    let expected = [
        hook(
            "hooks.PreToolUse[0].hooks[0]",
            pre,
            "Write|Edit",
            &["/path/hook", "-x"],
            5_000,
        ),
        hook(
            "hooks.PreToolUse[0].hooks[1]",
            pre,
            "Write|Edit",
            &["two"],
            60_000,
        ),
        hook(
            "hooks.Stop[0].hooks[0]",
            HookEvent::Stop,
            "*",
            &["three"],
            60_000,
        ),
    ];
    assert_eq!(settings.hooks, expected);
    assert!(read(r#"{"hooks":{}}"#).hooks.is_empty());
}

#[test]
fn a_hook_that_would_not_do_what_it_says_is_refused() {
    let events = "PermissionRequest, PreToolUse, PostToolUse, UserPromptSubmit, Stop, PreCompact, SessionStart, SessionEnd";
    for (text, fault) in [
        ("[]", "hooks: an object is expected".to_string()),
        (
            r#"{"preToolUse":[]}"#,
            format!("hooks: unknown event; expected one of {events}"),
        ),
        (
            r#"{"Stop":{}}"#,
            "hooks.Stop: an array is expected".to_string(),
        ),
        (
            r#"{"Stop":[7]}"#,
            "hooks.Stop[0]: an object is expected".to_string(),
        ),
        (
            r#"{"Stop":[{}]}"#,
            "hooks.Stop[0].hooks: missing".to_string(),
        ),
        (
            r#"{"Stop":[{"matcher":"Bash","hooks":[]}]}"#,
            "hooks.Stop[0].matcher: this event is about no tool; expected it absent, empty or `*`"
                .to_string(),
        ),
        (
            r#"{"PreToolUse":[{"matcher":7,"hooks":[]}]}"#,
            "hooks.PreToolUse[0].matcher: a string is expected".to_string(),
        ),
        (
            r#"{"Stop":[{"hooks":[],"timeout_ms":1}]}"#,
            "hooks.Stop[0]: unknown member \"timeout_ms\"".to_string(),
        ),
    ] {
        refused(&format!(r#"{{"hooks":{text}}}"#), &fault);
    }
    for (hook, fault) in [
        ("7", ": an object is expected"),
        (r#"{"command":["x"]}"#, ".type: missing"),
        (
            r#"{"type":"prompt","command":["x"]}"#,
            ".type: expected command",
        ),
        (r#"{"type":"command"}"#, ".command: missing"),
        (
            r#"{"type":"command","command":"x"}"#,
            ".command: an array is expected",
        ),
        (
            r#"{"type":"command","command":["x"],"timeout":5}"#,
            ": unknown member \"timeout\"",
        ),
        (
            r#"{"type":"command","command":["x"],"timeout_ms":"5"}"#,
            ".timeout_ms: a whole number is expected",
        ),
    ] {
        refused(
            &format!(r#"{{"hooks":{{"Stop":[{{"hooks":[{hook}]}}]}}}}"#),
            &format!("hooks.Stop[0].hooks[0]{fault}"),
        );
    }
    let hook = r#"{"type":"command","command":["x"]}"#;
    let many = [hook; limits::HOOKS + 1].join(",");
    refused(
        &format!(r#"{{"hooks":{{"Stop":[{{"hooks":[{many}]}}]}}}}"#),
        "hooks: at most 128 hooks are expected",
    );
}
