//! Files of the home folder in which the key stands in a wrong place.

use super::vault::Vault;
use crate::support::{World, script};
use serde_json::{Value, json};

/// Replaces `auth.json`.
fn write(world: &World, bytes: &[u8]) {
    std::fs::write(world.home().join("auth.json"), bytes).unwrap();
}

// covers: DEC-30
#[test]
fn no_fault_of_the_registry_tells_a_key_that_stands_in_a_wrong_place() {
    let vault = Vault::offline();
    for n in [0, 1, 2] {
        let key = &vault.keys[n];
        let entry = || {
            json!({"id": "a", "type": "openai_compatible", "openai_compatible": {
            "base_url": "https://h.invalid/v1", "model": "m", "api_key": key, "api": "responses"}})
        };
        let with = |change: &dyn Fn(&mut Value)| {
            let mut entry = entry();
            change(&mut entry);
            json!({"version": 2, "providers": [entry]}).to_string()
        };
        let own = "openai_compatible";
        let plain = with(&|_| {});
        let escaped = json!(key).to_string();
        let texts = [
            with(&|entry| entry["id"] = json!(key)),
            with(&|entry| {
                entry["id"] = json!(key);
                entry[own]["api_key"] = json!("a");
            }),
            with(&|entry| {
                entry["id"] = json!(key);
                entry[own]["api"] = json!("a");
            }),
            with(&|entry| entry["type"] = json!(key)),
            with(&|entry| entry[key] = json!(1)),
            with(&|entry| entry[own][key] = json!(1)),
            with(&|entry| entry[own]["api"] = json!(key)),
            with(&|entry| entry[own]["base_url"] = json!(key)),
            with(&|entry| entry[own]["base_url"] = json!(format!("https://u:{key}@h.invalid"))),
            with(&|entry| entry[own]["base_url"] = json!(format!("https://h.invalid/?k={key}"))),
            with(&|entry| entry[own]["base_url"] = json!(format!("https://h.invalid/{key}"))),
            with(&|entry| entry[own]["model"] = json!(key)),
            with(&|entry| entry[own]["api_key"] = json!([key])),
            with(&|entry| entry[own]["api_key"] = json!(format!(" {key}"))),
            with(&|entry| entry["ca_file"] = json!(key)),
            with(&|entry| entry["default"] = json!(key)),
            with(&|entry| entry["pricing"] = json!({"input_per_mtok": key})),
            with(&|entry| entry["limits"] = json!({key.as_str(): 1})),
            with(&|entry| entry["capabilities"] = json!({"reasoning": {"efforts": [key]}})),
            with(&|entry| {
                *entry = json!({"id": "a", "type": "scripted",
                "scripted": {"model": "m", "script": format!("../{key}")}});
            }),
            json!({"version": key, "providers": []}).to_string(),
            json!({"version": 2, key.as_str(): 1, "providers": []}).to_string(),
            json!({"version": 2, "providers": [entry(), entry()]}).to_string(),
            json!({"version": 2, "providers": key}).to_string(),
            format!("\u{feff}{plain}"),
            plain.replacen(&escaped, &format!("{escaped}{escaped}"), 1),
            plain.replacen(
                "\"api_key\"",
                &format!("\"api_key\":{escaped},\"api_key\""),
                1,
            ),
            plain.replacen(
                "\"model\"",
                &format!("{escaped}:1,{escaped}:1,\"model\""),
                1,
            ),
            plain.replacen(&escaped, key, 1),
            plain
                .split_at(plain.find(&escaped).unwrap() + key.len())
                .0
                .to_owned(),
            key.to_owned(),
        ];
        let mut texts: Vec<Vec<u8>> = texts.map(String::into_bytes).to_vec();
        let at = plain.find(&escaped).unwrap() + key.len() / 2;
        let mut broken = plain.into_bytes();
        broken.insert(at, 0xff);
        texts.push(broken);
        for text in texts {
            write(&vault.world, &text);
            let shown = String::from_utf8_lossy(&text);
            for arguments in [&["-p", "x"][..], &["--list-providers"]] {
                let outcome = vault.run(arguments, "");
                assert_eq!(outcome.status, Some(2), "{shown}");
                vault.judge(&shown, &outcome);
            }
        }
    }
}

// covers: DEC-30
#[test]
fn no_other_file_of_the_home_folder_gives_a_key_away() {
    let mut vault = Vault::offline();
    let key = vault.keys[1].clone();
    let json = json!(key).to_string();
    for (text, status) in [
        (
            json!({"turns": [{"text": key, "thinking": [key]}]}).to_string(),
            0,
        ),
        (
            json!({"turns": [{"error": {"status": 401, "message": key}}]}).to_string(),
            1,
        ),
        (json!({"turns": [{key.as_str(): key}]}).to_string(), 2),
        (json!({"turns": [{"stop_reason": key}]}).to_string(), 2),
        (format!("{{\"turns\":{json}"), 2),
        (format!("{{{json}:1,{json}:2}}"), 2),
        (key, 2),
    ] {
        vault.script(&text);
        let outcome = vault.run(&["-p", "--provider", "script", "x"], "");
        assert_eq!(outcome.status, Some(status), "{}", outcome.stderr);
        vault.judge("a script", &outcome);
    }
}

/// Settings with a key where one can be written.
fn settings(key: &str) -> Vec<String> {
    let json = json!(key).to_string();
    let mut texts = vec![
        format!("{{{json}:{json}"),
        format!("{{\"permissions\":{json}}}"),
        key.to_owned(),
    ];
    for value in [
        json!({key: key}),
        json!({"permissions": {key: key}}),
        json!({"permissions": {"defaultMode": key}}),
        json!({"permissions": {"allow": [key]}}),
        json!({"permissions": {"allow": [format!("{key}(x)")]}}),
        json!({"permissions": {"allow": [format!("Bash({key}")]}}),
        json!({"permissions": {"deny": [format!("Bash({key}:*)")]}}),
        json!({"permissions": {"additionalDirectories": [format!("/{key}")]}}),
        json!({"tools": [{key: key}]}),
        json!({"tools": [{"name": key, "description": key, "input_schema": {}, "command": [key]}]}),
        json!({"tools": [{"name": "lookup", "description": key, "input_schema": {"type": "object"},
            "command": [format!("/{key}")], "permission": "allow"}]}),
        json!({"hooks": {key: [{"matcher": key}]}}),
        json!({"mcpServers": {key: {"command": key}}}),
    ] {
        texts.push(value.to_string());
    }
    texts
}

// covers: DEC-30
#[test]
fn no_settings_give_a_key_away() {
    let mut vault = Vault::offline();
    let path = vault.world.home().join("settings.json");
    for n in [0, 1] {
        let key = vault.keys[n].clone();
        for text in settings(&key) {
            let turn = json!({"tool_calls": [{"name": "lookup", "input": {}}]});
            let prompt = script(&json!([turn, {"text": "it said {results}"}]));
            vault.judge(&text, &vault.run(&["-p", "--settings", &text, &prompt], ""));
            vault.plant(path.clone(), &text);
            let stream = ["-p", "--output-format", "stream-json", &prompt];
            vault.judge(&text, &vault.run(&stream, ""));
        }
    }
}
