// Much at once: sessions, interrupts and prompts.
import { Session, bash, calls, check, drives, main, same, script, session, signal } from "./harness.mjs";

const allow = async (name, input) => ({ behavior: "allow", updatedInput: input });

drives("sessions_side_by_side", async () => {
  const one = (i) => session({ canUseTool: allow }, async (it) => {
    for (const j of [0, 1, 2]) {
      const seen = (await it.turn(script(bash(`printf ${i}-${j}`), { text: "{results}" }))).succeeded();
      same(seen.end.result, `${i}-${j}`, "result");
    }
  });
  await Promise.all([0, 1, 2, 3, 4, 5].map(one));
});

drives("interrupts_at_any_time", async () => {
  const ends = [];
  const hooks = { PreToolUse: [{ hooks: [async () => ({})] }], PostToolUse: [{ hooks: [async () => ({})] }] };
  await session({ canUseTool: allow, hooks, includePartialMessages: true }, async (it) => {
    for (let i = 0; i < 40; i += 1) {
      it.send(script(bash("printf a"), bash("printf b"), { deltas: Array(20).fill("c") }));
      const reading = it.read();
      // Later each time, up to behind the end.
      await new Promise((resolve) => setTimeout(resolve, 3 * i));
      await it.query.interrupt();
      const seen = await reading;
      ends.push(seen.end.subtype);
      same(seen.results.size, seen.uses.length, "results and calls");
      check(["success", "error_during_execution"].includes(seen.end.subtype), `result ${seen.end.subtype}`);
    }
    (await it.turn("at last")).succeeded();
  });
  return `success=${ends.filter((end) => end === "success").length} of ${ends.length}`;
});

drives("urgent_prompt", async () => {
  const started = signal();
  const canUseTool = () => {
    started.set();
    return new Promise(() => {});
  };
  await session({ canUseTool }, async (it) => {
    it.send(script(calls(["Bash", { command: "printf x" }]), { text: "never" }), { priority: "next" });
    const first = it.read();
    await started.happened;
    it.send("later", { priority: "later" });
    it.send("next", { priority: "next" });
    it.send("now", { priority: "now" });
    const ends = [(await first).end];
    for (let i = 0; i < 3; i += 1) ends.push((await it.read()).end);
    same(ends.map(({ result }) => result ?? null), [null, "echo: now", "echo: next", "echo: later"], "results");
  });
});

drives("prompts_until_the_end", async () => {
  const it = new Session();
  const texts = Array.from({ length: 100 }, (_, i) => `prompt ${i}`);
  for (const text of texts) it.send(text);
  const said = [];
  while (said.length < texts.length) said.push((await it.read()).succeeded().end.result);
  same(said, texts.map((text) => `echo: ${text}`), "results");
  await it.end();
});

await main();
