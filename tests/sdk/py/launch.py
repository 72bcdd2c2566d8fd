"""What the client puts on the command line and into the environment."""
from harness import *


@drives
async def options_together():
    folder = os.path.dirname(fresh())
    prompt_file = os.path.join(folder, "prompt.txt")
    with open(prompt_file, "w") as file:
        file.write("be brief")
    chosen = options(
        system_prompt={"type": "file", "path": prompt_file}, tools={"type": "preset", "preset": "claude_code"},
        allowed_tools=["Read", "Bash(printf:*)", "mcp__none__tool"], disallowed_tools=["Write"], max_turns=5,
        model="default", fallback_model="scripted", betas=["context-1m-2025-08-07"], permission_mode="default",
        settings=json.dumps({"permissions": {"deny": ["Bash(rm:*)"]}}), setting_sources=[], add_dirs=[folder],
        mcp_servers={}, strict_mcp_config=True, include_hook_events=True, include_partial_messages=True,
        skills=["one"], agents={"helper": sdk.AgentDefinition(description="d", prompt="p" * 300_000)},
        thinking={"type": "disabled"}, enable_file_checkpointing=True, cwd=folder,
        extra_args={"debug-file": os.path.join(folder, "debug.txt")})
    seen, raised = await oneshot(script(bash("printf allowed"), {"text": "{results}"}), chosen)
    check(raised is None and seen.succeeded().end.result == "allowed", "raised %r, result %s" % (raised, seen.end))
    init = seen.of("init")[0]
    check(os.path.realpath(init["cwd"]) == os.path.realpath(folder), "working directory %r" % init["cwd"])
    check("Bash" in init["tools"] and "Write" not in init["tools"], "tools %s" % init["tools"])


@drives
async def empty_values():
    seen, raised = await oneshot("x", options(tools=[], system_prompt="", setting_sources=[]))
    check(raised is None and seen.succeeded().of("init")[0]["tools"] == [], "raised %r, tools %s" % (
        raised, seen.of("init")))


@drives
async def system_prompts():
    for chosen in ("plain", {"type": "preset", "preset": "claude_code", "append": "more"},
                   {"type": "custom", "prompt": "-begins with a dash", "snapshot": True},
                   {"type": "preset", "preset": "claude_code", "exclude_dynamic_sections": True}):
        seen, raised = await oneshot("x", options(system_prompt=chosen))
        check(raised is None, "%s raised %r" % (chosen, raised))
        seen.succeeded()


@drives
async def settings_of_the_caller():
    path = fresh("settings.json")
    with open(path, "w") as file:
        json.dump({"permissions": {"allow": ["Bash(printf:*)"]}}, file)
    for settings in (path, json.dumps({"permissions": {"allow": ["Bash(printf:*)"]}})):
        seen, raised = await oneshot(script(bash("printf y"), {"text": "{results}"}), options(settings=settings))
        check(raised is None and seen.succeeded().end.result == "y", "raised %r, result %s" % (raised, seen.end))


@drives
async def modes():
    for mode, runs in (("default", False), ("acceptEdits", True), ("plan", False), ("bypassPermissions", True),
                       ("dontAsk", False), ("auto", False)):
        path = fresh()
        step = calls(("Write", {"file_path": path, "content": "x"}))
        seen, raised = await oneshot(script(step, {"text": "y"}),
                                     options(permission_mode=mode, add_dirs=[os.path.dirname(path)]))
        check(raised is None, "%s raised %r" % (mode, raised))
        seen.succeeded()
        check(os.path.exists(path) == runs, "%s: %s" % (mode, seen.outcome()))


async def does_not_start(named, **chosen):
    """Holds that the agent ends with status 2 and says what it was about."""
    lines = []
    seen, raised = await oneshot("x", options(cli_path=patient(), stderr=lines.append, **chosen))
    check(isinstance(raised, sdk.ProcessError) and raised.exit_code == 2, "%s raised %r" % (named, raised))
    check(any(named in line for line in lines), "%s: stderr %s" % (named, lines))
    check(not seen.messages, "%s: messages %s" % (named, seen.messages))


@drives
async def unknown_flag():
    await does_not_start("--no-such-flag", extra_args={"no-such-flag": None})


@drives
async def unknown_model():
    await does_not_start("--model", model="no-such-model")
    await does_not_start("--fallback-model", fallback_model="no-such-model")


@drives
async def refused_flags():
    resume = "00000000-0000-4000-8000-000000000000"
    await does_not_start("--session-mirror", session_store=sdk.InMemorySessionStore())
    await does_not_start("--resume-session-at", resume=resume, resume_session_at=resume)
    await does_not_start("--resume-drops-turn", extra_args={"resume-drops-turn": resume})
    await does_not_start("--permission-prompt-tool", permission_prompt_tool_name="mcp__some__tool")


@drives
async def big_initialize():
    agents = {"a%d" % i: sdk.AgentDefinition(description="d", prompt="é" * 60_000) for i in range(10)}
    async with sdk.ClaudeSDKClient(options(agents=agents)) as client:
        info = await client.get_server_info()
        (await turn(client, "x")).succeeded()
    for name in ("commands", "agents", "output_style", "available_output_styles", "models", "account", "hooks_applied",
                 "hook_on_failure_supported", "claude_code_version"):
        check(name in info, "the answer has no %s" % name)


if __name__ == "__main__":
    main()
