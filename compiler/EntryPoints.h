// Combines several entry points in one module.
//
//   func.func @main(..)         // one import     func.func @prefill(..)
//   func.func private @body(..)               ->  func.func private @body(..)
//   func.func @main(..)         // another one    func.func @decode(..)
//   func.func private @body(..)                   func.func private @body_0(..)
//
// Later stages merge equal kernels, and constants with equal bytes.

#ifndef INGOT_COMPILER_ENTRYPOINTS_H
#define INGOT_COMPILER_ENTRYPOINTS_H

#include "compiler/report/Diagnostics.h"
#include "mlir/IR/BuiltinOps.h"

namespace ingot {

/// Moves the content of `from` into `module`; the main function of `from`
/// becomes the public function `name`. Private functions whose names are taken
/// are renamed.
void addEntryPoint(mlir::ModuleOp module, mlir::ModuleOp from,
                   llvm::StringRef name);

/// Lets constants with equal bytes share one resource, and frees the others.
/// Several entry points of one model have the same weights, which are then in
/// memory once and are packed once.
void shareConstants(mlir::ModuleOp module);

/// Marks states: inputs that receive an output of the previous run
/// (kernel.state). Each of `states` is the name of an input and the name of an
/// output, or two patterns with one `*` each, which stand for all pairs of
/// names that match. An entry point may have both tensors of a pair, one or
/// none. Returns false with diagnostics if a pair is invalid.
bool markStates(mlir::ModuleOp module,
                llvm::ArrayRef<std::pair<std::string, std::string>> states,
                Diagnostics &diagnostics);

/// A streamed input (--stream): a window of columns (slices along an axis), of
/// which each call takes only the new ones.
struct StreamedInput {
  /// The name of the input; empty: the only input of the model.
  std::string input;
  /// The axis of the columns; negative numbers count from the end.
  int64_t axis = 0;
  /// The number of columns that a call takes; 0: as few as the strides of the
  /// model's operators permit.
  int64_t columns = 0;
};

/// Marks the streamed input (kernel.stream) in each entry point that has an
/// input of this name. Returns false with diagnostics if the model has no such
/// input or axis.
bool markStream(mlir::ModuleOp module, const StreamedInput &stream,
                Diagnostics &diagnostics);

} // namespace ingot

#endif // INGOT_COMPILER_ENTRYPOINTS_H
