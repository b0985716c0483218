// Runs the mnist example and prints the resulting status.
#include "mnist.h"

#include <cstdio>

alignas(MNIST_ARENA_ALIGN) static unsigned char arena[MNIST_ARENA_BYTES];
static float image[MNIST_INPUT3_ELEMENTS],
    scores[MNIST_PLUS214_OUTPUT_0_ELEMENTS];

int main() {
  const mnist_io io = {image, scores};
  switch (mnist_run(&io, arena, nullptr)) {
  case INGOT_OK:
    std::printf("INGOT_OK\n");
    return 0;
  case INGOT_ERROR_TARGET:
    std::printf("INGOT_ERROR_TARGET\n");
    return 0;
  default:
    return 1;
  }
}
