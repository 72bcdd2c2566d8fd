"""Control requests that change the session, and what they change."""
import uuid

from harness import *


def write(path, text):
    return calls(("Write", {"file_path": path, "content": text}))


@drives
async def mode_holds_for_later_calls():
    folder, asked = os.path.dirname(fresh()), []

    async def deny(name, given, context):
        asked.append(name)
        return sdk.PermissionResultDeny(message="no")

    async def writes(client, name):
        path = os.path.join(folder, name)
        (await turn(client, script(write(path, "x"), {"text": "ok"}))).succeeded()
        return os.path.exists(path)
    async with sdk.ClaudeSDKClient(options(can_use_tool=deny, cwd=folder)) as client:
        check(not await writes(client, "a") and len(asked) == 1, "default did not ask")
        await client.set_permission_mode("acceptEdits")
        check(await writes(client, "b") and len(asked) == 1, "acceptEdits asked")
        await client.set_permission_mode("default")
        check(not await writes(client, "c") and len(asked) == 2, "default did not ask again")
        await client.set_permission_mode("dontAsk")
        check(not await writes(client, "d") and len(asked) == 2, "dontAsk asked")
        await refused(client.set_permission_mode("nonsense"), "nonsense")


@drives
async def models_by_name():
    async with sdk.ClaudeSDKClient(options()) as client:
        for name in (None, "default", "scripted", "play"):
            await client.set_model(name)
        await refused(client.set_model("no-such-model"), "no-such-model")
        (await turn(client, "x")).succeeded()


@drives
async def usage_has_its_members():
    async with sdk.ClaudeSDKClient(options()) as client:
        (await turn(client, "x")).succeeded()
        usage = await client.get_context_usage()
    for name in ("categories", "totalTokens", "maxTokens", "rawMaxTokens", "percentage", "gridRows", "model",
                 "memoryFiles", "mcpTools", "agents", "isAutoCompactEnabled", "apiUsage"):
        check(name in usage, "no %s" % name)


@drives
async def files_are_rewound():
    folder = os.path.dirname(fresh())
    old, new = os.path.join(folder, "old"), os.path.join(folder, "new")
    with open(old, "w") as file:
        file.write("before\n")
    chosen = options(permission_mode="acceptEdits", cwd=folder, enable_file_checkpointing=True,
                     extra_args={"replay-user-messages": None})

    async def prompt(text, name):
        yield {"type": "user", "message": {"role": "user", "content": text}, "parent_tool_use_id": None, "uuid": name}
    async with sdk.ClaudeSDKClient(chosen) as client:
        first, second = str(uuid.uuid4()), str(uuid.uuid4())
        step = calls(("Read", {"file_path": old}))
        edit = calls(("Edit", {"file_path": old, "old_string": "before", "new_string": "after"}))
        seen = (await turn(client, prompt(script(step, edit, write(new, "x"), {"text": "ok"}), first))).succeeded()
        check(open(old).read() == "after\n" and os.path.exists(new), "the tools did not write: %s" % seen.results)
        (await turn(client, prompt(script(calls(("Read", {"file_path": old})), write(old, "third"), {"text": "ok"}),
                                   second))).succeeded()
        await client.rewind_files(second)
        check(open(old).read() == "after\n" and os.path.exists(new), "second: %r" % open(old).read())
        await client.rewind_files(first)
        check(open(old).read() == "before\n" and not os.path.exists(new), "first: %r" % open(old).read())


@drives
async def task_tells_its_end():
    async with sdk.ClaudeSDKClient(options(permission_mode="bypassPermissions")) as client:
        seen = (await turn(client, script(bash("sleep 1; echo finished", run_in_background=True), {"text": "one"},
                                          {"text": "two"}))).succeeded()
    tasks = [type(m).__name__ for m in seen.messages if "Task" in type(m).__name__]
    check(tasks[0] == "TaskStartedMessage" and tasks[-1] == "TaskNotificationMessage", "messages %s" % tasks)
    check("Task" in seen.outcome()[0] and seen.end.result == "two", "%s, %s" % (seen.outcome(), seen.end.result))
    ended = seen.of("task_notification")[0]
    check(ended["status"] == "completed" and "finished" in open(ended["output_file"]).read(), "ended %s" % ended)


@drives
async def task_is_stopped():
    async with sdk.ClaudeSDKClient(options(permission_mode="bypassPermissions")) as client:
        await client.query(script(bash("sleep 600", run_in_background=True), {"text": "one"}, {"text": "two"}))
        seen = Turn()
        async for message in client.receive_response():
            seen.add(message)
            if isinstance(message, sdk.TaskStartedMessage):
                await client.stop_task(message.task_id)
        seen.succeeded()
        await refused(client.stop_task("task_none"), "task_none")
    check([n["status"] for n in seen.of("task_notification")] == ["stopped"], "ended %s" % seen.of("task_notification"))


if __name__ == "__main__":
    main()
