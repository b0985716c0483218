#!/usr/bin/env bash
# Builds a program that searches sentences, writes an index of 10,000 sentences, and answers three queries.
#
#   run.sh FOLDER [MODEL_FOLDER]
#
# FOLDER receives all results. MODEL_FOLDER has model.onnx and tokenizer.json of a sentence encoder; without this argument,
# make_model.py writes an encoder with random weights. Variables: INGOT, PYTHON (with the packages onnx and numpy), CXX,
# SENTENCES (a text file of your own), PREPARE_FLAGS, INGOT_FLAGS.
set -euo pipefail
[ $# = 1 ] || [ $# = 2 ] || { sed -n 's/^# \{0,1\}//p' "$0" | tail -n +2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
ingot=${INGOT:-$root/build/bin/ingot}
python=${PYTHON:-$root/build/venv/bin/python3}
mkdir -p "$1"
out=$(cd "$1" && pwd)
model=${2:-$out/model}
sentences=$(realpath "${SENTENCES:-$out/sentences.txt}")

if [ $# = 1 ]; then
  "$python" "$here/make_model.py" "$model"
fi
# prepare.py prints the options of `ingot` for the sizes of the two networks.
options=$("$python" "$here/prepare.py" "$model" "$out" ${PREPARE_FLAGS:-})
cd "$out"
# The weights become an object file, which is linked into the program.
"$ingot" encoder.onnx -o network.cpp $options --threads none --weights object --force -q ${INGOT_FLAGS:-}
"$ingot" tokenizer tokenizer.json -o tokenizer.cpp --force -q
"${CXX:-g++}" -std=c++17 -O2 -I. "$here/search.cpp" network.cpp tokenizer.cpp network.weights.o -pthread -o search

if [ -z "${SENTENCES:-}" ]; then
  "$python" "$here/make_sentences.py" "$sentences" 10000
fi
./search index "$sentences" sentences.index
./search query sentences.index --best 3 \
  "A nurse repaired an antique clock in the harbour." \
  "How much does a second-hand microscope cost?" \
  "ein Gemüsegarten mit Tomaten und Äpfeln"
