#!/usr/bin/env python3
"""Compares five pairs of networks by `ingot diff`, and checks the result against the reports of both.

    diff_pairs.py --ingot PROGRAM

A pair: two versions of a network, float and int8, two architectures, and one network under two sets of options.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "verify"))

PAIRS = [
    ("mnist_8", [], "mnist_8_digits", []),
    ("tiny_ds_cnn_kws", [], "tiny_ds_cnn_kws_int8", []),
    ("tiny_resnet8_cifar", [], "tiny_resnet8_cifar_int8", []),
    ("lenet5", [], "tiny_resnet8_cifar", []),
    ("tiny_resnet8_cifar", [], "tiny_resnet8_cifar", ["--optimize", "size"]),
]
KEYS = ["macs", "parameters", "weight_bytes", "arena_bytes", "flash_bytes", "ram_bytes"]


def run(ingot, *arguments):
    return subprocess.run([ingot, *arguments], capture_output=True, text=True)


def check(ingot, folder, before, options_before, after, options_after):
    import networks
    paths, reports = dict(networks.names()), []
    for name, options in ((before, options_before), (after, options_after)):
        done = run(ingot, "report", networks.filled(paths[name], folder), "--target", "generic", "--json", *options)
        assert done.returncode == 0, done.stderr
        reports.append(os.path.join(folder, f"{len(reports)}.json"))
        with open(reports[-1], "w", encoding="utf-8") as file:
            file.write(done.stdout)
    old, new = (json.load(open(report, encoding="utf-8")) for report in reports)
    done = run(ingot, "diff", *reports, "--json")
    assert done.returncode == 0, done.stderr
    difference = json.loads(done.stdout)
    for key in KEYS:
        assert difference["old"].get(key) == old.get(key) and difference["new"].get(key) == new.get(key), key
    # Each kernel call is the same, changed, added or removed.
    changes = [kernel["change"] for kernel in difference["kernels"]]
    same = len(new["groups"]) - changes.count("changed") - changes.count("added")
    assert same >= 0 and same == len(old["groups"]) - changes.count("changed") - changes.count("removed"), changes
    # With the two reports exchanged, the added calls are reported as removed.
    back = [kernel["change"] for kernel in json.loads(run(ingot, "diff", *reversed(reports), "--json").stdout)["kernels"]]
    assert sorted(back) == sorted({"added": "removed", "removed": "added"}.get(c, c) for c in changes), (back, changes)
    # A model does not differ from itself.
    assert "are the same\n" in run(ingot, "diff", reports[0], reports[0]).stdout
    # Thresholds: exactly the growth is allowed, one byte less is not.
    grown = new["flash_bytes"] - old["flash_bytes"]
    first, second, growth = (*reports, grown) if grown > 0 else (*reversed(reports), -grown)
    if growth:
        assert run(ingot, "diff", first, second, "--max-flash-growth", str(growth)).returncode == 0
        done = run(ingot, "diff", first, second, "--max-flash-growth", str(growth - 1))
        assert done.returncode == 4 and "over-growth" in done.stderr, done.stderr
    print(f"{before} and {after} {' '.join(options_after)}: {changes.count('changed')} calls changed, {changes.count('added')} added, "
          f"{changes.count('removed')} removed, {same} the same; flash {grown:+,}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ingot", required=True)
    options = parser.parse_args()
    for pair in PAIRS:
        with tempfile.TemporaryDirectory() as folder:
            check(options.ingot, folder, *pair)
    return 0


if __name__ == "__main__":
    sys.exit(main())
