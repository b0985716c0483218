// compare.cpp: the same network in float and in int8.
//
// Both networks classify the pictures of characters that are stored in flash
// (described in examples/quantize); they share one arena (working memory). For
// each network, prints its memory, its instructions per picture and how many
// pictures it classifies correctly.

#include "board.h"
#include "chars.h"
#include "chars_int8.h"

namespace {

constexpr size_t pixels = CHARS_INPUT_ELEMENTS; // three channels
constexpr size_t classes = CHARS_LOGITS_ELEMENTS;
constexpr size_t most = 20; // the number of pictures to classify

/// A picture as stored in flash. The network expects its pixels scaled from
/// 0..255 to -1..1.
struct Picture {
  uint8_t character;
  uint8_t input[pixels];
};
extern "C" const Picture pictures[], pictures_end[];

union {
  chars::arena exact;
  chars_int8::arena small;
} arena;

/// The character that one network recognizes in each picture, and the timer
/// ticks that all pictures take together.
struct Answers {
  uint8_t characters[most];
  uint32_t ticks;
};

template <typename Run> bool look(size_t count, Answers &answers, Run run) {
  answers.ticks = 0;
  for (size_t i = 0; i < count; ++i) {
    static float input[pixels];
    float logits[classes];
    for (size_t k = 0; k < pixels; ++k)
      input[k] = pictures[i].input[k] / 127.5f - 1;
    uint32_t start = board_clock();
    if (run(input, logits) != INGOT_OK)
      return false;
    answers.ticks += board_clock() - start;
    uint8_t best = 0;
    for (uint8_t k = 1; k < classes; ++k)
      best = logits[k] > logits[best] ? k : best;
    answers.characters[i] = best;
  }
  return true;
}

void print(const char *before, size_t number, const char *after) {
  board_print(before);
  board_print_number(int32_t(number));
  board_print(after);
}

} // namespace

int main() {
  size_t count = size_t(pictures_end - pictures);
  count = count < most ? count : most;
  float perTick = float(board_clock_instructions) / float(board_start_clock());
  static Answers exact, small;
  bool ran = look(count, exact,
                  [](const float *input, float *logits) {
                    return chars::run({input, logits}, arena.exact);
                  }) &&
             look(count, small, [](const float *input, float *logits) {
               return chars_int8::run({input, logits}, arena.small);
             });
  if (!ran) {
    board_print("a network reports an error\n");
    return 1;
  }

  auto report = [&](const char *name, const Answers &answers, size_t weights,
                    size_t bytes) {
    size_t right = 0;
    for (size_t i = 0; i < count; ++i)
      right += answers.characters[i] == pictures[i].character;
    board_print(name);
    print("weights ", weights, " bytes, ");
    print("arena ", bytes, " bytes, ");
    print("", size_t(float(answers.ticks) / float(count) * perTick),
          " instructions a picture, ");
    print("", right, " of ");
    print("", count, " right\n");
  };
  report("float:  ", exact, CHARS_WEIGHTS_BYTES, CHARS_ARENA_BYTES);
  report("8 bits: ", small, CHARS_INT8_WEIGHTS_BYTES, CHARS_INT8_ARENA_BYTES);
  size_t same = 0;
  for (size_t i = 0; i < count; ++i)
    same += exact.characters[i] == small.characters[i];
  print("The same character as in float: ", same, " of ");
  print("", count, ".\n");
  return 0;
}
