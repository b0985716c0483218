// Finds the boxes in the outputs of a detector, and adds the nodes that select
// the best ones and map them to the frame.

#ifndef INGOT_COMPILER_ATTACH_HEADS_H
#define INGOT_COMPILER_ATTACH_HEADS_H

#include "compiler/attach/Letterbox.h"

namespace ingot::attach {

/// The output of a detector that contains its boxes.
struct Head {
  /// The name of the output and its ONNX data type.
  std::string output;
  int32_t dataType = 0;
  /// Whether the network selects boxes itself. Then the output is [1, boxes,
  /// 6 + extras]: each row has two corners, score, class, extras. Otherwise it
  /// is [1, 4 + classes + extras, boxes]: each column has centre, size, a score
  /// for each class, extras (mask coefficients or keypoints).
  bool isSelected = false;
  int64_t boxes = 0, classes = 0, extras = 0;
  /// If the extras are keypoints: their number, and the size of each (2 or 3).
  int64_t keypoints = 0, keypointSize = 0;
};

/// An output of the network. `dataType` is a value of TensorProto::DataType.
struct NetworkOutput {
  std::string name;
  int32_t dataType;
  std::vector<int64_t> shape;
};

/// Finds the head among the outputs of a model by their shapes, the metadata
/// that Ultralytics writes, and the options. Returns nullopt with a diagnostic
/// if no output is a supported head.
std::optional<Head> findHead(const onnx::ModelProto &model,
                             llvm::ArrayRef<NetworkOutput> outputs,
                             const BoxOptions &options,
                             Diagnostics &diagnostics);

/// Adds the nodes that select the best boxes: `boxes` is float32 [K,
/// 6 + extras], where K is the smaller of options.most and head.boxes, and
/// `count` is int32 [1]. A row has two corners, the score, the class and the
/// extras. Corners and keypoints are mapped to the frame if `map` is given.
/// Rows after the first `count` are 0.
void addSelection(NodeBuilder &b, const Head &head, const BoxOptions &options,
                  const std::optional<FrameMap> &map, const std::string &boxes,
                  const std::string &count);

} // namespace ingot::attach

#endif // INGOT_COMPILER_ATTACH_HEADS_H
