#include "check.h"

#include <cmath>

static float x[65536], y[65536];
static double a[65536], b[65536];

int main() {
  uint64_t state = 88172645463325252u;
  for (int i = 0; i < 65536; ++i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    uint32_t narrow = uint32_t(state >> 32) & 0x7fffffff;
    // Squares and their neighbours are the hardest cases for rounding.
    std::memcpy(&x[i], &narrow, 4);
    if (i % 4 == 1)
      x[i] = std::nextafter(float(i) * float(i), i % 8 == 1 ? 0.0f : INFINITY);
    uint64_t wide = state & 0x7fffffffffffffffu;
    std::memcpy(&a[i], &wide, 8);
    if (i % 4 == 1)
      a[i] = std::nextafter(double(i) * 1e5 * i * 1e5, i % 8 == 1 ? 0 : 1e300);
    if (i % 4 == 2)
      a[i] = std::ldexp(1 + i / 65536.0, -1074 + i % 60);
    if (i % 4 == 3)
      x[i] = std::ldexp(1 + float(i) / 65536, -149 + i % 30);
  }
  const float special[] = {0, -0.0f, INFINITY, NAN, -1, -INFINITY, 1, 3.4e38f};
  for (int i = 0; i < 8; ++i)
    a[i] = x[i] = special[i];
  roots_io io = {x, a, y, b};
  SAME(roots_run(&io, nullptr, nullptr), INGOT_OK);
  for (int i = 0; i < 65536; ++i) {
    if (std::isnan(std::sqrt(x[i])))
      SAME(std::isnan(y[i]), true);
    else
      same("f32", y[i], std::sqrt(x[i]));
    if (std::isnan(std::sqrt(a[i])))
      SAME(std::isnan(b[i]), true);
    else
      same("f64", b[i], std::sqrt(a[i]));
  }
}
