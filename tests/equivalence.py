#!/usr/bin/env python3
"""Every driver gives the same session: the black-box cases, run with each and held against each other.

usage: equivalence.py AGENT [--drivers tokio,async-std,mio] [--keep FOLDER]
       equivalence.py --self-test

Each driver runs all cases of tests/cases.py, its own hosts' and those of existing hosts, and must pass them. What passed
over stdin, stdout, stderr and to the model, and the exit status, must then be equal to that of the first driver. Made
alike before that are ids (numbered in the order in which they first appear, so two must not be confused), times, the
pid, the port and the folder of the case.

Calls of tools run beside each other, so which of two ends first says nothing about a driver. A *barrier* is any record
that does not belong to one call of a tool: an assistant record, a result, a control response, a state, and so on.
Barriers keep their order. Between two of them the records of one call keep their order, and those of several calls are
compared as a set. A case whose host closes stdout is compared as far as both hosts read.

The last line is `N compared, N differ, N skipped`. The status is 0 when nothing differs and nothing was skipped. Each run
first changes recordings of its own and fails when it does not see that. With --keep the recordings stay in FOLDER.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = pathlib.Path(os.environ.get("AGENTX_SHARED", ROOT.parent / "shared"))
DRIVERS = ("tokio", "async-std", "mio")
KINDS = {"own hosts": [], "existing hosts": ["--reference"]}

IDS = re.compile(
    r"\b(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"  # UUIDs
    r"|(?:req|msg|toolu)_[0-9a-f]{32}"  # requests, messages and calls that the agent names
    r"|task_[0-9a-f]{16})\b"  # background tasks
)
TIMES = re.compile(r'("(?:duration_ms|duration_api_ms|elapsed_time_seconds|timestamp)":)(?:[0-9.]+|"[^"]*")')
PID = re.compile(r'("pid":)[0-9]+')
FOLDER_OF_TASKS = re.compile(r"agentx-tasks-[0-9]+-[0-9]+")


class Transcript:
    """One run of a case, with all that may differ between two runs made alike."""

    def __init__(self, streams):
        self.root, self.port = streams["root"], streams["port"]
        self.numbers = {}
        stdout = self.ordered([self.plain(line) for line in lines_of(streams["stdout"])])
        self.parts = {
            "stdout": [self.numbered(line) for line in stdout],
            "stdin": [self.numbered(self.plain(line)) for line in lines_of(streams["stdin"])],
            "stderr": [self.numbered(self.plain(line)) for line in lines_of(streams["stderr"])],
            "requests": [self.numbered(self.plain(" ".join(request))) for request in streams["requests"]],
            "status": ["exit status %s" % streams["status"]],
        }

    def plain(self, text):
        """`text` without what a run has for itself, apart from ids."""
        text = text.replace(self.root, "/ROOT").replace("127.0.0.1:%d" % self.port, "127.0.0.1:PORT")
        text = FOLDER_OF_TASKS.sub("agentx-tasks-PID", text)
        return PID.sub(r"\g<1>0", TIMES.sub(r"\g<1>0", text))

    def numbered(self, text):
        def number(found):
            return "ID%d" % self.numbers.setdefault(found.group(0), len(self.numbers) + 1)
        return IDS.sub(number, text)

    @staticmethod
    def ordered(lines):
        """The records, those of independent calls between two barriers in an order of their own."""
        out, chains, calls = [], {}, {}

        def close():
            # By what they say without ids, which are numbered only once the order is known.
            for chain in sorted(chains.values(), key=lambda chain: [IDS.sub("ID", line) for line in chain]):
                out.extend(chain)
            chains.clear()

        for line in lines:
            call = call_of(line, calls)
            if call is None:
                close()
                out.append(line)
            else:
                chains.setdefault(call, []).append(line)
        close()
        return out


def lines_of(text):
    """The lines of a stream: a record may hold what Python takes for the end of a line as well."""
    return text.removesuffix("\n").split("\n") if text else []


def call_of(line, calls):
    """The call of a tool that a record belongs to; None for a barrier. `calls` keeps which request asks about which."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    kind = record.get("type")
    if kind == "control_request":
        call = (record.get("request") or {}).get("tool_use_id")
        calls[record.get("request_id")] = call
        return call
    if kind == "control_cancel_request":
        return calls.get(record.get("request_id"))
    if kind == "user":
        content = (record.get("message") or {}).get("content")
        blocks = content if isinstance(content, list) else []
        of = [block.get("tool_use_id") for block in blocks if block.get("type") == "tool_result"]
        return of[0] if len(of) == 1 else None
    if kind == "tool_progress" or kind == "system" and str(record.get("subtype")).startswith("task_"):
        return record.get("tool_use_id")
    return None


def difference(one, other, early):
    """What differs between two transcripts, in words; None where nothing does. `early`: stdout is read in part only."""
    for part, lines in one.parts.items():
        others = other.parts[part]
        if early and part == "stdout":
            common = min(len(lines), len(others))
            lines, others = lines[:common], others[:common]
        for number, (left, right) in enumerate(zip(lines, others), 1):
            if left != right:
                at = next((i for i, (a, b) in enumerate(zip(left, right)) if a != b), min(len(left), len(right)))
                begin = max(0, at - 80)
                return "%s, line %d:\n    %s\n    %s" % (part, number, left[begin:at + 120], right[begin:at + 120])
        if len(lines) != len(others):
            return "%s has %d and %d lines" % (part, len(lines), len(others))
    return None


# ---- the proof that it can fail --------------------------------------------------------------------------------------


def streams(*records, root="/tmp/a", port=1000, stdin="", requests=()):
    stdout = "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)
    return {"stdin": stdin, "stdout": stdout, "stderr": "", "status": 0, "requests": list(requests),
            "root": root, "port": port, "pid": 1}


def same(one, other):
    return difference(Transcript(one), Transcript(other), False) is None


def check_rules():
    """The rules of the comparison, on transcripts made for it."""
    first, second = ("%08d-0000-4000-8000-000000000000" % number for number in (1, 2))
    text = {"type": "assistant", "message": {"content": [{"type": "text", "text": "hi"}]}}
    ask = [{"type": "control_request", "request_id": "req_" + letter * 32,
            "request": {"subtype": "can_use_tool", "tool_use_id": "call-" + letter}} for letter in "ab"]
    cancel = [{"type": "control_cancel_request", "request_id": request["request_id"]} for request in ask]
    done = [{"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "call-" + letter}]}}
            for letter in "ab"]
    begun = streams(text, {"type": "result", "uuid": first, "duration_ms": 5})
    seen = [
        (True, begun, streams(text, {"type": "result", "uuid": second, "duration_ms": 70})),
        (True, streams({"cwd": "/tmp/a/x"}), streams({"cwd": "/tmp/b/x"}, root="/tmp/b")),
        (False, begun, streams(text, {"type": "result", "uuid": first, "duration_ms": 5, "more": 1})),
        (False, begun, streams(text)),
        (False, begun, dict(begun, status=1)),
        (False, begun, dict(begun, stderr="agentx: warning: x\n")),
        (False, begun, dict(begun, stdin="{}\n")),
        (False, begun, dict(begun, requests=[["/v1", "{}"]])),
        # Two ids that are confused.
        (False, streams({"uuid": first}, {"of": first}), streams({"uuid": first}, {"of": second})),
        # Independent calls, and the records of one.
        (True, streams(text, *ask, *done, text), streams(text, ask[1], done[1], ask[0], done[0], text)),
        (True, streams(*ask, *cancel, text), streams(*ask, cancel[1], cancel[0], text)),
        (False, streams(text, ask[0], done[0], text), streams(text, done[0], ask[0], text)),
        # Nothing passes a barrier.
        (False, streams(text, *done, text), streams(text, done[0], text, done[1])),
        (False, streams(text, {"type": "result"}), streams({"type": "result"}, text)),
        (False, streams(done[0], text), streams(done[1], text)),
    ]
    for number, (wanted, one, other) in enumerate(seen):
        if same(one, other) != wanted:
            sys.exit("self-test: rule %d: expected %s" % (number, "no difference" if wanted else "a difference"))


def check_recording(name, recorded, early):
    """A change anywhere in a recording is seen."""
    whole = Transcript(recorded)
    lines = [line + "\n" for line in lines_of(recorded["stdout"])]
    for at in sorted({0, len(lines) // 2, len(lines) - 1} if lines else ()):
        changed = lines[at].replace('"type"', '"typf"', 1)
        other = dict(recorded, stdout="".join(lines[:at] + [changed] + lines[at + 1:]))
        if changed == lines[at] or difference(whole, Transcript(other), early) is None:
            sys.exit("self-test: %s: a change of record %d is not seen" % (name, at + 1))
    if lines and not early:
        other = dict(recorded, stdout="".join(lines[:-1]))
        if difference(whole, Transcript(other), early) is None:
            sys.exit("self-test: %s: a lost record is not seen" % name)
    for part, value in (("stdin", "x\n"), ("stderr", "x\n"), ("requests", [["/x", "{}"]])):
        other = dict(recorded, **{part: recorded[part] + value})
        if difference(whole, Transcript(other), early) is None:
            sys.exit("self-test: %s: more on %s is not seen" % (name, part))


# ---- runs ------------------------------------------------------------------------------------------------------------


def run(agent, driver, kind, folder):
    """Runs the cases of one kind with one driver; gives their streams by case."""
    out = folder / ("%s-%s.json" % (driver, kind.replace(" ", "-")))
    command = [sys.executable, str(ROOT / "tests" / "cases.py"), agent, *KINDS[kind], "--driver", driver,
               "--json", str(out)]
    # Whether an agent has read what its model has just written is no matter of its driver.
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, "CASES_SETTLE": "1"})
    if done.returncode != 0:
        sys.exit("%s\n%s, %s: not all cases passed" % (done.stdout, driver, kind))
    print("%s, %s: %s" % (driver, kind, done.stdout.strip().splitlines()[-1]), flush=True)
    cases = json.loads(out.read_text(encoding="utf-8"))["cases"]
    return {case["id"]: case["evidence"]["streams"] for case in cases}


def record(agent, drivers, folder):
    """The streams of every case by driver. What mostly waits runs beside the rest."""
    with concurrent.futures.ThreadPoolExecutor(len(drivers) + 1) as pool:
        waiting = [pool.submit(run, agent, driver, "existing hosts", folder) for driver in drivers]
        busy = pool.submit(lambda: [run(agent, driver, "own hosts", folder) for driver in drivers])
        own, existing = busy.result(), [one.result() for one in waiting]
    return {driver: {**one, **other} for driver, one, other in zip(drivers, own, existing)}


def closes_stdout(case):
    steps = json.loads((SHARED / "testing" / "cases" / (case + ".json")).read_text(encoding="utf-8"))["steps"]
    return any(step["do"] == "close_stdout" for step in steps)


def compare(drivers, recorded):
    first, *others = drivers
    compared = differ = skipped = 0
    for case in sorted(set().union(*recorded.values())):
        if any(case not in recorded[driver] for driver in drivers):
            print("skipped  %s: not every driver ran it" % case)
            skipped += 1
            continue
        early = closes_stdout(case)
        base = Transcript(recorded[first][case])
        found = []
        for driver in others:
            fault = difference(base, Transcript(recorded[driver][case]), early)
            if fault:
                found.append("%s against %s, %s" % (first, driver, fault))
            check_recording("%s with %s" % (case, driver), recorded[driver][case], early)
        compared += 1
        differ += bool(found)
        print("%s  %s" % ("DIFFERS" if found else "equal  ", case))
        for fault in found:
            print("  " + fault)
    print("\n%d compared, %d differ, %d skipped" % (compared, differ, skipped))
    return 0 if compared and not differ and not skipped else 1


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("agent", nargs="?")
    parser.add_argument("--drivers", default=",".join(DRIVERS))
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    check_rules()
    if options.self_test:
        print("the rules hold")
        return 0
    drivers = options.drivers.split(",")
    if not options.agent or len(drivers) < 2 or len(set(drivers)) < len(drivers):
        parser.error("an agent and at least two drivers are needed, each named once")
    with tempfile.TemporaryDirectory(prefix="equivalence-") as scratch:
        folder = options.keep or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        return compare(drivers, record(options.agent, drivers, folder))


if __name__ == "__main__":
    sys.exit(main())
