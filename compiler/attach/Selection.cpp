// Adds nodes that select the best boxes of a detector.
//
// Each box gets the class with the largest score. The boxes of each class are
// shifted to a region of their own before NonMaxSuppression, as Ultralytics
// does, so that boxes of different classes do not suppress each other.

#include "compiler/attach/Heads.h"

#include <numeric>

using namespace llvm;

namespace ingot::attach {

/// The distance between the regions of consecutive classes, in pixels, as in
/// Ultralytics.
static constexpr double classDistance = 7680;

namespace {
class SelectionBuilder {
public:
  SelectionBuilder(NodeBuilder &b, const Head &head, const BoxOptions &options,
                   const std::optional<FrameMap> &map)
      : b(b), head(head), options(options), map(map),
        most(std::min(options.most, head.boxes)) {}

  void run(const std::string &boxes, const std::string &count);

private:
  void select(const std::string &x);
  void takeSelected(const std::string &x);
  std::string toFrame(const std::string &points, StringRef name);

  NodeBuilder &b;
  const Head &head;
  const BoxOptions &options;
  const std::optional<FrameMap> &map;
  int64_t most;
  /// Names of the tensors of the selected boxes: corners ([most, 4] or [1,
  /// most, 4]), score and class [most, 1], extras [most, extras] (empty name if
  /// there are none), and the number of boxes, int32 [1].
  std::string corners, score, kind, extras, number;
};
} // namespace

/// Returns the vector `x`, which has a dynamic size of at most `most`, followed
/// by as many zeros as make `most` elements.
static std::string filledUp(NodeBuilder &b, const std::string &x,
                            int64_t most) {
  auto longer = b.add("Concat", {x, b.ints(std::vector<int64_t>(most, 0))},
                      "index_and_zeros", {{"axis", int64_t(0)}});
  return b.reshape(b.slice(longer, 0, 0, most, "first_indices"), {most},
                   "indices");
}

/// Selects the best boxes of a head that has a score for each class.
void SelectionBuilder::select(const std::string &x) {
  auto centers = b.slice(x, 1, 0, 2, "centers"),
       sizes = b.slice(x, 1, 2, 4, "sizes"),
       scores = b.slice(x, 1, 4, 4 + head.classes, "scores");
  auto half = b.add("Mul", {sizes, b.number(0.5, "half")}, "half_sizes");
  auto low = b.add("Sub", {centers, half}, "low_corners"),
       high = b.add("Add", {centers, half}, "high_corners");
  auto all =
      b.add("Concat", {low, high}, "corners_by_axis", {{"axis", int64_t(1)}});
  all = b.add("Transpose", {all}, "corners",
              {{"perm", std::vector<int64_t>{0, 2, 1}}});
  bool hasClasses = head.classes > 1;
  auto best = hasClasses ? b.maximum(scores, 1, "best_scores") : scores;
  std::string classes, apart = all;
  if (hasClasses) {
    classes = b.add("ArgMax", {scores}, "best_classes",
                    {{"axis", int64_t(1)}, {"keepdims", int64_t(0)}});
    classes = b.cast(classes, onnx::TensorProto::FLOAT, "classes");
    if (!options.acrossClasses) {
      auto offset =
          b.add("Mul", {classes, b.number(classDistance, "class_distance")},
                "class_offsets");
      offset = b.reshape(offset, {1, head.boxes, 1}, "class_offsets_of_boxes");
      apart = b.add("Add", {all, offset}, "corners_by_class");
    }
  }
  auto chosen = b.add("NonMaxSuppression",
                      {apart, best, b.ints({most}),
                       b.floats({options.overlap}, {1}, "largest_overlap"),
                       b.floats({options.score}, {1}, "least_score")},
                      "selected");
  auto index = b.reshape(b.slice(chosen, 1, 2, 3, "selected_boxes"), {-1},
                         "selected_indices");
  number = b.cast(b.add("Shape", {index}, "selected_count"),
                  onnx::TensorProto::INT32, "number");
  auto places = filledUp(b, index, most);
  auto pick = [&](const std::string &from, int64_t axis, StringRef name) {
    return b.add("Gather", {from, places}, name, {{"axis", axis}});
  };
  corners = pick(all, 1, "selected_corners");
  score =
      b.reshape(pick(best, 2, "selected_scores"), {most, 1}, "selected_score");
  kind = hasClasses
             ? b.reshape(pick(classes, 1, "selected_classes"), {most, 1},
                         "selected_class")
             : b.floats(std::vector<float>(most, 0), {most, 1}, "only_class");
  if (!head.extras)
    return;
  int64_t first = 4 + head.classes;
  extras = b.slice(x, 1, first, first + head.extras, "extras");
  extras = b.add("Transpose", {pick(extras, 2, "selected_extras_by_kind")},
                 "selected_extras_of_boxes",
                 {{"perm", std::vector<int64_t>{0, 2, 1}}});
  extras = b.reshape(extras, {most, head.extras}, "selected_extras");
}

/// Takes the best boxes of a network that has selected them itself.
void SelectionBuilder::takeSelected(const std::string &x) {
  // The network need not sort its rows by score.
  auto scores =
      b.reshape(b.slice(x, 2, 4, 5, "scores"), {head.boxes}, "scores_of_boxes");
  auto order = b.add("TopK", {scores, b.ints({most})}, "best_scores",
                     {{"axis", int64_t(0)}});
  auto places = b.secondOutput("best_indices");
  auto rows = b.add("Gather", {x, places}, "best_rows", {{"axis", int64_t(1)}});
  rows = b.reshape(rows, {most, 6 + head.extras}, "rows");
  auto isGood = b.add(
      "Greater", {order, b.number(options.score, "least_score")}, "is_good");
  number =
      b.add("ReduceSum",
            {b.cast(isGood, onnx::TensorProto::INT32, "good"), b.ints({0})},
            "number");
  corners = b.slice(rows, 1, 0, 4, "selected_corners");
  score = b.slice(rows, 1, 4, 5, "selected_score");
  kind = b.slice(rows, 1, 5, 6, "selected_class");
  if (head.extras)
    extras = b.slice(rows, 1, 6, 6 + head.extras, "selected_extras");
}

/// Maps points [..., 2] of the network's image to the frame.
std::string SelectionBuilder::toFrame(const std::string &points,
                                      StringRef name) {
  auto moved = b.add("Sub", {points, map->origin}, (name + "_moved").str());
  auto scaled = b.add("Div", {moved, map->gain}, (name + "_scaled").str());
  auto zero = b.number(0, "zero");
  auto above = b.add("Max", {scaled, zero}, (name + "_positive").str());
  return b.add("Min", {above, map->size}, (name + "_in_frame").str());
}

void SelectionBuilder::run(const std::string &boxes, const std::string &count) {
  std::string x = head.output;
  if (head.dataType != onnx::TensorProto::FLOAT)
    x = b.cast(x, onnx::TensorProto::FLOAT, "output");
  head.isSelected ? takeSelected(x) : select(x);
  if (map)
    corners = toFrame(b.reshape(corners, {most, 2, 2}, "points"), "corners");
  corners = b.reshape(corners, {most, 4}, "corners_of_boxes");
  if (map && head.keypoints) {
    int64_t size = head.keypointSize;
    auto points = b.reshape(extras, {most, head.keypoints, size}, "keypoints");
    auto places =
        toFrame(b.slice(points, 2, 0, 2, "keypoint_places"), "keypoints");
    if (size > 2)
      places =
          b.add("Concat", {places, b.slice(points, 2, 2, size, "visibilities")},
                "keypoints_and_visibilities", {{"axis", int64_t(2)}});
    extras = b.reshape(places, {most, head.extras}, "keypoints_of_boxes");
  }
  SmallVector<std::string> parts{corners, score, kind};
  if (!extras.empty())
    parts.push_back(extras);
  auto rows = b.add("Concat", parts, "all_rows", {{"axis", int64_t(1)}});
  std::vector<int64_t> numbers(most);
  std::iota(numbers.begin(), numbers.end(), 0);
  auto valid = b.add("Less",
                     {b.reshape(b.ints(numbers), {most, 1}, "row_numbers"),
                      b.cast(number, onnx::TensorProto::INT64, "count")},
                     "is_selected");
  b.add("Where", {valid, rows, b.number(0, "empty")}, "boxes");
  b.writeTo(boxes);
  b.add("Identity", {number}, "count_result");
  b.writeTo(count);
}

void addSelection(NodeBuilder &b, const Head &head, const BoxOptions &options,
                  const std::optional<FrameMap> &map, const std::string &boxes,
                  const std::string &count) {
  SelectionBuilder(b, head, options, map).run(boxes, count);
}

} // namespace ingot::attach
