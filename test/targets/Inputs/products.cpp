// Runs products.onnx on the operands in data.h and compares with the results in
// data.h.
#include "products.h"

#include <stdio.h>

static int fail(const char *name, int place, int found, int want) {
  printf("%s[%d] is %d, not %d\n", name, place, found, want);
  return 1;
}

#include "data.h"

alignas(
    PRODUCTS_ARENA_ALIGN) static unsigned char arena[PRODUCTS_ARENA_BYTES + 1];

int main() {
  products_io io = {};
  bind(io);
  if (products_run(&io, arena, nullptr) != INGOT_OK)
    return 2;
  return check();
}
