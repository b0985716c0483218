// Prints modules as C++ files. This is the last stage of a compilation: it
// reads modules in the form that the `legalize` stage guarantees, and fails
// only if a file cannot be written.

#ifndef INGOT_CODEGEN_CODEGEN_H
#define INGOT_CODEGEN_CODEGEN_H

#include "codegen/files/Weights.h"
#include "codegen/kernel/Language.h"
#include "targets/TargetDescription.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace ingot {

/// Bytes of flash (code and constants) and of stack, measured after compiling
/// the generated source with the target's compiler.
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
  /// The model's own description, for comments only.
  std::string description;
  /// The header that the source includes.
  std::string headerName = "model.h";
  /// The file for large constants, which the source includes; if empty, they
  /// are in the source.
  std::string constantsName;
  /// The command that compiles the model to this source, for comments only.
  std::string commandLine;
  /// The language of the source; the header is both C and C++.
  Language language;
  WeightsMode weights = WeightsMode::Auto;
  /// Calls ingot_context::trace before and after every kernel.
  bool trace = false;
  /// The section in which the generated source defines the arena; if empty, the
  /// caller provides the arena.
  std::string arenaSection;
  /// The measured sizes, which the header states if they are known.
  std::optional<MeasuredBytes> measured;
  /// A command that compiles the output instead of the target's compiler.
  std::string compiler;
};

/// Print the header and the source of a model. The variants are its legalized
/// modules, from the least to the most capable target. With several, the
/// generated code selects one at run time. `constants` receives the text of
/// options.constantsName; it stays empty if the source has all constants.
void printHeader(llvm::ArrayRef<Variant> variants,
                 const CodegenOptions &options, llvm::raw_ostream &os);
void printSource(llvm::ArrayRef<Variant> variants,
                 const CodegenOptions &options, llvm::raw_ostream &os,
                 std::string *constants = nullptr);

/// Writes all files of one compilation, or none. `output` is a .cpp or .c, with
/// .h, constants and weights beside it, or a .o with a .h. For a .o, the compiler of the most
/// capable target compiles the source, which is not kept.
llvm::Error emitFiles(llvm::ArrayRef<Variant> variants,
                      const CodegenOptions &options, llvm::StringRef output);

} // namespace ingot

#endif // INGOT_CODEGEN_CODEGEN_H
