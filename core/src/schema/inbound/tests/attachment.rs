use super::user::{blocks, message, reason};
use alloc::string::String;
use alloc::vec::Vec;
use alloc::{format, vec};

const MANIFEST: [(&str, &str); 7] = [
    ("attachment_id", r#""att_image1""#),
    ("kind", r#""image""#),
    ("name", r#""screen.png""#),
    ("mime_type", r#""image/png""#),
    ("size_bytes", "12345"),
    (
        "sha256",
        r#""0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef""#,
    ),
    (
        "storage_id",
        r#""blob_sha256_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef""#,
    ),
];

/// A manifest in which `changed` has another value, or none.
fn manifest(changed: &str, to: Option<&str>) -> String {
    let members: Vec<String> = MANIFEST
        .iter()
        .filter_map(|(name, value)| {
            let value = if *name == changed { to? } else { value };
            Some(format!(r#""{name}":{value}"#))
        })
        .collect();
    format!(r#"{{"type":"attachment_ref",{}}}"#, members.join(","))
}

// covers: WIRE-017, DEC-23
#[test]
fn a_valid_attachment_is_told_that_there_are_none() {
    let text = r#"{"type":"text","text":"a"}"#;
    let attachment = manifest("", None);
    let unavailable = "attachments are not available in this session";
    assert_eq!(reason(&blocks(&attachment)), unavailable);
    assert_eq!(
        reason(&blocks(&format!("{text},{attachment}"))),
        unavailable
    );
    assert_eq!(
        reason(&blocks(&format!("{attachment},{text}"))),
        unavailable
    );
    assert_eq!(
        reason(&message(&format!(r#""content":[{attachment}]"#))),
        "content block: attachment_ref needs content_version 1"
    );
}

// covers: WIRE-017
#[test]
fn every_member_of_a_manifest_is_required_and_checked() {
    let long_name = format!(r#""{}""#, "n".repeat(256));
    let long_mime = format!(r#""{}""#, "m".repeat(65));
    let wrong = [
        (
            "attachment_id",
            vec!["null", r#""att_""#, r#""att_-a""#, r#""upl_a""#],
        ),
        ("kind", vec!["null", r#""video""#]),
        ("name", vec!["null", r#""""#, &long_name]),
        ("mime_type", vec!["null", r#""""#, &long_mime]),
        ("size_bytes", vec!["null", "0", "-1", "1.5", r#""1""#]),
        ("sha256", vec!["null", r#""AB""#]),
        ("storage_id", vec!["null", r#""blob_sha256_""#]),
    ];
    for (member, values) in wrong {
        let expected = format!("attachment_ref: missing or invalid {member}");
        assert_eq!(reason(&blocks(&manifest(member, None))), expected);
        for value in values {
            assert_eq!(reason(&blocks(&manifest(member, Some(value)))), expected);
        }
    }
    let extra = manifest("", None).replace("\"kind\"", "\"path\":\"/x\",\"kind\"");
    assert_eq!(
        reason(&blocks(&extra)),
        r#"attachment_ref: unknown member "path""#
    );
}
