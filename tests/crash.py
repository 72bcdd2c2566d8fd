#!/usr/bin/env python3
"""Kills the agent in the middle of its work, again and again, and looks at what is left (DEC-32).

usage: crash.py AGENT [--kills N] [--seed S]

Each round starts a session in one and the same home folder, gives it turns with tool calls, and sends SIGKILL at a
moment that the seed chooses: behind the n-th record that came, at once or a little later. Then it holds the store
against what the process had said and done:

- every result that was seen on stdout is stored, with all entries of its turn;
- every tool that ran is stored as a call, so that nobody runs it again;
- the session is resumed, goes on, and no tool has run twice;
- the database is whole.

At least half of the kills must fall between the first write of a turn and its result.
"""
import argparse
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid

DUPLEX = ["--print", "--input-format", "stream-json", "--output-format", "stream-json",
          "--permission-mode", "bypassPermissions"]
TURNS = 3
# Records of a turn: running, two calls, two results, a call, a result, text, result, idle.
RECORDS = 10


class Failed(Exception):
    """Something is not as it must be."""


def call(token):
    return {"name": "Bash", "input": {"command": "echo %s >> runs" % token}}


def prompt(round_, turn):
    """A turn of three model requests, with two tools side by side and one behind them."""
    token = "r%d-t%d-" % (round_, turn)
    steps = [{"text": "first", "tool_calls": [call(token + "a"), call(token + "b")]},
             {"thinking": ["hm"], "tool_calls": [call(token + "c")]},
             {"text": "done %s" % token}]
    return "SCRIPT " + json.dumps({"steps": steps})


def user(text, prompt_uuid):
    return json.dumps({"type": "user", "uuid": prompt_uuid, "parent_tool_use_id": None,
                       "message": {"role": "user", "content": text}}) + "\n"


class Bench:
    def __init__(self, agent, root, seed):
        self.agent, self.rng = agent, random.Random(seed)
        self.home, self.work = root / "home", root / "work"
        self.home.mkdir(mode=0o700)
        self.work.mkdir()
        registry = self.home / "auth.json"
        entry = {"id": "main", "type": "scripted", "scripted": {"model": "m", "from_prompt": True}}
        registry.write_text(json.dumps({"version": 2, "providers": [entry]}))
        registry.chmod(0o600)
        self.environment = {"AGENTX_HOME": str(self.home), "PATH": "/usr/bin:/bin", "TMPDIR": str(root)}
        self.acknowledged = self.found = self.between = 0

    def spawn(self, options):
        return subprocess.Popen([self.agent, *options], cwd=self.work, env=self.environment, text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def killed_session(self, round_):
        """Runs a session up to the kill; gives its records and the uuids of its prompts."""
        process = self.spawn(DUPLEX)
        uuids = [str(uuid.UUID(int=self.rng.getrandbits(128), version=4)) for _ in range(TURNS)]
        process.stdin.write("".join(user(prompt(round_, turn), uuids[turn]) for turn in range(TURNS)))
        process.stdin.flush()
        moment = 1 + self.rng.randrange(TURNS * RECORDS)
        delay = self.rng.choice([0, 0, self.rng.uniform(0, 0.004)])
        records = []
        for line in process.stdout:
            records.append(json.loads(line))
            if len(records) > moment:
                break
        time.sleep(delay)
        os.kill(process.pid, signal.SIGKILL)
        # What it had written before it died counts as well; its last line may be cut.
        records += [json.loads(line) for line in process.stdout if line.endswith("\n")]
        process.wait()
        process.stdin.close()
        return records, uuids

    def ask(self, options, stdin=""):
        process = self.spawn(options)
        stdout, stderr = process.communicate(stdin, timeout=60)
        return process.returncode, stdout, stderr

    def entries(self, session_id):
        """The stored entries of a session; none if it is not there."""
        status, stdout, stderr = self.ask(["sessions", "show", session_id, "--output-format", "json"])
        if status == 1 and "no stored session" in stderr:
            return []
        if status != 0:
            raise Failed("sessions show: status %s, %s" % (status, stderr))
        return json.loads(stdout)["entries"]

    def runs(self):
        path = self.work / "runs"
        return path.read_text().split() if path.exists() else []

    def round(self, number):
        records, uuids = self.killed_session(number)
        session_id = records[0]["session_id"]
        entries = self.entries(session_id)
        told = [r["prompt_uuid"] for r in records if r["type"] == "result"]
        ended = [e["prompt_uuid"] for e in entries if e["type"] == "turn"]
        begun = [e["uuid"] for e in entries if e["type"] == "prompt"]
        self.acknowledged += len(told)
        self.found += len([u for u in told if u in ended])
        if told != ended[:len(told)]:
            raise Failed("results of %s were seen, and of %s stored" % (told, ended))
        if begun != uuids[:len(begun)]:
            raise Failed("the prompts %s are stored, of %s" % (begun, uuids))
        self.between += any(u not in told for u in begun)
        calls = [block["input"]["command"].split()[1] for e in entries if e["type"] == "answer"
                 for block in e["content"] if block["type"] == "tool_use"]
        mine = [token for token in self.runs() if token.startswith("r%d-" % number)]
        unknown = set(mine) - set(calls)
        if unknown:
            raise Failed("tools ran that the store does not know: %s" % unknown)
        if begun:
            self.resume(session_id, number)
        runs = self.runs()
        twice = {token for token in runs if runs.count(token) > 1}
        if twice:
            raise Failed("tools ran twice: %s" % twice)

    def resume(self, session_id, number):
        text = prompt(number, TURNS)
        status, stdout, stderr = self.ask([*DUPLEX, "--resume", session_id], user(text, str(uuid.uuid4())))
        records = [json.loads(line) for line in stdout.splitlines()]
        results = [r for r in records if r["type"] == "result"]
        if status != 0 or len(results) != 1 or results[0]["is_error"] or records[0]["session_id"] != session_id:
            raise Failed("resuming %s: status %s, %s, %s" % (session_id, status, results, stderr))
        stored = self.entries(session_id)
        if stored[-1]["type"] != "turn" or stored[-1]["prompt_uuid"] != results[0]["prompt_uuid"]:
            raise Failed("the resumed turn of %s is not stored" % session_id)

    def check_database(self):
        database = sqlite3.connect(self.home / "sessions" / "store.db")
        told = database.execute("PRAGMA integrity_check").fetchall()
        database.close()
        if told != [("ok",)]:
            raise Failed("the database: %s" % told)


def main():
    options = argparse.ArgumentParser(usage=__doc__)
    options.add_argument("agent")
    options.add_argument("--kills", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    options = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="agentx-crash-") as root:
        bench = Bench(os.path.abspath(options.agent), pathlib.Path(root), options.seed)
        for number in range(options.kills):
            try:
                bench.round(number)
            except Failed as failed:
                sys.exit("kill %d of seed %d: %s" % (number, options.seed, failed))
        bench.check_database()
    print("%d kills, %d of them between the first write of a turn and its result" % (options.kills, bench.between))
    print("%d results acknowledged, %d found again" % (bench.acknowledged, bench.found))
    if bench.acknowledged != bench.found or bench.acknowledged == 0:
        sys.exit("results were lost, or none was seen")
    if bench.between * 2 < options.kills:
        sys.exit("too few kills fell between a first write and its result")


if __name__ == "__main__":
    main()
