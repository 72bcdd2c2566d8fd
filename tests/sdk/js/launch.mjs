// What the client puts on the command line and into `initialize`.
import fs from "node:fs";
import path from "node:path";
import { bash, calls, check, drives, fresh, main, oneshot, refused, same, script, session, until } from "./harness.mjs";

drives("options_together", async () => {
  const folder = path.dirname(fresh());
  const [seen, raised] = await oneshot(script(bash("printf allowed"), { text: "{results}" }), {
    systemPrompt: { type: "preset", preset: "claude_code", append: "more" }, tools: { type: "preset", preset: "claude_code" },
    allowedTools: ["Read", "Bash(printf:*)", "mcp__none__tool"], disallowedTools: ["Write"], maxTurns: 5,
    model: "default", fallbackModel: "scripted", betas: ["context-1m-2025-08-07"], permissionMode: "default",
    settings: { permissions: { deny: ["Bash(rm:*)"] } }, settingSources: [], additionalDirectories: [folder, "/usr"],
    strictMcpConfig: true, includeHookEvents: true, includePartialMessages: true, skills: ["one"], title: "a title",
    agents: { helper: { description: "d", prompt: "p".repeat(300_000) } }, thinking: { type: "disabled" },
    enableFileCheckpointing: true, promptSuggestions: false, agentProgressSummaries: true, persistSession: false,
    debugFile: path.join(folder, "debug.txt"), cwd: folder, toolAliases: {}, taskBudget: { total: 1000 },
  });
  check(!raised, `thrown: ${raised}`);
  same(seen.succeeded().end.result, "allowed", "result");
  const { cwd, tools } = seen.of("init")[0];
  same(fs.realpathSync(cwd), fs.realpathSync(folder), "working directory");
  check(tools.includes("Bash") && !tools.includes("Write"), `tools ${tools}`);
});

drives("empty_values", async () => {
  const [seen, raised] = await oneshot("x", { tools: [], settingSources: [], systemPrompt: "" });
  check(!raised, `thrown: ${raised}`);
  same(seen.succeeded().of("init")[0].tools, [], "tools");
});

drives("system_prompts", async () => {
  for (const systemPrompt of ["plain", ["one", "two"], { type: "custom", prompt: "-dash", snapshot: true }]) {
    const [seen, raised] = await oneshot("x", { systemPrompt });
    check(!raised, `thrown: ${raised}`);
    seen.succeeded();
  }
});

drives("prompts_to_nobody_deny", async () => {
  const file = fresh();
  const [seen, raised] = await oneshot(script(bash(`touch ${file}`), { text: "went on" }), { permissionPrompts: "none" });
  check(!raised, `thrown: ${raised}`);
  check(seen.succeeded().outcome()[1] && !fs.existsSync(file), "it ran");
});

drives("bypass_has_to_be_permitted", async () => {
  const write = (file) => script(calls(["Write", { file_path: file, content: "x" }]), { text: "ok" });
  await session({ allowDangerouslySkipPermissions: true }, async (it) => {
    const [before, after] = [fresh(), fresh()];
    (await it.turn(write(before))).succeeded();
    await it.query.setPermissionMode("bypassPermissions");
    (await it.turn(write(after))).succeeded();
    same([fs.existsSync(before), fs.existsSync(after)], [false, true], "written");
  });
  await session({}, (it) => refused(it.query.setPermissionMode("bypassPermissions"), "bypassPermissions"));
});

drives("servers_in_initialize", () => session({ mcpServersDelivery: "initialize", mcpServers: {} }, async (it) => {
  (await it.turn("x")).succeeded();
}));

drives("refused_flags", async () => {
  const resume = "00000000-0000-4000-8000-000000000000";
  for (const [flag, chosen] of [["--resume-session-at", { resume, resumeSessionAt: resume }],
    ["--no-such-flag", { extraArgs: { "no-such-flag": null } }], ["--model", { model: "no-such-model" }]]) {
    const said = [];
    const [seen, raised] = await oneshot("x", { ...chosen, stderr: (text) => said.push(text) });
    check(raised, `${flag}: nothing was thrown`);
    check(said.join("").includes(flag), `${flag}: stderr ${said}`);
    same(seen.messages, [], `${flag}: messages`);
  }
});

drives("servers_of_others", async () => {
  const mcpServers = { elsewhere: { command: "true" } };
  const said = [];
  const [seen, raised] = await oneshot("x", { mcpServers, stderr: (text) => said.push(text) });
  check(!raised, `thrown: ${raised}`);
  seen.succeeded();
  check(said.join("").includes("elsewhere"), `stderr ${said}`);
  // The client warns its caller when it is told that they were not taken, and goes on.
  const warned = [];
  const note = ({ code }) => warned.push(code);
  process.on("warning", note);
  const [later, ended] = await oneshot("x", { mcpServers, mcpServersDelivery: "initialize" });
  check(!ended, `thrown: ${ended}`);
  later.succeeded();
  await until(() => warned.includes("CLAUDE_SDK_MCP_SERVERS_NOT_APPLIED"));
  process.off("warning", note);
});

drives("sandbox_is_refused", async () => {
  const said = [];
  const [seen, raised] = await oneshot("x", { sandbox: { enabled: true }, stderr: (text) => said.push(text) });
  check(raised && said.join("").includes("sandbox"), `thrown: ${raised}, stderr ${said}`);
  same(seen.messages, [], "messages");
});

drives("agents_are_listed", () => session({ agents: { helper: { description: "d", prompt: "p" } } }, async (it) => {
  same((await it.query.supportedAgents()).map(({ name }) => name), ["helper"], "agents");
  (await it.turn("x")).succeeded();
}));

drives("initialize_is_answered", () => session({}, async (it) => {
  const answer = await it.query.initializationResult();
  for (const name of ["commands", "agents", "output_style", "available_output_styles", "models", "account"]) {
    check(name in answer, `no ${name}`);
  }
  check((await it.query.supportedModels()).length === 1, "models");
  check(Array.isArray(await it.query.supportedCommands()), "commands");
  check((await it.query.accountInfo()).apiKeySource !== undefined, "account");
  (await it.turn("x")).succeeded();
}));

await main();
