// timeline.cpp: records when each kernel of a network starts and ends, and
// prints the log that `ingot trace` converts to a timeline.
//
// The trace hook, a function that is called before and after each kernel, only
// stores the time: printing would take longer than a kernel. The timer of an
// emulated board counts instructions, and the log states that a core executes
// 100 million of them per second. On a real board, ticks are real time, and the
// first line of the log must state the frequency of the timer.

#include "board.h"
#include "traced.h"

namespace {

constexpr int runs = 2, mostCalls = 64;

struct Call {
  int32_t kernel, finished;
  uint32_t ticks;
};
Call calls[mostCalls];
int count;

void record(void *, int32_t kernel, int32_t finished) {
  if (count < mostCalls)
    calls[count++] = {kernel, finished, board_clock()};
}

traced::arena arena;
float image[TRACED_INPUT3_ELEMENTS], scores[TRACED_PLUS214_OUTPUT_0_ELEMENTS];

} // namespace

int main() {
  uint32_t ticks = board_start_clock();
  ingot_context context = {};
  context.trace = record;
  traced_io io = {image, scores};
  for (int run = 0; run < runs; ++run)
    if (traced_run(&io, &arena, &context) != INGOT_OK) {
      board_print("the network reports an error\n");
      return 1;
    }
  board_print("ingot-trace clock ");
  board_print_number(
      int32_t(float(ticks) * (100e6f / float(board_clock_instructions))));
  for (int32_t kernel = 0; const char *name = traced_kernel_name(kernel);
       ++kernel) {
    board_print("\ningot-trace name ");
    board_print_number(kernel);
    board_print(" ");
    board_print(name);
  }
  for (int i = 0; i < count; ++i) {
    board_print("\ningot-trace ");
    board_print_number(calls[i].kernel);
    board_print(" ");
    board_print_number(calls[i].finished);
    board_print(" ");
    board_print_number(int32_t(calls[i].ticks - calls[0].ticks));
  }
  board_print("\n");
  return 0;
}
