#!/usr/bin/env bash
# Checks the coding rules that can be checked automatically on all files in git,
# and reports each violation.
# usage: check.sh SOURCE
set -uo pipefail
shopt -s lastpipe # so that `complain`, the last command of a pipe, can set `failed` in this shell
cd "$1" || exit 1
git rev-parse --git-dir >/dev/null 2>&1 || { echo "not a git checkout: nothing to check"; exit 77; }

failed=0
complain() { # RULE, places on standard input
  local places
  places=$(cat)
  [ -n "$places" ] || return 0
  printf '%s:\n%s\n\n' "$1" "$places"
  failed=1
}

git grep -nwiE 'x86|x86_64|sse|avx[0-9]*|vnni|amx|neon|mve|cortex|cuda|hexagon|hvx' -- \
  'compiler/*.cpp' 'compiler/*.h' 'dialects/' 'passes/' 'codegen/' ':!*.md' |
  complain "A target's name outside targets/"
# The words are written in two parts, so that the search does not find them here.
git grep -nwE 'TO''DO|FIX''ME|XX''X' -- ':!LICENSE' | complain "An open end"
# Words of our own for which the field has a term (words.tsv); docs/internals/glossary.md
# explains the others.
while IFS=$'\t' read -r word instead; do
  git grep -nwiE "$word" -- '*.cpp' '*.h' '*.td' '*.def' '*.inc' '*.md' '*.py' '*.mlir' '*.test' \
    ':!docs/internals/glossary.md' | complain "Say \"$instead\" instead"
done <test/style/words.tsv
git ls-files -z '*.cpp' '*.h' '*.td' '*.py' '*.cmake' | xargs -0 wc -l |
  awk '$2 != "total" && $1 > 800 { print $2 ": " $1 " lines" }' |
  complain "A file of more than 800 lines"
git ls-files '*[Uu]tils*' '*[Cc]ommon*' '*[Hh]elpers*' '*[Mm]isc*' |
  complain "A file name that says nothing"
git grep -nE '[[:space:]]+$' -- '*.cpp' '*.h' '*.td' '*.py' '*.cmake' '*CMakeLists.txt' |
  complain "White space at the end of a line"
git ls-files -z '*.cpp' '*.h' '*.c' | xargs -0 clang-format-22 --dry-run 2>&1 |
  grep -E 'warning|error|not found' | cut -d: -f1,2 | sort -u |
  complain "Not formatted (./dev format)"

exit $failed
