// Prompts, answers, results: order, size, text, and how a run ends.
import fs from "node:fs";
import { query } from "@anthropic-ai/claude-agent-sdk";
import { Session, Turn, bash, calls, check, children, drives, fresh, main, oneshot, options, record, same, script,
  session, until } from "./harness.mjs";

async function* several(...records) {
  yield* records;
}

// Every result of a run, and what was thrown at its end.
async function results(prompt, chosen) {
  const ended = [];
  try {
    for await (const message of query({ prompt, options: options(chosen) })) {
      if (message.type === "result") ended.push(message);
    }
  } catch (raised) {
    return [ended, raised];
  }
  return [ended, undefined];
}

const isDelta = (message) => message.type === "stream_event" && message.event.type === "content_block_delta";

drives("oneshot", async () => {
  const [seen, raised] = await oneshot(script({ text: "hello one" }));
  check(!raised, `thrown: ${raised}`);
  same([seen.text, seen.succeeded().end.result], ["hello one", "hello one"], "texts");
  same(seen.messages[0].subtype, "init", "first record");
  check(/^\d+\.\d+\.\d+$/.test(seen.messages[0].claude_code_version), "no version in init");
  same(seen.of("session_state_changed"), [], "states that the caller sees");
  return `records=${seen.messages.length}`;
});

drives("prompts_at_once", async () => {
  const prompts = [0, 1, 2, 3].map((i) => record(script({ text: `answer ${i}` })));
  const [ended, raised] = await results(several(...prompts));
  check(!raised, `thrown: ${raised}`);
  same(ended.map(({ result }) => result), [0, 1, 2, 3].map((i) => `answer ${i}`), "results");
});

drives("multiturn", () => session({}, async (it) => {
  const ids = new Set();
  for (const word of ["one", "two", "three"]) {
    const seen = (await it.turn(script({ text: word }))).succeeded();
    same(seen.end.result, word, "result");
    ids.add(seen.end.session_id);
  }
  same(ids.size, 1, "session ids");
}));

drives("origin_comes_back", async () => {
  const origins = [{ kind: "human" }, undefined, { kind: "channel", server: "a" }];
  const [ended, raised] = await results(several(...origins.map((origin, i) => record(`${i}`, origin ? { origin } : {}))));
  check(!raised, `thrown: ${raised}`);
  same(ended.map(({ origin }) => origin ?? null), origins.map((origin) => origin ?? null), "origins");
});

drives("callers_members", async () => {
  const uuid = "7c9d2a64-27a5-4d3f-a0a8-3f1f2f8b2d10";
  const [ended, raised] = await results(several(
    record("a", { uuid, session_id: "another", timestamp: "2026-01-02T03:04:05Z", client_composed: true }),
    record([{ type: "text", text: "b", cache_control: { type: "ephemeral" } }], { priority: "later", shouldQuery: true }),
  ));
  check(!raised, `thrown: ${raised}`);
  same(ended.map(({ result }) => result), ["echo: a", "echo: b"], "results");
  same(ended[0].prompt_uuid, uuid, "uuid of the prompt");
});

drives("picture_is_refused_alone", async () => {
  const source = { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" };
  const [ended, raised] = await results(several(record([{ type: "image", source }]), record("after it")));
  check(!raised, `thrown: ${raised}`);
  same(ended.map(({ is_error }) => is_error), [true, false], "errors");
});

drives("partial", async () => {
  const [seen, raised] = await oneshot(script({ deltas: ["streamed ", "text"] }), { includePartialMessages: true });
  check(!raised, `thrown: ${raised}`);
  const events = seen.messages.filter(({ type }) => type === "stream_event");
  const kinds = events.map(({ event }) => event.type);
  same(kinds, ["message_start", "content_block_start", "content_block_delta", "content_block_delta",
    "content_block_stop", "message_delta", "message_stop"], "events");
  same(events.filter(isDelta).map(({ event }) => event.delta.text).join(""), "streamed text", "deltas");
  const at = seen.messages.findIndex(({ type }) => type === "assistant");
  check(seen.messages.findIndex(isDelta) < at, "the first delta came after the whole");
  return `events=${kinds.length}`;
});

drives("unicode", () => session({}, async (it) => {
  // This client leaves the line separators as they are, and escapes half a pair.
  const text = "a\u2028b\u2029c \u{1f600} é \x85 \x01 \"q\" \\ \t end";
  same((await it.turn(script({ text }))).succeeded().text, text, "scripted text");
  same((await it.turn(text)).succeeded().text, `echo: ${text}`, "echo");
  same((await it.turn("x\ud800y\udc00z")).succeeded().text, "echo: x\ufffdy\ufffdz", "halves of pairs");
}));

drives("long_answer", async () => {
  const text = Array.from({ length: 200_000 }, (_, i) => `${String(i).padStart(7, "0")} `).join("");
  const [seen, raised] = await oneshot(script({ text }), { includePartialMessages: true });
  check(!raised, `thrown: ${raised}`);
  check(seen.succeeded().text === text, `${seen.text.length} characters of ${text.length}`);
  const deltas = seen.messages.filter(isDelta).map(({ event }) => event.delta.text).join("");
  check(deltas === text, `${deltas.length} characters in deltas`);
  const longest = Math.max(...seen.messages.map((message) => Buffer.byteLength(JSON.stringify(message))));
  check(longest <= 1_000_000, `a record of ${longest} bytes`);
  return `longest=${longest}`;
});

drives("states_on_request", async () => {
  const env = { CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: "1" };
  const canUseTool = async (name, input) => ({ behavior: "allow", updatedInput: input });
  await session({ env, canUseTool }, async (it) => {
    const states = [];
    it.send(script(bash("printf x"), { text: "y" }));
    while (states.at(-1) !== "idle") {
      const { value } = await it.query.next();
      if (value.type === "result") states.push("result");
      if (value.subtype === "session_state_changed") states.push(value.state);
    }
    same(states, ["running", "requires_action", "running", "result", "idle"], "states");
  });
});

drives("oneshot_with_callbacks_ends_by_itself", async () => {
  const canUseTool = async (name, input) => ({ behavior: "allow", updatedInput: input });
  const [seen, raised] = await oneshot(script(bash("printf one"), bash("printf two"), { text: "{results}" }),
    { canUseTool });
  check(!raised, `thrown: ${raised}`);
  same(seen.succeeded().end.result, "two", "result");
});

drives("failed_run_throws", async () => {
  const [seen, raised] = await oneshot(script({ error: { status: 400, message: "no such thing" } }));
  check(seen.end?.is_error, "no error result");
  check(raised, "nothing was thrown");
  const [ended, later] = await results(several(record(script({ error: { status: 400, message: "no" } })), record("ok")));
  same(ended.map(({ is_error }) => is_error), [true, false], "errors");
  check(!later, `thrown: ${later}`);
});

drives("structured_output", async () => {
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const prompt = script(calls(["StructuredOutput", { n: "many" }]), calls(["StructuredOutput", { n: 7 }]), { text: "" });
  const [seen, raised] = await oneshot(prompt, { outputFormat: { type: "json_schema", schema } });
  check(!raised, `thrown: ${raised}`);
  same(seen.succeeded().end.structured_output, { n: 7 }, "structured output");
});

drives("sessions_go_on", async () => {
  const [first] = await oneshot("one");
  const name = first.succeeded().end.session_id;
  const [again] = await oneshot("two", { resume: name });
  same(again.succeeded().end.session_id, name, "resumed");
  const [newest] = await oneshot("three", { continue: true });
  same(newest.succeeded().end.session_id, name, "continued");
  const [fork] = await oneshot("four", { resume: name, forkSession: true });
  check(fork.succeeded().end.session_id !== name, "the fork kept the id");
  const sessionId = "e2b7f3f0-3c39-4e3a-8f0d-6f1f0f7b7a11";
  const [own] = await oneshot("five", { sessionId, persistSession: false });
  same(own.succeeded().end.session_id, sessionId, "own id");
  const [none, raised] = await oneshot("six", { resume: sessionId });
  check(raised && !(none.end && !none.end.is_error), "a session that was not kept was resumed");
});

drives("interrupt", () => session({ includePartialMessages: true }, async (it) => {
  it.send(script({ deltas: ["so ", "far"], hold: true }));
  const seen = await it.read(isDelta);
  await it.query.interrupt();
  await it.read(undefined, seen);
  same([seen.end.subtype, seen.end.is_error], ["error_during_execution", true], "result");
  (await it.turn("next")).succeeded();
  await it.query.interrupt();
  (await it.turn("after an interrupt of nothing")).succeeded();
}));

drives("closed_in_a_turn", async () => {
  const it = new Session({ includePartialMessages: true });
  it.send(script({ deltas: ["a"], hold: true }));
  await it.read(isDelta);
  check(children().length > 0, "no agent runs");
  it.query.close();
  await until(() => children().length === 0);
});

drives("closed_while_a_tool_runs", async () => {
  const path = fresh();
  const it = new Session({ permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true });
  it.send(script(bash(`echo $$ > ${path}; exec sleep 600`), { text: "never" }));
  const reading = it.read().catch(() => {});
  await until(() => fs.existsSync(path) && fs.readFileSync(path, "utf8").endsWith("\n"));
  it.query.close();
  await until(() => children().length === 0);
  await reading;
  check(!fs.existsSync(`/proc/${fs.readFileSync(path, "utf8").trim()}`), "the command goes on");
});

drives("aborted_by_the_host", async () => {
  const abortController = new AbortController();
  const seen = new Turn();
  let raised;
  const prompt = script({ deltas: ["a"], hold: true });
  try {
    for await (const message of query({ prompt, options: options({ abortController, includePartialMessages: true }) })) {
      seen.add(message);
      if (isDelta(message)) abortController.abort();
    }
  } catch (error) {
    raised = error;
  }
  check(raised, "nothing was thrown");
  await until(() => children().length === 0);
});

await main();
