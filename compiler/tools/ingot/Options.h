// The options of all commands.

#ifndef INGOT_COMPILER_TOOLS_INGOT_OPTIONS_H
#define INGOT_COMPILER_TOOLS_INGOT_OPTIONS_H

#include "compiler/tools/ingot/Commands.h"

#include "llvm/Support/CommandLine.h"

#include <deque>

namespace ingot {

/// A command, with its arguments and its function.
struct CommandSyntax {
  llvm::cl::SubCommand *parser;
  Command run;
  /// The names of the arguments other than options, for the usage text; and the
  /// least and largest number of these arguments.
  llvm::StringRef takes;
  size_t least, most;
  llvm::StringRef examples;

  /// Returns "ingot inspect", for example; "ingot" for compiling, which has no
  /// command word.
  std::string shown() const;
};

/// The part of an option's description that LLVM's parser does not hold: the
/// letter of its short form, the text of its default, and the allowed values.
struct OptionFacts {
  char letter = 0;
  llvm::StringRef byDefault, choices;
};

/// The options of all commands, with the values that LLVM's parser fills in.
struct Options {
  /// The object must be constructed after the options of LLVM's own libraries
  /// are removed, since some have the same names. It must live until the end of
  /// the program, since the parser keeps pointers to it.
  Options();

  llvm::cl::SubCommand &compile = llvm::cl::SubCommand::getTopLevel();
  llvm::cl::SubCommand inspect{
      "inspect", "Show what a model contains, its kernels, flash and RAM"};
  llvm::cl::SubCommand report{
      "report", "Write a page about a model: graph, kernels, memory, code"};
  llvm::cl::SubCommand diff{
      "diff", "Compare two models or reports: kernels, flash, RAM, time"};
  llvm::cl::SubCommand test{"test", "Compile, run on the model's test data, "
                                    "compare with its expected outputs"};
  llvm::cl::SubCommand verify{"verify",
                              "Check a model without data: run it on random "
                              "inputs, compare with ONNX Runtime"};
  llvm::cl::SubCommand run{"run", "Compile and run a model on data"};
  llvm::cl::SubCommand bench{"bench", "Time a model on this machine"};
  llvm::cl::SubCommand traceCommand{
      "trace", "Convert what a trace hook printed to a timeline"};
  llvm::cl::SubCommand quantize{"quantize",
                                "Quantize a float model; the result is ONNX"};
  llvm::cl::SubCommand attach{
      "attach", "Make a detector read camera frames and return boxes"};
  llvm::cl::SubCommand llm{"llm", "Make a chat program from a language model"};
  llvm::cl::SubCommand tokenizer{"tokenizer",
                                 "Write a tokenizer.json as standalone C++"};
  llvm::cl::SubCommand ops{"ops", "List the operators, or describe one"};
  llvm::cl::SubCommand targets{"targets", "List the targets"};
  llvm::cl::SubCommand helpCommand{"help", "Show the help of a command"};
  llvm::cl::SubCommand versionCommand{"version", "Show the version"};
  llvm::cl::SubCommand completion{"completion",
                                  "Print a completion script for a shell"};
  llvm::cl::SubCommand reference{
      "reference", "Print a page of the manual, made from Ingot's tables"};

  /// All commands, `compile` first.
  llvm::cl::SubCommand *const parsers[19] = {
      &compile,        &inspect,    &report,   &diff,
      &test,           &verify,     &run,      &bench,
      &traceCommand,   &quantize,   &attach,   &llm,
      &tokenizer,      &ops,        &targets,  &helpCommand,
      &versionCommand, &completion, &reference};
  /// Sets of commands as masks: a bit for each command, in the order of
  /// `parsers`.
  enum : unsigned {
    Compile = 1,
    Inspect = 2,
    Report = 4,
    Diff = 8,
    Test = 16,
    Verify = 32,
    Run = 64,
    Bench = 128,
    Trace = 256,
    Quantize = 512,
    Attach = 1024,
    Llm = 2048,
    Tokenizer = 4096,
    Ops = 8192,
    Targets = 16384,
    All = 0x7ffff,
    Models = Compile | Inspect | Report | Diff | Test | Verify | Run | Bench
  };
  /// The syntax of each command, in the order of `parsers`.
  std::vector<CommandSyntax> commands;
  /// The positional arguments of each command, in the order of `parsers`.
  std::vector<std::unique_ptr<llvm::cl::list<std::string>>> positional;

  llvm::cl::OptionCategory Input{"Input"}, Comparison{"Comparison"},
      Target{"Target"}, Memory{"Memory"}, Precision{"Precision"},
      Quantization{"Quantization"}, Detector{"Detector"}, Output{"Output"},
      Build{"Build"}, Measuring{"Measuring"}, Debugging{"Compiler development"},
      General{"General"};
  /// Returns the option groups in the order of the help.
  std::vector<llvm::cl::OptionCategory *> groups() {
    return {&Input,     &Comparison,   &Target,    &Memory,
            &Precision, &Quantization, &Detector,  &Output,
            &Build,     &Measuring,    &Debugging, &General};
  }

  using Text = llvm::cl::opt<std::string>;
  /// All options in the order of Options.def, with their facts.
  std::vector<std::pair<llvm::cl::Option *, OptionFacts>> table;

  /// Returns the index of the command that the parser has chosen.
  size_t chosen() const;
  /// Returns the command with this name ("compile" for compiling), or null.
  const CommandSyntax *find(llvm::StringRef name) const;
  using OptionRow = std::pair<llvm::cl::Option *, OptionFacts>;
  /// Returns a command's options in the order of Options.def.
  std::vector<OptionRow> optionsOf(const CommandSyntax &command) const;
  /// Returns the names of a command's options, each with `--`.
  std::vector<std::string> names(const CommandSyntax &command) const;

private:
  /// Registers an option with its commands and facts, as a modifier of cl::opt.
  struct About {
    Options &all;
    unsigned commands;
    OptionFacts facts;
    template <typename Option> void apply(Option &option) const {
      all.add(option, commands, facts);
    }
  };
  void add(llvm::cl::Option &option, unsigned commands, OptionFacts facts);
  /// Registers the short forms of options, such as -v.
  void addLetters();
  /// An option whose value may be omitted.
  struct OptionalText : Text {
    template <typename... Modifiers>
    explicit OptionalText(const Modifiers &...modifiers)
        : Text(modifiers..., llvm::cl::ValueOptional) {}
  };
  using Texts = llvm::cl::list<std::string>;
  using Flag = llvm::cl::opt<bool>;
  using Count = llvm::cl::opt<unsigned>;
  using Number = llvm::cl::opt<double>;
  std::vector<std::unique_ptr<llvm::cl::alias>> letters;

public:
#define INGOT_OPTION(MEMBER, TYPE, NAME, LETTER, GROUP, VALUE, DEFAULT,        \
                     CHOICES, COMMANDS, TEXT)                                  \
  TYPE MEMBER{NAME, llvm::cl::desc(TEXT), llvm::cl::value_desc(VALUE),         \
              llvm::cl::cat(GROUP),                                            \
              About{*this, COMMANDS, {LETTER, DEFAULT, CHOICES}}};
#include "compiler/tools/ingot/Options.def"
#undef INGOT_OPTION
  /// An option for each kind of on-chip memory of the targets, named after the
  /// memory (--vtcm).
  std::vector<std::unique_ptr<llvm::cl::opt<std::string>>> tcmOptions;

private:
  /// The help texts of tcmOptions.
  std::deque<std::string> texts;
};

/// Returns the spelling of an option: "--dim NAME=SIZE", "-v, --verbose".
std::string spellingOf(const Options::OptionRow &row);
/// Returns "[default: native] [choices: a, b]"; empty if there is neither.
std::string notesOf(const OptionFacts &facts);
/// Returns the usage of a command, without "usage: ".
std::string usageOf(const CommandSyntax &command);
inline constexpr llvm::StringLiteral programSummary =
    "compile an ONNX model to standalone C++";

/// Reads the options of the chosen command; reports all errors.
void readArguments(const Options &options, Arguments &arguments,
                   Diagnostics &diagnostics);
/// Reads the values of an option as NAME=VALUE pairs. Reports and leaves out
/// values of another form, and those whose name was given before.
std::vector<std::pair<std::string, std::string>>
readPairs(const llvm::cl::list<std::string> &option, Diagnostics &diagnostics);
/// Reads the options that name tensors and dimensions of the model.
void readTensors(const Options &options, Arguments &arguments,
                 Diagnostics &diagnostics);
/// Reads the options that only `ingot attach` has.
void readAttach(const Options &options, Arguments &arguments,
                Diagnostics &diagnostics);

} // namespace ingot

#endif // INGOT_COMPILER_TOOLS_INGOT_OPTIONS_H
