// What the drivers of this folder share.
//
//     node FILE.mjs AGENT [KEY=VALUE ...] [--flag[=value] ...]
//
// runs every behaviour of the file, or those that SDK_DRIVER_ONLY lists, against AGENT, and prints a line for each:
// `NAME js PASS …` or `NAME js FAIL REASON`. The status is 0 when all passed. KEY=VALUE goes into the agent's
// environment, a flag onto its command line. The model is the scripted provider that follows its prompt.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { query } from "@anthropic-ai/claude-agent-sdk";

const LIMIT = 1000 * Number(process.env.SDK_DRIVER_TIMEOUT ?? 60);
const behaviours = new Map();

export class Fail extends Error {}

export function check(holds, why) {
  if (!holds) throw new Fail(typeof why === "string" ? why : JSON.stringify(why));
}

export function same(got, wanted, what) {
  const [a, b] = [JSON.stringify(got), JSON.stringify(wanted)];
  check(a === b, `${what}: ${a} instead of ${b}`);
}

// Registers a behaviour.
export function drives(name, behaviour) {
  behaviours.set(name, behaviour);
}

// A prompt whose answers are `steps`, one for each model request.
export function script(...steps) {
  return "SCRIPT " + JSON.stringify({ steps });
}

// A step with tool calls, [name, input] each.
export function calls(...each) {
  return { tool_calls: each.map(([name, input]) => ({ name, input })) };
}

export function bash(command, more = {}) {
  return calls(["Bash", { command, ...more }]);
}

// This client gives its child the environment of the options and nothing else: here the home alone.
export function options(chosen = {}) {
  const env = { AGENTX_HOME: process.env.AGENTX_HOME };
  const extraArgs = {};
  for (const argument of process.argv.slice(3)) {
    const at = argument.indexOf("=");
    const [name, value] = at < 0 ? [argument, null] : [argument.slice(0, at), argument.slice(at + 1)];
    if (name.startsWith("--")) extraArgs[name.slice(2)] = value;
    else env[name] = value;
  }
  return {
    pathToClaudeCodeExecutable: process.argv[2],
    ...chosen,
    env: { ...env, ...chosen.env },
    extraArgs: { ...extraArgs, ...chosen.extraArgs },
  };
}

// A path in an empty folder.
export function fresh(name = "file") {
  return path.join(fs.mkdtempSync(path.join(os.tmpdir(), "driver-")), name);
}

// Something that happens once, and can be waited for.
export function signal() {
  let set;
  const happened = new Promise((resolve) => (set = resolve));
  return { happened, set };
}

export async function until(holds) {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

export const never = new Promise(() => {});

// What came until a result, that included.
export class Turn {
  messages = [];
  texts = [];
  uses = [];
  results = new Map();
  end = undefined;

  add(message) {
    this.messages.push(message);
    const blocks = message.message?.content;
    if (message.type === "assistant") {
      for (const block of blocks) {
        if (block.type === "text") this.texts.push(block.text);
        if (block.type === "tool_use") this.uses.push(block);
      }
    } else if (message.type === "user" && Array.isArray(blocks)) {
      for (const block of blocks.filter(({ type }) => type === "tool_result")) {
        check(!this.results.has(block.tool_use_id), "two results of one call");
        const { content } = block;
        const text = typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("");
        this.results.set(block.tool_use_id, [text, Boolean(block.is_error)]);
      }
    } else if (message.type === "result") this.end = message;
  }

  get text() {
    return this.texts.join("");
  }

  // Text and error mark of the result of a call, in the order of the calls.
  outcome(which = 0) {
    check(this.uses.length > which, `there is no call ${which}`);
    return this.results.get(this.uses[which].id) ?? [undefined, undefined];
  }

  of(subtype) {
    return this.messages.filter((message) => message.type === "system" && message.subtype === subtype);
  }

  succeeded() {
    check(this.end, "no result");
    check(this.end.subtype === "success" && !this.end.is_error, `result ${JSON.stringify(this.end).slice(0, 600)}`);
    return this;
  }
}

// `query()` with one prompt: what came, and what was thrown at its end.
export async function oneshot(prompt, chosen = {}) {
  const seen = new Turn();
  try {
    for await (const message of query({ prompt, options: options(chosen) })) seen.add(message);
  } catch (raised) {
    if (raised instanceof Fail) throw raised;
    return [seen, raised];
  }
  return [seen, undefined];
}

export function record(content, more = {}) {
  return { type: "user", message: { role: "user", content }, parent_tool_use_id: null, ...more };
}

// A session with a stream of prompts that stays open.
export class Session {
  #waiting = [];
  #wake = signal();
  #closed = false;

  constructor(chosen = {}) {
    this.query = query({ prompt: this.#prompts(), options: options(chosen) });
  }

  async *#prompts() {
    while (true) {
      while (this.#waiting.length > 0) yield this.#waiting.shift();
      if (this.#closed) return;
      await this.#wake.happened;
      this.#wake = signal();
    }
  }

  send(content, more) {
    this.#waiting.push(record(content, more));
    this.#wake.set();
  }

  // Reads to the first message that `found` takes, or to the result.
  async read(found = () => false, seen = new Turn()) {
    while (true) {
      const { value, done } = await this.query.next();
      check(!done, "the messages ended");
      seen.add(value);
      if (seen.end || found(value)) return seen;
    }
  }

  async turn(content, more) {
    this.send(content, more);
    const seen = await this.read();
    check(seen.end, "no result");
    return seen;
  }

  // No more prompts; what comes until the end.
  async end() {
    this.#closed = true;
    this.#wake.set();
    for await (const _ of this.query);
  }
}

// A session for `work`, closed whatever comes of it.
export async function session(chosen, work) {
  const opened = new Session(chosen);
  try {
    return await work(opened);
  } finally {
    opened.query.close();
  }
}

// Whether a control request is answered by an error that has all of `named` in it.
export async function refused(call, ...named) {
  let said;
  try {
    said = await call;
  } catch (raised) {
    for (const name of named) check(String(raised).includes(name), `the error does not name ${name}: ${raised}`);
    return String(raised);
  }
  throw new Fail(`it was not refused: ${JSON.stringify(said)}`);
}

// Processes that this one has started and not yet waited for.
export function children() {
  return fs.readdirSync("/proc/self/task").flatMap((task) => {
    try {
      return fs.readFileSync(`/proc/self/task/${task}/children`, "utf8").split(" ").filter(Boolean);
    } catch {
      // A thread that has ended meanwhile.
      return [];
    }
  });
}

export async function main() {
  const only = (process.env.SDK_DRIVER_ONLY ?? "").split(",").filter(Boolean);
  let failed = 0;
  for (const [name, behaviour] of behaviours) {
    if (only.length > 0 && !only.includes(name)) continue;
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Fail("it took too long")), LIMIT);
    });
    try {
      const figures = await Promise.race([behaviour(), late]);
      console.log(`${name} js PASS ${figures ?? ""}`);
    } catch (raised) {
      failed += 1;
      if (!(raised instanceof Fail)) console.log(raised);
      console.log(`${name} js FAIL ${String(raised.message).split("\n").join(" ").slice(0, 2000)}`);
    } finally {
      clearTimeout(timer);
    }
  }
  process.exit(failed > 0 ? 1 : 0);
}
