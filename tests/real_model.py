#!/usr/bin/env python3
"""Drives the agent against the servers that real-model.sh has started; ends `N passed, N failed`.

Each test is one agent process in stream-json, with its own home and its own provider entry, and is run in each dialect.
The assertions are on the records and on the requests that arrived, never on how long something took, but for the one
pause that a server asked for. A dialect also fails when one of its requests breaks the vendor's own types, or when few
were looked at.
"""
import argparse
import json
import os
import pathlib
import queue
import subprocess
import sys
import tempfile
import threading
import traceback
import urllib.request

# Each dialect with its entry: type, and the object of that type. Of a server it takes the plain address or, with the
# paths of Azure, the one over HTTPS.
DIALECTS = {
    "openai_chat": lambda at, model, key: ("openai_compatible", {
        "base_url": at.plain + "/v1", "model": model, "api_key": key, "api": "chat_completions"}),
    "openai_responses": lambda at, model, key: ("openai_compatible", {
        "base_url": at.plain + "/v1", "model": model, "api_key": key, "api": "responses"}),
    "azure_responses": lambda at, model, key: ("azure_openai", {
        "endpoint": at.tls, "model": "public-name", "deployment": model, "api_key": key, "api_version": "preview"}),
    "anthropic": lambda at, model, key: ("anthropic", {"base_url": at.plain, "model": model, "api_key": key}),
}
CHECKED = 12  # requests of a dialect that the gate must have seen

WAIT = 120  # seconds until a record that does not come counts as missing
ZERO = {"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
        "reasoning_output_tokens": 0, "total_tokens": 0}


def unique(pairs):
    """An object without repeated names."""
    doc = dict(pairs)
    if len(doc) != len(pairs):
        raise ValueError("repeated names in %s" % [name for name, _ in pairs])
    return doc


def matches(record, **members):
    return all(record.get(name) == value for name, value in members.items())


def write_auth(path, entry):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump({"version": 2, "providers": [entry]}, file)


class Server:
    """A server, the gate before it, and the HTTPS server before that."""

    def __init__(self, bare, plain, tls, ca):
        self.bare, self.plain, self.tls, self.ca = bare, plain, tls, ca

    def counts(self):
        """How many requests the gate found valid and not, so far."""
        return fetch(self.plain + "/__gate")


def fetch(url, body=None):
    """A JSON document; with a body by POST."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=WAIT) as reply:
        return json.load(reply)


class Options:
    """What a test is given: the programs, the servers and the dialect."""

    def __init__(self, arguments, dialect):
        self.agent, self.force_call = arguments.agent, arguments.force_call
        self.work, self.key, self.dialect = arguments.work, arguments.key, dialect
        self.mock, self.model = Server(*arguments.mock), Server(*arguments.model)

    def entry(self, server, model, **changes):
        """The provider entry of the dialect; `changes` go into the object of its type."""
        kind, own = DIALECTS[self.dialect](server, model, self.key)
        return {"id": "counterpart", "type": kind, "ca_file": server.ca, kind: {**own, **changes}}


class Agent:
    """One agent process: what it is told, what it says, how it ends."""

    started = []  # all of them, so that a failed test leaves none running

    def __init__(self, options, entry, *arguments, **environment):
        self.key, self.entry = options.key, entry
        self.folder = tempfile.TemporaryDirectory(prefix="agentx-")
        home = os.path.join(self.folder.name, "home")
        os.mkdir(home, 0o700)
        write_auth(os.path.join(home, "auth.json"), entry)
        command = [options.agent, "--print", "--input-format", "stream-json", "--output-format", "stream-json",
                   "--cwd", options.work, *arguments]
        env = {"PATH": os.environ["PATH"], "HOME": self.folder.name, "AGENTX_HOME": home,
               "TMPDIR": self.folder.name, "LANG": "C.UTF-8", **environment}
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        Agent.started.append(self.process)
        self.records, self.fresh, self.stderr, self.raw = [], queue.Queue(), [], []
        self.readers = [threading.Thread(target=self._read_stdout, daemon=True),
                        threading.Thread(target=self._read_stderr, daemon=True)]
        for reader in self.readers:
            reader.start()

    def _read_stdout(self):
        for line in self.process.stdout:
            self.raw.append(line)
            try:
                self.fresh.put(json.loads(line.decode("utf-8"), object_pairs_hook=unique))
            except ValueError as error:
                self.fresh.put({"type": "no record", "line": repr(line), "error": str(error)})
        self.fresh.put(None)

    def _read_stderr(self):
        for line in self.process.stderr:
            self.stderr.append(line)

    def tell(self, record):
        self.process.stdin.write(json.dumps(record).encode() + b"\n")
        self.process.stdin.flush()

    def prompt(self, text):
        self.tell({"type": "user", "message": {"role": "user", "content": text}, "parent_tool_use_id": None})

    def next(self):
        """The next record; None at the end."""
        try:
            record = self.fresh.get(timeout=WAIT)
        except queue.Empty:
            self.process.kill()
            raise AssertionError("no record within %d s after %s" % (WAIT, self.records[-3:])) from None
        if record is not None:
            self.records.append(record)
        return record

    def until(self, **members):
        """Reads up to the first record with these members and returns it."""
        while (record := self.next()) is not None:
            if matches(record, **members):
                return record
        raise AssertionError("no record with %s, but %s; stderr: %s" % (members, self.records, self.stderr))

    def answer(self, question, payload):
        self.tell({"type": "control_response", "response": {
            "subtype": "success", "request_id": question["request_id"], "response": payload}})

    def end(self):
        """Ends the input, reads what still comes, checks what holds for every session, returns the exit status."""
        self.process.stdin.close()
        while self.next() is not None:
            pass
        status = self.process.wait(timeout=WAIT)
        for reader in self.readers:
            reader.join(WAIT)
        said = b"".join(self.raw + self.stderr)
        assert self.key.encode() not in said, "the key stands in the output"
        assert all(line.endswith(b"\n") for line in self.raw), "the last record has no newline"
        assert b"panicked" not in said, said
        first = self.records[0]
        assert matches(first, type="system", subtype="init"), first
        assert first["provider"] == "counterpart" and first["provider_type"] == self.entry["type"], first
        assert first["model"] == self.entry[self.entry["type"]]["model"], first
        session = [r for r in self.records if not r["type"].startswith("control_")]
        assert all(r.get("session_id") == first["session_id"] for r in session), "several sessions"
        uuids = [r["uuid"] for r in session]
        assert len(set(uuids)) == len(uuids), "a uuid stands twice"
        self.folder.cleanup()
        return status

    def of(self, kind):
        return [r for r in self.records if r["type"] == kind]

    def blocks(self):
        """All content blocks of the assistant records, in order."""
        return [block for r in self.of("assistant") for block in r["message"]["content"]]

    def tool_results(self):
        return [block for r in self.of("user") for block in r["message"]["content"] if block["type"] == "tool_result"]


def arrived(options, prompt):
    """The requests at the scripted server whose last user message is this prompt, in the order of their arrival. It
    writes those of every dialect in the form of Chat Completions."""
    def last_prompt(body):
        said = [text_of(m["content"]) for m in body["messages"] if m["role"] == "user"]
        return [text for text in said if text][-1]

    journal = fetch(options.mock.bare + "/__aimock/journal")
    return [entry for entry in journal if last_prompt(entry["body"]) == prompt]


def text_of(content):
    """The text of a tool result, whichever way it is written."""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or [])


def success(result, text, turns):
    expected = {"subtype": "success", "is_error": False, "result": text, "num_turns": turns,
                "stop_reason": "end_turn", "total_cost_usd": None, "permission_denials": []}
    found = {name: result.get(name) for name in expected}
    assert found == expected, "result %s, want %s" % (found, expected)


def one(items):
    assert len(items) == 1, items
    return items[0]


def real_text(options):
    """A text answer of the real model, piece by piece and whole, with the tokens that its server counted."""
    agent = Agent(options, options.entry(options.model, "smollm2-135m"), "--include-partial-messages")
    agent.prompt("What is the capital of France? Answer in one word.")
    result = agent.until(type="result")
    assert agent.end() == 0
    text = result["result"]
    assert "Paris" in text, result
    success(result, text, 1)
    usage = result["usage"]
    assert usage["input_tokens"] > 42 and usage["output_tokens"] > 1, usage
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"], usage
    assert agent.blocks() == [{"type": "text", "text": text}], agent.blocks()
    events = [r["event"] for r in agent.of("stream_event")]
    deltas = [e["delta"]["text"] for e in events if e["type"] == "content_block_delta"]
    assert len(deltas) > 1 and "".join(deltas) == text, deltas
    assert one(agent.of("result")) is result


def real_call(options):
    """A forced tool call of the real model, through the adapter and the HTTP exchange."""
    with tempfile.TemporaryDirectory(prefix="agentx-") as folder:
        auth = os.path.join(folder, "auth.json")
        write_auth(auth, options.entry(options.model, "smollm2-135m"))
        done = subprocess.run([options.force_call, auth, "What is the weather in Paris?"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=WAIT,
                              env={"PATH": os.environ["PATH"]})
    assert done.returncode == 0, done
    lines = done.stdout.decode().splitlines()
    call = json.loads(one(lines))
    assert call == {"name": "get_weather", "input": {"city": "Paris"}}, call


def mock_text(options):
    """Two prompts of one session; the second request carries the first exchange."""
    agent = Agent(options, options.entry(options.mock, "mock-model"))
    agent.prompt("say hello")
    success(agent.until(type="result"), "Hello from the mock.", 1)
    agent.prompt("please say hello")
    success(agent.until(type="result"), "Hello from the mock.", 1)
    assert agent.end() == 0
    body = one(arrived(options, "please say hello"))["body"]
    talk = [(m["role"], text_of(m["content"])) for m in body["messages"] if m["role"] != "system"]
    assert talk == [("user", "say hello"), ("assistant", "Hello from the mock."), ("user", "please say hello")], talk
    assert body["model"] == "mock-model" and body["stream"] is True, body


def tool_call(options, prompt, name, given, answer, *arguments):
    """A turn of one tool call that nobody is asked about; the text of its result."""
    agent = Agent(options, options.entry(options.mock, "mock-model"), *arguments)
    agent.prompt(prompt)
    success(agent.until(type="result"), answer, 2)
    assert agent.end() == 0
    call = one([b for b in agent.blocks() if b["type"] == "tool_use"])
    assert (call["name"], call["input"]) == (name, given), call
    result = one(agent.tool_results())
    assert (result["tool_use_id"], result["is_error"]) == (call["id"], False), result
    first, second = (entry["body"] for entry in arrived(options, prompt))
    assert name in [tool["function"]["name"] for tool in first["tools"]], first["tools"]
    asked, told = second["messages"][-2:]
    sent = one(asked["tool_calls"])
    assert (sent["id"], sent["function"]["name"]) == (call["id"], name), sent
    assert json.loads(sent["function"]["arguments"]) == given, sent
    assert (told["role"], told["tool_call_id"]) == ("tool", call["id"]), told
    assert text_of(told["content"]) == text_of(result["content"]), (told, result)
    return text_of(result["content"])


def mock_time(options):
    """A tool without side effects runs without a question."""
    said = tool_call(options, "tell the time", "CurrentTime", {"timezone": "UTC"}, "The clock has been read.")
    assert said, "the tool said nothing"


def mock_read(options):
    """What a tool reads reaches the model: the answer is only given for the right text."""
    path = pathlib.Path(options.work, "note.txt")
    path.write_text("seventeen apples\n")
    said = tool_call(options, "read the note", "Read", {"file_path": str(path)}, "The note tells of seventeen apples.")
    assert "seventeen apples" in said, said


def mock_batch(options):
    """Text and two calls in one answer: a record for each block, results for both, told in call order."""
    pathlib.Path(options.work, "note.txt").write_text("seventeen apples\n")
    agent = Agent(options, options.entry(options.mock, "mock-model"))
    agent.prompt("do both")
    success(agent.until(type="result"), "Both are done.", 2)
    assert agent.end() == 0
    kinds = [(b["type"], b.get("name") or b["text"]) for b in agent.blocks()]
    assert kinds == [("text", "Two calls follow."), ("tool_use", "Read"), ("tool_use", "CurrentTime"),
                     ("text", "Both are done.")], kinds
    ids = [b["id"] for b in agent.blocks() if b["type"] == "tool_use"]
    assert len({r["message"]["id"] for r in agent.of("assistant")}) == 2, "one message id an answer"
    assert sorted(r["tool_use_id"] for r in agent.tool_results()) == sorted(ids), agent.tool_results()
    second = arrived(options, "do both")[1]["body"]
    assert [m["tool_call_id"] for m in second["messages"] if m["role"] == "tool"] == ids, second["messages"]


def asked(options, payload):
    """A turn whose Write asks the host, which answers with this payload."""
    path = pathlib.Path(options.work, "list.txt")
    path.unlink(missing_ok=True)
    agent = Agent(options, options.entry(options.mock, "mock-model"))
    agent.prompt("write the list")
    question = agent.until(type="control_request")
    assert matches(question["request"], subtype="can_use_tool", tool_name="Write",
                   input={"file_path": str(path), "content": "pears\n"}), question
    assert not path.exists(), "the tool ran before the answer"
    agent.answer(question, payload)
    result = agent.until(type="result")
    assert agent.end() == 0
    told = one(agent.tool_results())
    assert told["tool_use_id"] == question["request"]["tool_use_id"], told
    return path, result, told


def mock_allow(options):
    """An allowed call runs once, after the answer."""
    path, result, told = asked(options, {"behavior": "allow", "updatedInput": {}})
    success(result, "The list has been seen to.", 2)
    assert path.read_text() == "pears\n" and told["is_error"] is False, told


def mock_deny(options):
    """A denied call does not run, and the result names it."""
    path, result, told = asked(options, {"behavior": "deny", "message": "not today"})
    assert matches(result, subtype="success", result="The list has been seen to."), result
    denied = one(result["permission_denials"])
    assert (denied["tool_name"], denied["tool_use_id"]) == ("Write", told["tool_use_id"]), denied
    assert not path.exists() and told["is_error"] is True and "not today" in text_of(told["content"]), told


def retried(options, prompt, answer, status):
    """A turn whose first request fails with this status; the two requests."""
    agent = Agent(options, options.entry(options.mock, "mock-model"))
    agent.prompt(prompt)
    success(agent.until(type="result"), answer, 1)
    assert agent.end() == 0
    assert agent.blocks() == [{"type": "text", "text": answer}], agent.blocks()
    assert not [r for r in agent.of("system") if r["subtype"] == "api_retry"], "a retry shows on stdout"
    assert agent.stderr, "a retry is silent"
    tries = arrived(options, prompt)
    assert [t["response"]["status"] for t in tries] == [status, 200], tries
    assert tries[0]["body"] == tries[1]["body"], "the second try differs"
    return tries


def mock_429(options):
    """A full server is asked again after the pause that it names."""
    first, second = retried(options, "too many requests", "Now there is room.", 429)
    pause = second["timestamp"] - first["timestamp"]
    assert pause >= 950, "%d ms instead of a second" % pause


def mock_500(options):
    """A server error is tried again."""
    retried(options, "fail once", "The second try works.", 500)


def mock_401(options):
    """A refused key is told by its category, is not tried again, and is never shown."""
    agent = Agent(options, options.entry(options.mock, "mock-model"))
    agent.prompt("refuse the key")
    result = agent.until(type="result")
    assert agent.end() == 1
    assert matches(result, subtype="error_during_execution", is_error=True, stop_reason="provider_error"), result
    shown = one(agent.of("assistant"))
    assert shown["error"] == "authentication_failed", shown
    assert one(shown["message"]["content"])["text"] == "API error: authentication_failed (status 401)", shown
    assert len(arrived(options, "refuse the key")) == 1


def mock_cut(options):
    """A stream that breaks off is an error, what came before it is kept, and the session goes on."""
    agent = Agent(options, options.entry(options.mock, "mock-model"))
    agent.prompt("cut the answer")
    result = agent.until(type="result")
    assert matches(result, subtype="error_during_execution", is_error=True, stop_reason="provider_error"), result
    assert result["errors"] and "result" not in result, result
    kept, shown = agent.of("assistant")
    text = one(kept["message"]["content"])["text"]
    assert "This answer is cut long before its end has been sent.".startswith(text) and text, kept
    assert shown["error"] == "server_error", shown
    agent.prompt("say hello")
    success(agent.until(type="result"), "Hello from the mock.", 1)
    assert agent.end() == 0


def mock_early_cut(options):
    """A connection that ends before the answer begins is tried again, and in the end told."""
    agent = Agent(options, options.entry(options.mock, "mock-model"))
    agent.prompt("hang up early")
    result = agent.until(type="result")
    assert agent.end() == 1
    assert matches(result, subtype="error_during_execution", is_error=True, stop_reason="provider_error"), result
    assert one(agent.of("assistant"))["error"] == "server_error", agent.of("assistant")
    assert len(agent.stderr) == 3, agent.stderr
    assert len(arrived(options, "hang up early")) == 4


def mock_slow(options):
    """A slow answer comes piece by piece."""
    agent = Agent(options, options.entry(options.mock, "mock-model"), "--include-partial-messages")
    agent.prompt("speak slowly")
    success(agent.until(type="result"), "slow slow slow slow", 1)
    assert agent.end() == 0
    events = [r["event"] for r in agent.of("stream_event")]
    deltas = [e["delta"]["text"] for e in events if e["type"] == "content_block_delta"]
    assert len(deltas) == 4 and "".join(deltas) == "slow slow slow slow", deltas


def mock_thinking(options):
    """Reasoning is a block of its own before the text; the effort is asked for in the way of the dialect."""
    entry = options.entry(options.mock, "mock-model")
    entry["capabilities"] = {"reasoning": {"efforts": ["low", "high"], "default_effort": "low"}}
    agent = Agent(options, entry, "--effort", "high", "--include-partial-messages")
    agent.prompt("think first")
    success(agent.until(type="result"), "Forty-two.", 1)
    agent.prompt("say hello")
    success(agent.until(type="result"), "Hello from the mock.", 1)
    assert agent.end() == 0
    # Reasoning that is sealed may come without a word; it goes back with the second request.
    first, second, third = [block for block in agent.blocks() if block.get("thinking") != ""]
    assert (first["type"], first["thinking"]) == ("thinking", "Six times seven."), first
    assert second == {"type": "text", "text": "Forty-two."} and third["text"] == "Hello from the mock."
    events = [r["event"] for r in agent.of("stream_event")]
    deltas = [e["delta"] for e in events if e["type"] == "content_block_delta"]
    assert "".join(d.get("thinking", "") for d in deltas) == "Six times seven.", deltas
    signed = [d["signature"] for d in deltas if d["type"] == "signature_delta"]
    assert signed == [b["signature"] for b in agent.blocks() if b.get("signature")], signed
    assert signed or options.dialect != "anthropic", "the signature is lost"
    told = agent.records[0]["reasoning_capabilities"]
    assert told == {"supported": True, "efforts": ["low", "high"], "defaultEffort": "low"}, told


def asks_over_tls(options, entry, **environment):
    """The result of one prompt and what stderr says."""
    agent = Agent(options, entry, **environment)
    agent.prompt("say hello")
    result = agent.until(type="result")
    agent.end()
    return result, b"".join(agent.stderr).decode()


def refusal(options, entry):
    """The exit status and the words of a process that tells no record."""
    agent = Agent(options, entry)
    assert agent.next() is None, agent.records
    status = agent.process.wait(timeout=WAIT)
    for reader in agent.readers:
        reader.join(WAIT)
    agent.folder.cleanup()
    return status, b"".join(agent.stderr).decode()


def over_tls(options):
    """The same entry over HTTPS: it is trusted by `ca_file` or by SSL_CERT_FILE, and not without."""
    kind, own = DIALECTS[options.dialect](options.mock, "mock-model", options.key)
    place = next(name for name in ("endpoint", "base_url") if name in own)
    trusting = options.entry(options.mock, "mock-model", **{
        place: own[place].replace(options.mock.plain, options.mock.tls)})
    doubting = {name: value for name, value in trusting.items() if name != "ca_file"}
    success(asks_over_tls(options, trusting)[0], "Hello from the mock.", 1)
    success(asks_over_tls(options, doubting, SSL_CERT_FILE=options.mock.ca)[0], "Hello from the mock.", 1)
    result, _ = asks_over_tls(options, doubting)
    assert matches(result, subtype="error_during_execution", stop_reason="provider_error"), result
    assert "certificate" in one(result["errors"]), result
    status, said = refusal(options, {**trusting, "ca_file": options.mock.ca + ".not"})
    assert status == 2 and 'id "counterpart": ca_file: ' in said, (status, said)


def azure_versions(options):
    """Every form of `api_version` and of the endpoint finds its route; a wrong key is told as such."""
    if options.dialect != "azure_responses":
        return
    for version in ("", "v1", "preview", "2025-04-01-preview"):
        for path in ("", "/openai/v1/"):
            entry = options.entry(options.mock, "mock-model", api_version=version, endpoint=options.mock.tls + path)
            success(asks_over_tls(options, entry)[0], "Hello from the mock.", 1)
    entry = options.entry(options.mock, "mock-model", api_key="sk-another-0123456789")
    result, _ = asks_over_tls(options, entry)
    assert "status 401" in one(result["errors"]), result


TESTS = [real_text, real_call, mock_text, mock_time, mock_read, mock_batch, mock_allow, mock_deny, mock_429, mock_500,
         mock_401, mock_cut, mock_early_cut, mock_slow, mock_thinking, over_tls, azure_versions]


def run(options):
    """All tests in one dialect; how many failed."""
    failed = 0
    for test in TESTS:
        try:
            test(options)
            verdict, trace = "pass", ""
        except Exception:
            failed += 1
            verdict, trace = "FAIL", "\n" + traceback.format_exc()
        print("%s  %-16s %-14s %s%s" % (verdict, options.dialect, test.__name__, test.__doc__.split("\n")[0], trace),
              flush=True)
        while Agent.started:
            Agent.started.pop().kill()
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("--agent", "--force-call", "--work", "--key", "--fixtures"):
        parser.add_argument(name, required=True)
    for name in ("--mock", "--model"):
        parser.add_argument(name, required=True, nargs=4, metavar=("SERVER", "GATE", "HTTPS", "CA"))
    parser.add_argument("dialects", nargs="*", metavar="DIALECT", help=", ".join(DIALECTS))
    arguments = parser.parse_args()
    dialects = arguments.dialects or list(DIALECTS)
    if unknown := set(dialects) - set(DIALECTS):
        parser.error("expected some of %s, not %s" % (", ".join(DIALECTS), ", ".join(sorted(unknown))))
    with open(arguments.fixtures, encoding="utf-8") as file:
        fixtures = json.load(file)
    failed = 0
    for dialect in dialects:
        options = Options(arguments, dialect)
        # Counters and journal begin anew.
        fetch(options.mock.bare + "/__aimock/reset", {})
        fetch(options.mock.bare + "/__aimock/fixtures", fixtures)
        before = [server.counts() for server in (options.mock, options.model)]
        failed += run(options)
        after = [server.counts() for server in (options.mock, options.model)]
        valid, invalid = (sum(a[name] - b[name] for a, b in zip(after, before)) for name in ("valid", "invalid"))
        good = valid >= CHECKED and invalid == 0
        failed += not good
        print("%s  %-16s requests held against the vendor's types: %d valid, %d invalid"
              % ("pass" if good else "FAIL", dialect, valid, invalid), flush=True)
    print("%d passed, %d failed" % (len(dialects) * (len(TESTS) + 1) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
