// Puts the steps before and after a detector into its ONNX model.
//
//     images [1,3,H,W] -> network -> output0 [1,4+classes,N]
//
// becomes
//
//     frame uint8 [height,width,3] -> letterbox -> network -> boxes [K,6], count [1]
//
// The added nodes are operators of ONNX, so every runtime computes the same, and
// Ingot compiles the result like any other model.

#ifndef INGOT_COMPILER_ATTACH_ATTACH_H
#define INGOT_COMPILER_ATTACH_ATTACH_H

#include "compiler/Compile.h"

namespace ingot::attach {

/// The layout of the pixels of a frame. Nv12 and Nv21 have a plane of brightness,
/// then a plane of pairs of colour differences with half the width and height.
enum class FrameFormat { Rgb, Bgr, Rgba, Bgra, Gray, Nv12, Nv21 };
/// The meaning of brightness and colour differences.
enum class ColorSpace { Bt601, Bt601Full, Bt709, Bt709Full };

struct FrameOptions {
  /// The size of the frame; both 0 if it may vary from run to run.
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
  /// The number of classes; 0: found in the model.
  int64_t classes = 0;
  /// The number of keypoints and the numbers of each (2 or 3); 0: found in the
  /// model.
  int64_t keypoints = 0, keypointSize = 0;
};

struct AttachOptions {
  /// At least one of the two is set.
  std::optional<FrameOptions> frame;
  std::optional<BoxOptions> boxes;
};

/// Adds the steps of `options` to the model of `compile`, whose open dimensions
/// have the sizes of `compile`. Writes into `summary` what goes in and comes
/// out. Returns null with diagnostics if the model does not have the form of a
/// detector.
std::unique_ptr<ModelFile> attachTo(const CompileOptions &compile,
                                    const AttachOptions &options,
                                    mlir::MLIRContext &context,
                                    std::string &summary,
                                    Diagnostics &diagnostics);

} // namespace ingot::attach

#endif // INGOT_COMPILER_ATTACH_ATTACH_H
