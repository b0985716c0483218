/* board.h - the functions that the programs of this folder need from a board. */
#ifndef FIRMWARE_BOARD_H
#define FIRMWARE_BOARD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Print text to a debugger or the emulator (semihosting), and stop. */
void board_print(const char *text);
void board_print_number(int32_t number);
__attribute__((noreturn)) void board_exit(int status);

/* Bytes of code and constants (text), of initialized and of zero-initialized
 * variables (data, bss), and the largest stack use so far. */
struct board_memory {
  uint32_t text, data, bss, stack;
};
struct board_memory board_memory(void);
void board_print_memory(void);

/* A timer of the board: board_clock() returns its ticks. With QEMU's option
 * -icount, a tick is a fixed number of instructions. board_start_clock() starts
 * the timer and returns the ticks of a loop of board_clock_instructions
 * instructions, from which the caller computes the instructions per tick. */
enum { board_clock_instructions = 2000001 };
uint32_t board_start_clock(void);
uint32_t board_clock(void);

#ifdef __cplusplus
}
#endif
#endif
