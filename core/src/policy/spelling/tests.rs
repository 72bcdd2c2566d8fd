use super::*;
use alloc::string::ToString as _;

fn rule(name: &str, content: Option<&str>) -> PermissionRule {
    PermissionRule {
        tool_name: name.into(),
        rule_content: content.map(Into::into),
    }
}

#[test]
fn rules_are_read_and_written_back() {
    for (text, name, content) in [
        ("Write", "Write", None),
        ("mcp__files", "mcp__files", None),
        ("mcp__files__read_it", "mcp__files__read_it", None),
        ("my-tool_2.x", "my-tool_2.x", None),
        ("Bash(git status:*)", "Bash", Some("git status:*")),
        ("Bash(echo (a) b)", "Bash", Some("echo (a) b")),
        ("Bash(a; b)", "Bash", Some("a; b")),
        ("Bash(a\nb)", "Bash", Some("a\nb")),
        ("Write(src/**)", "Write", Some("src/**")),
        ("Read(../x/*.txt)", "Read", Some("../x/*.txt")),
        ("Read(/etc/)", "Read", Some("/etc/")),
    ] {
        for behavior in Behavior::ALL {
            let expected = rule(name, content);
            assert_eq!(read(text, *behavior), Ok(expected.clone()), "{text:?}");
            assert_eq!(write(&expected, *behavior), Ok(text.to_string()));
        }
    }
}

#[test]
fn what_is_no_rule_is_refused() {
    let long = "x".repeat(RULE_BYTES + 1);
    let long_name = "x".repeat(NAME_BYTES + 1);
    for (text, fault) in [
        ("", RuleFault::Name),
        (" Write", RuleFault::Name),
        ("Write ", RuleFault::Name),
        ("Wri te", RuleFault::Name),
        ("Write)", RuleFault::Name),
        ("(x)", RuleFault::Name),
        ("Bash (ls)", RuleFault::Name),
        ("*", RuleFault::Name),
        ("Tööl", RuleFault::Name),
        ("mcp__files__*", RuleFault::Name),
        (&long_name, RuleFault::Name),
        (&long, RuleFault::TooLong),
        ("Bash(ls", RuleFault::Unclosed),
        ("Bash(ls) ", RuleFault::Unclosed),
        ("Bash(ls)x", RuleFault::Unclosed),
        ("Bash()", RuleFault::NoContent),
        ("Read( )", RuleFault::NoContent),
        ("Bash(a\0b)", RuleFault::Nul),
        ("mcp__", RuleFault::McpName),
        ("mcp____x", RuleFault::McpName),
        ("mcp__x__", RuleFault::McpName),
        ("mcp__x(y)", RuleFault::McpContent),
        ("Bash(:*)", RuleFault::NoCommand),
        ("Bash( :*)", RuleFault::NoCommand),
        ("Bash(*)", RuleFault::NoCommand),
        ("Read(~/x)", RuleFault::Tilde),
        ("Read(~)", RuleFault::Tilde),
        ("Read(a**)", RuleFault::DoubleStar),
        ("Read(src/**.rs)", RuleFault::DoubleStar),
        ("Read(**/../x)", RuleFault::ParentOfAny),
        ("Read(a?/../x)", RuleFault::ParentOfAny),
    ] {
        for behavior in Behavior::ALL {
            assert_eq!(read(text, *behavior), Err(fault), "{text:?}");
        }
    }
}

#[test]
fn a_rule_that_would_protect_nothing_is_refused() {
    for (text, fault) in [
        ("Bash(rm *)", RuleFault::LiteralStar),
        ("Bash(rm *:*)", RuleFault::LiteralStar),
        ("Bash(git * main)", RuleFault::LiteralStar),
        ("Read(**/*.{pem,key})", RuleFault::LiteralBracket),
        ("Read([id].rs)", RuleFault::LiteralBracket),
    ] {
        for behavior in [Behavior::Ask, Behavior::Deny] {
            assert_eq!(read(text, behavior), Err(fault), "{text:?}");
        }
        // To allow exactly that text does no harm.
        read(text, Behavior::Allow).unwrap();
    }
}

#[test]
fn a_rule_of_a_host_that_cannot_be_read_back_is_not_written() {
    for (name, content, fault) in [
        ("", None, RuleFault::Name),
        ("a b", None, RuleFault::Name),
        ("Bash(ls)", None, RuleFault::Name),
        ("Bash", Some(""), RuleFault::NoContent),
        ("Bash", Some(":*"), RuleFault::NoCommand),
        ("Bash(x", Some("y"), RuleFault::Name),
    ] {
        assert_eq!(write(&rule(name, content), Behavior::Allow), Err(fault));
    }
}

#[test]
fn faults_say_what_was_expected() {
    for (text, fault) in [
        (
            "x y",
            "expected Tool or Tool(...), the name 1 to 128 of A-Za-z0-9_.-",
        ),
        ("Bash(ls", "expected `)` at the end, and nothing after it"),
        (
            "Bash()",
            "nothing in brackets; the name alone stands for every call",
        ),
        ("Bash(\0)", "a NUL character"),
        ("mcp__", "expected mcp__SERVER or mcp__SERVER__TOOL"),
        (
            "mcp__x(y)",
            "a rule for tools of an MCP server has no brackets",
        ),
        (
            "Bash(:*)",
            "no command before `:*`; the name alone stands for every call",
        ),
        (
            "Bash(rm *)",
            "`*` means itself in a command; write `prefix:*` for all commands that begin so",
        ),
        (
            "Read(~/x)",
            "`~` is no folder here; expected an absolute path or a relative one",
        ),
        ("Read(a**)", "`**` stands for whole names, between slashes"),
        ("Read(*/..)", "`..` after a wildcard"),
        (
            "Read({a,b})",
            "`[`, `]`, `{` and `}` mean themselves in a path; write a rule for each case",
        ),
    ] {
        let told = read(text, Behavior::Deny).unwrap_err();
        assert_eq!(told.to_string(), fault, "{text:?}");
    }
    assert_eq!(
        RuleFault::TooLong.to_string(),
        "a rule has at most 16384 bytes"
    );
}
