#include "check.h"

#include <cmath>

static float nanOr(float x, float a, float b) {
  return std::isnan(a) || std::isnan(b) ? NAN : x;
}

int main() {
  float a[8] = {1, -2, 0.25f, -0.0f, 5, NAN, 7, 8.5f};
  float b[8] = {2, -3, 0.25f, 0, NAN, 1, -7, 9};
  double d[8] = {0, -1, 2, -3, 4, -5, NAN, 7};
  uint8_t t[8] = {1, 0, 1, 0, 0, 0, 1, 1};
  float masks_y[32], extrema_y[32], shuffles_y[40], shuffles_s[4];
  uint8_t masks_m[16];
  int8_t ia[16], ib[16], is = 5, iy[48], iq[16];
  for (int i = 0; i < 16; ++i) {
    ia[i] = int8_t(i * 37 - 100);
    ib[i] = int8_t(i * 91 + 3);
  }
  int32_t iw[16], hi[8];
  float fw[16], hy[8], hg[4];
  uint16_t h[8] = {0x3c00, 0xc000, 0x7bff, 0x0001,
                   0x8000, 0x3555, 0x4248, 1000};
  uint16_t hb[8];
  double hd[4] = {1.1, -2.2, 1e300, 3};
  float s[8] = {1, 2, 3, 4, 5, 6, 7, 8};

  vectors_io io = {};
  io.masks_a = a, io.masks_b = b, io.masks_d = d, io.masks_t = t;
  io.masks_y = masks_y, io.masks_m = masks_m;
  io.extrema_a = a, io.extrema_b = b, io.extrema_y = extrema_y;
  io.shuffles_a = s, io.shuffles_y = shuffles_y, io.shuffles_s = shuffles_s;
  io.integers_a = ia, io.integers_b = ib, io.integers_s = &is;
  io.integers_y = iy, io.integers_w = iw, io.integers_f = fw,
  io.integers_q = iq;
  io.halves_h = h, io.halves_y = hy, io.halves_b = hb, io.halves_d = hd;
  io.halves_g = hg, io.halves_i = hi;
  SAME(vectors_run(&io, nullptr, nullptr), INGOT_OK);

  for (int i = 0; i < 8; ++i) {
    bool less = a[i] < b[i], above = !(a[i] <= 0.5f);
    bool any = (less && d[i] >= 0) || above;
    same("select", masks_y[i], any ? a[i] : b[i]);
    same("loaded mask", masks_y[8 + i], t[i] ? -0.0f : a[i]);
    same("stored mask", masks_m[i], uint8_t(any));
    same("not", masks_m[8 + i], uint8_t(!less));
    same("number", masks_y[16 + i], float(less));
    bool unordered = std::isnan(a[i]) || std::isnan(b[i]);
    bool differs = a[i] < b[i] || a[i] > b[i];
    same("mask of masks", masks_y[24 + i],
         (unordered ? differs : less) ? 0.5f : 0.0f);

    float largest = nanOr(a[i] > b[i] ? a[i] : b[i], a[i], b[i]);
    if (std::isnan(largest))
      SAME(std::isnan(extrema_y[i]), true);
    else
      same("maximumf", extrema_y[i], largest);
    same("minnumf", extrema_y[8 + i],
         std::isnan(a[i])   ? b[i]
         : std::isnan(b[i]) ? a[i]
         : a[i] < b[i]      ? a[i]
                            : b[i]);
    if (std::isnan(a[i]))
      SAME(std::isnan(extrema_y[16 + i]), true);
    else
      same("relu", extrema_y[16 + i], 0.0f > a[i] ? 0.0f : a[i]);
    float size = std::fabs(a[i]);
    float sum = std::copysign(size, b[i]) + std::sqrt(size);
    if (!std::isnan(sum))
      same("sum", extrema_y[24 + i], sum);
  }

  const float inserted[8] = {8, 7, 6, 5, 5, 6, 7, 8};
  const float mixed[8] = {1, 8, 2, 7, 3, 6, 4, 5};
  for (int i = 0; i < 8; ++i) {
    same("insert slice", shuffles_y[i], inserted[i]);
    same("shuffle", shuffles_y[8 + i], mixed[i]);
    same("insert", shuffles_y[16 + i], i == 2 ? 6.0f : s[i]);
    if (i < 4)
      same("from elements", shuffles_y[24 + i], 6.0f);
  }
  SAME(shuffles_y[32], 16.0f);
  SAME(shuffles_s[0], 4.0f);
  SAME(shuffles_s[1], 36.0f);
  SAME(shuffles_s[2], 36.0f);
  SAME(shuffles_s[3], 1679616.0f);

  for (int i = 0; i < 16; ++i) {
    same("wrapping", iy[i], int8_t((ia[i] + ib[i]) * -3 - is));
    same("maxsi", iy[16 + i], ia[i] > ib[i] ? ia[i] : ib[i]);
    same("shift", iy[32 + i], int8_t((ia[i] >> 2) ^ ib[i]));
    int32_t product = ia[i] * uint8_t(ib[i]);
    same("widened", iw[i], product);
    same("to float", fw[i], float(product));
    same("narrowed", iq[i], int8_t(product + (ia[i] < ib[i])));
  }

  const float wide[8] = {1,         -2,
                         65504,     5.9604644775390625e-08f,
                         -0.0f,     0.333251953125f,
                         3.140625f, 5.9604644775390625e-05f};
  for (int i = 0; i < 8; ++i) {
    same("half", hy[i], wide[i]);
    uint32_t bits;
    std::memcpy(&bits, &wide[i], 4);
    same("bfloat", hb[i], uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16));
    same("to int", hi[i], int32_t(wide[i]));
    if (i < 4)
      same("double", hg[i], float(hd[i]));
  }
}
