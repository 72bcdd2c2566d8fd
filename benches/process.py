#!/usr/bin/env python3
"""Process figures of a release build: CPU to the first byte, memory when idle, system calls of a short life.

usage: process.py AGENT [ROUNDS]        Python 3.11, Linux, strace

Prints one line for each figure with its goal, and ends 'N passed, N failed'. CPU time and counts, never wall time.
"""
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

GOALS = {"cpu_first_byte_ms": 20.0, "rss_idle_mb": 12.0, "system_calls": 2000}
ARGV = ["--print", "--input-format", "stream-json", "--output-format", "stream-json"]
AUTH = {"version": 2, "providers": [{"id": "demo", "type": "scripted", "scripted": {"model": "m", "from_prompt": True}}]}


def home(root):
    path = os.path.join(root, "home")
    os.mkdir(path, 0o700)
    file = os.path.join(path, "auth.json")
    with open(file, "w", encoding="utf-8") as f:
        json.dump(AUTH, f)
    os.chmod(file, 0o600)
    return {"PATH": os.environ["PATH"], "HOME": root, "AGENTX_HOME": path, "LANG": "C.UTF-8"}


def ticks(pid):
    """User and system time of all threads, in seconds, from the scheduler's own count where it is kept."""
    total = 0
    for task in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/schedstat" % (pid, task), encoding="ascii") as f:
            total += int(f.read().split()[0])
    return total / 1e9


def idle(agent, env, cwd):
    """CPU in ms until system/init is there, and resident MB when nothing happens."""
    with subprocess.Popen([agent, *ARGV], env=env, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as proc:
        first = os.read(proc.stdout.fileno(), 1)
        cpu = ticks(proc.pid) * 1000
        assert first == b"{", "no record"
        time.sleep(0.3)
        with open("/proc/%d/status" % proc.pid, encoding="ascii") as f:
            rss = int(re.search(r"VmRSS:\s+(\d+) kB", f.read()).group(1)) / 1024
        proc.stdin.close()
        proc.stdout.read()
        assert proc.wait(10) == 0, "exit status %d" % proc.returncode
    return cpu, rss


def calls(agent, env, cwd, root):
    """System calls of a start and an exit: stdin is at its end at once."""
    out = os.path.join(root, "strace.txt")
    subprocess.run(["strace", "-f", "-qq", "-o", out, agent, *ARGV], env=env, cwd=cwd, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, check=True, timeout=60)
    with open(out, encoding="utf-8", errors="replace") as f:
        return sum(1 for line in f if re.match(r"\d+\s+[a-z_0-9]+\(", line))


def main():
    agent = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 11
    if not shutil.which("strace"):
        sys.exit("strace is needed")
    with tempfile.TemporaryDirectory(prefix="agentx-process-") as root:
        env, cwd = home(root), os.path.join(root, "work")
        os.mkdir(cwd)
        seen = [idle(agent, env, cwd) for _ in range(rounds)]
        figures = {"cpu_first_byte_ms": statistics.median(cpu for cpu, _ in seen),
                   "rss_idle_mb": statistics.median(rss for _, rss in seen),
                   "system_calls": calls(agent, env, cwd, root)}
    failed = 0
    for name, value in figures.items():
        good = value <= GOALS[name]
        failed += not good
        print("%-20s %10.1f  goal %g%s" % (name, value, GOALS[name], "" if good else "  MISSED"))
    print("%d passed, %d failed" % (len(figures) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
