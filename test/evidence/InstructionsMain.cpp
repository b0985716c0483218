// Runs a model on a board with many different inputs. CountPlugin.c counts the
// instructions of each run, between count_begin and count_end.

#include "count_model.h"

#include <stdio.h>

extern "C" {
__attribute__((noinline)) void count_begin(void) { __asm__ volatile(""); }
__attribute__((noinline)) void count_end(void) { __asm__ volatile(""); }
} // extern "C"

int main() {
  static const float scales[] = {1.0f, 16.0f, 0.01f, 1000.0f};
  for (unsigned run = 0; run < COUNT_RUNS; ++run) {
    count_scale = scales[run % 4];
    count_fill_inputs();
    count_begin();
    int status = count_run();
    count_end();
    if (status != 0) {
      printf("status %d\n", status);
      return 1;
    }
  }
  return 0;
}
