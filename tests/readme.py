#!/usr/bin/env python3
"""Does what README.md tells a reader to do, with the binary of the release build.

usage: readme.py AGENT

- `agentx demo` ends by itself with status 0 and shows a question and a result.
- The shell blocks under "Talk to it over a pipe" run as they stand, in an empty home, and give what the text block
  after each of them shows; there `…` stands for anything.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECTION = "## Talk to it over a pipe"


def blocks(text):
    """Fenced blocks of the section, as (language, content)."""
    section = text.split(SECTION + "\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^```(\w+)\n(.*?)^```$", section, re.M | re.S)


def fits(shown, said):
    pattern = "".join(".*" if part == "…" else re.escape(part) for part in re.split("(…)", shown))
    return re.fullmatch(pattern, said)


def run(command, home, agent):
    env = {"PATH": "%s:%s" % (agent.parent, os.environ["PATH"]), "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8"}
    return subprocess.run(command, cwd=home, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120, encoding="utf-8")


def main(agent):
    agent = pathlib.Path(agent).resolve()
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for command in ("cargo run --release -- demo", "cargo test --workspace"):
        assert "\n%s\n" % command in text, "README.md does not show `%s`" % command
    pairs = blocks(text)
    scripts = [i for i, (language, _) in enumerate(pairs) if language == "sh"]
    assert scripts, "no shell block under `%s`" % SECTION
    with tempfile.TemporaryDirectory() as home:
        done = run([str(agent), "demo"], home, agent)
        assert done.returncode == 0 and done.stdout, done
        for i in scripts:
            language, script = pairs[i]
            done = run(["bash", "-eu", "-o", "pipefail", "-c", script], home, agent)
            assert done.returncode == 0, done
            if i + 1 < len(pairs) and pairs[i + 1][0] == "text":
                shown, said = pairs[i + 1][1].splitlines(), done.stdout.splitlines()
                assert len(shown) == len(said), "%d lines are shown, %d came:\n%s" % (len(shown), len(said), done.stdout)
                for want, got in zip(shown, said):
                    assert fits(want, got), "README.md shows\n%s\nbut this came:\n%s" % (want, got)
    print("README.md: the demo and %d shell blocks did what they say" % len(scripts))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
