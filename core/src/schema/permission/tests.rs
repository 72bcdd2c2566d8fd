use super::*;
use crate::json::{RawJson, ScanLimits, Scanner};
use crate::schema::declare::Json;
use alloc::string::ToString;
use alloc::{format, vec};

fn answer(payload: &str) -> Result<PermissionAnswer, AnswerFault> {
    PermissionAnswer::parse(Some(&RawJson::parse(payload).unwrap()))
}

/// An allow with these members beside `updatedInput`.
fn allowed(members: &str) -> Allow {
    let payload = format!(r#"{{"behavior":"allow","updatedInput":{{}}{members}}}"#);
    match answer(&payload) {
        Ok(PermissionAnswer::Allow(allow)) => allow,
        other => panic!("{payload}: {other:?}"),
    }
}

fn denied(members: &str) -> Result<Deny, AnswerFault> {
    match answer(&format!(r#"{{"behavior":"deny"{members}}}"#))? {
        PermissionAnswer::Deny(deny) => Ok(deny),
        PermissionAnswer::Allow(allow) => panic!("{allow:?}"),
    }
}

fn update(text: &str) -> Option<PermissionUpdate> {
    let mut scanner = Scanner::new();
    let value = scanner.scan(text.as_bytes(), &ScanLimits::DEFAULT).unwrap();
    PermissionUpdate::from_value(value)
}

const ADD: &str = r#"{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"ls:*"},{"toolName":"Write"}],"behavior":"deny","destination":"projectSettings"}"#;
const MODE: &str = r#"{"type":"setMode","mode":"plan","destination":"session"}"#;
const DIRECTORIES: &str =
    r#"{"type":"addDirectories","directories":["/a","/b"],"destination":"userSettings"}"#;

// covers: WIRE-PERM-040, WIRE-PERM-A02
#[test]
fn an_allow_needs_updated_input_as_an_object() {
    let fault = |members: &str| answer(&format!(r#"{{"behavior":"allow"{members}}}"#)).unwrap_err();
    assert_eq!(fault(""), AnswerFault::Missing("updatedInput"));
    for wrong in ["null", "[]", "\"{}\"", "1"] {
        assert_eq!(
            fault(&format!(r#","updatedInput":{wrong}"#)),
            AnswerFault::WrongType("updatedInput")
        );
    }
}

// covers: WIRE-PERM-041
#[test]
fn an_empty_input_means_the_original() {
    assert_eq!(allowed("").updated_input(), None);
    assert_eq!(
        answer(r#"{"behavior":"allow","updatedInput":{ }}"#),
        Ok(PermissionAnswer::Allow(allowed("")))
    );
    let edited = answer(r#"{"updatedInput":{"b": 1.0, "a": null},"behavior":"allow"}"#);
    let Ok(PermissionAnswer::Allow(allow)) = edited else {
        panic!("{edited:?}");
    };
    let input = RawJson::parse(r#"{"b":1.0,"a":null}"#).unwrap();
    assert_eq!(allow.updated_input(), Some(&input));
}

// covers: WIRE-PERM-A01, WIRE-PERM-030
#[test]
fn valid_updates_stand_in_order() {
    let allow = allowed(&format!(
        r#","updatedPermissions":[{ADD},{MODE},{DIRECTORIES}],"decisionClassification":"user_permanent","toolUseID":"t","extra":1"#
    ));
    let expected = [update(ADD), update(MODE), update(DIRECTORIES)].map(Option::unwrap);
    assert_eq!(allow.updates(), expected);
    assert!(!allow.updates_dropped());
    assert_eq!(allow.classification(), Classification::UserPermanent);
    assert!(!allowed(r#","updatedPermissions":[]"#).updates_dropped());
}

// covers: WIRE-PERM-044, WIRE-PERM-A03
#[test]
fn one_invalid_update_drops_the_list_and_not_the_allow() {
    for list in [
        format!(r#"[{MODE},{{"type":"setMode"}}]"#),
        format!("[{ADD},null]"),
        "null".into(),
        "{}".into(),
        "\"all\"".into(),
    ] {
        let allow = allowed(&format!(
            r#","updatedPermissions":{list},"decisionClassification":"maybe""#
        ));
        assert!(allow.updates().is_empty(), "{list}");
        assert!(allow.updates_dropped());
        assert_eq!(allow.classification(), Classification::UserTemporary);
    }
    assert!(!allowed("").updates_dropped());
}

// covers: WIRE-PERM-042
#[test]
fn a_denial_has_a_message_and_may_interrupt() {
    let plain = Deny {
        message: "no\u{e9}".into(),
        interrupt: false,
        classification: Classification::UserReject,
    };
    assert_eq!(denied(r#","message":"no\u00e9""#), Ok(plain.clone()));
    assert_eq!(
        denied(r#","message":"noé","interrupt":true,"updatedInput":7"#),
        Ok(Deny {
            interrupt: true,
            ..plain
        })
    );
    assert_eq!(denied(""), Err(AnswerFault::Missing("message")));
    for (members, member) in [
        (r#","message":null"#, "message"),
        (r#","message":["no"]"#, "message"),
        (r#","message":"no","interrupt":null"#, "interrupt"),
        (r#","message":"no","interrupt":"true""#, "interrupt"),
    ] {
        assert_eq!(denied(members), Err(AnswerFault::WrongType(member)));
    }
}

// covers: WIRE-PERM-043
#[test]
fn a_classification_changes_nothing_but_itself() {
    for word in Classification::ALL {
        let member = format!(r#","decisionClassification":"{}""#, word.as_str());
        assert_eq!(allowed(&member).classification(), *word);
        let denied = denied(&format!(r#","message":"no"{member}"#)).unwrap();
        assert_eq!(denied.classification, *word);
    }
    for wrong in ["null", "7", "\"USER_REJECT\""] {
        let member = format!(r#","decisionClassification":{wrong}"#);
        assert_eq!(allowed(&member), allowed(""));
        let message = r#","message":"no""#;
        assert_eq!(denied(&format!("{message}{member}")), denied(message));
    }
}

// covers: WIRE-PERM-010, WIRE-PERM-044
#[test]
fn a_tool_use_id_is_a_string_if_it_is_there() {
    allowed(r#","toolUseID":"anything""#);
    for wrong in ["null", "7", "{}"] {
        let fault = AnswerFault::WrongType("toolUseID");
        assert_eq!(
            answer(&format!(
                r#"{{"behavior":"allow","updatedInput":{{}},"toolUseID":{wrong}}}"#
            )),
            Err(fault)
        );
        assert_eq!(
            denied(&format!(r#","message":"no","toolUseID":{wrong}"#)),
            Err(fault)
        );
    }
}

// covers: WIRE-PERM-002, WIRE-PERM-044, WIRE-PERM-051, WIRE-PERM-A04
#[test]
fn what_decides_nothing_is_a_fault() {
    assert_eq!(PermissionAnswer::parse(None), Err(AnswerFault::NoPayload));
    for payload in ["[]", "true", "null", r#""allow""#] {
        assert_eq!(answer(payload), Err(AnswerFault::NotAnObject));
    }
    assert_eq!(
        answer(r#"{"updatedInput":{}}"#),
        Err(AnswerFault::Missing("behavior"))
    );
    for behavior in [
        "null",
        "true",
        r#""ask""#,
        r#""Allow""#,
        r#""allow ""#,
        r#""""#,
    ] {
        assert_eq!(
            answer(&format!(
                r#"{{"behavior":{behavior},"updatedInput":{{}},"message":"x"}}"#
            )),
            Err(AnswerFault::UnknownBehavior)
        );
    }
}

// covers: WIRE-PERM-044
#[test]
fn faults_say_what_is_wrong() {
    for (fault, text) in [
        (AnswerFault::NoPayload, "the answer has no payload"),
        (
            AnswerFault::NotAnObject,
            "the answer's payload is not an object",
        ),
        (
            AnswerFault::UnknownBehavior,
            "behavior must be allow or deny",
        ),
        (AnswerFault::Missing("message"), "the answer has no message"),
        (
            AnswerFault::WrongType("interrupt"),
            "the answer's interrupt has the wrong type",
        ),
    ] {
        assert_eq!(fault.to_string(), text);
    }
}

// covers: WIRE-PERM-030, WIRE-PERM-031
#[test]
fn six_updates_come_out_as_they_went_in() {
    let replace = ADD.replace("addRules", "replaceRules");
    let remove = ADD.replace("addRules", "removeRules");
    let remove_directories = DIRECTORIES.replace("addDirectories", "removeDirectories");
    for text in [
        ADD,
        &replace,
        &remove,
        MODE,
        DIRECTORIES,
        &remove_directories,
    ] {
        let update = update(text).unwrap();
        assert_eq!(update.to_raw().unwrap().as_str(), text);
    }
    assert_eq!(
        update(ADD),
        Some(PermissionUpdate::Rules(RulesUpdate {
            action: RulesAction::Add,
            rules: vec![
                PermissionRule {
                    tool_name: "Bash".into(),
                    rule_content: Some("ls:*".into()),
                },
                PermissionRule {
                    tool_name: "Write".into(),
                    rule_content: None,
                },
            ],
            behavior: Behavior::Deny,
            destination: Destination::ProjectSettings,
        }))
    );
}

// covers: WIRE-PERM-030
#[test]
fn lists_may_be_empty_and_unknown_members_are_dropped() {
    let empty = update(
        r#"{"type":"replaceRules","rules":[],"behavior":"ask","destination":"cliArg","note":null}"#,
    );
    assert_eq!(empty.unwrap().destination(), Destination::CliArg);
    let empty = r#"{"type":"removeDirectories","directories":[],"destination":"localSettings"}"#;
    assert_eq!(update(empty).unwrap().to_raw().unwrap().as_str(), empty);
}

// covers: WIRE-PERM-030, WIRE-PERM-031
#[test]
fn anything_unknown_or_null_makes_an_update_invalid() {
    let cases = [
        (ADD, r#""addRules""#, r#""addRule""#),
        (ADD, r#""deny""#, "null"),
        (ADD, r#""deny""#, r#""block""#),
        (ADD, r#""projectSettings""#, r#""policySettings""#),
        (ADD, r#","behavior":"deny""#, ""),
        (ADD, r#","destination":"projectSettings""#, ""),
        (ADD, r#"{"toolName":"Write"}"#, "{}"),
        (ADD, r#"{"toolName":"Write"}"#, r#"{"toolName":null}"#),
        (ADD, r#"{"toolName":"Write"}"#, r#""Write""#),
        (ADD, r#""ls:*""#, "null"),
        (MODE, r#""plan""#, r#""auto""#),
        (MODE, r#""plan""#, r#""bubble""#),
        (MODE, r#""mode":"plan","#, ""),
        (DIRECTORIES, r#""/b""#, "null"),
        (DIRECTORIES, r#"["/a","/b"]"#, r#""/a""#),
        (DIRECTORIES, r#""type":"addDirectories","#, ""),
    ];
    for (valid, from, to) in cases {
        let changed = valid.replace(from, to);
        assert_ne!(changed, valid);
        assert_eq!(update(&changed), None, "{changed}");
    }
    assert_eq!(update("[]"), None);
}

// covers: WIRE-PERM-030
#[test]
fn three_destinations_are_files() {
    let files = |d: &&Destination| d.is_persisted();
    let files = Destination::ALL.iter().filter(files);
    assert!(
        files
            .map(|d| d.as_str())
            .eq(["userSettings", "projectSettings", "localSettings"])
    );
}

// covers: WIRE-PERM-031
#[test]
fn modes_are_five_words() {
    for mode in PermissionMode::ALL {
        assert_eq!(mode.as_str().parse(), Ok(*mode));
    }
    let fault = "auto".parse::<PermissionMode>().unwrap_err();
    assert_eq!(
        fault.to_string(),
        "permission mode must be default, acceptEdits, plan, dontAsk or bypassPermissions"
    );
}
