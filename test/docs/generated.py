#!/usr/bin/env python3
"""Compares the generated pages of the manual with what the program says now.

    generated.py --ingot PROGRAM [--update]
"""
import argparse
import difflib
import os
import subprocess
import sys

import pages

PAGES = {"cli": "docs/cli.md", "man": "docs/ingot.1", "errors": "docs/errors.md", "operators": "docs/operators.md",
         "targets": "docs/targets/index.md", "deviations": "docs/safety.md"}
# Of these pages only the part between two comments is generated.
PARTS = {"deviations": ("<!-- begin deviations -->\n", "<!-- end deviations -->\n")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    stale = False
    for page, file in PAGES.items():
        path = os.path.join(pages.ROOT, file)
        now = subprocess.run([arguments.ingot, "reference", page], check=True, capture_output=True, text=True).stdout
        if page in PARTS:
            begin, end = PARTS[page]
            with open(path) as kept:
                before, _, rest = kept.read().partition(begin)
            now = before + begin + now + end + rest.partition(end)[2]
        if arguments.update:
            with open(path, "w") as output:
                output.write(now)
            continue
        with open(path) as kept:
            lines = list(difflib.unified_diff(kept.read().splitlines(), now.splitlines(), file, "the program", lineterm=""))
        if lines:
            stale = True
            print("\n".join(lines[:60]))
    if stale:
        print("./dev docs --update renews these files")
    return stale


if __name__ == "__main__":
    sys.exit(main())
