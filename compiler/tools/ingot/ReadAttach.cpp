// Reads the options of `ingot attach`.

#include "compiler/tools/ingot/Options.h"

using namespace llvm;

namespace ingot {

/// Returns the index of an option's value in `names`; 0 if the option is not
/// given, and with a diagnostic if its value is unknown.
static size_t readChoice(const cl::opt<std::string> &option,
                         ArrayRef<StringRef> names, Diagnostics &diagnostics) {
  if (!option.getNumOccurrences())
    return 0;
  const auto *known = find(names, StringRef(option));
  if (known != names.end())
    return known - names.begin();
  diagnostics.report(DiagnosticId::BadOption,
                     "--" + option.ArgStr + ": unknown value `" +
                         printable(option) + "`",
                     "choose from " + join(names, ", "));
  return 0;
}

/// Reads the size of a frame, such as 1280x720, or `any`. Returns false if the
/// text cannot be parsed.
static bool readFrameSize(StringRef text, attach::FrameOptions &frame,
                          Diagnostics &diagnostics) {
  bool hasPlanes = frame.format >= attach::FrameFormat::Nv12;
  if (text == "any") {
    if (hasPlanes)
      diagnostics.report(DiagnosticId::BadOption,
                         "--frame: frames in nv12 and nv21 need a fixed size");
    return true;
  }
  // Few cameras have longer sides, and coordinates below this limit have at
  // least 10 fractional bits in float32.
  constexpr int64_t most = 16384;
  auto read = [&](StringRef part, int64_t &size) {
    return !part.getAsInteger(10, size) && size >= 1 && size <= most;
  };
  auto [width, height] = text.split('x');
  if (!read(width, frame.width) || !read(height, frame.height)) {
    diagnostics.report(DiagnosticId::BadOption,
                       "--frame: cannot parse `" + printable(text) +
                           "` as width and height, each from 1 to " +
                           Twine(most) + " (example: 1280x720), or `any`");
    return false;
  }
  if (hasPlanes && (frame.width % 2 != 0 || frame.height % 2 != 0))
    diagnostics.report(DiagnosticId::BadOption,
                       "--frame: width and height must be even in nv12 and "
                       "nv21, but are " +
                           Twine(frame.width) + " and " + Twine(frame.height));
  return true;
}

void readAttach(const Options &options, Arguments &arguments,
                Diagnostics &diagnostics) {
  if (options.commands[options.chosen()].parser != &options.attach)
    return;
  auto isGiven = [&](StringRef name) {
    return is_contained(arguments.given, name);
  };
  auto complain = [&](const Twine &message, const Twine &hint = "") {
    diagnostics.report(DiagnosticId::BadOption, message, hint);
  };
  attach::FrameOptions frame;
  frame.format = attach::FrameFormat(readChoice(
      options.format, {"rgb", "bgr", "rgba", "bgra", "gray", "nv12", "nv21"},
      diagnostics));
  frame.colors = attach::ColorSpace(
      readChoice(options.colors, {"bt601", "bt601-full", "bt709", "bt709-full"},
                 diagnostics));
  if (!isGiven("frame"))
    refuseUnused(arguments, {"format", "colors"}, "without --frame",
                 diagnostics);
  else if (readFrameSize(options.frame, frame, diagnostics))
    arguments.attach.frame = frame;
  if (frame.format < attach::FrameFormat::Nv12)
    refuseUnused(arguments, {"colors"}, "without --format nv12 or nv21",
                 diagnostics);
  bool hasHead = readChoice(options.head, {"boxes", "none"}, diagnostics) == 0;
  if (!hasHead) {
    refuseUnused(arguments,
                 {"across-classes", "classes", "keypoints", "max-boxes",
                  "overlap", "score"},
                 "with --head none", diagnostics);
    if (!isGiven("frame"))
      complain("--head none without --frame adds nothing to the model");
    return;
  }
  attach::BoxOptions boxes;
  boxes.acrossClasses = options.acrossClasses;
  auto readShare = [&](const cl::opt<double> &option, float &share) {
    if (!option.getNumOccurrences())
      return;
    share = static_cast<float>(option);
    if (!(option >= 0 && option <= 1))
      complain("--" + option.ArgStr + ": the value is out of range (0 to 1)");
  };
  readShare(options.score, boxes.score);
  readShare(options.overlap, boxes.overlap);
  auto readCount = [&](const cl::opt<unsigned> &option, int64_t &count) {
    if (!option.getNumOccurrences())
      return;
    count = option;
    if (count < 1 || count > 100000)
      complain("--" + option.ArgStr +
               ": the value is out of range (1 to 100000)");
  };
  readCount(options.maxBoxes, boxes.most);
  readCount(options.classes, boxes.classes);
  if (isGiven("keypoints")) {
    auto [count, size] = StringRef(options.keypoints).split('x');
    if (count.getAsInteger(10, boxes.keypoints) ||
        size.getAsInteger(10, boxes.keypointSize) || boxes.keypoints < 1 ||
        boxes.keypoints > 10000 ||
        (boxes.keypointSize != 2 && boxes.keypointSize != 3))
      complain("--keypoints: cannot parse `" + printable(options.keypoints) +
               "` as a number of points, and 2 or 3 numbers for each "
               "(example: 17x3)");
  }
  arguments.attach.boxes = boxes;
}

} // namespace ingot
