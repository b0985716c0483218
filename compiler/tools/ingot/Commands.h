// What `ingot` can do.
//
// One function a subcommand, each in a file of its own. They return the exit
// code; whatever they have to complain about is printed by runCommandLine.

#ifndef INGOT_COMPILER_TOOLS_INGOT_COMMANDS_H
#define INGOT_COMPILER_TOOLS_INGOT_COMMANDS_H

#include "compiler/Compile.h"
#include "compiler/quantize/Quantize.h"

namespace ingot {

/// All that the command line can say; each command reads its part.
struct Arguments {
  /// What stands without a dash after the command.
  std::vector<std::string> positional;
  /// The names of the options that were given, without dashes.
  std::vector<std::string> given;
  /// The id of a diagnostic that is to be explained.
  std::string explain;
  CompileOptions compile;
  std::string output, outputDir;
  /// The folder of data sets that a test is written for; empty: none.
  std::string emitTest;
  std::vector<std::pair<std::string, std::string>> inputs;
  std::optional<Stage> stopAfter;
  /// Whether `run` and `test` compile without having read the data.
  bool dynamic = false;
  bool json = false, markdown = false, perGroup = false, roofline = false,
       raw = false;
  unsigned threads = 1;
  double seconds = 3;
  /// Whether the model is to be quantized, and how.
  bool quantizes = false;
  quantize::QuantizeOptions quantize;
};

using Command = int (*)(Arguments &, Diagnostics &);

int compileCommand(Arguments &arguments, Diagnostics &diagnostics);
int runCommand(Arguments &arguments, Diagnostics &diagnostics);
int testCommand(Arguments &arguments, Diagnostics &diagnostics);
int inspectCommand(Arguments &arguments, Diagnostics &diagnostics);
int benchCommand(Arguments &arguments, Diagnostics &diagnostics);
int quantizeCommand(Arguments &arguments, Diagnostics &diagnostics);
int opsCommand(Arguments &arguments, Diagnostics &diagnostics);
int targetsCommand(Arguments &arguments, Diagnostics &diagnostics);

/// Complains if there are several targets, of which `what` shows one.
bool requireOneTarget(const Arguments &arguments, llvm::StringRef what,
                      Diagnostics &diagnostics);

/// Complains of each of the options `unused` that was given: it has no effect
/// `why`. False if there is one.
bool refuseUnused(const Arguments &arguments,
                  llvm::ArrayRef<llvm::StringRef> unused,
                  const llvm::Twine &why, Diagnostics &diagnostics);

int runCommandLine(int argc, char **argv);

} // namespace ingot

#endif // INGOT_COMPILER_TOOLS_INGOT_COMMANDS_H
