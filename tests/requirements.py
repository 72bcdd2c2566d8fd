#!/usr/bin/env python3
"""The register of requirements, beside the texts it is made from.

usage: requirements.py check SPEC_DIR   every id of the texts stands in the register, and no other
       requirements.py begin            `planned` becomes `partly` where a test covers the id
       requirements.py show             how many ids have which status, and what is missing
"""
import collections
import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
REGISTER = ROOT / "docs" / "requirements.toml"


def register():
    found = {}

    def walk(table):
        for key, value in table.items():
            if isinstance(value, dict) and "status" not in value:
                walk(value)
            else:
                found[key] = value if isinstance(value, dict) else {"status": value}

    walk(tomllib.loads(REGISTER.read_text()))
    return found


def ids_of_texts(folder):
    """The ids that the texts define, each where it is defined and not where it is only mentioned."""
    wire = (folder / "wire-protocol.txt").read_text()
    permission = (folder / "permission-wire.md").read_text()
    ids = set(re.findall(r"^• (WIRE-[A-Z0-9-]+) — ", wire, re.M))
    ids |= set(re.findall(r"^(WIRE-\d{3}) — ", wire, re.M))
    scenarios = wire.split("\nAcceptance scenarios\n")[-1]
    ids |= {"ACC-%02d" % int(n) for n in re.findall(r"^(\d+)\. ", scenarios, re.M)}
    for first, last in re.findall(r"^## .*?\(WIRE-PERM-([A-Z]?\d+)(?: to ([A-Z]?\d+))?", permission, re.M):
        ids.add("WIRE-PERM-" + first)
        if last:
            ids.add("WIRE-PERM-" + last)
    for head in re.findall(r"^## .*WIRE-PERM.*$", permission, re.M):
        ids |= {"WIRE-PERM-" + n for n in re.findall(r"\b(\d{3})\b", head)}
    ids |= {"WIRE-PERM-" + n for n in re.findall(r"^- (\d{3}): ", permission, re.M)}
    acceptance = permission.split("## Acceptance")[-1]
    ids |= {"WIRE-PERM-A%02d" % int(n) for n in re.findall(r"^(\d+)\. ", acceptance, re.M)}
    ids |= set(re.findall(r"^\| (DEC-\d+) \|", (folder / "decisions.md").read_text(), re.M))
    ids |= set(re.findall(r"^\| (RT-[A-Z]+-\d+) \|", (folder / "runtime-requirements.md").read_text(), re.M))
    records = re.match(r"# .*\((DEC-\d+)\)", (folder / "records.md").read_text())
    return ids | ({records[1]} if records else set())


def check(folder):
    texts, ours = ids_of_texts(pathlib.Path(folder)), set(register())
    for name in sorted(texts - ours):
        print("%s stands in the texts but not in the register" % name)
    for name in sorted(ours - texts):
        print("%s stands in the register but not in the texts" % name)
    print("%d ids, %d missing, %d unknown" % (len(ours), len(texts - ours), len(ours - texts)))
    return 1 if texts ^ ours or not texts else 0


def covered():
    ids = set()
    for path in ROOT.rglob("*.rs"):
        if "target" not in path.relative_to(ROOT).parts:
            for line in re.findall(r"^\s*// covers:(.*)$", path.read_text(), re.M):
                ids |= {name.strip() for name in line.split(",")}
    return ids


def begin():
    text, changed = REGISTER.read_text(), []
    for name in sorted(covered()):
        line = re.compile(r'^(%s = (?:\{ status = )?)"planned"' % re.escape(name), re.M)
        text, count = line.subn(r'\1"partly"', text)
        changed += [name] * count
    REGISTER.write_text(text)
    print("begun: %s" % (", ".join(changed) or "nothing"))
    return 0


def show():
    entries = register()
    for status, count in sorted(collections.Counter(e["status"] for e in entries.values()).items()):
        print("%-8s %4d" % (status, count))
    for name, entry in entries.items():
        if entry["status"] == "partly":
            print("%s: %s" % (name, entry.get("missing", "not looked at yet")))
    return 0


def main(argv):
    match argv:
        case ["check", folder]:
            return check(folder)
        case ["begin"]:
            return begin()
        case ["show"]:
            return show()
    sys.stderr.write(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
