// Runs the mnist example on artificial digits and prints the bits of the
// outputs. If the macro SEVERAL says that the generated file has several
// targets, also prints on stderr which one was selected; if this machine can
// run none of them, checks the status instead.
#include "mnist.h"

#include <cstdio>
#include <cstring>

alignas(MNIST_ARENA_ALIGN) static unsigned char arena[MNIST_ARENA_BYTES];
static float image[MNIST_INPUT3_ELEMENTS],
    scores[MNIST_PLUS214_OUTPUT_0_ELEMENTS];

int main() {
  const mnist_io io = {image, scores};
#ifdef SEVERAL
  const char *target = mnist_target();
  std::fprintf(stderr, "%s\n", target ? target : "none");
  if (!target)
    return mnist_run(&io, arena, nullptr) == INGOT_ERROR_TARGET ? 0 : 1;
#endif
  unsigned state = 1;
  for (int k = 0; k < 4; ++k) {
    for (float &pixel : image) {
      state = state * 1664525u + 1013904223u;
      pixel = float(state >> 8) / float(1 << 23) - 1;
    }
    if (mnist_run(&io, arena, nullptr) != INGOT_OK)
      return 1;
    for (float score : scores) {
      unsigned bits;
      std::memcpy(&bits, &score, sizeof bits);
      std::printf("%08x ", bits);
    }
    std::printf("\n");
  }
  return 0;
}
