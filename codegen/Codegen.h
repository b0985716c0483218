// From the planned module to files.
//
// The last stage: it only reads modules, which the stage `legalize` left, and
// cannot fail but for files that cannot be written.

#ifndef INGOT_CODEGEN_CODEGEN_H
#define INGOT_CODEGEN_CODEGEN_H

#include "codegen/files/Weights.h"
#include "targets/TargetDescription.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace ingot {

/// What the target's compiler made of the text.
struct MeasuredBytes {
  int64_t flash = 0, stack = 0;
};

struct CodegenOptions {
  /// Prefix of all that the header declares; made an identifier by Names.h.
  std::string name = "model";
  /// The model and the producer, for comments only ("mnist.onnx", "ingot 0.1").
  std::string model, producer;
  /// What the source includes.
  std::string headerName = "model.h";
  WeightsMode weights = WeightsMode::Auto;
  /// Call ingot_context::trace around every kernel.
  bool trace = false;
  /// Defines the arena in this section; empty: the caller has one.
  std::string arenaSection;
  /// For the header, where known.
  std::optional<MeasuredBytes> measured;
  /// A command that compiles objects in place of the target's compiler.
  std::string compiler;
};

/// The versions of the model are legalized and stand from the least to the most
/// able target. Of several the generated code picks one where it runs.
void printHeader(llvm::ArrayRef<Variant> variants,
                 const CodegenOptions &options, llvm::raw_ostream &os);
void printSource(llvm::ArrayRef<Variant> variants,
                 const CodegenOptions &options, llvm::raw_ostream &os);

/// All files of one compilation, written whole or not at all: `output` is the
/// .cpp, with .h and weights beside it, or a .o (plus the .h), for which the
/// compiler of the ablest target is run on that very text.
llvm::Error emitFiles(llvm::ArrayRef<Variant> variants,
                      const CodegenOptions &options, llvm::StringRef output);

} // namespace ingot

#endif // INGOT_CODEGEN_CODEGEN_H
