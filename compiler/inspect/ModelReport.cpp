#include "compiler/inspect/ModelReport.h"

#include "codegen/files/NodeNames.h"
#include "compiler/Pipeline.h"
#include "compiler/import/FreeTensors.h"
#include "compiler/import/TensorData.h"
#include "compiler/measure/HostTime.h"
#include "compiler/measure/PlanCache.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/schedule/GroupCost.h"
#include "passes/simplify/FoldableValues.h"
#include "targets/ProgramForm.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Path.h"

#include <deque>

using namespace mlir;

namespace ingot {

static int64_t storedBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * elementBytes(tensor.getElementType());
}

/// Whether a group computes floats on a target whose vectors hold only
/// integers.
static bool isScalarFor(const TargetDescription &target, graph::GroupOp group) {
  auto isFloat = [](Value v) {
    auto type = dyn_cast<ShapedType>(v.getType());
    return type && isa<FloatType>(type.getElementType());
  };
  return !target.vectorBytes.empty() && !target.vectorFloats &&
         llvm::any_of(group.getBody().front(), [&](Operation &op) {
           return llvm::any_of(op.getOperands(), isFloat) &&
                  !op.hasTrait<OpTrait::IsTerminator>();
         });
}

/// Returns a copy of `object` that owns its strings. The strings of a kernel's
/// plan (its loop parameters) belong to the MLIR context, which is destroyed
/// before the report.
static llvm::json::Object withOwnTexts(llvm::json::Object object) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(object));
  return std::move(*llvm::cantFail(llvm::json::parse(text)).getAsObject());
}

static GroupRow rowOf(graph::GroupOp group, const TargetDescription &target) {
  GroupRow row;
  row.strategy = group.getStrategy().str();
  row.isScalar = isScalarFor(target, group);
  if (DictionaryAttr plan = group.getPlanAttr())
    row.plan = withOwnTexts(planAsJson(plan));
  schedule::GroupView view(group);
  row.macs = schedule::multiplyAddsOf(view);
  if (programForm(target).predictsCycles)
    std::tie(row.cycles, row.leastCycles) =
        issueCycles({view, target}, group.getStrategy(), group.getPlanAttr());
  llvm::SetVector<StringRef> names;
  for (Operation &op : *group.getBody().begin()) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      continue;
    names.insert_range(nodesOf(op.getLoc()));
  }
  for (StringRef name : names)
    row.nodes.push_back(name.str());
  for (auto [input, operand] : llvm::zip_equal(
           group.getInputs(), group.getBody().front().getArguments())) {
    row.bytes += schedule::bytesRead(operand);
    if (!input.getDefiningOp<graph::ConstantOp>())
      continue;
    row.parameters += graph::tensorType(input).getNumElements();
  }
  SmallVector<std::string> results;
  for (Value output : group.getOutputs()) {
    row.bytes += storedBytes(output.getType());
    results.push_back(describe(output.getType()));
  }
  row.result = llvm::join(results, " ");
  return row;
}

/// Returns the types in which quantized weights are stored, for example
/// "float32" or "float32 and int32".
static std::string storedTypes(const simplify::WidenedWeights &weights) {
  std::vector<std::string> names;
  for (Type type : weights.storedTypes)
    names.push_back(dataTypeName(onnxDataType(type)).str());
  return llvm::join(names, " and ");
}

/// Adds a row to the report for each kernel call of `footprint`, with the
/// fusion group that the kernel computes. `grouped` is the same model after
/// stage Decide.
static void addRows(ModuleOp grouped, Footprint footprint,
                    ModelReport &report) {
  const TargetDescription &target = *report.target;
  report.isPlanned = true;
  // The fusion groups by location; those with the same location are in the
  // order in which they are called.
  llvm::MapVector<Location, std::deque<GroupRow>> groups;
  llvm::DenseSet<Operation *> counted;
  grouped.walk([&](graph::GroupOp group) {
    GroupRow row = rowOf(group, target);
    report.macs += row.macs;
    // A constant that several groups read counts once.
    for (Value input : group.getInputs())
      if (auto constant = input.getDefiningOp<graph::ConstantOp>();
          constant && counted.insert(constant).second)
        report.parameters += graph::tensorType(input).getNumElements();
    groups[group.getLoc()].push_back(std::move(row));
  });
  for (const Footprint::Launch &launch : footprint.launches) {
    GroupRow row;
    row.strategy = launch.strategy;
    if (auto &same = groups[launch.location]; !same.empty()) {
      row = std::move(same.front());
      same.pop_front();
    }
    report.rows.push_back({std::move(row), launch, std::nullopt});
  }
  report.footprint = std::move(footprint);
}

/// Returns the weights of an imported module that the generated code stores in
/// wider types than the model; none if the passes fail.
static simplify::WidenedWeights widenedWeights(ModuleOp imported,
                                               const CompileOptions &options) {
  OwningOpRef<ModuleOp> module = imported.clone();
  PipelineOptions pipeline;
  pipeline.target = options.target;
  pipeline.strict = options.strict;
  if (failed(widenContractions(*module, pipeline)))
    return {};
  // The entry points of one model have the same weights.
  for (auto function : module->getOps<func::FuncOp>())
    if (function.isPublic())
      return simplify::findWidenedWeights(function.front());
  return {};
}

static bool isOfSize(const Diagnostic &diagnostic) {
  return diagnostic.id == DiagnosticId::UnboundDimension;
}

/// Whether `first` has diagnostics that are not about sizes of dimensions, and
/// `again` contains exactly these.
static bool areOthersOf(const Diagnostics &again, const Diagnostics &first) {
  auto identify = [](const Diagnostic &d) {
    return std::make_pair(d.id, d.message);
  };
  auto others = llvm::make_filter_range(
      first.list(), [](const Diagnostic &d) { return !isOfSize(d); });
  return !others.empty() &&
         llvm::equal(llvm::map_range(others, identify),
                     llvm::map_range(again.list(), identify));
}

/// Returns sizes for the dimensions that the model leaves open; none if the
/// model cannot be opened.
static verify::Sizes sizesFor(const CompileOptions &options,
                              MLIRContext &context) {
  Diagnostics known;
  Compilation reader(options, context, known);
  ModelFile *file = reader.open();
  if (!file)
    return {};
  size_t inputs = fedInputs(file->model(), &context).size();
  return verify::sizesToRun(file->model(), options.import, InputData(inputs),
                            context)
      .front();
}

/// Compares the tensors of the model, for random inputs, with those of the
/// model DescribeOptions::against, and adds the errors to `report`; false with
/// diagnostics on failure.
static bool collectErrors(const CompileOptions &options,
                          const DescribeOptions &describe, ModelReport &report,
                          MLIRContext &context, Diagnostics &diagnostics) {
  auto against =
      verify::againstModel(options, describe.against, context, diagnostics);
  if (!against)
    return false;
  InputData data;
  {
    Compilation reader(options, context, diagnostics);
    ModelFile *file = reader.open();
    InputData given;
    if (!file || !readGivenFiles(reader, describe.inputs.files, given))
      return false;
    verify::Sizes sizes =
        verify::sizesToRun(file->model(), options.import, given, context)
            .front();
    std::vector<std::string> notes;
    if (!verify::makeInputs(reader, describe.inputs, sizes, data, notes))
      return false;
  }
  auto errors =
      verify::compareTensors(options, data, *against, context, diagnostics);
  if (errors)
    addErrors(*errors, report);
  report.details["against"] =
      llvm::json::fixUTF8(llvm::sys::path::filename(describe.against));
  return errors.has_value();
}

bool describeModel(const CompileOptions &options, DescribeOptions describe,
                   ModelReport &report, Diagnostics &diagnostics) {
  auto context = makeContext();
  CompileOptions compile = options;
  report.target = compile.target;
  report.file = llvm::sys::path::filename(compile.model).str();
  {
    // This scope frees the model before the model is read again to compile it,
    // since two copies of a large model may not fit in memory.
    Compilation reader(compile, *context, diagnostics);
    ModelFile *file = reader.open();
    if (!file)
      return false;
    report.summary = summarize(file->model());
    if (describe.hasDetails)
      collectNodes(file->model(), report.details);
  }
  Footprint footprint;
  // Declared here since the diagnostics of a compilation must outlive it.
  Diagnostics trial, again;
  trial.setFile(diagnostics.file());
  auto planned = planAndMeasure(compile, *context, footprint, trial);
  if (describe.choosesSizes && llvm::any_of(trial.list(), isOfSize)) {
    for (const auto &[key, size] : sizesFor(compile, *context))
      if (!compile.import.dims.count(key) && !StringRef(key).contains('+'))
        compile.import.dims[key] = report.chosen[key] = size;
    again.setFile(diagnostics.file());
    planned = planAndMeasure(compile, *context, footprint, again);
    // If the chosen sizes cause new errors, reports the diagnostics of the
    // first attempt, in which sizes were missing.
    if (planned || areOthersOf(again, trial))
      trial = std::move(again);
    else
      report.chosen.clear();
  }
  for (ArrayRef<Diagnostic> list : {trial.list(), trial.warnings()})
    for (const Diagnostic &diagnostic : list)
      diagnostics.report(diagnostic);
  if (planned && describe.hasDetails &&
      !collectDetails(*planned, footprint, report.details))
    return false;
  if (planned) {
    CompileOptions chosen = planned->options;
    planned.reset();
    freeTensors(*context);
    if (!describe.against.empty() &&
        !collectErrors(chosen, describe, report, *context, diagnostics))
      return false;
    std::optional<MeasuredTimes> times;
    if (describe.seconds > 0 &&
        !(times =
              measureKernels(chosen, describe.seconds, *context, diagnostics)))
      return false;
    // The planned module contained kernels instead of fusion groups. To report
    // the groups, the model is compiled again up to stage Decide. The options
    // are those of the planned module (--max-ram may have changed them), so
    // that the groups are the same.
    Compilation groups(chosen, *context, diagnostics);
    simplify::WidenedWeights widened;
    if (groups.advance(Stage::Import))
      widened = widenedWeights(groups.module(), chosen);
    if (groups.advance(Stage::Decide))
      addRows(groups.module(), std::move(footprint), report);
    if (times) {
      for (auto [row, time] : llvm::zip(report.rows, times->kernels))
        row.microseconds = time.median * 1000;
      report.measured = times->run;
    }
    // The types belong to the context, which the report outlives, so the report
    // contains their names.
    report.quantized = {widened.bytes, widened.storedBytes,
                        storedTypes(widened)};
    if (auto compiler = findMeasuringCompiler(compile); !compiler)
      report.unmeasured = llvm::toString(compiler.takeError());
  }
  if (report.isPlanned)
    checkBudget(compile, report.footprint, *context, diagnostics);
  report.diagnostics = diagnostics.list();
  return true;
}

} // namespace ingot
