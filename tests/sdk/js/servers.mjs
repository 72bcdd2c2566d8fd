// MCP servers that live in the client's process.
import { createSdkMcpServer, tool } from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";
import { calls, check, drives, main, never, oneshot, refused, same, script, session, signal } from "./harness.mjs";

function calculator(log, name = "calc") {
  const text = (said, more = {}) => ({ content: [{ type: "text", text: said }], ...more });
  return createSdkMcpServer({ name, version: "1.0.0", tools: [
    tool("add", "adds two numbers", { a: z.number(), b: z.number() }, async ({ a, b }) => {
      log.push([a, b]);
      return text(`sum=${a + b}`);
    }),
    tool("refuse", "always an error", {}, async () => text("refused", { isError: true })),
    tool("boom", "always throws", {}, async () => {
      throw new Error("the tool blew up");
    }),
  ] });
}

const ADD = ["mcp__calc__add", { a: 40, b: 2 }];
const FREE = ["mcp__calc__add", "mcp__calc__refuse", "mcp__calc__boom", "mcp__calc__wait", "mcp__late__add"];
const status = (servers) => Object.fromEntries(servers.map((server) => [server.name, server.status]));

drives("sdk_server", async () => {
  const log = [];
  await session({ mcpServers: { calc: calculator(log) }, allowedTools: FREE }, async (it) => {
    const step = calls(ADD, ["mcp__calc__refuse", {}], ["mcp__calc__boom", {}], ["mcp__calc__none", {}]);
    const seen = (await it.turn(script(step, { text: "ok" }))).succeeded();
    same(seen.outcome(0), ["sum=42", false], "sum");
    same(seen.outcome(1), ["refused", true], "refusal");
    check(seen.outcome(2)[1] && seen.outcome(2)[0].includes("blew up"), `failure ${seen.outcome(2)}`);
    check(seen.outcome(3)[1], `unknown tool ${seen.outcome(3)}`);
    same(log, [[40, 2]], "calls");
    check(seen.of("init")[0].mcp_servers.some(({ name }) => name === "calc"), "calc is not in init");
    same(status(await it.query.mcpServerStatus()), { calc: "connected" }, "status");
  });
});

drives("oneshot_with_a_server_ends_by_itself", async () => {
  const log = [];
  const [seen, raised] = await oneshot(script(calls(ADD), { text: "{results}" }),
    { mcpServers: { calc: calculator(log) }, allowedTools: FREE });
  check(!raised, `thrown: ${raised}`);
  same(seen.succeeded().end.result, "sum=42", "result");
});

drives("tools_ask_first", async () => {
  const log = [];
  const asked = [];
  const canUseTool = async (name) => {
    asked.push(name);
    return { behavior: "deny", message: "no sums" };
  };
  await session({ mcpServers: { calc: calculator(log) }, canUseTool }, async (it) => {
    const seen = (await it.turn(script(calls(ADD), { text: "ok" }))).succeeded();
    check(seen.outcome()[1] && seen.outcome()[0].includes("no sums"), `outcome ${seen.outcome()}`);
  });
  same([asked, log], [["mcp__calc__add"], []], "asked and called");
});

drives("servers_change", async () => {
  const [log, late] = [[], []];
  await session({ mcpServers: { calc: calculator(log) }, allowedTools: FREE }, async (it) => {
    (await it.turn("x")).succeeded();
    const answer = await it.query.setMcpServers({ late: calculator(late, "late"),
      elsewhere: { type: "http", url: "http://127.0.0.1:9/mcp" } });
    same([answer.added, Object.keys(answer.errors)], [["late"], ["elsewhere"]], "answer");
    const seen = (await it.turn(script(calls(["mcp__late__add", { a: 1, b: 1 }]), { text: "ok" }))).succeeded();
    same(seen.outcome(), ["sum=2", false], "the server that was added");
    await it.query.toggleMcpServer("late", false);
    same(status(await it.query.mcpServerStatus()).late, "disabled", "status");
    await it.query.toggleMcpServer("late", true);
    await it.query.reconnectMcpServer("late");
    const again = (await it.turn(script(calls(["mcp__late__add", { a: 1, b: 2 }]), { text: "ok" }))).succeeded();
    same(again.outcome(), ["sum=3", false], "after it was switched off and on");
    await refused(it.query.reconnectMcpServer("nobody"), "nobody");
    await refused(it.query.toggleMcpServer("nobody", true), "nobody");
  });
});

drives("tools_come_while_it_runs", async () => {
  const calc = calculator([]);
  await session({ mcpServers: { calc }, allowedTools: [...FREE, "mcp__calc__more"] }, async (it) => {
    const more = calls(["mcp__calc__more", {}]);
    check((await it.turn(script(more, { text: "ok" }))).succeeded().outcome()[1], "it is there already");
    // The server tells of it by a message of its own.
    calc.instance.registerTool("more", { description: "came later", inputSchema: {} }, async () => ({
      content: [{ type: "text", text: "here I am" }],
    }));
    // Turns do not wait for the list that is asked for then.
    let outcome;
    do outcome = (await it.turn(script(more, { text: "ok" }))).succeeded().outcome(); while (outcome[1]);
    same(outcome, ["here I am", false], "the new tool");
    const { tools } = (await it.turn("x")).of("init")[0];
    check(tools.includes("mcp__calc__more"), `tools ${tools}`);
  });
});

// A server with one tool, which asks the user and says what came back.
function asking() {
  const calc = createSdkMcpServer({ name: "calc", tools: [tool("wait", "asks", {}, async () => {
    const requestedSchema = { type: "object", properties: { colour: { type: "string" } }, required: ["colour"] };
    const answer = await calc.instance.server.elicitInput({ message: "Which colour?", requestedSchema });
    return { content: [{ type: "text", text: JSON.stringify([answer.action, answer.content ?? null]) }] };
  })] });
  return { mcpServers: { calc }, allowedTools: FREE };
}

drives("server_asks_the_user", async () => {
  const asked = [];
  const onElicitation = async ({ serverName, message }) => {
    asked.push([serverName, message]);
    return { action: "accept", content: { colour: "green" } };
  };
  const step = script(calls(["mcp__calc__wait", {}]), { text: "ok" });
  await session({ ...asking(), onElicitation }, async (it) => {
    const seen = (await it.turn(step)).succeeded();
    same(seen.outcome(), ['["accept",{"colour":"green"}]', false], "answer");
  });
  same(asked, [["calc", "Which colour?"]], "asked");
  await session(asking(), async (it) => {
    same((await it.turn(step)).succeeded().outcome(), ['["decline",null]', false], "answer without a handler");
  });
});

drives("interrupted_call", async () => {
  const started = signal();
  const wait = tool("wait", "waits", {}, async () => {
    started.set();
    return never;
  });
  const mcpServers = { calc: createSdkMcpServer({ name: "calc", tools: [wait] }) };
  await session({ mcpServers, allowedTools: FREE }, async (it) => {
    it.send(script(calls(["mcp__calc__wait", {}]), { text: "never" }));
    const reading = it.read();
    await started.happened;
    await it.query.interrupt();
    same((await reading).end.subtype, "error_during_execution", "result");
    (await it.turn("next")).succeeded();
  });
});

await main();
