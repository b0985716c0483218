// Classifies handwritten digits on a GPU.
//
//     usage: digits FOLDER...     folders such as ../mnist/test_data_set_0
#include "mnist.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

/// Reads the tensor from an ONNX TensorProto file: `count` floats at its end.
static bool readTensor(const std::string &path, float *to, size_t count) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() < count * sizeof(float))
    return false;
  std::copy(bytes.end() - count * sizeof(float), bytes.end(),
            reinterpret_cast<char *>(to));
  return true;
}

static int digitOf(const float *scores) {
  return int(
      std::max_element(scores, scores + MNIST_PLUS214_OUTPUT_0_ELEMENTS) -
      scores);
}

static bool failed(ingot_status status, const char *what) {
  if (status != INGOT_OK)
    std::fprintf(stderr, "%s: error %d\n", what, status);
  return status != INGOT_OK;
}

int main(int count, char **folders) {
  static float image[MNIST_INPUT3_ELEMENTS];
  static float scores[MNIST_PLUS214_OUTPUT_0_ELEMENTS],
      expected[MNIST_PLUS214_OUTPUT_0_ELEMENTS];
  mnist_constants constants;
  mnist_handle handle;
  if (failed(mnist_upload(&constants, nullptr), "upload") ||
      failed(mnist_create(&handle, &constants, nullptr), "create"))
    return 1;
  std::printf("%u bytes of the GPU's memory\n",
              MNIST_DEVICE_BYTES + MNIST_WEIGHTS_BYTES);

  mnist_io io = {};
  io.place = INGOT_ON_HOST;
  io.Input3 = image;
  io.Plus214_Output_0 = scores;
  int right = 0;
  for (int i = 1; i < count; ++i) {
    std::string folder = folders[i];
    if (!readTensor(folder + "/input_0.pb", image, MNIST_INPUT3_ELEMENTS) ||
        !readTensor(folder + "/output_0.pb", expected,
                    MNIST_PLUS214_OUTPUT_0_ELEMENTS)) {
      std::fprintf(stderr, "%s has no input_0.pb and output_0.pb\n",
                   folders[i]);
      return 1;
    }
    if (failed(mnist_run(&handle, &io, nullptr), "run"))
      return 1;
    std::printf("%s: a %d\n", folders[i], digitOf(scores));
    right += digitOf(scores) == digitOf(expected);
  }
  std::printf("%d of %d right\n", right, count - 1);
  return failed(mnist_destroy(&handle), "destroy") ||
         failed(mnist_release(&constants), "release") || right != count - 1;
}
