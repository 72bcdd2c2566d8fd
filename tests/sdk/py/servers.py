"""MCP servers that live in the client's process."""
from harness import *


def calculator(log, **more):
    @sdk.tool("add", "adds two numbers", {"a": int, "b": int})
    async def add(given):
        log.append(given)
        return {"content": [{"type": "text", "text": "sum=%d" % (given["a"] + given["b"])}]}

    @sdk.tool("refuse", "always an error", {})
    async def refuse(given):
        return {"content": [{"type": "text", "text": "refused"}], "is_error": True}
    return sdk.create_sdk_mcp_server("calc", tools=[add, refuse])


def chosen(log, **more):
    return options(mcp_servers={"calc": calculator(log)}, **more)


ADD = ("mcp__calc__add", {"a": 1, "b": 2})
FREE = ["mcp__calc__add", "mcp__calc__refuse", "mcp__calc__wait", "mcp__other__add"]


def status(said):
    return {server["name"]: server["status"] for server in said["mcpServers"]}


@drives
async def tools_ask_first():
    log, asked = [], []

    async def answer(name, given, context):
        asked.append(name)
        return sdk.PermissionResultDeny(message="no sums")
    async with sdk.ClaudeSDKClient(chosen(log, can_use_tool=answer)) as client:
        seen = (await turn(client, script(calls(ADD), {"text": "ok"}))).succeeded()
    check(asked == ["mcp__calc__add"] and log == [], "asked %s, called %s" % (asked, log))
    check(seen.outcome()[1] and "no sums" in seen.outcome()[0], "outcome %s" % (seen.outcome(),))


@drives
async def errors_and_unknown_tools():
    log = []
    step = calls(("mcp__calc__refuse", {}), ("mcp__calc__none", {}), ("mcp__none__add", {}), ADD)
    async with sdk.ClaudeSDKClient(chosen(log, allowed_tools=FREE)) as client:
        seen = (await turn(client, script(step, {"text": "ok"}))).succeeded()
    check(seen.outcome(0) == ("refused", True), "outcome %s" % (seen.outcome(0),))
    check(seen.outcome(1)[1] and seen.outcome(2)[1], "outcomes %s" % seen.results)
    check(seen.outcome(3) == ("sum=3", False), "outcome %s" % (seen.outcome(3),))


@drives
async def oneshot_with_a_server_ends_by_itself():
    log = []
    seen, raised = await oneshot(script(calls(ADD), calls(ADD), {"text": "{results}"}), chosen(log, allowed_tools=FREE))
    check(raised is None and seen.succeeded().end.result == "sum=3" and len(log) == 2, "raised %r, %s" % (raised, log))
    names = [server["name"] for server in seen.of("init")[0]["mcp_servers"]]
    check(names == ["calc"], "servers %s" % names)


@drives
async def several_servers():
    log, other = [], []
    chosen = options(mcp_servers={"calc": calculator(log), "other": calculator(other)}, allowed_tools=FREE)
    async with sdk.ClaudeSDKClient(chosen) as client:
        step = calls(("mcp__calc__add", {"a": 1, "b": 1}), ("mcp__other__add", {"a": 2, "b": 2}))
        seen = (await turn(client, script(step, {"text": "{results}"}))).succeeded()
        said = status(await client.get_mcp_status())
    check(seen.end.result == "sum=2|sum=4" and len(log) == len(other) == 1, "result %s" % seen.end.result)
    check(said == {"calc": "connected", "other": "connected"}, "status %s" % said)


@drives
async def toggled_and_reconnected():
    log = []
    async with sdk.ClaudeSDKClient(chosen(log, allowed_tools=FREE)) as client:
        (await turn(client, "x")).succeeded()
        await client.toggle_mcp_server("calc", False)
        check(status(await client.get_mcp_status()) == {"calc": "disabled"}, "it is not disabled")
        off = (await turn(client, script(calls(ADD), {"text": "ok"}))).succeeded()
        check(off.outcome()[1] and log == [], "a disabled server was called: %s" % (off.outcome(),))
        await client.toggle_mcp_server("calc", True)
        on = (await turn(client, script(calls(ADD), {"text": "ok"}))).succeeded()
        check(on.outcome() == ("sum=3", False), "outcome %s" % (on.outcome(),))
        await client.reconnect_mcp_server("calc")
        again = (await turn(client, script(calls(ADD), {"text": "ok"}))).succeeded()
        check(again.outcome() == ("sum=3", False), "outcome %s" % (again.outcome(),))


@drives
async def unknown_servers_are_named():
    async with sdk.ClaudeSDKClient(options()) as client:
        await refused(client.reconnect_mcp_server("nobody"), "nobody")
        await refused(client.toggle_mcp_server("nobody", False), "nobody")
        (await turn(client, "x")).succeeded()


@drives
async def interrupted_call():
    started = anyio.Event()

    @sdk.tool("wait", "waits", {})
    async def wait(given):
        started.set()
        await anyio.sleep_forever()
    server = sdk.create_sdk_mcp_server("calc", tools=[wait])
    async with sdk.ClaudeSDKClient(options(mcp_servers={"calc": server}, allowed_tools=FREE)) as client:
        await client.query(script(calls(("mcp__calc__wait", {})), {"text": "never"}))
        await started.wait()
        await client.interrupt()
        seen = await turn(client)
        check(seen.end.subtype == "error_during_execution" and seen.outcome()[1], "result %s" % seen.end)
        (await turn(client, "next")).succeeded()


@drives
async def long_output_of_a_server():
    @sdk.tool("add", "much text", {})
    async def much(given):
        return {"content": [{"type": "text", "text": "x" * 3_000_000}]}
    server = sdk.create_sdk_mcp_server("calc", tools=[much])
    async with sdk.ClaudeSDKClient(options(mcp_servers={"calc": server}, allowed_tools=FREE)) as client:
        seen = (await turn(client, script(calls(("mcp__calc__add", {})), {"text": "ok"}))).succeeded()
    check(len(seen.outcome()[0]) < 110_000 and not seen.outcome()[1], "%d characters" % len(seen.outcome()[0]))


if __name__ == "__main__":
    main()
