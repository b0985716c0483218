//===- CommandLine.cpp - options of all subcommands -----------------------===//

#include "compiler/tools/ingot/Commands.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;

namespace ingot {

namespace {

cl::OptionCategory &category() {
  static cl::OptionCategory options("Options");
  return options;
}

/// Made by runCommandLine, after the options of LLVM's own libraries are gone:
/// some have the same names.
struct Options {
  cl::SubCommand inspect{"inspect", "Show what a model is and what it becomes"};
  cl::SubCommand test{"test",
                      "Run a model's test_data_set_* folders and compare"};
  cl::SubCommand run{"run", "Run a model on data"};
  cl::SubCommand bench{"bench", "Print the milliseconds of each run"};
  cl::SubCommand ops{"ops", "List the operators, or show one"};
  cl::SubCommand targets{"targets", "List the targets"};

#define TOP cl::sub(cl::SubCommand::getTopLevel()), cl::cat(category())
#define MODELS                                                                 \
  TOP, cl::sub(inspect), cl::sub(test), cl::sub(run), cl::sub(bench)
  cl::list<std::string> positional{cl::Positional, cl::desc("MODEL.onnx"),
                                   MODELS, cl::sub(ops), cl::sub(targets)};
  cl::opt<std::string> output{
      "o", cl::desc("The file to write: .cpp (with .h beside it) or .o"),
      cl::value_desc("FILE"), TOP};
  cl::opt<std::string> emitTest{
      "emit-test",
      cl::desc("Write NAME_test.cpp as well, which runs the model on these "
               "data sets where it is to run, and compares"),
      cl::value_desc("DIR"), TOP};
  cl::opt<std::string> optimize{
      "optimize",
      cl::desc("What for: `size` makes the code as small as it can "
               "be (default: what suits the target)"),
      cl::value_desc("size"), MODELS};
  cl::opt<std::string> target{
      "target",
      cl::desc("The instruction set (see `ingot targets`; default: native), or "
               "several with commas, to choose from at run time"),
      cl::value_desc("NAME"), MODELS};
  cl::opt<std::string> name{"name", cl::desc("Prefix of the generated names"),
                            cl::value_desc("NAME"), MODELS};
  cl::list<std::string> dims{
      "dim", cl::desc("Size of an unknown dimension: a symbol, or input:axis"),
      cl::value_desc("NAME=SIZE"), MODELS};
  cl::list<std::string> binds{
      "bind", cl::desc("Values of an input that decides shapes"),
      cl::value_desc("INPUT=1,2,3"), MODELS};
  cl::opt<std::string> weights{
      "weights",
      cl::desc("Where the weights go: source, object, file (default: by size)"),
      cl::value_desc("KIND"), TOP, cl::sub(inspect)};
  cl::opt<std::string> maxRam{
      "max-ram",
      cl::desc("What arena and stack may take: chains of "
               "operators are computed in stripes for it"),
      cl::value_desc("BYTES|nK|nM"), MODELS};
  cl::opt<std::string> maxFlash{
      "max-flash", cl::desc("Fail where code and constants together take more"),
      cl::value_desc("BYTES|nK|nM"), TOP, cl::sub(inspect)};
  cl::opt<std::string> measureWith{
      "cxx",
      cl::desc("The C++ compiler that sizes are measured with, and its flags "
               "(default: the target's)"),
      cl::value_desc("COMMAND"), TOP, cl::sub(inspect)};
  cl::opt<std::string> arenaSection{
      "arena-section",
      cl::desc("Define the arena in the generated code, in this section"),
      cl::value_desc("NAME"), TOP, cl::sub(inspect)};
  cl::opt<bool> strict{"strict",
                       cl::desc("Keep the order of floating-point operations"),
                       MODELS};
  cl::opt<bool> trace{
      "trace", cl::desc("Call the context's trace hook around each kernel"),
      TOP};
  cl::opt<std::string> stopAfter{
      "stop-after",
      cl::desc("Print the program after a stage: import, simplify, decide, "
               "lower, schedule, plan"),
      cl::value_desc("STAGE"), TOP};
  cl::opt<bool> json{"json", cl::desc("Diagnostics and reports as JSON"),
                     MODELS, cl::sub(targets)};
  cl::list<std::string> inputs{"input", cl::desc("An input's data"),
                               cl::value_desc("NAME=FILE.npy"), cl::sub(run),
                               cl::cat(category())};
  cl::opt<std::string> outputDir{
      "output-dir", cl::desc("Where the outputs go, as NAME.npy"),
      cl::value_desc("DIR"), cl::sub(run), cl::cat(category())};
  cl::opt<unsigned> threads{"threads",           cl::desc("Threads to run on"),
                            cl::value_desc("N"), cl::init(1),
                            cl::sub(bench),      cl::cat(category())};
  cl::opt<double> seconds{"seconds",           cl::desc("How long to measure"),
                          cl::value_desc("S"), cl::init(3),
                          cl::sub(bench),      cl::cat(category())};
  cl::opt<bool> perGroup{"per-group", cl::desc("Show the time of each kernel"),
                         cl::sub(bench), cl::cat(category())};
  cl::opt<bool> markdown{"markdown", cl::desc("The whole table as Markdown"),
                         cl::sub(ops), cl::cat(category())};
#undef MODELS
#undef TOP

  std::vector<std::pair<cl::SubCommand *, Command>> commands() {
    return {{&cl::SubCommand::getTopLevel(), compileCommand},
            {&run, runCommand},
            {&test, testCommand},
            {&inspect, inspectCommand},
            {&bench, benchCommand},
            {&ops, opsCommand},
            {&targets, targetsCommand}};
  }
};

const char *const examples = R"(
EXAMPLES:
  ingot mnist.onnx -o mnist.cpp                 C++ for this machine
  ingot mnist.onnx -o mnist.cpp --target generic --name digits
  ingot net.onnx -o net.o --dim batch=1         an object file; batch size 1
  ingot inspect net.onnx                        nodes, kernels, memory
  ingot test net.onnx                           its test_data_set_* folders
  ingot run net.onnx --input x=x.npy --output-dir out
  ingot run net.onnx IN_DIR OUT_DIR             input_0.pb... to output_0.pb...
  ingot bench net.onnx --seconds 5
  ingot ops Resize                              what is supported of Resize

Exit codes: 0; 1 the model or the command line is wrong; 3 the model uses
something unsupported; 70 a fault of ingot's own.
)";

} // namespace

/// NAME=VALUE, split at the first `=`.
static bool splitPair(StringRef text, StringRef option,
                      std::pair<std::string, std::string> &pair,
                      Diagnostics &diagnostics) {
  auto [key, value] = text.split('=');
  if (key.empty() || value.empty() || key.size() == text.size()) {
    diagnostics.report(DiagnosticId::BadOption,
                       "--" + option + " `" + printable(text) +
                           "` is not of the form NAME=VALUE");
    return false;
  }
  pair = {key.str(), value.str()};
  return true;
}

/// A number of bytes, or of 1024 (K) or 1024 * 1024 (M) of them.
static std::optional<int64_t> readBytes(StringRef text, StringRef option,
                                        Diagnostics &diagnostics) {
  if (text.empty())
    return std::nullopt;
  StringRef digits = text;
  int64_t unit = digits.consume_back_insensitive("K")   ? 1 << 10
                 : digits.consume_back_insensitive("M") ? 1 << 20
                                                        : 1;
  int64_t count;
  if (!digits.getAsInteger(10, count) && count >= 0 && count < (1ll << 40))
    return count * unit;
  diagnostics.report(DiagnosticId::BadOption,
                     "--" + option + " `" + printable(text) +
                         "` is no number of bytes",
                     "for example --" + option + " 65536, 64K or 1M");
  return std::nullopt;
}

static const TargetDescription *findTarget(StringRef wanted,
                                           Diagnostics &diagnostics) {
  if (const TargetDescription *target = lookupTarget(wanted))
    return target;
  std::vector<std::string> names;
  for (const TargetDescription &known : allTargets())
    names.push_back(known.name.str());
  diagnostics.report(DiagnosticId::BadOption,
                     "there is no target `" + printable(wanted) + "`",
                     "targets: native, " + join(names, ", "));
  return nullptr;
}

/// Whether both may be in one output.
static bool goTogether(const TargetDescription &a, const TargetDescription &b) {
  return !a.selectCondition.empty() && !b.selectCondition.empty() &&
         (a.family.empty() || b.family.empty() || a.family == b.family);
}

/// One name, or several in any order: the ablest becomes the target, the others
/// what it falls back on.
static void readTargets(const Options &options, Arguments &arguments,
                        Diagnostics &diagnostics) {
  std::string list =
      options.target.empty() ? "native" : options.target.getValue();
  SmallVector<StringRef> wanted;
  StringRef(list).split(wanted, ',');
  SmallVector<const TargetDescription *, 0> targets;
  for (StringRef name : wanted)
    if (const TargetDescription *target = findTarget(name, diagnostics))
      targets.push_back(target);
  if (targets.size() < wanted.size())
    return;
  // The list of all targets goes from less to more able.
  llvm::sort(targets);
  targets.erase(llvm::unique(targets), targets.end());
  for (const TargetDescription *other : targets)
    for (const TargetDescription *target : targets)
      if (other < target && !goTogether(*other, *target)) {
        diagnostics.report(
            DiagnosticId::BadOption,
            "the targets `" + other->name + "` and `" + target->name +
                "` cannot be in one output",
            "programs that choose at run time have levels of one family; see "
            "`ingot targets`");
        return;
      }
  if (options.optimize == "size") {
    for (const TargetDescription *&target : targets)
      target = lookupTarget((target->name + littleCodeSuffix).str());
  } else if (!options.optimize.empty()) {
    diagnostics.report(DiagnosticId::BadOption,
                       "--optimize `" + printable(options.optimize) +
                           "` is no aim",
                       "--optimize=size makes the code as small as it can be");
    return;
  }
  arguments.compile.target = targets.pop_back_val();
  arguments.compile.fallbacks = std::move(targets);
}

bool requireOneTarget(const Arguments &arguments, StringRef what,
                      Diagnostics &diagnostics) {
  if (!arguments.compile.fallbacks.empty())
    diagnostics.report(DiagnosticId::BadOption, what + " is for one target",
                       "say which with --target");
  return arguments.compile.fallbacks.empty();
}

static constexpr StringLiteral sectionCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._$-";

static void readArguments(const Options &options, Arguments &arguments,
                          Diagnostics &diagnostics) {
  auto bad = [&](const Twine &message, const Twine &hint = "") {
    diagnostics.report(DiagnosticId::BadOption, message, hint);
  };
  arguments.positional.assign(options.positional.begin(),
                              options.positional.end());
  readTargets(options, arguments, diagnostics);
  arguments.compile.name = options.name;
  arguments.compile.strict = options.strict;
  arguments.compile.trace = options.trace;
  arguments.compile.maxRam = readBytes(options.maxRam, "max-ram", diagnostics);
  arguments.compile.maxFlash =
      readBytes(options.maxFlash, "max-flash", diagnostics);
  arguments.compile.measureWith = options.measureWith;
  arguments.compile.arenaSection = options.arenaSection;
  if (arguments.compile.arenaSection.find_first_not_of(sectionCharacters) !=
      std::string::npos)
    bad("--arena-section `" + printable(options.arenaSection.getValue()) +
            "` is no name of a section",
        "letters, digits, `.`, `_`, `$` and `-`");
  arguments.output = options.output;
  arguments.outputDir = options.outputDir;
  arguments.emitTest = options.emitTest;
  arguments.json = options.json;
  arguments.markdown = options.markdown;
  arguments.perGroup = options.perGroup;
  arguments.threads = options.threads;
  arguments.seconds = options.seconds;
  std::pair<std::string, std::string> pair;
  for (const std::string &text : options.dims) {
    int64_t size;
    if (!splitPair(text, "dim", pair, diagnostics))
      continue;
    if (StringRef(pair.second).getAsInteger(10, size) || size < 0)
      bad("--dim " + printable(text) + ": the size is not a whole number");
    else
      arguments.compile.import.dims[pair.first] = size;
  }
  for (const std::string &text : options.binds)
    if (splitPair(text, "bind", pair, diagnostics))
      arguments.compile.import.bind[pair.first] = pair.second;
  for (const std::string &text : options.inputs)
    if (splitPair(text, "input", pair, diagnostics))
      arguments.inputs.push_back(pair);
  if (!options.stopAfter.empty())
    arguments.stopAfter = parseStage(options.stopAfter);
  if (!options.stopAfter.empty() && !arguments.stopAfter)
    bad("there is no stage `" + printable(options.stopAfter.getValue()) + "`",
        "stages: import, simplify, decide, lower, schedule, plan, print, "
        "object");
  if (options.weights == "source")
    arguments.compile.weights = WeightsMode::Source;
  else if (options.weights == "object")
    arguments.compile.weights = WeightsMode::Object;
  else if (options.weights == "file")
    arguments.compile.weights = WeightsMode::File;
  else if (!options.weights.empty())
    bad("--weights is `" + printable(options.weights.getValue()) +
        "`, but can be source, object or file");
}

/// Options of the libraries: some have the names of ours, none is meant for
/// users.
static void removeForeignOptions() {
  SmallVector<cl::Option *> foreign;
  for (auto &entry : cl::getRegisteredOptions())
    if (entry.first != "help" && entry.first != "version")
      foreign.push_back(entry.second);
  for (cl::Option *option : foreign)
    option->removeArgument();
}

int runCommandLine(int argc, char **argv) {
  removeForeignOptions();
  // Never destroyed: the parser keeps pointers to it.
  Options &options = *new Options;
  auto commands = options.commands();
  for (auto &[name, run] : commands)
    cl::HideUnrelatedOptions(category(), *name);
  cl::SetVersionPrinter([](raw_ostream &os) {
    os << "ingot " << ingotVersion << " (LLVM " << LLVM_VERSION_STRING << ")\n";
  });
  cl::extrahelp help(examples);

  Diagnostics diagnostics;
  std::string problem;
  raw_string_ostream problems(problem);
  if (!cl::ParseCommandLineOptions(
          argc, argv, "ONNX models become standalone C++\n", &problems)) {
    StringRef text = StringRef(problem).trim();
    text.consume_front("ingot: ");
    diagnostics.report(DiagnosticId::BadOption, text.split('\n').first,
                       "see ingot --help");
  }
  int code = InvalidInput;
  Arguments arguments;
  if (diagnostics.empty())
    readArguments(options, arguments, diagnostics);
  if (diagnostics.empty())
    for (auto &[name, run] : commands)
      if (*name)
        code = run(arguments, diagnostics);
  if (!diagnostics.empty()) {
    if (arguments.json)
      diagnostics.printJson(outs());
    outs().flush();
    diagnostics.print(errs(), errs().has_colors());
    code = std::max<int>(code, diagnostics.exitCode());
  }
  return code;
}

} // namespace ingot
