// Resizing by scales or sizes that are known only at run time, or of axes with
// dynamic sizes. The generated program computes the tables that Resample.cpp
// otherwise computes at compile time, and also the positions of affine grids.

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

/// The axes to resize. Either `scales` or `sizes` is given: vectors with one
/// entry per axis in `axes`. `roi` has two entries per axis, or is null.
struct ResizeInputs {
  llvm::SmallVector<int64_t> axes;
  mlir::Value scales, sizes, roi;
  /// The elements of `scales`, `sizes` and `roi`, if they are known at compile
  /// time; else empty.
  llvm::SmallVector<double> knownScales;
  Dims knownSizes;
  llvm::SmallVector<double> knownRoi;
};

ImportResult resizeByInput(OnnxNode &node, const ResizeMode &mode,
                           const ResizeInputs &inputs);

ImportResult importAffineGrid(OnnxNode &node);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_RUNTIMERESIZE_H
