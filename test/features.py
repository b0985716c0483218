#!/usr/bin/env python3
"""Says how the tests can run the code of each target and the instructions of each processor
feature on this machine.

    features.py --ingot PROGRAM

`ingot targets` knows which targets the processor runs, which run under an emulator that is
installed, and which do not run: code for these is compiled and read, but not executed. A
feature counts as the best target that uses it. The tests have emulators of their own for
some features, in test/targets/Inputs.
"""
import argparse
import json
import pathlib
import subprocess

NATIVELY, EMULATED, TESTS, NEVER = "on this processor", "under an emulator", "emulated by tests", "not run"
WAYS = {"natively": NATIVELY, "emulated": EMULATED, "not": NEVER}
# The emulators that the tests have for processor features, by a word in the names of these
# features.
EMULATORS = {"amx": "amx_emulator.cpp", "vnni": "emulated_vnni.h"}
INPUTS = pathlib.Path(__file__).parent / "targets" / "Inputs"


def best(ways):
    return min(ways, key=[NATIVELY, EMULATED, TESTS, NEVER].index)


def way_of_feature(feature, targets):
    ways = [WAYS[t["runs_here"]] for t in targets if feature in t["features"]]
    ways += [TESTS for word, file in EMULATORS.items() if word in feature and (INPUTS / file).exists()]
    return best(ways)


def show(title, ways):
    print(title)
    for way in (NATIVELY, EMULATED, TESTS, NEVER):
        names = [name for name, its in ways.items() if its == way]
        if names:
            print(f"  {way + ':':19} {', '.join(names)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    options = parser.parse_args()
    targets = json.loads(subprocess.run([options.ingot, "targets", "--json"], check=True, capture_output=True, text=True).stdout)
    show("targets", {t["name"]: WAYS[t["runs_here"]] for t in targets})
    # The architecture itself, such as armv8.2-a, is no feature.
    features = dict.fromkeys(f for t in targets for f in t["features"] if not f.startswith("arm"))
    show("processor features", {f: way_of_feature(f, targets) for f in features})


if __name__ == "__main__":
    main()
