// Hook callbacks: decisions, failures, events.
import fs from "node:fs";
import { bash, check, drives, fresh, main, never, oneshot, same, script, session, signal } from "./harness.mjs";

const pre = (permissionDecision, more = {}) => ({
  hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision, ...more },
});

async function call(chosen, command) {
  return session(chosen, async (it) => (await it.turn(script(bash(command), { text: "went on" }))).succeeded());
}

drives("pre_tool_denies", async () => {
  const file = fresh();
  const log = [];
  const before = async (input, use) => {
    log.push([input.hook_event_name, input.tool_name, use]);
    return input.tool_input.command.startsWith("touch")
      ? pre("deny", { permissionDecisionReason: "the hook says no" })
      : pre("allow", { updatedInput: { command: "printf changed" } });
  };
  const after = async (input) => {
    log.push([input.hook_event_name, "tool_response" in input]);
    return {};
  };
  await session({ hooks: { PreToolUse: [{ matcher: "Bash", hooks: [before] }], PostToolUse: [{ hooks: [after] }] } },
    async (it) => {
      const seen = (await it.turn(script(bash(`touch ${file}`), { text: "went on" }))).succeeded();
      const [text, wrong] = seen.outcome();
      check(wrong && text.includes("the hook says no") && !fs.existsSync(file), `outcome ${text}`);
      const next = (await it.turn(script(bash("printf original"), { text: "went on" }))).succeeded();
      same(next.outcome(), ["changed", false], "changed input");
      same(log, [["PreToolUse", "Bash", seen.uses[0].id], ["PreToolUse", "Bash", next.uses[0].id],
        ["PostToolUse", true]], "calls of the hooks");
    });
});

async function noAllow(chosen) {
  const file = fresh();
  const more = { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true };
  const seen = await call({ ...more, ...chosen }, `touch ${file}`);
  check(seen.outcome()[1] && !fs.existsSync(file), `outcome ${seen.outcome()}`);
}

drives("failure_is_no_allow", () => noAllow({ hooks: { PreToolUse: [{ hooks: [async () => {
  throw new Error("the hook broke");
}] }] } }));

drives("failure_of_a_blocking_hook_denies", () => noAllow({ hooks: { PreToolUse: [{ onFailure: "block", hooks: [async () => {
  throw new Error("the hook broke");
}] }] } }));

drives("late_answer_is_none", () => noAllow({ hooks: { PreToolUse: [{ timeout: 1, hooks: [() => never] }] } }));

drives("failure_may_be_no_decision", async () => {
  const asked = [];
  const broken = async () => {
    throw new Error("the hook broke");
  };
  const canUseTool = async (name) => {
    asked.push(name);
    return { behavior: "deny", message: "the host decides" };
  };
  const seen = await call({ canUseTool, hooks: { PreToolUse: [{ onFailure: "continue", hooks: [broken] }] } }, "printf x");
  same(asked, ["Bash"], "asked");
  check(seen.outcome()[0].includes("the host decides"), `outcome ${seen.outcome()}`);
});

drives("deny_beats_allow", async () => {
  const both = signal();
  let called = 0;
  const waits = (answer) => async () => {
    called += 1;
    if (called === 2) both.set();
    await both.happened;
    return answer;
  };
  await noAllow({ hooks: { PreToolUse: [{ hooks: [waits(pre("allow"))] }, { matcher: "Bash", hooks: [waits(pre("deny"))] }] } });
});

drives("hooks_come_before_the_first_prompt", async () => {
  // This client sends the prompt behind `initialize`, without a wait for its answer.
  const called = [];
  const note = async (input) => {
    called.push(input.hook_event_name);
    return {};
  };
  const events = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"];
  const hooks = Object.fromEntries(events.map((event) => [event, [{ hooks: [note] }]]));
  const [seen, raised] = await oneshot(script(bash("printf x"), { text: "done" }), { hooks, allowedTools: ["Bash"] });
  check(!raised, `thrown: ${raised}`);
  seen.succeeded();
  same(called, events, "called");
});

drives("unknown_events_are_passed_over", async () => {
  const callback = async () => ({});
  await session({ hooks: { Notification: [{ hooks: [callback] }] } }, async (it) => {
    same((await it.query.initializationResult()).hooks_applied, true, "hooks_applied");
    (await it.turn("x")).succeeded();
  });
  const must = { hooks: { Notification: [{ onFailure: "block", hooks: [callback] }] } };
  const [seen, raised] = await oneshot("x", must);
  check(raised && !seen.end, `a hook that cannot be had did not stop the client: ${raised}`);
});

drives("prompt_can_be_refused", async () => {
  const gate = async ({ prompt }) => (prompt.includes("secret") ? { decision: "block", reason: "not this one" } : {});
  await session({ hooks: { UserPromptSubmit: [{ hooks: [gate] }] } }, async (it) => {
    const { end } = await it.turn("a secret");
    check(end.is_error && end.errors.join("").includes("not this one"), `result ${JSON.stringify(end)}`);
    (await it.turn("plain")).succeeded();
  });
});

drives("interrupt_ends_a_hook", async () => {
  const called = signal();
  const silent = () => {
    called.set();
    return never;
  };
  await session({ hooks: { PreToolUse: [{ hooks: [silent] }] } }, async (it) => {
    it.send(script(bash("printf x"), { text: "never" }));
    const reading = it.read();
    await called.happened;
    await it.query.interrupt();
    same((await reading).end.subtype, "error_during_execution", "result");
    (await it.turn("next")).succeeded();
  });
});

await main();
