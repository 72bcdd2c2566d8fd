use super::settings::keep_known;
use super::*;
use crate::options::TextOrFile;
use agentx_providers::registry::{FileFacts, Registry};

/// One entry of the scripted provider, with these efforts.
fn registry(efforts: &str) -> Registry {
    let text = format!(
        r#"{{"version":2,"providers":[{{"id":"main","type":"scripted",
        "capabilities":{{"reasoning":{{"efforts":{efforts}}}}},
        "scripted":{{"model":"fixture","from_prompt":true}}}}]}}"#
    );
    Registry::parse(text.as_bytes(), &FileFacts::PRIVATE).unwrap()
}

// covers: DEC-52
#[test]
fn a_model_is_the_one_there_is_or_refused() {
    let registry = registry("[]");
    let entry = registry.select(None).unwrap();
    let check = |option, name: &str| check_models(&[(option, name.to_owned())], entry);
    for name in ["fixture", "main", "default"] {
        assert_eq!(check("--model", name), Ok(()), "{name}");
    }
    for name in ["", "Fixture", "claude-opus", "sk-secret"] {
        let refusal = check("--fallback-model", name).unwrap_err();
        assert_eq!(refusal.status(), 2);
        let expected = "--fallback-model: no such model; the provider \"main\" serves \"fixture\", which default and the provider's id stand for, too";
        assert_eq!(refusal.to_string(), expected);
    }
}

#[test]
fn thinking_is_switched_off_by_the_effort_none() {
    let with = registry(r#"["none","low"],"default_effort":"low""#);
    let with = with.select(None).unwrap();
    let without = registry("[]");
    let without = without.select(None).unwrap();
    let chosen = |entry, asked, disabled| {
        let (effort, note) = effort(entry, asked, disabled).unwrap();
        (effort.as_deref().map(str::to_owned), note.is_some())
    };
    let word = |word: &str| Some(word.to_owned());
    assert_eq!(chosen(with, None, true), (word("none"), false));
    assert_eq!(chosen(with, None, false), (word("low"), false));
    assert_eq!(chosen(with, Some("low"), true), (word("low"), false));
    assert_eq!(chosen(without, None, true), (None, true));
    assert_eq!(chosen(without, None, false), (None, false));
    assert!(effort(with, Some("high"), true).is_err());
}

#[test]
fn a_system_prompt_is_ours_or_the_host_s_with_more_behind_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        Base::File(path)
    };
    let text = |text: &str| Base::Text(text.into());
    for (base, append, expected) in [
        (Base::Own, None, Some("own")),
        (Base::Own, Some("more"), Some("own\n\nmore")),
        (text("theirs"), None, Some("theirs")),
        (text(""), None, None),
        (text(" \n"), Some("more"), Some("more")),
        (
            path("a", "from a file".as_bytes()),
            Some("more"),
            Some("from a file\n\nmore"),
        ),
        (path("b", b""), None, None),
    ] {
        let append = append.map(str::to_owned);
        let asked = SystemPrompt { base, append };
        let found = system_prompt(&asked, "own".into()).unwrap();
        assert_eq!(found.as_deref(), expected, "{asked:?}");
    }
    let long = vec![b'a'; SYSTEM_BYTES + 1];
    for (base, fault) in [
        (path("c", b"ab\xff"), "no UTF-8 at byte 3"),
        (path("d", &long), "over 1048576 bytes"),
        (
            Base::File(folder.path().join("none")),
            "No such file or directory",
        ),
        (Base::File(folder.path().into()), "not a regular file"),
    ] {
        let asked = SystemPrompt { base, append: None };
        let text = system_prompt(&asked, String::new())
            .unwrap_err()
            .to_string();
        assert!(text.starts_with("--system-prompt-file /"), "{text}");
        assert!(text.contains(fault), "{text}");
    }
}

// covers: DEC-12
#[test]
fn variables_of_the_host_choose_the_state_records() {
    const EMIT: &str = "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS";
    const READS: &str = "CLAUDE_CODE_SDK_READS_SESSION_STATE";
    const ENTRY: &str = "CLAUDE_CODE_ENTRYPOINT";
    use StateRecords::{HostOnly, Off, Plain};
    for (set, expected) in [
        (&[][..], Plain),
        (&[(EMIT, "1"), (READS, "1"), (ENTRY, "sdk-py")], Plain),
        (&[(READS, "1"), (ENTRY, "sdk-ts")], HostOnly),
        (&[(READS, "true")], HostOnly),
        (&[(ENTRY, "sdk-py")], Off),
        (&[(EMIT, "0"), (READS, "false"), (ENTRY, "sdk-py")], Off),
        (&[(EMIT, ""), (READS, " "), (ENTRY, "")], Plain),
    ] {
        let variable = |name| {
            let found = set.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        };
        assert_eq!(state_records(variable), expected, "{set:?}");
    }
}

#[test]
fn checkpoints_of_files_are_kept_unless_the_host_says_no() {
    for (value, expected) in [
        (None, true),
        (Some(""), true),
        (Some("true"), true),
        (Some("1"), true),
        (Some("false"), false),
        (Some(" 0 "), false),
        (Some("off"), false),
    ] {
        let value = value.map(OsStr::new);
        assert_eq!(file_checkpoints(value), expected, "{value:?}");
    }
}

fn servers(configs: &[&str]) -> Result<Servers, String> {
    let configs = configs
        .iter()
        .map(|text| TextOrFile::Text((*text).to_owned()));
    let configs: Vec<TextOrFile> = configs.collect();
    Servers::read(&configs, &Guard::default()).map_err(|refusal| refusal.to_string())
}

#[test]
fn servers_of_the_host_are_found_and_others_are_told_of() {
    assert_eq!(servers(&[]), Ok(Servers::default()));
    let found = servers(&[
        r#"{"mcpServers":{"calc":{"type":"sdk","name":"other"},"files":{"command":"x","env":{"K":"s"}},
            "web":{"type":"http","url":"https://h"}}}"#,
        r#"{"mcpServers":{"more":{"type":"sdk"},"calc":{"type":"sdk","name":"calc"}}}"#,
    ]);
    let found = found.unwrap();
    assert_eq!(found.in_host, ["more".into(), "calc".into()]);
    let note = |name: &str, kind: &str| {
        format!(
            "warning: --mcp-config: server {name:?}: servers of type {kind} are not available yet"
        )
    };
    assert_eq!(found.notes, [note("files", "stdio"), note("web", "http")]);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, r#"{"mcpServers":{"a":{"type":"sdk"}}}"#).unwrap();
    let found = Servers::read(&[TextOrFile::File(file.path().into())], &Guard::default());
    assert_eq!(found.unwrap().in_host, ["a".into()]);
}

#[test]
fn what_names_no_servers_is_refused_with_its_place() {
    let many: Vec<String> = (0..65)
        .map(|n| format!(r#""s{n}":{{"type":"sdk"}}"#))
        .collect();
    let many = format!(r#"{{"mcpServers":{{{}}}}}"#, many.join(","));
    let long = format!(r#"{{"mcpServers":{{"{}":{{}}}}}}"#, "n".repeat(129));
    for (text, fault) in [
        ("{", "unexpected end of JSON"),
        ("{}", "mcpServers: missing"),
        (r#"{"servers":{}}"#, "unknown member"),
        (r#"{"mcpServers":[]}"#, "mcpServers: an object is expected"),
        (
            r#"{"mcpServers":{"a":1}}"#,
            "mcpServers, server 1: an object is expected",
        ),
        (
            r#"{"mcpServers":{"b":{},"a":{"type":"sdkk"}}}"#,
            "mcpServers, server 2: type: expected one of sdk, stdio, http",
        ),
        (
            r#"{"mcpServers":{"a":{"type":1}}}"#,
            "mcpServers, server 1: type: ",
        ),
        (
            r#"{"mcpServers":{"":{}}}"#,
            "expected a name of 1 to 128 bytes",
        ),
        (
            r#"{"mcpServers":{"a\n":{}}}"#,
            "expected a name of 1 to 128 bytes",
        ),
        (&long, "expected a name of 1 to 128 bytes"),
        (r#"{"mcpServers":{"a":{"type":"sdk"},"a":{}}}"#, "duplicate"),
        (
            r#"{"mcpServers":{"\ud800":{}}}"#,
            "an unpaired surrogate escape",
        ),
        (&many, "at most 64 servers are expected"),
    ] {
        let text = servers(&[text]).unwrap_err();
        assert!(text.starts_with("--mcp-config: "), "{text}");
        assert!(text.contains(fault), "{text}");
    }
    let missing = Servers::read(&[TextOrFile::File("none.json".into())], &Guard::default());
    let text = missing.unwrap_err().to_string();
    assert!(
        text.starts_with("--mcp-config none.json: No such file"),
        "{text}"
    );
}

#[test]
fn settings_of_hosts_lose_what_means_nothing_here() {
    let kept = |text: &str| keep_known(text.as_bytes().to_vec()).map_err(|fault| fault.to_string());
    let found = kept(
        r#"{"env":{"A":"b"},"permissions":{"deny":["Bash"]},"sandbox":{"enabled":false},"x":1.0}"#,
    );
    let found = found.unwrap();
    assert_eq!(found.left_out, ["\"env\"", "\"sandbox\"", "\"x\""]);
    assert_eq!(found.text, br#"{"permissions":{"deny":["Bash"]}}"#);
    for text in ["{", "[]", "", r#"{"a":1,"a":2}"#] {
        let found = kept(text).unwrap();
        assert_eq!(
            (found.text, found.left_out),
            (text.as_bytes().to_vec(), vec![])
        );
    }
    assert_eq!(kept(r#"{"sandbox":{}}"#).unwrap().text, b"{}");
    for sandbox in [r#"{"enabled":true}"#, r#"{"enabled":"no"}"#, "true", "[]"] {
        let text = kept(&format!(r#"{{"sandbox":{sandbox}}}"#)).unwrap_err();
        assert!(text.starts_with("--settings: sandbox.enabled: "), "{text}");
    }
}
