#!/usr/bin/env bash
# Builds the pages of examples/web and opens them in Debian's Chromium: web.sh SOURCE BUILD WORK PYTHON
set -euo pipefail
source=$1 build=$2 work=$3 python=$4
command -v chromium >/dev/null || { echo "chromium is not installed"; exit 77; }
mkdir -p "$work/shots"
[ -x "$work/venv/bin/python3" ] || "$python" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet playwright numpy
rm -rf "$work/site"
PYTHONPATH="$build/python" "$source/examples/web/build" "$work/site" "$python"
"$work/venv/bin/python3" "$source/test/examples/web_pages.py" "$work/site" --shots "$work/shots"
