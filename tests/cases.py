#!/usr/bin/env python3
"""Runs the black-box cases of what is built, all of which must pass.

usage: cases.py AGENT [--reference] [OPTION OF THE RUNNER]...

Runner and cases lie in $AGENTX_SHARED, by default the folder `shared` beside the repository. Chosen are the cases of
the profiles `standalone` and `provider`, apart from those that upload attachments; with --reference those of the
profile `reference`. A case that needs one dialect runs with that one, whatever the options say. Options of the runner are
`--driver tokio|async-std|mio`, `--dialect`, `--skip-slow`, `--json FILE` and so on.
"""
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Profiles of the cases, and how many there are of them.
OWN_HOSTS = (("standalone", "provider"), 34)
EXISTING_HOSTS = (("reference",), 7)


def main(agent, *options):
    profiles, expected = OWN_HOSTS
    if "--reference" in options:
        profiles, expected = EXISTING_HOSTS
        options = [option for option in options if option != "--reference"]
    testing = pathlib.Path(os.environ.get("AGENTX_SHARED", ROOT.parent / "shared")) / "testing"
    ids = []
    for path in sorted((testing / "cases").glob("*.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        if case["profile"] in profiles and "input_capabilities" not in case.get("setup", {}):
            ids.append(case["id"])
    if len(ids) != expected:
        sys.exit("%d cases are chosen in %s, not %d: %s" % (len(ids), testing, expected, ids))
    command = [sys.executable, str(ROOT / "tests" / "case_runner.py"), "--agent", agent, *options]
    for name in ids:
        command += ["--only", name]
    runner = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    last = ""
    for line in runner.stdout:
        print(line, end="", flush=True)
        last = line.strip() or last
    status = runner.wait()
    wanted = "%d passed, 0 failed, 0 skipped" % expected
    if status != 0 or last != wanted:
        sys.exit("expected `%s`" % wanted)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
