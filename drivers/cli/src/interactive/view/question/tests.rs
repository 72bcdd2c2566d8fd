use super::*;
use agentx_core::json::{ScanLimits, Scanner};

fn question(request: &str, stored: bool) -> Question {
    let record = format!(
        r#"{{"type":"control_request","request_id":"r","request":{{"subtype":"can_use_tool",{request}}}}}"#
    );
    let mut scanner = Scanner::new();
    let value = scanner.scan(record.as_bytes(), &ScanLimits::DEFAULT);
    Question::read(value.unwrap().as_object().unwrap(), stored).unwrap()
}

// covers: WIRE-PERM-030
#[test]
fn always_is_a_rule_for_no_more_than_was_asked() {
    let always = |request: &str, stored| {
        let always = question(request, stored).always?;
        let updates = always.updates.as_str().to_owned();
        Some((always.label, updates))
    };
    let rule = |rule: &str, destination: &str| {
        format!(
            r#"[{{"type":"addRules","rules":[{rule}],"behavior":"allow","destination":"{destination}"}}]"#
        )
    };
    for (request, stored, expected) in [
        (
            r#""tool_name":"Write","input":{"file_path":"a"}"#,
            true,
            Some((
                "every Write in this folder",
                rule(r#"{"toolName":"Write"}"#, "localSettings"),
            )),
        ),
        (
            r#""tool_name":"Write","input":{},"blocked_path":"/etc/a.conf""#,
            false,
            Some((
                "Write(/etc/a.conf) in this session",
                rule(
                    r#"{"toolName":"Write","ruleContent":"/etc/a.conf"}"#,
                    "session",
                ),
            )),
        ),
        (
            r#""tool_name":"Bash","input":{"command":"cargo test -p core"}"#,
            false,
            Some((
                "Bash(cargo test -p core) in this session",
                rule(
                    r#"{"toolName":"Bash","ruleContent":"cargo test -p core"}"#,
                    "session",
                ),
            )),
        ),
        (
            r#""tool_name":"Bash","input":{"command":"a && b \"*\" $x"}"#,
            false,
            Some((
                r#"Bash(a && b "*" $x) in this session"#,
                rule(
                    r#"{"toolName":"Bash","ruleContent":"a && b \"*\" $x"}"#,
                    "session",
                ),
            )),
        ),
        (
            r#""tool_name":"Bash","input":{"command":"a \u202e"}"#,
            false,
            None,
        ),
        (r#""tool_name":"Bash","input":{"command":"*"}"#, false, None),
        (r#""tool_name":"Bash","input":{}"#, false, None),
        (
            r#""tool_name":"SandboxNetworkAccess","input":{"host":"a.example"}"#,
            true,
            None,
        ),
        (r#""tool_name":"a(b","input":{}"#, false, None),
        (
            r#""tool_name":"Grep","input":{},"blocked_path":"/""#,
            false,
            None,
        ),
        (
            r#""tool_name":"Write","input":{},"blocked_path":"/a/[b].txt""#,
            false,
            Some((
                "Write(/a/[b].txt) in this session",
                rule(
                    r#"{"toolName":"Write","ruleContent":"/a/[b].txt"}"#,
                    "session",
                ),
            )),
        ),
        (
            r#""tool_name":"Bash","input":{"command":"git:*"}"#,
            false,
            None,
        ),
        (
            r#""tool_name":"Bash","input":{"command":"a\nb"}"#,
            false,
            None,
        ),
        (r#""tool_name":"Bash","input":{"command":7}"#, false, None),
        (
            r#""tool_name":"Read","input":{},"blocked_path":"/tmp/*""#,
            false,
            None,
        ),
        (
            r#""tool_name":"x","input":{},"permission_suggestions":[{"type":"setMode"}]"#,
            false,
            Some((
                r#"[{"type":"setMode"}]"#,
                r#"[{"type":"setMode"}]"#.to_owned(),
            )),
        ),
    ] {
        let expected = expected.map(|(label, updates)| (label.to_owned(), updates));
        assert_eq!(always(request, stored), expected, "{request}");
    }
}

#[test]
fn the_input_is_shown_as_the_tool_gets_it() {
    let asked = question(
        r#""tool_name":"W\u001b","input":{"a":"x\u001b[8m","b\n":"1\n2","c":[1, "\u001b"],"d":"\ud800"},"decision_reason":"far\naway""#,
        false,
    );
    assert_eq!(asked.tool, "W\\u{1b}");
    assert_eq!(asked.reason.as_deref(), Some("far\\naway"));
    let shown = "    a: x\\u{1b}[8m\n    b\\n:\n      | 1\n      | 2\n    c: [1, \"\\u001b\"]\n    d: \u{fffd}\n";
    assert_eq!(asked.shown(false), shown);
}

#[test]
fn a_long_input_is_shown_whole_when_asked_for() {
    let lines = "x\\n".repeat(60);
    let asked = question(
        &format!(r#""tool_name":"W","input":{{"a":"{lines}"}}"#),
        false,
    );
    let short = asked.shown(false);
    assert_eq!(short.lines().count(), SHOWN_LINES + 1);
    assert!(
        short.ends_with("(22 lines to go): answer `show` to see it\n"),
        "{short}"
    );
    assert_eq!(asked.shown(true).lines().count(), 62);
    let long = "y".repeat(SHOWN_CHARS);
    let asked = question(
        &format!(r#""tool_name":"W","input":{{"a":"{long}","b":"hidden"}}"#),
        false,
    );
    let short = asked.shown(false);
    assert!(short.contains("(2 lines to go)") && !short.contains("hidden"));
    assert!(short.chars().count() < SHOWN_CHARS + 100);
    assert!(asked.shown(true).contains("hidden"));
}

#[test]
fn an_answer_is_a_word_that_is_known() {
    for (line, reply) in [
        ("y", Reply::Allow),
        (" YES ", Reply::Allow),
        ("a", Reply::Always),
        ("always", Reply::Always),
        ("show", Reply::Show),
        ("n", Reply::Deny(None)),
        (
            "no  use a branch ",
            Reply::Deny(Some("use a branch".into())),
        ),
        ("", Reply::Unclear),
        ("yes please", Reply::Unclear),
        ("ok", Reply::Unclear),
        ("ja", Reply::Unclear),
    ] {
        assert_eq!(Reply::read(line), reply, "{line}");
    }
}
