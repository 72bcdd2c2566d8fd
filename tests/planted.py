#!/usr/bin/env python3
"""No planted fault is in a release binary.

    RUSTFLAGS='--cfg agentx_planted' cargo build --release -p agentx-sim --target-dir TARGET
    python3 tests/planted.py BINARY TARGET/release/agentx-sim

BINARY is what is shipped; it must hold none of the words that each planted fault brings along. The simulator that was
built with the faults must hold all of them, in the same profile: only so does their absence say something.
Ends with status 0 if both is so.
"""

import pathlib
import re
import sys

TAG = b"agentx-planted:"
SOURCE = pathlib.Path(__file__).parent.parent / "core/src/plant.rs"


def names():
    """The names of the faults, as the source declares them."""
    text = SOURCE.read_text(encoding="utf-8")
    declared = text.split("    plants! {", 1)[1]
    return re.findall(r'^        (\w+), "[A-Z0-9-]+",$', declared, re.MULTILINE)


def held(binary, faults):
    """Which of the faults a binary holds."""
    data = pathlib.Path(binary).read_bytes()
    return {name for name in faults if TAG + name.encode() in data}, TAG in data


def main(args):
    if len(args) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    shipped, simulator = args
    faults = names()
    if len(faults) < 25:
        print(f"{SOURCE} declares {len(faults)} planted faults, and 25 are asked for", file=sys.stderr)
        return 1
    wrong = []
    has, tagged = held(simulator, faults)
    for name in sorted(set(faults) - has):
        wrong.append(f"{simulator} was built with planted faults and has no trace of {name}")
    has, tagged = held(shipped, faults)
    for name in sorted(has):
        wrong.append(f"{shipped} has the planted fault {name}")
    if tagged and not has:
        wrong.append(f"{shipped} has a planted fault")
    for line in wrong:
        print(line, file=sys.stderr)
    if not wrong:
        print(f"{len(faults)} planted faults: all in {simulator}, none in {shipped}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
