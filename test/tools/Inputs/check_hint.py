"""Compares the hint of an over-budget error with the report for the proposed option (on standard
input)."""
import json
import re
import sys

report = json.load(sys.stdin)
with open(sys.argv[1]) as file:
    text = file.read()
taken = int(re.search(r"the model needs (\d+) bytes of flash", text)[1])
smaller, fewer = map(int, re.search(r"--optimize=size it needs (\d+) bytes of flash, (\d+) fewer", text).groups())
assert smaller == report["flash_bytes"] == taken - fewer, (text, report["flash_bytes"])
