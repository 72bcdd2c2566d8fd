//! Every rule of `auth.json` and what it says to a file that breaks it.
//!
//! Each case is a good file with one place changed.

use crate::support::{GOOD_FILE, registry};
use agentx_providers::registry::Registry;

const AZURE: &str = r#"{"id":"x","type":"azure_openai","default":true,"media":true,"ca_file":"/ca.pem",
    "capabilities":{"reasoning":{"efforts":["none","low"],"default_effort":"low"}},
    "pricing":{"input_per_mtok":2.5,"output_per_mtok":10,"cache_read_per_mtok":1,"cache_write_per_mtok":3},
    "limits":{"context_window":1000,"max_output_tokens":100},
    "azure_openai":{"endpoint":"https://h.example","model":"gpt","deployment":"dep","api_key":"sk-SENTINEL-1","api_version":"v1"}}"#;

const OPENAI: &str = r#"{"id":"x","type":"openai","openai":{"base_url":"https://h.example/v1","model":"gpt","api_key":"sk-SENTINEL-1","api":"responses"}}"#;

const COMPATIBLE: &str = r#"{"id":"x","type":"openai_compatible","openai_compatible":{"base_url":"http://[::1]:9/v1","model":"gpt","api":"chat_completions"}}"#;

const ANTHROPIC: &str = r#"{"id":"x","type":"anthropic","anthropic":{"base_url":"https://h.example","model":"cl","api_key":"sk-SENTINEL-1"}}"#;

const SCRIPTED: &str =
    r#"{"id":"x","type":"scripted","scripted":{"model":"m","script":"turns.json"}}"#;

fn file(entry: &str) -> String {
    format!(r#"{{"version":2,"providers":[{entry}]}}"#)
}

/// What is said to a file, behind its name.
fn fault(text: &str) -> String {
    let error = Registry::parse(text.as_bytes(), &GOOD_FILE).unwrap_err();
    let error = error.to_string();
    assert!(!error.contains("SENTINEL"), "{error}");
    error.strip_prefix("auth.json: ").unwrap().to_owned()
}

/// Changes the one place where `from` stands in a good entry, and expects
/// `what` about the entry.
#[track_caller]
fn refused(entry: &str, from: &str, to: &str, what: &str) {
    registry(&file(entry));
    assert_eq!(entry.matches(from).count(), 1, "{from} stands once");
    let changed = entry.replace(from, to);
    assert_eq!(
        fault(&file(&changed)),
        format!("providers[0] (id \"x\"){what}"),
        "{from} -> {to}"
    );
}

#[test]
fn the_form_of_the_file() {
    for (text, what) in [
        (
            r#"{"version":3,"providers":[]}"#,
            "version: the number 2 is expected",
        ),
        (
            r#"{"version":2e0,"providers":[]}"#,
            "version: the number 2 is expected",
        ),
        (
            r#"{"version":null,"providers":[]}"#,
            "version: the number 2 is expected",
        ),
        (
            r#"{"version":2,"providers":{}}"#,
            "providers: an array is expected",
        ),
        (
            r#"{"version":2,"providers":null}"#,
            "providers: an array is expected",
        ),
        (
            r#"{"version":2,"providers":[[]]}"#,
            "providers[0]: an object is expected",
        ),
        ("[2]", "an object is expected"),
    ] {
        assert_eq!(fault(text), what, "{text}");
    }
    // Names are compared as they are meant, at every depth.
    for twice in [
        r#""x","id":"x""#,
        r#""x","\u0069d":"y""#,
        r#""x","limits":{"context_window":1,"context_window":2}"#,
        r#""x","capabilities":{"reasoning":{"efforts":[],"efforts":[]}}"#,
    ] {
        let text = file(&SCRIPTED.replacen(r#""x""#, twice, 1));
        let said = fault(&text);
        assert!(
            said.starts_with("ambiguous JSON: duplicate member name at byte "),
            "{said}"
        );
    }
}

#[test]
fn unknown_members_at_every_depth() {
    let more = r#","endpont":1"#;
    for (inside, place) in [
        (r#""media":true"#, ""),
        (r#""default_effort":"low""#, ": capabilities.reasoning"),
        (r#""cache_write_per_mtok":3"#, ": pricing"),
        (r#""max_output_tokens":100"#, ": limits"),
        (r#""api_version":"v1""#, ": azure_openai"),
    ] {
        let what = format!("{place}: unknown member \"endpont\"");
        refused(AZURE, inside, &format!("{inside}{more}"), &what);
    }
    let capabilities = r#""capabilities":{"#;
    let more = r#""capabilities":{"endpont":1,"#;
    refused(
        AZURE,
        capabilities,
        more,
        ": capabilities: unknown member \"endpont\"",
    );
    // What belongs beside the id does not go into the type's object.
    for name in [
        "ca_file",
        "media",
        "pricing",
        "limits",
        "capabilities",
        "id",
    ] {
        refused(
            OPENAI,
            r#""api":"responses""#,
            &format!(r#""api":"responses","{name}":1"#),
            &format!(": openai: unknown member \"{name}\""),
        );
    }
    // A name that could be a misplaced key is not shown.
    refused(
        OPENAI,
        r#""api":"responses""#,
        r#""api":"responses","sk-SENTINEL-2":1"#,
        ": openai: unknown member",
    );
}

#[test]
fn types_of_members() {
    for (from, to, what) in [
        (
            r#""default":true"#,
            r#""default":1"#,
            "default: true or false is expected",
        ),
        (
            r#""media":true"#,
            r#""media":"true""#,
            "media: true or false is expected",
        ),
        (r#""/ca.pem""#, "null", "ca_file: a string is expected"),
        (
            r#"["none","low"]"#,
            r#""low""#,
            "capabilities.reasoning.efforts: an array is expected",
        ),
        (
            r#"["none","low"]"#,
            "[1]",
            "capabilities.reasoning.efforts[0]: a string is expected",
        ),
        (
            r#""default_effort":"low""#,
            r#""default_effort":null"#,
            "capabilities.reasoning.default_effort: a string is expected",
        ),
        (
            r#"{"efforts":["none","low"],"default_effort":"low"}"#,
            "true",
            "capabilities.reasoning: an object is expected",
        ),
        (
            r#""input_per_mtok":2.5"#,
            r#""input_per_mtok":"2.5""#,
            "pricing.input_per_mtok: a number is expected",
        ),
        (
            r#""context_window":1000"#,
            r#""context_window":1e3"#,
            "limits.context_window: a whole number is expected",
        ),
        (
            r#""max_output_tokens":100"#,
            r#""max_output_tokens":-1"#,
            "limits.max_output_tokens: a whole number is expected",
        ),
        (
            r#""https://h.example""#,
            "1",
            "azure_openai.endpoint: a string is expected",
        ),
        (r#""gpt""#, "1", "azure_openai.model: a string is expected"),
        (
            r#""dep""#,
            "[]",
            "azure_openai.deployment: a string is expected",
        ),
        (
            r#""sk-SENTINEL-1""#,
            "{}",
            "azure_openai.api_key: a string is expected",
        ),
        (
            r#""v1""#,
            "null",
            "azure_openai.api_version: a string is expected",
        ),
    ] {
        refused(AZURE, from, to, &format!(": {what}"));
    }
    for (entry, own) in [
        (OPENAI, "openai"),
        (COMPATIBLE, "openai_compatible"),
        (ANTHROPIC, "anthropic"),
        (SCRIPTED, "scripted"),
    ] {
        let (head, _) = entry.split_once(&format!("\"{own}\":{{")).unwrap();
        let text = file(&format!(r#"{head}"{own}":[]}}"#));
        let what = format!("providers[0] (id \"x\"): {own}: an object is expected");
        assert_eq!(fault(&text), what);
    }
    for (name, value) in [("capabilities", "[]"), ("pricing", "1"), ("limits", "null")] {
        let more = format!(r#""type":"scripted","{name}":{value}"#);
        let what = format!(": {name}: an object is expected");
        refused(SCRIPTED, r#""type":"scripted""#, &more, &what);
    }
    let text = file(r#"{"id":"x","type":1}"#);
    assert_eq!(fault(&text), "providers[0].type: a string is expected");
}

#[test]
fn members_that_every_type_needs() {
    for (entry, member, own) in [
        (
            AZURE,
            r#""endpoint":"https://h.example","#,
            "azure_openai.endpoint",
        ),
        (AZURE, r#""model":"gpt","#, "azure_openai.model"),
        (AZURE, r#""deployment":"dep","#, "azure_openai.deployment"),
        (
            AZURE,
            r#""api_key":"sk-SENTINEL-1","#,
            "azure_openai.api_key",
        ),
        (AZURE, r#","api_version":"v1""#, "azure_openai.api_version"),
        (OPENAI, r#""model":"gpt","#, "openai.model"),
        (OPENAI, r#""api_key":"sk-SENTINEL-1","#, "openai.api_key"),
        (OPENAI, r#","api":"responses""#, "openai.api"),
        (
            COMPATIBLE,
            r#""base_url":"http://[::1]:9/v1","#,
            "openai_compatible.base_url",
        ),
        (COMPATIBLE, r#""model":"gpt","#, "openai_compatible.model"),
        (
            COMPATIBLE,
            r#","api":"chat_completions""#,
            "openai_compatible.api",
        ),
        (ANTHROPIC, r#""model":"cl","#, "anthropic.model"),
        (
            ANTHROPIC,
            r#","api_key":"sk-SENTINEL-1""#,
            "anthropic.api_key",
        ),
        (SCRIPTED, r#""model":"m","#, "scripted.model"),
        (AZURE, r#""input_per_mtok":2.5,"#, "pricing.input_per_mtok"),
        (AZURE, r#""output_per_mtok":10,"#, "pricing.output_per_mtok"),
        (
            AZURE,
            r#""efforts":["none","low"],"#,
            "capabilities.reasoning.efforts",
        ),
        (
            AZURE,
            r#","default_effort":"low""#,
            "capabilities.reasoning.default_effort",
        ),
    ] {
        refused(entry, member, "", &format!(": {own}: missing"));
    }
    refused(
        SCRIPTED,
        r#","script":"turns.json""#,
        "",
        ": scripted: expected either script, or from_prompt: true",
    );
    // These may be left out.
    for (entry, member) in [
        (OPENAI, r#""base_url":"https://h.example/v1","#),
        (ANTHROPIC, r#""base_url":"https://h.example","#),
        (
            AZURE,
            r#","cache_read_per_mtok":1,"cache_write_per_mtok":3"#,
        ),
        (AZURE, r#""context_window":1000,"#),
        (AZURE, r#","max_output_tokens":100"#),
    ] {
        assert_eq!(entry.matches(member).count(), 1, "{member}");
        registry(&file(&entry.replace(member, "")));
    }
}

#[test]
fn lengths_of_texts() {
    let of = |bytes: usize| format!("\"{}\"", "a".repeat(bytes));
    for (entry, text, most, own) in [
        (AZURE, r#""gpt""#, 256, "azure_openai.model"),
        (AZURE, r#""dep""#, 256, "azure_openai.deployment"),
        (AZURE, r#""v1""#, 128, "azure_openai.api_version"),
        (AZURE, r#""sk-SENTINEL-1""#, 16_384, "azure_openai.api_key"),
        (OPENAI, r#""gpt""#, 256, "openai.model"),
        (ANTHROPIC, r#""cl""#, 256, "anthropic.model"),
        (SCRIPTED, r#""m""#, 256, "scripted.model"),
        (SCRIPTED, r#""turns.json""#, 255, "scripted.script"),
    ] {
        registry(&file(&entry.replace(text, &of(most))));
        let what = format!(": {own}: over {most} bytes");
        refused(entry, text, &of(most + 1), &what);
    }
    let url = |bytes: usize| format!("\"https://h.example/{}\"", "a".repeat(bytes - 18));
    registry(&file(&AZURE.replace(r#""https://h.example""#, &url(2048))));
    refused(
        AZURE,
        r#""https://h.example""#,
        &url(2049),
        ": azure_openai.endpoint: over 2048 bytes",
    );
    let path = |bytes: usize| format!("\"/{}\"", "a".repeat(bytes - 1));
    registry(&file(&AZURE.replace(r#""/ca.pem""#, &path(4096))));
    refused(
        AZURE,
        r#""/ca.pem""#,
        &path(4097),
        ": ca_file: over 4096 bytes",
    );
    let key = ": azure_openai.api_key: at least 8 bytes are expected";
    refused(AZURE, r#""sk-SENTINEL-1""#, r#""1234567""#, key);
    refused(AZURE, r#""sk-SENTINEL-1""#, r#""""#, key);
    registry(&file(&AZURE.replace("sk-SENTINEL-1", "12345678")));
    for (entry, text, own) in [
        (AZURE, r#""https://h.example""#, "azure_openai.endpoint"),
        (AZURE, r#""gpt""#, "azure_openai.model"),
        (AZURE, r#""dep""#, "azure_openai.deployment"),
        (AZURE, r#""/ca.pem""#, "ca_file"),
        (
            COMPATIBLE,
            r#""http://[::1]:9/v1""#,
            "openai_compatible.base_url",
        ),
        (SCRIPTED, r#""turns.json""#, "scripted.script"),
    ] {
        refused(entry, text, r#""""#, &format!(": {own}: must not be empty"));
    }
    // Of these only the version of Azure may be empty.
    registry(&file(&AZURE.replace(r#""v1""#, r#""""#)));
}

#[test]
fn characters_of_texts() {
    let invisible = "control and formatting characters are not allowed";
    let blanks = "blanks around the text are not allowed";
    for (text, own) in [
        ("gpt", "azure_openai.model"),
        (":\"dep", "azure_openai.deployment"),
        ("\"v1", "azure_openai.api_version"),
        ("/ca.pem", "ca_file"),
    ] {
        // Of Unicode's classes Cc, Cf, Zl and Zp one each.
        for escape in [
            r"\u0007",
            r"\u200e",
            r"\u2028",
            r"\u2029",
            r"\ufeff",
            r"\udb40\udc41",
        ] {
            let to = format!("{text}{escape}a");
            refused(AZURE, text, &to, &format!(": {own}: {invisible}"));
        }
    }
    for (text, own) in [
        (r#""https://h.example""#, "azure_openai.endpoint"),
        (r#""gpt""#, "azure_openai.model"),
        (r#""dep""#, "azure_openai.deployment"),
        (r#""v1""#, "azure_openai.api_version"),
        (r#""/ca.pem""#, "ca_file"),
    ] {
        for edge in [" ", r"\t", r"\u00a0"] {
            let inside = text.trim_matches('"');
            let what = format!(": {own}: {blanks}");
            refused(AZURE, text, &format!("\"{edge}{inside}\""), &what);
            refused(AZURE, text, &format!("\"{inside}{edge}\""), &what);
        }
    }
    let key = "azure_openai.api_key: white space is not allowed";
    for space in [" ", r"\n", r"\u2003"] {
        let to = format!("sk-{space}SENTINEL-1");
        refused(AZURE, "sk-SENTINEL-1", &to, &format!(": {key}"));
    }
    for pair in [r#""id":"\ud800x""#, r#""id":"x","ca_file":"/\udc00""#] {
        let text = file(&SCRIPTED.replace(r#""id":"x""#, pair));
        assert_eq!(fault(&text), "an unpaired surrogate escape");
    }
}

#[test]
fn places_of_servers() {
    for (url, what) in [
        ("h.example", "an absolute https URL is expected"),
        ("/openai", "an absolute https URL is expected"),
        ("ftp://h.example", "an absolute https URL is expected"),
        ("https://user@h.example", "user info is not allowed"),
        ("https://u:SENTINEL@h.example", "user info is not allowed"),
        ("https://h.example/?a=b", "a query is not allowed"),
        ("https://h.example#top", "a fragment is not allowed"),
        ("https://", "the host is neither a name nor an address"),
        (
            "https://h..example",
            "the host is neither a name nor an address",
        ),
        ("https://[::1", "the host is neither a name nor an address"),
        (
            "https://h.example:99999",
            "the port is not a number from 1 to 65535",
        ),
        (
            "https://h example",
            "only visible ASCII characters can stand in a URL",
        ),
        (
            "https://h.exämple",
            "only visible ASCII characters can stand in a URL",
        ),
        (
            "http://h.example",
            "plain http is allowed for loopback only",
        ),
        ("http://10.0.0.1", "plain http is allowed for loopback only"),
        (
            "http://localhost.example",
            "plain http is allowed for loopback only",
        ),
    ] {
        for (entry, from, own) in [
            (AZURE, "https://h.example", "azure_openai.endpoint"),
            (OPENAI, "https://h.example/v1", "openai.base_url"),
            (
                COMPATIBLE,
                "http://[::1]:9/v1",
                "openai_compatible.base_url",
            ),
            (ANTHROPIC, "https://h.example", "anthropic.base_url"),
        ] {
            refused(entry, from, url, &format!(": {own}: {what}"));
        }
    }
    for url in ["http://127.0.0.1:1", "http://localhost:1", "http://[::1]:1"] {
        registry(&file(&AZURE.replace("https://h.example", url)));
    }
}

// covers: DEC-40
#[test]
fn numbers_and_their_bounds() {
    for (from, to, what) in [
        ("2.5", "-1", "pricing.input_per_mtok: must not be negative"),
        (
            "2.5",
            "1000000.1",
            "pricing.input_per_mtok: over 1000000 USD",
        ),
        (
            "2.5",
            "0.0000001",
            "pricing.input_per_mtok: more than 6 decimals",
        ),
        (
            ":10,",
            ":1e99999999999,",
            "pricing.output_per_mtok: the exponent is out of range",
        ),
        (
            "_read_per_mtok\":1",
            "_read_per_mtok\":true",
            "pricing.cache_read_per_mtok: a number is expected",
        ),
        (
            "_write_per_mtok\":3",
            "_write_per_mtok\":-3",
            "pricing.cache_write_per_mtok: must not be negative",
        ),
        (
            ":1000,",
            ":0,",
            "limits.context_window: expected 1 to 1000000000",
        ),
        (
            ":1000,",
            ":1000000001,",
            "limits.context_window: expected 1 to 1000000000",
        ),
        (
            ":100}",
            ":0}",
            "limits.max_output_tokens: expected 1 to 1000000000",
        ),
        (
            ":100}",
            ":1.0}",
            "limits.max_output_tokens: a whole number is expected",
        ),
        (
            ":100}",
            ":99999999999999999999}",
            "limits.max_output_tokens: a whole number is expected",
        ),
    ] {
        refused(AZURE, from, to, &format!(": {what}"));
    }
}

// covers: DEC-46
#[test]
fn words_and_their_sets() {
    let efforts = "expected one of none, minimal, low, medium, high, xhigh, max";
    for (entry, from, to, what) in [
        (
            AZURE,
            r#"["none","#,
            r#"["None","#,
            format!("capabilities.reasoning.efforts[0]: {efforts}"),
        ),
        (
            AZURE,
            r#"["none","#,
            r#"["low","#,
            "capabilities.reasoning.efforts[1]: the same effort twice".into(),
        ),
        (
            AZURE,
            r#"t":"low""#,
            r#"t":"max""#,
            "capabilities.reasoning.default_effort: must be one of the efforts".into(),
        ),
        (
            OPENAI,
            r#""responses""#,
            r#""Responses""#,
            "openai.api: expected responses or chat_completions".into(),
        ),
        (
            COMPATIBLE,
            r#""chat_completions""#,
            r#""""#,
            "openai_compatible.api: expected responses or chat_completions".into(),
        ),
        (
            SCRIPTED,
            "turns.json",
            "a/turns.json",
            "scripted.script: a plain file name is expected".into(),
        ),
        (
            SCRIPTED,
            "turns.json",
            r"a\\turns.json",
            "scripted.script: a plain file name is expected".into(),
        ),
        (
            SCRIPTED,
            "turns.json",
            ".",
            "scripted.script: a plain file name is expected".into(),
        ),
        (
            AZURE,
            "/ca.pem",
            "ca.pem",
            "ca_file: an absolute path is expected".into(),
        ),
        (
            AZURE,
            "/ca.pem",
            "~/ca.pem",
            "ca_file: an absolute path is expected".into(),
        ),
        (
            SCRIPTED,
            r#""script":"#,
            r#""from_prompt":true,"script":"#,
            "scripted: expected either script, or from_prompt: true".into(),
        ),
    ] {
        refused(entry, from, to, &format!(": {what}"));
    }
    // All seven may be declared, in any order.
    let all = r#"["max","xhigh","high","medium","low","minimal","none"]"#;
    registry(&file(&AZURE.replace(r#"["none","low"]"#, all)));
}
