//! Answers to permission questions.

use agentx_core::json::RawJson;
use agentx_core::schema::permission::PermissionAnswer;
use serde_json::Value;

/// The payload of an answer. Only one that says `allow`, has an input or is
/// of an existing host, and could be read allows; everything else denies.
pub fn target(data: &[u8]) {
    let Ok(payload) = RawJson::parse_bytes(data) else {
        return;
    };
    let said = serde_json::from_slice::<Value>(data).unwrap_or_default();
    let strict = PermissionAnswer::parse(Some(&payload));
    let reference = PermissionAnswer::parse_reference(Some(&payload));
    if let Ok(PermissionAnswer::Allow(_)) = &strict {
        // WIRE-PERM-040: an input is not to be made up.
        assert!(said.is_null() || said["updatedInput"].is_object());
    }
    match (&strict, &reference) {
        (Ok(strict), Ok(reference)) => assert_eq!(strict, reference),
        (Err(_), Ok(PermissionAnswer::Allow(allow))) => {
            assert!(said.is_null() || said.get("updatedInput").is_none());
            assert_eq!(allow.updated_input(), None);
        }
        (Err(strict), Err(reference)) => assert_eq!(strict.to_string(), reference.to_string()),
        (strict, reference) => panic!("{strict:?}, but in the other profile {reference:?}"),
    }
    for answer in [strict, reference].into_iter().flatten() {
        let word = match answer {
            PermissionAnswer::Allow(allow) => {
                if let Some(input) = allow.updated_input() {
                    assert!(input.is_object() && input.as_str() != "{}");
                }
                assert!(!allow.updates_dropped() || allow.updates().is_empty());
                "allow"
            }
            PermissionAnswer::Deny(_) => "deny",
        };
        assert!(said.is_null() || said["behavior"] == word);
    }
}
