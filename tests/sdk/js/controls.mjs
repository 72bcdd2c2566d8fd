// Control requests: what they answer and what they change.
import fs from "node:fs";
import path from "node:path";
import { randomUUID } from "node:crypto";
import { bash, calls, check, drives, fresh, main, refused, same, script, session } from "./harness.mjs";

const write = (file, content) => calls(["Write", { file_path: file, content }]);

drives("controls", () => session({}, async (it) => {
  (await it.turn("x")).succeeded();
  same((await it.query.setPermissionMode("acceptEdits"))?.mode, "acceptEdits", "mode");
  for (const model of [undefined, "default", "scripted", "play"]) await it.query.setModel(model);
  await refused(it.query.setModel("no-such-model"), "no-such-model");
  await it.query.setMaxThinkingTokens(null);
  await refused(it.query.setMaxThinkingTokens(1000), "--effort");
  same(await it.query.mcpServerStatus(), [], "servers");
  const usage = await it.query.getContextUsage();
  for (const name of ["categories", "totalTokens", "maxTokens", "rawMaxTokens", "percentage", "gridRows", "model",
    "memoryFiles", "mcpTools", "agents", "isAutoCompactEnabled", "apiUsage"]) {
    check(name in usage, `no ${name}`);
  }
  await it.query.interrupt();
  await refused(it.query.stopTask("task_none"), "task_none");
  (await it.turn("still fine")).succeeded();
}));

drives("mode_holds_for_later_calls", async () => {
  const cwd = path.dirname(fresh());
  await session({ cwd, canUseTool: async () => ({ behavior: "deny", message: "no" }) }, async (it) => {
    const written = async (name) => {
      (await it.turn(script(write(path.join(cwd, name), "x"), { text: "ok" }))).succeeded();
      return fs.existsSync(path.join(cwd, name));
    };
    same(await written("a"), false, "default");
    await it.query.setPermissionMode("acceptEdits");
    same(await written("b"), true, "acceptEdits");
    await it.query.setPermissionMode("default");
    same(await written("c"), false, "default again");
  });
});

drives("settings_of_the_session", async () => {
  await session({ canUseTool: async () => ({ behavior: "deny", message: "no" }) }, async (it) => {
    const said = async () => (await it.turn(script(bash("printf x"), { text: "ok" }))).succeeded().outcome()[1];
    same(await said(), true, "before");
    await it.query.applyFlagSettings({ permissions: { allow: ["Bash(printf:*)"] } });
    same(await said(), false, "after");
  });
});

drives("files_are_rewound", async () => {
  const cwd = path.dirname(fresh());
  const [old, made] = [path.join(cwd, "old"), path.join(cwd, "made")];
  fs.writeFileSync(old, "before\n");
  await session({ cwd, permissionMode: "acceptEdits", enableFileCheckpointing: true }, async (it) => {
    const uuid = randomUUID();
    const edit = calls(["Edit", { file_path: old, old_string: "before", new_string: "after" }]);
    const steps = [calls(["Read", { file_path: old }]), edit, write(made, "x\n"), { text: "ok" }];
    (await it.turn(script(...steps), { uuid })).succeeded();
    same([fs.readFileSync(old, "utf8"), fs.existsSync(made)], ["after\n", true], "written");
    const dry = await it.query.rewindFiles(uuid, { dryRun: true });
    same([dry.canRewind, dry.filesChanged?.length], [true, 2], "dry run");
    same([fs.readFileSync(old, "utf8"), fs.existsSync(made)], ["after\n", true], "after the dry run");
    same((await it.query.rewindFiles(uuid)).canRewind, true, "rewound");
    same([fs.readFileSync(old, "utf8"), fs.existsSync(made)], ["before\n", false], "after it");
    same((await it.query.rewindFiles(randomUUID())).canRewind, false, "unknown message");
  });
});

drives("read_state_is_seeded", async () => {
  const cwd = path.dirname(fresh());
  const file = path.join(cwd, "file");
  fs.writeFileSync(file, "before\n");
  await session({ cwd, permissionMode: "acceptEdits" }, async (it) => {
    await it.query.seedReadState(file, Math.floor(fs.statSync(file).mtimeMs) + 1);
    fs.writeFileSync(file, "changed by somebody else\n");
    const seen = (await it.turn(script(write(file, "x"), { text: "ok" }))).succeeded();
    same([seen.outcome()[1], fs.readFileSync(file, "utf8")], [true, "changed by somebody else\n"], "file");
    (await it.turn(script(calls(["Read", { file_path: file }]), write(file, "x"), { text: "ok" }))).succeeded();
    same(fs.readFileSync(file, "utf8"), "x", "file that was read again");
  });
});

drives("tasks", () => session({ permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true },
  async (it) => {
    const ends = (await it.turn(script(bash("echo finished", { run_in_background: true }), { text: "one" },
      { text: "two" }))).succeeded();
    same([ends.end.result, ends.of("task_notification").map(({ status }) => status)], ["two", ["completed"]], "task");
    it.send(script(bash("sleep 600", { run_in_background: true }), { text: "one" }, { text: "two" }));
    const seen = await it.read(({ subtype }) => subtype === "task_started");
    await it.query.stopTask(seen.of("task_started")[0].task_id);
    await it.read(undefined, seen);
    same(seen.succeeded().of("task_notification").map(({ status }) => status), ["stopped"], "stopped task");
  }));

drives("suggestions", () => session({ promptSuggestions: true }, async (it) => {
  it.send(script({ text: "answer" }, { text: "what next?" }));
  const seen = (await it.read()).succeeded();
  same(seen.end.result, "answer", "result");
  let message;
  do message = (await it.query.next()).value; while (message.type !== "prompt_suggestion");
  same(message.suggestion, "what next?", "suggestion");
  (await it.turn("next")).succeeded();
}));

drives("plugins_are_none", () => session({}, async (it) => {
  (await it.turn("x")).succeeded();
  const answer = await it.query.reloadPlugins();
  same([answer.plugins, answer.error_count], [[], 0], "answer");
}));

drives("operations_that_are_not_there", () => session({}, async (it) => {
  (await it.turn("x")).succeeded();
  await refused(it.query.reloadSkills(), "unsupported control request");
  await refused(it.query.reloadOutputStyles(), "unsupported control request");
  await refused(it.query.updateSettings("userSettings", {}), "unsupported control request");
  await refused(it.query.backgroundTasks(), "unsupported control request");
  await refused(it.query.readMcpResource("nobody", "file:///x"), "unsupported control request");
  (await it.turn("still fine")).succeeded();
}));

await main();
