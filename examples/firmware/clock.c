/* clock.c - a timer of the board, calibrated in instructions. */
#include "board.h"

static volatile uint32_t *at(uint32_t address) {
  return (volatile uint32_t *)address;
}

/* Executes 2 * turns + 1 instructions. */
__attribute__((noinline, naked)) static void
loop(__attribute__((unused)) uint32_t turns) {
  __asm__ volatile("1: subs r0, #1\n\tbne 1b\n\tbx lr");
}

#if defined(BOARD_SYSTEM_COUNTER)
/* The system counter of the MPS3 board: a control frame, and a read frame
 * 0x1000 bytes after it. */
static void start(void) { *at(BOARD_SYSTEM_COUNTER) = 1; }
uint32_t board_clock(void) { return *at(BOARD_SYSTEM_COUNTER + 0x1000); }
#else
/* A down-counting timer of the MPS2 board. Its registers of 4 bytes are
 * control, value and reload, in this order. */
static void start(void) {
  *at(BOARD_TIMER + 8) = *at(BOARD_TIMER + 4) = 0xFFFFFFFFu;
  *at(BOARD_TIMER) = 1;
}
uint32_t board_clock(void) { return ~*at(BOARD_TIMER + 4); }
#endif

uint32_t board_start_clock(void) {
  start();
  uint32_t before = board_clock();
  loop(board_clock_instructions / 2);
  return board_clock() - before;
}
