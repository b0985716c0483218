// Resizing by scales or sizes that are tensors of the run, or of axes whose sizes are
// known only at run time: the tables that Resample.cpp computes when compiling are
// computed by the program. So are the positions of affine grids.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_RUNTIMERESIZE_H
#define INGOT_COMPILER_IMPORT_OPERATORS_RUNTIMERESIZE_H

#include "compiler/import/operators/OnnxImport.h"

namespace ingot::graph {

/// The attributes of Resize.
struct ResizeMode {
  std::string interpolation, coordinates, nearest, policy;
  bool antialias, excludeOutside;
  double cubicA, extrapolation;

  static ResizeMode of(OnnxNode &node);
  bool crops() const { return coordinates == "tf_crop_and_resize"; }
};

/// What a node says of the axes that it resizes. Either `scales` or `sizes` is given:
/// vectors with an entry for each of `axes`. `roi` has two, or is null.
struct ResizeInputs {
  llvm::SmallVector<int64_t> axes;
  mlir::Value scales, sizes, roi;
  /// The inputs' numbers; none for those of an input that is no constant.
  llvm::SmallVector<double> knownScales;
  Dims knownSizes;
};

ImportResult resizeByInput(OnnxNode &node, const ResizeMode &mode,
                           const ResizeInputs &inputs);

/// AffineGrid whose size is a tensor of the run.
ImportResult affineGridAtRunTime(OnnxNode &node);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_RUNTIMERESIZE_H
