#!/usr/bin/env python3
"""Drives the agent with the two official client packages for hosts, unmodified: each driver under its profile option,
then through a link named `claude`.

usage: sdk.py AGENT [--env FOLDER] [--only NAME]... [--client given|py|js]...

- `given`: the drivers of testing/sdk-drivers in $AGENTX_SHARED, by default the folder `shared` beside the repository;
- `py`, `js`: the drivers of tests/sdk/py and tests/sdk/js.

The packages, of the versions that tests/sdk names, are installed into a folder that is removed afterwards, or into
FOLDER, which is then kept for the next run. --only takes files (`permissions`) or behaviours (`deny`). A driver that
is missing, says nothing or ends with another status than 0 is a failure. The last line is
`N passed, N failed, 0 skipped`.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = pathlib.Path(os.environ.get("AGENTX_SHARED", ROOT.parent / "shared"))
OWN = ROOT / "tests" / "sdk"
# What has to be there; a run without --only fails when it is not.
GIVEN = ("controls", "hook", "interrupt", "multiturn", "oneshot", "partial", "perm_allow", "perm_deny", "sdk_mcp",
         "unicode")
# The operations that may fail for a server or task that does not exist.
REFUSALS = {"controls": "mcp_reconnect,mcp_toggle,stop_task"}
# Seconds for one behaviour, and for a file of them.
LIMIT, FILE_LIMIT = 60, 400
LINE = re.compile(r"^(\w+) (py|js) (PASS|FAIL)\b")
AUTH = {"version": 2, "providers": [{"id": "play", "type": "scripted",
                                     "scripted": {"model": "scripted", "from_prompt": True}}]}


def say(command, cwd):
    done = subprocess.run([str(part) for part in command], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", timeout=600)
    if done.returncode != 0:
        sys.exit("%s ended with status %d:\n%s" % (command[0], done.returncode, done.stdout[-4000:]))


def install(folder, clients):
    """Both packages and our drivers for them, in `folder`; what is there already stays."""
    folder.mkdir(parents=True, exist_ok=True)
    python = folder / "venv" / "bin" / "python"
    if {"given", "py"} & clients and not (folder / "venv" / "complete").exists():
        say([sys.executable, "-m", "venv", "--clear", folder / "venv"], folder)
        say([python, "-m", "pip", "install", "--quiet", "--requirement", OWN / "requirements.txt"], folder)
        (folder / "venv" / "complete").touch()
    if "js" in clients:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(OWN / name, folder / name)
        if not (folder / "node_modules" / ".package-lock.json").exists():
            say(["npm", "ci", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund"], folder)
        # Node looks for packages above the script.
        shutil.rmtree(folder / "js", ignore_errors=True)
        shutil.copytree(OWN / "js", folder / "js")
    return python


def drivers(folder, python, clients):
    """(client, name, command) of every file of drivers."""
    found = []
    if "given" in clients:
        for path in sorted((SHARED / "testing" / "sdk-drivers").glob("*.py")):
            if not path.name.startswith("_"):
                found.append(("given", path.stem, [python, path]))
    if "py" in clients:
        found += [("py", path.stem, [python, path]) for path in sorted((OWN / "py").glob("*.py"))
                  if path.stem != "harness"]
    if "js" in clients:
        found += [("js", path.stem, ["node", path]) for path in sorted((folder / "js").glob("*.mjs"))
                  if path.stem != "harness"]
    return found


def behaviours(client, command):
    """What a file of our own drives, by name."""
    if client == "given":
        return [pathlib.Path(command[1]).stem]
    text = pathlib.Path(command[1]).read_text(encoding="utf-8")
    return re.findall({"py": r"^@drives\nasync def (\w+)\(", "js": r"^drives\(\"(\w+)\","}[client], text, re.M)


def run(client, name, command, how, scratch, only):
    """The closing lines of a file of drivers, one for each behaviour, and what else it printed."""
    home = pathlib.Path(tempfile.mkdtemp(prefix="%s-%s-" % (client, name), dir=scratch))
    for part in ("home", "work", "tmp", "agentx"):
        (home / part).mkdir(mode=0o700)
    (home / "agentx" / "auth.json").touch(0o600)
    (home / "agentx" / "auth.json").write_text(json.dumps(AUTH), encoding="utf-8")
    env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(home / "home"), "TMPDIR": str(home / "tmp"),
           "AGENTX_HOME": str(home / "agentx"), "SDK_DRIVER_TIMEOUT": str(LIMIT), "PYTHONDONTWRITEBYTECODE": "1",
           "SDK_DRIVER_ALLOW_ERRORS": REFUSALS.get(name, "") if client == "given" else "",
           "SDK_DRIVER_ONLY": ",".join(only)}
    driver = subprocess.Popen([str(part) for part in [*command, *how]], cwd=home / "work", env=env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              start_new_session=True)
    try:
        said, status = driver.communicate(timeout=FILE_LIMIT)[0], driver.returncode
    except subprocess.TimeoutExpired:
        status = "none: it had to be ended"
    finally:
        # The driver where it still runs, and whatever it left behind: all of it is in the group that began with it.
        try:
            os.killpg(driver.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    if driver.returncode is None:
        said = driver.communicate()[0]
    said = said.decode("utf-8", "backslashreplace")
    lines = [line for line in said.splitlines() if LINE.match(line)]
    failed = status != 0 or any(LINE.match(line).group(3) == "FAIL" for line in lines)
    return lines, (said, status) if failed else None


def main(argv):
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("agent")
    parser.add_argument("--env")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--client", action="append", default=[], choices=("given", "py", "js"))
    options = parser.parse_args(argv)
    clients = set(options.client or ("given", "py", "js"))
    agent = pathlib.Path(options.agent).resolve()
    if not os.access(agent, os.X_OK):
        sys.exit("cannot run %s" % agent)
    with tempfile.TemporaryDirectory(prefix="sdk-") as scratch:
        folder = pathlib.Path(options.env).resolve() if options.env else pathlib.Path(scratch, "env")
        python = install(folder, clients)
        link = pathlib.Path(scratch, "bin", "claude")
        link.parent.mkdir()
        link.symlink_to(agent)
        jobs, passed, failed = [], 0, 0
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for client, name, command in drivers(folder, python, clients):
                chosen = [it for it in behaviours(client, command) if not options.only or name in options.only
                          or it in options.only]
                for label, how in (("--profile", [agent, "--profile=reference"]), ("as claude", [link])):
                    if chosen:
                        job = pool.submit(run, client, name, command, how, scratch, chosen)
                        jobs.append((client, name, label, chosen, job))
            for client, name, label, chosen, job in jobs:
                lines, trouble = job.result()
                for line in lines:
                    print("%-10s %s" % (label, line))
                good = [LINE.match(line).group(1) for line in lines if LINE.match(line).group(3) == "PASS"]
                silent = sorted(set(chosen) - set(LINE.match(line).group(1) for line in lines))
                for it in silent:
                    print("%-10s %s %s FAIL it said nothing" % (label, it, client))
                if trouble:
                    rest = "\n".join(line for line in trouble[0].splitlines() if not LINE.match(line))
                    print("%s of %s (%s), status %s:\n%s" % (name, client, label, trouble[1], rest[-1500:]))
                if len(set(good)) != len(good):
                    sys.exit("a behaviour of %s has two lines: %s" % (name, good))
                passed += len(good)
                failed += len(chosen) - len(good)
                if trouble and len(good) == len(chosen):
                    failed += 1
                sys.stdout.flush()
    missing = [] if options.only or "given" not in clients else sorted(
        set(GIVEN) - {name for client, name, *_ in jobs if client == "given"})
    for name in missing:
        print("%s of %s is missing" % (name, SHARED / "testing" / "sdk-drivers"))
    failed += len(missing)
    print("\n%d passed, %d failed, 0 skipped" % (passed, failed))
    if failed or not passed:
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
