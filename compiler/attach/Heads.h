// The output of a detector, and its boxes in a frame.

#ifndef INGOT_COMPILER_ATTACH_HEADS_H
#define INGOT_COMPILER_ATTACH_HEADS_H

#include "compiler/attach/Letterbox.h"

namespace ingot::attach {

/// The tensor of a detector that contains its boxes.
struct Head {
  /// The name of the output and its ONNX data type.
  std::string output;
  int32_t dataType = 0;
  /// If the network selects boxes itself: [1, boxes, 6 + extras], rows of two
  /// corners, score, class. Otherwise [1, 4 + classes + extras, boxes], rows of
  /// the centre's and the size's coordinates, and a score for each class.
  bool isSelected = false;
  int64_t boxes = 0, classes = 0, extras = 0;
  /// If the extras are keypoints: their number, and the numbers of each.
  int64_t keypoints = 0, keypointSize = 0;
};

/// An output of the network, with its shape.
struct NetworkOutput {
  std::string name;
  int32_t dataType;
  std::vector<int64_t> shape;
};

/// Finds the head among the outputs of a model: by their shapes, the metadata
/// that Ultralytics writes, and the options. Returns nullopt with a diagnostic
/// if there is none.
std::optional<Head> findHead(const onnx::ModelProto &model,
                             llvm::ArrayRef<NetworkOutput> outputs,
                             const BoxOptions &options,
                             Diagnostics &diagnostics);

/// Adds the nodes that compute `boxes`, float32 [most, 6 + extras], and
/// `count`, int32 [1]. A row has two corners, the score, the class and the
/// extras. Corners and keypoints are mapped to the frame if `map` is given.
/// Rows after the first `count` are 0.
void addSelection(NodeBuilder &b, const Head &head, const BoxOptions &options,
                  const std::optional<FrameMap> &map, const std::string &boxes,
                  const std::string &count);

} // namespace ingot::attach

#endif // INGOT_COMPILER_ATTACH_HEADS_H
