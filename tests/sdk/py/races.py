"""Much at once: sessions, interrupts, questions and records of any size."""
from harness import *


@drives
async def sessions_side_by_side():
    said = {}

    async def one(i):
        async def allow(name, given, context):
            return sdk.PermissionResultAllow()
        async with sdk.ClaudeSDKClient(options(can_use_tool=allow)) as client:
            for j in range(3):
                seen = (await turn(client, script(bash("printf %d-%d" % (i, j)), {"text": "{results}"}))).succeeded()
                said.setdefault(seen.end.session_id, []).append(seen.end.result)
    async with anyio.create_task_group() as group:
        for i in range(6):
            group.start_soon(one, i)
    check(sorted(said.values()) == [["%d-%d" % (i, j) for j in range(3)] for i in range(6)], "said %s" % said)


@drives
async def interrupts_at_any_time():
    ends = []

    async def allow(name, given, context):
        await anyio.sleep(0)
        return sdk.PermissionResultAllow()

    async def yes(given, use, context):
        await anyio.sleep(0)
        return {}
    hooks = {event: [sdk.HookMatcher(hooks=[yes])] for event in ("UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")}
    async with sdk.ClaudeSDKClient(options(can_use_tool=allow, hooks=hooks)) as client:
        for i in range(40):
            await client.query(script(bash("printf a"), bash("printf b"), {"deltas": ["c"] * 20}))
            # Later each time, up to behind the end.
            await anyio.sleep(0.003 * i)
            await client.interrupt()
            seen = await turn(client)
            ends.append(seen.end.subtype)
            check(len(seen.results) == len(seen.uses), "%d results of %d calls" % (len(seen.results), len(seen.uses)))
            check(seen.end.subtype in ("success", "error_during_execution"), "result %s" % seen.end)
        (await turn(client, "at last")).succeeded()
    return "success=%d of %d" % (ends.count("success"), len(ends))


@drives
async def urgent_prompt():
    async def prompts(*records):
        for record in records:
            yield record

    def record(text, priority):
        return {"type": "user", "message": {"role": "user", "content": text}, "parent_tool_use_id": None,
                "priority": priority}
    started = anyio.Event()

    async def waits(name, given, context):
        started.set()
        await anyio.sleep_forever()
    async with sdk.ClaudeSDKClient(options(can_use_tool=waits)) as client:
        await client.query(prompts(record(script(bash("printf x"), {"text": "never"}), "next")))
        await started.wait()
        await client.query(prompts(record("later", "later"), record("next", "next"), record("now", "now")))
        ends = [(await turn(client)).end for _ in range(4)]
    check(ends[0].is_error and [end.result for end in ends[1:]] == ["echo: now", "echo: next", "echo: later"],
          "results %s" % [(end.subtype, end.result) for end in ends])


@drives
async def large_questions():
    sizes, path = [], fresh()

    async def allow(name, given, context):
        sizes.append(len(given["content"]))
        return sdk.PermissionResultAllow()

    async def before(given, use, context):
        return {}
    chosen = options(can_use_tool=allow, hooks={"PreToolUse": [sdk.HookMatcher(hooks=[before])],
                                                "PostToolUse": [sdk.HookMatcher(hooks=[before])]})
    async with sdk.ClaudeSDKClient(chosen) as client:
        for size in (100_000, 600_000, 900_000, 990_000, 999_900, 1_000_100):
            step = calls(("Write", {"file_path": path, "content": "x" * size}))
            seen = (await turn(client, script(step, {"text": "went on"}))).succeeded()
            written = os.path.exists(path) and os.path.getsize(path) == size
            check(written == (not seen.outcome()[1]), "%d: written %s, %s" % (size, written, seen.outcome()))
            check(written or size > 600_000, "%d was not written: %s" % (size, seen.outcome()))
    return "asked=%s" % sizes


@drives
async def large_answers():
    async def change(name, given, context):
        return sdk.PermissionResultAllow(updated_input={"file_path": path, "content": "é" * 3_000_000})
    path = fresh()
    async with sdk.ClaudeSDKClient(options(can_use_tool=change)) as client:
        step = calls(("Write", {"file_path": path, "content": "x"}))
        seen = (await turn(client, script(step, {"text": "ok"}))).succeeded()
        check(os.path.exists(path) and os.path.getsize(path) == 6_000_000, "outcome %s" % (seen.outcome(),))
        usage = await client.get_context_usage()
    return "tokens=%s" % usage["totalTokens"]


if __name__ == "__main__":
    main()
