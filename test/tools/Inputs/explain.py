"""Checks that each diagnostic id has an explanation: explain.py INGOT
DIAGNOSTICS_DEF"""
import re
import subprocess
import sys

ingot, table = sys.argv[1:]
codes = {"Usage": 2, "Warning": 0, "Invalid": 1, "Unsupported": 3, "Comparison": 4, "Internal": 70}
known = re.findall(r'INGOT_DIAGNOSTIC\(\w+, "([a-z-]+)", (\w+)', open(table).read())
assert len(known) > 30
listed = subprocess.run([ingot, "--explain"], check=True, capture_output=True, text=True).stdout
for name, kind in known:
    for arguments in (["--explain", name], [f"--explain={name}"]):
        text = subprocess.run([ingot, *arguments], check=True, capture_output=True, text=True).stdout
        assert re.match(rf"{name}\n  cause:   [A-Z][^\0]+\.\n  example: [^\0]+\n  fix:     [A-Z][^\0]+\.\n  exit:    {codes[kind]}, ",
                        text), text
    assert re.search(rf"^  {name}( |$)", listed, re.MULTILINE), name
