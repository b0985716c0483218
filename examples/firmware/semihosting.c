/* semihosting.c - output and exit by semihosting: a breakpoint instruction with
 * number 0xab makes the debugger or the emulator execute the operation in r0.
 * On a board without a debugger, write board_print for its serial port. */
#include "board.h"

enum { write0 = 4, exit_extended = 0x20, application_exit = 0x20026 };

static void call(uint32_t operation, const void *argument) {
  register uint32_t r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void board_print(const char *text) { call(write0, text); }

void board_print_number(int32_t number) {
  char text[12], *digit = text + sizeof text;
  uint32_t rest = number < 0 ? 0u - (uint32_t)number : (uint32_t)number;
  *--digit = 0;
  do
    *--digit = (char)('0' + rest % 10);
  while (rest /= 10);
  if (number < 0)
    *--digit = '-';
  board_print(digit);
}

void board_exit(int status) {
  const uint32_t arguments[2] = {application_exit, (uint32_t)status};
  call(exit_extended, arguments);
  for (;;) {
  }
}

static void print_bytes(const char *what, uint32_t bytes) {
  board_print(what);
  board_print_number((int32_t)bytes);
}

void board_print_memory(void) {
  struct board_memory memory = board_memory();
  print_bytes("text ", memory.text);
  print_bytes(" data ", memory.data);
  print_bytes(" bss ", memory.bss);
  print_bytes(" stack ", memory.stack);
  board_print(" bytes\n");
}
