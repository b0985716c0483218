#!/usr/bin/env bash
# Line coverage of the package by its tests, at least 95% (pyproject.toml). Needs the package coverage; lines that need
# PyTorch or scikit-learn count as missed where these are not installed.
# usage: coverage.sh PYTHON SOURCE SCRATCH
set -euo pipefail
python=$1 source=$2 scratch=$3

if ! "$python" -c 'import coverage' 2>/dev/null; then
  echo "skipped: the package coverage is not installed"
  exit 77
fi
mkdir -p "$scratch"
export COVERAGE_FILE=$scratch/coverage.data
cd "$source"
"$python" -m coverage run -m pytest -q -p no:cacheprovider python/tests
"$python" -m coverage report --show-missing --skip-covered
