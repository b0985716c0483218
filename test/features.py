#!/usr/bin/env python3
"""Says how the tests can run the code of each target on this machine.

    features.py --ingot PROGRAM

`ingot targets` knows which targets the processor runs, which run under an emulator that is
installed, and which do not run: code for these is compiled and read, but not executed.
"""
import argparse
import re
import subprocess

NATIVE = "on this processor"
# The remark at the end of a line of `ingot targets`; empty for targets that run on this
# processor.
REMARK = re.compile(r"\((native|runs under [\w-]+|emulated[^()]*|does not run on this machine)\)$")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    options = parser.parse_args()
    listed = subprocess.run([options.ingot, "targets"], check=True, capture_output=True, text=True).stdout
    ways = {NATIVE: []}
    # The list of cores follows after an empty line.
    for line in listed.split("\n\n")[0].splitlines():
        remark = REMARK.search(line)
        way = remark[1] if remark and remark[1] != "native" else NATIVE
        ways.setdefault(way.replace("runs under env", "emulated on this processor"), []).append(line.split()[0])
    for way, targets in ways.items():
        print(f"{way}: {', '.join(targets) or 'none'}")


if __name__ == "__main__":
    main()
