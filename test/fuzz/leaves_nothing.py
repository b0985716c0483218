#!/usr/bin/env python3
"""Runs the fuzzer until it ends and until a signal; its temporary folder must be empty
afterwards.

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
    # The temporary folder exists once the fuzzer has started.
    while not os.listdir(folder):
        assert fuzzer.poll() is None
    fuzzer.send_signal(signal.SIGTERM)
    fuzzer.communicate(timeout=60)
    assert fuzzer.returncode == 2, fuzzer.returncode
    assert not os.listdir(folder), os.listdir(folder)


main()
