"""Permission questions: who decides, in which order, and what a call without an answer becomes."""
from harness import *


def allows(asked):
    async def answer(name, given, context):
        asked.append((name, given, context))
        return sdk.PermissionResultAllow()
    return answer


@drives
async def allow_as_it_is():
    asked = []
    async with sdk.ClaudeSDKClient(options(can_use_tool=allows(asked))) as client:
        seen = (await turn(client, script(bash("printf as-it-is"), {"text": "{results}"}))).succeeded()
    check(seen.end.result == "as-it-is" and len(asked) == 1, "result %r, asked %s" % (seen.end.result, asked))
    check(asked[0][2].tool_use_id == seen.uses[0].id, "the question names another call")


@drives
async def crossed_answers():
    asked, second_answered, order = {}, anyio.Event(), []

    async def answer(name, given, context):
        asked[given["command"]] = context.tool_use_id
        if "first" in given["command"]:
            await second_answered.wait()
            order.append("first")
            return sdk.PermissionResultAllow(updated_input={"command": "printf changed"})
        while len(asked) < 2:
            await anyio.sleep(0.01)
        order.append("second")
        second_answered.set()
        return sdk.PermissionResultDeny(message="not the second")
    both = calls(("Bash", {"command": "printf first"}), ("Bash", {"command": "printf second"}))
    async with sdk.ClaudeSDKClient(options(can_use_tool=answer)) as client:
        seen = (await turn(client, script(both, {"text": "{results}"}))).succeeded()
    check(order == ["second", "first"], "order %s" % order)
    check(seen.outcome(0) == ("changed", False), "first %s" % (seen.outcome(0),))
    check(seen.outcome(1)[1] and "not the second" in seen.outcome(1)[0], "second %s" % (seen.outcome(1),))
    check([use.id for use in seen.uses] == [asked["printf first"], asked["printf second"]], "ids %s" % asked)
    check(len(seen.end.permission_denials) == 1, "denials %s" % seen.end.permission_denials)


@drives
async def eight_at_once():
    asked = []

    async def answer(name, given, context):
        asked.append(given["command"])
        while len(asked) < 8:
            await anyio.sleep(0.01)
        await anyio.sleep(0.01 * (8 - int(given["command"][-1])))
        return sdk.PermissionResultAllow()
    many = calls(*[("Bash", {"command": "printf %d" % i}) for i in range(8)])
    async with sdk.ClaudeSDKClient(options(can_use_tool=answer)) as client:
        seen = (await turn(client, script(many, {"text": "{results}"}))).succeeded()
    said = [seen.outcome(i)[0] for i in range(8)]
    check(said == ["%d" % i for i in range(8)], "results %s" % said)


@drives
async def deny_and_stop():
    path = fresh()

    async def answer(name, given, context):
        return sdk.PermissionResultDeny(message="stop it", interrupt=True)
    async with sdk.ClaudeSDKClient(options(can_use_tool=answer)) as client:
        end = (await turn(client, script(bash("touch " + path), {"text": "not reached"}))).end
        check(end.subtype == "error_during_execution" and end.is_error, "result %s" % end)
        (await turn(client, "next")).succeeded()
    check(not os.path.exists(path), "it ran")


@drives
async def callback_that_fails():
    path = fresh()

    async def answer(name, given, context):
        raise RuntimeError("the host broke")
    async with sdk.ClaudeSDKClient(options(can_use_tool=answer)) as client:
        seen = (await turn(client, script(bash("touch " + path), {"text": "went on"}))).succeeded()
    check(seen.outcome()[1] and not os.path.exists(path), "outcome %s" % (seen.outcome(),))
    check(len(seen.end.permission_denials) == 1, "denials %s" % seen.end.permission_denials)


@drives
async def no_callback():
    path = fresh()
    async with sdk.ClaudeSDKClient(options()) as client:
        seen = (await turn(client, script(bash("touch " + path), {"text": "went on"}))).succeeded()
    check(seen.outcome()[1] and not os.path.exists(path), "outcome %s" % (seen.outcome(),))


@drives
async def end_of_input_denies():
    path = fresh()
    seen, raised = await oneshot(script(bash("touch " + path), {"text": "went on"}), options())
    check(raised is None and seen.succeeded().end.result == "went on", "raised %r" % raised)
    check(seen.outcome()[1] and not os.path.exists(path), "outcome %s" % (seen.outcome(),))


@drives
async def number_that_is_none():
    path = fresh()

    async def answer(name, given, context):
        return sdk.PermissionResultAllow(updated_input={"command": "touch " + path, "timeout": float("nan")})
    async with sdk.ClaudeSDKClient(options(can_use_tool=answer)) as client:
        seen = Turn()
        await client.query(script(bash("printf x"), {"text": "never"}))
        try:
            async for message in client.receive_messages():
                seen.add(message)
            raised = None
        except Exception as error:
            raised = error
    check(not os.path.exists(path), "it ran")
    check(seen.end is not None and seen.end.is_error and "malformed NDJSON" in seen.end.errors[0], "result %s" % seen.end)
    check(isinstance(raised, sdk.ProcessError) and raised.exit_code == 1, "raised %r" % raised)


@drives
async def rule_for_the_session():
    asked = []

    async def answer(name, given, context):
        asked.append(given)
        rule = sdk.PermissionUpdate(type="addRules", behavior="allow", destination="session",
                                    rules=[sdk.types.PermissionRuleValue(tool_name="Bash", rule_content="printf:*")])
        return sdk.PermissionResultAllow(updated_permissions=[rule])
    async with sdk.ClaudeSDKClient(options(can_use_tool=answer)) as client:
        for word in ("one", "two"):
            seen = (await turn(client, script(bash("printf " + word), {"text": "{results}"}))).succeeded()
            check(seen.end.result == word, "result %s" % seen.end.result)
    check(len(asked) == 1, "asked %d times" % len(asked))


@drives
async def suggestion_taken():
    asked, folder = [], os.path.dirname(fresh())

    async def answer(name, given, context):
        asked.append(context.suggestions)
        return sdk.PermissionResultAllow(updated_permissions=context.suggestions)
    async with sdk.ClaudeSDKClient(options(can_use_tool=answer, cwd=folder)) as client:
        for name in ("one", "two"):
            step = calls(("Write", {"file_path": os.path.join(folder, name), "content": name}))
            (await turn(client, script(step, {"text": "ok"}))).succeeded()
            check(os.path.exists(os.path.join(folder, name)), "%s was not written" % name)
        seen = (await turn(client, script(bash("printf x"), {"text": "ok"}))).succeeded()
    check(len(asked) == 2, "asked %d times" % len(asked))
    check([update.type for update in asked[0]] == ["addRules"] and asked[0][0].destination == "localSettings"
          and [rule.tool_name for rule in asked[0][0].rules] == ["Write"], "suggestions %s" % asked[0])
    check(asked[1] == [], "suggestions for Bash %s" % asked[1])


@drives
async def hook_before_host():
    path, host, cancelled = fresh(), anyio.Event(), anyio.Event()

    async def answer(name, given, context):
        host.set()
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            cancelled.set()
            raise

    async def decide(given, use, context):
        await host.wait()
        return {"hookSpecificOutput": {"hookEventName": "PermissionRequest",
                                       "decision": {"behavior": "deny", "message": "the hook was first"}}}
    chosen = options(can_use_tool=answer, hooks={"PermissionRequest": [sdk.HookMatcher(hooks=[decide])]})
    async with sdk.ClaudeSDKClient(chosen) as client:
        seen = (await turn(client, script(bash("touch " + path), {"text": "went on"}))).succeeded()
        await cancelled.wait()
        (await turn(client, "next")).succeeded()
    check(seen.outcome()[1] and "the hook was first" in seen.outcome()[0], "outcome %s" % (seen.outcome(),))
    check(not os.path.exists(path), "it ran")


@drives
async def host_before_hook():
    path, hook, late = fresh(), anyio.Event(), anyio.Event()

    async def answer(name, given, context):
        await hook.wait()
        return sdk.PermissionResultAllow()

    async def decide(given, use, context):
        hook.set()
        await late.wait()
        return {"hookSpecificOutput": {"hookEventName": "PermissionRequest",
                                       "decision": {"behavior": "deny", "message": "too late"}}}
    chosen = options(can_use_tool=answer, hooks={"PermissionRequest": [sdk.HookMatcher(hooks=[decide])]})
    async with sdk.ClaudeSDKClient(chosen) as client:
        seen = (await turn(client, script(bash("echo x >> " + path), {"text": "went on"}))).succeeded()
        late.set()
        (await turn(client, "next")).succeeded()
    check(not seen.outcome()[1] and open(path).read() == "x\n", "outcome %s" % (seen.outcome(),))
    check(not seen.end.permission_denials, "denials %s" % seen.end.permission_denials)


@drives
async def interrupt_takes_questions_back():
    path, asked, gone = fresh(), [], []

    async def answer(name, given, context):
        asked.append(given["command"])
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            gone.append(given["command"])
            raise
    both = calls(("Bash", {"command": "touch " + path}), ("Bash", {"command": "printf two"}))
    async with sdk.ClaudeSDKClient(options(can_use_tool=answer)) as client:
        await client.query(script(both, {"text": "never"}))
        while len(asked) < 2:
            await anyio.sleep(0.01)
        await client.interrupt()
        seen = await turn(client)
        check(seen.end.subtype == "error_during_execution", "result %s" % seen.end)
        check(len(seen.results) == 2 and all(wrong for _, wrong in seen.results.values()), "results %s" % seen.results)
        check(gone == asked, "asked %s, taken back %s" % (asked, gone))
        (await turn(client, "next")).succeeded()
    check(not os.path.exists(path), "it ran")


if __name__ == "__main__":
    main()
