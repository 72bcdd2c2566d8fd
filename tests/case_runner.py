#!/usr/bin/env python3
"""The runner of the black-box cases, whose `--json` evidence has every record whole, as `wire`, and all that went over
the pipes and to the model, as `streams`.

Arguments and outcome are those of testing/runner/run_cases.py in $AGENTX_SHARED, by default the folder `shared` beside
the repository.
"""
import json
import os
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = pathlib.Path(os.environ.get("AGENTX_SHARED", ROOT.parent / "shared"))
sys.dont_write_bytecode = True
sys.path.insert(0, str(SHARED / "testing" / "runner"))

import run_cases  # noqa: E402
from caserunner import driver, provider, worker  # noqa: E402

# The runner starts itself again for each case: that has to be this file, too.
run_cases.__file__ = __file__
excerpt = worker.excerpt
plain_write = driver.Agent._write
plain_wait = provider.Provider.wait
# Seconds between what a model says and what the host does about it. A case that goes on as soon as the model has
# written does not say whether the agent has read that, and what it tells depends on it.
SETTLE = float(os.environ.get("CASES_SETTLE", "0"))


def noting_write(agent, data, within):
    """Notes what the host writes, in its order; what a closed pipe does not take counts as well."""
    agent.__dict__.setdefault("sent", bytearray()).extend(data)
    return plain_write(agent, data, within)


def settled_wait(self, nth, state, within):
    """Waits for the model, and lets the agent read what it said."""
    said = plain_wait(self, nth, state, within)
    time.sleep(SETTLE if said and state == "streaming" else 0)
    return said


def streams(run):
    """What passed between the agent, its host and its model, and what a comparison has to see past."""
    agent = run.agent
    text = lambda data: bytes(data).decode("utf-8", "backslashreplace")  # noqa: E731
    return {
        "stdin": text(getattr(agent, "sent", b"")),
        "stdout": text(agent.stdout),
        "stderr": text(agent.stderr),
        "status": agent.status,
        "requests": [[request.path, text(request.raw)] for request in run.provider.requests],
        "root": run.root,
        "port": run.provider.port,
        "pid": agent.pid,
    }


def whole(run):
    evidence = excerpt(run)
    if evidence:
        evidence["wire"] = [record.doc for record in run.agent.records]
        evidence["streams"] = streams(run)
    return evidence


driver.Agent._write = noting_write
provider.Provider.wait = settled_wait
worker.excerpt = whole

if __name__ == "__main__":
    if sys.argv[1:] == ["--worker"]:
        print(json.dumps(worker.main(json.load(sys.stdin))))
        sys.exit(0)
    try:
        sys.exit(run_cases.main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
