use super::{read, read_sized};
use crate::limits::Limits;
use crate::schema::inbound::{Environment, Inbound};
use alloc::format;
use alloc::string::String;

fn line(variables: &str) -> String {
    format!(r#"{{"type":"update_environment_variables","variables":{variables}}}"#)
}

fn refused(line: &str) -> String {
    match read(line) {
        Ok(Inbound::EnvironmentRefused { reason }) => reason,
        other => panic!("{line}: {other:?}"),
    }
}

fn accepted(line: &str) -> Environment {
    match read(line) {
        Ok(Inbound::UpdateEnvironment(variables)) => variables,
        other => panic!("{line}: {other:?}"),
    }
}

// covers: DEC-22
#[test]
fn names_and_values_are_taken_as_they_are() {
    let variables = accepted(&line(r#"{"LANG":"de","_a9":"","P\u0041TH_X":"\u00e9"}"#));
    let pairs = [("LANG", "de"), ("PATH_X", "é"), ("_a9", "")];
    assert!(
        variables
            .iter()
            .map(|(n, v)| (n.as_str(), v.as_str()))
            .eq(pairs)
    );
    assert!(accepted(&line("{}")).is_empty());
}

// covers: DEC-22
#[test]
fn the_alias_counts_where_the_name_is_absent() {
    let alias = r#"{"type":"update_environment_variables","environment_variables":{"A":"1"}}"#;
    assert_eq!(accepted(alias).len(), 1);
    let both =
        r#"{"type":"update_environment_variables","environment_variables":7,"variables":{}}"#;
    assert!(accepted(both).is_empty());
}

// covers: DEC-22
#[test]
fn a_wrong_shape_applies_nothing() {
    let none = r#"{"type":"update_environment_variables"}"#;
    assert_eq!(refused(none), "environment update: missing variables");
    for (variables, reason) in [
        ("null", "environment update: variables must be an object"),
        ("[]", "environment update: variables must be an object"),
        (r#"{"":"x"}"#, r#"environment update: invalid name """#),
        (r#"{"9A":"x"}"#, r#"environment update: invalid name "9A""#),
        (
            r#"{"A-B":"x"}"#,
            r#"environment update: invalid name "A-B""#,
        ),
        (r#"{"É":"x"}"#, r#"environment update: invalid name "É""#),
        (
            r#"{"A":null}"#,
            "environment update: A must be a string without NUL",
        ),
        (
            r#"{"A":"a\u0000b"}"#,
            "environment update: A must be a string without NUL",
        ),
        (
            r#"{"A":"\ud800"}"#,
            "environment update: A must be a string without NUL",
        ),
    ] {
        assert_eq!(refused(&line(variables)), reason);
    }
}

// covers: DEC-22
#[test]
fn names_that_steer_a_child_are_refused() {
    for name in [
        "PATH",
        "Path",
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "DYLD_INSERT_LIBRARIES",
        "GLIBC_TUNABLES",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "SSLKEYLOGFILE",
        "https_proxy",
        "HTTP_PROXY",
        "all_proxy",
        "no_proxy",
        "AGENTX_HOME",
        "agentx_profile",
    ] {
        assert_eq!(
            refused(&line(&format!(r#"{{"OK":"1","{name}":"x"}}"#))),
            format!("environment update: {name} may not be set")
        );
    }
}

// covers: DEC-22
#[test]
fn ceilings_of_one_update() {
    let limits = Limits {
        environment_entries: 2,
        environment_bytes: 6,
        ..Limits::DEFAULT
    };
    let sized = |variables: &str| read_sized(&line(variables), 0, limits).unwrap();
    let refused = |reason: &str| Inbound::EnvironmentRefused {
        reason: reason.into(),
    };
    assert!(matches!(
        sized(r#"{"A":"12","B":"34"}"#),
        Inbound::UpdateEnvironment(_)
    ));
    assert_eq!(
        sized(r#"{"A":"12","B":"345"}"#),
        refused("environment update: more than 6 bytes")
    );
    assert_eq!(
        sized(r#"{"A":"","B":"","C":""}"#),
        refused("environment update: more than 2 variables")
    );
    assert_eq!(Limits::DEFAULT.environment_entries, 256);
    assert_eq!(Limits::DEFAULT.environment_bytes, 262_144);
}

// covers: DEC-22, DEC-30
#[test]
fn printing_an_update_shows_no_value() {
    let update = read(&line(r#"{"NAME":"hidden value"}"#)).expect("accepted");
    let printed = format!("{update:?}");
    assert!(printed.contains("NAME") && !printed.contains("hidden"));
}
