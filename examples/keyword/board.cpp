// board.cpp: finds the words of a recording in flash, and measures the calls.
//
// Prints the words, and the instructions per call and the memory of two forms
// of the network: one takes 20 ms of new samples in each call, the other
// computes its whole window. Both must give the same probabilities.

#include "board.h"
#include "spotter.h"
#include "whole.h"

namespace {

/// The samples of the recording, and their end: see recording.S.
extern "C" const int16_t recording[], recording_end[];

Spotter spotter;
whole::arena arena;
int16_t window[WHOLE_SAMPLES_ELEMENTS];

/// The number of windows that are also computed as a whole, for comparison.
constexpr int compared = 3;

void print(const char *before, uint32_t number, const char *after) {
  board_print(before);
  board_print_number(int32_t(number));
  board_print(after);
}

/// Copies `count` samples of the recording from index `at` on to RAM, where a
/// microphone driver would store them.
void copy(int16_t *to, size_t at, size_t count) {
  __builtin_memcpy(to, recording + at, count * sizeof *to);
}

/// Whether the probabilities of all classes have the same bits.
bool isSame(const float *a, const float *b) {
  for (int i = 0; i < Spotter::classes; ++i) {
    uint32_t x, y;
    __builtin_memcpy(&x, &a[i], sizeof x);
    __builtin_memcpy(&y, &b[i], sizeof y);
    if (x != y)
      return false;
  }
  return true;
}

} // namespace

int main() {
  size_t count = size_t(recording_end - recording);
  float perTick = float(board_clock_instructions) / float(board_start_clock());
  uint32_t ticks = 0, ticksOfWhole = 0, most = 0;
  int calls = 0, wholes = 0, same = 0;
  for (size_t at = 0; at + Spotter::step <= count; at += Spotter::step) {
    static int16_t samples[Spotter::step];
    copy(samples, at, Spotter::step);
    uint32_t start = board_clock();
    int word = spotter.hear(samples);
    uint32_t taken = board_clock() - start;
    if (word < 0) {
      board_print("the network reports an error\n");
      return 1;
    }
    ticks += taken;
    most = taken > most ? taken : most;
    ++calls;
    if (word > 0) {
      print("", uint32_t((at + Spotter::step) * 10 / Spotter::rate),
            " tenths of a second: ");
      board_print(Spotter::nameOf(word));
      board_print("\n");
    }
    if (calls < int(KEYWORD_STREAM_CALLS) || wholes == compared)
      continue;
    copy(window, at + Spotter::step - WHOLE_SAMPLES_ELEMENTS,
         WHOLE_SAMPLES_ELEMENTS);
    float probabilities[Spotter::classes];
    start = board_clock();
    if (whole::run({window, probabilities}, arena) != INGOT_OK) {
      board_print("the network reports an error\n");
      return 1;
    }
    ticksOfWhole += board_clock() - start;
    ++wholes;
    same += isSame(probabilities, spotter.probabilities);
  }
  if (wholes == 0) {
    board_print("the recording is shorter than the window of the network\n");
    return 1;
  }
  print("new samples only: ", uint32_t(float(ticks) / float(calls) * perTick),
        " instructions a call, ");
  print("arena ", KEYWORD_ARENA_BYTES, " bytes, ");
  print("state ", KEYWORD_STATE_BYTES, " bytes\n");
  print("whole window:     ",
        uint32_t(float(ticksOfWhole) / float(wholes) * perTick),
        " instructions a call, ");
  print("arena ", WHOLE_ARENA_BYTES, " bytes, ");
  print("samples ", sizeof window, " bytes\n");
  print("the same probabilities: ", uint32_t(same), " of ");
  print("", uint32_t(wholes), "\n");
  return same == wholes ? 0 : 1;
}
