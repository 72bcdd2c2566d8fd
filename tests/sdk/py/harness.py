"""What the drivers of this folder share.

    python FILE.py AGENT [KEY=VALUE ...] [--flag[=value] ...]

runs every behaviour of the file, or those that SDK_DRIVER_ONLY lists, against AGENT, and prints a line for each:
`NAME py PASS …` or `NAME py FAIL REASON`. The status is 0 when all passed. KEY=VALUE goes into the agent's environment,
a flag onto its command line. The model is the scripted provider that follows its prompt.
"""
import json
import os
import pathlib
import shlex
import sys
import tempfile
import traceback

import anyio
import claude_agent_sdk as sdk

LIMIT = float(os.environ.get("SDK_DRIVER_TIMEOUT", "60"))
BEHAVIOURS = {}


class Fail(Exception):
    """A behaviour that is not what the client needs."""


def check(holds, why):
    if not holds:
        raise Fail(why)


def drives(function):
    """Registers a behaviour under the name of its function."""
    BEHAVIOURS[function.__name__] = function
    return function


def script(*steps, note=""):
    """A prompt whose answers are `steps`, one for each model request; `note` makes it longer and changes nothing."""
    return note + "SCRIPT " + json.dumps({"steps": list(steps)})


def calls(*each):
    """A step with tool calls: (name, input) each."""
    return {"tool_calls": [{"name": name, "input": given} for name, given in each]}


def bash(command, **more):
    return calls(("Bash", {"command": command, **more}))


def options(**chosen):
    env, extra = {}, {}
    for argument in sys.argv[2:]:
        if argument.startswith("--"):
            name, equals, value = argument[2:].partition("=")
            extra[name] = value if equals else None
        else:
            name, _, value = argument.partition("=")
            env[name] = value
    extra.update(chosen.pop("extra_args", {}))
    env.update(chosen.pop("env", {}))
    program = chosen.pop("cli_path", sys.argv[1])
    return sdk.ClaudeAgentOptions(cli_path=program, env=env, extra_args=extra, **chosen)


def fresh(name="file"):
    """A path in an empty folder."""
    return os.path.join(tempfile.mkdtemp(), name)


def text_of(block):
    if isinstance(block.content, str):
        return block.content
    return "".join(part.get("text", "") for part in block.content or [])


class Turn:
    """What came until a result, that included."""

    def __init__(self):
        self.messages, self.texts, self.uses, self.results, self.systems, self.end = [], [], [], {}, [], None

    def add(self, message):
        self.messages.append(message)
        if isinstance(message, sdk.AssistantMessage):
            self.texts += [block.text for block in message.content if isinstance(block, sdk.TextBlock)]
            self.uses += [block for block in message.content if isinstance(block, sdk.ToolUseBlock)]
        elif isinstance(message, sdk.UserMessage) and isinstance(message.content, list):
            for block in message.content:
                if isinstance(block, sdk.ToolResultBlock):
                    check(block.tool_use_id not in self.results, "two results of one call")
                    self.results[block.tool_use_id] = (text_of(block), bool(block.is_error))
        elif isinstance(message, sdk.SystemMessage):
            self.systems.append(message)
        elif isinstance(message, sdk.ResultMessage):
            self.end = message

    @property
    def text(self):
        return "".join(self.texts)

    def outcome(self, which=0):
        """Text and error mark of the result of a call, in the order of the calls."""
        check(len(self.uses) > which, "there is no call %d" % which)
        return self.results.get(self.uses[which].id, (None, None))

    def of(self, subtype):
        return [message.data for message in self.systems if message.subtype == subtype]

    def succeeded(self):
        check(self.end is not None, "no result")
        check(self.end.subtype == "success" and not self.end.is_error, "result %s, %s" % (self.end.subtype, self.end.errors))
        return self


async def turn(client, prompt=None):
    """Sends a prompt, unless that was done, and reads to the result."""
    if prompt is not None:
        await client.query(prompt)
    seen = Turn()
    async for message in client.receive_response():
        seen.add(message)
    check(seen.end is not None, "no result")
    return seen


async def oneshot(prompt, chosen):
    """`query()`: the messages, and what it raised at its end, or None."""
    seen = Turn()
    try:
        async for message in sdk.query(prompt=prompt, options=chosen):
            seen.add(message)
    except Exception as raised:
        return seen, raised
    return seen, None


def patient():
    """A program that runs the agent and, once that has ended, takes the first record it did not take: a client writes
    that before it reads, and one whose write fails knows neither the status nor the words of its agent."""
    path = fresh("agent")
    agent = shlex.quote(os.path.abspath(sys.argv[1]))
    with open(path, "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\n%s "$@"\nstatus=$?\ntimeout 2 head -n 1 >/dev/null\nexit "$status"\n' % agent)
    os.chmod(path, 0o700)
    return path


async def refused(call, *named):
    """Whether a control request is answered by an error that names what it is about."""
    try:
        with anyio.fail_after(LIMIT / 2):
            said = await call
    except TimeoutError:
        raise
    except Exception as raised:
        for name in named:
            check(name in str(raised), "the error does not name %s: %s" % (name, raised))
        return str(raised)
    raise Fail("it was not refused: %s" % (said,))


def children():
    """Processes that this one has started and not yet waited for, the dead among them."""
    found = []
    for task in pathlib.Path("/proc/self/task").iterdir():
        try:
            found += (task / "children").read_text().split()
        except FileNotFoundError:
            # A thread that has ended meanwhile.
            continue
    return sorted(found)


def main():
    only = [name for name in os.environ.get("SDK_DRIVER_ONLY", "").split(",") if name]
    failed = 0
    for name, behaviour in BEHAVIOURS.items():
        if only and name not in only:
            continue

        async def limited():
            with anyio.fail_after(LIMIT):
                return await behaviour()
        try:
            figures = anyio.run(limited)
            print("%s py PASS %s" % (name, figures or ""), flush=True)
        except Fail as why:
            failed += 1
            print("%s py FAIL %s" % (name, str(why)[:2000]), flush=True)
        except BaseException as raised:
            failed += 1
            traceback.print_exc()
            print("%s py FAIL %s: %s" % (name, type(raised).__name__, str(raised)[:2000]), flush=True)
    sys.exit(1 if failed else 0)
