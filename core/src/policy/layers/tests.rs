use super::*;

fn layers(files: &[(Layer, &str)]) -> Layers {
    let mut layers = Layers::new();
    for (layer, text) in files {
        layers.set(*layer, Settings::read(text.as_bytes()).unwrap());
    }
    layers
}

const TOOL: &str = r#""description":"d","input_schema":{"type":"object"},"command":["c"]"#;

// covers: ACC-10
#[test]
fn each_value_knows_its_layer_and_the_highest_wins() {
    let tool = |name: &str, extra: &str| alloc::format!(r#"{{"name":"{name}",{TOOL}{extra}}}"#);
    let (a, b) = (tool("a", ""), tool("b", ""));
    let higher = tool("a", r#","permission":"deny""#);
    // The order of setting is not the order of the layers.
    let layers = layers(&[
        (
            Layer::Policy,
            r#"{"permissions":{"deny":["Bash(rm:*)"],"allow":["Read"]}}"#,
        ),
        (
            Layer::User,
            &alloc::format!(
                r#"{{"permissions":{{"defaultMode":"plan","allow":["Read","Write"],"additionalDirectories":["/u"]}},"tools":[{a},{b}]}}"#
            ),
        ),
        (
            Layer::Flag,
            &alloc::format!(r#"{{"permissions":{{"defaultMode":"dontAsk"}},"tools":[{higher}]}}"#),
        ),
        (
            Layer::Local,
            r#"{"permissions":{"ask":["Write"],"additionalDirectories":["l","/u"]}}"#,
        ),
    ]);
    let order: Vec<&str> = layers.sources().map(|of| of.layer.as_str()).collect();
    assert_eq!(
        order,
        [
            "userSettings",
            "localSettings",
            "flagSettings",
            "policySettings"
        ]
    );
    assert_eq!(
        layers.default_mode(),
        Some(Sourced {
            layer: Layer::Flag,
            value: PermissionMode::DontAsk
        })
    );
    let allow: Vec<_> = layers
        .rules(Behavior::Allow)
        .map(|rule| (rule.layer, &*rule.value.tool_name))
        .collect();
    assert_eq!(
        allow,
        [
            (Layer::User, "Read"),
            (Layer::User, "Write"),
            (Layer::Policy, "Read")
        ]
    );
    let directories: Vec<_> = layers.directories().map(|d| (d.layer, d.value)).collect();
    assert_eq!(
        directories,
        [
            (Layer::User, "/u"),
            (Layer::Local, "l"),
            (Layer::Local, "/u")
        ]
    );
    let tools: Vec<_> = layers
        .tools()
        .iter()
        .map(|tool| {
            (
                tool.layer,
                &*tool.value.declared.name,
                tool.value.declared.permission,
            )
        })
        .collect();
    assert_eq!(
        tools,
        [
            (Layer::Flag, "a", Behavior::Deny),
            (Layer::User, "b", Behavior::Ask)
        ]
    );
    let expected = alloc::format!(
        r#"{{"permissions":{{"defaultMode":"dontAsk","allow":["Read","Write"],"ask":["Write"],"deny":["Bash(rm:*)"],"additionalDirectories":["/u","l"]}},"tools":[{higher},{b}]}}"#
    );
    assert_eq!(layers.effective().unwrap().as_str(), expected);
    // What holds is a settings file itself.
    Settings::read(expected.as_bytes()).unwrap();
}

#[test]
fn without_settings_nothing_is_said() {
    let layers = Layers::new();
    assert_eq!(layers.default_mode(), None);
    assert_eq!(
        layers.effective().unwrap().as_str(),
        r#"{"permissions":{}}"#
    );
    assert_eq!(layers.sources().count(), 0);
}

#[test]
fn a_layer_that_is_set_again_is_replaced() {
    let mut layers = layers(&[(Layer::Flag, r#"{"permissions":{"deny":["Read"]}}"#)]);
    layers.set(Layer::Flag, Settings::read(b"{}").unwrap());
    assert_eq!(layers.rules(Behavior::Deny).count(), 0);
    let text = layers.sources().next().unwrap().value.text();
    assert_eq!(text.as_str(), "{}");
}
