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
  /// The model file, such as "mnist.onnx", and the program that wrote the
  /// output, such as "ingot 0.1". Both are printed in comments only.
  std::string model, producer;
  /// The description stored in the ONNX model, printed in comments only.
  std::string description;
  /// The name of the header, which the source includes.
  std::string headerName = "model.h";
  /// The name of the file with large constants, which the source includes. If
  /// the name is empty, all constants are in the source.
  std::string constantsName;
  /// The command that compiles the model to this source, printed in comments
  /// only.
  std::string commandLine;
  /// The language of the source. The header is valid in both C and C++.
  Language language;
  WeightsMode weights = WeightsMode::Auto;
  /// Whether the generated code calls ingot_context::trace, a callback of the
  /// user, before and after every kernel.
  bool trace = false;
  /// The linker section of the arena (the buffer for intermediate tensors) that
  /// the generated source defines. If empty, the source defines no arena, and
  /// the caller provides one.
  std::string arenaSection;
  /// The sizes of flash and stack, if they were measured. The header then
  /// states them.
  std::optional<MeasuredBytes> measured;
  /// The command of a compiler that is used instead of the target's compiler;
  /// empty for the target's.
  std::string compiler;
};

/// Print the header and the source of a model. `variants` are its legalized
/// modules, one for each target, from the least to the most capable target. If
/// there are several, the generated code selects one at run time. `constants`
/// receives the content of the file options.constantsName; it stays empty if
/// all constants are in the source.
void printHeader(llvm::ArrayRef<Variant> variants,
                 const CodegenOptions &options, llvm::raw_ostream &os);
void printSource(llvm::ArrayRef<Variant> variants,
                 const CodegenOptions &options, llvm::raw_ostream &os,
                 std::string *constants = nullptr);

/// Writes all files of one compilation, or none. `output` is the path of a .cpp
/// or .c file, beside which the header, the constants and the weights are
/// written, or of an object (.o) or a linked module (such as .wasm), beside
/// which a header is written. An object or a linked module is made by the C++
/// compiler of the most capable target, and the source is not kept.
llvm::Error emitFiles(llvm::ArrayRef<Variant> variants,
                      const CodegenOptions &options, llvm::StringRef output);

} // namespace ingot

#endif // INGOT_CODEGEN_CODEGEN_H
