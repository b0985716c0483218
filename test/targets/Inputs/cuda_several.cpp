// Runs a model that was compiled for several targets on emulated GPUs of
// several compute capabilities.
#include "mnist.h"

#include <cuda_runtime.h>
#include <stdio.h>

static float image[MNIST_INPUT3_ELEMENTS];

int main() {
  for (size_t i = 0; i < MNIST_INPUT3_ELEMENTS; ++i)
    image[i] = float(i % 7);
  mnist_constants none = {};
  mnist_handle handle = {};
  printf("without constants: %d\n",
         mnist_create(&handle, &none, nullptr) == INGOT_ERROR_NULL);
  for (int level : {75, 80, 86, 90, 100}) {
    emulated_gpu().level = level;
    mnist_constants constants;
    ingot_status status = mnist_upload(&constants, nullptr);
    float scores[MNIST_PLUS214_OUTPUT_0_ELEMENTS] = {};
    if (status == INGOT_OK)
      status = mnist_create(&handle, &constants, nullptr);
    mnist_io io = {};
    io.place = INGOT_ON_HOST;
    io.Input3 = image;
    io.Plus214_Output_0 = scores;
    if (status == INGOT_OK)
      status = mnist_run(&handle, &io, nullptr);
    printf("level %d: status %d, target %d, scores %.3f %.3f\n", level,
           int(status), constants.target, double(scores[0]), double(scores[1]));
    if (status == INGOT_OK)
      status = mnist_destroy(&handle);
    if (constants.target)
      status = mnist_release(&constants);
    printf("left: %zu\n", emulated_gpu().objects);
  }
  return 0;
}
