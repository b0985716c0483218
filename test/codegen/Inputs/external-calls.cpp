#include "check.h"

#include <cstring>

extern "C" void mix(const uint8_t *__restrict x, const float *__restrict w,
                    uint8_t *__restrict y, int64_t n, int64_t shift,
                    float scale, const char *__restrict mode,
                    const int64_t *__restrict pads,
                    const float *__restrict taps) {
  SAME(n, 8);
  SAME(shift, -3);
  SAME(scale, 0.25f);
  SAME(std::strcmp(mode, "a\"\\b"), 0);
  SAME(pads[0], 1);
  SAME(pads[1], -2);
  SAME(taps[2], 2.0f);
  for (int64_t i = 0; i < n; ++i)
    y[i] = uint8_t(x[i] + w[i % 2]);
}

int main() {
  int8_t x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8];
  float w[2] = {10, 20};
  external_io io = {};
  io.x = x, io.w = w, io.y = y;
  SAME(external_run(&io, nullptr, nullptr), INGOT_OK);
  SAME(y[0], 11);
  SAME(y[7], 28);
}
