"""Hook callbacks beyond the plain cases: failures, several at once, other events."""
from harness import *


def pre(decision, reason="", **more):
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision,
                                   "permissionDecisionReason": reason, **more}}


def matcher(*callbacks, **more):
    return sdk.HookMatcher(hooks=list(callbacks), **more)


async def allow(name, given, context):
    return sdk.PermissionResultAllow()


async def one_call(chosen, command, text="went on"):
    async with sdk.ClaudeSDKClient(chosen) as client:
        return (await turn(client, script(bash(command), {"text": text}))).succeeded()


@drives
async def failure_denies():
    path = fresh()

    async def broken(given, use, context):
        raise RuntimeError("the hook broke")
    seen = await one_call(options(hooks={"PreToolUse": [matcher(broken)]}, permission_mode="bypassPermissions"),
                          "touch " + path)
    check(seen.outcome()[1] and not os.path.exists(path), "outcome %s" % (seen.outcome(),))


@drives
async def failure_of_a_blocking_hook_denies():
    path = fresh()

    async def broken(given, use, context):
        raise RuntimeError("the hook broke")
    seen = await one_call(options(hooks={"PreToolUse": [matcher(broken, on_failure="block")]}, can_use_tool=allow),
                          "touch " + path)
    check(seen.outcome()[1] and not os.path.exists(path), "outcome %s" % (seen.outcome(),))


@drives
async def failure_may_be_no_decision():
    asked = []

    async def broken(given, use, context):
        raise RuntimeError("the hook broke")

    async def deny(name, given, context):
        asked.append(name)
        return sdk.PermissionResultDeny(message="the host decides")
    seen = await one_call(options(hooks={"PreToolUse": [matcher(broken, on_failure="continue")]}, can_use_tool=deny),
                          "printf x")
    check(asked == ["Bash"] and "the host decides" in seen.outcome()[0], "asked %s, %s" % (asked, seen.outcome()))


@drives
async def answer_that_is_nothing_known():
    path = fresh()

    async def odd(given, use, context):
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "Maybe"}}
    seen = await one_call(options(hooks={"PreToolUse": [matcher(odd)]}, permission_mode="bypassPermissions"),
                          "touch " + path)
    check(seen.outcome()[1] and not os.path.exists(path), "outcome %s" % (seen.outcome(),))


@drives
async def late_answer_is_none():
    path = fresh()

    async def silent(given, use, context):
        await anyio.sleep_forever()
    seen = await one_call(options(hooks={"PreToolUse": [matcher(silent, timeout=1)]},
                                  permission_mode="bypassPermissions"), "touch " + path)
    check(seen.outcome()[1] and not os.path.exists(path), "outcome %s" % (seen.outcome(),))


@drives
async def deny_beats_allow():
    path, called = fresh(), []

    async def first(given, use, context):
        called.append("first")
        while len(called) < 2:
            await anyio.sleep(0.01)
        return pre("allow")

    async def second(given, use, context):
        called.append("second")
        while len(called) < 2:
            await anyio.sleep(0.01)
        return pre("deny", "the second says no")
    seen = await one_call(options(hooks={"PreToolUse": [matcher(first), matcher(second, matcher="Bash")]}),
                          "touch " + path)
    check(seen.outcome()[1] and "the second says no" in seen.outcome()[0], "outcome %s" % (seen.outcome(),))
    check(sorted(called) == ["first", "second"] and not os.path.exists(path), "called %s" % called)


@drives
async def ask_brings_the_question():
    asked = []

    async def ask(given, use, context):
        return pre("ask", "better ask")

    async def answer(name, given, context):
        asked.append(name)
        return sdk.PermissionResultAllow()
    chosen = options(hooks={"PreToolUse": [matcher(ask)]}, can_use_tool=answer)
    async with sdk.ClaudeSDKClient(chosen) as client:
        seen = (await turn(client, script(calls(("CurrentTime", {})), {"text": "ok"}))).succeeded()
    check(asked == ["CurrentTime"] and not seen.outcome()[1], "asked %s, %s" % (asked, seen.outcome()))


@drives
async def allow_saves_the_question():
    asked = []

    async def yes(given, use, context):
        return pre("allow")

    async def answer(name, given, context):
        asked.append(name)
        return sdk.PermissionResultDeny(message="no")
    seen = await one_call(options(hooks={"PreToolUse": [matcher(yes)]}, can_use_tool=answer), "printf x")
    check(asked == [] and seen.outcome() == ("x", False), "asked %s, %s" % (asked, seen.outcome()))


@drives
async def matchers_choose():
    called = []

    def note(name):
        async def callback(given, use, context):
            called.append(name)
            return {}
        return callback
    hooks = {"PreToolUse": [matcher(note("writes"), matcher="Write|Edit"), matcher(note("bash"), matcher="B.*"),
                            matcher(note("part"), matcher="as"), matcher(note("any"), matcher=None),
                            matcher(note("star"), matcher="*")]}
    await one_call(options(hooks=hooks, can_use_tool=allow), "printf x")
    check(sorted(called) == ["any", "bash", "star"], "called %s" % called)


@drives
async def changed_input_is_the_one_asked_about():
    asked = []

    async def change(given, use, context):
        return pre("ask", updatedInput={"command": "printf changed"})

    async def answer(name, given, context):
        asked.append(given["command"])
        return sdk.PermissionResultAllow()
    seen = await one_call(options(hooks={"PreToolUse": [matcher(change)]}, can_use_tool=answer), "printf original")
    check(asked == ["printf changed"] and seen.outcome() == ("changed", False), "asked %s, %s" % (asked, seen.outcome()))


@drives
async def unknown_events_are_passed_over():
    async def callback(given, use, context):
        return {}
    hooks = {"Notification": [matcher(callback)], "SubagentStop": [matcher(callback)],
             "PreToolUse": [matcher(callback)]}
    async with sdk.ClaudeSDKClient(options(hooks=hooks)) as client:
        info = await client.get_server_info()
        (await turn(client, "x")).succeeded()
    check(info["hooks_applied"] is True and info["hook_on_failure_supported"] is True, "answer %s" % info)


@drives
async def unknown_event_that_must_block_is_no_session():
    async def callback(given, use, context):
        return {}
    client = sdk.ClaudeSDKClient(options(hooks={"Notification": [matcher(callback, on_failure="block")]}))
    try:
        await client.connect()
    except sdk.CLIConnectionError as raised:
        return "raised=%r" % str(raised)[:60]
    finally:
        await client.disconnect()
    raise Fail("the client connected")


@drives
async def prompt_can_be_refused():
    async def gate(given, use, context):
        if "secret" in given["prompt"]:
            return {"decision": "block", "reason": "not this one"}
        return {}
    async with sdk.ClaudeSDKClient(options(hooks={"UserPromptSubmit": [matcher(gate)]})) as client:
        bad = await turn(client, "a secret")
        check(bad.end.is_error and "not this one" in "".join(bad.end.errors), "result %s" % bad.end)
        good = (await turn(client, "plain")).succeeded()
    check(good.end.result == "echo: plain", "result %s" % good.end)


@drives
async def failed_prompt_hook_refuses():
    async def broken(given, use, context):
        raise RuntimeError("the hook broke")
    async with sdk.ClaudeSDKClient(options(hooks={"UserPromptSubmit": [matcher(broken)]})) as client:
        end = (await turn(client, "x")).end
    check(end.is_error and end.num_turns == 0, "result %s" % end)


@drives
async def events_of_a_session():
    called, ended = [], anyio.Event()

    async def note(given, use, context):
        called.append(given["hook_event_name"])
        for name in ("session_id", "cwd", "hook_event_name", "transcript_path", "permission_mode"):
            check(name in given, "%s: no %s" % (given["hook_event_name"], name))
        return {}
    events = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")
    hooks = {event: [matcher(note)] for event in events}
    prompt = script(bash("printf x"), {"text": "done"})
    seen, raised = await oneshot(prompt, options(hooks=hooks, permission_mode="bypassPermissions"))
    check(raised is None, "raised %r" % raised)
    seen.succeeded()
    check(called == list(events), "called %s" % called)


@drives
async def hook_events_are_shown():
    async def yes(given, use, context):
        return pre("allow")
    chosen = options(hooks={"PreToolUse": [matcher(yes)]}, include_hook_events=True)
    seen = await one_call(chosen, "printf x")
    shown = [(m.subtype, m.hook_event_name) for m in seen.messages if isinstance(m, sdk.HookEventMessage)]
    check(shown == [("hook_started", "PreToolUse"), ("hook_response", "PreToolUse")], "shown %s" % shown)
    seen = await one_call(options(hooks={"PreToolUse": [matcher(yes)]}), "printf x")
    check(not [m for m in seen.messages if isinstance(m, sdk.HookEventMessage)], "shown without the option")


@drives
async def hook_ends_the_turn():
    path = fresh()

    async def stop(given, use, context):
        return {"continue_": False, "stopReason": "that is enough"}
    chosen = options(hooks={"PreToolUse": [matcher(stop)]}, permission_mode="bypassPermissions")
    async with sdk.ClaudeSDKClient(chosen) as client:
        seen = (await turn(client, script(bash("touch " + path), {"text": "not reached"}))).succeeded()
        check(seen.end.result == "that is enough" and not os.path.exists(path), "result %s" % seen.end)
        (await turn(client, "next")).succeeded()


@drives
async def interrupt_ends_a_hook():
    called, path = anyio.Event(), fresh()

    async def silent(given, use, context):
        called.set()
        await anyio.sleep_forever()
    async with sdk.ClaudeSDKClient(options(hooks={"PreToolUse": [matcher(silent)]})) as client:
        await client.query(script(bash("touch " + path), {"text": "never"}))
        await called.wait()
        await client.interrupt()
        end = (await turn(client)).end
        check(end.subtype == "error_during_execution", "result %s" % end)
        (await turn(client, "next")).succeeded()
    check(not os.path.exists(path), "it ran")


if __name__ == "__main__":
    main()
