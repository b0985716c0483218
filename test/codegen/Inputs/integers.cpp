#include "check.h"

int main() {
  int8_t a8 = -100, b8 = 77, y8[16] = {};
  int16_t a16 = -25000, y16[4] = {};
  int32_t a32[2] = {-2000000000, 3}, y32[8] = {};
  float f[4] = {};
  int64_t a64[2] = {-5000000000, -7}, y64[8] = {};
  uint8_t a1[2] = {1, 0}, y1[4] = {};
  integers_io io = {&a8, &b8, &a16, a32, a64, a1, y8, y16, y32, f, y64, y1};
  SAME(integers_run(&io, nullptr, nullptr), INGOT_OK);
  SAME(y8[0], -23);
  SAME(y8[1], 79);
  SAME(y8[2], int8_t(-7700));
  SAME(y8[3], -33);
  SAME(y8[4], 52);
  SAME(y8[5], int8_t(-800));
  SAME(y8[6], -13);
  SAME(y8[7], 19);
  SAME(y8[8], int8_t(((-100 & 77) | 3) ^ -128));
  SAME(y8[9], 77);
  SAME(y8[10], -100);
  SAME(y8[11], -128);
  SAME(y16[0], int16_t(625000000u));
  SAME(y16[1], 0);
  SAME(y16[2], 40536 % 15);
  SAME(y32[0], int32_t(uint32_t(-2000000000) * 3u + 3u));
  SAME(y32[1], INT32_MIN);
  SAME(y32[2], 0);
  SAME(y32[3], -1);
  SAME(y32[4], 2000000000);
  SAME(y32[5], y32[0]);
  SAME(f[0], -2e9f);
  SAME(f[1], 2294967296.0f);
  SAME(f[2], 1.0f);
  SAME(f[3], 1.0f);
  SAME(y64[0], 35000000000);
  SAME(y64[1], INT64_MIN);
  SAME(y64[2], int32_t(-5000000000));
  SAME(y64[3], uint32_t(-5000000000));
  SAME(y64[4], -3);
  SAME(y1[0], 0);
  SAME(y1[1], 1);
  SAME(y1[2], 0);
  SAME(y1[3], 0);
}
