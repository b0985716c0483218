// Runs words.cpp with strings that fit, strings that do not fit, and null
// pointers.

#include "words.h"

#include <cstring>

static int fails(ingot_status got, ingot_status want) { return got != want; }

int main() {
  alignas(WORDS_ARENA_ALIGN) static unsigned char arena[WORDS_ARENA_BYTES];
  const char *x[2] = {"abc", "abc"}, *joined[2];
  uint8_t same[2];
  words_io io = {x, joined, same};
  // "abc-" and "abcabc", each with its terminating zero, use all 12 available
  // characters.
  if (fails(words_run(&io, arena, nullptr), INGOT_OK))
    return 1;
  if (strcmp(joined[0], "abc-") || strcmp(joined[1], "abcabc"))
    return 2;
  if (same[0] || !same[1])
    return 3;
  x[0] = "abcd";
  if (fails(words_run(&io, arena, nullptr), INGOT_ERROR_SHAPE))
    return 4;
  x[0] = "a string that is longer than all of the arena";
  if (fails(words_run(&io, arena, nullptr), INGOT_ERROR_SHAPE))
    return 5;
  x[0] = nullptr;
  if (fails(words_run(&io, arena, nullptr), INGOT_ERROR_NULL))
    return 6;
  io.x = nullptr;
  return fails(words_run(&io, arena, nullptr), INGOT_ERROR_NULL);
}
