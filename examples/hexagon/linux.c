/* Program start, exit and text output on Linux for Hexagon without a C library.
 *
 * A system call is trap0(#1) with its number in r6. Programs that are built with
 * Qualcomm's SDK have a C library and do not need this file. */
#include "board.h"

__asm__(".text\n.globl _start\n_start:\n"
        "{ call main }\n{ r6 = #94 }\n{ trap0(#1) }\n");

void board_print(const char *text) {
  const char *end = text;
  while (*end)
    ++end;
  register int r0 __asm__("r0") = 1;
  register const char *r1 __asm__("r1") = text;
  register int r2 __asm__("r2") = end - text;
  register int r6 __asm__("r6") = 64;
  __asm__ volatile("trap0(#1)"
                   : "+r"(r0)
                   : "r"(r1), "r"(r2), "r"(r6)
                   : "memory");
}

void board_print_number(int32_t number) {
  char text[12] = {0};
  int at = sizeof text - 1;
  uint32_t rest = number < 0 ? -(uint32_t)number : (uint32_t)number;
  for (; rest >= 10; rest /= 10)
    text[--at] = (char)('0' + rest % 10);
  text[--at] = (char)('0' + rest);
  if (number < 0)
    text[--at] = '-';
  board_print(text + at);
}

/* A Linux process has no board memory to report. */
void board_print_memory(void) {}

void *memcpy(void *to, const void *from, size_t bytes) {
  char *t = to;
  for (const char *f = from, *end = f + bytes; f < end;)
    *t++ = *f++;
  return to;
}

/* clang calls this function to copy aligned memory, such as whole vectors. In the
 * SDK it is part of libclang_rt.builtins. */
void __hexagon_memcpy_likely_aligned_min32bytes_mult8bytes(void *to,
                                                           const void *from,
                                                           unsigned bytes);
void __hexagon_memcpy_likely_aligned_min32bytes_mult8bytes(void *to,
                                                           const void *from,
                                                           unsigned bytes) {
  memcpy(to, from, bytes);
}

void *memset(void *to, int value, size_t bytes) {
  for (char *t = to, *end = t + bytes; t < end;)
    *t++ = (char)value;
  return to;
}
