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
    // Where links inside the working directories lead is for the body to judge.
    for (path, allowed) in [
        ("src/a", INSIDE),
        ("src/a/b.rs", INSIDE),
        ("/home/repo/src/x", INSIDE),
        ("/tmp/a.txt", GRANTED),
    ] {
        assert_eq!(
            on_path(&p, "Write", ToolClass::Edit, path),
            allowed,
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

fn layers(files: &[(Layer, &str)]) -> Layers {
    let mut layers = Layers::new();
    for (layer, text) in files {
        layers.set(*layer, Settings::read(text.as_bytes()).expect("settings"));
    }
    layers
}

fn standing(mode: PermissionMode, files: &[(Layer, &str)]) -> Policy {
    policy(mode).with(&[], &layers(files))
}

fn rules_of(
    action: RulesAction,
    behavior: Behavior,
    rules: &[&str],
    destination: Destination,
) -> PermissionUpdate {
    PermissionUpdate::Rules(RulesUpdate {
        action,
        rules: rules.iter().map(|text| rule(text)).collect(),
        behavior,
        destination,
    })
}

// covers: DEC-31
#[test]
fn deny_beats_ask_beats_allow_across_layers() {
    let list = |kind: &str| format!(r#"{{"permissions":{{"{kind}":["Bash(git push:*)"]}}}}"#);
    let (allow, ask, deny) = (list("allow"), list("ask"), list("deny"));
    let all = [
        Layer::User,
        Layer::Project,
        Layer::Local,
        Layer::Flag,
        Layer::Policy,
    ];
    for lower in all {
        assert_eq!(
            on_command(
                &standing(PermissionMode::Default, &[(lower, &allow)]),
                "git push"
            ),
            GRANTED
        );
        for other in all.into_iter().filter(|other| *other != lower) {
            let p = standing(PermissionMode::DontAsk, &[(lower, &deny), (other, &allow)]);
            assert!(matches!(on_command(&p, "ls; git push"), Judgement::Deny(_)));
            let p = standing(PermissionMode::Default, &[(lower, &ask), (other, &allow)]);
            assert_eq!(on_command(&p, "git push"), plain_question());
            let p = standing(PermissionMode::Default, &[(lower, &deny), (other, &ask)]);
            assert!(matches!(on_command(&p, "git push"), Judgement::Deny(_)));
        }
    }
}

// covers: WIRE-PERM-030
#[test]
fn no_answer_reaches_the_flag_layer_or_the_policy() {
    let deny = r#"{"permissions":{"deny":["Bash"],"additionalDirectories":["/data"]}}"#;
    for layer in [Layer::Flag, Layer::Policy] {
        let mut p = standing(PermissionMode::Default, &[(layer, deny)]);
        for destination in Destination::ALL {
            for action in [RulesAction::Replace, RulesAction::Remove] {
                p.apply(&rules_of(action, Behavior::Deny, &["Bash"], *destination));
                if action == RulesAction::Replace {
                    p.apply(&rules_of(
                        RulesAction::Remove,
                        Behavior::Deny,
                        &["Bash"],
                        *destination,
                    ));
                }
            }
            p.apply(&PermissionUpdate::Directories(DirectoriesUpdate {
                action: DirectoriesAction::Remove,
                directories: vec!["/data".to_string()],
                destination: *destination,
            }));
        }
        assert!(matches!(on_command(&p, "ls"), Judgement::Deny(_)));
        assert!(p.directories().any(|path| path == "/data"));
    }
    // One of the user's own files is in their hands.
    let mut p = standing(PermissionMode::Default, &[(Layer::User, deny)]);
    p.apply(&rules_of(
        RulesAction::Remove,
        Behavior::Deny,
        &["Bash"],
        Destination::UserSettings,
    ));
    assert_eq!(on_command(&p, "ls"), plain_question());
}

#[test]
fn a_folder_stays_as_long_as_one_origin_names_it() {
    let file = r#"{"permissions":{"additionalDirectories":["/data","../common"]}}"#;
    let mut p = policy(PermissionMode::Default)
        .with(&["/data".to_string()], &layers(&[(Layer::User, file)]));
    assert_eq!(
        on_path(&p, "Read", ToolClass::ReadOnly, "/home/common/x"),
        INSIDE
    );
    let remove = |destination| {
        PermissionUpdate::Directories(DirectoriesUpdate {
            action: DirectoriesAction::Remove,
            directories: vec!["/data".to_string()],
            destination,
        })
    };
    p.apply(&remove(Destination::UserSettings));
    assert_eq!(on_path(&p, "Read", ToolClass::ReadOnly, "/data/x"), INSIDE);
    p.apply(&remove(Destination::CliArg));
    assert!(matches!(
        on_path(&p, "Read", ToolClass::ReadOnly, "/data/x"),
        Judgement::Ask(_)
    ));
}

fn declared(permission: &str) -> String {
    format!(
        r#"{{"tools":[{{"name":"lookup","description":"d","input_schema":{{"type":"object"}},"command":["c"],"permission":"{permission}"}}]}}"#
    )
}

fn on_lookup(policy: &Policy) -> Judgement {
    let input = RawJson::parse(r#"{"command":"rm x"}"#).expect("valid");
    policy.judge(&tool("lookup", ToolClass::Execute), &input)
}

// covers: DEC-26
#[test]
fn a_command_tool_says_what_becomes_of_calls_that_no_rule_speaks_about() {
    let judged = |permission: &str, mode, rules: &str| {
        let own = declared(permission);
        let rules = format!(r#"{{"permissions":{rules}}}"#);
        on_lookup(&standing(
            mode,
            &[(Layer::User, &own), (Layer::Flag, &rules)],
        ))
    };
    let denied = |judgement| matches!(judgement, Judgement::Deny(_));
    use PermissionMode::{AcceptEdits, BypassPermissions, Default, DontAsk, Plan};
    assert_eq!(judged("ask", Default, "{}"), plain_question());
    assert_eq!(judged("ask", AcceptEdits, "{}"), plain_question());
    assert_eq!(judged("ask", Default, r#"{"allow":["lookup"]}"#), GRANTED);
    assert_eq!(judged("allow", Default, "{}"), GRANTED);
    assert_eq!(judged("allow", DontAsk, "{}"), GRANTED);
    assert_eq!(
        judged("allow", Default, r#"{"ask":["lookup"]}"#),
        plain_question()
    );
    assert_eq!(judged("ask", BypassPermissions, "{}"), GRANTED);
    assert!(denied(judged("ask", DontAsk, "{}")));
    assert!(denied(judged("allow", Plan, "{}")));
    assert!(denied(judged("allow", Default, r#"{"deny":["lookup"]}"#)));
    for mode in PermissionMode::ALL {
        assert!(denied(judged("deny", *mode, r#"{"allow":["lookup"]}"#)));
    }
    // Its input is no shell command, so brackets say nothing that could be judged.
    assert_eq!(
        judged("allow", Default, r#"{"deny":["lookup(ls)"]}"#),
        plain_question()
    );
    assert_eq!(
        judged("ask", Default, r#"{"allow":["lookup(rm:*)"]}"#),
        plain_question()
    );
}

#[test]
fn a_rule_for_a_server_stands_for_its_tools() {
    let on = |rules: &str, name: &str| {
        let p = standing(
            PermissionMode::Default,
            &[(Layer::User, &format!(r#"{{"permissions":{rules}}}"#))],
        );
        p.judge(&tool(name, ToolClass::Execute), &RawJson::empty_object())
    };
    let allow = r#"{"allow":["mcp__files","mcp__web__get"]}"#;
    for name in ["mcp__files__read", "mcp__files__a__b", "mcp__web__get"] {
        assert_eq!(on(allow, name), GRANTED, "{name}");
    }
    for name in [
        "mcp__filesystem__read",
        "mcp__web__put",
        "mcp__web__get__x",
        "mcp__other__files",
        "files",
        "mcp__file",
    ] {
        assert_eq!(on(allow, name), plain_question(), "{name}");
    }
    let deny = r#"{"deny":["mcp__files","mcp__web__get"],"allow":["mcp__web"]}"#;
    for name in [
        "mcp__files__read",
        "mcp__web__get",
        // The server could be called `web__get`.
        "mcp__web__get__x",
    ] {
        assert!(matches!(on(deny, name), Judgement::Deny(_)), "{name}");
    }
    assert_eq!(on(deny, "mcp__web__put"), GRANTED);
}

#[test]
fn a_path_rule_that_restrains_holds_for_all_below() {
    let p = standing(
        PermissionMode::Default,
        &[(
            Layer::User,
            r#"{"permissions":{"deny":["Read(secret)","Read(/etc/keys/)","Read(**/*.pem)"],"allow":["Read"]}}"#,
        )],
    );
    for path in [
        "secret",
        "secret/a/b",
        "./x/../secret/a",
        "//home//repo/secret",
        "/etc/keys",
        "/etc/keys/a",
        "a/b.pem",
        "b.pem/c",
    ] {
        let judged = on_path(&p, "Read", ToolClass::ReadOnly, path);
        assert!(matches!(judged, Judgement::Deny(_)), "{path}: {judged:?}");
    }
    for path in ["secrets", "a/secret.txt", "/etc/key", "a.pem2"] {
        assert_eq!(on_path(&p, "Read", ToolClass::ReadOnly, path), GRANTED);
    }
    // A search above a protected folder would look into it.
    for path in ["/home/repo", "/", "/etc", "."] {
        let judged = on_path(&p, "Read", ToolClass::ReadOnly, path);
        assert_eq!(judged, plain_question(), "{path}");
    }
    let long = "a/".repeat(3000);
    assert_eq!(
        on_path(&p, "Read", ToolClass::ReadOnly, &long),
        plain_question()
    );
    assert_eq!(
        on_path(
            &policy(PermissionMode::Default),
            "Read",
            ToolClass::ReadOnly,
            &long
        ),
        INSIDE
    );
}

#[test]
fn what_cannot_be_judged_is_asked_where_a_rule_could_speak_about_it() {
    let file = r#"{"permissions":{"allow":["Bash"],"deny":["Bash(rm:*)"]}}"#;
    let judged = |mode, command: &str| on_command(&standing(mode, &[(Layer::User, file)]), command);
    assert_eq!(judged(PermissionMode::Default, "ls $HOME"), GRANTED);
    assert_eq!(judged(PermissionMode::Default, "$x y"), plain_question());
    assert!(matches!(
        judged(PermissionMode::DontAsk, "$x y"),
        Judgement::Deny(_)
    ));
    assert_eq!(judged(PermissionMode::BypassPermissions, "$x y"), GRANTED);
    assert!(matches!(
        judged(PermissionMode::BypassPermissions, "sudo rm y"),
        Judgement::Deny(_)
    ));
}

/// What a glob means, said as simply as can be.
fn means(pattern: &[&str], names: &[&str]) -> bool {
    fn name(pattern: &[char], text: &[char]) -> bool {
        match pattern {
            [] => text.is_empty(),
            ['*', rest @ ..] => (0..=text.len()).any(|at| name(rest, &text[at..])),
            [c, rest @ ..] => text
                .split_first()
                .is_some_and(|(first, text)| (*c == '?' || c == first) && name(rest, text)),
        }
    }
    let chars = |text: &str| text.chars().collect::<Vec<char>>();
    match pattern {
        [] => names.is_empty(),
        ["**", rest @ ..] => (0..=names.len()).any(|at| means(rest, &names[at..])),
        [first, rest @ ..] => names
            .split_first()
            .is_some_and(|(found, names)| name(&chars(first), &chars(found)) && means(rest, names)),
    }
}

/// Every list of up to `length` of these words.
fn lists<'a>(words: &[&'a str], length: usize) -> Vec<Vec<&'a str>> {
    let mut all = vec![vec![]];
    let mut from = 0;
    for _ in 0..length {
        let to = all.len();
        for at in from..to {
            for word in words {
                let longer = [&all[at][..], &[*word]].concat();
                all.push(longer);
            }
        }
        from = to;
    }
    all
}

#[test]
fn globs_mean_what_they_say_in_every_small_case() {
    let paths = lists(&["a", "b", "ab", "aab"], 4);
    for pattern in lists(&["a", "**", "*", "a*b", "?", "*?"], 4) {
        let glob = pattern.join("/");
        for path in paths.iter().filter(|path| !path.is_empty()) {
            if glob.is_empty() {
                continue;
            }
            let text = path.join("/");
            assert_eq!(
                paths::glob(&glob, &text),
                means(&pattern, path),
                "{glob} {text}"
            );
        }
    }
}
