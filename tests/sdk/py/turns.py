"""Prompts, answers, results: order, size, text, and how a run ends."""
import logging

from harness import *
from claude_agent_sdk.types import StreamEvent

# A line of more characters is fatal to this client.
LINE = 1_048_576
CUT = "bytes cut]"


async def several(*records):
    for record in records:
        yield record


def record(content, **more):
    return {"type": "user", "message": {"role": "user", "content": content}, "parent_tool_use_id": None, **more}


async def results(prompt, chosen):
    """Every result of a run, and what was raised at its end."""
    seen, ended, raised = [], [], None
    try:
        async for message in sdk.query(prompt=prompt, options=chosen):
            seen.append(message)
            if isinstance(message, sdk.ResultMessage):
                ended.append(message)
    except Exception as error:
        raised = error
    return ended, raised, seen


@drives
async def prompts_at_once():
    prompts = [record(script({"text": "answer %d" % i})) for i in range(4)]
    ended, raised, _ = await results(several(*prompts), options())
    check(raised is None, "raised %r" % raised)
    check([end.result for end in ended] == ["answer %d" % i for i in range(4)], "results %s" % [e.result for e in ended])
    return "results=%d" % len(ended)


@drives
async def prompts_while_running():
    waiting, go = anyio.Event(), anyio.Event()

    async def waits(name, given, context):
        waiting.set()
        await go.wait()
        return sdk.PermissionResultAllow()
    async with sdk.ClaudeSDKClient(options(can_use_tool=waits)) as client:
        await client.query(script(bash("printf first"), {"text": "one {results}"}))
        await waiting.wait()
        await client.query(script({"text": "two"}))
        await client.query(script({"text": "three"}))
        go.set()
        said = [(await turn(client)).succeeded().end.result for _ in range(3)]
    check(said == ["one first", "two", "three"], "results %s" % said)
    return "queued=2"


@drives
async def origin_comes_back():
    origins = [{"kind": "task-notification"}, None, {"kind": "channel", "server": "a"}]
    prompts = [record("%d" % i, **({"origin": origin} if origin else {})) for i, origin in enumerate(origins)]
    ended, raised, _ = await results(several(*prompts), options())
    check(raised is None and [end.origin for end in ended] == origins, "origins %s, raised %r" % ([e.origin for e in ended], raised))


@drives
async def callers_members():
    prompts = [record("a", session_id="default", shouldQuery=True, timestamp="2026-01-02T03:04:05Z", priority="next"),
               record("b", session_id="another", client_composed=True, pasted={"any": [1, None]}, isSynthetic=True),
               record([{"type": "text", "text": "c", "cache_control": {"type": "ephemeral"}}], session_id=None)]
    ended, raised, _ = await results(several(*prompts), options(verbatim_prompts=True))
    check(raised is None, "raised %r" % raised)
    check([end.result for end in ended] == ["echo: a", "echo: b", "echo: c"], "results %s" % [e.result for e in ended])


@drives
async def picture_is_refused_alone():
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    prompts = [record([{"type": "text", "text": "see"}, picture]), record("after it")]
    ended, raised, _ = await results(several(*prompts), options())
    check(raised is None, "raised %r" % raised)
    check(len(ended) == 2 and ended[0].is_error and ended[0].errors, "results %s" % ended)
    check(ended[1].result == "echo: after it", "second result %s" % ended[1])
    return "error=%r" % ended[0].errors[0]


@drives
async def long_answer():
    text = "".join("%07d " % i for i in range(200_000))
    seen, raised = await oneshot(script({"text": text}), options())
    check(raised is None, "raised %r" % raised)
    seen.succeeded()
    check(seen.text == text, "the parts do not make the answer: %d of %d characters" % (len(seen.text), len(text)))
    check(len({m.message_id for m in seen.messages if isinstance(m, sdk.AssistantMessage)}) == 1, "several messages")
    check(len(seen.end.result) < LINE and seen.end.result.endswith(CUT), "result ends %r" % seen.end.result[-60:])
    return "parts=%d chars=%d" % (len(seen.texts), len(text))


@drives
async def long_deltas():
    text = "é😀\u2028" * 200_000
    chosen = options(include_partial_messages=True)
    deltas, seen = [], Turn()
    async for message in sdk.query(prompt=script({"deltas": ["a", text, "z"]}), options=chosen):
        seen.add(message)
        if isinstance(message, StreamEvent) and message.event["type"] == "content_block_delta":
            deltas.append(message.event["delta"]["text"])
    seen.succeeded()
    check("".join(deltas) == "a" + text + "z" == seen.text, "%d characters in deltas, %d in all" % (
        len("".join(deltas)), len(seen.text)))
    return "deltas=%d" % len(deltas)


@drives
async def long_output_of_a_tool():
    command = "i=0; while [ $i -lt 40000 ]; do echo \"line $i of a long output, which goes on and on\"; i=$((i+1)); done"
    async with sdk.ClaudeSDKClient(options(permission_mode="bypassPermissions")) as client:
        seen = (await turn(client, script(bash(command), {"text": "done"}))).succeeded()
    text, wrong = seen.outcome()
    check(not wrong and "line 0 of" in text and len(text) < 40_000, "%d characters, error %s" % (len(text), wrong))
    return "chars=%d" % len(text)


@drives
async def long_input_of_a_tool():
    path = fresh()
    step = calls(("Write", {"file_path": path, "content": "x" * 1_200_000}))
    async with sdk.ClaudeSDKClient(options(permission_mode="bypassPermissions")) as client:
        seen = (await turn(client, script(step, {"text": "went on"}))).succeeded()
    check(seen.uses[0].input == {}, "an input of %d characters is shown" % len(str(seen.uses[0].input)))
    check(seen.outcome()[1] is True and not os.path.exists(path), "it ran: %s" % (seen.outcome(),))
    return "error=%r" % seen.outcome()[0][:60]


@drives
async def long_prompt_echoed():
    prompt = "é" * 900_000
    chosen = options(extra_args={"replay-user-messages": None})
    seen, raised = await oneshot(prompt, chosen)
    check(raised is None, "raised %r" % raised)
    seen.succeeded()
    echoes = [m for m in seen.messages if isinstance(m, sdk.UserMessage)]
    check(len(echoes) == 1, "%d echoes" % len(echoes))
    content = echoes[0].content
    text = content if isinstance(content, str) else "".join(block.text for block in content)
    check(text.startswith("éé") and text.endswith(CUT), "the echo ends %r" % text[-60:])
    check(seen.text == "echo: " + prompt, "the answer has %d characters" % len(seen.text))
    return "echo=%d" % len(text)


@drives
async def thinking_is_signed():
    chosen = options(include_partial_messages=True)
    seen, raised = await oneshot(script({"thinking": ["hm"], "text": "well"}), chosen)
    check(raised is None, "raised %r" % raised)
    blocks = [block for m in seen.messages if isinstance(m, sdk.AssistantMessage) for block in m.content]
    check([type(block) for block in blocks] == [sdk.ThinkingBlock, sdk.TextBlock], "blocks %s" % blocks)
    check(blocks[0].thinking == "hm" and isinstance(blocks[0].signature, str), "block %s" % blocks[0])
    kinds = [m.event["delta"]["type"] for m in seen.messages if isinstance(m, StreamEvent) and "delta" in m.event
             and m.event["type"] == "content_block_delta"]
    check(kinds[0] == "thinking_delta" and kinds[-1] == "text_delta", "deltas %s" % kinds)
    check(seen.succeeded().end.result == "well", "result %s" % seen.end.result)


@drives
async def lone_surrogates():
    async with sdk.ClaudeSDKClient(options()) as client:
        seen = (await turn(client, "a\ud800b\udc00c \U0001f600")).succeeded()
    check(seen.text == "echo: a\ufffdb\ufffdc \U0001f600", "answer %r" % seen.text)


@drives
async def oneshot_with_callbacks_ends_by_itself():
    asked = []

    async def before(given, use, context):
        asked.append(given["tool_name"])
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}
    hooks = {"PreToolUse": [sdk.HookMatcher(hooks=[before])]}
    prompt = script(bash("printf one"), bash("printf two"), {"text": "{results}"})
    seen, raised = await oneshot(prompt, options(hooks=hooks))
    check(raised is None and seen.succeeded().end.result == "two", "raised %r, result %s" % (raised, seen.end))
    check(asked == ["Bash", "Bash"], "asked %s" % asked)
    states = seen.of("session_state_changed")
    check(not states, "the caller sees states: %s" % states)
    first = next(m for m in seen.messages)
    check(isinstance(first, sdk.SystemMessage) and first.subtype == "init", "the first record is %s" % first)
    return "asked=%d" % len(asked)


@drives
async def states_on_request():
    async def allow(name, given, context):
        return sdk.PermissionResultAllow()
    chosen = options(env={"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1"}, can_use_tool=allow)
    async with sdk.ClaudeSDKClient(chosen) as client:
        states = []
        await client.query(script(bash("printf x"), {"text": "y"}))
        async for message in client.receive_messages():
            if isinstance(message, sdk.ResultMessage):
                states.append("result")
            elif isinstance(message, sdk.SystemMessage) and message.subtype == "session_state_changed":
                states.append(message.data["state"])
                check("sdk_host_only" not in message.data, "hidden: %s" % message.data)
                if states[-1] == "idle":
                    break
    check(states == ["running", "requires_action", "running", "result", "idle"], "states %s" % states)


@drives
async def failed_run_raises():
    seen, raised = await oneshot(script({"error": {"status": 400, "message": "no such thing"}}), options())
    check(seen.end is not None and seen.end.is_error, "result %s" % seen.end)
    check(isinstance(raised, sdk.ProcessError) and raised.exit_code == 1, "raised %r" % raised)
    kinds = [m.error for m in seen.messages if isinstance(m, sdk.AssistantMessage)]
    check(kinds == ["invalid_request"], "assistant errors %s" % kinds)
    return "raised=%s" % type(raised).__name__


@drives
async def last_result_decides():
    bad, good = record(script({"error": {"status": 400, "message": "no"}})), record("fine")
    ended, raised, _ = await results(several(bad, good), options())
    check([end.is_error for end in ended] == [True, False] and raised is None, "%s, raised %r" % (ended, raised))
    ended, raised, _ = await results(several(good, bad), options())
    check([end.is_error for end in ended] == [False, True] and raised is not None, "%s, raised %r" % (ended, raised))


@drives
async def request_limit():
    seen, raised = await oneshot(script(bash("printf x"), {"text": "y"}),
                                 options(max_turns=1, permission_mode="bypassPermissions"))
    check(seen.end.subtype == "error_max_turns" and seen.end.is_error, "result %s" % seen.end)
    check(raised is not None, "nothing was raised")


@drives
async def structured_output():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    chosen = options(output_format={"type": "json_schema", "schema": schema})
    prompt = script(calls(("StructuredOutput", {"n": "many"})), calls(("StructuredOutput", {"n": 7})), {"text": "done"})
    seen, raised = await oneshot(prompt, chosen)
    check(raised is None, "raised %r" % raised)
    check(seen.succeeded().end.structured_output == {"n": 7}, "structured output %r" % (seen.end.structured_output,))
    check(seen.outcome(0)[1] and not seen.outcome(1)[1], "outcomes %s" % seen.results)


@drives
async def sessions_go_on():
    first, _ = await oneshot("one", options())
    name = first.succeeded().end.session_id
    again, _ = await oneshot("two", options(resume=name))
    check(again.succeeded().end.session_id == name, "resumed as %s" % again.end.session_id)
    newest, _ = await oneshot("three", options(continue_conversation=True))
    check(newest.succeeded().end.session_id == name, "continued as %s" % newest.end.session_id)
    fork, _ = await oneshot("four", options(resume=name, fork_session=True))
    check(fork.succeeded().end.session_id != name, "the fork kept the id")
    own = "5f0c0b7e-7d1c-4b8e-9a53-0d9a3c1f2e4d"
    chosen, _ = await oneshot("five", options(session_id=own))
    check(chosen.succeeded().end.session_id == own, "the id is %s" % chosen.end.session_id)
    seen, raised = await oneshot("six", options(cli_path=patient(), resume="00000000-0000-4000-8000-000000000000"))
    check(seen.end is None or seen.end.is_error, "a session that is not there was resumed")
    check(isinstance(raised, sdk.ProcessError) and raised.exit_code == 1, "raised %r" % raised)


@drives
async def version_is_told():
    said = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda entry: said.append(entry.getMessage())
    logging.getLogger("claude_agent_sdk").addHandler(handler)
    seen, raised = await oneshot("x", options())
    logging.getLogger("claude_agent_sdk").removeHandler(handler)
    init = seen.of("init")
    check(raised is None and len(init) == 1, "raised %r, %d init records" % (raised, len(init)))
    parts = init[0]["claude_code_version"].split(".")
    check(len(parts) == 3 and all(part.isdigit() for part in parts), "version %r" % init[0]["claude_code_version"])
    check(not said, "the client warns: %s" % said)
    for name in ("session_id", "uuid", "cwd", "tools", "mcp_servers", "model", "permissionMode", "slash_commands",
                 "output_style", "skills", "plugins", "apiKeySource", "agents"):
        check(name in init[0], "init has no %s" % name)


@drives
async def closed_in_a_turn():
    before = children()
    client = sdk.ClaudeSDKClient(options(include_partial_messages=True))
    await client.connect()
    await client.query(script({"deltas": ["a"], "hold": True}))
    async for message in client.receive_messages():
        if isinstance(message, StreamEvent):
            break
    await client.disconnect()
    check(set(children()) <= set(before), "the agent is still there")


@drives
async def closed_while_a_tool_runs():
    before, path = children(), fresh()
    client = sdk.ClaudeSDKClient(options(permission_mode="bypassPermissions"))
    await client.connect()
    await client.query(script(bash("echo $$ > %s; exec sleep 600" % path), {"text": "never"}))
    while not (os.path.exists(path) and open(path).read().endswith("\n")):
        await anyio.sleep(0.02)
    await client.disconnect()
    check(set(children()) <= set(before), "the agent is still there")
    check(not os.path.exists("/proc/" + open(path).read().strip()), "the command goes on")


@drives
async def interrupted_in_a_turn():
    async with sdk.ClaudeSDKClient(options(include_partial_messages=True)) as client:
        await client.query(script({"deltas": ["so ", "far"], "hold": True}))
        deltas = 0
        async for message in client.receive_messages():
            deltas += isinstance(message, StreamEvent) and message.event["type"] == "content_block_delta"
            if deltas == 2:
                break
        await client.interrupt()
        end = (await turn(client)).end
        check(end.subtype == "error_during_execution" and end.is_error, "result %s" % end)
        (await turn(client, "next")).succeeded()


if __name__ == "__main__":
    main()
