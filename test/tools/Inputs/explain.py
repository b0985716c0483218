"""Every id of a diagnostic has an explanation: explain.py INGOT DIAGNOSTICS_DEF"""
import re
import subprocess
import sys

ingot, table = sys.argv[1:]
codes = {"Warning": 0, "Invalid": 1, "Unsupported": 3, "Internal": 70}
known = re.findall(r'INGOT_DIAGNOSTIC\(\w+, "([a-z-]+)", (\w+)', open(table).read())
assert len(known) > 30
for name, kind in known:
    text = subprocess.run([ingot, "--explain", name], check=True, capture_output=True, text=True).stdout
    assert re.match(rf"{name}: [A-Z].+\.\nexit code {codes[kind]}: ", text), text
