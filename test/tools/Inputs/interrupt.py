"""Ends ingot while its compiler runs: nothing of either may be left.

    interrupt.py INGOT MODEL FOLDER
"""
import os
import shutil
import signal
import subprocess
import sys
import time

# Leaves a part of the object, a file of its own in TMPDIR unless it is asked to end, and a child.
COMPILER = """#!/bin/sh
trap 'rm -f "$TMPDIR/own"; exit 1' TERM
for last; do :; done
echo part > "$last"
echo part > "$TMPDIR/own"
sleep 300 &
echo $! > "$FOLDER/started"
wait
"""


def wait_until(condition, what):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    sys.exit(f"FAIL {what}")


def lives(process):
    try:
        with open(f"/proc/{process}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def interrupt(ingot, model, folder, number):
    shutil.rmtree(folder, ignore_errors=True)
    temporary, started = os.path.join(folder, "tmp"), os.path.join(folder, "started")
    os.makedirs(temporary)
    compiler = os.path.join(folder, "compiler")
    with open(compiler, "w") as f:
        f.write(COMPILER)
    os.chmod(compiler, 0o755)
    before = set(os.listdir(folder))
    process = subprocess.Popen([ingot, model, "-o", os.path.join(folder, "out.o"), "--cxx", compiler],
                               env={**os.environ, "TMPDIR": temporary, "FOLDER": folder})
    wait_until(lambda: os.path.exists(started) and os.path.getsize(started), "the compiler does not start")
    with open(started) as f:
        child = int(f.read())
    os.remove(started)
    process.send_signal(number)
    if process.wait(timeout=20) != -number:
        sys.exit(f"FAIL the exit code is {process.returncode} after signal {number}")
    wait_until(lambda: not lives(child), "the compiler's child lives on")
    left = os.listdir(temporary) + sorted(set(os.listdir(folder)) - before)
    if left:
        sys.exit(f"FAIL left after signal {number}: {left}")


ingot, model, folder = sys.argv[1:]
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    # A shell may have started us in the background, with signals ignored.
    signal.signal(number, signal.SIG_DFL)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    interrupt(ingot, model, os.path.abspath(folder), number)
print("nothing is left")
