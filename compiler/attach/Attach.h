// Adds the preprocessing and the postprocessing of an object detector to its
// ONNX model.
//
//     images [1,3,H,W] -> network -> output0 [1,4+classes,N]
//
// becomes
//
//     frame uint8 [height,width,3] -> letterbox -> network -> selection
//         -> boxes [K,6], count [1]
//
// The network computes N candidate boxes, of which at most K are selected. The
// added nodes are standard ONNX operators, so any runtime can run the result,
// and Ingot compiles it like any other model.

#ifndef INGOT_COMPILER_ATTACH_ATTACH_H
#define INGOT_COMPILER_ATTACH_ATTACH_H

#include "compiler/Compile.h"

namespace ingot::attach {

/// The layout of the pixels of a frame. Nv12 and Nv21 have a luma plane, then a
/// plane of chroma pairs with half the width and height: (U, V) in Nv12, (V, U)
/// in Nv21.
enum class FrameFormat { Rgb, Bgr, Rgba, Bgra, Gray, Nv12, Nv21 };
/// The standard that defines how luma and chroma are converted to RGB. Values
/// use the whole range 0 to 255 in ...Full, otherwise 16 to 235 (luma) and 16
/// to 240 (chroma).
enum class ColorSpace { Bt601, Bt601Full, Bt709, Bt709Full };

struct FrameOptions {
  /// The size of the frame in pixels; both 0 if it is dynamic.
  int64_t width = 0, height = 0;
  FrameFormat format = FrameFormat::Rgb;
  ColorSpace colors = ColorSpace::Bt601;

  bool isFixed() const { return width != 0; }
};

struct BoxOptions {
  /// Boxes whose score is not above `score` are dropped; of two boxes whose
  /// intersection over union exceeds `overlap`, the one with the lower score is
  /// dropped.
  float score = 0.25F, overlap = 0.7F;
  /// The largest number of boxes in the result.
  int64_t most = 300;
  /// Whether boxes of different classes suppress each other.
  bool acrossClasses = false;
  /// The number of classes; 0: derived from the metadata or the output's shape.
  int64_t classes = 0;
  /// The number of keypoints, and the size of each: 2 (x, y) or 3 (with a
  /// visibility); 0: read from the model's metadata.
  int64_t keypoints = 0, keypointSize = 0;
};

struct AttachOptions {
  /// At least one of `frame` and `boxes` is set.
  std::optional<FrameOptions> frame;
  std::optional<BoxOptions> boxes;
};

/// Adds the steps that `options` selects to the model `compile.model`, with the
/// sizes that `compile` gives to its symbolic dimensions. Describes the frame
/// and the boxes in `summary`. Returns null with diagnostics on failure, for
/// example if the model is no detector of a supported form.
std::unique_ptr<ModelFile> attachTo(const CompileOptions &compile,
                                    const AttachOptions &options,
                                    mlir::MLIRContext &context,
                                    std::string &summary,
                                    Diagnostics &diagnostics);

} // namespace ingot::attach

#endif // INGOT_COMPILER_ATTACH_ATTACH_H
