#!/usr/bin/env bash
# Tests the chat program of a tiny model: the same tokens as ONNX Runtime, sampling, stop texts, a full context, bad
# input.
# usage: chat.sh INGOT PYTHON SOURCE SCRATCH PROMPTS "OPTIONS OF make_model.py"
set -euo pipefail
ingot=$1 python=$2 source=$3 scratch=$4 prompts=$5
read -ra shape <<< "$6"

fail() { printf 'chat.sh: %s\n' "$*" >&2; exit 1; }
# Runs the program, which must fail with a message that contains the first argument.
rejects() {
  local message=$1 code=0
  shift
  "$chat" "$@" > "$scratch/out" 2> "$scratch/error" < /dev/null || code=$?
  [ $code = 1 ] || fail "exit code $code instead of 1: $*"
  grep -qF -- "$message" "$scratch/error" || fail "no message \`$message\`: $(cat "$scratch/error")"
}

rm -rf "$scratch"
mkdir -p "$scratch"
"$python" "$source/examples/llm/make_model.py" "$scratch/model" "${shape[@]}"
"$ingot" llm "$scratch/model" -o "$scratch/chat" -q --context 96 --prompt-chunk 16
make -s -C "$scratch/chat" CXX=g++ CXXFLAGS='-O1 -Wall -Wextra'
chat=$scratch/chat/chat

# The program links no library except the C library.
if ldd "$chat" | grep -Ev 'linux-vdso|libc\.so|libm\.so|libpthread|ld-linux'; then
  fail "the program needs another library"
fi

"$chat" --prompt 'Hello' --max-tokens 12 --print-tokens > "$scratch/one"
"$chat" --prompt 'Hello' --max-tokens 12 --print-tokens --threads 3 | cmp - "$scratch/one" || fail "threads change the tokens"
"$chat" --prompt 'Hello' --max-tokens 12 > "$scratch/text"
"$python" -c 'import sys; open(sys.argv[1], "rb").read().decode()' "$scratch/text" || fail "the output is not UTF-8"

# Equal seeds give equal tokens.
for seed in 1 1 2; do
  "$chat" --prompt a --temperature 1.5 --top-k 50 --top-p 0.95 --repetition-penalty 1.1 --seed $seed --max-tokens 12 \
    --print-tokens
done > "$scratch/seeds"
[ "$(sort -u "$scratch/seeds" | wc -l)" = 2 ] || fail "seeds: $(cat "$scratch/seeds")"
# The option --top-k 1 restores the greedy choice, in spite of the temperature.
"$chat" --prompt Hello --temperature 2 --top-k 1 --max-tokens 12 --print-tokens | cmp - "$scratch/one" || fail "--top-k 1"

# A stop text ends the answer and is not printed.
stop=$("$python" -c 'import sys; print(open(sys.argv[1], encoding="utf-8").read()[2:4])' "$scratch/text")
"$chat" --prompt Hello --max-tokens 12 --stop "$stop" > "$scratch/stopped"
"$python" - "$scratch/text" "$scratch/stopped" "$stop" << 'END'
import sys
text, stopped = (open(path, encoding="utf-8").read() for path in sys.argv[1:3])
assert stopped == text[:text.index(sys.argv[3])] + "\n", (text, stopped)
END

# In a conversation, the second turn is computed after the first one.
printf 'Hello\n/reset\nHello\nmore\n' | "$chat" --max-tokens 12 --print-tokens > "$scratch/turns"
[ "$(grep -oFc -- "$(cat "$scratch/one")" "$scratch/turns")" -ge 2 ] || fail "/reset: $(cat "$scratch/turns")"

# A full context. The tiny models end some answers early, so several prompts are tried.
is_full=no drops=no
for prompt in a b c d e f g h; do
  "$chat" --raw --prompt "$(printf '~%.0s' {1..80})$prompt" > /dev/null 2> "$scratch/error"
  ! grep -q 'the context of 96 tokens is full' "$scratch/error" || is_full=yes
  [ "$("$chat" --raw --prompt $prompt --when-full drop --max-tokens 300 --print-tokens | wc -w)" != 300 ] || drops=yes
done
[ $is_full$drops = yesyes ] || fail "a full context: reported $is_full, older half dropped $drops"

# Bad input.
rejects 'the prompt is empty; give a text with --prompt' --raw --prompt ''
head -c 100000 /dev/zero | tr '\0' '~' > "$scratch/long"
rejects 'the prompt is too long: 1000' --prompt-file "$scratch/long"
grep -q 'shorten it, or compile the model with a larger --context' "$scratch/error" || fail "no way out: $(cat "$scratch/error")"
"$chat" --prompt "$(printf 'a\xff\xc3b')" --max-tokens 2 > /dev/null || fail "broken UTF-8"
rejects 'cannot be read' --prompt-file "$scratch/none"
rejects 'is not a number from' --prompt a --top-p 2
rejects 'is not a whole number from 0' --prompt a --seed abc
rejects 'is not a whole number from 1' --prompt a --max-tokens -1
rejects 'unknown option `--tempo`' --tempo 1
rejects 'outside of the vocabulary' --prompt-tokens <(echo 1 999999)
rejects 'is not a number' --prompt-tokens <(echo 1 x)
rejects 'cannot be read; name them with --weights' --prompt a --weights "$scratch/none"
rejects 'but the network needs' --prompt a --weights "$scratch/long"

"$python" "$source/test/llm/tokens_agree.py" "$chat" "$scratch/model/model.onnx" "$prompts" 32
