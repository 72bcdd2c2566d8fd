use super::*;
use alloc::format;
use alloc::string::ToString;
use alloc::vec;

fn tool(name: &str, class: ToolClass) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: "".into(),
        input_schema: RawJson::empty_object(),
        class,
        path_member: matches!(class, ToolClass::ReadOnly | ToolClass::Edit).then_some("file_path"),
        parallel: false,
        background: crate::tool::Background::Never,
    }
}

fn rule(text: &str) -> PermissionRule {
    match text.split_once('(') {
        Some((name, content)) => PermissionRule {
            tool_name: name.to_string(),
            rule_content: Some(content.trim_end_matches(')').to_string()),
        },
        None => PermissionRule {
            tool_name: text.to_string(),
            rule_content: None,
        },
    }
}

fn add(behavior: Behavior, rules: &[&str]) -> PermissionUpdate {
    PermissionUpdate::Rules(RulesUpdate {
        action: RulesAction::Add,
        rules: rules.iter().map(|text| rule(text)).collect(),
        behavior,
        destination: Destination::Session,
    })
}

fn policy(mode: PermissionMode) -> Policy {
    Policy::new(mode, "/home/repo".to_string())
}

fn on_path(policy: &Policy, name: &str, class: ToolClass, path: &str) -> Judgement {
    let input = RawJson::parse(&format!("{{\"file_path\":\"{path}\"}}")).expect("valid");
    policy.judge(&tool(name, class), &input)
}

fn on_command(policy: &Policy, command: &str) -> Judgement {
    let input = RawJson::parse(&format!("{{\"command\":\"{command}\"}}")).expect("valid");
    policy.judge(&tool("Bash", ToolClass::Execute), &input)
}

const INSIDE: Judgement = Judgement::Allow(Access::WorkingDirectories);
const GRANTED: Judgement = Judgement::Allow(Access::Granted);

fn plain_question() -> Judgement {
    Judgement::Ask(Question::default())
}

#[test]
fn reading_inside_the_working_directories_needs_no_question() {
    let p = policy(PermissionMode::Default);
    for path in ["src/a.rs", "/home/repo/x", "./a/../b", "/home/repo"] {
        assert_eq!(
            on_path(&p, "Read", ToolClass::ReadOnly, path),
            INSIDE,
            "{path}"
        );
    }
    for path in ["/etc/passwd", "../other", "/home/repository", "a/../../b"] {
        let Judgement::Ask(question) = on_path(&p, "Read", ToolClass::ReadOnly, path) else {
            panic!("{path}")
        };
        assert!(question.decision_reason.is_some() && question.blocked_path.is_some());
    }
}

#[test]
fn each_mode_has_its_defaults() {
    let edit = |mode, path| on_path(&policy(mode), "Write", ToolClass::Edit, path);
    assert_eq!(edit(PermissionMode::Default, "a"), plain_question());
    assert_eq!(edit(PermissionMode::AcceptEdits, "a"), INSIDE);
    assert!(matches!(
        edit(PermissionMode::AcceptEdits, "/etc/x"),
        Judgement::Ask(_)
    ));
    assert!(matches!(
        edit(PermissionMode::Plan, "a"),
        Judgement::Deny(_)
    ));
    assert!(matches!(
        edit(PermissionMode::DontAsk, "a"),
        Judgement::Deny(_)
    ));
    assert_eq!(edit(PermissionMode::BypassPermissions, "/etc/x"), GRANTED);
    let read = on_path(
        &policy(PermissionMode::Plan),
        "Read",
        ToolClass::ReadOnly,
        "a",
    );
    assert_eq!(read, INSIDE);
    assert_eq!(
        on_command(&policy(PermissionMode::AcceptEdits), "ls"),
        plain_question()
    );
}

#[test]
fn deny_beats_ask_beats_allow() {
    let mut p = policy(PermissionMode::Default);
    p.apply(&add(Behavior::Allow, &["Bash"]));
    assert_eq!(on_command(&p, "ls"), GRANTED);
    p.apply(&add(Behavior::Ask, &["Bash(git push:*)"]));
    assert_eq!(on_command(&p, "git push origin"), plain_question());
    p.apply(&add(Behavior::Deny, &["Bash(rm:*)"]));
    assert!(matches!(
        on_command(&p, "git push; rm -rf x"),
        Judgement::Deny(_)
    ));
    let mut p = policy(PermissionMode::BypassPermissions);
    p.apply(&add(Behavior::Deny, &["Bash(rm:*)"]));
    assert!(matches!(on_command(&p, "rm x"), Judgement::Deny(_)));
}

#[test]
fn an_allowing_pattern_covers_every_part_and_a_denying_one_some_part() {
    let mut p = policy(PermissionMode::Default);
    p.apply(&add(Behavior::Allow, &["Bash(git status:*)", "Bash(ls)"]));
    assert_eq!(on_command(&p, "git status -s"), GRANTED);
    assert_eq!(on_command(&p, "git status && git status -s"), GRANTED);
    for command in [
        "git status; curl x",
        "git status && rm x",
        "git statusx",
        "git status $(rm x)",
        "git status `rm x`",
        "git status > /etc/x",
        "git status\\nrm x",
        "ls -l",
        "",
    ] {
        assert_eq!(on_command(&p, command), plain_question(), "{command}");
    }
    p.apply(&add(Behavior::Deny, &["Bash(rm:*)"]));
    for command in ["ls | rm x", "echo $(rm x)", "echo `rm x`", "(rm x)"] {
        assert!(
            matches!(on_command(&p, command), Judgement::Deny(_)),
            "{command}"
        );
    }
}

#[test]
fn path_rules_are_globs() {
    let mut p = policy(PermissionMode::Default);
    p.apply(&add(
        Behavior::Allow,
        &["Write(src/**)", "Write(/tmp/*.txt)"],
    ));
    for path in ["src/a", "src/a/b.rs", "/home/repo/src/x", "/tmp/a.txt"] {
        assert_eq!(
            on_path(&p, "Write", ToolClass::Edit, path),
            GRANTED,
            "{path}"
        );
    }
    for path in ["src2/a", "/tmp/a/b.txt", "/tmp/a.txt2", "src/../b"] {
        assert_ne!(
            on_path(&p, "Write", ToolClass::Edit, path),
            GRANTED,
            "{path}"
        );
    }
    assert!(paths::glob("/a/**/z", "/a/z") && paths::glob("/a/**/z", "/a/b/c/z"));
    assert!(!paths::glob("/a/**/z", "/a/b/c") && paths::glob("/a?c/*", "/abc/d"));
}

// covers: WIRE-PERM-030
#[test]
fn updates_apply_in_list_order_and_only_to_their_destination() {
    let mut p = policy(PermissionMode::Default);
    p.apply(&add(Behavior::Allow, &["Bash", "Write"]));
    let replace = |destination| {
        PermissionUpdate::Rules(RulesUpdate {
            action: RulesAction::Replace,
            rules: vec![],
            behavior: Behavior::Allow,
            destination,
        })
    };
    p.apply(&replace(Destination::UserSettings));
    assert_eq!(on_command(&p, "ls"), GRANTED);
    p.apply(&replace(Destination::Session));
    assert_eq!(on_command(&p, "ls"), plain_question());
    let directories = |action| {
        PermissionUpdate::Directories(DirectoriesUpdate {
            action,
            directories: vec!["/data".to_string()],
            destination: Destination::Session,
        })
    };
    p.apply(&directories(DirectoriesAction::Add));
    assert_eq!(on_path(&p, "Read", ToolClass::ReadOnly, "/data/x"), INSIDE);
    p.apply(&directories(DirectoriesAction::Remove));
    assert!(matches!(
        on_path(&p, "Read", ToolClass::ReadOnly, "/data/x"),
        Judgement::Ask(_)
    ));
    assert_eq!(p.directories().collect::<Vec<_>>(), vec!["/home/repo"]);
}
