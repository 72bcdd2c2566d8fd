//! Settings files: reading, layers, and updates written into their text.

use crate::registry::{hides, key, spells_key, with_key};
use agentx_core::guard::Guard;
use agentx_core::policy::{Layer, Layers, Policy, Settings, edit};
use agentx_core::schema::permission::{
    Behavior, Destination, PermissionMode, PermissionRule, PermissionUpdate, RulesAction,
    RulesUpdate,
};

/// The text of a file; `$KEY` in it stands for a key that no fault may tell.
pub fn target(data: &[u8]) {
    if spells_key(data) {
        return;
    }
    let bytes = with_key(data);
    let keys = Guard::new([key()]).expect("one literal");
    let settings = match Settings::read_guarded(&bytes, &keys) {
        Ok(settings) => settings,
        Err(fault) => return hides("the fault", &fault.to_string()),
    };
    let text = std::str::from_utf8(&bytes).expect("what was read is UTF-8");
    assert_eq!(Settings::read(text.as_bytes()).as_ref(), Ok(&settings));
    updates(text);

    let mut layers = Layers::new();
    layers.set(Layer::User, settings.clone());
    layers.set(Layer::Project, settings);
    let effective = layers.effective();
    if let Ok(effective) = effective {
        let again = Settings::read(effective.as_str().as_bytes());
        assert!(again.is_ok(), "{effective:?} is no settings file");
    }
    let _ = Policy::new(PermissionMode::Default, "/repo".into()).with(&[], &layers);
}

/// An update is there once it was written, writing it again changes nothing, and
/// taking it away gives a file that can still be read.
fn updates(text: &str) {
    let nothing: [&PermissionUpdate; 0] = [];
    assert_eq!(edit(Some(text), nothing, "/repo").as_deref(), Ok(text));
    let update = |action| {
        PermissionUpdate::Rules(RulesUpdate {
            action,
            rules: vec![PermissionRule {
                tool_name: "Bash".into(),
                rule_content: Some("fuzz:*".into()),
            }],
            behavior: Behavior::Allow,
            destination: Destination::ProjectSettings,
        })
    };
    let (add, remove) = (update(RulesAction::Add), update(RulesAction::Remove));
    // A list may be full.
    let Ok(added) = edit(Some(text), [&add], "/repo") else {
        return;
    };
    assert!(added.contains("Bash(fuzz:*)"));
    let again = edit(Some(&added), [&add], "/repo");
    assert_eq!(again.as_deref(), Ok(&*added));
    let removed = edit(Some(&added), [&remove], "/repo").expect("what was written can be read");
    assert_eq!(edit(Some(&removed), [&remove], "/repo"), Ok(removed));
}
