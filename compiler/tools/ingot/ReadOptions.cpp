// Reads options into arguments.
//
// Checks everything that can be checked without the model. No option is
// silently ignored: an option without effect, or given twice, is an error.

#include "compiler/import/custom/CustomOperators.h"
#include "compiler/report/Suggest.h"
#include "compiler/tools/ingot/Options.h"

#include "codegen/objects/Toolchain.h"
#include "targets/Cores.h"

using namespace llvm;

namespace ingot {

/// Reads a number of bytes, with an optional unit of 1024 (K) or 1024 * 1024
/// (M). Returns nullopt if `text` is empty, and nullopt with a diagnostic if it
/// is not a size.
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
                     "--" + option + ": cannot parse `" + printable(text) +
                         "` as a size (examples: 65536, 64K, 1M)");
  return std::nullopt;
}

/// Reads a limit of growth: bytes such as "64K" unless `isPercentOnly`, or a
/// percentage of the old size such as "2%". Returns nullopt with a diagnostic
/// for other texts.
static std::optional<Growth> readGrowth(StringRef text, StringRef option,
                                        bool isPercentOnly,
                                        Diagnostics &diagnostics) {
  StringRef number = text;
  if (number.consume_back("%")) {
    Growth growth{0, /*isPercent=*/true};
    if (!number.getAsDouble(growth.value) && growth.value >= 0 &&
        growth.value <= 1e6)
      return growth;
  } else if (!isPercentOnly) {
    if (std::optional<int64_t> count = readBytes(text, option, diagnostics))
      return Growth{double(*count), /*isPercent=*/false};
    if (!text.empty())
      return std::nullopt;
  }
  diagnostics.report(DiagnosticId::BadOption,
                     "--" + option + ": cannot parse `" + printable(text) +
                         (isPercentOnly ? "` as a percentage (example: 5%)"
                                        : "` as a size or a percentage "
                                          "(examples: 512, 4K, 2%)"));
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
                     "--target: unknown target `" + printable(wanted) + "`",
                     close.empty() ? "targets: " + join(names, ", ") : close);
  return nullptr;
}

/// Returns `target` with the costs of the processor core `core`; null with a
/// diagnostic if the target's family has no such core.
static const TargetDescription *tuneTarget(const TargetDescription &target,
                                           StringRef core,
                                           Diagnostics &diagnostics) {
  SmallVector<StringRef> names;
  for (const Core &known : allCores())
    if (known.family == target.family)
      names.push_back(known.name);
  if (is_contained(names, core))
    return withSuffix(target, core);
  diagnostics.report(DiagnosticId::BadOption,
                     "--tune-for: the target `" + target.name +
                         "` has no core `" + printable(core) + "`",
                     names.empty()
                         ? "its kernels are chosen by the target alone"
                         : "cores: " + join(names, ", "));
  return nullptr;
}

/// Reads --target: one target, or several in any order. The most capable one
/// becomes the target, the others its fallbacks. `ingot report` instead
/// describes each target by itself.
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
                ? "--target: `" + printable(wanted[i]) + "` is given twice"
                : "--target: `" + printable(wanted[j]) + "` and `" +
                      printable(wanted[i]) + "` are the same on this machine");
        return;
      }
  bool isReport = options.commands[options.chosen()].parser == &options.report;
  // All targets are elements of one array, which is ordered from the least to
  // the most capable, so sorting the pointers sorts the targets in this order.
  if (!isReport)
    llvm::sort(targets);
  for (const TargetDescription *other : targets)
    for (const TargetDescription *target : targets)
      if (!isReport && other < target && !canShareOutput(*other, *target)) {
        diagnostics.report(
            DiagnosticId::BadOption,
            "--target: `" + other->name + "` and `" + target->name +
                "` cannot share one output file",
            "only targets of one family can be selected at run time; see "
            "`ingot targets`");
        return;
      }
  if (!options.tuneFor.empty())
    for (const TargetDescription *&target : targets)
      if (!(target = tuneTarget(*target, options.tuneFor, diagnostics)))
        return;
  if (options.optimize == "size") {
    for (const TargetDescription *&target : targets)
      target = withSuffix(*target, smallSuffix);
  } else if (!options.optimize.empty() && options.optimize != "speed") {
    diagnostics.report(DiagnosticId::BadOption,
                       "--optimize: unknown value `" +
                           printable(options.optimize) +
                           "` (`speed` and `size` exist)");
    return;
  }
  if (options.threading == "none") {
    for (const TargetDescription *&target : targets)
      target = withSuffix(*target, oneThreadSuffix);
  } else if (!options.threading.empty() && options.threading != "caller") {
    diagnostics.report(DiagnosticId::BadOption,
                       "--threads: unknown value `" +
                           printable(options.threading) +
                           "` (`caller` and `none` exist)",
                       "as a number of threads it is an option of `ingot "
                       "bench`; the caller of a program provides its threads");
    return;
  }
  if (isReport) {
    arguments.targets.assign(targets.begin(), targets.end());
    targets = {targets.front()};
  }
  arguments.compile.target = targets.pop_back_val();
  arguments.compile.fallbacks = std::move(targets);
}

bool requireOneTarget(const Arguments &arguments, StringRef what,
                      Diagnostics &diagnostics) {
  if (!arguments.compile.fallbacks.empty())
    diagnostics.report(DiagnosticId::BadOption,
                       what + " supports a single target",
                       "name one target with --target");
  return arguments.compile.fallbacks.empty();
}

static void readCustoms(const Options &options, Arguments &arguments,
                        Diagnostics &diagnostics) {
  auto operators = std::make_shared<CustomOperators>();
  for (const std::string &file : options.customs)
    (void)operators->read(file, diagnostics);
  if (!options.customs.empty())
    arguments.compile.import.custom = std::move(operators);
}

static std::optional<Stage> readStage(StringRef name,
                                      Diagnostics &diagnostics) {
  std::optional<Stage> stage = parseStage(name);
  if (stage)
    return stage;
  std::string close = didYouMean(name, stageNames());
  diagnostics.report(
      DiagnosticId::BadOption, "unknown stage `" + printable(name) + "`",
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
                     "--weights: unknown value `" + printable(kind) +
                         "` (choose source, object or file)");
}

/// Reads --arena-section: a section name that the linker scripts of all targets
/// accept.
static void readSection(StringRef name, Arguments &arguments,
                        Diagnostics &diagnostics) {
  static constexpr StringLiteral letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._$-";
  if (name.find_first_not_of(letters) != StringRef::npos)
    diagnostics.report(DiagnosticId::BadOption,
                       "--arena-section: `" + printable(name) +
                           "` is not a valid section name",
                       "use letters, digits, `.`, `_`, `$` and `-`");
  arguments.compile.arenaSection = name.str();
}

static void readCompiler(StringRef command, Arguments &arguments,
                         Diagnostics &diagnostics) {
  if (installedCommand(command).empty())
    diagnostics.report(DiagnosticId::BadOption,
                       "--cxx: the program `" +
                           printable(command.ltrim().split(' ').first) +
                           "` is not installed");
  arguments.compile.compiler = command.str();
}

static void readTiming(const Options &options, Arguments &arguments,
                       Diagnostics &diagnostics) {
  if (options.threads.getNumOccurrences())
    arguments.threads = options.threads;
  if (options.seconds.getNumOccurrences())
    arguments.seconds = options.seconds;
  if (is_contained(arguments.given, "compare")) {
    arguments.compares = options.compare == "onnxruntime";
    if (!arguments.compares)
      diagnostics.report(DiagnosticId::BadOption,
                         "--compare: unknown value `" +
                             printable(options.compare) +
                             "` (choose onnxruntime)");
  }
  arguments.trace = options.traceFile;
  if (options.traceFile.getNumOccurrences() && arguments.trace.empty())
    diagnostics.report(DiagnosticId::BadOption,
                       "--trace: the file name is missing");
  SmallVector<StringRef> counters;
  StringRef(options.counters).split(counters, ',', -1, /*KeepEmpty=*/false);
  for (StringRef counter : counters)
    arguments.counters.push_back(counter.trim().str());
  if (is_contained(arguments.given, "counters") && counters.empty())
    diagnostics.report(DiagnosticId::BadOption,
                       "--counters: the names of the events are missing");
  arguments.energy = is_contained(arguments.given, "energy")
                         ? options.energy.getValue()
                         : "/sys/class/powercap";
  arguments.measures = options.measure;
  arguments.plot = options.plot;
  if (options.plot.getNumOccurrences() && arguments.plot.empty())
    diagnostics.report(DiagnosticId::BadOption,
                       "--plot: the file name is missing");
  if (arguments.threads < 1 || arguments.threads > 1024)
    diagnostics.report(DiagnosticId::BadOption,
                       "--threads: " + Twine(arguments.threads) +
                           " is out of range (1 to 1024)");
  if (!(arguments.seconds >= 0 && arguments.seconds <= 1e6))
    diagnostics.report(DiagnosticId::BadOption,
                       "--seconds: the value is out of range (0 to 1000000)");
}

/// Reads --max-loss, such as "30dB" or "1%". Returns nullopt with a diagnostic
/// for other texts.
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
                     "--max-loss: `" + printable(text) +
                         (hasUnit ? "` is out of range (0dB to 200dB, 0% to "
                                    "100%)"
                                  : "` needs a unit: 35dB or 1%"));
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
    refuseUnused(arguments, {"calibrate", "labels", "max-loss", "weight-bits"},
                 "without --quantize", diagnostics,
                 "add --quantize int8, or use `ingot quantize`");
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
                       "--quantize: unknown value `" + printable(kind) +
                           "` (choose int8, int8-weights or int4-weights)");
  else
    wanted.kind = known->second;
  arguments.quantizes = true;
  if (wanted.kind != quantize::Kind::Int8 || options.calibrate == "none")
    refuseUnused(arguments, {"weight-bits"}, "if activations are not quantized",
                 diagnostics);
  if (isGiven("weight-bits") &&
      (StringRef(options.weightBits).getAsInteger(10, wanted.weightBits) ||
       wanted.weightBits < 6 || wanted.weightBits > 8))
    diagnostics.report(DiagnosticId::BadOption,
                       "--weight-bits: unknown value `" +
                           printable(options.weightBits) +
                           "` (choose 8, 7 or 6)");
  // Quantizing only weights works well without samples.
  if (!isGiven("calibrate") && wanted.kind == quantize::Kind::Int8)
    diagnostics.report(DiagnosticId::BadOption,
                       "quantizing needs sample inputs: --calibrate "
                       "samples.npz (one array per input, samples along axis "
                       "0)",
                       "--calibrate none quantizes only weights");
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

/// Reads the options of `ingot verify`.
static void readVerify(const Options &options, Arguments &arguments,
                       Diagnostics &diagnostics) {
  auto isGiven = [&](StringRef name) {
    return is_contained(arguments.given, name);
  };
  verify::InputChoices &inputs = arguments.inputChoices;
  inputs.files = arguments.inputs;
  if (isGiven("seed"))
    inputs.seed = options.seed;
  for (const auto &[name, text] : readPairs(options.ranges, diagnostics)) {
    auto [low, high] = StringRef(text).split("..");
    verify::NumberRange range;
    if (low.trim().getAsDouble(range.least) ||
        high.trim().getAsDouble(range.most) || !(range.least <= range.most))
      diagnostics.report(DiagnosticId::BadOption,
                         "--range: cannot parse `" + printable(text) +
                             "` as the range of `" + printable(name) +
                             "` (examples: 0..1, -0.5..0.5)");
    else
      inputs.ranges[name] = range;
  }
  arguments.perNode = options.perNode;
  arguments.against = options.against;
  if (isGiven("against-target"))
    arguments.againstTarget = findTarget(options.againstTarget, diagnostics);
  static constexpr std::pair<StringLiteral, verify::Engine> engines[] = {
      {"onnxruntime", verify::Engine::OnnxRuntime},
      {"onnx", verify::Engine::Onnx},
      {"definition", verify::Engine::Definition}};
  if (isGiven("reference")) {
    auto known = llvm::find_if(engines, [&](const auto &engine) {
      return engine.first == options.referenceEngine;
    });
    if (known == std::end(engines))
      diagnostics.report(DiagnosticId::BadOption,
                         "--reference: unknown value `" +
                             printable(options.referenceEngine) +
                             "` (choose onnxruntime, onnx or definition)");
    else
      arguments.referenceOptions.engine = known->second;
  }
  if (isGiven("python") && installedCommand(options.python).empty())
    diagnostics.report(
        DiagnosticId::BadOption,
        "--python: the program `" +
            printable(StringRef(options.python).ltrim().split(' ').first) +
            "` is not installed");
  arguments.referenceOptions.python = options.python;
  if (isGiven("tolerance")) {
    arguments.tolerance = options.tolerance;
    if (!(options.tolerance >= 0))
      diagnostics.report(DiagnosticId::BadOption,
                         "--tolerance: the value must not be negative");
  }
  if (isGiven("against") && isGiven("against-target"))
    diagnostics.report(DiagnosticId::BadOption,
                       "--against and --against-target exclude each other");
  if (isGiven("against") || isGiven("against-target"))
    refuseUnused(arguments, {"reference", "python"},
                 "if two compiled models are compared", diagnostics);
}

/// Reports too few or too many positional arguments.
static void checkPositional(const Options &options,
                            const CommandSyntax &command,
                            const Arguments &arguments,
                            Diagnostics &diagnostics) {
  size_t count = arguments.positional.size();
  if (arguments.explain || (count >= command.least && count <= command.most))
    return;
  std::string usage = "usage: " + usageOf(command);
  if (count < command.least)
    return diagnostics.report(DiagnosticId::BadOption,
                              command.takes.starts_with("MODEL")
                                  ? "no model is given"
                                  : "an argument is missing: " + command.takes,
                              usage);
  std::string first = printable(arguments.positional[command.most]);
  for (const CommandSyntax &other : options.commands)
    for (const std::string &word : arguments.positional)
      if (!word.empty() && other.parser->getName() == word)
        usage = "a command comes first: " + usageOf(other);
  diagnostics.report(
      DiagnosticId::BadOption,
      "`" + command.shown() + "` takes " +
          (command.most ? "at most " + Twine(command.most) : Twine("no")) +
          " argument" + (command.most == 1 ? "" : "s") +
          ", but there is also `" + first + "`",
      usage);
}

bool refuseUnused(const Arguments &arguments, ArrayRef<StringRef> unused,
                  const Twine &why, Diagnostics &diagnostics,
                  const Twine &hint) {
  std::vector<std::string> given;
  for (StringRef name : unused)
    if (is_contained(arguments.given, name))
      given.push_back(((name.size() == 1 ? "-" : "--") + name).str());
  if (given.empty())
    return true;
  std::string last = given.back();
  given.pop_back();
  diagnostics.report(DiagnosticId::BadOption,
                     given.empty() ? last + " has no effect " + why
                                   : join(given, ", ") + " and " + last +
                                         " have no effect " + why,
                     hint);
  return false;
}

/// Returns the names of the targets that can multiply floats of the format
/// `floats`.
static std::string namesWith(StringRef floats) {
  SmallVector<StringRef> names;
  for (const TargetDescription &target : allTargets())
    if (target.multiplies(floats))
      names.push_back(target.name);
  return llvm::join(names, ", ");
}

/// Reads --fast, the format to which floats are rounded before they are
/// multiplied; reports an error if a target has no instructions for it.
static void readFast(StringRef kind, Arguments &arguments,
                     Diagnostics &diagnostics) {
  std::string option = "--fast=" + printable(kind);
  if (kind != "bf16" && kind != "f16" && kind != "tf32") {
    diagnostics.report(DiagnosticId::BadOption,
                       "--fast: unknown precision `" + printable(kind) +
                           "` (choose bf16, f16 or tf32)");
    return;
  }
  if (is_contained(arguments.given, "strict"))
    diagnostics.report(DiagnosticId::BadOption,
                       option + " and --strict exclude each other: --fast "
                                "rounds operands");
  SmallVector<const TargetDescription *> targets(
      arguments.compile.fallbacks.begin(), arguments.compile.fallbacks.end());
  targets.push_back(arguments.compile.target);
  for (const TargetDescription *target : targets)
    if (target && !target->multiplies(kind))
      diagnostics.report(DiagnosticId::BadOption,
                         option + ": the target " + target->name + " has no " +
                             kind + " multiply instructions",
                         "targets that have them: " + namesWith(kind));
  arguments.compile.fast = kind.str();
}

/// Reads the size of fast local memory from the option that is named after the
/// memory (--vtcm); the target must have this memory.
static void readVtcm(const Options &options, Arguments &arguments,
                     Diagnostics &diagnostics) {
  const TargetDescription *target = arguments.compile.target;
  for (const auto &option : options.tcmOptions) {
    StringRef memory = option->ArgStr;
    if (!is_contained(arguments.given, memory))
      continue;
    SmallVector<StringRef> owners;
    for (const TargetDescription &known : allTargets())
      if (known.tcmName == memory)
        owners.push_back(known.name);
    if (target && target->tcmName != memory)
      diagnostics.report(DiagnosticId::BadOption,
                         "--" + memory + ": the target " + target->name +
                             " does not have this memory",
                         "targets that have it: " + join(owners, ", "));
    std::optional<int64_t> bytes =
        readBytes(option->getValue(), memory, diagnostics);
    if (bytes == 0)
      diagnostics.report(DiagnosticId::BadOption,
                         "--" + memory + ": the size must not be 0",
                         "leave the option out");
    arguments.compile.vtcmBytes = bytes;
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
                             " times; it takes a single value");
  }
  llvm::sort(arguments.given);
  auto isGiven = [&](const cl::Option &option) {
    return is_contained(arguments.given, option.ArgStr);
  };
  arguments.json = options.json;
  arguments.quiet = options.quiet;
  arguments.verbose = options.verbose;
  arguments.force = options.force;
  arguments.compile.timePasses = options.timePasses;
  if (isGiven(options.explain)) {
    // The id to explain is the value of the option, or the word after it.
    arguments.explain = options.explain;
    if (arguments.explain->empty() && arguments.positional.size() == 1)
      arguments.explain = std::exchange(arguments.positional, {}).front();
  }
  if (options.color != "auto" && options.color != "always" &&
      options.color != "never")
    diagnostics.report(DiagnosticId::BadOption,
                       "--color: unknown value `" + printable(options.color) +
                           "` (choose auto, always or never)");
  if (options.quiet && options.verbose)
    diagnostics.report(DiagnosticId::BadOption,
                       "--quiet and --verbose exclude each other");
  checkPositional(options, command, arguments, diagnostics);
  readTargets(options, arguments, diagnostics);
  readCustoms(options, arguments, diagnostics);
  readTensors(options, arguments, diagnostics);
  readVerify(options, arguments, diagnostics);
  readQuantize(options, arguments, diagnostics);
  readAttach(options, arguments, diagnostics);
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
    diagnostics.report(DiagnosticId::BadOption,
                       "--tune: the file name is missing");
  arguments.compile.tune = options.tune;
  arguments.compile.maxRam = readBytes(options.maxRam, "max-ram", diagnostics);
  readVtcm(options, arguments, diagnostics);
  arguments.compile.maxFlash =
      readBytes(options.maxFlash, "max-flash", diagnostics);
  for (const Options::Text *option :
       {&options.maxRamGrowth, &options.maxFlashGrowth, &options.maxMacsGrowth,
        &options.maxTimeGrowth})
    if (isGiven(*option))
      if (auto growth =
              readGrowth(*option, option->ArgStr,
                         option == &options.maxTimeGrowth, diagnostics))
        arguments.growth.push_back({option->ArgStr.str(), *growth});
  if (isGiven(options.maxAccuracyLoss)) {
    StringRef number = options.maxAccuracyLoss;
    Growth loss;
    if (number.consume_back_insensitive("dB") &&
        !number.rtrim().getAsDouble(loss.value) && loss.value >= 0)
      arguments.growth.push_back({"max-accuracy-loss", loss});
    else
      diagnostics.report(DiagnosticId::BadOption,
                         "--max-accuracy-loss: cannot parse `" +
                             printable(options.maxAccuracyLoss) +
                             "` as a ratio (example: 1dB)");
  }
  const auto &output =
      command.parser == &options.quantize       ? options.quantizedOutput
      : command.parser == &options.attach       ? options.attachedOutput
      : command.parser == &options.report       ? options.reportOutput
      : command.parser == &options.traceCommand ? options.traceOutput
      : command.parser == &options.llm          ? options.chatOutput
      : command.parser == &options.tokenizer    ? options.tokenizerOutput
                                                : options.output;
  if (isGiven(output))
    arguments.output = output;
  arguments.context = options.context;
  arguments.promptChunk = options.promptChunk;
  arguments.chatTemplate = options.chatTemplate;
  arguments.outputDir = options.outputDir;
  arguments.emitTest = options.emitTest;
  arguments.evidence = options.evidence;
  arguments.markdown = options.markdown || options.md;
  arguments.clock = options.clock;
  arguments.perGroup = options.perGroup;
  arguments.roofline = options.roofline;
  arguments.raw = options.raw;
  arguments.dynamic = options.dynamic;
}

} // namespace ingot
