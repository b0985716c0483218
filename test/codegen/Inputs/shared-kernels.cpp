#include "check.h"

int main() {
  float a[6] = {1, 2, 3, 40, 50, 60}, b[2] = {7, 8}, c[2] = {}, d = 0;
  shared_io io = {};
  io.a = a, io.b = b, io.c = c, io.d = &d;
  SAME(shared_run(&io, nullptr, nullptr), INGOT_OK);
  SAME(c[0], 6.0f);
  SAME(c[1], 150.0f);
  SAME(d, 15.0f);
}
