// Times the plans (loop parameters) of a fusion group in a separate model: a
// module with copies of the group, one per plan with separate operands, is
// compiled from stage Decide on, built with the target's compiler, and run; the
// trace hook measures each launch (kernel call). Between two runs of a launch,
// as much memory is touched as the caches of a core hold, so that weights come
// from the same cache level as in a network. Launches on a GPU are timed by
// events of the GPU (DeviceTiming.cpp).

#include "compiler/measure/TunePlans.h"

#include "codegen/files/OutputFiles.h"
#include "codegen/objects/TemporaryFolder.h"
#include "compiler/Faults.h"
#include "compiler/import/TensorData.h"
#include "compiler/measure/DeviceTiming.h"
#include "compiler/measure/PlanCache.h"
#include "compiler/report/Progress.h"
#include "compiler/run/DataSets.h"
#include "compiler/run/HostModel.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/lower/DescribeGroup.h"
#include "passes/schedule/Strategy.h"
#include "targets/ProgramForm.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <chrono>

using namespace mlir;

namespace ingot {
namespace {

/// Returns a module whose @main consists of copies of the group, one for each
/// plan (set of loop parameters). Each copy has separate tensors and weights
/// packed for its plan.
OwningOpRef<ModuleOp> isolate(graph::GroupOp group,
                              ArrayRef<DictionaryAttr> plans,
                              const TargetDescription &target) {
  Location unknown = UnknownLoc::get(group.getContext());
  auto from = group->getParentOfType<ModuleOp>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(unknown);
  for (StringRef name : {kernel::kStrictAttr, kernel::kTargetAttr})
    if (Attribute value = from->getAttr(name))
      (*module)->setAttr(name, value);
  auto builder = OpBuilder::atBlockEnd(module->getBody());
  auto main = func::FuncOp::create(builder, unknown, "main",
                                   builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(main.addEntryBlock());
  SmallVector<Value> returned;
  for (DictionaryAttr plan : plans) {
    // Packs weights in the original module, where they are known to be
    // constants.
    auto packed = cast<graph::GroupOp>(OpBuilder(group).clone(*group));
    packed.removePlanAttr();
    if (plan) {
      packed.setPlanAttr(plan);
      schedule::lookupStrategy(group.getStrategy())
          ->pack({packed, target}, schedule::Plan(plan));
    }
    auto alone = cast<graph::GroupOp>(builder.clone(*packed));
    for (OpOperand &operand : alone->getOpOperands())
      operand.set(main.getBody().addArgument(operand.get().getType(), unknown));
    alone.removeInputStridesAttr();
    alone.removeOutputStridesAttr();
    alone->walk([&](Operation *op) { op->setLoc(unknown); });
    llvm::append_range(returned, alone.getResults());
    SmallVector<Value> operands(packed.getOperands());
    packed.erase();
    for (Value operand : operands)
      for (Operation *made = operand.getDefiningOp();
           made && made->use_empty() &&
           isa<graph::PackPanelsOp, graph::SampleKernelOp, graph::ConcatOp>(
               made);) {
        Operation *from = made->getOperand(0).getDefiningOp();
        made->erase();
        made = from;
      }
  }
  func::ReturnOp::create(builder, unknown, returned);
  main.setFunctionType(builder.getFunctionType(
      main.getBody().getArgumentTypes(), ValueRange(returned).getTypes()));
  return module;
}

std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  return text;
}

/// The compilation of a module with copies of a group, one for each plan (set
/// of loop parameters).
struct GroupModel {
  /// Writes `module` to a temporary file and sets `compilation`. On failure
  /// reports diagnostics and leaves `compilation` empty.
  GroupModel(ModuleOp module, const CompileOptions &from,
             Diagnostics &diagnostics) {
    auto made = TemporaryFolder::create();
    if (!made) {
      reportFault(made.takeError(), diagnostics);
      return;
    }
    folder.emplace(std::move(*made));
    CompileOptions options;
    options.model = folder->file("group.mlir");
    options.startFrom = Stage::Decide;
    options.target = from.target;
    options.trace = !programForm(*from.target).timesLaunches;
    options.compiler = options.trace ? "" : from.compiler;
    options.name = "group";
    if (llvm::Error error =
            writeFile(options.model,
                      [&](llvm::raw_ostream &os) { os << textOf(module); })) {
      reportFault(std::move(error), diagnostics);
      return;
    }
    compilation.emplace(options, *module.getContext(), diagnostics);
  }

  std::optional<TemporaryFolder> folder;
  std::optional<Compilation> compilation;
};

/// Each kernel call of `module` belongs to the copy of the group for one of
/// `plans` plans (sets of loop parameters). Returns the index of the plan for
/// each call.
std::vector<size_t> plansOfLaunches(ModuleOp module, size_t plans) {
  kernel::ProgramOp main;
  module.walk([&](kernel::ProgramOp program) {
    if (program.isPublic())
      main = program;
  });
  size_t inputs = 0, results = 0;
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    ++(main.getArgAttr(i, kernel::kOutputAttr) ? results : inputs);
  std::vector<size_t> planOf;
  module.walk([&](kernel::LaunchOp launch) {
    for (Value operand : launch.getOperands())
      if (auto argument = dyn_cast<BlockArgument>(operand);
          argument && argument.getArgNumber() >= inputs) {
        planOf.push_back((argument.getArgNumber() - inputs) /
                         (results / plans));
        break;
      }
  });
  return planOf;
}

/// The compiled code of copies of a group, one for each plan (set of loop
/// parameters), and tensors to run it on.
class PlanTiming {
public:
  /// Compiles `module`, which has a copy of a group for each of `plans` plans;
  /// null with diagnostics on failure.
  static std::unique_ptr<PlanTiming> build(ModuleOp module, size_t plans,
                                           const CompileOptions &from,
                                           Diagnostics &diagnostics) {
    GroupModel group(module, from, diagnostics);
    auto timing = std::make_unique<PlanTiming>();
    if (group.compilation)
      timing->model = HostModel::build(*group.compilation, {"-O2"});
    if (!timing->model)
      return nullptr;
    timing->times.resize(plans);
    timing->planOf = plansOfLaunches(group.compilation->module(), plans);
    timing->makeData(from.target->l2Bytes);
    return timing;
  }

  /// Runs the copies of the group; returns the median microseconds for each
  /// plan, or nothing, with diagnostics, on failure.
  std::vector<double> run(Diagnostics &diagnostics) {
    ingot_context hooks{};
    hooks.trace = trace;
    hooks.trace_user = this;
    constexpr size_t leastRuns = 9;
    constexpr double leastSeconds = 0.1;
    auto begin = Clock::now();
    for (size_t run = 0; run < leastRuns || secondsSince(begin) < leastSeconds;
         ++run) {
      if (ingot_status status =
              model->run(pointers[run % pointers.size()], &hooks)) {
        diagnostics.report(DiagnosticId::Internal,
                           "a kernel group failed while it was timed: " +
                               statusText(status));
        return {};
      }
      // Drops the times of the first run, which include page faults.
      if (run == 0)
        for (std::vector<double> &list : times)
          list.clear();
    }
    std::vector<double> medians;
    for (std::vector<double> &list : times) {
      auto middle = list.begin() + list.size() / 2;
      std::nth_element(list.begin(), middle, list.end());
      medians.push_back(1e6 * *middle);
    }
    return medians;
  }

private:
  using Clock = std::chrono::steady_clock;
  static double secondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  static void trace(void *user, int32_t launch, int32_t finished) {
    auto &timing = *static_cast<PlanTiming *>(user);
    if (finished)
      timing.times[timing.planOf[launch]].push_back(secondsSince(timing.start));
    else
      timing.start = Clock::now();
  }

  void makeData(int64_t cacheBytes) {
    int64_t size = 1;
    for (auto types : {model->inputTypes(), model->outputTypes()})
      for (RankedTensorType type : types)
        size += type.getNumElements() * elementBytes(type.getElementType());
    // Makes copies of the tensors, more than the caches of a core can hold.
    constexpr int64_t times = 2, mostCopies = 64;
    int64_t copies =
        std::clamp<int64_t>(times * cacheBytes / size + 1, 1, mostCopies);
    for (int64_t i = 0; i < copies; ++i) {
      std::vector<Tensor> &tensors = data.emplace_back();
      for (auto types : {model->inputTypes(), model->outputTypes()})
        for (RankedTensorType type : types)
          fillWithNumbers(tensors.emplace_back(Tensor{type, {}}),
                          tensors.size());
      SmallVector<void *, 0> &io = pointers.emplace_back();
      for (Tensor &tensor : tensors)
        io.push_back(tensor.bytes.data());
    }
  }

  std::unique_ptr<HostModel> model;
  std::vector<std::vector<Tensor>> data;
  std::vector<SmallVector<void *, 0>> pointers;
  /// For each kernel call, the index of the plan (set of loop parameters) that
  /// it tests; and for each plan, the seconds of each run.
  std::vector<size_t> planOf;
  std::vector<std::vector<double>> times;
  Clock::time_point start;
};

class Tuner {
public:
  Tuner(const CompileOptions &options, PlanCache &cache,
        Diagnostics &diagnostics)
      : options(options), target(*options.target), cache(cache),
        diagnostics(diagnostics) {}

  /// Sets the plan (loop parameters) of a group from the cache of fastest
  /// plans, after timing its plans if the cache has no entry for the group.
  /// `progress` is text such as "3 of 12".
  bool tune(graph::GroupOp group, const std::string &progress) {
    std::vector<DictionaryAttr> plans = plansWorthTiming(group);
    std::string key = llvm::utohexstr(
        llvm::xxh3_64bits(textOf(*isolate(group, {DictionaryAttr()}, target))),
        true);
    const PlanCache::Entry *entry = cache.find(target.name, key);
    if (!entry && plans.size() > 1) {
      if (!checkWritable(options.tune, diagnostics))
        return false;
      Progress line("timing plans of group " + progress + ", " +
                    lower::describe(group));
      entry = findFastest(group, plans, key);
      if (!entry)
        return false;
    }
    return !entry || apply(*entry, group);
  }

private:
  std::vector<DictionaryAttr> plansWorthTiming(graph::GroupOp group) {
    // Plans (sets of loop parameters) whose estimated cost is much higher than
    // that of the first plan are not timed. If costs are unknown, as on a GPU,
    // the preferred plans come first, and only these are timed.
    constexpr double mostOverEstimate = 1.5;
    constexpr size_t mostUnknown = 8;
    schedule::GroupOnTarget view(group, target);
    const schedule::Strategy &strategy =
        *schedule::lookupStrategy(group.getStrategy());
    std::vector<DictionaryAttr> plans;
    double first = 0;
    for (const schedule::Plan &plan : strategy.plans(view)) {
      double cost = strategy.cost(view, plan);
      if (plans.empty())
        first = cost;
      if (cost <= first * mostOverEstimate &&
          (first > 0 || plans.size() < mostUnknown))
        plans.push_back(plan.attribute());
    }
    return plans;
  }

  /// Compiles and times a module with copies of a group, one for each plan;
  /// returns the microseconds of each plan, or nothing, with diagnostics, on
  /// failure.
  std::vector<double> timing(ModuleOp module, size_t plans) {
    if (programForm(target).timesLaunches) {
      GroupModel model(module, options, diagnostics);
      std::vector<double> launches = model.compilation
                                         ? timeLaunches(*model.compilation)
                                         : std::vector<double>();
      std::vector<double> times(launches.empty() ? 0 : plans);
      if (!times.empty())
        for (auto [launch, plan] : llvm::zip(
                 launches, plansOfLaunches(model.compilation->module(), plans)))
          times[plan] += launch;
      return times;
    }
    std::unique_ptr<PlanTiming> timing =
        PlanTiming::build(module, plans, options, diagnostics);
    return timing ? timing->run(diagnostics) : std::vector<double>();
  }

  const PlanCache::Entry *findFastest(graph::GroupOp group,
                                      ArrayRef<DictionaryAttr> plans,
                                      const std::string &key) {
    OwningOpRef<ModuleOp> module = isolate(group, plans, target);
    std::vector<double> times = timing(*module, plans.size());
    if (times.empty())
      return nullptr;
    // The first plan, the loop parameters that are used without tuning, is kept
    // unless another plan is clearly faster.
    constexpr double clearly = 0.98;
    size_t best = 0;
    for (size_t i = 1; i < plans.size(); ++i)
      if (times[i] < times[best] && times[i] < times[0] * clearly)
        best = i;
    const PlanCache::Entry &added =
        cache.add({target.name.str(), key, lower::describe(group), times[best],
                   planAsJson(plans[best])});
    // Writes the file after each group, so that the fastest loop parameters
    // (plans) found so far survive an interruption.
    return cache.write(options.tune, diagnostics) ? &added : nullptr;
  }

  bool apply(const PlanCache::Entry &entry, graph::GroupOp group) {
    DictionaryAttr plan = planOfJson(entry.plan, *group.getContext());
    std::string why =
        schedule::refusal({group, target}, group.getStrategy(), plan);
    if (!why.empty()) {
      diagnostics.report(DiagnosticId::CannotRead,
                         "the plan in `" + printable(options.tune) +
                             "` for the target `" + target.name +
                             "` and the key `" + entry.key +
                             "` cannot be used: " + printable(why, 400),
                         "the plan belongs to " + lower::describe(group));
      return false;
    }
    group.setPlanAttr(plan);
    return true;
  }

  const CompileOptions &options;
  const TargetDescription &target;
  PlanCache &cache;
  Diagnostics &diagnostics;
};

} // namespace

bool tunePlans(ModuleOp module, const CompileOptions &options,
               Diagnostics &diagnostics) {
  std::optional<PlanCache> cache = PlanCache::read(options.tune, diagnostics);
  if (!cache)
    return false;
  SmallVector<graph::GroupOp> groups;
  module.walk([&](graph::GroupOp group) {
    if (group.getPlan())
      groups.push_back(group);
  });
  Tuner tuner(options, *cache, diagnostics);
  for (auto [i, group] : llvm::enumerate(groups))
    if (!tuner.tune(group, std::to_string(i + 1) + " of " +
                               std::to_string(groups.size())))
      return false;
  return true;
}

} // namespace ingot
