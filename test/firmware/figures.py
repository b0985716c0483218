#!/usr/bin/env python3
"""What the small networks cost on microcontrollers, compared with figures.csv.

    figures.py --ingot PROGRAM --work DIR [--update] [--emx PROGRAM] [NETWORK...]

Measures each row with count.py; one that needs more than is recorded fails (2% of
instructions, cycles and code are allowed for). --update records what is measured.
--emx prints the figures of emx-onnx-cgen's C beside, with the best of several sets
of compiler flags, and compares nothing.
"""
import argparse
import csv
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "figures.csv")
MODELS = os.path.join(HERE, "..", "networks", "models")
NETWORKS = ["mnist_8_digits", "tiny_resnet8_cifar", "tiny_ds_cnn_kws", "tiny_mobilenet_v1_025_vww", "tiny_ad_autoencoder",
            "tiny_resnet8_cifar_int8", "tiny_ds_cnn_kws_int8"]
# How each network is measured: target, objective, compiler flags, Ingot's options.
WAYS = [
    ("cortex-m4", "speed", "-O2", []),
    ("cortex-m4", "size", "-Os", ["--optimize=size"]),
    ("cortex-m55", "speed", "-O2", []),
]
# Sets of compiler flags for the C code of emx-onnx-cgen by objective. Each of its figures is the best of
# all sets.
EMX_FLAGS = {"speed": ["-O2", "-O3", "-O3 -ffast-math", "-O3 -ffast-math -funroll-loops"], "size": ["-Os"]}
COLUMNS = ["network", "target", "objective", "instructions_per_mac", "cycles_per_mac", "code_bytes", "arena_bytes", "stack_bytes"]


def find_model(name, work):
    real = os.path.join(MODELS, "real", name, "model.onnx")
    if os.path.exists(real):
        return real
    path = os.path.join(work, name + ".onnx")
    if not os.path.exists(path):
        subprocess.run([sys.executable, os.path.join(MODELS, "models.py"), "fill", name, "--out", work], check=True,
                       stdout=subprocess.DEVNULL)
    return path


def measure(arguments, model, target, flags, options, extra=()):
    command = [sys.executable, os.path.join(HERE, "count.py"), "--ingot", arguments.ingot, "--target", target,
               f"--flags={flags}", "--json", *extra, model, "--", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}{done.stdout}")
    return json.loads(done.stdout)


def row_of(name, target, objective, figures):
    row = {"network": name, "target": target, "objective": objective}
    for column in COLUMNS[3:]:
        row[column] = f"{figures[column]:.3f}" if column.endswith("_mac") else str(figures[column])
    return row


def complaints(row, recorded):
    """Returns a line for each column in which a row is worse than the recorded row."""
    slack = {"arena_bytes": 1, "stack_bytes": 1.1}
    return [f"{column}: {row[column]}, recorded {recorded[column]}" for column in COLUMNS[3:]
            if float(row[column]) > float(recorded[column]) * slack.get(column, 1.02)]


def show(row):
    print(" ".join(f"{row[column]:>{max(9, len(column))}}" for column in COLUMNS), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", default=[])
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--work", required=True, help="folder for filled networks")
    parser.add_argument("--emx", metavar="PROGRAM", help="emx-onnx-cgen")
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    os.makedirs(arguments.work, exist_ok=True)
    table = {}
    if os.path.exists(TABLE):
        with open(TABLE) as file:
            table = {tuple(row[c] for c in COLUMNS[:3]): row for row in csv.DictReader(file)}
    worse = []
    for name in arguments.networks or NETWORKS:
        model = find_model(name, arguments.work)
        for target, objective, flags, options in WAYS:
            row = row_of(name, target, objective, measure(arguments, model, target, flags, options))
            show(row)
            key = (name, target, objective)
            if arguments.emx:
                for flags in EMX_FLAGS[objective]:
                    figures = measure(arguments, model, target, flags, [], ["--emx", arguments.emx])
                    show(row_of("emx " + flags, target, objective, figures))
            elif arguments.update:
                table[key] = row
            elif key not in table:
                worse.append(f"{' '.join(key)} is not recorded")
            else:
                worse += [f"{' '.join(key)}: {text}" for text in complaints(row, table[key])]
    if arguments.update:
        with open(TABLE, "w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(table[key] for key in sorted(table))
    if worse:
        sys.exit("\n".join(worse))


if __name__ == "__main__":
    main()
