use super::*;
use crate::schema::permission::{Behavior, PermissionMode, PermissionRule};
use alloc::string::ToString;
use alloc::vec;

fn rule(name: &str, content: Option<&str>) -> PermissionRule {
    PermissionRule {
        tool_name: name.into(),
        rule_content: content.map(Into::into),
    }
}

fn rules_of(action: RulesAction, behavior: Behavior, rules: &[PermissionRule]) -> PermissionUpdate {
    PermissionUpdate::Rules(RulesUpdate {
        action,
        rules: rules.to_vec(),
        behavior,
        destination: Destination::LocalSettings,
    })
}

fn allow(action: RulesAction, names: &[&str]) -> PermissionUpdate {
    let rules: Vec<_> = names.iter().map(|name| rule(name, None)).collect();
    rules_of(action, Behavior::Allow, &rules)
}

fn directories_of(
    action: DirectoriesAction,
    directories: &[&str],
    destination: Destination,
) -> PermissionUpdate {
    PermissionUpdate::Directories(DirectoriesUpdate {
        action,
        directories: directories.iter().map(ToString::to_string).collect(),
        destination,
    })
}

fn plan() -> PermissionUpdate {
    PermissionUpdate::Mode(ModeUpdate {
        mode: PermissionMode::Plan,
        destination: Destination::LocalSettings,
    })
}

#[track_caller]
fn edited(file: &str, updates: &[PermissionUpdate]) -> String {
    edit(Some(file), updates, "/repo").unwrap()
}

// covers: WIRE-PERM-030
#[test]
fn a_new_file_is_written_in_lines() {
    let bash = [rule("Bash", Some("git status:*"))];
    let updates = [
        allow(RulesAction::Add, &["Write", "Edit"]),
        rules_of(RulesAction::Add, Behavior::Deny, &bash),
        plan(),
        directories_of(
            DirectoriesAction::Add,
            &["/data", "x"],
            Destination::UserSettings,
        ),
    ];
    let text = "{\n  \"permissions\": {\n    \"allow\": [\n      \"Write\",\n      \"Edit\"\n    ],\n    \"deny\": [\n      \"Bash(git status:*)\"\n    ],\n    \"defaultMode\": \"plan\",\n    \"additionalDirectories\": [\n      \"/data\",\n      \"/repo/x\"\n    ]\n  }\n}\n";
    assert_eq!(edit(None, &updates, "/repo").unwrap(), text);
}

// covers: WIRE-PERM-030
#[test]
fn whatever_an_update_does_not_change_stays_as_it_was() {
    let file = "\u{20}{ \"tools\" : [{\"name\":\"t\",\"description\":\"\\u0041\",\"command\":[\"c\"],\n\t\"input_schema\":{\"type\":\"object\",\"x\":1e2, \"y\":[1.0,  2]}}],\r\n \"permissions\":{\"deny\" : [ \"Re\\u0061d\" ,\"Bash(a)\"], \"allow\":[]} }\n\n";
    let updates = [
        allow(RulesAction::Add, &["Write"]),
        rules_of(RulesAction::Add, Behavior::Deny, &[rule("Edit", None)]),
        // It is there already, spelled otherwise.
        rules_of(RulesAction::Add, Behavior::Deny, &[rule("Read", None)]),
    ];
    let expected = file
        .replace("\"allow\":[]", "\"allow\":[\"Write\"]")
        .replace(
            "[ \"Re\\u0061d\" ,\"Bash(a)\"]",
            "[\"Re\\u0061d\", \"Bash(a)\", \"Edit\"]",
        );
    assert_eq!(edited(file, &updates), expected);
}

// covers: WIRE-PERM-030
#[test]
fn updates_apply_in_order() {
    let file = r#"{"permissions":{"allow":["A","B","C"]}}"#;
    for (updates, list) in [
        (vec![allow(RulesAction::Remove, &["B"])], r#"["A", "C"]"#),
        (vec![allow(RulesAction::Replace, &["D", "D"])], r#"["D"]"#),
        (vec![allow(RulesAction::Replace, &[])], "[]"),
        (
            vec![allow(RulesAction::Add, &["A", "C"])],
            r#"["A","B","C"]"#,
        ),
        (vec![allow(RulesAction::Remove, &["D"])], r#"["A","B","C"]"#),
        (
            vec![
                allow(RulesAction::Replace, &["D"]),
                allow(RulesAction::Add, &["A"]),
                allow(RulesAction::Remove, &["D"]),
            ],
            r#"["A"]"#,
        ),
        (
            vec![
                allow(RulesAction::Remove, &["A"]),
                allow(RulesAction::Add, &["A"]),
            ],
            r#"["B", "C", "A"]"#,
        ),
    ] {
        let expected = format!(r#"{{"permissions":{{"allow":{list}}}}}"#);
        assert_eq!(edited(file, &updates), expected);
    }
}

#[test]
fn a_member_is_made_where_it_belongs() {
    for (file, expected) in [
        ("{}", r#"{"permissions": {"allow": ["W"]}}"#),
        (
            r#"{"tools":[]}"#,
            r#"{"tools":[], "permissions": {"allow": ["W"]}}"#,
        ),
        (
            r#"{"permissions":{"ask":[]},"tools":[]}"#,
            r#"{"permissions":{"ask":[], "allow": ["W"]},"tools":[]}"#,
        ),
        (
            "{\n\t\"permissions\": {\n\t\t\"ask\": [\n\t\t\t\"X\"\n\t\t]\n\t}\n}",
            "{\n\t\"permissions\": {\n\t\t\"ask\": [\n\t\t\t\"X\"\n\t\t],\n\t\t\"allow\": [\n\t\t  \"W\"\n\t\t]\n\t}\n}",
        ),
        (
            "{\n  \"permissions\": {\n  }\n}\n",
            "{\n  \"permissions\": {\n    \"allow\": [\n      \"W\"\n    ]\n  }\n}\n",
        ),
        (
            "{\n  \"permissions\": {\"allow\": [\n    \"V\"\n  ]}\n}\n",
            "{\n  \"permissions\": {\"allow\": [\n    \"V\",\n    \"W\"\n  ]}\n}\n",
        ),
    ] {
        assert_eq!(edited(file, &[allow(RulesAction::Add, &["W"])]), expected);
    }
}

#[test]
fn taking_out_of_nothing_writes_nothing() {
    for file in ["{}", r#"{"permissions":{}}"#, "{\n}\n"] {
        assert_eq!(edited(file, &[allow(RulesAction::Remove, &["W"])]), file);
        let none = directories_of(DirectoriesAction::Add, &[], Destination::LocalSettings);
        assert_eq!(edited(file, &[none]), file);
    }
}

#[test]
fn modes_and_directories_are_kept() {
    let file = r#"{"permissions":{"defaultMode":"default","additionalDirectories":["/a","b"]}}"#;
    let updates = [
        plan(),
        directories_of(
            DirectoriesAction::Remove,
            &["/a"],
            Destination::LocalSettings,
        ),
        directories_of(
            DirectoriesAction::Add,
            &["../c"],
            Destination::LocalSettings,
        ),
    ];
    assert_eq!(
        edited(file, &updates),
        r#"{"permissions":{"defaultMode":"plan","additionalDirectories":["b", "../c"]}}"#
    );
}

#[test]
fn what_could_not_be_read_again_is_not_written() {
    let told = |file: Option<&str>, updates: &[PermissionUpdate]| {
        edit(file, updates, "/repo").unwrap_err().to_string()
    };
    let add = |rule| [rules_of(RulesAction::Add, Behavior::Deny, &[rule])];
    assert_eq!(
        told(None, &add(rule("Bash", Some("rm *")))),
        "a rule cannot be written: `*` means itself in a command; write `prefix:*` for all commands that begin so"
    );
    assert_eq!(
        told(None, &add(rule("", None))),
        "a rule cannot be written: expected Tool or Tool(...), the name 1 to 128 of A-Za-z0-9_.-"
    );
    assert_eq!(told(Some("{\"x\":1}"), &[plan()]), "unknown member \"x\"");
    assert_eq!(
        told(Some("{"), &[plan()]),
        "unexpected end of JSON at byte 2"
    );
    let home = directories_of(DirectoriesAction::Add, &["~"], Destination::LocalSettings);
    assert_eq!(
        told(None, &[home]),
        "permissions.additionalDirectories[0]: `~` is no folder here; expected an absolute path or a relative one"
    );
    let many: Vec<String> = (0..5000).map(|at| format!("T{at}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(
        told(None, &[allow(RulesAction::Add, &many)]),
        "permissions.allow: at most 4096 entries are expected"
    );
    // What could not be in a file is not there to be taken out of it either.
    let gone = [rules_of(
        RulesAction::Remove,
        Behavior::Deny,
        &[rule("", None)],
    )];
    assert_eq!(edited("{}", &gone), "{}");
}
