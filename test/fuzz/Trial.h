// One compilation in a process of its own.

#ifndef INGOT_TEST_FUZZ_TRIAL_H
#define INGOT_TEST_FUZZ_TRIAL_H

#include "Mutate.h"
#include "compiler/Compile.h"

#include <filesystem>

namespace ingot::fuzz {

/// The options of one compilation, and the command line that gives the same
/// options.
struct Trial {
  CompileOptions options;
  std::string commandLine;
};
/// Returns random options: one target or several of a family, any location of
/// the weights, any limits. Symbols of `model` usually get sizes.
Trial randomTrial(const onnx::ModelProto &model, Random &random);

/// Codes for outcomes of a compilation, in addition to Ingot's exit codes; a
/// process that a signal ended has the negative signal number as its code.
enum : int { SaidNothing = 99, OutputLeftBehind = 98 };
inline bool isFault(int code) {
  return code != Success && code != InvalidInput && code != WrongUsage &&
         code != Unsupported;
}

struct Outcome {
  int code;
  /// What the compilation printed.
  std::string said;
};

/// A folder for models, outputs and temporary files of compilations. It is
/// removed by the destructor, also when the program is interrupted.
class Workspace {
public:
  Workspace();
  ~Workspace();
  Workspace(const Workspace &) = delete;

  /// Compiles a model to C++, with limits on time and memory.
  Outcome compile(const std::string &model, const Trial &trial);
  /// Whether a signal has asked the program to end.
  static bool isInterrupted();

private:
  [[noreturn]] void compileInChild(const Trial &trial);
  /// Removes all files in the folder. Returns whether there were files that a
  /// compilation with this exit code must not leave.
  bool clear(int code);

  std::filesystem::path folder;
  /// The MLIR context: created once, and every child process inherits a copy.
  std::unique_ptr<mlir::MLIRContext> context;
};

} // namespace ingot::fuzz

#endif // INGOT_TEST_FUZZ_TRIAL_H
