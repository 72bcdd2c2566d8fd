//! Command lines and variables that hold the key.

use super::vault::{Vault, id};
use crate::support::finish;

// covers: DEC-30
#[test]
fn no_refusal_of_a_command_line_quotes_a_key() {
    let vault = Vault::offline();
    for n in [0, 1] {
        let key = &vault.keys[n];
        let option = format!("--{key}");
        let valued = format!("--{key}=x");
        let lines: [&[&str]; 31] = [
            &["-p", "--provider", key, "x"],
            &["-p", "--effort", key, "x"],
            &["-p", "--provider", &id(n), "--effort", key, "x"],
            &["-p", "--cwd", key, "x"],
            &["-p", "--output-format", key, "x"],
            &["-p", "--input-format", key, "x"],
            &["-p", "--permission-mode", key, "x"],
            &["-p", "--max-turns", key, "x"],
            &["-p", "--max-budget-usd", key, "x"],
            &["-p", "--profile", key, "x"],
            &["-p", "--settings", key, "x"],
            &["-p", "--add-dir", key, "x"],
            &["-p", "--tools", key, "x"],
            &["-p", "--resume", key, "x"],
            &["-p", "--session-id", key, "x"],
            &["-p", "--driver", key, "x"],
            &["-p", "x", key],
            &["-p", key, "y", "z"],
            &["-p", &option, "x"],
            &["-p", &valued, "x"],
            &[&option],
            &["--list-providers", key],
            &["--list-providers", &option],
            &["--list-providers", &valued],
            &["--list-providers", "--output-format", key],
            &["demo", key],
            &["demo", &option],
            &["sessions", key],
            &["sessions", "show", key],
            &["sessions", "list", key],
            &["schema", key],
        ];
        for line in lines {
            let outcome = vault.run(line, "");
            assert!(
                matches!(outcome.status, Some(1 | 2)),
                "{line:?}: {}",
                outcome.stdout
            );
            assert!(outcome.stderr.contains("agentx: error: "), "{line:?}");
            vault.judge(&format!("{line:?}").replace(key.as_str(), "KEY"), &outcome);
        }
        for (name, value) in [
            ("AGENTX_PROFILE", key.to_owned()),
            ("AGENTX_LOG", format!("[{key}")),
            ("AGENTX_LOG", format!("{key}=nothing")),
            ("AGENTX_HOME", key.to_owned()),
        ] {
            let mut command = vault.command(&["-p", "x"]);
            command.env(name, value);
            vault.judge(name, &finish(command, ""));
        }
    }
}

// covers: DEC-30
#[test]
fn an_answer_as_text_tells_no_key() {
    let vault = Vault::offline();
    for n in [0, 1, 2] {
        let outcome = vault.run(&["-p", &format!("my key: {}", vault.keys[n])], "");
        assert_eq!(outcome.stdout, "echo: my key: [redacted]\n");
        assert_eq!(outcome.status, Some(0));
        vault.judge("an echo", &outcome);
    }
}
