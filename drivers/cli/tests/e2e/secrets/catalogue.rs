//! What a full registry tells of itself.

use super::vault::{ENTRIES, KINDS, Vault, id, model};
use crate::support::control;

// covers: ACC-21, ACC-27, WIRE-016, WIRE-024, WIRE-026, DEC-30
#[test]
fn a_full_registry_tells_its_catalogue_and_nothing_else() {
    let vault = Vault::offline();
    for format in ["text", "json"] {
        let outcome = vault.run(&["--list-providers", "--output-format", format], "");
        assert_eq!(outcome.status, Some(0), "{}", outcome.stderr);
        for n in 0..ENTRIES {
            assert!(outcome.stdout.contains(&model(n)), "{}", outcome.stdout);
        }
        vault.judge(format, &outcome);
    }
    for n in 0..KINDS.len() {
        let mut agent = vault.session(n, &[]);
        let init = agent.until_type("init");
        assert_eq!(init["apiKeySource"], "user");
        assert_eq!(init["model"], model(n));
        agent.send(&control("i", "initialize"));
        let answer = agent.until_type("control_response");
        let payload = &answer["response"]["response"];
        assert_eq!(payload["account"]["apiKeySource"], "user");
        assert_eq!(payload["account"]["provider"], id(n));
        assert_eq!(payload["providers"].as_array().unwrap().len(), ENTRIES);
        vault.judge_process(agent.pid());
        let outcome = agent.end();
        assert_eq!(outcome.status, Some(0), "{}", outcome.stderr);
        vault.judge(&id(n), &outcome);
    }
}
