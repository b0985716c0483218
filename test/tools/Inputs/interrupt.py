"""Interrupts ingot while it runs a compiler: no files or processes of either may
remain.

    interrupt.py INGOT MODEL FOLDER
"""
import os
import shutil
import signal
import subprocess
import sys
import time

# A compiler that creates a partial object file, a temporary file and a child process, and then waits.
COMPILER = """#!/bin/sh
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


def prepare(folder, compiler_text):
    """Returns the environment, and the arguments that make ingot write a .o with
    this compiler."""
    shutil.rmtree(folder, ignore_errors=True)
    temporary, compiler = os.path.join(folder, "tmp"), os.path.join(folder, "compiler")
    os.makedirs(temporary)
    with open(compiler, "w") as f:
        f.write(compiler_text)
    os.chmod(compiler, 0o755)
    return {**os.environ, "TMPDIR": temporary, "FOLDER": folder}, ["-o", os.path.join(folder, "out.o"), "--cxx", compiler]


def check_clean(folder, when):
    left = os.listdir(os.path.join(folder, "tmp")) + sorted(set(os.listdir(folder)) - {"tmp", "compiler"})
    if left:
        sys.exit(f"FAIL left after {when}: {left}")


def interrupt(ingot, model, folder, number):
    environment, arguments = prepare(folder, COMPILER)
    started = os.path.join(folder, "started")
    process = subprocess.Popen([ingot, model, *arguments], env=environment)
    wait_until(lambda: os.path.exists(started) and os.path.getsize(started), "the compiler does not start")
    with open(started) as f:
        child = int(f.read())
    os.remove(started)
    process.send_signal(number)
    if process.wait(timeout=20) != -number:
        sys.exit(f"FAIL the exit code is {process.returncode} after signal {number}")
    wait_until(lambda: not lives(child), "the compiler's child lives on")
    check_clean(folder, f"signal {number}")


def fail(ingot, model, folder):
    """Checks that the files of a compiler that fails are removed."""
    environment, arguments = prepare(folder, '#!/bin/sh\necho part > "$TMPDIR/own"\nexit 1\n')
    if subprocess.run([ingot, model, *arguments], env=environment, stderr=subprocess.DEVNULL).returncode != 1:
        sys.exit("FAIL the exit code of a compiler that fails")
    check_clean(folder, "a compiler that fails")


ingot, model, folder = sys.argv[1:]
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    # A shell may have started this script in the background, with signals ignored.
    signal.signal(number, signal.SIG_DFL)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    interrupt(ingot, model, os.path.abspath(folder), number)
fail(ingot, model, os.path.abspath(folder))
print("nothing is left")
