#include "check.h"

int main() {
  float x[4] = {1, 2, 3, 4}, w[8] = {9, 9, 1, 10, 100, 1000, 9, 9},
        zeros[2] = {}, y = 0;
  cursors_io io = {};
  io.x = x, io.w = w, io.zeros = zeros, io.y = &y;
  SAME(cursors_run(&io, nullptr, nullptr), INGOT_OK);
  SAME(y, 4321.0f);
}
