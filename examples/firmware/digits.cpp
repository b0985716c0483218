// digits.cpp: classifies ten handwritten digits on a board.
//
// The images are stored in flash, as the ONNX files that come with the model.
// Each is copied to RAM and classified; the arena is the network's working
// memory.

#include "board.h"
#include "mnist.h"

namespace {

constexpr uint32_t pixels = MNIST_INPUT3_ELEMENTS;
constexpr uint32_t classes = MNIST_PLUS214_OUTPUT_0_ELEMENTS;

/// The start of each image file in flash, and the end of the last one: see
/// images.S.
extern "C" const unsigned char *const digit_images[11];

mnist::arena arena;
float image[pixels];

/// Copies an image to RAM. Its data are the last field of the ONNX file, at an
/// arbitrary alignment.
void readImage(int digit) {
  const unsigned char *end = digit_images[digit + 1];
  __builtin_memcpy(image, end - sizeof image, sizeof image);
}

int classOf(const float (&scores)[classes]) {
  int best = 0;
  for (int i = 1; i < int(classes); ++i)
    best = scores[i] > scores[best] ? i : best;
  return best;
}

} // namespace

int main() {
  int right = 0;
  for (int digit = 0; digit < 10; ++digit) {
    readImage(digit);
    float scores[classes];
    mnist_io io = {image, scores};
    if (mnist::run(io, arena) != INGOT_OK) {
      board_print("the network reports an error\n");
      return 1;
    }
    int answer = classOf(scores);
    right += answer == digit;
    board_print("a ");
    board_print_number(digit);
    board_print(" is seen as ");
    board_print_number(answer);
    board_print("\n");
  }
  board_print_number(right);
  board_print(" of 10 right\n");
  board_print_memory();
  return right == 10 ? 0 : 1;
}
