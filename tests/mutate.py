#!/usr/bin/env python3
"""Proves that the deciding lines of docs/requirements.toml decide.

usage: mutate.py [ID...]      all entries with `line` and `tests`, or just these

For each entry the tree is copied, the named line is taken away (or the fragment is replaced by `becomes`), and the
named tests are run: they must pass on the tree as it is and fail on the changed one. A change that does not compile
proves nothing and counts as failed. Everything happens below the target folder; the tree itself stays as it is.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

from requirements import ROOT, register

TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
COPY = TARGET / "mutants" / "tree"
MINUTES = 10


def copy_tree():
    """Brings the copy to the state of the tree; files that are the same keep their times, so cargo builds little."""
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, check=True,
                           stdout=subprocess.PIPE).stdout.decode().split("\0")
    wanted = {name for name in names if name and (ROOT / name).is_file()}
    for old in [p for p in COPY.rglob("*") if p.is_file()]:
        if str(old.relative_to(COPY)) not in wanted:
            old.unlink()
    for name in wanted:
        new, old = ROOT / name, COPY / name
        if not old.exists() or old.read_bytes() != new.read_bytes():
            old.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(new, old)


def cargo(*arguments):
    env = dict(os.environ, CARGO_TARGET_DIR=str(TARGET / "mutants" / "target"))
    return subprocess.run(["cargo", *arguments], cwd=COPY, env=env, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=MINUTES * 60)


def package_of(path):
    """The package that a file belongs to."""
    for folder in pathlib.PurePosixPath(path).parents:
        manifest = COPY / folder / "Cargo.toml"
        if manifest.is_file():
            table = tomllib.loads(manifest.read_text())
            if "package" in table:
                return table["package"]["name"]
    raise ValueError("no package holds %s" % path)


def run(tests):
    """Builds and runs tests; what became of them: `broken`, `pass`, `fail` or `none`, with the output."""
    wanted = {}
    for test in tests:
        path, name = test.split("::")
        wanted.setdefault(package_of(path), []).append(name)
    # Black-box tests start the binary, which cargo does not build for another package's tests.
    steps = [["build", "-q", "-p", "agentx"]] + [["test", "-q", "-p", p, "--no-run"] for p in wanted]
    for step in steps:
        done = cargo(*step)
        if done.returncode != 0:
            return "broken", done.stdout
    outcome, said = "pass", ""
    for package, names in wanted.items():
        try:
            done = cargo("test", "-p", package, "--no-fail-fast", "--", *names)
        except subprocess.TimeoutExpired as late:
            return "fail", "no end within %d minutes: %s" % (MINUTES, late.stdout)
        said += done.stdout
        ran = set(re.findall(r"^test (?:\S+::)?(\w+)(?: - should panic)? \.\.\. ", done.stdout, re.M))
        if not ran.issuperset(names):
            return "none", said
        if done.returncode != 0:
            outcome = "fail"
    return outcome, said


def change(path, fragment, becomes):
    file = COPY / path
    lines = file.read_text().splitlines(keepends=True)
    hits = [i for i, line in enumerate(lines) if fragment in line and not line.lstrip().startswith("//")]
    if not hits:
        raise ValueError("%s has no line with `%s`" % (path, fragment))
    lines[hits[0]] = "\n" if becomes is None else lines[hits[0]].replace(fragment, becomes)
    file.write_text("".join(lines))


def tail(text):
    return "\n".join("    " + line for line in text.strip().splitlines()[-12:])


def prove(entry):
    """None when the entry's line decides, else why that is not shown."""
    copy_tree()
    outcome, said = run(entry["tests"])
    if outcome != "pass":
        return "the tests give `%s` on the tree as it is\n%s" % (outcome, tail(said))
    path, fragment = entry["line"].split(":", 1)
    change(path, fragment, entry.get("becomes"))
    outcome, said = run(entry["tests"])
    if outcome != "fail":
        return "the tests give `%s` on the changed tree\n%s" % (outcome, tail(said))
    return None


def main(chosen):
    entries = {name: entry for name, entry in register().items()
               if entry.get("line") and entry.get("tests") and (not chosen or name in chosen)}
    unknown = set(chosen) - set(entries)
    if unknown:
        sys.exit("no `line` and `tests` for %s" % ", ".join(sorted(unknown)))
    COPY.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name, entry in sorted(entries.items()):
        why = prove(entry)
        failed += why is not None
        print("%s  %s  %s" % ("FAIL" if why else "pass", name, why or entry["line"]), flush=True)
    print("%d passed, %d failed" % (len(entries) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
