// What `ingot` can do.
//
// One function a subcommand, each in a file of its own. They return the exit
// code; whatever they have to complain about is printed by runCommandLine.

#ifndef INGOT_COMPILER_TOOLS_INGOT_COMMANDS_H
#define INGOT_COMPILER_TOOLS_INGOT_COMMANDS_H

#include "compiler/Compile.h"
#include "compiler/quantize/Quantize.h"

namespace ingot {

struct Options;

/// The values of all options and arguments; each command reads its part.
struct Arguments {
  /// For the commands that describe the command line itself.
  const Options *options = nullptr;
  /// The words after the command that are no options.
  std::vector<std::string> positional;
  /// The names of the options that were given, without dashes.
  std::vector<std::string> given;
  /// The id of a diagnostic to explain; empty: all.
  std::optional<std::string> explain;
  CompileOptions compile;
  std::string output, outputDir;
  /// The folder of data sets that a test is written for; empty: none.
  std::string emitTest;
  std::vector<std::pair<std::string, std::string>> inputs;
  std::optional<Stage> stopAfter;
  /// Whether `run` and `test` compile without having read the data.
  bool dynamic = false;
  bool quiet = false, verbose = false, force = false;
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
int helpCommand(Arguments &arguments, Diagnostics &diagnostics);
int versionCommand(Arguments &arguments, Diagnostics &diagnostics);
int completionCommand(Arguments &arguments, Diagnostics &diagnostics);
int referenceCommand(Arguments &arguments, Diagnostics &diagnostics);
/// Explains the diagnostic Arguments::explain, or lists all.
int explainCommand(Arguments &arguments, Diagnostics &diagnostics);

/// Prints the table of operators, or of targets, as Markdown.
void printOperatorTable(llvm::raw_ostream &os);
void printTargetTable(llvm::raw_ostream &os);

/// Whether `path` can be written: it does not exist, was written by Ingot, or
/// --force is given; otherwise a diagnostic.
bool checkReplaceable(const Arguments &arguments, llvm::StringRef path,
                      Diagnostics &diagnostics);

/// Complains if there are several targets, of which `what` shows one.
bool requireOneTarget(const Arguments &arguments, llvm::StringRef what,
                      Diagnostics &diagnostics);

/// Reports the options of `unused` that were given: they have no effect `why`.
/// False if there is one.
bool refuseUnused(const Arguments &arguments,
                  llvm::ArrayRef<llvm::StringRef> unused,
                  const llvm::Twine &why, Diagnostics &diagnostics,
                  const llvm::Twine &hint = "");

int runCommandLine(int argc, char **argv);

} // namespace ingot

#endif // INGOT_COMPILER_TOOLS_INGOT_COMMANDS_H
