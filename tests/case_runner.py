#!/usr/bin/env python3
"""The runner of the black-box cases, whose `--json` evidence has every record whole, as `wire`.

Arguments and outcome are those of testing/runner/run_cases.py in $AGENTX_SHARED, by default the folder `shared` beside
the repository.
"""
import json
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = pathlib.Path(os.environ.get("AGENTX_SHARED", ROOT.parent / "shared"))
sys.dont_write_bytecode = True
sys.path.insert(0, str(SHARED / "testing" / "runner"))

import run_cases  # noqa: E402
from caserunner import worker  # noqa: E402

# The runner starts itself again for each case: that has to be this file, too.
run_cases.__file__ = __file__
excerpt = worker.excerpt


def whole(run):
    evidence = excerpt(run)
    if evidence:
        evidence["wire"] = [record.doc for record in run.agent.records]
    return evidence


worker.excerpt = whole

if __name__ == "__main__":
    if sys.argv[1:] == ["--worker"]:
        print(json.dumps(worker.main(json.load(sys.stdin))))
        sys.exit(0)
    try:
        sys.exit(run_cases.main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
