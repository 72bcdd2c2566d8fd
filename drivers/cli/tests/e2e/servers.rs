//! MCP servers of a host, through the binary.

use crate::hosted::linked;
use crate::support::{Agent, World, script, user};
use serde_json::{Value, json};

/// A host that plays the server `calc`.
struct Host {
    agent: Agent,
}

impl Host {
    fn start(world: &World) -> Self {
        let servers = json!({"mcpServers": {"calc": {"type": "sdk", "name": "calc"}}}).to_string();
        let arguments = [
            "--output-format",
            "stream-json",
            "--verbose",
            "--allowedTools",
            "mcp__calc__add",
            "--mcp-config",
            &servers,
            "--input-format",
            "stream-json",
        ];
        Self {
            agent: Agent::start(linked(world, &arguments)),
        }
    }

    /// Waits for a message with this method, and answers it with a result.
    fn answer(&mut self, method: &str, result: &Value) -> Value {
        let asked = self
            .agent
            .until(|record| record["request"]["message"]["method"] == method);
        let message = &asked["request"]["message"];
        let response = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        let answer = json!({"type": "control_response", "response": {"subtype": "success",
            "request_id": asked["request_id"], "response": {"mcp_response": response}}});
        self.agent.send(&answer.to_string());
        message.clone()
    }
}

// covers: RT-MCPS-015
#[test]
fn a_server_of_the_host_serves_its_tools() {
    let world = World::scripted();
    let mut host = Host::start(&world);
    host.answer(
        "initialize",
        &json!({"protocolVersion": "2024-11-05", "capabilities": {"tools": {}},
            "serverInfo": {"name": "calc", "version": "1"}}),
    );
    let call = |n: i64| json!({"tool_calls": [{"name": "mcp__calc__add", "input": {"n": n}}]});
    // The prompt comes before the tools are known.
    host.agent.send(&user(&script(
        &json!([call(1), call(2), {"text": "{results}"}]),
    )));
    host.answer("notifications/initialized", &json!({}));
    let schema = json!({"type": "object", "required": ["n"],
        "properties": {"n": {"type": "integer"}}});
    host.answer(
        "tools/list",
        &json!({"tools": [{"name": "add", "inputSchema": {"type": "object"}, "outputSchema": schema}]}),
    );
    let first = host.answer(
        "tools/call",
        &json!({"content": [], "structuredContent": {"n": "one"}}),
    );
    assert_eq!(
        first["params"],
        json!({"name": "add", "arguments": {"n": 1}})
    );
    let refused = host.agent.until_type("user");
    let block = &refused["message"]["content"][0];
    assert_eq!(block["is_error"], true);
    assert!(
        block
            .to_string()
            .contains("does not fit what its tool declares"),
        "{block}"
    );
    host.answer(
        "tools/call",
        &json!({"content": [], "structuredContent": {"n": 2}}),
    );
    let result = host.agent.until_type("result");
    assert_eq!(result["result"], "Structured output: {\"n\":2}");
    assert_eq!(host.agent.end().status, Some(0));
}
