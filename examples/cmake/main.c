/* Runs one network twice from C: compiled for any machine (portable) and for
 * this machine (fast). Both use the same arena (working memory). Compares the
 * results. */

#include "fast.h"
#include "portable.h"

#include <stdio.h>

#define MAX(a, b) ((a) > (b) ? (a) : (b))

enum { pixels = 28 * 28, classes = 10 };

static _Alignas(
    64) unsigned char arena[MAX(FAST_ARENA_BYTES, PORTABLE_ARENA_BYTES)];

int main(void) {
  static float image[pixels];
  float expected[classes], result[classes], range = 0, error = 0;
  for (int i = 0; i < pixels; ++i) /* a ring, which resembles a zero */
  {
    int x = i % 28 - 14, y = i / 28 - 14, r = x * x + y * y;
    image[i] = r > 40 && r < 90 ? 255.0f : 0.0f;
  }

  portable_io portable = {.Input3 = image, .Plus214_Output_0 = expected};
  fast_io fast = {.Input3 = image, .Plus214_Output_0 = result};
  if (portable_run(&portable, arena, NULL) != INGOT_OK ||
      fast_run(&fast, arena, NULL) != INGOT_OK)
    return 1;

  int answer = 0;
  for (int i = 0; i < classes; ++i) {
    float size = expected[i] < 0 ? -expected[i] : expected[i];
    float difference = expected[i] - result[i];
    range = MAX(range, size);
    error = MAX(error, difference < 0 ? -difference : difference);
    if (result[i] > result[answer])
      answer = i;
  }
  printf("a ring looks like %d; the two differ by %.1e of the range\n", answer,
         (double)(error / range));
  return error <= 1e-4f * range ? 0 : 1;
}
