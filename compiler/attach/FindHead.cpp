// Finds the output of a detector that contains the boxes.

#include "compiler/attach/Heads.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace ingot::attach {

/// Returns the value of `key` in the model's metadata; empty if it is missing.
static StringRef metadata(const onnx::ModelProto &model, StringRef key) {
  for (const auto &entry : model.metadata_props())
    if (entry.key() == key)
      return entry.value();
  return "";
}

/// Returns the number of entries of a Python dictionary from the numbers 0, 1,
/// 2 ... to names, such as {0: 'person', 1: 'bicycle'}; 0 if the text has
/// another form.
static int64_t countNames(StringRef text) {
  text = text.trim();
  if (!text.consume_front("{") || !text.consume_back("}"))
    return 0;
  int64_t count = 0;
  while (!(text = text.ltrim(" ,")).empty()) {
    int64_t number;
    if (text.consumeInteger(10, number) || number != count)
      return 0;
    text = text.ltrim();
    if (!text.consume_front(":"))
      return 0;
    text = text.ltrim();
    if (text.empty() || (text[0] != '\'' && text[0] != '"'))
      return 0;
    size_t end = 1;
    while (end < text.size() && text[end] != text[0])
      end += text[end] == '\\' ? 2 : 1;
    if (end >= text.size())
      return 0;
    text = text.drop_front(end + 1);
    ++count;
  }
  return count;
}

/// Reads the number of keypoints and the size of each (2 or 3) from a text such
/// as "[17, 3]". Returns false if the text has another form.
static bool readPair(StringRef text, int64_t &first, int64_t &second) {
  text = text.trim();
  if (!text.consume_front("[") || !text.consume_back("]"))
    return false;
  auto [left, right] = text.split(',');
  return !left.trim().getAsInteger(10, first) &&
         !right.trim().getAsInteger(10, second) && first > 0 &&
         (second == 2 || second == 3);
}

static std::string shown(ArrayRef<int64_t> shape) {
  return "[" +
         join(map_range(shape, [](int64_t n) { return std::to_string(n); }),
              ",") +
         "]";
}

static bool isFloat(int32_t type) {
  return type == onnx::TensorProto::FLOAT || type == onnx::TensorProto::FLOAT16;
}

std::optional<Head> findHead(const onnx::ModelProto &model,
                             ArrayRef<NetworkOutput> outputs,
                             const BoxOptions &options,
                             Diagnostics &diagnostics) {
  const NetworkOutput *found = nullptr;
  int64_t masks = 0;
  std::string all;
  size_t candidates = 0;
  for (const NetworkOutput &output : outputs) {
    ArrayRef<int64_t> shape = output.shape;
    all += (all.empty() ? "`" : ", `") + printable(output.name) + "` " +
           shown(shape);
    if (shape.size() == 3 && shape[0] == 1 && isFloat(output.dataType)) {
      ++candidates;
      found = &output;
    } else if (shape.size() == 4 && shape[0] == 1) {
      masks = shape[1];
    }
  }
  auto fail = [&](const Twine &message, const Twine &hint) {
    diagnostics.report(DiagnosticId::NotDetector, message, hint);
    return std::nullopt;
  };
  StringRef supported =
      "supported: [1,4+classes,N] (Ultralytics v8, v11) with mask coefficients "
      "or keypoints after the classes, and [1,K,6] (exported with nms=True)";
  StringRef task = metadata(model, "task");
  if (task == "obb")
    return fail("the model detects rotated boxes (task `obb`), which are not "
                "supported",
                "`--head none` attaches only the frame");
  if (candidates != 1)
    return fail("the boxes cannot be found among the outputs: " + all,
                supported);

  Head head;
  head.output = found->name;
  head.dataType = found->dataType;
  head.keypoints = options.keypoints;
  head.keypointSize = options.keypointSize;
  if (!head.keypoints && !readPair(metadata(model, "kpt_shape"), head.keypoints,
                                   head.keypointSize))
    head.keypoints = head.keypointSize = 0;
  int64_t named =
      options.classes ? options.classes : countNames(metadata(model, "names"));
  int64_t expected =
      head.keypoints ? head.keypoints * head.keypointSize : masks;
  int64_t rows = found->shape[1], columns = found->shape[2];
  std::string what =
      "the output `" + printable(found->name) + "` " + shown(found->shape);
  head.isSelected = columns == 6 + expected && rows > columns;
  if (head.isSelected) {
    head.boxes = rows;
    head.classes = named;
    head.extras = expected;
    return head;
  }
  // A head is [1, numbers of a box, boxes]. Fewer boxes than numbers mean that
  // the axes are transposed, unless the number of rows is the expected one (a
  // tiny network).
  bool isTransposed = rows > columns;
  if (isTransposed && named && rows == 4 + named + expected)
    isTransposed = false;
  if (isTransposed)
    return fail(what + " has its boxes along axis 1, or more numbers for each "
                       "box than boxes",
                supported + "; --classes N says how many classes there are, "
                            "--keypoints NxD how many keypoints");
  head.boxes = columns;
  head.classes = named ? named : rows - 4 - expected;
  // With a given number of classes and no keypoints, all numbers after the
  // scores are extras, also if their meaning is unknown.
  bool isGiven = options.classes != 0;
  head.extras = isGiven && !head.keypoints ? rows - 4 - named : expected;
  if (head.classes < 1 || head.extras < 0 ||
      rows != 4 + head.classes + head.extras)
    return fail(
        what + " has " + Twine(rows) + " numbers for each box; 4 + " +
            Twine(std::max<int64_t>(head.classes, 1)) + " classes" +
            (expected ? " + " + Twine(expected) + " others" : Twine("")) +
            " are " + Twine(4 + std::max<int64_t>(head.classes, 1) + expected),
        "--classes N says how many classes there are, --keypoints NxD "
        "how many keypoints");
  return head;
}

} // namespace ingot::attach
