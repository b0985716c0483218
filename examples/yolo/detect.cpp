// Finds objects in pictures with a compiled detector.
//
// The network is `detector`, compiled from a model that `ingot attach --frame
// any` has written: it reads RGB pixels and returns boxes in pixels of the
// picture.

#include "detector.h"
#include "draw.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>

/// The rows of the output `boxes`: the value of `ingot attach --max-boxes`, or
/// the number of the network's boxes if that is smaller.
#ifndef DETECTOR_ROWS
#define DETECTOR_ROWS 100
#endif

namespace {

const char *const usage =
    "usage: detect PICTURE [OPTION]...\n"
    "  -o FILE         write the picture with boxes; .png, .bmp or .ppm\n"
    "  --labels FILE   the name of each class, one a line\n"
    "  --keypoints N   the last columns of a box are N points of x, y and\n"
    "                  visibility; draw them\n"
    "  --numbers       print all numbers of each box, and nothing else\n"
    "  --repeat N      run N times and print the fastest time\n";

struct Settings {
  std::vector<std::string> pictures;
  std::string output, labels;
  bool numbers = false;
  int repeat = 1, keypoints = 0;
};

[[noreturn]] void fail(const std::string &message, int code = 1) {
  std::fprintf(stderr, "detect: %s\n", message.c_str());
  std::exit(code);
}

Settings readArguments(int count, char **arguments) {
  Settings settings;
  for (int i = 1; i < count; ++i) {
    std::string argument = arguments[i];
    auto value = [&]() -> std::string {
      if (i + 1 >= count)
        fail("a value is missing after " + argument + "\n" + usage, 2);
      return arguments[++i];
    };
    auto number = [&](int least) {
      std::string text = value();
      char *end = nullptr;
      long result = std::strtol(text.c_str(), &end, 10);
      if (text.empty() || *end || result < least || result > 1000000)
        fail(argument + ": `" + text + "` is not a number from " +
                 std::to_string(least),
             2);
      return int(result);
    };
    if (argument == "-o")
      settings.output = value();
    else if (argument == "--labels")
      settings.labels = value();
    else if (argument == "--numbers")
      settings.numbers = true;
    else if (argument == "--keypoints")
      settings.keypoints = number(1);
    else if (argument == "--repeat")
      settings.repeat = number(1);
    else if (argument == "--help" || argument == "-h") {
      std::fputs(usage, stdout);
      std::exit(0);
    } else if (argument.size() > 1 && argument[0] == '-')
      fail("unknown option `" + argument + "`\n" + usage, 2);
    else
      settings.pictures.push_back(argument);
  }
  if (settings.pictures.empty())
    fail(std::string("a picture is missing\n") + usage, 2);
  if (settings.pictures.size() > 1 && !settings.output.empty())
    fail("-o needs a single picture", 2);
  return settings;
}

std::vector<std::string> readLabels(const std::string &path) {
  std::vector<std::string> labels;
  std::ifstream file(path);
  if (!file)
    fail(path + ": the file cannot be read");
  for (std::string line; std::getline(file, line);)
    labels.push_back(line);
  return labels;
}

/// The compiled network, with its memory.
class Detector {
public:
  /// The numbers in a row of `boxes`: two corners, score, class, and others
  /// that the network returns (mask coefficients or keypoints).
  static constexpr int columns = int(DETECTOR_BOXES_ELEMENTS) / DETECTOR_ROWS;
  static_assert(DETECTOR_BOXES_ELEMENTS % DETECTOR_ROWS == 0 && columns >= 6,
                "define DETECTOR_ROWS as the number of rows of `boxes`");

  /// Returns a row for each box: x1, y1, x2, y2, score, class, and the other
  /// numbers that the network returns for a box.
  std::vector<std::vector<float>> run(const Image &image, int repeat) {
    if (image.width < DETECTOR_FRAME_WIDTH_LEAST ||
        image.width > DETECTOR_FRAME_WIDTH_MOST ||
        image.height < DETECTOR_FRAME_HEIGHT_LEAST ||
        image.height > DETECTOR_FRAME_HEIGHT_MOST)
      throw ImageError("it has " + std::to_string(image.width) + " x " +
                       std::to_string(image.height) +
                       " pixels; the network was compiled for widths from " +
                       std::to_string(DETECTOR_FRAME_WIDTH_LEAST) + " to " +
                       std::to_string(DETECTOR_FRAME_WIDTH_MOST) +
                       " and heights from " +
                       std::to_string(DETECTOR_FRAME_HEIGHT_LEAST) + " to " +
                       std::to_string(DETECTOR_FRAME_HEIGHT_MOST));
    detector::io io = {};
    io.frame_width = image.width;
    io.frame_height = image.height;
    io.frame = image.pixels.data();
    io.boxes = boxes.data();
    io.count = &count;
#ifdef DETECTOR_OUTPUT1_ELEMENTS
    io.output1 = others.data();
#endif
    milliseconds = 1e30;
    for (int i = 0; i < repeat; ++i) {
      auto start = std::chrono::steady_clock::now();
      ingot_status status = detector::run(io, *arena);
      std::chrono::duration<double, std::milli> time =
          std::chrono::steady_clock::now() - start;
      if (status != INGOT_OK)
        throw ImageError("the network reports error " + std::to_string(status));
      milliseconds = std::min(milliseconds, time.count());
    }
    std::vector<std::vector<float>> rows;
    for (int i = 0; i < count; ++i)
      rows.emplace_back(boxes.begin() + i * columns,
                        boxes.begin() + (i + 1) * columns);
    return rows;
  }

  double milliseconds = 0;

private:
  std::unique_ptr<detector::arena> arena{new detector::arena};
  std::vector<float> boxes = std::vector<float>(DETECTOR_BOXES_ELEMENTS);
#ifdef DETECTOR_OUTPUT1_ELEMENTS
  /// The mask prototypes of a segmentation network; not used.
  std::vector<float> others = std::vector<float>(DETECTOR_OUTPUT1_ELEMENTS);
#endif
  int32_t count = 0;
};

} // namespace

int main(int argc, char **argv) {
  Settings settings = readArguments(argc, argv);
  std::vector<std::string> labels;
  if (!settings.labels.empty())
    labels = readLabels(settings.labels);
  if (settings.keypoints * 3 > Detector::columns - 6)
    fail("--keypoints: a box has only " + std::to_string(Detector::columns) +
             " numbers",
         2);
  Detector detector;
  int code = 0;
  for (const std::string &path : settings.pictures) {
    try {
      Image image = readImage(path);
      auto rows = detector.run(image, settings.repeat);
      if (!settings.numbers)
        std::printf("%s: %d x %d pixels, %zu boxes, %.2f ms\n", path.c_str(),
                    image.width, image.height, rows.size(),
                    detector.milliseconds);
      else if (settings.pictures.size() > 1)
        std::printf("%zu\n", rows.size());
      for (const std::vector<float> &row : rows) {
        if (settings.numbers) {
          for (size_t i = 0; i < row.size(); ++i)
            std::printf("%s%.9g", i ? " " : "", double(row[i]));
          std::printf("\n");
          continue;
        }
        size_t kind = size_t(row[5]);
        std::string label =
            kind < labels.size() ? labels[kind] : std::to_string(kind);
        std::printf("  %-12s %3.0f %%   from (%.0f, %.0f) to (%.0f, %.0f)\n",
                    label.c_str(), 100 * double(row[4]), double(row[0]),
                    double(row[1]), double(row[2]), double(row[3]));
      }
      if (settings.output.empty())
        continue;
      // The boxes with the highest scores are drawn last, on top of the others.
      for (size_t i = rows.size(); i-- > 0;) {
        const std::vector<float> &row = rows[i];
        size_t kind = size_t(row[5]);
        std::string label =
            kind < labels.size() ? labels[kind] : std::to_string(kind);
        label += " " + std::to_string(int(100 * row[4] + 0.5f)) + "%";
        drawBox(image, row[0], row[1], row[2], row[3], int(kind), label);
        for (int k = 0; k < settings.keypoints; ++k) {
          const float *point =
              &row[row.size() - size_t(3 * (settings.keypoints - k))];
          if (point[2] > 0.5f)
            drawPoint(image, point[0], point[1], int(kind));
        }
      }
      writeImage(image, settings.output);
    } catch (const ImageError &error) {
      std::fprintf(stderr, "detect: %s: %s\n", path.c_str(), error.what());
      code = 1;
    }
  }
  return code;
}
