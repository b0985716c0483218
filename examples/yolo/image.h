// Reads pictures (PNG, JPEG, BMP, PPM, PGM) and writes them (PNG, BMP, PPM).

#ifndef EXAMPLES_YOLO_IMAGE_H
#define EXAMPLES_YOLO_IMAGE_H

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

/// A picture of 8-bit RGB pixels, row by row.
struct Image {
  int width = 0, height = 0;
  std::vector<uint8_t> pixels;

  uint8_t *at(int x, int y) {
    return &pixels[(size_t(y) * size_t(width) + size_t(x)) * 3];
  }
};

/// An error of a picture or of its file, with a message for the user.
struct ImageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The longest side of a picture; a file with a longer one is rejected.
constexpr int longestSide = 16384;

/// Throws ImageError with `message` unless `condition` holds.
inline void require(bool condition, const char *message) {
  if (!condition)
    throw ImageError(message);
}

/// Reads a picture: PNG without interlacing (1 to 16 bits, gray, color or
/// palette; transparency is ignored), JPEG (see readJpeg), BMP without compression (24 or 32 bits),
/// or binary PPM or PGM with 8 bits. Throws ImageError.
Image readImage(const std::string &path);

/// Writes a picture in the format that the file's name ends with: .png (not
/// compressed), .bmp or .ppm. Throws ImageError.
void writeImage(const Image &image, const std::string &path);

#endif // EXAMPLES_YOLO_IMAGE_H
