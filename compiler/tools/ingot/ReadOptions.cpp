// From options to arguments.
//
// Everything that can be said of an option without the model. Nothing that a
// user writes is ignored: what has no effect, or is said twice, is an error.

#include "compiler/report/Suggest.h"
#include "compiler/tools/ingot/Options.h"

#include "codegen/kernel/Names.h"
#include "codegen/objects/Toolchain.h"
#include "dialects/kernel/KernelModule.h"

using namespace llvm;

namespace ingot {

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
  std::vector<std::string> names{"native"};
  for (const TargetDescription &known : allTargets())
    names.push_back(known.name.str());
  std::string close = didYouMean(wanted, names);
  diagnostics.report(DiagnosticId::BadOption,
                     "there is no target `" + printable(wanted) + "`",
                     close.empty() ? "targets: " + join(names, ", ") : close);
  return nullptr;
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
  for (size_t i = 0; i < targets.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (targets[i] == targets[j]) {
        diagnostics.report(
            DiagnosticId::BadOption,
            wanted[i] == wanted[j]
                ? "--target names `" + printable(wanted[i]) + "` twice"
                : "the targets `" + printable(wanted[j]) + "` and `" +
                      printable(wanted[i]) + "` are the same on this machine");
        return;
      }
  // The list of all targets goes from less to more able.
  llvm::sort(targets);
  for (const TargetDescription *other : targets)
    for (const TargetDescription *target : targets)
      if (other < target && !canShareOutput(*other, *target)) {
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

/// Reads NAME=VALUE pairs, each name once.
static std::vector<std::pair<std::string, std::string>>
readPairs(const cl::list<std::string> &option, Diagnostics &diagnostics) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string &text : option) {
    std::pair<std::string, std::string> pair;
    if (!splitPair(text, option.ArgStr, pair, diagnostics))
      continue;
    auto first = llvm::find_if(
        pairs, [&](const auto &other) { return other.first == pair.first; });
    if (first != pairs.end())
      diagnostics.report(DiagnosticId::BadOption,
                         "--" + option.ArgStr + " names `" +
                             printable(pair.first) + "` twice: `" +
                             printable(first->second) + "` and `" +
                             printable(pair.second) + "`");
    else
      pairs.push_back(std::move(pair));
  }
  return pairs;
}

/// The size of the dimension `name`, as `option` has it: "8", "1..8", or "..8" from 1 on.
static std::optional<SizeRange> readSize(StringRef option, StringRef name,
                                         StringRef text,
                                         Diagnostics &diagnostics) {
  auto [first, last] = text.split("..");
  bool isRange = text.contains("..");
  int64_t least = 1, most;
  if ((!(isRange && first.empty()) && first.getAsInteger(10, least)) ||
      (isRange ? last.getAsInteger(10, most) : (most = least, false)) ||
      least < 0 || least > most)
    diagnostics.report(DiagnosticId::BadOption,
                       "--" + option + " " + printable(name) + ": the size `" +
                           printable(text) +
                           "` is neither a whole number nor bounds, as in "
                           "1..64");
  else
    return SizeRange(least, most);
  return std::nullopt;
}

static void readDims(const Options &options, Arguments &arguments,
                     Diagnostics &diagnostics) {
  for (const auto &[name, text] : readPairs(options.dims, diagnostics))
    if (auto size = readSize("dim", name, text, diagnostics))
      arguments.compile.import.dims[name] = *size;
}

/// Reads NAME[=FILE][:DIM=SIZE,...].
static void readEntry(StringRef text, std::vector<EntryPoint> &entries,
                      Diagnostics &diagnostics) {
  auto [head, sizes] = text.split(':');
  auto [name, model] = head.split('=');
  EntryPoint entry{name.str(), model.str(), {}};
  auto complain = [&](const Twine &what, StringRef hint) {
    diagnostics.report(DiagnosticId::BadOption,
                       "--entry " + printable(text) + ": " + what, hint.str());
  };
  if (toIdentifier(name) != name || name == kernel::kMainName)
    return complain("`" + printable(name) + "` is no name of a function",
                    "letters, digits and `_`, but no word of C++, as in "
                    "--entry decode:seq=1");
  if (head.contains('=') && model.empty())
    return complain("no model is named behind `=`",
                    "--entry NAME=FILE.onnx, or NAME alone for the model of "
                    "the command line");
  // What follows a capital counts as much: macros have capitals only.
  for (const EntryPoint &other : entries)
    if (StringRef(other.name).equals_insensitive(name))
      return complain("there is an entry point `" + other.name + "` already",
                      "each has a name of its own");
  SmallVector<StringRef> pairs;
  sizes.split(pairs, ',', -1, /*KeepEmpty=*/false);
  for (StringRef pair : pairs) {
    auto [dim, size] = pair.rsplit('=');
    if (dim.empty() || size.empty())
      return complain("`" + printable(pair) + "` is no size",
                      "for example seq=1 or seq=1..64");
    auto range = readSize("entry " + name.str() + ":", dim, size, diagnostics);
    if (!range)
      return;
    if (!entry.dims.insert({dim.str(), *range}).second)
      return complain("`" + printable(dim) + "` has two sizes", "say one");
  }
  entries.push_back(std::move(entry));
}

static std::optional<Stage> readStage(StringRef name,
                                      Diagnostics &diagnostics) {
  std::optional<Stage> stage = parseStage(name);
  if (stage)
    return stage;
  std::string close = didYouMean(name, stageNames());
  diagnostics.report(
      DiagnosticId::BadOption, "there is no stage `" + printable(name) + "`",
      close.empty() ? "stages: " + join(stageNames(), ", ") : close);
  return std::nullopt;
}

static void readWeights(StringRef kind, Arguments &arguments,
                        Diagnostics &diagnostics) {
  static constexpr std::pair<StringLiteral, WeightsMode> kinds[] = {
      {"source", WeightsMode::Source},
      {"object", WeightsMode::Object},
      {"file", WeightsMode::File}};
  for (const auto &[name, mode] : kinds)
    if (name == kind) {
      arguments.compile.weights = mode;
      return;
    }
  diagnostics.report(DiagnosticId::BadOption,
                     "--weights is `" + printable(kind) +
                         "`, but can be source, object or file");
}

/// A name that the linker scripts of all targets take.
static void readSection(StringRef name, Arguments &arguments,
                        Diagnostics &diagnostics) {
  static constexpr StringLiteral letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._$-";
  if (name.find_first_not_of(letters) != StringRef::npos)
    diagnostics.report(DiagnosticId::BadOption,
                       "--arena-section `" + printable(name) +
                           "` is no name of a section",
                       "letters, digits, `.`, `_`, `$` and `-`");
  arguments.compile.arenaSection = name.str();
}

static void readCompiler(StringRef command, Arguments &arguments,
                         Diagnostics &diagnostics) {
  if (installedCommand(command).empty())
    diagnostics.report(DiagnosticId::BadOption,
                       "--cxx: there is no program `" +
                           printable(command.ltrim().split(' ').first) + "`");
  arguments.compile.compiler = command.str();
}

static void readTiming(const Options &options, Arguments &arguments,
                       Diagnostics &diagnostics) {
  arguments.threads = options.threads;
  arguments.seconds = options.seconds;
  if (arguments.threads < 1 || arguments.threads > 1024)
    diagnostics.report(DiagnosticId::BadOption, "--threads is " +
                                                    Twine(arguments.threads) +
                                                    ", but can be 1 to 1024");
  if (!(arguments.seconds >= 0 && arguments.seconds <= 1e6))
    diagnostics.report(DiagnosticId::BadOption,
                       "--seconds can be 0 to 1000000");
}

/// Reads "30dB" or "1%".
static std::optional<quantize::Budget> readLoss(StringRef text,
                                                Diagnostics &diagnostics) {
  StringRef number = text;
  quantize::Budget budget;
  budget.isPercent = number.consume_back("%");
  bool hasUnit = budget.isPercent || number.consume_back_insensitive("dB");
  if (hasUnit && !number.rtrim().getAsDouble(budget.value) &&
      budget.value >= 0 && budget.value <= (budget.isPercent ? 100 : 200))
    return budget;
  diagnostics.report(DiagnosticId::BadOption,
                     "--max-loss `" + printable(text) +
                         "` is neither decibels nor a share",
                     "for example --max-loss 35dB or --max-loss 1%");
  return std::nullopt;
}

static void readQuantize(const Options &options, Arguments &arguments,
                         Diagnostics &diagnostics) {
  quantize::QuantizeOptions &wanted = arguments.quantize;
  auto isGiven = [&](StringRef name) {
    return is_contained(arguments.given, name);
  };
  bool isCommand =
      options.commands[options.chosen()].parser == &options.quantize;
  if (!isCommand && !isGiven("quantize")) {
    refuseUnused(arguments, {"calibrate", "labels", "max-loss"},
                 "without --quantize", diagnostics);
    return;
  }
  static constexpr std::pair<StringLiteral, quantize::Kind> kinds[] = {
      {"int8", quantize::Kind::Int8},
      {"int8-weights", quantize::Kind::Int8Weights},
      {"int4-weights", quantize::Kind::Int4Weights}};
  StringRef kind =
      isGiven("quantize") ? StringRef(options.quantizeTo) : StringRef("int8");
  auto known = llvm::find_if(
      kinds, [&](const auto &candidate) { return candidate.first == kind; });
  if (known == std::end(kinds))
    diagnostics.report(DiagnosticId::BadOption,
                       "--quantize is `" + printable(kind) +
                           "`, but can be int8, int8-weights or int4-weights");
  else
    wanted.kind = known->second;
  arguments.quantizes = true;
  // Weights alone are rounded well without data.
  if (!isGiven("calibrate") && wanted.kind == quantize::Kind::Int8)
    diagnostics.report(DiagnosticId::BadOption,
                       "no samples are given to quantize the model with",
                       "--calibrate DATA; or --calibrate none");
  if (options.calibrate != "none")
    wanted.calibrate = options.calibrate;
  wanted.labels = options.labels;
  if (isGiven("max-loss"))
    wanted.budget = readLoss(options.maxLoss, diagnostics);
  if (wanted.calibrate.empty())
    refuseUnused(arguments, {"labels", "max-loss"}, "without samples",
                 diagnostics);
  else if (!wanted.budget || !wanted.budget->isPercent)
    refuseUnused(arguments, {"labels"}, "without a --max-loss in percent",
                 diagnostics);
}

/// Complains if there are too few or too many words that are no options.
static void checkPositional(const Options &options,
                            const CommandSyntax &command,
                            const Arguments &arguments,
                            Diagnostics &diagnostics) {
  size_t count = arguments.positional.size();
  if (!options.explain.empty() ||
      (count >= command.least && count <= command.most))
    return;
  std::string usage =
      ("usage: " + command.shown() + " [options] " + command.takes).str();
  if (count < command.least)
    return diagnostics.report(DiagnosticId::BadOption, "no model is given",
                              usage);
  std::string first = printable(arguments.positional[command.most]);
  for (const CommandSyntax &other : options.commands)
    for (const std::string &word : arguments.positional)
      if (!word.empty() && other.parser->getName() == word)
        usage = "a command comes first: " + other.shown() + " [options] " +
                other.takes.str();
  diagnostics.report(
      DiagnosticId::BadOption,
      "`" + command.shown() + "` takes " +
          (command.most ? "at most " + Twine(command.most) : Twine("no")) +
          " argument" + (command.most == 1 ? "" : "s") +
          ", but there is also `" + first + "`",
      usage);
}

bool refuseUnused(const Arguments &arguments, ArrayRef<StringRef> unused,
                  const Twine &why, Diagnostics &diagnostics) {
  bool good = true;
  for (StringRef name : unused)
    if (is_contained(arguments.given, name)) {
      diagnostics.report(DiagnosticId::BadOption,
                         (name.size() == 1 ? "-" : "--") + name +
                             " has no effect " + why);
      good = false;
    }
  return good;
}

/// The targets that multiply such floats.
static std::string namesWith(StringRef floats) {
  SmallVector<StringRef> names;
  for (const TargetDescription &target : allTargets())
    if (target.multiplies(floats))
      names.push_back(target.name);
  return llvm::join(names, ", ");
}

/// Reads --fast: narrow floats where every target multiplies them.
static void readFast(StringRef kind, Arguments &arguments,
                     Diagnostics &diagnostics) {
  std::string option = "--fast=" + printable(kind);
  if (kind != "bf16" && kind != "f16" && kind != "tf32") {
    diagnostics.report(DiagnosticId::BadOption,
                       option + " is no kind of numbers",
                       "--fast=bf16 multiplies in bf16, --fast=f16 in f16, "
                       "--fast=tf32 in f32 of 10 bits of fraction");
    return;
  }
  if (is_contained(arguments.given, "strict"))
    diagnostics.report(DiagnosticId::BadOption,
                       option + " rounds operands, which --strict forbids",
                       "leave one of them out");
  SmallVector<const TargetDescription *> targets(
      arguments.compile.fallbacks.begin(), arguments.compile.fallbacks.end());
  targets.push_back(arguments.compile.target);
  for (const TargetDescription *target : targets)
    if (target && !target->multiplies(kind))
      diagnostics.report(DiagnosticId::BadOption,
                         option + ": the target `" + target->name +
                             "` has no products of " + kind,
                         "leave --fast out, or name a target that has them: " +
                             namesWith(kind));
  arguments.compile.fast = kind.str();
}

/// Reads how much near memory there is, which has to be that of the target.
static void readNear(const Options &options, Arguments &arguments,
                     Diagnostics &diagnostics) {
  const TargetDescription *target = arguments.compile.target;
  for (const auto &option : options.nearMemories) {
    StringRef memory = option->ArgStr;
    if (!is_contained(arguments.given, memory))
      continue;
    SmallVector<StringRef> owners;
    for (const TargetDescription &known : allTargets())
      if (known.nearMemory == memory)
        owners.push_back(known.name);
    if (target && target->nearMemory != memory)
      diagnostics.report(DiagnosticId::BadOption,
                         "--" + memory + ": the target `" + target->name +
                             "` has no such memory",
                         "targets that have it: " + join(owners, ", "));
    std::optional<int64_t> bytes =
        readBytes(option->getValue(), memory, diagnostics);
    if (bytes == 0)
      diagnostics.report(DiagnosticId::BadOption,
                         "--" + memory + " lends no memory", "leave it out");
    arguments.compile.nearBytes = bytes;
  }
}

void readArguments(const Options &options, Arguments &arguments,
                   Diagnostics &diagnostics) {
  const CommandSyntax &command = options.commands[options.chosen()];
  const auto &positional = *options.positional[options.chosen()];
  arguments.positional.assign(positional.begin(), positional.end());
  for (auto &[name, option] : cl::getRegisteredOptions(*command.parser)) {
    if (option->getNumOccurrences())
      arguments.given.push_back(name.str());
    bool isList = option->getNumOccurrencesFlag() == cl::ZeroOrMore;
    if (option->getNumOccurrences() > 1 && !isList)
      diagnostics.report(DiagnosticId::BadOption,
                         (name.size() == 1 ? "-" : "--") + name + " is given " +
                             Twine(option->getNumOccurrences()) +
                             " times, but takes one value");
  }
  llvm::sort(arguments.given);
  auto isGiven = [&](const cl::Option &option) {
    return is_contained(arguments.given, option.ArgStr);
  };
  arguments.json = options.json;
  arguments.explain = options.explain;
  checkPositional(options, command, arguments, diagnostics);
  readTargets(options, arguments, diagnostics);
  readDims(options, arguments, diagnostics);
  arguments.compile.states = readPairs(options.states, diagnostics);
  for (const std::string &text : options.entries)
    readEntry(text, arguments.compile.entries, diagnostics);
  for (auto &[name, values] : readPairs(options.binds, diagnostics))
    arguments.compile.import.bind[name] = values;
  arguments.inputs = readPairs(options.inputs, diagnostics);
  readQuantize(options, arguments, diagnostics);
  readTiming(options, arguments, diagnostics);
  if (isGiven(options.stopAfter))
    arguments.stopAfter = readStage(options.stopAfter, diagnostics);
  if (isGiven(options.startFrom))
    arguments.compile.startFrom = readStage(options.startFrom, diagnostics);
  if (isGiven(options.weights))
    readWeights(options.weights, arguments, diagnostics);
  if (isGiven(options.arenaSection))
    readSection(options.arenaSection, arguments, diagnostics);
  if (isGiven(options.compiler))
    readCompiler(options.compiler, arguments, diagnostics);
  arguments.compile.name = options.name;
  arguments.compile.strict = options.strict;
  if (isGiven(options.fast))
    readFast(options.fast, arguments, diagnostics);
  arguments.compile.trace = options.trace;
  if (isGiven(options.tune) && options.tune.empty())
    diagnostics.report(DiagnosticId::BadOption, "--tune names no file");
  arguments.compile.tune = options.tune;
  arguments.compile.maxRam = readBytes(options.maxRam, "max-ram", diagnostics);
  readNear(options, arguments, diagnostics);
  arguments.compile.maxFlash =
      readBytes(options.maxFlash, "max-flash", diagnostics);
  if (isGiven(options.output))
    arguments.output = options.output;
  arguments.outputDir = options.outputDir;
  arguments.emitTest = options.emitTest;
  arguments.markdown = options.markdown;
  arguments.perGroup = options.perGroup;
  arguments.roofline = options.roofline;
  arguments.raw = options.raw;
  arguments.dynamic = options.dynamic;
}

} // namespace ingot
