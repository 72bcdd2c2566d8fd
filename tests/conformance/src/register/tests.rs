use super::{Status, audit, deciding_line, read};
use crate::source;
use crate::tree::File;

const CODE: &str = "fn decide() -> bool {\n    // refuse()\n    refuse()\n}\nfn keep() {}\n#[cfg(test)]\nmod tests {\n    // covers: ACC-01\n    #[test]\n    fn holds() {\n        keep()\n    }\n}\n";

/// The complaints about a register beside the file above.
fn complaints(register: &str) -> Vec<String> {
    let register = read(register).unwrap();
    let (tests, wrong) = source::tests("a.rs", CODE);
    assert!(wrong.is_empty());
    audit(&register, &tests, &[File::of("a.rs", CODE)])
}

#[test]
fn a_register_that_fits_brings_no_complaint() {
    let text = "[x]\nACC-01 = { status = 'built', tests = ['a.rs::holds'], line = 'a.rs:refuse()' }\nB-1 = 'planned'\n[y.z]\nB-2 = { status = 'out', reason = 'not ours' }\n";
    assert_eq!(complaints(text), [""; 0]);
    assert_eq!(read(text).unwrap()["B-2"].status, Status::Out);
}

#[test]
fn each_contradiction_is_told() {
    let cases = [
        ("B-1 = 'planned'", "ACC-01 is no id of the register"),
        ("ACC-01 = 'planned'", "ACC-01 is still `planned`"),
        (
            "ACC-01 = { status = 'out', reason = 'r' }",
            "ACC-01 is `out` in the register",
        ),
        ("ACC-01 = 'out'", "ACC-01: `reason` stands exactly"),
        (
            "ACC-01 = { status = 'built', missing = 'm' }",
            "ACC-01: `missing` stands only",
        ),
        ("B-1 = 'built'", "B-1 is built, but no test covers it"),
        (
            "ACC-01 = 'built'",
            "ACC-01: a built scenario names its tests",
        ),
        (
            "ACC-01 = 'built'",
            "ACC-01: a built scenario names the line",
        ),
        (
            "ACC-01 = { status = 'built', tests = ['a.rs::gone'] }",
            "there is no test a.rs::gone",
        ),
        (
            "B-1 = { status = 'planned', tests = ['a.rs::holds'] }",
            "a.rs::holds does not say that it covers it",
        ),
        (
            "B-1 = { status = 'planned', line = 'a.rs:lost()' }",
            "no line of a.rs has `lost()`",
        ),
        (
            "B-1 = { status = 'planned', becomes = 'x' }",
            "`becomes` without `line`",
        ),
    ];
    for (register, complaint) in cases {
        let all = complaints(register);
        assert!(
            all.iter().any(|c| c.contains(complaint)),
            "{register}: {all:?}"
        );
    }
}

#[test]
fn a_register_that_cannot_be_read_says_where() {
    let cases = [
        ("A = 'planned'\nA = 'built'", "duplicate key"),
        ("[x]\nA = 'planned'\n[y]\nA = 'built'", "A: stands twice"),
        ("A = 'done'", "A: unknown variant `done`"),
        (
            "A = { status = 'built', test = [] }",
            "A: unknown field `test`",
        ),
    ];
    for (text, fault) in cases {
        let all = read(text).unwrap_err();
        assert!(all.iter().any(|w| w.contains(fault)), "{text}: {all:?}");
    }
}

#[test]
fn the_deciding_line_is_one_line_of_production_code() {
    let files = [File::of("a.rs", CODE), File::of("a/tests.rs", CODE)];
    assert_eq!(deciding_line("a.rs:refuse()", &files), Ok(3));
    assert_eq!(deciding_line("a.rs:keep()", &files), Ok(5));
    for (line, fault) in [
        ("a.rs", "is not FILE:FRAGMENT"),
        ("b.rs:x", "there is no file b.rs"),
        ("a/tests.rs:refuse()", "is not production code"),
        ("a.rs:fn ", "lines 1 and 5 of a.rs both have"),
        ("a.rs:covers", "no line of a.rs has"),
    ] {
        let said = deciding_line(line, &files).unwrap_err();
        assert!(said.contains(fault), "{line}: {said}");
    }
}
