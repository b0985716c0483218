#!/usr/bin/env python3
"""Runs the fuzzer to its end and up to a signal; its temporary folder must be empty then.

    leaves_nothing.py INGOT-FUZZ MODELS FOLDER
"""
import os
import signal
import subprocess
import sys


def start(program, models, folder, seconds):
    return subprocess.Popen([program, "--seconds", str(seconds), models], stdout=subprocess.PIPE, text=True,
                            env={**os.environ, "TMPDIR": folder})


def main():
    program, models, folder = sys.argv[1:]
    fuzzer = start(program, models, folder, 1)
    said = fuzzer.communicate()[0]
    assert " models:" in said, said
    assert not os.listdir(folder), os.listdir(folder)

    fuzzer = start(program, models, folder, 600)
    # Its folder is there once it has begun.
    while not os.listdir(folder):
        assert fuzzer.poll() is None
    fuzzer.send_signal(signal.SIGTERM)
    fuzzer.communicate(timeout=60)
    assert fuzzer.returncode == 2, fuzzer.returncode
    assert not os.listdir(folder), os.listdir(folder)


main()
