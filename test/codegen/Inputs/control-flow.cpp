#include "check.h"

int main() {
  float x[8] = {3, 1, 4, 1.5f, 9, 2, 6, 5}, prev[8], br[4] = {}, loc[8], quo[2];
  int32_t fib, tab[4] = {7, 7, 7, 7}, col;
  int64_t arg, n[2] = {2, -3};
  control_io io = {};
  io.x = x, io.prev = prev, io.br = br, io.loc = loc, io.fib = &fib;
  io.tab = tab, io.col = &col, io.arg = &arg, io.n = n, io.quo = quo;
  control::arena scratch;
  SAME(control::run(io, scratch), INGOT_OK);
  SAME(fib, 55);
  float sum = 0;
  for (int i = 0; i < 8; ++i) {
    same("previous", prev[i], (sum + x[i]) * sum);
    sum += x[i];
    same("locals", loc[i], x[7 - i] * x[7 - i]);
  }
  float p = 1, q = 1;
  for (float v : x) {
    p /= v;
    q = v / q;
  }
  same("quotients", quo[0], p);
  same("quotients", quo[1], q);
  SAME(arg, 4);
  SAME(br[0], 1.5f);
  SAME(br[1], 2.5f);
  SAME(br[2], 0.0f);
  SAME(br[3], 1.5f);
  SAME(tab[0], 3);
  SAME(tab[1], 7);
  SAME(col, 111);
  n[1] = 3;
  SAME(control_run(&io, nullptr, nullptr), INGOT_ERROR_SPECIALIZED);
  io.x = nullptr;
  SAME(control_run(&io, nullptr, nullptr), INGOT_ERROR_NULL);
}
