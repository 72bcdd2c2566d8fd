use super::{malformed, read, read_sized};
use crate::limits::Limits;
use crate::schema::inbound::{Import, Inbound};
use alloc::format;
use alloc::string::String;

const BEGIN: &str = concat!(
    r#"{"type":"attachment_import","version":1,"operation":"begin","#,
    r#""prompt_uuid":"3f1e7948-5c1f-4c1f-8e2c-88bc9839ec27","upload_id":"upl_image1","#,
    r#""attachment_id":"att_image1","name":"screen.png","size_bytes":12345,"#,
    r#""mime_type":"image/png","sha256":"00ff"}"#
);
const CHUNK: &str = r#"{"type":"attachment_import","version":1,"operation":"chunk","upload_id":"upl_image1","sequence":0,"data":"AAAA"}"#;
const COMMIT: &str =
    r#"{"type":"attachment_import","version":1,"operation":"commit","upload_id":"upl_image1"}"#;

fn import(line: &str) -> Import {
    match read(line) {
        Ok(Inbound::Import(import)) => import,
        other => panic!("{line}: {other:?}"),
    }
}

/// The reason why a changed line is malformed.
fn reason(line: &str, from: &str, to: &str) -> &'static str {
    let changed = line.replace(from, to);
    assert_ne!(changed, line);
    read(&changed).unwrap_err().reason
}

// covers: WIRE-018
#[test]
fn the_four_forms() {
    let upload_id = String::from("upl_image1");
    assert_eq!(
        import(BEGIN),
        Import::Begin {
            prompt_uuid: "3f1e7948-5c1f-4c1f-8e2c-88bc9839ec27".into(),
            upload_id: upload_id.clone(),
            attachment_id: "att_image1".into(),
            name: "screen.png".into(),
            size_bytes: 12345,
            mime_type: "image/png".into(),
            sha256: "00ff".into(),
        }
    );
    assert_eq!(
        import(CHUNK),
        Import::Chunk {
            upload_id: upload_id.clone(),
            sequence: 0,
            data: "AAAA".into()
        }
    );
    assert_eq!(
        import(COMMIT),
        Import::Commit {
            upload_id: upload_id.clone()
        }
    );
    let abort = COMMIT.replace("commit", "abort");
    assert_eq!(
        import(&abort),
        Import::Abort {
            upload_id: upload_id.clone()
        }
    );
    for line in [BEGIN, CHUNK, COMMIT, &abort] {
        assert_eq!(import(line).upload_id(), upload_id);
    }
}

// covers: DEC-08, WIRE-021
#[test]
fn a_wrong_shape_is_malformed() {
    let unknown = "attachment_import: unknown member";
    for line in [BEGIN, CHUNK, COMMIT] {
        assert_eq!(
            reason(line, r#""upload_id""#, r#""path":1,"upload_id""#),
            unknown
        );
    }
    assert_eq!(
        reason(COMMIT, r#""upload_id""#, r#""sequence":0,"upload_id""#),
        unknown
    );
    let version = "attachment_import: version must be 1";
    for wrong in [
        r#""version":2"#,
        r#""version":"1""#,
        r#""version":1.0"#,
        r#""v":1"#,
    ] {
        assert_eq!(reason(COMMIT, r#""version":1"#, wrong), version);
    }
    assert_eq!(
        reason(COMMIT, r#""commit""#, r#""finish""#),
        "attachment_import: unknown operation"
    );
    assert_eq!(
        reason(COMMIT, r#""commit""#, "null"),
        "attachment_import: missing operation"
    );
}

// covers: DEC-08
#[test]
fn every_member_is_required_and_typed() {
    let cases = [
        (
            BEGIN,
            r#""prompt_uuid":"3f1e7948-5c1f-4c1f-8e2c-88bc9839ec27","#,
            "prompt_uuid",
        ),
        (BEGIN, r#""upload_id":"upl_image1","#, "upload_id"),
        (BEGIN, r#""attachment_id":"att_image1","#, "attachment_id"),
        (BEGIN, r#""name":"screen.png","#, "name"),
        (BEGIN, r#""size_bytes":12345,"#, "size_bytes"),
        (BEGIN, r#""mime_type":"image/png","#, "mime_type"),
        (BEGIN, r#","sha256":"00ff""#, "sha256"),
        (CHUNK, r#""sequence":0,"#, "sequence"),
        (CHUNK, r#","data":"AAAA""#, "data"),
        (COMMIT, r#","upload_id":"upl_image1""#, "upload_id"),
    ];
    for (line, member, name) in cases {
        let expected = format!("attachment_import: invalid {name}");
        assert_eq!(reason(line, member, ""), expected);
        let (head, _) = member.split_once(':').unwrap();
        let tail = if member.ends_with(',') { "," } else { "" };
        assert_eq!(
            reason(line, member, &format!("{head}:null{tail}")),
            expected
        );
    }
    for wrong in ["-1", "1.5", "1e3", "18446744073709551616"] {
        assert_eq!(
            reason(CHUNK, ":0,", &format!(":{wrong},")),
            "attachment_import: invalid sequence"
        );
    }
}

// covers: DEC-08, WIRE-018
#[test]
fn ids_keep_their_grammar() {
    for wrong in [
        "upl_", "upl_-a", "upl__a", "upl_a.b", "upl_é", "att_a", "UPL_a", "",
    ] {
        assert_eq!(
            reason(COMMIT, "upl_image1", wrong),
            "attachment_import: invalid upload_id"
        );
    }
    let longest = format!("upl_{}", "a".repeat(63));
    assert_eq!(
        import(&COMMIT.replace("upl_image1", &longest)).upload_id(),
        longest
    );
    let longer = format!("{longest}a");
    assert_eq!(
        reason(COMMIT, "upl_image1", &longer),
        "attachment_import: invalid upload_id"
    );
    assert_eq!(
        reason(BEGIN, "att_image1", "upl_image1"),
        "attachment_import: invalid attachment_id"
    );
    for wrong in [
        "0199a7a0-5c1f-7c1f-8e2c-88bc9839ec27",
        "3f1e7948-5c1f-4c1f-7e2c-88bc9839ec27",
        "prompt-1",
    ] {
        assert_eq!(
            reason(BEGIN, "3f1e7948-5c1f-4c1f-8e2c-88bc9839ec27", wrong),
            "attachment_import: invalid prompt_uuid"
        );
    }
}

// covers: DEC-08
#[test]
fn a_fault_points_at_its_value() {
    let line = COMMIT.replace("upl_image1", "x");
    let at = line.find(r#""x""#).unwrap();
    assert_eq!(
        read(&line),
        malformed(at, "attachment_import: invalid upload_id")
    );
}

// covers: DEC-06
#[test]
fn an_import_record_has_a_ceiling_of_its_own() {
    let limit = 8_388_608;
    assert!(read_sized(CHUNK, limit, Limits::DEFAULT).is_ok());
    assert_eq!(
        read_sized(CHUNK, limit + 1, Limits::DEFAULT),
        malformed(0, "attachment_import: record too large")
    );
}
