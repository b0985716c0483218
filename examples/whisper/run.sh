#!/usr/bin/env bash
# Builds the program for a Whisper model unless it is up to date, and transcribes files with it.
# usage: run.sh MODEL_FOLDER FILE.wav... [OPTIONS]
# The program and its sources are written to $OUT (default: whisper-NAME in the current folder).
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,4s/^# //p' "$0"; exit 2; }
model=$1
shift
[ -d "$model" ] || { echo "error: \`$model\` is not a folder" >&2; exit 1; }
out=${OUT:-whisper-$(basename "$model")}
make -s -f "$(dirname "$0")/Makefile" MODEL="$model" OUT="$out"
exec "$out/whisper" "$@"
