// The commands of `ingot`.
//
// Each command is a function in a separate file. Commands return the exit code;
// runCommandLine prints their diagnostics.

#ifndef INGOT_COMPILER_TOOLS_INGOT_COMMANDS_H
#define INGOT_COMPILER_TOOLS_INGOT_COMMANDS_H

#include "compiler/Compile.h"
#include "compiler/attach/Attach.h"
#include "compiler/quantize/Quantize.h"
#include "compiler/verify/RandomInputs.h"
#include "compiler/verify/Reference.h"

namespace ingot {

struct Chart;
struct Options;

/// How much a size may grow: a number, or a percentage of the old size.
struct Growth {
  double value = 0;
  bool isPercent = false;
};

/// The values of all options and arguments, from which each command reads its
/// part.
struct Arguments {
  /// The options of all commands, for the commands that describe the command
  /// line (help, completion, reference).
  const Options *options = nullptr;
  /// The words after the command that are not options.
  std::vector<std::string> positional;
  /// The names of the given options, without dashes.
  std::vector<std::string> given;
  /// The id of a diagnostic to explain; an empty text explains all; no value
  /// without --explain.
  std::optional<std::string> explain;
  CompileOptions compile;
  /// The targets of `ingot report`, in the order of the command line.
  std::vector<const TargetDescription *> targets;
  std::string output, outputDir;
  /// The folder of data sets for which a test program is written; empty: none.
  std::string emitTest;
  /// The folder for the tables about the generated code; empty: none.
  std::string evidence;
  std::vector<std::pair<std::string, std::string>> inputs;
  /// What `ingot verify` compares, and how.
  verify::InputChoices inputChoices;
  verify::ReferenceOptions referenceOptions;
  bool perNode = false;
  std::string against;
  const TargetDescription *againstTarget = nullptr;
  std::optional<double> tolerance;
  std::optional<Stage> stopAfter;
  /// Whether `run` and `test` compile the model without the sizes and values of
  /// the data.
  bool dynamic = false;
  bool quiet = false, verbose = false, force = false;
  bool json = false, markdown = false, perGroup = false, roofline = false,
       raw = false;
  /// The file of a timeline, and whether ONNX Runtime is timed too.
  std::string trace;
  bool compares = false;
  /// The events that `ingot bench` counts, and the folder of the counters of
  /// energy.
  std::vector<std::string> counters;
  std::string energy;
  /// The file of a chart; empty: none.
  std::string plot;
  /// Whether `ingot report` times the kernels.
  bool measures = false;
  /// For `ingot llm`: the most tokens of a conversation (0: what the model
  /// states), the tokens of a chunk of the prompt (0: the default), and the
  /// name of the chat template (empty: found in the model's files).
  unsigned context = 0, promptChunk = 0;
  std::string chatTemplate;
  /// What `ingot attach` adds to a model.
  attach::AttachOptions attach;
  unsigned threads = 1;
  double seconds = 3;
  /// The clock frequency of a trace log (--clock), as given.
  std::string clock;
  /// The limits of `ingot diff`: the name of each given option, such as
  /// "max-ram-growth", and by how much its figure may grow. For the accuracy:
  /// by how many dB it may fall.
  std::vector<std::pair<std::string, Growth>> growth;
  /// Whether and how the model is quantized.
  bool quantizes = false;
  quantize::QuantizeOptions quantize;
};

using Command = int (*)(Arguments &, Diagnostics &);

int compileCommand(Arguments &arguments, Diagnostics &diagnostics);
int verifyCommand(Arguments &arguments, Diagnostics &diagnostics);
int runCommand(Arguments &arguments, Diagnostics &diagnostics);
int testCommand(Arguments &arguments, Diagnostics &diagnostics);
int inspectCommand(Arguments &arguments, Diagnostics &diagnostics);
int reportCommand(Arguments &arguments, Diagnostics &diagnostics);
int diffCommand(Arguments &arguments, Diagnostics &diagnostics);
int benchCommand(Arguments &arguments, Diagnostics &diagnostics);
int traceCommand(Arguments &arguments, Diagnostics &diagnostics);
int quantizeCommand(Arguments &arguments, Diagnostics &diagnostics);
int attachCommand(Arguments &arguments, Diagnostics &diagnostics);
int llmCommand(Arguments &arguments, Diagnostics &diagnostics);
int tokenizerCommand(Arguments &arguments, Diagnostics &diagnostics);
int opsCommand(Arguments &arguments, Diagnostics &diagnostics);
int targetsCommand(Arguments &arguments, Diagnostics &diagnostics);
int helpCommand(Arguments &arguments, Diagnostics &diagnostics);
int versionCommand(Arguments &arguments, Diagnostics &diagnostics);
int completionCommand(Arguments &arguments, Diagnostics &diagnostics);
int referenceCommand(Arguments &arguments, Diagnostics &diagnostics);
/// Explains the diagnostic with the id Arguments::explain, or lists all
/// diagnostics.
int explainCommand(Arguments &arguments, Diagnostics &diagnostics);

/// Returns what `ingot inspect --json` prints for the model of
/// Arguments::compile; empty, with diagnostics, if it is not an ONNX model.
std::string inspectAsJson(const Arguments &arguments, Diagnostics &diagnostics);

/// Prints the table of operators, or of targets, as Markdown.
void printOperatorTable(llvm::raw_ostream &os);
void printTargetTable(llvm::raw_ostream &os);

/// Returns the command that compiles the model with the same options, without
/// --name and -o, for the first lines of generated files.
std::string commandText(const Arguments &arguments);

/// Whether `path` may be written: it does not exist, is not a regular file, has
/// no content, was written by Ingot, is an object file, or --force is given;
/// otherwise reports a diagnostic.
bool checkReplaceable(const Arguments &arguments, llvm::StringRef path,
                      Diagnostics &diagnostics);

/// Whether the file of --plot, if it is given, can be written; otherwise
/// reports a diagnostic.
bool checkPlot(const Arguments &arguments, Diagnostics &diagnostics);
/// Writes the file of --plot; false with a diagnostic on failure.
bool writePlot(const Arguments &arguments, const Chart &chart,
               Diagnostics &diagnostics);

/// Reports an error and returns false if there are several targets. `what`
/// names the option or command that supports only one, for the message.
bool requireOneTarget(const Arguments &arguments, llvm::StringRef what,
                      Diagnostics &diagnostics);

/// Reports the options of `unused` that were given; `why` says why they have no
/// effect. Returns false if there are any.
bool refuseUnused(const Arguments &arguments,
                  llvm::ArrayRef<llvm::StringRef> unused,
                  const llvm::Twine &why, Diagnostics &diagnostics,
                  const llvm::Twine &hint = "");

int runCommandLine(int argc, char **argv);

} // namespace ingot

#endif // INGOT_COMPILER_TOOLS_INGOT_COMMANDS_H
