//! Permission rules and what they make of calls.

use agentx_core::json::{RawJson, Writer};
use agentx_core::policy::{Judgement, Policy, read_rule, write_rule};
use agentx_core::schema::permission::{
    Behavior, Destination, PermissionMode, PermissionRule, PermissionUpdate, RulesAction,
    RulesUpdate,
};
use agentx_core::tool::{Background, ToolClass, ToolSpec};

/// A rule in each line but the last, which is a command or a path. A rule that
/// denies or asks never makes a judgement milder, and one that allows never
/// stricter.
pub fn target(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let (rules, subject) = text.rsplit_once('\n').unwrap_or(("", text));
    let tools = [
        tool("Bash", ToolClass::Execute, None),
        tool("Read", ToolClass::ReadOnly, Some("file_path")),
        tool("Write", ToolClass::Edit, Some("file_path")),
    ];
    let inputs = [
        input("command", subject),
        input("file_path", subject),
        input("file_path", subject),
    ];
    let modes = [
        PermissionMode::Default,
        PermissionMode::AcceptEdits,
        PermissionMode::Plan,
    ];
    for mode in modes {
        for behavior in [Behavior::Allow, Behavior::Ask, Behavior::Deny] {
            let mut policy = Policy::new(mode, "/repo".into());
            for line in rules.lines() {
                let Ok(rule) = read_rule(line, behavior) else {
                    continue;
                };
                assert_eq!(write_rule(&rule, behavior).as_deref(), Ok(line));
                let before = judgements(&policy, &tools, &inputs);
                policy.apply(&adding(rule, behavior));
                let after = judgements(&policy, &tools, &inputs);
                for (before, after) in before.into_iter().zip(after) {
                    match behavior {
                        Behavior::Allow => assert!(after <= before, "{line:?}: {text:?}"),
                        Behavior::Ask | Behavior::Deny => {
                            assert!(after >= before, "{line:?}: {text:?}");
                        }
                    }
                }
            }
        }
    }
}

/// How strict each judgement is.
fn judgements(policy: &Policy, tools: &[ToolSpec; 3], inputs: &[RawJson; 3]) -> Vec<u8> {
    let calls = tools.iter().zip(inputs);
    calls
        .map(|(tool, input)| match policy.judge(tool, input) {
            Judgement::Allow(_) => 0,
            Judgement::Ask(_) => 1,
            Judgement::Deny(_) => 2,
        })
        .collect()
}

fn adding(rule: PermissionRule, behavior: Behavior) -> PermissionUpdate {
    PermissionUpdate::Rules(RulesUpdate {
        action: RulesAction::Add,
        rules: vec![rule],
        behavior,
        destination: Destination::Session,
    })
}

fn input(member: &str, text: &str) -> RawJson {
    let mut writer = Writer::new();
    writer.begin_object();
    writer.member_str(member, text);
    writer.end_object();
    RawJson::parse_bytes(&writer.finish()).expect("an object")
}

fn tool(name: &str, class: ToolClass, path_member: Option<&'static str>) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: "a tool".into(),
        input_schema: RawJson::empty_object(),
        class,
        path_member,
        parallel: false,
        background: Background::Never,
    }
}
