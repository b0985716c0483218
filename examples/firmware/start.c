/* start.c - from reset to main, on any Cortex-M.
 *
 * Has the vector table; enables the floating-point unit, copies initial values,
 * clears .bss, and fills the stack with a pattern from which board_memory later
 * determines the stack use. There is no C library: this file defines the memory
 * functions that compilers call, also by their names in Arm's ABI. */
#include "board.h"

#include <stdint.h>

extern uint32_t firmware_data[], firmware_data_end[], firmware_data_image[];
extern uint32_t firmware_bss[], firmware_bss_end[], firmware_stack_top[];
extern char firmware_text[], firmware_text_end[];
int main(void);

static const uint32_t paint = 0x5AA55AA5;

void reset(void) {
  /* Enables coprocessors 10 and 11, the floating-point unit; the bits have no
   * effect on cores without one. */
  *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20;
  __asm__ volatile("dsb\n\tisb" ::: "memory");
  const uint32_t *from = firmware_data_image;
  for (uint32_t *to = firmware_data; to < firmware_data_end;)
    *to++ = *from++;
  for (uint32_t *to = firmware_bss; to < firmware_bss_end;)
    *to++ = 0;
  uint32_t *stack;
  __asm__ volatile("mov %0, sp" : "=r"(stack));
  for (uint32_t *to = firmware_bss_end; to < stack;)
    *to++ = paint;
  board_exit(main());
}

static void fault(void) {
  board_print("the processor reports a fault\n");
  board_exit(1);
}

typedef void handler(void);
struct vectors {
  const void *stack;
  handler *handlers[15];
};
extern const struct vectors vectors;
__attribute__((section(".vectors"), used)) const struct vectors vectors = {
    firmware_stack_top, {reset, fault, fault, fault, fault, fault, fault}};

struct board_memory board_memory(void) {
  const uint32_t *free = firmware_bss_end;
  while (free < firmware_stack_top && *free == paint)
    ++free;
  struct board_memory memory = {
      (uint32_t)(firmware_text_end - firmware_text),
      4u * (uint32_t)(firmware_data_end - firmware_data),
      4u * (uint32_t)(firmware_bss_end - firmware_bss),
      4u * (uint32_t)(firmware_stack_top - free)};
  return memory;
}

void *memcpy(void *to, const void *from, size_t bytes) {
  char *t = to;
  for (const char *f = from, *end = f + bytes; f < end;)
    *t++ = *f++;
  return to;
}

void *memset(void *to, int value, size_t bytes) {
  for (char *t = to, *end = t + bytes; t < end;)
    *t++ = (char)value;
  return to;
}

typedef void copies(void *to, const void *from, size_t bytes);
typedef void clears(void *to, size_t bytes);
typedef void sets(void *to, size_t bytes, int value);
#define ALIAS(of) __attribute__((alias(#of)))

copies copy, __aeabi_memcpy ALIAS(copy), __aeabi_memcpy4 ALIAS(copy),
    __aeabi_memcpy8 ALIAS(copy);
clears clear, __aeabi_memclr ALIAS(clear), __aeabi_memclr4 ALIAS(clear),
    __aeabi_memclr8 ALIAS(clear);
sets set, __aeabi_memset ALIAS(set), __aeabi_memset4 ALIAS(set),
    __aeabi_memset8 ALIAS(set);

void copy(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }
void clear(void *to, size_t bytes) { memset(to, 0, bytes); }
void set(void *to, size_t bytes, int value) { memset(to, value, bytes); }
