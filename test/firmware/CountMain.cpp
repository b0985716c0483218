// Measures one run of a model on a board.
//
// count.py writes count_model.h beside this file: count_fill_inputs(),
// count_run() and the board's timer. Prints the status, the stack that the run
// needed, the timer ticks of the run, and the ticks of a loop of known length.

#include "count_model.h"

#include <stdint.h>
#include <stdio.h>

extern "C" {
// Empty functions, whose addresses mark the begin and the end of the code that
// CountPlugin.c counts.
__attribute__((noinline)) void count_begin(void) { __asm__ volatile(""); }
__attribute__((noinline)) void count_end(void) { __asm__ volatile(""); }

/// Executes 2 * turns + 1 instructions.
__attribute__((noinline, naked)) void count_loop(unsigned) {
  __asm__ volatile("1: subs r0, #1\n\tbne 1b\n\tbx lr");
}
} // extern "C"

static volatile uint32_t &at(uint32_t address) {
  return *reinterpret_cast<volatile uint32_t *>(address);
}

#if defined(COUNT_SYSTEM_COUNTER)
// The system counter of the MPS3 board: a control frame, and a read frame
// 0x1000 bytes after it.
static void startTimer() { at(COUNT_SYSTEM_COUNTER) = 1; }
static uint32_t now() { return at(COUNT_SYSTEM_COUNTER + 0x1000); }
#else
// A down-counting timer of the MPS2 boards. Its registers of 4 bytes are
// control, value and reload, in this order.
static void startTimer() {
  at(COUNT_TIMER + 8) = at(COUNT_TIMER + 4) = 0xFFFFFFFFu;
  at(COUNT_TIMER) = 1;
}
static uint32_t now() { return ~at(COUNT_TIMER + 4); }
#endif

static char *stackPointer() {
  char *pointer;
  __asm__ volatile("mov %0, sp" : "=r"(pointer));
  return pointer;
}

int main() {
  startTimer();
  const unsigned turns = 1000000;
  uint32_t start = now();
  count_loop(turns);
  uint32_t loop = now() - start;

  count_fill_inputs();
  // Fills COUNT_STACK bytes of the stack below this frame with a pattern. The
  // deepest byte that count_run() overwrites shows how much stack it needs.
  const uint32_t most = COUNT_STACK, margin = 64;
  char *top = stackPointer() - margin;
  for (char *p = top - most; p < top; ++p)
    *(volatile char *)p = 0x5A;
  start = now();
  count_begin();
  int status = count_run();
  count_end();
  uint32_t run = now() - start;
  char *deepest = top - most;
  while (deepest < top && *(volatile char *)deepest == 0x5A)
    ++deepest;
  printf("status %d\nstack %u\nloop_instructions %u\nloop_ticks %u\n"
         "run_ticks %u\n",
         status, unsigned(top - deepest) + margin, 2 * turns + 1,
         unsigned(loop), unsigned(run));
  return 0;
}
