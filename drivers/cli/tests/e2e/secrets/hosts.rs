//! Hosts that send the key themselves.

use super::vault::{SCRIPTED, Vault};
use crate::support::{Agent, DUPLEX, control, decide, script, user};
use serde_json::json;

/// Characters of a word of the host that are shown.
const SHOWN: usize = 128;

/// Records of which each is refused, or answered, alone, with `word` in every
/// place that is shown.
fn harmless(word: &str) -> Vec<String> {
    let message = |content| json!({"role": "user", "content": content});
    let user = |content| json!({"type": "user", "message": message(content)});
    let mut named = user(json!("x"));
    named[word] = json!(1);
    let mut inside = user(json!("x"));
    inside["message"][word] = json!(1);
    let mut block = json!({"type": "text", "text": "x"});
    block[word] = json!(1);
    let mut manifest = json!({"type": "attachment_ref"});
    manifest[word] = json!(1);
    let mut records = vec![
        json!({"type": word}),
        named,
        inside,
        user(json!([{"type": word}])),
        user(json!([block])),
        user(json!([manifest])),
        json!({"type": "user", "message": "x", "uuid": word}),
        json!({"type": "user", "message": "x", "session_id": word}),
        json!({"type": "user", "message": "x", "priority": word}),
        json!({"type": "update_environment_variables", "variables": {word: "x"}}),
        json!({"type": "update_environment_variables", "variables": {"A": {word: word}}}),
        json!({"type": "update_environment_variables", "variables": {"A": word, "PATH": word}}),
        json!({"type": "control_request", "request_id": "c",
            "request": {"subtype": "set_model", "model": word}}),
        json!({"type": "control_request", "request_id": "c", "request": {"subtype": "interrupt", word: word}}),
        json!({"type": "control_response", "response": {"subtype": word, "request_id": word}}),
        json!({"type": "keep_alive", word: word}),
        json!({"type": "assistant", "message": word}),
    ];
    if word.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        let name = format!("LD_{word}");
        records.push(json!({"type": "update_environment_variables", "variables": {name: "x"}}));
    }
    let mut lines: Vec<String> = records.iter().map(ToString::to_string).collect();
    lines.push(control("c", word));
    lines
}

// covers: DEC-30
#[test]
fn no_word_of_a_host_is_cut_inside_a_key() {
    let vault = Vault::offline();
    for n in [0, 1, 2] {
        let key = &vault.keys[n];
        // The bound of what is shown stands at every place of the key.
        let pads = SHOWN - key.len() - 1..=SHOWN;
        let lines = pads.flat_map(|pad| harmless(&format!("{}{key}", "x".repeat(pad))));
        let input: String = lines.map(|line| line + "\n").collect();
        let mut agent = vault.session(SCRIPTED, &[]);
        agent.send(&input);
        agent.send(&control("last", "mcp_status"));
        let last = agent.until(|record| record["response"]["request_id"] == "last");
        assert_eq!(last["response"]["subtype"], "success");
        let outcome = agent.end();
        assert!(outcome.stderr.contains("[redacted]"), "{}", outcome.stderr);
        vault.judge("a host", &outcome);
    }
}

// covers: DEC-30, WIRE-013
#[test]
fn a_key_in_an_identifier_or_a_prompt_reaches_no_record() {
    let vault = Vault::offline();
    for (n, further) in [(0, &["--replay-user-messages"][..]), (1, &[])] {
        let key = &vault.keys[n];
        let id = |kind: &str, member: &str| {
            json!({"type": kind, member: key, "request": {"subtype": "mcp_status"},
                "response": {"subtype": "success", "request_id": key}})
            .to_string()
        };
        let upload = json!({"type": "attachment_import", "subtype": "abort",
            "upload_id": format!("upl_{key}")});
        for line in [
            user(key),
            user(&format!("a {key} b")),
            id("control_request", "request_id"),
            id("control_request", "requestId"),
            id("control_response", "uuid"),
            upload.to_string(),
        ] {
            let mut agent = vault.session(SCRIPTED, further);
            agent.try_send(&line);
            agent.try_send(&user("more"));
            let outcome = agent.end();
            assert!(outcome.status.is_some());
            vault.judge(&line, &outcome);
        }
    }
}

// covers: DEC-30
#[test]
fn a_stored_session_tells_no_key_of_its_prompts() {
    let vault = Vault::offline();
    for n in [0, 1] {
        let key = &vault.keys[n];
        let mut agent = vault.session(SCRIPTED, &[]);
        let id = agent.until_type("init")["session_id"].clone();
        for prompt in [key.clone(), format!("{}{key}", "x".repeat(60))] {
            agent.send(&user(&prompt));
            agent.until_type("result");
        }
        vault.judge("a session", &agent.end());
        for line in [
            &["sessions", "list"][..],
            &["sessions", "show", id.as_str().unwrap()],
            &["-p", "--continue", "and?"],
            &["-p", "--continue", "--output-format", "stream-json", key],
        ] {
            let outcome = vault.run(line, "");
            assert_eq!(outcome.status, Some(0), "{}", outcome.stderr);
            vault.judge(line[1], &outcome);
        }
    }
}

// covers: DEC-30
#[test]
fn no_rule_of_a_host_puts_a_key_into_settings() {
    let vault = Vault::offline();
    let call = json!({"name": "Bash", "input": {"command": "true"}});
    let prompt = user(&script(&json!([{"tool_calls": [call]}, {"text": "done"}])));
    for n in [0, 1] {
        let key = &vault.keys[n];
        for destination in ["userSettings", "projectSettings", "localSettings"] {
            let mut agent = Agent::start(vault.command(&DUPLEX));
            agent.send(&prompt);
            let question = agent.until_type("control_request");
            let update = json!({"type": "addRules", "behavior": "allow", "destination": destination,
                "rules": [{"toolName": "Bash", "ruleContent": format!("echo {key}:*")}]});
            let answer = json!({"behavior": "allow", "updatedInput": {"command": "true"},
                "updatedPermissions": [update]});
            agent.send(&decide(&question, &answer));
            assert_eq!(agent.until_type("result")["result"], "done");
            let outcome = agent.end();
            assert_eq!(outcome.status, Some(0), "{}", outcome.stderr);
            let told = "the update holds a key of auth.json";
            assert!(outcome.stderr.contains(told), "{}", outcome.stderr);
            vault.judge(destination, &outcome);
        }
    }
}

// covers: DEC-10, DEC-30
#[test]
fn no_line_that_cannot_be_read_tells_a_key() {
    let vault = Vault::offline();
    for n in [0, 1] {
        let key = &vault.keys[n];
        let json = json!(key).to_string();
        let escapes: String = key.bytes().map(|byte| format!("\\u{byte:04x}")).collect();
        let mut lines = vec![
            format!("{{\"type\":{json},}}"),
            format!("{{\"a\":{json},\"a\":{json}}}"),
            format!("{{{json}:1,{json}:1}}"),
            format!("{key} is no JSON"),
            format!("{{\"type\" {json}"),
            // An odd quote before it: what is a string to one reader is none to another.
            format!("{{\" \"x\" \" {escapes}}}"),
            format!("{{\"{escapes}\" \"{escapes}"),
            format!("[{json}]"),
            json!({"type": "control_request", "request": {key.as_str(): key}}).to_string(),
            json!({"type": "control_request", "request_id": [key]}).to_string(),
            json!({"type": "control_response", "response": key}).to_string(),
            json!({"type": "attachment_import", "upload_id": key, key.as_str(): 1}).to_string(),
        ];
        // The excerpt ends inside of it.
        for pad in [165, 180, 190] {
            lines.push(format!("{}{key}", "z".repeat(pad)));
            lines.push(format!("{}{escapes}", "z".repeat(pad)));
        }
        for line in lines {
            let mut agent = vault.session(SCRIPTED, &[]);
            agent.send(&line);
            let outcome = agent.end();
            assert_eq!(outcome.status, Some(1), "{line}: {}", outcome.stderr);
            assert!(outcome.stderr.contains("malformed NDJSON"), "{line}");
            vault.judge(&line, &outcome);
        }
    }
    // Bytes that are no UTF-8, right behind the key.
    let key = &vault.keys[0];
    let mut agent = vault.session(SCRIPTED, &[]);
    agent.send_bytes(&[b"{\"a\":\"", key.as_bytes(), b"\xff\"}\n"].concat());
    let outcome = agent.end();
    assert_eq!(outcome.status, Some(1));
    vault.judge("no UTF-8", &outcome);
}
