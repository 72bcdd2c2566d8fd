// Permission questions: who decides, in which order, and what a call without an answer becomes.
import fs from "node:fs";
import path from "node:path";
import { bash, calls, check, drives, fresh, main, never, oneshot, same, script, session, signal, until } from "./harness.mjs";

drives("allow_changed", async () => {
  const asked = [];
  const canUseTool = async (name, input, { toolUseID }) => {
    asked.push([name, input.command, toolUseID]);
    return { behavior: "allow", updatedInput: { ...input, command: "printf changed" }, toolUseID };
  };
  await session({ canUseTool }, async (it) => {
    const seen = (await it.turn(script(bash("printf original"), { text: "{results}" }))).succeeded();
    same(seen.end.result, "changed", "result");
    same(asked, [["Bash", "printf original", seen.uses[0].id]], "asked");
    same(seen.end.permission_denials, [], "denials");
  });
});

drives("allow_without_input", () => session({ canUseTool: async () => ({ behavior: "allow" }) }, async (it) => {
  const seen = (await it.turn(script(bash("printf as-it-is"), { text: "{results}" }))).succeeded();
  same(seen.end.result, "as-it-is", "result");
}));

drives("deny", async () => {
  const file = fresh();
  const canUseTool = async () => ({ behavior: "deny", message: "the host says no" });
  await session({ canUseTool }, async (it) => {
    const seen = (await it.turn(script(bash(`touch ${file}`), { text: "went on" }))).succeeded();
    const [text, wrong] = seen.outcome();
    check(wrong && text.includes("the host says no"), `outcome ${text}`);
    same(seen.end.permission_denials.map(({ tool_use_id }) => tool_use_id), [seen.uses[0].id], "denials");
  });
  check(!fs.existsSync(file), "it ran");
});

drives("deny_and_stop", async () => {
  const canUseTool = async () => ({ behavior: "deny", message: "stop it", interrupt: true });
  await session({ canUseTool }, async (it) => {
    const { end } = await it.turn(script(bash("printf x"), { text: "not reached" }));
    same([end.subtype, end.is_error], ["error_during_execution", true], "result");
    (await it.turn("next")).succeeded();
  });
});

// Runs a call under `canUseTool` and holds that it does not run.
async function denied(canUseTool) {
  const file = fresh();
  await session(canUseTool ? { canUseTool } : {}, async (it) => {
    const seen = (await it.turn(script(bash(`touch ${file}`), { text: "went on" }))).succeeded();
    check(seen.outcome()[1], `outcome ${seen.outcome()}`);
    same(seen.end.permission_denials.length, 1, "denials");
  });
  check(!fs.existsSync(file), "it ran");
}

drives("answer_of_nothing", () => denied(async () => undefined));

drives("answer_of_nothing_known", () => denied(async () => ({ behavior: "perhaps" })));

drives("callback_that_fails", () => denied(async () => {
  throw new Error("the host broke");
}));

drives("no_callback", () => denied());

drives("end_of_input_denies", async () => {
  const file = fresh();
  async function* one() {
    yield { type: "user", message: { role: "user", content: script(bash(`touch ${file}`), { text: "went on" }) },
      parent_tool_use_id: null };
  }
  const [seen, raised] = await oneshot(one());
  check(!raised, `thrown: ${raised}`);
  check(seen.succeeded().outcome()[1] && !fs.existsSync(file), "it ran");
});

drives("crossed_answers", async () => {
  const asked = new Set();
  const second = signal();
  const order = [];
  const canUseTool = async (name, { command }) => {
    asked.add(command);
    if (command.includes("first")) {
      await second.happened;
      order.push("first");
      return { behavior: "allow", updatedInput: { command: "printf changed" } };
    }
    await until(() => asked.size === 2);
    order.push("second");
    second.set();
    return { behavior: "deny", message: "not the second" };
  };
  await session({ canUseTool }, async (it) => {
    const both = calls(["Bash", { command: "printf first" }], ["Bash", { command: "printf second" }]);
    const seen = (await it.turn(script(both, { text: "ok" }))).succeeded();
    same(order, ["second", "first"], "order");
    same(seen.outcome(0), ["changed", false], "first");
    check(seen.outcome(1)[1] && seen.outcome(1)[0].includes("not the second"), `second ${seen.outcome(1)}`);
  });
});

drives("suggestion_taken", async () => {
  const cwd = path.dirname(fresh());
  const asked = [];
  const canUseTool = async (name, input, { suggestions }) => {
    asked.push(suggestions ?? null);
    return { behavior: "allow", updatedInput: input, updatedPermissions: suggestions };
  };
  await session({ canUseTool, cwd }, async (it) => {
    for (const name of ["one", "two"]) {
      const file = path.join(cwd, name);
      (await it.turn(script(calls(["Write", { file_path: file, content: name }]), { text: "ok" }))).succeeded();
      check(fs.existsSync(file), `${name} was not written`);
    }
    (await it.turn(script(bash("printf x"), { text: "ok" }))).succeeded();
  });
  same(asked, [[{ type: "addRules", rules: [{ toolName: "Write" }], behavior: "allow", destination: "localSettings" }],
    null], "suggestions");
});

drives("hook_before_host", async () => {
  const file = fresh();
  const host = signal();
  const gone = signal();
  const canUseTool = async (name, input, options) => {
    options.signal.addEventListener("abort", gone.set);
    host.set();
    await gone.happened;
    return { behavior: "allow", updatedInput: input };
  };
  const decide = async () => {
    await host.happened;
    const decision = { behavior: "deny", message: "the hook was first" };
    return { hookSpecificOutput: { hookEventName: "PermissionRequest", decision } };
  };
  await session({ canUseTool, hooks: { PermissionRequest: [{ hooks: [decide] }] } }, async (it) => {
    const seen = (await it.turn(script(bash(`touch ${file}`), { text: "went on" }))).succeeded();
    const [text, wrong] = seen.outcome();
    check(wrong && text.includes("the hook was first"), `outcome ${text}`);
    await gone.happened;
    // The answer that comes after all is for nobody.
    (await it.turn("next")).succeeded();
  });
  check(!fs.existsSync(file), "it ran");
});

drives("host_before_hook", async () => {
  const file = fresh();
  const hook = signal();
  const late = signal();
  const canUseTool = async (name, input) => {
    await hook.happened;
    return { behavior: "allow", updatedInput: input };
  };
  const decide = async () => {
    hook.set();
    await late.happened;
    const decision = { behavior: "deny", message: "too late" };
    return { hookSpecificOutput: { hookEventName: "PermissionRequest", decision } };
  };
  await session({ canUseTool, hooks: { PermissionRequest: [{ hooks: [decide] }] } }, async (it) => {
    const seen = (await it.turn(script(bash(`echo x >> ${file}`), { text: "went on" }))).succeeded();
    late.set();
    same([seen.outcome()[1], fs.readFileSync(file, "utf8")], [false, "x\n"], "outcome");
    (await it.turn("next")).succeeded();
  });
});

drives("interrupt_takes_questions_back", async () => {
  const asked = [];
  const gone = [];
  const canUseTool = async (name, { command }, options) => {
    options.signal.addEventListener("abort", () => gone.push(command));
    asked.push(command);
    return never;
  };
  await session({ canUseTool }, async (it) => {
    it.send(script(calls(["Bash", { command: "printf a" }], ["Bash", { command: "printf b" }]), { text: "never" }));
    const reading = it.read();
    await until(() => asked.length === 2);
    await it.query.interrupt();
    const seen = await reading;
    same(seen.end.subtype, "error_during_execution", "result");
    same([...seen.results.values()].map(([, wrong]) => wrong), [true, true], "errors");
    await until(() => gone.length === 2);
    same(gone, asked, "taken back");
    (await it.turn("next")).succeeded();
  });
});

await main();
