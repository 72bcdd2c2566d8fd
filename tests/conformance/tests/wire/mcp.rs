//! MCP servers of the host: handshake, tools, calls, questions and endings.

use agentx_conformance::servers::{Asked, Host, initialized, listed, with_servers};
use agentx_conformance::session::hooked;
use agentx_core::agent::Config;
use agentx_core::hook::HookEvent;
use agentx_core::structured::Validity;
use serde_json::{Value, json};

/// Every tool of `calc` may be called.
const ALLOWED: &str = r#"{"permissions":{"allow":["mcp__calc"]}}"#;

fn ready(tools: &[&str]) -> Host {
    Host::ready(with_servers(&["calc"], ALLOWED), tools)
}

/// A turn whose model calls these, each under its own name as id.
fn calling(h: &mut Host, tools: &[&str]) {
    h.prompt(1, "go");
    let names: Vec<String> = tools
        .iter()
        .map(|tool| format!("mcp__calc__{tool}"))
        .collect();
    let calls = tools.iter().zip(&names);
    let calls: Vec<_> = calls
        .map(|(id, name)| (*id, name.as_str(), "{\"a\":1}"))
        .collect();
    h.calls(&calls);
    h.told();
}

/// The calls that wait for their server, by name of the tool.
fn waiting(h: &mut Host) -> Vec<Asked> {
    h.told();
    h.asked.drain(..).collect()
}

// covers: DEC-39
#[test]
fn the_first_request_waits_for_every_server() {
    let mut h = Host::new(with_servers(&["calc", "notes"], "{}"));
    assert_eq!(h.told(), ["mcp calc initialize", "mcp notes initialize"]);
    assert_eq!(h.statuses(), ["calc pending", "notes pending"]);
    h.prompt(1, "hi");
    assert!(h.open.is_empty(), "no model is asked yet");
    let init = h
        .all_records()
        .into_iter()
        .find(|record| record["subtype"] == "init");
    assert_eq!(
        init.expect("an init record")["mcp_servers"],
        json!([{"name": "calc", "status": "pending"}, {"name": "notes", "status": "pending"}])
    );
    let asked = h.oldest();
    h.result(&asked, &initialized());
    assert_eq!(asked.message["params"]["clientInfo"]["name"], "agentx");
    let list = h.asked("tools/list");
    h.result(&list, &listed(&["add"]));
    assert!(h.open.is_empty(), "one server is not ready");
    h.handshakes(&["read", "write"]);
    assert_eq!(
        h.offered(),
        ["mcp__calc__add", "mcp__notes__read", "mcp__notes__write"]
    );
    assert_eq!(h.statuses(), ["calc connected", "notes connected"]);
    h.says("hello");
    // A later turn asks at once, and its init tells the rest.
    h.prompt(2, "again");
    h.says("again");
    assert_eq!(h.diagnostics(), Vec::<&str>::new());
}

// covers: DEC-39, DEC-48
#[test]
fn a_server_that_never_answers_holds_up_one_minute() {
    let mut h = Host::new(with_servers(&["calc"], "{}"));
    h.prompt(1, "hi");
    h.told();
    let silent = h.oldest();
    h.wait(59_999);
    h.feed(agentx_core::agent::Input::Tick);
    assert!(h.open.is_empty());
    h.wait(1);
    h.feed(agentx_core::agent::Input::Tick);
    assert_eq!(h.told(), ["cancel"]);
    assert_eq!(h.offered(), Vec::<String>::new());
    assert_eq!(h.statuses(), ["calc failed it was not ready within 60s"]);
    h.result(&silent, &initialized());
    assert_eq!(
        h.told(),
        Vec::<String>::new(),
        "a late answer means nothing"
    );
    h.says("without it");
    assert_eq!(h.told(), ["assistant text", "result success", "state idle"]);
}

// covers: DEC-26
#[test]
fn a_call_asks_for_permission_and_answers() {
    let mut h = Host::ready(with_servers(&["calc"], "{}"), &["add"]);
    h.prompt(1, "go");
    h.calls(&[("t1", "mcp__calc__add", "{\"a\":1,\"b\":2}")]);
    let question = h.all_records().pop().expect("a question");
    assert_eq!(question["request"]["tool_name"], "mcp__calc__add");
    assert_eq!(
        h.told(),
        [
            "state running",
            "assistant tool_use",
            "state requires_action",
            "ask t1"
        ]
    );
    let id = question["request_id"].as_str().expect("an id").to_string();
    h.respond(
        &id,
        &json!({"behavior": "allow", "updatedInput": {"a": 3, "b": 4}}),
    );
    assert_eq!(h.told(), ["state running", "mcp calc tools/call"]);
    let call = h.oldest();
    assert_eq!(
        call.message["params"],
        json!({"name": "add", "arguments": {"a": 3, "b": 4}})
    );
    h.says_at(&call, "7");
    assert_eq!(h.told(), ["tool_result t1"]);
    assert_eq!(h.outcome("t1"), ("7".to_string(), false));
    h.says("seven");
    assert_eq!(h.told(), ["assistant text", "result success", "state idle"]);
}

#[test]
fn rules_speak_about_servers_and_their_tools() {
    let rules = r#"{"permissions":{"allow":["mcp__calc__add"],"deny":["mcp__notes"]}}"#;
    let mut h = Host::ready(with_servers(&["calc", "notes"], rules), &["add"]);
    h.prompt(1, "go");
    h.calls(&[
        ("t1", "mcp__calc__add", "{}"),
        ("t2", "mcp__notes__add", "{}"),
    ]);
    assert_eq!(
        h.told(),
        [
            "state running",
            "assistant tool_use",
            "assistant tool_use",
            "mcp calc tools/call",
            "tool_result t2"
        ]
    );
    assert_eq!(
        h.outcome("t2"),
        ("A permission rule denies this call.".to_string(), true)
    );
    let call = h.oldest();
    h.says_at(&call, "3");
    h.says("done");
}

#[test]
fn answers_may_come_in_any_order() {
    let mut h = ready(&["see_a", "see_b", "change"]);
    calling(&mut h, &["see_a", "change", "see_b"]);
    let calls = waiting(&mut h);
    assert_eq!(calls.len(), 3, "what reads only runs beside others");
    for call in calls.iter().rev() {
        let name = call.message["params"]["name"].as_str().expect("a name");
        h.says_at(call, &format!("{name} says so"));
    }
    assert_eq!(
        h.told(),
        [
            "tool_result see_b",
            "tool_result change",
            "tool_result see_a"
        ]
    );
    assert_eq!(h.outcome("change"), ("change says so".to_string(), false));
    h.says("done");
}

// covers: WIRE-009, WIRE-PERM-051
#[test]
fn what_a_server_gets_wrong_is_the_error_of_that_call() {
    let answers = [
        (
            json!({"jsonrpc": "2.0", "id": 2, "error": {"code": -32_000, "message": "boom"}}),
            "error -32000: boom",
        ),
        (
            json!({"jsonrpc": "2.0", "id": 1, "result": {"content": []}}),
            "answers another request",
        ),
        (
            json!({"jsonrpc": "2.0", "id": 2, "result": {"content": 7}}),
            "content is no list",
        ),
        (
            json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call"}),
            "asks instead of answering",
        ),
        (json!("garbage"), "no object"),
        (json!(null), "no object"),
    ];
    for (answer, why) in answers {
        let mut h = ready(&["add"]);
        calling(&mut h, &["add"]);
        let call = h.oldest();
        h.answer(&call, &answer);
        assert_eq!(h.told(), ["tool_result add"]);
        let (text, is_error) = h.outcome("add");
        assert!(is_error && text.contains(why), "{answer}: {text}");
        assert_eq!(h.statuses(), ["calc connected"]);
        h.says("so be it");
    }
    // The host itself refuses, or answers without a message.
    for (response, why) in [
        (
            json!({"subtype": "error", "request_id": "", "error": "no such server"}),
            "no such server",
        ),
        (
            json!({"subtype": "success", "request_id": "", "response": {}}),
            "no mcp_response",
        ),
        (
            json!({"subtype": "success", "request_id": ""}),
            "no mcp_response",
        ),
        (
            json!({"subtype": "maybe", "request_id": ""}),
            "neither success nor error",
        ),
    ] {
        let mut h = ready(&["add"]);
        calling(&mut h, &["add"]);
        let mut response = response;
        response["request_id"] = json!(h.oldest().id);
        h.line(&json!({"type": "control_response", "response": response}).to_string());
        let (text, is_error) = h.outcome("add");
        assert!(is_error && text.contains(why), "{text}");
        h.says("so be it");
    }
}

// covers: RT-MCPS-015, RT-MCPS-027
#[test]
fn structured_content_has_to_fit_what_the_tool_declares() {
    let declared = |h: &mut Host| {
        let tool = json!({"name": "n", "inputSchema": {"type": "object"},
            "outputSchema": {"type": "object", "required": ["n"]}});
        let initialize = h.oldest();
        h.result(&initialize, &initialized());
        let list = h.asked("tools/list");
        h.result(&list, &json!({"tools": [tool]}));
    };
    let broken = Validity::Breaks(vec!["/n: is missing".to_string()]);
    for (result, validity, told, is_error) in [
        (
            json!({"content": [], "structuredContent": {"n": 7}}),
            Some(Validity::Fits),
            "Structured output: {\"n\":7}",
            false,
        ),
        (
            json!({"content": [], "structuredContent": {}}),
            Some(broken),
            "/n: is missing",
            true,
        ),
        (
            json!({"content": [], "structuredContent": {}}),
            Some(Validity::Unknown),
            "could not be checked",
            true,
        ),
        (json!({"content": []}), None, "it is missing", true),
        (
            json!({"content": [{"type": "text", "text": "no"}], "isError": true}),
            None,
            "no",
            true,
        ),
    ] {
        let mut h = Host::new(with_servers(&["calc"], ALLOWED));
        declared(&mut h);
        calling(&mut h, &["n"]);
        let call = h.asked("tools/call");
        h.result(&call, &result);
        assert_eq!(h.validating().len(), usize::from(validity.is_some()));
        if let Some(validity) = validity {
            h.validated(validity);
        }
        let (text, error) = h.outcome("n");
        assert!(text.contains(told) && error == is_error, "{result}: {text}");
        h.says("done");
    }
    // Nobody waits for the check longer than for any other.
    let mut h = Host::new(with_servers(&["calc"], ALLOWED));
    declared(&mut h);
    calling(&mut h, &["n"]);
    let call = h.asked("tools/call");
    h.result(
        &call,
        &json!({"content": [], "structuredContent": {"n": 7}}),
    );
    h.wait(3_000);
    h.feed(agentx_core::agent::Input::Tick);
    assert!(h.outcome("n").0.contains("could not be checked in time"));
    h.says("done");
}

#[test]
fn an_answer_that_repeats_an_id_is_no_answer_to_the_other() {
    let mut h = ready(&["see_a", "see_b"]);
    calling(&mut h, &["see_a", "see_b"]);
    let calls = waiting(&mut h);
    let response = |text: &str| {
        json!({"jsonrpc": "2.0", "id": calls[0].message["id"],
            "result": {"content": [{"type": "text", "text": text}]}})
    };
    h.answer(&calls[0], &response("a"));
    h.answer(&calls[1], &response("a again"));
    h.answer(&calls[1], &response("and again"));
    assert_eq!(h.told(), ["tool_result see_a", "tool_result see_b"]);
    assert_eq!(h.outcome("see_a"), ("a".to_string(), false));
    assert!(h.outcome("see_b").0.contains("answers another request"));
    h.says("done");
}

// covers: DEC-48
#[test]
fn a_call_that_is_never_answered_is_given_up_once() {
    let mut h = ready(&["add"]);
    calling(&mut h, &["add"]);
    let call = h.oldest();
    h.wait(60_000);
    h.feed(agentx_core::agent::Input::Tick);
    assert_eq!(h.told(), ["cancel", "tool_result add"]);
    assert_eq!(
        h.outcome("add"),
        (
            "MCP server \"calc\" failed: it did not answer within 60s.".to_string(),
            true
        )
    );
    h.says_at(&call, "too late");
    assert_eq!(h.told(), Vec::<String>::new());
    h.says("without it");
    assert_eq!(h.told(), ["assistant text", "result success", "state idle"]);
}

/// Of a notification nothing is waited for, and its acknowledgement says nothing.
#[test]
fn an_acknowledgement_is_not_matched_by_its_id() {
    let mut h = Host::new(with_servers(&["calc"], "{}"));
    let initialize = h.oldest();
    h.result(&initialize, &initialized());
    let notification = h.asked("notifications/initialized");
    assert!(notification.message.get("id").is_none());
    let list = h.asked("tools/list");
    h.answer(
        &notification,
        &json!({"jsonrpc": "2.0", "id": list.message["id"], "result": {}}),
    );
    assert_eq!(h.statuses(), ["calc pending"]);
    h.result(&list, &listed(&["add"]));
    assert_eq!(h.statuses(), ["calc connected"]);
    assert_eq!(h.diagnostics(), Vec::<&str>::new());
}

// covers: RT-MCPS-004, RT-MCPS-007
#[test]
fn a_list_that_changes_in_the_middle_of_a_turn_holds_for_the_next_request() {
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    let mut h = ready(&["add", "old"]);
    calling(&mut h, &["add", "old"]);
    h.server_says("s1", "calc", &changed);
    assert_eq!(h.told(), ["ack s1", "mcp calc tools/list"]);
    let list = h.asked("tools/list");
    h.result(&list, &listed(&["add", "new"]));
    // The second call was offered what is not there any more.
    let call = h.asked("tools/call");
    h.says_at(&call, "3");
    assert_eq!(h.told(), ["tool_result add", "tool_result old"]);
    assert_eq!(h.outcome("add"), ("3".to_string(), false));
    assert!(h.outcome("old").0.contains("has changed this tool"));
    assert_eq!(h.offered(), ["mcp__calc__add", "mcp__calc__new"]);
    h.calls(&[("t3", "mcp__calc__old", "{}")]);
    assert!(
        h.outcome("t3")
            .0
            .starts_with("Unknown tool: mcp__calc__old.")
    );
    h.says("done");
}

// covers: RT-TOOL-016
#[test]
fn a_name_that_is_taken_is_not_offered_twice() {
    let mut config = with_servers(&["calc"], "{}");
    let own =
        agentx_conformance::session::tool("mcp__calc__add", agentx_core::tool::ToolClass::Inert);
    config.tools = [own].into();
    let mut h = Host::ready(config, &["add", "sub"]);
    h.prompt(1, "go");
    assert_eq!(h.offered(), ["mcp__calc__add", "mcp__calc__sub"]);
    assert!(h.diagnostics()[0].contains("tool \"add\" of MCP server \"calc\" is not offered"));
    h.calls(&[("t1", "mcp__calc__add", "{}")]);
    assert!(h.find_tool("t1").is_some(), "the own tool runs");
    h.tool_says("t1", "mine");
    h.says("done");
}

// covers: RT-MCPS-009
#[test]
fn a_server_with_an_impossible_name_is_shown_as_failed() {
    let mut h = Host::new(with_servers(&["a__b", "my tools", "my_tools"], "{}"));
    assert_eq!(h.told(), ["mcp my tools initialize"]);
    let statuses = h.statuses();
    assert!(statuses[0].starts_with("a__b failed the name of this MCP server reads"));
    assert_eq!(statuses[1], "my tools pending");
    assert!(
        statuses[2].contains("reads like \"my tools\""),
        "{statuses:?}"
    );
}

// ---- endings ------------------------------------------------------------------------

// covers: DEC-37
#[test]
fn an_interrupt_takes_back_calls_and_questions_and_leaves_handshakes() {
    let mut h = Host::ready(with_servers(&["calc"], ALLOWED), &["see_a"]);
    calling(&mut h, &["see_a"]);
    h.operation(
        "s1",
        &json!({"subtype": "mcp_set_servers", "servers":
        {"calc": {"type": "sdk", "name": "calc"}, "late": {"type": "sdk", "name": "late"}}}),
    );
    ask(&mut h, "s2");
    assert_eq!(
        h.told(),
        [
            "ack s1",
            "mcp late initialize",
            "ack s2",
            "elicitation calc"
        ]
    );
    h.control("i", "interrupt");
    assert_eq!(
        h.told(),
        [
            "cancel",
            "cancel",
            "ack i",
            "mcp calc reply",
            "tool_result see_a",
            "result error_during_execution",
            "state idle"
        ]
    );
    assert!(h.outcome("see_a").1);
    let call = h.asked("tools/call");
    h.says_at(&call, "too late");
    let reply = h
        .asked
        .iter()
        .find(|asked| asked.message.get("method").is_none());
    assert_eq!(
        reply.expect("a reply").message,
        json!({"jsonrpc": "2.0", "id": "q", "result": {"action": "cancel"}})
    );
    h.handshakes(&["see_b"]);
    assert_eq!(h.statuses(), ["calc connected", "late connected"]);
    h.prompt(2, "go on");
    assert_eq!(h.offered(), ["mcp__calc__see_a", "mcp__late__see_b"]);
    h.says("done");
}

#[test]
fn an_interrupt_ends_a_turn_that_waits_for_servers() {
    let mut h = Host::new(with_servers(&["calc"], "{}"));
    h.prompt(1, "hi");
    h.told();
    h.control("i", "interrupt");
    assert_eq!(
        h.told(),
        ["ack i", "result error_during_execution", "state idle"]
    );
    h.handshakes(&["add"]);
    assert!(
        h.open.is_empty(),
        "nothing is asked for a turn that is over"
    );
    h.prompt(2, "hi");
    assert_eq!(h.offered(), ["mcp__calc__add"]);
    h.says("hi");
}

// covers: DEC-37, WIRE-008
#[test]
fn at_the_end_of_the_input_a_call_has_failed() {
    let mut h = ready(&["add"]);
    calling(&mut h, &["add"]);
    h.eof();
    assert_eq!(h.told(), ["tool_result add"]);
    let (text, is_error) = h.outcome("add");
    assert!(is_error && text.contains("the input has ended"), "{text}");
    assert_eq!(h.offered(), Vec::<String>::new());
    h.calls(&[("t2", "mcp__calc__add", "{}")]);
    assert!(h.outcome("t2").0.starts_with("Unknown tool"));
    h.says("done");
    assert_eq!(h.exit, Some(0));
    assert_eq!(h.diagnostics(), Vec::<&str>::new());
}

#[test]
fn the_end_of_the_input_ends_a_start() {
    let mut h = Host::new(with_servers(&["calc"], "{}"));
    h.prompt(1, "hi");
    h.eof();
    assert_eq!(h.told(), ["mcp calc initialize", "state running"]);
    h.says("done");
    assert_eq!(h.exit, Some(0));
}

// covers: DEC-10
#[test]
fn input_that_cannot_be_read_takes_everything_back() {
    let mut h = ready(&["add"]);
    calling(&mut h, &["add"]);
    h.operation(
        "s1",
        &json!({"subtype": "mcp_reconnect", "serverName": "calc"}),
    );
    assert_eq!(
        h.told(),
        ["ack s1", "cancel", "tool_result add", "mcp calc initialize"]
    );
    h.prompt(2, "and");
    h.line("no json");
    let told = h.told();
    assert_eq!(told.first().map(String::as_str), Some("cancel"), "{told:?}");
    assert_eq!(h.exit, Some(1));
}

#[test]
fn hooks_see_calls_at_servers_as_any_other() {
    let config = with_servers(&["calc"], ALLOWED);
    let hooks = hooked(&[HookEvent::PreToolUse, HookEvent::PostToolUse]).hooks;
    let mut h = Host::ready(Config { hooks, ..config }, &["add"]);
    calling(&mut h, &["add"]);
    h.hook_says("");
    let call = h.asked("tools/call");
    h.says_at(&call, "3");
    h.told();
    h.hook_says(r#"{"additionalContext":"checked"}"#);
    assert_eq!(h.told(), ["system/hook_response", "tool_result add"]);
    h.says("done");
}

#[test]
fn a_call_that_takes_long_is_told_of() {
    let mut config = with_servers(&["calc"], ALLOWED);
    config.include_partial_messages = true;
    let mut h = Host::ready(config, &["add"]);
    calling(&mut h, &["add"]);
    h.wait(5_000);
    h.feed(agentx_core::agent::Input::Tick);
    assert_eq!(h.told(), ["tool_progress"]);
    let call = h.oldest();
    h.says_at(&call, "3");
    h.says("done");
}

#[test]
fn what_servers_say_holds_no_credential() {
    let mut config = with_servers(&["calc"], ALLOWED);
    config.credentials = agentx_core::guard::Guard::new(["sk-secret-key"]).expect("one");
    config.metadata = config.credentials.clone();
    let mut h = Host::ready(config, &["add", "sk-secret-key"]);
    calling(&mut h, &["add"]);
    let call = h.oldest();
    h.says_at(&call, "it is sk-secret-key");
    assert_eq!(h.outcome("add"), ("it is [redacted]".to_string(), false));
    assert_eq!(h.offered(), ["mcp__calc__add"]);
    h.says("done");
    assert_eq!(h.exit, None, "the output is open");
}

// covers: DEC-30, DEC-50
#[test]
fn neither_an_echo_nor_a_form_lets_a_credential_out() {
    let mut config = with_servers(&["calc"], ALLOWED);
    config.credentials = agentx_core::guard::Guard::new(["sk-secret-key"]).expect("one");
    config.replay_user_messages = true;
    config.limits.reference_record_bytes = 3_000;
    let mut h = Host::ready(config, &["add"]);
    for (n, text) in [
        (1, "it is sk-secret-key".to_string()),
        (2, "x".repeat(4_000)),
    ] {
        h.prompt(n, "go");
        h.calls(&[("", "mcp__calc__add", "{}")]);
        h.told();
        let call = h.oldest();
        h.says_at(&call, &text);
        assert_eq!(h.told().len(), 1, "the result, and no echo");
        h.says("done");
        ask(&mut h, "s");
        let (id, _) = elicitation(&h);
        h.respond(
            &id,
            &json!({"action": "accept", "content": {"key": "sk-secret-key"}}),
        );
        h.told();
        let reply = h.oldest().message;
        assert_eq!(reply["result"], json!({"action": "cancel"}));
    }
    assert_eq!(h.exit, None, "the output is open");
}

#[test]
fn an_answer_that_fits_no_record_is_a_cancel_to_its_server() {
    let mut config = with_servers(&["calc"], ALLOWED);
    config.limits.reference_record_bytes = 3_000;
    let mut h = Host::ready(config, &["add"]);
    ask(&mut h, "s");
    let (id, _) = elicitation(&h);
    let text = "x".repeat(2_900);
    h.respond(&id, &json!({"action": "accept", "content": {"text": text}}));
    h.told();
    assert_eq!(h.oldest().message["result"], json!({"action": "cancel"}));
    let told = "an answer to an MCP server is not passed on: it does not fit a record";
    assert_eq!(h.diagnostics(), [told]);
}

#[test]
fn a_message_that_fits_no_record_fails_its_call() {
    let mut config = with_servers(&["calc"], ALLOWED);
    config.limits.reference_record_bytes = 3_000;
    let mut h = Host::ready(config, &["add"]);
    h.prompt(1, "go");
    let input = json!({"a": "x".repeat(2_000)}).to_string();
    h.calls(&[("t1", "mcp__calc__add", &input)]);
    let (text, is_error) = h.outcome("t1");
    assert!(
        is_error && text.contains("does not fit a record of 3000 bytes"),
        "{text}"
    );
    h.says("done");
}

// ---- questions of servers -----------------------------------------------------------

/// `calc` asks its user for a name, with the id `q`.
fn ask(h: &mut Host, id: &str) {
    let question = json!({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create",
        "params": {"message": "Your name?", "requestedSchema": {"type": "object"}}});
    h.server_says(id, "calc", &question);
}

/// The id of the newest elicitation, and what it asks.
fn elicitation(h: &Host) -> (String, Value) {
    let records = h.all_records();
    let of = |record: &&Value| record["request"]["subtype"] == "elicitation";
    let record = records.iter().rev().find(of).expect("an elicitation");
    let id = record["request_id"].as_str().expect("an id").to_string();
    (id, record["request"].clone())
}

// covers: DEC-48, WIRE-009, WIRE-PERM-051
#[test]
fn a_question_of_a_server_goes_to_the_host_and_back() {
    for (answer, result) in [
        (
            json!({"action": "accept", "content": {"name": "x"}}),
            json!({"action": "accept", "content": {"name": "x"}}),
        ),
        (json!({"action": "decline"}), json!({"action": "decline"})),
        (json!({"action": "dance"}), json!({"action": "cancel"})),
    ] {
        let mut h = ready(&["add"]);
        calling(&mut h, &["add"]);
        let call = h.oldest();
        ask(&mut h, "s1");
        assert_eq!(h.told(), ["ack s1", "elicitation calc"]);
        let (id, asked) = elicitation(&h);
        assert_eq!(
            asked,
            json!({"subtype": "elicitation", "mcp_server_name": "calc", "message": "Your name?",
                "mode": "form", "requested_schema": {"type": "object"}})
        );
        h.respond(&id, &answer);
        let reply = h.oldest();
        assert_eq!(
            reply.message,
            json!({"jsonrpc": "2.0", "id": "q", "result": result})
        );
        h.answer(&reply, &json!({"jsonrpc": "2.0", "id": 0, "result": {}}));
        h.says_at(&call, "3");
        h.says("done");
    }
}

// covers: DEC-48
#[test]
fn a_question_waits_without_limit_and_a_failure_is_a_cancel() {
    let mut h = ready(&[]);
    ask(&mut h, "s1");
    h.told();
    h.wait(3_600_000);
    h.feed(agentx_core::agent::Input::Tick);
    assert_eq!(h.told(), Vec::<String>::new());
    let (id, _) = elicitation(&h);
    let response = json!({"subtype": "error", "request_id": id, "error": "no handler"});
    h.line(&json!({"type": "control_response", "response": response}).to_string());
    assert_eq!(h.oldest().message["result"], json!({"action": "cancel"}));
}

// covers: DEC-34
#[test]
fn a_question_that_fits_a_record_is_asked_and_a_longer_one_is_a_cancel() {
    for (chars, told) in [(1_500, "elicitation calc"), (2_500, "mcp calc reply")] {
        let mut config = with_servers(&["calc"], ALLOWED);
        config.limits.reference_record_bytes = 3_000;
        let mut h = Host::ready(config, &[]);
        h.told();
        let question = json!({"jsonrpc": "2.0", "id": 5, "method": "elicitation/create",
            "params": {"message": "x".repeat(chars), "requestedSchema": {"type": "object"}}});
        h.server_says("s1", "calc", &question);
        assert_eq!(h.told(), ["ack s1", told]);
    }
}

#[test]
fn a_question_may_be_answered_elsewhere_or_taken_back() {
    let mut h = ready(&[]);
    let url = json!({"mode": "url", "message": "Sign in", "url": "https://a.example/x",
        "elicitationId": "e1"});
    let question =
        json!({"jsonrpc": "2.0", "id": 5, "method": "elicitation/create", "params": url});
    h.server_says("s1", "calc", &question);
    let (_, asked) = elicitation(&h);
    assert_eq!(asked["url"], "https://a.example/x");
    assert_eq!(asked["elicitation_id"], "e1");
    let complete = json!({"jsonrpc": "2.0", "method": "notifications/elicitation/complete",
        "params": {"elicitationId": "e1"}});
    h.told();
    h.server_says("s2", "calc", &complete);
    assert_eq!(h.told(), ["ack s2", "system/elicitation_complete"]);
    let record = h.all_records().pop().expect("a record");
    assert_eq!(record["mcp_server_name"], "calc");
    assert_eq!(record["elicitation_id"], "e1");
    let taken_back = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": 5}});
    h.server_says("s3", "calc", &taken_back);
    assert_eq!(h.told(), ["ack s3", "cancel"]);
}
