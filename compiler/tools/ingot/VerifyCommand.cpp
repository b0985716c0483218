// The command `ingot verify MODEL`.
//
// Runs a model on random inputs that fit it, and compares its outputs with
// those of ONNX Runtime or another reference, of another model, or of the same
// model for another target. With --per-node, names the first node with a wrong
// result and the decision that causes it.

#include "compiler/tools/ingot/Commands.h"
#include "compiler/verify/NodeErrors.h"

#include "compiler/import/TensorData.h"
#include "onnx/onnx_pb.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

#include <cmath>

using namespace mlir;

namespace ingot {

using namespace verify;

namespace {

struct Run {
  Sizes sizes;
  std::vector<std::string> inputs;
  std::vector<TensorError> outputs;
  /// Why the run did not happen; empty if it did.
  std::string skipped;
};

struct Result {
  std::string reference, passedOver;
  std::vector<Run> runs;
  std::optional<NodeErrors> nodes;
  /// Whether tensors inside of the model may differ from those of the reference
  /// (Against::insideMayDiffer).
  bool insideMayDiffer = false;
  bool isRight() const {
    // Only the outputs count here; printText and the exit code also consider
    // the tensors inside of the model.
    return llvm::all_of(runs, [](const Run &run) {
      return llvm::all_of(run.outputs,
                          [](const TensorError &o) { return o.isRight; });
    });
  }
};

class Verifier {
public:
  Verifier(Arguments &arguments, Diagnostics &diagnostics)
      : arguments(arguments), compile(arguments.compile),
        diagnostics(diagnostics), context(makeContext()) {}

  /// Verifies the model; false with diagnostics if that is impossible.
  bool run(Result &result);

private:
  bool prepareAgainst();
  bool runOnce(Run &run, InputData &data, Diagnostics &trial, Result &result);
  /// Sets `want` to the expected outputs, and `changes` to how much each of
  /// them changes if the inputs change slightly (0 if two compiled models are
  /// compared). False with diagnostics on failure.
  bool expect(const InputData &data,
              std::vector<std::optional<ModelValue>> &want,
              std::vector<double> &changes, Diagnostics &trial, Result &result);

  Arguments &arguments;
  CompileOptions &compile;
  Diagnostics &diagnostics;
  std::unique_ptr<MLIRContext> context;
  std::unique_ptr<Compilation> reader;
  std::unique_ptr<Tolerances> tolerances;
  std::vector<std::string> outputs;
  std::unique_ptr<DataRunner> runner, other;
  Against against;
  ReferenceOptions reference;
  bool isDynamic = false;
};

} // namespace

/// If the options name a target or a model to compare with, sets `against`: the
/// options that compile it, and a function that orders its inputs. False with
/// diagnostics if the models do not fit together.
bool Verifier::prepareAgainst() {
  if (arguments.againstTarget) {
    against.options = compile;
    against.options->target = arguments.againstTarget;
    against.options->fallbacks.clear();
    against.arrange = [](const InputData &data) { return data; };
  } else if (!arguments.against.empty()) {
    auto other =
        againstModel(compile, arguments.against, *context, diagnostics);
    if (!other)
      return false;
    against = std::move(*other);
  }
  return true;
}

bool Verifier::expect(const InputData &data,
                      std::vector<std::optional<ModelValue>> &want,
                      std::vector<double> &changes, Diagnostics &trial,
                      Result &result) {
  changes.assign(outputs.size(), 0);
  if (against.options) {
    result.reference =
        arguments.againstTarget
            ? "the code for " + arguments.againstTarget->name.str()
            : "`" + printable(arguments.against, 400) + "`";
    if (!isDynamic || !other)
      other = std::make_unique<DataRunner>(*against.options, isDynamic,
                                           *context, trial);
    std::vector<Tensor> tensors;
    if (!other->run(against.arrange(data), tensors))
      return false;
    for (ModelValue &value : joinOutputs(other->outputs(), tensors))
      want.push_back(std::move(value));
    return true;
  }
  auto expected =
      computeExpected(compile, data, {}, reference, *context, trial);
  if (!expected)
    return false;
  result.reference = expected->engine;
  result.passedOver = expected->passedOver;
  for (size_t i = 0; i < std::min(expected->moved.size(), changes.size()); ++i)
    changes[i] = changeOf(expected->values[i], expected->moved[i]);
  want = std::move(expected->values);
  return true;
}

bool Verifier::runOnce(Run &run, InputData &data, Diagnostics &trial,
                       Result &result) {
  if (!isDynamic || !runner)
    runner = std::make_unique<DataRunner>(compile, isDynamic, *context, trial);
  if (!makeInputs(runner->fresh(), arguments.inputChoices, run.sizes, data,
                  run.inputs))
    return false;
  std::vector<Tensor> tensors;
  if (!runner->run(data, tensors))
    return false;
  std::vector<ModelValue> got = joinOutputs(runner->outputs(), tensors);
  std::vector<std::optional<ModelValue>> want;
  std::vector<double> changes;
  if (!expect(data, want, changes, trial, result))
    return false;
  for (auto [i, name] : llvm::enumerate(outputs)) {
    bool isQuantized = tolerances->isQuantized(name);
    double tolerance = arguments.tolerance.value_or(
        std::max(tolerances->of(name), 2 * changes[i]));
    if (!want[i] || !got[i].matches(*want[i])) {
      TensorError error;
      error.name = name;
      error.isRight = false;
      error.worst = want[i] ? "it is another kind of value"
                            : "the reference returns no tensor";
      run.outputs.push_back(error);
      continue;
    }
    for (auto [j, tensors] :
         llvm::enumerate(llvm::zip(got[i].tensors, want[i]->tensors)))
      run.outputs.push_back(measure(
          want[i]->isSequence ? name + "[" + std::to_string(j) + "]" : name,
          std::get<0>(tensors), std::get<1>(tensors), tolerance, isQuantized));
  }
  return true;
}

bool Verifier::run(Result &result) {
  reader = std::make_unique<Compilation>(compile, *context, diagnostics);
  ModelFile *file = reader->open();
  if (!file)
    return false;
  outputs = outputNames(file->model());
  tolerances = std::make_unique<Tolerances>(file->model(), compile.fast);
  if (!prepareAgainst())
    return false;
  result.insideMayDiffer = against.insideMayDiffer;
  reference = arguments.referenceOptions;
  bool isQuantized = llvm::any_of(outputs, [&](const std::string &name) {
    return tolerances->isQuantized(name);
  });
  // Changes inputs by at most 16 units in the last place of float32; in
  // quantized models by more, so that some numbers are rounded to another
  // quantization step.
  reference.move = isQuantized ? 0x1p-12 : 0x1p-20;
  isDynamic = llvm::any_of(compile.import.dims,
                           [](auto &dim) { return !dim.second.isOne(); });
  InputData given;
  if (!readGivenFiles(*reader, arguments.inputChoices.files, given))
    return false;
  std::vector<Sizes> sets =
      sizesToRun(file->model(), compile.import, given, *context);
  if (isDynamic)
    for (const auto &[key, size] : sets.front())
      if (!compile.import.dims.count(key) && !compile.import.dims.count("*") &&
          !StringRef(key).contains('+'))
        compile.import.dims[key] = size;
  for (const Sizes &sizes : sets) {
    Run run;
    run.sizes = sizes;
    InputData data;
    Diagnostics ofRun;
    Diagnostics &trial = isDynamic ? diagnostics : ofRun;
    trial.setFile(diagnostics.file());
    if (!runOnce(run, data, trial, result)) {
      bool isChosen = compile.import.dims.empty() && !result.runs.empty();
      if (!isChosen) {
        if (!isDynamic)
          for (Diagnostic diagnostic : ofRun.list()) {
            if (!sizes.empty() && compile.import.dims.empty())
              diagnostic.hints.push_back(
                  "`ingot verify` has chosen the sizes; set them by --dim " +
                  printable(sizes.begin()->first) + "=SIZE");
            diagnostics.report(std::move(diagnostic));
          }
        return false;
      }
      run.outputs.clear();
      run.skipped = ofRun.empty() ? "it failed" : ofRun.list()[0].message;
      result.runs.push_back(std::move(run));
      continue;
    }
    bool isRight = llvm::all_of(
        run.outputs, [](const TensorError &error) { return error.isRight; });
    result.runs.push_back(std::move(run));
    // Compares the nodes of the first wrong run or, if all are right, of the
    // last run.
    bool isLast = &sizes == &sets.back();
    if (!arguments.perNode || result.nodes || (isRight && !isLast))
      continue;
    CompileOptions fixed = compile;
    if (isDynamic)
      for (const auto &[key, size] : sizes)
        if (!StringRef(key).contains('+'))
          fixed.import.dims[key] = size;
    result.nodes = findNodeErrors(fixed, data, against, reference, !isRight,
                                  arguments.tolerance, *context, diagnostics);
    if (!result.nodes)
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static std::string sizesText(const Sizes &sizes) {
  std::string text;
  for (const auto &[key, size] : sizes)
    text += (text.empty() ? "" : ", ") + printable(key) + "=" +
            std::to_string(size);
  return text;
}

static void printError(const TensorError &error, llvm::raw_ostream &os) {
  os << printable(error.name) << " " << error.type << ": ";
  if (error.type.empty() || (!error.isRight && error.range == 0)) {
    os << "WRONG, " << error.worst << "\n";
    return;
  }
  os << llvm::format("max error %.3g", error.error);
  os << llvm::format(" (%.2g of the range %.4g, tolerance %.2g; ",
                     error.relative, error.range, error.tolerance)
     << llvm::format("%.3g ULP)", error.ulp);
  if (error.isRight)
    os << ", ok\n";
  else
    os << ", WRONG: " << error.worst << "\n";
}

/// Prints the signal-to-noise ratio of each tensor.
static void printTable(const NodeErrors &nodes, llvm::raw_ostream &os) {
  os << "\n     dB   of range  tolerance  tensor\n";
  for (const TensorError &error : nodes.tensors) {
    if (std::isfinite(error.decibels))
      os << llvm::format("%7.1f", error.decibels);
    else
      os << (error.error > 0 ? "      -" : "  equal");
    os << llvm::format("   %8.2g   %8.2g  ", error.relative, error.tolerance)
       << printable(error.name) << " " << error.type
       << (error.isRight ? "" : "  WRONG") << "\n";
  }
}

static void printNodes(const NodeErrors &nodes, bool hasTable,
                       llvm::raw_ostream &os) {
  if (hasTable)
    printTable(nodes, os);
  os << "\n" << nodes.tensors.size() << " tensors of nodes compared\n";
  if (nodes.node < 0 && nodes.tensor.empty()) {
    os << "no node has a wrong result\n";
    return;
  }
  os << "first wrong node: #" << nodes.node << " `" << printable(nodes.nodeName)
     << "` (" << printable(nodes.operatorName) << ")\n";
  for (const TensorError &error : nodes.tensors)
    if (error.name == nodes.tensor) {
      os << "  ";
      printError(error, os);
    }
  os << llvm::format("  its inputs are within %.2g of their ranges\n",
                     nodes.errorOfInputs);
  if (!nodes.strategy.empty()) {
    os << "  kernel: strategy `" << nodes.strategy << "`, nodes";
    for (const std::string &name : ArrayRef(nodes.nodesOfKernel).take_front(6))
      os << " " << printable(name);
    os << (nodes.nodesOfKernel.size() > 6 ? " ...\n" : "\n");
  }
  for (const std::string &name : nodes.rightWith)
    os << "  right with " << name << "\n";
  for (const std::string &name : nodes.wrongWith)
    os << "  wrong with " << name << "\n";
  if (!nodes.cause.empty())
    os << "cause: " << nodes.cause << "\n";
}

static void jsonOf(llvm::json::OStream &json, const TensorError &error) {
  auto text = [](StringRef s) { return llvm::json::fixUTF8(s); };
  // JSON has no infinity.
  auto number = [&](StringRef key, double value) {
    json.attribute(key, std::isfinite(value) ? llvm::json::Value(value)
                                             : llvm::json::Value(nullptr));
  };
  json.object([&] {
    json.attribute("name", text(error.name));
    json.attribute("type", error.type);
    json.attribute("right", error.isRight);
    number("max_error", error.error);
    number("range", error.range);
    number("relative_error", error.relative);
    number("tolerance", error.tolerance);
    number("ulp", error.ulp);
    number("decibels", error.decibels);
    if (!error.worst.empty())
      json.attribute("worst", text(error.worst));
  });
}

static void printJson(const Arguments &arguments, const Result &result,
                      const Diagnostics &diagnostics) {
  auto text = [](StringRef s) { return llvm::json::fixUTF8(s); };
  llvm::json::OStream json(llvm::outs(), /*IndentSize=*/2);
  json.object([&] {
    json.attribute("model", text(arguments.compile.model));
    json.attribute("target", arguments.compile.target->name);
    json.attribute("reference", text(result.reference));
    json.attribute("seed", int64_t(arguments.inputChoices.seed));
    json.attribute("right", result.isRight());
    json.attributeArray("runs", [&] {
      for (const Run &run : result.runs)
        json.object([&] {
          json.attributeObject("sizes", [&] {
            for (const auto &[key, size] : run.sizes)
              json.attribute(text(key), size);
          });
          if (!run.skipped.empty())
            json.attribute("skipped", text(run.skipped));
          json.attributeArray("outputs", [&] {
            for (const TensorError &error : run.outputs)
              jsonOf(json, error);
          });
        });
    });
    if (const auto &nodes = result.nodes) {
      if (!nodes->tensor.empty())
        json.attributeObject("first_wrong", [&] {
          json.attribute("node", text(nodes->nodeName));
          json.attribute("index", nodes->node);
          json.attribute("operator", text(nodes->operatorName));
          json.attribute("tensor", text(nodes->tensor));
          json.attribute("strategy", nodes->strategy);
          auto list = [&](StringRef key, const std::vector<std::string> &of) {
            json.attributeArray(key, [&] {
              for (const std::string &item : of)
                json.value(text(item));
            });
          };
          list("kernel_nodes", nodes->nodesOfKernel);
          list("right_with", nodes->rightWith);
          list("wrong_with", nodes->wrongWith);
          json.attribute("cause", text(nodes->cause));
        });
      json.attributeArray("tensors", [&] {
        for (const TensorError &error : nodes->tensors)
          jsonOf(json, error);
      });
    }
    json.attributeArray("diagnostics", [&] {
      for (const Diagnostic &d : diagnostics.list())
        json.object([&] {
          json.attribute("id", infoOf(d.id).name);
          json.attribute("message", text(d.message));
        });
    });
  });
  llvm::outs() << "\n";
}

/// Whether a tensor inside of the model is wrong. That is a failure although the
/// outputs are right, since other inputs may let the error reach an output.
static bool hasWrongNode(const Result &result) {
  return result.nodes && !result.nodes->tensor.empty() &&
         !result.insideMayDiffer;
}

static void printText(const Arguments &arguments, const Result &result) {
  llvm::raw_ostream &os = llvm::outs();
  os << printable(arguments.compile.model, 400) << " for "
     << arguments.compile.target->name << " against " << result.reference
     << "\n";
  if (!result.passedOver.empty())
    os << "  not used: " << printable(result.passedOver, 300) << "\n";
  for (const Run &run : result.runs) {
    std::string sizes = sizesText(run.sizes);
    os << "\n";
    if (!sizes.empty())
      os << sizes << "\n";
    if (!run.skipped.empty()) {
      os << "  not compared: " << printable(run.skipped, 300)
         << "; set sizes by --dim\n";
      continue;
    }
    for (const std::string &input : run.inputs)
      os << "  input  " << input << "\n";
    for (const TensorError &error : run.outputs) {
      os << "  output ";
      printError(error, os);
    }
  }
  if (result.nodes)
    printNodes(*result.nodes, !arguments.against.empty() || arguments.verbose,
               os);
  if (result.nodes && !result.nodes->tensor.empty() && result.insideMayDiffer)
    os << "\nOnly the outputs decide: one of the models is quantized, so "
          "tensors "
          "inside may be scaled.\n";
  size_t skipped = llvm::count_if(
      result.runs, [](const Run &run) { return !run.skipped.empty(); });
  os << "\n"
     << (result.isRight() && !hasWrongNode(result) ? "pass" : "FAIL") << ": "
     << result.runs.size() - skipped << " run"
     << (result.runs.size() - skipped == 1 ? "" : "s") << " with seed "
     << arguments.inputChoices.seed;
  if (skipped)
    os << ", " << skipped << " not compared";
  os << "\n";
}

int verifyCommand(Arguments &arguments, Diagnostics &diagnostics) {
  arguments.compile.model = arguments.positional[0];
  Result result;
  Verifier verifier(arguments, diagnostics);
  if (!verifier.run(result))
    return diagnostics.exitCode();
  if (result.isRight() && hasWrongNode(result))
    diagnostics.report(DiagnosticId::Mismatch,
                       "the outputs are within the tolerance, but the node `" +
                           printable(result.nodes->nodeName) + "` is not",
                       "docs/verify.md explains the tolerance; --tolerance "
                       "sets it");
  if (!result.isRight())
    diagnostics.report(
        DiagnosticId::Mismatch,
        "the outputs differ from those of " + result.reference +
            " by more than the tolerance",
        arguments.perNode
            ? "docs/verify.md explains the tolerance; --tolerance sets it"
            : "`--per-node` names the first wrong node and the cause");
  if (arguments.json) {
    printJson(arguments, result, diagnostics);
    arguments.json = false; // the diagnostics are printed as JSON already
  } else {
    printText(arguments, result);
  }
  return diagnostics.exitCode();
}

} // namespace ingot
