// The options of all commands.

#ifndef INGOT_COMPILER_TOOLS_INGOT_OPTIONS_H
#define INGOT_COMPILER_TOOLS_INGOT_OPTIONS_H

#include "compiler/tools/ingot/Commands.h"

#include "llvm/Support/CommandLine.h"

namespace ingot {

/// One command: what it takes and what it does.
struct CommandSyntax {
  llvm::cl::SubCommand *parser;
  Command run;
  /// What it takes apart from options, and how many of these at least and at
  /// most.
  llvm::StringRef takes;
  size_t least, most;
  llvm::StringRef examples;

  /// Returns "ingot inspect"; "ingot" for compiling, which has no word.
  std::string shown() const;
};

/// The options as LLVM's parser fills them.
struct Options {
  /// Has to come after the options of LLVM's own libraries are removed: some
  /// have the same names. Has to live until the end: the parser keeps pointers
  /// to it.
  Options();

  llvm::cl::OptionCategory category{"Options"};
  llvm::cl::SubCommand &compile = llvm::cl::SubCommand::getTopLevel();
  llvm::cl::SubCommand inspect{"inspect",
                               "Show what a model is and what it becomes"};
  llvm::cl::SubCommand test{
      "test", "Run a model's test_data_set_* folders and compare"};
  llvm::cl::SubCommand run{"run", "Run a model on data"};
  llvm::cl::SubCommand bench{"bench", "Time a model on this machine"};
  llvm::cl::SubCommand quantize{"quantize",
                                "Make a model of small integers, as ONNX"};
  llvm::cl::SubCommand ops{"ops", "List the operators, or show one"};
  llvm::cl::SubCommand targets{"targets", "List the targets"};
  /// Compiling first.
  std::vector<CommandSyntax> commands;
  /// For each command, in the same order.
  std::vector<std::unique_ptr<llvm::cl::list<std::string>>> positional;

  /// Returns the index of the command that the parser has chosen.
  size_t chosen() const;
  /// Returns the names of a command's options, each with `--`.
  std::vector<std::string> names(const CommandSyntax &command) const;

#define INGOT_TEXT llvm::cl::opt<std::string>
#define INGOT_TEXTS llvm::cl::list<std::string>
#define INGOT_FLAG llvm::cl::opt<bool>
#define COMPILING llvm::cl::cat(category), llvm::cl::sub(compile)
#define MODELS                                                                 \
  COMPILING, llvm::cl::sub(inspect), llvm::cl::sub(test), llvm::cl::sub(run),  \
      llvm::cl::sub(bench)
  INGOT_TEXT output{
      "o", llvm::cl::desc("The file to write: .cpp (with .h beside it) or .o"),
      llvm::cl::value_desc("FILE"), COMPILING, llvm::cl::sub(quantize)};
  INGOT_TEXT quantizeTo{
      "quantize",
      llvm::cl::desc("Compute in small integers: int8 (weights and "
                     "activations), int8-weights, int4-weights"),
      llvm::cl::value_desc("KIND"), COMPILING, llvm::cl::sub(quantize)};
  INGOT_TEXT calibrate{
      "calibrate",
      llvm::cl::desc("Samples to quantize with: a folder of test_data_set_* or "
                     "NAME.npy, an .npz, an .npy; or none"),
      llvm::cl::value_desc("DATA"), COMPILING, llvm::cl::sub(quantize)};
  INGOT_TEXT labels{
      "labels",
      llvm::cl::desc("The class of each sample: integers, for a --max-loss in "
                     "percent"),
      llvm::cl::value_desc("FILE.npy"), COMPILING, llvm::cl::sub(quantize)};
  INGOT_TEXT maxLoss{
      "max-loss",
      llvm::cl::desc("What quantizing may cost: decibels of signal over noise "
                     "(30dB), or a share of the samples (1%)"),
      llvm::cl::value_desc("LOSS"), COMPILING, llvm::cl::sub(quantize)};
  INGOT_TEXT name{
      "name",
      llvm::cl::desc("Prefix of the generated names (default: that of the "
                     "file to write, without its extension)"),
      llvm::cl::value_desc("NAME"), COMPILING};
  INGOT_TEXT emitTest{
      "emit-test",
      llvm::cl::desc("Write NAME_test.cpp as well, which runs the model on "
                     "these data sets where it is to run, and compares"),
      llvm::cl::value_desc("DIR"), COMPILING};
  INGOT_TEXT optimize{
      "optimize",
      llvm::cl::desc("What for: `size` makes the code as small as it can be "
                     "(default: what suits the target)"),
      llvm::cl::value_desc("size"), MODELS};
  INGOT_TEXT target{
      "target",
      llvm::cl::desc("The instruction set (see `ingot targets`; default: "
                     "native), or several with commas, to choose from at run "
                     "time"),
      llvm::cl::value_desc("NAME"), MODELS};
  INGOT_TEXTS dims{
      "dim",
      llvm::cl::desc("Size of an unknown dimension: a symbol, input:axis, or * "
                     "for all others; a number, or bounds such as 1..64 of "
                     "what is known at run time"),
      llvm::cl::value_desc("NAME=SIZE"), MODELS, llvm::cl::sub(quantize)};
  INGOT_TEXTS entries{
      "entry",
      llvm::cl::desc("A function of its own for the model at these sizes, "
                     "beside others that share its weights: decode:seq=1; or "
                     "for another model: encode=FILE.onnx:seq=1..64"),
      llvm::cl::value_desc("NAME[=FILE][:DIM=SIZE,...]"), COMPILING,
      llvm::cl::sub(inspect)};
  INGOT_TEXTS states{
      "state",
      llvm::cl::desc("An output that the next run gets as this input: both "
                     "are in memory that lives from run to run"),
      llvm::cl::value_desc("INPUT=OUTPUT"), COMPILING, llvm::cl::sub(inspect)};
  INGOT_TEXTS binds{
      "bind", llvm::cl::desc("Values of an input that decides shapes"),
      llvm::cl::value_desc("INPUT=1,2,3"), MODELS, llvm::cl::sub(quantize)};
  INGOT_TEXT tune{"tune",
                  llvm::cl::desc("Time the best few plans of each kernel on "
                                 "this machine, and keep the fastest in this "
                                 "file; what the file has is not timed again"),
                  llvm::cl::value_desc("FILE"), MODELS};
  INGOT_TEXT weights{
      "weights",
      llvm::cl::desc(
          "Where the weights go: source, object, file (default: by size)"),
      llvm::cl::value_desc("KIND"), COMPILING, llvm::cl::sub(inspect)};
  INGOT_TEXT maxRam{
      "max-ram",
      llvm::cl::desc("What arena and stack may take: chains of operators are "
                     "computed in stripes for it"),
      llvm::cl::value_desc("BYTES|nK|nM"), MODELS};
  /// One for each kind of near memory of targets, called after it.
  std::vector<std::unique_ptr<llvm::cl::opt<std::string>>> nearMemories;
  INGOT_TEXT maxFlash{
      "max-flash",
      llvm::cl::desc("Fail where code and constants together take more"),
      llvm::cl::value_desc("BYTES|nK|nM"), COMPILING, llvm::cl::sub(inspect)};
  INGOT_TEXT compiler{
      "cxx",
      llvm::cl::desc("The C++ compiler, with its flags, that makes the .o and "
                     "that sizes are measured with (default: the target's)"),
      llvm::cl::value_desc("COMMAND"), COMPILING, llvm::cl::sub(inspect)};
  INGOT_TEXT arenaSection{
      "arena-section",
      llvm::cl::desc("Define the arena in the generated code, in this section"),
      llvm::cl::value_desc("NAME"), COMPILING, llvm::cl::sub(inspect)};
  INGOT_FLAG strict{
      "strict", llvm::cl::desc("Keep the order of floating-point operations"),
      MODELS};
  INGOT_TEXT fast{
      "fast",
      llvm::cl::desc(
          "Multiply in bf16, f16 or tf32 and sum in float, where the "
          "target has such products: activations are rounded where "
          "they are stored, weights when compiling"),
      llvm::cl::value_desc("bf16|f16|tf32"), MODELS};
  INGOT_FLAG trace{
      "trace",
      llvm::cl::desc("Call the context's trace hook around each kernel"),
      COMPILING};
  INGOT_TEXT stopAfter{"stop-after", llvm::cl::value_desc("STAGE"), COMPILING};
  INGOT_TEXT startFrom{"start-from",
                       llvm::cl::desc("Go on with a file that --stop-after of "
                                      "this stage has written with -o"),
                       llvm::cl::value_desc("STAGE"), COMPILING};
  INGOT_TEXT explain{"explain",
                     llvm::cl::desc("Say what an error means, by the id that "
                                    "is in its brackets"),
                     llvm::cl::value_desc("ID"), COMPILING};
  INGOT_FLAG json{"json", llvm::cl::desc("Diagnostics and reports as JSON"),
                  MODELS, llvm::cl::sub(targets), llvm::cl::sub(quantize)};
  INGOT_FLAG dynamic{"dynamic",
                     llvm::cl::desc("Compile from the model and the options "
                                    "alone: sizes and values are not taken "
                                    "from the data"),
                     llvm::cl::sub(run), llvm::cl::sub(test),
                     llvm::cl::cat(category)};
  INGOT_TEXTS inputs{"input", llvm::cl::desc("An input's data"),
                     llvm::cl::value_desc("NAME=FILE.npy"), llvm::cl::sub(run),
                     llvm::cl::cat(category)};
  INGOT_TEXT outputDir{
      "output-dir", llvm::cl::desc("Where the outputs go, as NAME.npy"),
      llvm::cl::value_desc("DIR"), llvm::cl::sub(run), llvm::cl::cat(category)};
  llvm::cl::opt<unsigned> threads{
      "threads",
      llvm::cl::desc("Threads to run on (default: 1)"),
      llvm::cl::init(1),
      llvm::cl::value_desc("N"),
      llvm::cl::sub(bench),
      llvm::cl::cat(category)};
  llvm::cl::opt<double> seconds{
      "seconds",
      llvm::cl::desc("How long to measure (default: 3)"),
      llvm::cl::init(3),
      llvm::cl::value_desc("S"),
      llvm::cl::sub(bench),
      llvm::cl::cat(category)};
  INGOT_FLAG perGroup{"per-group",
                      llvm::cl::desc("Show the time of each kernel"),
                      llvm::cl::sub(bench), llvm::cl::cat(category)};
  INGOT_FLAG roofline{
      "roofline",
      llvm::cl::desc("With the time of each kernel also what was predicted, "
                     "what bounds it, and how near it is to what this "
                     "machine can do"),
      llvm::cl::sub(bench), llvm::cl::cat(category)};
  INGOT_FLAG raw{"raw",
                 llvm::cl::desc("Print the milliseconds of each run, a number "
                                "a line (so it is without --raw, too, where "
                                "no terminal reads it)"),
                 llvm::cl::sub(bench), llvm::cl::cat(category)};
  INGOT_FLAG markdown{"markdown", llvm::cl::desc("The whole table as Markdown"),
                      llvm::cl::sub(ops), llvm::cl::cat(category)};
#undef MODELS
#undef COMPILING
#undef INGOT_FLAG
#undef INGOT_TEXTS
#undef INGOT_TEXT
};

/// Reads what the options say for the chosen command; complains about all that
/// is wrong.
void readArguments(const Options &options, Arguments &arguments,
                   Diagnostics &diagnostics);

} // namespace ingot

#endif // INGOT_COMPILER_TOOLS_INGOT_OPTIONS_H
