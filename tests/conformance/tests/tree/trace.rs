//! Every requirement that counts as built is held by a test, and every test
//! that names a requirement names one that the register calls built.

use crate::complain;
use agentx_conformance::{register, source, tree};

#[test]
fn requirements_are_traced() {
    let files = tree::files(&tree::root()).unwrap();
    let text = files
        .iter()
        .find(|file| file.path == "docs/requirements.toml")
        .map_or("", |file| file.text());
    let register = register::read(text).unwrap_or_else(|wrong| {
        complain(&wrong);
        register::Register::new()
    });
    let mut tests = Vec::new();
    let mut wrong = Vec::new();
    for file in files.iter().filter(|file| file.has_extension("rs")) {
        let (found, stray) = source::tests(&file.path, file.text());
        tests.extend(found);
        wrong.extend(stray);
    }
    assert!(
        tests.len() > 10 && register.len() > 700,
        "the tree was not read"
    );
    wrong.extend(register::audit(&register, &tests, &files));
    complain(&wrong);
}
