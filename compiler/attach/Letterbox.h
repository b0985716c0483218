// Adds nodes that fit a camera frame into the input of a network.

#ifndef INGOT_COMPILER_ATTACH_LETTERBOX_H
#define INGOT_COMPILER_ATTACH_LETTERBOX_H

#include "compiler/attach/Attach.h"
#include "compiler/attach/NodeBuilder.h"

namespace ingot::attach {

/// The image that a network reads, as float [1, channels, height, width].
struct NetworkImage {
  int64_t channels, height, width;
};

/// Names of the tensors that map points of the network's image to points of the
/// frame: (point - origin) / gain, clipped to 0..size. `origin` and `size` are
/// [2] (x, then y), `gain` is [1], all of float32.
struct FrameMap {
  std::string origin, gain, size;
};

/// The position of a frame in the network's image, in pixels. `gain` scales
/// both axes; two bars fill the rest of the image. If their sizes differ, the
/// upper or left bar is the smaller one.
struct Placement {
  int64_t height, width, top, left;
  double gain;
  static Placement of(int64_t frameHeight, int64_t frameWidth,
                      const NetworkImage &image);
};

/// Returns the shape of the frame: negative sizes are dynamic.
std::vector<int64_t> frameShape(const FrameOptions &options);

/// Adds the nodes that turn the tensor `frame` (uint8) into the float32 tensor
/// `result` (values from 0 to 1). Returns the map from the network's image back
/// to the frame.
FrameMap addLetterbox(NodeBuilder &b, const FrameOptions &options,
                      const NetworkImage &image, const std::string &frame,
                      const std::string &result);

} // namespace ingot::attach

#endif // INGOT_COMPILER_ATTACH_LETTERBOX_H
