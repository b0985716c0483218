// Prints planned modules as C++ files. The last stage: it reads modules in the
// form that `legalize` guarantees, and fails only if a file cannot be written.

#ifndef INGOT_CODEGEN_CODEGEN_H
#define INGOT_CODEGEN_CODEGEN_H

#include "codegen/files/Weights.h"
#include "targets/TargetDescription.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace ingot {

/// Sizes measured after compiling the generated file with the target's
/// compiler.
struct MeasuredBytes {
  int64_t flash = 0, stack = 0;
};

struct CodegenOptions {
  /// Prefix of all declarations of the header; converted to an identifier by
  /// Names.h.
  std::string name = "model";
  /// Names of model and producer, for comments only ("mnist.onnx", "ingot
  /// 0.1").
  std::string model, producer;
  /// The header that the source includes.
  std::string headerName = "model.h";
  WeightsMode weights = WeightsMode::Auto;
  /// Calls ingot_context::trace before and after every kernel.
  bool trace = false;
  /// The section in which the file defines the arena; if empty, the caller
  /// provides it.
  std::string arenaSection;
  /// For the header, if known.
  std::optional<MeasuredBytes> measured;
  /// A command that compiles the output instead of the target's compiler.
  std::string compiler;
};

/// The variants are legalized, and ordered from the least to the most capable
/// target. With several, the generated code selects one at run time.
void printHeader(llvm::ArrayRef<Variant> variants,
                 const CodegenOptions &options, llvm::raw_ostream &os);
void printSource(llvm::ArrayRef<Variant> variants,
                 const CodegenOptions &options, llvm::raw_ostream &os);

/// Writes all files of one compilation, or none. `output` is a .cpp, with .h
/// and weights beside it, or a .o with a .h, for which the compiler of the most
/// capable target compiles the same text.
llvm::Error emitFiles(llvm::ArrayRef<Variant> variants,
                      const CodegenOptions &options, llvm::StringRef output);

} // namespace ingot

#endif // INGOT_CODEGEN_CODEGEN_H
