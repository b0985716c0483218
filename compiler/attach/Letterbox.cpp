// Fits a camera frame into the input of a network, as Ultralytics does: the
// frame is scaled by bilinear interpolation so that it just fits, pixels are
// rounded to integers, and grey bars fill the rest.
//
// The luma and chroma planes of NV12 and NV21 are scaled first, each to the
// size that the frame has in the network's image, and then converted to RGB.
//
// For a frame of dynamic size, nodes compute the position in the network's
// image in integers, because Ingot can derive bounds of integers.

#include "compiler/attach/Letterbox.h"

#include <array>
#include <cmath>

using namespace llvm;

namespace ingot::attach {

/// The grey level of the bars, as in Ultralytics.
static constexpr double barLevel = 114;

/// Returns a / b for positive a and b, rounded to an integer, ties to even, as
/// Python does.
static int64_t roundedQuotient(int64_t a, int64_t b) {
  int64_t doubled = 2 * a + b, quotient = doubled / (2 * b);
  bool isTie = doubled % (2 * b) == 0;
  return quotient - (isTie && quotient % 2 != 0);
}

Placement Placement::of(int64_t frameHeight, int64_t frameWidth,
                        const NetworkImage &image) {
  Placement place;
  auto fit = [](int64_t size, int64_t other, int64_t otherRoom, int64_t room) {
    return std::clamp<int64_t>(roundedQuotient(size * otherRoom, other), 1,
                               room);
  };
  place.height = fit(frameHeight, frameWidth, image.width, image.height);
  place.width = fit(frameWidth, frameHeight, image.height, image.width);
  place.top = (image.height - place.height) / 2;
  place.left = (image.width - place.width) / 2;
  place.gain = std::min(double(image.height) / double(frameHeight),
                        double(image.width) / double(frameWidth));
  return place;
}

/// Whether the format has a luma plane and a chroma plane.
static bool hasPlanes(FrameFormat format) {
  return format == FrameFormat::Nv12 || format == FrameFormat::Nv21;
}

std::vector<int64_t> frameShape(const FrameOptions &options) {
  int64_t height = options.isFixed() ? options.height : -1,
          width = options.isFixed() ? options.width : -1;
  switch (options.format) {
  case FrameFormat::Rgb:
  case FrameFormat::Bgr:
    return {height, width, 3};
  case FrameFormat::Rgba:
  case FrameFormat::Bgra:
    return {height, width, 4};
  case FrameFormat::Gray:
    return {height, width};
  case FrameFormat::Nv12:
  case FrameFormat::Nv21:
    return {height + height / 2, width};
  }
  return {};
}

namespace {
/// The tensors that hold the position of a frame in the network's image.
struct PlaceTensors {
  /// int64 [1] each; empty if the frame has a fixed size.
  std::string height, width;
  /// int64 [8], an operand of Pad; empty if there are no bars.
  std::string pads;
  bool scales = true;
};

class LetterboxBuilder {
public:
  LetterboxBuilder(NodeBuilder &b, const FrameOptions &options,
                   const NetworkImage &image, const std::string &frame)
      : b(b), options(options), image(image), frame(frame) {}

  FrameMap run(const std::string &result);

private:
  void place();
  void placeAtRunTime();
  std::string fitAtRunTime(const std::string &size, const std::string &other,
                           int64_t otherRoom, int64_t room, StringRef name);
  std::string scaled(const std::string &x, int64_t channels, StringRef name);
  std::string pixels();
  std::string planes();

  NodeBuilder &b;
  const FrameOptions &options;
  const NetworkImage &image;
  std::string frame;
  PlaceTensors at;
  FrameMap map;
};
} // namespace

/// Sets `at` and `map` for a frame of fixed size.
void LetterboxBuilder::place() {
  int64_t height = options.height, width = options.width;
  Placement p = Placement::of(height, width, image);
  at.scales = p.height != height || p.width != width;
  int64_t bottom = image.height - p.height - p.top,
          right = image.width - p.width - p.left;
  if (bottom != 0 || right != 0)
    at.pads = b.ints({0, 0, p.top, p.left, 0, 0, bottom, right});
  auto pair = [&](int64_t x, int64_t y, StringRef name) {
    return b.floats({float(x), float(y)}, {2}, name);
  };
  map = {pair(p.left, p.top, "origin"), b.floats({float(p.gain)}, {1}, "gain"),
         pair(width, height, "frame_size")};
}

/// Adds nodes that compute Placement's height or width from the frame's size.
std::string LetterboxBuilder::fitAtRunTime(const std::string &size,
                                           const std::string &other,
                                           int64_t otherRoom, int64_t room,
                                           StringRef name) {
  auto two = b.ints({2});
  auto step = [&](const char *type, const std::string &x, const std::string &y,
                  StringRef what) {
    return b.add(type, {x, y}, (name + "_" + what).str());
  };
  auto doubled = step(
      "Add", step("Mul", size, b.ints({2 * otherRoom}), "twice"), other, "sum");
  auto by = step("Mul", other, two, "divisor");
  auto quotient = step("Div", doubled, by, "quotient");
  // If the quotient is exactly between two integers, the even one is chosen.
  auto rest =
      step("Min", step("Mod", doubled, by, "rest"), b.ints({1}), "has_rest");
  auto isTie = step("Sub", b.ints({1}), rest, "is_tie");
  auto odd = step("Mul", isTie, step("Mod", quotient, two, "is_odd"), "excess");
  auto rounded = step("Sub", quotient, odd, "rounded");
  return b.add("Min",
               {step("Max", rounded, b.ints({1}), "positive"), b.ints({room})},
               name);
}

/// Sets `at` and `map` for a frame of dynamic size.
void LetterboxBuilder::placeAtRunTime() {
  auto shape = b.add("Shape", {frame}, "shape");
  auto height = b.slice(shape, 0, 0, 1, "frame_height"),
       width = b.slice(shape, 0, 1, 2, "frame_width");
  at.height = fitAtRunTime(height, width, image.width, image.height, "height");
  at.width = fitAtRunTime(width, height, image.height, image.width, "width");
  auto two = b.ints({2});
  auto restHeight =
           b.add("Sub", {b.ints({image.height}), at.height}, "rest_height"),
       restWidth =
           b.add("Sub", {b.ints({image.width}), at.width}, "rest_width");
  auto top = b.add("Div", {restHeight, two}, "top"),
       left = b.add("Div", {restWidth, two}, "left");
  auto bottom = b.add("Sub", {restHeight, top}, "bottom"),
       right = b.add("Sub", {restWidth, left}, "right");
  auto zeros = b.ints({0, 0});
  at.pads = b.add("Concat", {zeros, top, left, zeros, bottom, right}, "pads",
                  {{"axis", int64_t(0)}});
  auto pair = [&](const std::string &x, const std::string &y, StringRef name) {
    auto both =
        b.add("Concat", {x, y}, (name + "_int").str(), {{"axis", int64_t(0)}});
    return b.cast(both, onnx::TensorProto::FLOAT, name);
  };
  map.origin = pair(left, top, "origin");
  map.size = pair(width, height, "frame_size");
  auto gains = b.add(
      "Div",
      {b.floats({float(image.width), float(image.height)}, {2}, "network_size"),
       map.size},
      "gains");
  map.gain = b.add(
      "Min",
      {b.slice(gains, 0, 0, 1, "gain_x"), b.slice(gains, 0, 1, 2, "gain_y")},
      "gain");
}

/// Returns the float tensor x, [1, channels, ...], scaled to the size that the
/// frame has in the network's image.
std::string LetterboxBuilder::scaled(const std::string &x, int64_t channels,
                                     StringRef name) {
  std::string sizes;
  if (options.isFixed()) {
    Placement p = Placement::of(options.height, options.width, image);
    sizes = b.ints({1, channels, p.height, p.width});
  } else {
    sizes = b.add("Concat", {b.ints({1, channels}), at.height, at.width},
                  (name + "_sizes").str(), {{"axis", int64_t(0)}});
  }
  return b.add("Resize", {x, "", "", sizes}, name,
               {{"mode", std::string("linear")},
                {"coordinate_transformation_mode", std::string("half_pixel")}});
}

/// Returns the scaled frame, as float [1, channels, height, width] from 0 to
/// 255, if the format stores all channels of a pixel together.
std::string LetterboxBuilder::pixels() {
  std::string x;
  int64_t channels = 1;
  if (options.format == FrameFormat::Gray) {
    x = b.add("Unsqueeze", {frame, b.ints({0, 1})}, "plane");
  } else {
    channels = 3;
    x = b.add("Unsqueeze", {frame, b.ints({0})}, "pixels");
    x = b.add("Transpose", {x}, "channels",
              {{"perm", std::vector<int64_t>{0, 3, 1, 2}}});
    if (frameShape(options).back() == 4)
      x = b.slice(x, 1, 0, 3, "colors");
  }
  x = b.cast(x, onnx::TensorProto::FLOAT, "levels");
  if (at.scales)
    x = b.add("Round", {scaled(x, channels, "scaled")}, "rounded");
  // Channels are reordered after scaling, because the scaled image has fewer
  // pixels than most frames.
  bool isReversed =
      options.format == FrameFormat::Bgr || options.format == FrameFormat::Bgra;
  if (isReversed)
    x = b.add("Gather", {x, b.ints({2, 1, 0})}, "rgb", {{"axis", int64_t(1)}});
  return x;
}

/// Returns the scaled frame, as float [1, 3, height, width] from 0 to 255, if
/// the format has a luma plane and a chroma plane.
std::string LetterboxBuilder::planes() {
  int64_t height = options.height, width = options.width;
  auto plane = [&](int64_t first, int64_t last, StringRef name) {
    return b.slice(frame, 0, first, last, name);
  };
  auto luma = b.reshape(plane(0, height, "luma_rows"), {1, 1, height, width},
                        "luma_plane");
  luma = b.cast(luma, onnx::TensorProto::FLOAT, "luma");
  if (at.scales)
    luma = scaled(luma, 1, "scaled_luma");
  auto chroma = b.reshape(plane(height, height + height / 2, "chroma_rows"),
                          {1, height / 2, width / 2, 2}, "chroma_pairs");
  chroma = b.add("Transpose", {chroma}, "chroma_planes",
                 {{"perm", std::vector<int64_t>{0, 3, 1, 2}}});
  chroma = scaled(b.cast(chroma, onnx::TensorProto::FLOAT, "chroma"), 2,
                  "scaled_chroma");
  auto all = b.add("Concat", {luma, chroma}, "yuv", {{"axis", int64_t(1)}});
  // The matrix follows from the weights of red and blue in the luma.
  bool is601 = options.colors == ColorSpace::Bt601 ||
               options.colors == ColorSpace::Bt601Full,
       isFull = options.colors == ColorSpace::Bt601Full ||
                options.colors == ColorSpace::Bt709Full;
  double red = is601 ? 0.299 : 0.2126, blue = is601 ? 0.114 : 0.0722,
         green = 1 - red - blue;
  // In the limited range, luma is from 16 to 235 and chroma from 16 to 240.
  double lumaScale = isFull ? 1 : 255.0 / 219,
         chromaScale = isFull ? 1 : 255.0 / 224, lumaZero = isFull ? 0 : 16;
  double u[3] = {0, -2 * (1 - blue) * blue / green, 2 * (1 - blue)},
         v[3] = {2 * (1 - red), -2 * (1 - red) * red / green, 0};
  bool isSwapped = options.format == FrameFormat::Nv21;
  std::array<float, 9> matrix;
  std::array<float, 3> offsets;
  for (int i = 0; i < 3; ++i) {
    double first = chromaScale * (isSwapped ? v[i] : u[i]),
           second = chromaScale * (isSwapped ? u[i] : v[i]);
    matrix[3 * i] = float(lumaScale);
    matrix[3 * i + 1] = float(first);
    matrix[3 * i + 2] = float(second);
    offsets[i] = float(-lumaScale * lumaZero - 128 * (first + second));
  }
  auto rgb = b.add("Conv",
                   {all, b.floats(matrix, {3, 3, 1, 1}, "color_matrix"),
                    b.floats(offsets, {3}, "color_offsets")},
                   "rgb_unclipped");
  rgb = b.add("Clip",
              {rgb, b.number(0, "least_level"), b.number(255, "largest_level")},
              "rgb");
  return b.add("Round", {rgb}, "rounded");
}

FrameMap LetterboxBuilder::run(const std::string &result) {
  bool isFixed = options.isFixed();
  isFixed ? place() : placeAtRunTime();
  std::string x = hasPlanes(options.format) ? planes() : pixels();
  if (!at.pads.empty())
    x = b.add("Pad", {x, at.pads, b.number(barLevel, "bar_level")},
              "with_bars");
  bool isGray = options.format == FrameFormat::Gray;
  // The reshape states the size of the image, which is fixed although the sizes
  // of the frame and the bars are not.
  if (!isFixed)
    x = b.reshape(x, {1, isGray ? 1 : 3, image.height, image.width}, "image");
  x = b.add("Mul", {x, b.number(1.0 / 255, "per_level")}, "image_0_to_1");
  if (isGray && image.channels == 3)
    x = b.add("Expand", {x, b.ints({1, 3, image.height, image.width})},
              "image_rgb");
  b.writeTo(result);
  return map;
}

FrameMap addLetterbox(NodeBuilder &b, const FrameOptions &options,
                      const NetworkImage &image, const std::string &frame,
                      const std::string &result) {
  return LetterboxBuilder(b, options, image, frame).run(result);
}

} // namespace ingot::attach
