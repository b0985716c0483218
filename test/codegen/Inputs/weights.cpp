#include HEADER
#include "check.h"

int main() {
  float x[4] = {1, 2, 3, 4}, y[4];
  sum_io io = {};
  io.x = x;
  io.y = y;
#ifdef FILE_NAME
  alignas(64) static unsigned char bytes[8192];
  std::FILE *file = std::fopen(FILE_NAME, "rb");
  size_t size = file ? std::fread(bytes, 1, sizeof bytes, file) : 0;
  SAME(sum_run(&io, nullptr, nullptr), INGOT_ERROR_NULL);
  io.weights = bytes;
  SAME(sum_check_weights(bytes, size), INGOT_OK);
  SAME(sum_check_weights(bytes, size - 64), INGOT_ERROR_WEIGHTS);
  ++bytes[4097];
  SAME(sum_check_weights(bytes, size), INGOT_ERROR_WEIGHTS);
  --bytes[4097];
  ++bytes[24];
  SAME(sum_run(&io, nullptr, nullptr), INGOT_ERROR_WEIGHTS);
  --bytes[24];
  io.weights = bytes + 4;
  SAME(sum_run(&io, nullptr, nullptr), INGOT_ERROR_ALIGNMENT);
  io.weights = bytes;
#endif
  SAME(sum_run(&io, nullptr, nullptr), INGOT_OK);
  SAME(y[0], 1.5f);
  SAME(y[1], 2.0f);
  SAME(y[2], 12.5f);
  SAME(y[3], 32.5f);
}
