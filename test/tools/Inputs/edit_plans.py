"""Changes a file written by --tune, validly or not.

    edit_plans.py FROM TO CHANGE

CHANGE: rows (another number of rows in the first plan), key, type, range,
version, missing, truncated, nested.
"""
import json
import sys

source, target, change = sys.argv[1:]
with open(source) as f:
    text = f.read()
cache = json.loads(text)
plan = cache["plans"][0]["plan"]
if change == "rows":
    plan["rows"] = 2 if plan["rows"] != 2 else 4
elif change == "key":
    plan["height"] = 3
elif change == "type":
    plan["rows"] = [3]
elif change == "range":
    plan["rows"] = -(1 << 62)
elif change == "version":
    cache["ingot"] = "0.0.0"
elif change == "missing":
    del cache["plans"][0]["plan"]
with open(target, "w") as f:
    if change == "truncated":
        f.write(text[: len(text) // 2])
    elif change == "nested":
        f.write("[" * 1000000)
    else:
        json.dump(cache, f)
