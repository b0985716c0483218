// main.cpp: classifies ten handwritten digits.
//
// Reads the ten images that are stored beside the model (in the layout of
// ONNX's test data), draws them, classifies each with the compiled network, and
// prints the answers and the time per inference.

#include "mnist.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

constexpr int side = 28;
constexpr int digitCount = 10;
using Image = std::vector<float>;

/// The network's only working memory, provided by the caller; the network never
/// allocates.
alignas(MNIST_ARENA_ALIGN) static unsigned char arena[MNIST_ARENA_BYTES];

/// Reads the floats of an ONNX TensorProto file: field 9 (raw_data) or field 4
/// (float_data), which contain the same bytes on a little-endian machine. Other
/// fields are skipped. Returns an empty vector if the file is not a TensorProto
/// with floats.
static Image readTensor(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  std::size_t at = 0;
  auto readVarint = [&] {
    std::uint64_t value = 0;
    for (unsigned shift = 0; at < bytes.size() && shift < 64; shift += 7) {
      std::uint64_t byte = static_cast<unsigned char>(bytes[at++]);
      value |= (byte & 127) << shift;
      if (byte < 128)
        break;
    }
    return value;
  };
  while (at < bytes.size()) {
    std::uint64_t key = readVarint(), field = key >> 3, wireType = key & 7;
    if (wireType == 0) {
      readVarint();
      continue;
    }
    std::uint64_t size = wireType == 2 ? readVarint() : wireType == 1 ? 8 : 4;
    if (size > bytes.size() - at)
      return {};
    if (wireType == 2 && (field == 9 || field == 4)) {
      Image image(size / sizeof(float));
      std::memcpy(image.data(), &bytes[at], image.size() * sizeof(float));
      return image;
    }
    at += size;
  }
  return {};
}

/// Returns one line of a drawing. A character represents two by four pixels,
/// which is about square on a terminal; its upper and lower halves each have
/// three shades.
static std::string drawLine(const Image &image, int row) {
  static const char shapes[3][4] = {" .o", "':d", "\"P8"};
  auto shade = [&](int y, int x) {
    const float *p = &image[y * side + x];
    float ink = (p[0] + p[1] + p[side] + p[side + 1]) / (4 * 255);
    return ink < 0.2f ? 0 : ink < 0.55f ? 1 : 2;
  };
  std::string line;
  for (int x = 0; x < side; x += 2)
    line += shapes[shade(row, x)][shade(row + 2, x)];
  return line;
}

int main(int argc, char **argv) {
  std::string folder = argc > 1 ? argv[1] : ".";
  std::vector<Image> images;
  for (int i = 0; i < digitCount; ++i) {
    std::string path =
        folder + "/test_data_set_" + std::to_string(i) + "/input_0.pb";
    images.push_back(readTensor(path));
    if (images.back().size() != side * side) {
      std::fprintf(stderr, "digits: %s is no image of %dx%d floats\n",
                   path.c_str(), side, side);
      return 1;
    }
  }

  // Runs the network on each image: mnist_run takes a struct of pointers to the
  // tensors and returns a status.
  int answers[digitCount], correct = 0;
  float confidence[digitCount];
  for (int i = 0; i < digitCount; ++i) {
    float scores[10];
    mnist_io io = {images[i].data(), scores};
    if (mnist_run(&io, arena, nullptr) != INGOT_OK) {
      std::fprintf(stderr, "digits: the network reports an error\n");
      return 1;
    }
    answers[i] = std::max_element(scores, scores + 10) - scores;
    float sum = 0;
    for (float score : scores)
      sum += std::exp(score - scores[answers[i]]);
    confidence[i] = 100 / sum;
    correct += answers[i] == i;
  }

  constexpr int perRow = 5;
  for (int first = 0; first < digitCount; first += perRow) {
    for (int row = 0; row < side; row += 4) {
      for (int i = first; i < first + perRow; ++i)
        std::printf("%s  ", drawLine(images[i], row).c_str());
      std::printf("\n");
    }
    for (int i = first; i < first + perRow; ++i)
      std::printf("   -> %d (%3.0f%%)  ", answers[i], confidence[i]);
    std::printf("\n\n");
  }

  using Clock = std::chrono::steady_clock;
  constexpr int runs = 200;
  std::vector<double> microseconds;
  float scores[10];
  for (int i = 0; i < digitCount * runs; ++i) {
    mnist_io io = {images[i % digitCount].data(), scores};
    auto start = Clock::now();
    mnist_run(&io, arena, nullptr);
    std::chrono::duration<double, std::micro> time = Clock::now() - start;
    microseconds.push_back(time.count());
  }
  std::nth_element(microseconds.begin(),
                   microseconds.begin() + microseconds.size() / 2,
                   microseconds.end());

  std::printf("answers     %d of %d right\n", correct, digitCount);
  std::printf("time        %.1f us per inference (median of %zu, one thread)\n",
              microseconds[microseconds.size() / 2], microseconds.size());
  std::printf("arena       %u bytes, all the memory it works in\n",
              static_cast<unsigned>(MNIST_ARENA_BYTES));
  return correct == digitCount ? 0 : 1;
}
