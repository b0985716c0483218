// One compilation in a process of its own.

#ifndef INGOT_TEST_FUZZ_TRIAL_H
#define INGOT_TEST_FUZZ_TRIAL_H

#include "Mutate.h"
#include "compiler/Compile.h"

#include <filesystem>

namespace ingot::fuzz {

/// Options, and the command line that stands for them.
struct Trial {
  CompileOptions options;
  std::string commandLine;
};
/// Any target or several of a family, any place for the weights, any limits.
/// Symbols of `model` get sizes most of the time.
Trial randomTrial(const onnx::ModelProto &model, Random &random);

/// Beside the exit codes of a compilation; signals are negative.
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

/// A folder for models, outputs and temporary files of compilations. It goes
/// with the object, also when the program is interrupted.
class Workspace {
public:
  Workspace();
  ~Workspace();
  Workspace(const Workspace &) = delete;

  /// Compiles a model up to the text; its time and memory are limited.
  Outcome compile(const std::string &model, const Trial &trial);
  /// A signal has asked the program to end.
  static bool isInterrupted();

private:
  [[noreturn]] void compileInChild(const Trial &trial);
  /// Whether files are there that this outcome does not leave; removes all.
  bool clear(int code);

  std::filesystem::path folder;
  /// Made once: every child has its copy.
  std::unique_ptr<mlir::MLIRContext> context;
};

} // namespace ingot::fuzz

#endif // INGOT_TEST_FUZZ_TRIAL_H
