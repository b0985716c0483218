#!/usr/bin/env bash
# Tests examples/budget: a commit with a network that grows is rejected, and the output names
# the kernel that grew.
# usage: growth.sh CMAKE SOURCE BUILD SCRATCH
set -euo pipefail
source=$2 build=$3 scratch=$4

fail() { printf 'growth.sh: %s\n' "$*" >&2; cat "$scratch/log" >&2; exit 1; }

rm -rf "$scratch"
mkdir -p "$scratch/project/models"
cd "$scratch/project"
export INGOT=$build/bin/ingot GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test@test GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@test
git init -q -b main .
cp -r "$source/examples/budget" budget
sed -i 's/--target cortex-m4/--target generic/' budget/budgets.txt
ln -s ../../budget/hook .git/hooks/pre-commit
"$build/venv/bin/python3" "$source/test/tools/Inputs/grown.py" "$scratch"

commit() {
  cp "$1" models/digits.onnx
  git add -A
  git commit -q -m "$2" >"$scratch/log" 2>&1
}
commit "$scratch/old.onnx" first || fail "a new network within its limits is refused"
grep -q 'models/digits.onnx is new' "$scratch/log" || fail "the new network is not inspected"
if commit "$scratch/new.onnx" grown; then fail "a network that grows is committed"; fi
grep -q '^error\[over-growth\]: flash grows from' "$scratch/log" || fail "the reason is missing"
grep -q '^~ .*weights [0-9,]* -> ' "$scratch/log" || fail "the kernel that grew is missing"
[ "$(git log --format=%s)" = first ] || fail "there is a second commit"

# A smaller network is accepted. With a branch as BASE, the working tree is compared with that
# branch.
sed -i 's/--max-flash-growth 2%/--max-flash-growth 9K/; s/--max-ram-growth 0/--max-ram-growth 1K/' budget/budgets.txt
commit "$scratch/new.onnx" grown || fail "a growth that is allowed is refused"
git checkout -q -b smaller
cp "$scratch/old.onnx" models/digits.onnx
budget/check budget/budgets.txt main >"$scratch/log" 2>&1 || fail "a smaller network is refused"
grep -q 'models/digits.onnx changed' "$scratch/log" || fail "nothing is compared"
sed -i 's/--max-flash 48K/--max-flash 16/' budget/budgets.txt
code=0
budget/check budget/budgets.txt main >"$scratch/log" 2>&1 || code=$?
[ $code = 1 ] && grep -q '^error\[over-budget\]' "$scratch/log" || fail "a network beyond the board's flash is accepted"

# The program pre-commit, where it is installed.
if command -v pre-commit >/dev/null; then
  cp budget/pre-commit-config.yaml .pre-commit-config.yaml
  git add -A
  if pre-commit run model-budget >"$scratch/log" 2>&1; then fail "pre-commit accepts a network beyond the board's flash"; fi
  grep -q '^error\[over-budget\]' "$scratch/log" || fail "pre-commit does not say why"
  sed -i 's/--max-flash 16/--max-flash 48K/' budget/budgets.txt
  git add -A
  pre-commit run model-budget >"$scratch/log" 2>&1 || fail "pre-commit refuses a smaller network"
fi
