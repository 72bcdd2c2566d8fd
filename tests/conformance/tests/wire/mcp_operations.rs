//! The control operations about MCP servers of the host.

use agentx_conformance::servers::{Host, initialized, with_servers};
use agentx_conformance::session::config;
use agentx_core::schema::permission::PermissionMode;
use serde_json::{Value, json};

const ALLOWED: &str = r#"{"permissions":{"allow":["mcp__calc"]}}"#;

fn toggle(h: &mut Host, id: &str, enabled: bool) {
    h.operation(
        id,
        &json!({"subtype": "mcp_toggle", "serverName": "calc", "enabled": enabled}),
    );
}

fn set_servers(h: &mut Host, id: &str, servers: Value) -> Value {
    h.operation(
        id,
        &json!({"subtype": "mcp_set_servers", "servers": servers}),
    );
    h.answer_to(id)["response"].clone()
}

fn sdk(name: &str) -> Value {
    json!({"type": "sdk", "name": name})
}

// covers: ACC-08
#[test]
fn new_servers_are_told_before_they_are_connected() {
    let mut h = Host::ready(with_servers(&["calc", "notes"], "{}"), &["add"]);
    let answer = set_servers(
        &mut h,
        "s1",
        json!({"notes": sdk("notes"), "new": sdk("new"), "files": {"command": "x"},
            "web": {"type": "http", "url": "https://a.example"}, "odd": {"type": "odd"}, "a__b": sdk("a__b"),
            "none": 3}),
    );
    assert_eq!(answer["added"], json!(["new"]));
    assert_eq!(answer["removed"], json!(["calc"]));
    assert_eq!(
        answer["errors"]["files"],
        "servers of type \"stdio\" are not available yet"
    );
    assert_eq!(
        answer["errors"]["web"],
        "servers of type \"http\" are not available yet"
    );
    assert_eq!(answer["errors"]["odd"], "expected a server of type \"sdk\"");
    assert_eq!(answer["errors"]["none"], "expected an object");
    assert!(
        answer["errors"]["a__b"]
            .as_str()
            .is_some_and(|text| text.contains("underscores"))
    );
    assert_eq!(h.told(), ["ack s1", "mcp new initialize"]);
    h.handshakes(&["sing"]);
    assert_eq!(h.statuses(), ["notes connected", "new connected"]);
    h.prompt(1, "go");
    assert_eq!(h.offered(), ["mcp__notes__add", "mcp__new__sing"]);
    h.says("done");
}

// covers: ACC-08
#[test]
fn servers_may_be_set_while_they_connect() {
    let mut h = Host::new(with_servers(&["calc"], "{}"));
    h.prompt(1, "go");
    h.told();
    let old = h.oldest();
    let answer = set_servers(&mut h, "s1", json!({"new": sdk("new")}));
    assert_eq!(
        answer,
        json!({"added": ["new"], "removed": ["calc"], "errors": {}})
    );
    // The turn waits for the new one now.
    assert_eq!(h.told(), ["ack s1", "cancel", "mcp new initialize"]);
    assert!(h.open.is_empty());
    h.result(&old, &initialized());
    assert_eq!(h.told(), Vec::<String>::new());
    let answer = set_servers(&mut h, "s2", json!({}));
    assert_eq!(
        answer,
        json!({"added": [], "removed": ["new"], "errors": {}})
    );
    assert_eq!(h.told(), ["ack s2", "cancel"]);
    assert_eq!(h.offered(), Vec::<String>::new());
    h.says("done");
}

#[test]
fn a_session_has_so_many_servers() {
    let mut config = with_servers(&["calc"], "{}");
    config.limits.mcp_servers = 2;
    let mut h = Host::ready(config, &[]);
    let answer = set_servers(
        &mut h,
        "s1",
        json!({"calc": sdk("calc"), "one": sdk("one"), "two": sdk("two")}),
    );
    assert_eq!(answer["added"], json!(["one"]));
    assert_eq!(
        answer["errors"]["two"],
        "a session has 2 MCP servers at most"
    );
    h.handshakes(&[]);
    assert_eq!(h.statuses(), ["calc connected", "one connected"]);
}

#[test]
fn a_server_is_switched_off_while_a_call_runs() {
    let mut h = Host::ready(with_servers(&["calc"], ALLOWED), &["see_a", "add"]);
    h.prompt(1, "go");
    h.calls(&[
        ("t1", "mcp__calc__see_a", "{}"),
        ("t2", "mcp__calc__add", "{}"),
        ("t3", "mcp__calc__add", "{}"),
    ]);
    h.told();
    toggle(&mut h, "s1", false);
    assert_eq!(
        h.told(),
        [
            "ack s1",
            "cancel",
            "cancel",
            "tool_result t1",
            "tool_result t2",
            "tool_result t3"
        ]
    );
    for (call, why) in [
        ("t1", "switched off"),
        ("t2", "switched off"),
        ("t3", "not connected"),
    ] {
        let (text, is_error) = h.outcome(call);
        assert!(is_error && text.contains(why), "{call}: {text}");
    }
    assert_eq!(h.offered(), Vec::<String>::new());
    assert_eq!(h.statuses(), ["calc disabled"]);
    h.says("done");
    h.told();
    toggle(&mut h, "s2", false);
    assert_eq!(h.told(), ["ack s2"]);
    toggle(&mut h, "s3", true);
    toggle(&mut h, "s4", true);
    assert_eq!(h.told(), ["ack s3", "mcp calc initialize", "ack s4"]);
    h.asked.pop_front();
    h.asked.pop_front();
    h.handshakes(&["add"]);
    assert_eq!(h.statuses(), ["calc connected"]);
}

#[test]
fn a_server_is_connected_anew() {
    let mut h = Host::ready(with_servers(&["calc"], ALLOWED), &["add"]);
    h.prompt(1, "go");
    h.calls(&[
        ("t1", "mcp__calc__add", "{}"),
        ("t2", "mcp__calc__add", "{}"),
    ]);
    h.told();
    h.asked.clear();
    h.operation(
        "s1",
        &json!({"subtype": "mcp_reconnect", "serverName": "calc"}),
    );
    assert_eq!(
        h.told(),
        [
            "ack s1",
            "cancel",
            "tool_result t1",
            "tool_result t2",
            "mcp calc initialize"
        ]
    );
    h.handshakes(&["add"]);
    h.calls(&[("t3", "mcp__calc__add", "{}")]);
    assert!(
        h.outcome("t3").0.starts_with("Unknown tool"),
        "the model was not offered it"
    );
    assert_eq!(h.offered(), ["mcp__calc__add"]);
    h.calls(&[("t4", "mcp__calc__add", "{}")]);
    let call = h.asked("tools/call");
    h.says_at(&call, "3");
    h.says("done");
    h.told();
    toggle(&mut h, "s2", false);
    h.operation(
        "s3",
        &json!({"subtype": "mcp_reconnect", "serverName": "calc"}),
    );
    assert_eq!(
        h.answer_to("s3")["error"],
        "MCP server \"calc\" is disabled"
    );
}

// covers: RT-MCPS-010
#[test]
fn what_a_tool_says_of_itself_permits_nothing() {
    for (mode, asks) in [
        (PermissionMode::Default, true),
        (PermissionMode::AcceptEdits, true),
        (PermissionMode::Plan, false),
    ] {
        let mut config = with_servers(&["calc"], "{}");
        config.permission_mode = mode;
        let mut h = Host::ready(config, &["see_a"]);
        h.prompt(1, "go");
        h.calls(&[("t1", "mcp__calc__see_a", "{}")]);
        let told = h.told();
        assert_eq!(told.contains(&"ask t1".to_string()), asks, "{mode:?}");
        assert_eq!(
            told.contains(&"tool_result t1".to_string()),
            !asks,
            "{mode:?}"
        );
        assert!(h.asked.is_empty(), "nothing is called");
        h.control("i", "interrupt");
    }
}

#[test]
fn a_server_that_is_not_known_is_named() {
    let mut h = Host::ready(with_servers(&["calc"], "{}"), &[]);
    for (id, request) in [
        (
            "s1",
            json!({"subtype": "mcp_reconnect", "serverName": "nobody"}),
        ),
        (
            "s2",
            json!({"subtype": "mcp_toggle", "serverName": "nobody", "enabled": true}),
        ),
        (
            "s3",
            json!({"subtype": "mcp_message", "server_name": "nobody", "message": {}}),
        ),
    ] {
        h.operation(id, &request);
        assert_eq!(h.answer_to(id)["error"], "unknown MCP server \"nobody\"");
    }
    toggle(&mut h, "s4", false);
    h.server_says(
        "s5",
        "calc",
        &json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
    );
    assert_eq!(
        h.answer_to("s5")["error"],
        "MCP server \"calc\" is not connected"
    );
    let mut h = Host::new(config());
    h.operation(
        "s1",
        &json!({"subtype": "mcp_reconnect", "serverName": "calc"}),
    );
    assert_eq!(
        h.answer_to("s1")["error"],
        "unsupported control request \"mcp_reconnect\""
    );
}

#[test]
fn a_server_may_speak_by_itself() {
    let mut h = Host::ready(with_servers(&["calc"], "{}"), &[]);
    h.server_says(
        "s1",
        "calc",
        &json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
    );
    assert_eq!(h.told(), ["ack s1", "mcp calc reply"]);
    assert_eq!(h.answer_to("s1")["response"], Value::Null);
    assert_eq!(
        h.oldest().message,
        json!({"jsonrpc": "2.0", "id": 1, "result": {}})
    );
    h.server_says(
        "s2",
        "calc",
        &json!({"jsonrpc": "2.0", "id": 2, "method": "sampling/createMessage"}),
    );
    assert_eq!(h.oldest().message["error"]["code"], -32_601);
    h.server_says("s3", "calc", &json!({"garbage": true}));
    assert!(h.diagnostics()[0].contains("a message of it was ignored"));
}

#[test]
fn a_server_is_not_listened_to_while_too_much_is_not_acknowledged() {
    let mut config = with_servers(&["calc"], "{}");
    config.limits.mcp_unacknowledged = 2;
    let mut h = Host::ready(config, &[]);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    for id in ["s1", "s2", "s3"] {
        h.server_says(id, "calc", &ping);
    }
    assert_eq!(
        h.answer_to("s3")["error"],
        "2 messages to MCP servers are not acknowledged yet"
    );
    let reply = h.oldest();
    h.answer(&reply, &Value::Null);
    h.server_says("s4", "calc", &ping);
    assert_eq!(h.answer_to("s4")["subtype"], "success");
}

// covers: DEC-30
#[test]
fn the_name_of_an_unknown_server_tells_no_part_of_a_credential() {
    let mut config = with_servers(&[], "{}");
    config.credentials = agentx_core::guard::Guard::new(["sk-secret-key"]).expect("one");
    config.limits.mcp_error_chars = 10;
    let mut h = Host::new(config);
    let name = "xxxxxsk-secret-key";
    h.operation(
        "s1",
        &json!({"subtype": "mcp_reconnect", "serverName": name}),
    );
    assert_eq!(
        h.answer_to("s1")["error"],
        "unknown MCP server \"xxxxx[reda…\""
    );
}

#[test]
fn what_servers_offer_fills_the_context() {
    let mut h = Host::ready(with_servers(&["calc"], "{}"), &["add"]);
    h.operation("s1", &json!({"subtype": "get_context_usage"}));
    let usage = h.answer_to("s1")["response"].clone();
    let tools = usage["mcpTools"].as_array().expect("a list");
    assert_eq!(tools.len(), 1);
    assert_eq!(tools[0]["name"], "mcp__calc__add");
    assert_eq!(tools[0]["serverName"], "calc");
    let named = |name: &str| {
        let categories = usage["categories"].as_array().expect("a list");
        categories
            .iter()
            .find(|category| category["name"] == name)
            .cloned()
    };
    assert_eq!(
        named("MCP tools").expect("a category")["tokens"],
        tools[0]["tokens"]
    );
}

// covers: DEC-39
#[test]
fn initialize_brings_servers_and_the_prompt_behind_it_waits() {
    let mut h = Host::new(with_servers(&[], ALLOWED));
    h.initialize(json!({"sdkMcpServers": ["calc"], "hooks": {"PreToolUse":
        [{"matcher": "mcp__calc__.*", "hookCallbackIds": ["look"]}]}}));
    // The npm client does not wait for the answer.
    h.prompt(1, "go");
    h.patterns_match(&[Some(&[])]);
    assert_eq!(
        h.told(),
        ["mcp calc initialize", "ack init", "state running"]
    );
    let asked = h.oldest();
    h.result(&asked, &initialized());
    let list = h.asked("tools/list");
    h.result(&list, &agentx_conformance::servers::listed(&["add"]));
    // The patterns of hooks are for new tools, too; calls wait for that.
    assert_eq!(h.matching().expect("patterns").1, ["mcp__calc__.*"]);
    h.calls(&[("t1", "mcp__calc__add", "{}")]);
    assert!(h.callbacks().is_empty());
    h.told();
    h.patterns_match(&[Some(&["mcp__calc__add"])]);
    assert_eq!(h.told(), ["callback look"]);
    let (id, _) = h.callbacks().pop().expect("a callback");
    h.respond(&id, &json!({}));
    let call = h.asked("tools/call");
    h.says_at(&call, "3");
    h.says("done");
    assert_eq!(h.outcome("t1"), ("3".to_string(), false));
}

#[test]
fn servers_by_name_in_initialize_are_taken_or_told() {
    for (servers, applied, told) in [
        (json!({"calc": sdk("calc")}), true, vec!["calc pending"]),
        (
            json!({"calc": sdk("calc"), "files": {"command": "x"}}),
            false,
            vec!["calc pending"],
        ),
        (json!([]), true, vec![]),
        (json!([sdk("calc")]), false, vec![]),
    ] {
        let mut h = Host::new(with_servers(&[], "{}"));
        h.initialize(json!({"mcpServers": servers}));
        let answer = h.answer_to("init");
        assert_eq!(
            answer["response"]["mcp_servers_applied"], applied,
            "{servers}"
        );
        assert_eq!(h.diagnostics().len(), usize::from(!applied));
        assert_eq!(h.statuses(), told);
    }
}

#[test]
fn a_server_with_a_name_beyond_the_bound_is_told_and_not_listed() {
    let mut h = Host::new(with_servers(&[&"s".repeat(41)], "{}"));
    assert_eq!(h.statuses(), Vec::<String>::new());
    assert!(h.diagnostics()[0].contains("longer than 40 characters"));
}

#[test]
fn servers_whose_answer_fits_no_record_change_nothing() {
    let mut h = Host::ready(with_servers(&["calc"], "{}"), &["add"]);
    let odd: serde_json::Map<_, _> = (0..30_000)
        .map(|n| (format!("s{n}"), json!({"type": "stdio"})))
        .collect();
    let answer = set_servers(&mut h, "s1", Value::Object(odd));
    assert_eq!(answer, Value::Null);
    let error = h.answer_to("s1")["error"].take();
    assert_eq!(
        error,
        "mcp_set_servers: the answer does not fit its 1000000 bytes"
    );
    assert_eq!(h.statuses(), ["calc connected"]);
}
