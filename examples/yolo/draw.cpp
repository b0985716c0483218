#include "draw.h"

#include <algorithm>
#include <cmath>

namespace {

struct Color {
  uint8_t red, green, blue;
};

Color colorOf(int kind) {
  static const Color colors[] = {{230, 60, 60},  {40, 160, 70},  {50, 110, 220},
                                 {240, 150, 20}, {150, 70, 200}, {0, 160, 170},
                                 {220, 70, 150}, {120, 130, 30}};
  return colors[kind % 8];
}

/// Fills the pixels [x1, x2) x [y1, y2), clipped to the picture.
void fill(Image &image, int x1, int y1, int x2, int y2, Color color) {
  for (int y = std::max(y1, 0); y < std::min(y2, image.height); ++y)
    for (int x = std::max(x1, 0); x < std::min(x2, image.width); ++x) {
      uint8_t *pixel = image.at(x, y);
      pixel[0] = color.red;
      pixel[1] = color.green;
      pixel[2] = color.blue;
    }
}

/// Returns the bitmap of a character, 5 rows of 3 pixels, with the upper left
/// pixel in the highest of 15 bits. Small letters have the form of capitals,
/// unknown characters are empty.
int glyph(char c) {
  static const char known[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ.%-";
  static const int shapes[] = {
      075557, 026227, 071747, 071717, 055711, 074717, 074757, 071122,
      075757, 075717, 025755, 065656, 034443, 065556, 074647, 074644,
      034553, 055755, 072227, 011152, 055655, 044447, 057755, 065555,
      025552, 065644, 025563, 065655, 034216, 072222, 055557, 055552,
      055775, 055255, 055222, 071247, 000002, 051245, 000700};
  if (c >= 'a' && c <= 'z')
    c = char(c - 'a' + 'A');
  for (int i = 0; known[i]; ++i)
    if (known[i] == c)
      return shapes[i];
  return 0;
}

} // namespace

void drawBox(Image &image, float x1, float y1, float x2, float y2, int kind,
             const std::string &label) {
  Color color = colorOf(kind);
  int scale = std::max(1, std::min(image.width, image.height) / 200);
  int line = scale, left = int(std::lround(x1)), top = int(std::lround(y1)),
      right = int(std::lround(x2)), bottom = int(std::lround(y2));
  fill(image, left, top, right, top + line, color);
  fill(image, left, bottom - line, right, bottom, color);
  fill(image, left, top, left + line, bottom, color);
  fill(image, right - line, top, right, bottom, color);
  int height = 7 * scale, width = (int(label.size()) * 4 + 1) * scale,
      base = std::max(0, top - height),
      start = std::max(0, std::min(left, image.width - width));
  fill(image, start, base, start + width, base + height, color);
  for (size_t i = 0; i < label.size(); ++i)
    for (int bit = 0; bit < 15; ++bit)
      if (glyph(label[i]) >> (14 - bit) & 1) {
        int x = start + (int(i) * 4 + 1 + bit % 3) * scale,
            y = base + (1 + bit / 3) * scale;
        fill(image, x, y, x + scale, y + scale, {255, 255, 255});
      }
}

void drawPoint(Image &image, float x, float y, int kind) {
  int size = std::max(1, std::min(image.width, image.height) / 120),
      left = int(std::lround(x)) - size / 2,
      top = int(std::lround(y)) - size / 2;
  fill(image, left, top, left + size, top + size, colorOf(kind + 3));
}
