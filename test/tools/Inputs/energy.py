"""Runs a program while imitated energy counters (files as in /sys/class/powercap) count: energy.py FOLDER COMMAND...

Two packages use 10 W and 20 W; their counters restart at 20 J. The program must not add the counters of a domain in a
package, of a second folder of the same package, and of the whole board (psys). It prints JSON with the measured power.
"""
import json
import os
import subprocess
import sys
import threading
import time

folder, command = sys.argv[1], sys.argv[2:]
DOMAINS = {"intel-rapl:0": ("package-0", 10), "intel-rapl:1": ("package-1", 20), "intel-rapl:0:0": ("core", 300),
           "intel-rapl-mmio:0": ("package-0", 500), "intel-rapl:2": ("psys", 700)}
RANGE = 20_000_000
start, done = time.monotonic(), threading.Event()


def write(path, text):
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(f"{text}\n")
    os.replace(path + ".new", path)


def count():
    for domain, (_, watts) in DOMAINS.items():
        write(f"{folder}/{domain}/energy_uj", int((time.monotonic() - start) * watts * 1e6) % RANGE)


def keep_counting():
    while not done.wait(0.001):
        count()


for domain, (name, _) in DOMAINS.items():
    os.makedirs(f"{folder}/{domain}")
    write(f"{folder}/{domain}/name", name)
    write(f"{folder}/{domain}/max_energy_range_uj", RANGE)
os.makedirs(f"{folder}/intel-rapl")
count()
counter = threading.Thread(target=keep_counting)
counter.start()
result = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
done.set()
counter.join()
assert 24 < result["watts"] < 36, result
joules = result["joules_per_run"] * result["runs"]
assert 0.99 * result["watts"] < joules / 0.9 < 1.2 * result["watts"], result
