//! Tools that come across the key.

use super::vault::{SCRIPTED, Vault};
use crate::support::{Signal, script, tool_results, user};
use serde_json::{Value, json};

fn calls(calls: &[(&str, Value)]) -> String {
    let calls: Vec<Value> = calls
        .iter()
        .map(|(name, input)| json!({"name": name, "input": input}))
        .collect();
    user(&script(&json!([
        {"tool_calls": calls}, {"text": "it said {results}"}
    ])))
}

/// A shell script that prints `text` in two halves.
fn printed(text: &str) -> String {
    let (left, right) = text.split_at(text.len() / 2);
    let quote = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    format!("printf %s {}; printf %s {}", quote(left), quote(right))
}

// covers: DEC-30, WIRE-013
#[test]
fn no_tool_tells_a_key_it_comes_across() {
    let mut vault = Vault::offline();
    let work = vault.world.work();
    // Of all three shapes; a file cannot be named like the one with a slash.
    for n in [0, 1, 2] {
        let key = vault.keys[n].clone();
        let text = format!("{}{key} {key}\nkey={key}\n", "x".repeat(1990));
        vault.plant(work.join(format!("notes{n}.txt")), &text);
        vault.plant(work.join(format!("say{n}.sh")), &printed(&key));
        if !key.contains('/') {
            vault.plant(work.join(&key), "named like a key");
        }
    }
    let mut agent = vault.session(SCRIPTED, &[]);
    let mut asked = 0;
    for n in [0, 1, 2] {
        let print = format!("sh say{n}.sh");
        let file = format!("notes{n}.txt");
        let path = work.join(&file).display().to_string();
        let round = [
            ("Bash", json!({"command": print})),
            ("Bash", json!({"command": format!("({print}) >&2; exit 3")})),
            (
                "Bash",
                json!({"command": format!("{print}; kill -KILL $$")}),
            ),
            (
                "Bash",
                json!({"command": format!("({print}) | base64 -w0; ls")}),
            ),
            (
                "Bash",
                json!({"command": format!("cat {file} {file} {file}")}),
            ),
            ("Read", json!({"file_path": path})),
            ("Grep", json!({"pattern": "key=", "output_mode": "content"})),
            (
                "Grep",
                json!({"pattern": "named like", "path": work.display().to_string()}),
            ),
            ("Grep", json!({"pattern": "x", "output_mode": "content"})),
            ("Glob", json!({"pattern": "*"})),
            (
                "Glob",
                json!({"pattern": "**/*", "path": work.display().to_string()}),
            ),
        ];
        asked += round.len();
        agent.send(&calls(&round));
        let result = agent.until_type("result");
        assert_eq!(result["subtype"], "success", "{result}");
    }
    let results = tool_results(&agent.seen);
    assert_eq!(results.len(), asked);
    let silent = results
        .iter()
        .filter(|text| !text.contains("[redacted]") && !text.contains("characters cut]"));
    assert_eq!(silent.collect::<Vec<_>>(), [""; 0], "each had a key");
    let outcome = agent.end();
    vault.judge("tools", &outcome);
}

// covers: DEC-30
#[test]
fn no_child_is_given_a_key_or_a_route() {
    let vault = Vault::offline();
    let mut agent = vault.session(SCRIPTED, &[]);
    let look = "cat /proc/self/cmdline /proc/self/environ /proc/$$/cmdline /proc/$$/environ \
        /proc/$PPID/cmdline /proc/$PPID/environ > seen; env >> seen; ls -l /proc/self/fd/ >> seen";
    agent.send(&calls(&[("Bash", json!({"command": look}))]));
    agent.until_type("result");
    vault.judge_process(agent.pid());
    let seen = std::fs::read(vault.world.work().join("seen")).unwrap();
    let seen = String::from_utf8_lossy(&seen);
    assert!(
        seen.contains("--provider") && seen.contains("PATH="),
        "{seen}"
    );
    let outcome = agent.end();
    assert_eq!(outcome.status, Some(0), "{}", outcome.stderr);
    vault.judge("a child", &outcome);
}

// covers: DEC-30
#[test]
fn a_turn_that_breaks_off_inside_a_key_tells_no_part_of_it() {
    let mut vault = Vault::offline();
    for (n, signal) in [(0, Signal::TERM), (1, Signal::INT), (2, Signal::HUP)] {
        let key = &vault.keys[n];
        let begun = key[..key.len() - 1].to_owned();
        for part in ["deltas", "thinking"] {
            // In one piece: what comes before the key shows that all of it came.
            let turn = json!({part: [format!("so: {begun}")], "hold": true});
            vault.script(&json!({"turns": [turn]}).to_string());
            let mut agent = vault.session_on("script", &[]);
            agent.send(&user("go"));
            agent.until(|record| record["event"]["type"] == "content_block_delta");
            agent.signal(signal);
            let outcome = agent.wait();
            let shown = outcome.stdout.contains("so: [redacted]");
            assert!(shown, "{}", outcome.stdout);
            vault.judge(part, &outcome);
        }
    }
}
