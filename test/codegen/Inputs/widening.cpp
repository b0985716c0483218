#include "check.h"

int main() {
  int8_t a[48];
  int16_t w[48], both[48];
  int32_t bytes[48], words[48], sums[16];
  float floats[16];
  for (int i = 0; i < 48; ++i) {
    a[i] = int8_t(i * 37 - 100);
    w[i] = int16_t(i * 331 - 8000);
  }
  widening_io io = {};
  io.a = a, io.w = w;
  io.bytes = bytes, io.words = words, io.both = both;
  io.floats = floats, io.sums = sums;
  SAME(widening_run(&io, nullptr, nullptr), INGOT_OK);

  for (int i = 0; i < 24; ++i) {
    bool isUnsigned = i < 8 || (i >= 16 && i < 20);
    SAME(bytes[i], isUnsigned ? int32_t(uint8_t(a[i])) : a[i]);
    SAME(words[i], isUnsigned ? int32_t(uint16_t(w[i])) : w[i]);
  }
  for (int i = 0; i < 48; ++i) {
    bool isUnsigned = i < 16 || (i >= 32 && i < 40);
    SAME(both[i], isUnsigned ? int(uint8_t(a[i])) : a[i]);
  }
  for (int lane = 0; lane < 8; ++lane) {
    int32_t sum = 0;
    for (int i = 2 * lane; i < 48; i += 16)
      sum += w[i] * w[i] + w[i + 1] * w[i + 1];
    SAME(floats[lane], sum);
    SAME(sums[lane], sum);
  }
  return 0;
}
