/* board.h - what the programs of this folder ask of a board. */
#ifndef FIRMWARE_BOARD_H
#define FIRMWARE_BOARD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Text for whoever watches: a debugger, or the emulator (semihosting). */
void board_print(const char *text);
void board_print_number(int32_t number);
__attribute__((noreturn)) void board_exit(int status);

/* Bytes of code and constants, of variables with and without initial values,
 * and of the stack as far as it was ever used. */
struct board_memory {
  uint32_t text, data, bss, stack;
};
struct board_memory board_memory(void);
void board_print_memory(void);

/* A timer of the board, in ticks since board_start_clock(). An emulator that is
 * told to count (-icount) makes a tick a fixed number of instructions. Starting
 * it returns the ticks of a loop of this many: */
enum { board_clock_instructions = 2000001 };
uint32_t board_start_clock(void);
uint32_t board_clock(void);

#ifdef __cplusplus
}
#endif
#endif
