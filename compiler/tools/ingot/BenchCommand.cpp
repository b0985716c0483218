//===- BenchCommand.cpp - ingot bench MODEL -------------------------------===//
//
// Milliseconds of each run, one number a line, so that other programs can time
// it beside theirs; on a terminal a summary instead.
//
//===----------------------------------------------------------------------===//

#include "compiler/HostModel.h"
#include "compiler/import/TensorData.h"
#include "compiler/report/Progress.h"
#include "compiler/tools/ingot/Commands.h"
#include "runtime_support/ingot_thread_pool.h"
#include "llvm/Support/Format.h"

#include <chrono>

using namespace mlir;

namespace ingot {

using Clock = std::chrono::steady_clock;

static double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

/// Numbers between 0 and 1 (small integers, false and true), the same at each
/// run: no denormals or NaN that would slow a network down.
static void fill(Tensor &tensor, uint64_t seed) {
  Type element = tensor.type.getElementType();
  unsigned size = elementBytes(element);
  tensor.bytes.resize(tensor.elements() * size);
  uint64_t state = seed * 0x9e3779b97f4a7c15 + 1;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    double unit = double(state >> 40) / double(1 << 24);
    uint64_t bits = unit < 0.5;
    if (auto floating = dyn_cast<FloatType>(element)) {
      llvm::APFloat value(unit);
      bool losesInfo;
      value.convert(floating.getFloatSemantics(),
                    llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      bits = value.bitcastToAPInt().getZExtValue();
    }
    std::memcpy(tensor.bytes.data() + i * size, &bits, size);
  }
}

namespace {
/// Sums up the time of each kernel by way of the trace hook.
struct KernelTimes {
  std::vector<double> total;
  Clock::time_point start;
  static void trace(void *user, int32_t kernel, int32_t finished) {
    auto &times = *static_cast<KernelTimes *>(user);
    if (!finished) {
      times.start = Clock::now();
      return;
    }
    if (times.total.size() <= size_t(kernel))
      times.total.resize(kernel + 1);
    times.total[kernel] += millisecondsSince(times.start);
  }
};
} // namespace

/// The names of the kernels, in the order of the run.
static std::vector<std::string> launchNames(ModuleOp module) {
  std::vector<std::string> names;
  module.walk([&](Operation *op) {
    if (op->getName().getStringRef() != "kernel.launch")
      return;
    auto callee = op->getAttrOfType<FlatSymbolRefAttr>("callee");
    std::string text = callee.getValue().str();
    if (Operation *function = module.lookupSymbol(callee))
      if (auto comment = function->getAttrOfType<StringAttr>("kernel.comment"))
        text += "  " + StringRef(comment.getValue()).split('\n').first.str();
    names.push_back(text);
  });
  return names;
}

static void printSummary(std::vector<double> times) {
  llvm::sort(times);
  auto at = [&](double part) {
    return times[size_t(part * (times.size() - 1))];
  };
  llvm::outs() << llvm::format(
      "%.4f ms (median of %zu runs; fastest %.4f, 90%% below %.4f)\n", at(0.5),
      times.size(), at(0), at(0.9));
}

static void printKernels(const KernelTimes &kernels,
                         ArrayRef<std::string> names, size_t runs) {
  double sum = 0;
  for (double time : kernels.total)
    sum += time;
  for (auto [i, time] : llvm::enumerate(kernels.total))
    llvm::outs() << llvm::format("%9.4f ms %5.1f%%  ", time / runs,
                                 100 * time / sum)
                 << (i < names.size() ? names[i] : std::to_string(i)) << "\n";
}

int benchCommand(Arguments &arguments, Diagnostics &diagnostics) {
  if (arguments.positional.size() != 1 || arguments.threads == 0 ||
      !(arguments.seconds > 0)) {
    diagnostics.report(
        DiagnosticId::BadOption,
        "`ingot bench` takes one model, at least one thread and a time");
    return InvalidInput;
  }
  if (arguments.perGroup &&
      !requireOneTarget(arguments, "--per-group", diagnostics))
    return InvalidInput;
  arguments.compile.model = arguments.positional[0];
  arguments.compile.trace = arguments.perGroup;
  auto context = makeContext();
  Compilation compilation(arguments.compile, *context, diagnostics);
  std::unique_ptr<HostModel> model = HostModel::build(compilation, {"-O2"});
  if (!model)
    return diagnostics.exitCode();

  std::vector<Tensor> tensors;
  for (auto types : {model->inputTypes(), model->outputTypes()})
    for (RankedTensorType type : types)
      fill(tensors.emplace_back(Tensor{type, {}}), tensors.size());
  for (const HostModel::Bound &bound : model->bound)
    tensors[bound.input].bytes = bound.bytes;
  std::vector<void *> io;
  io.reserve(tensors.size());
  for (Tensor &tensor : tensors)
    io.push_back(tensor.bytes.data());

  ThreadPool pool(arguments.threads);
  KernelTimes kernels;
  ingot_context hooks =
      arguments.threads > 1 ? pool.context() : ingot_context{};
  for (int warmUp = 0; warmUp < 2; ++warmUp)
    if (ingot_status status = model->run(io, &hooks)) {
      diagnostics.report(DiagnosticId::Internal,
                         "the compiled model failed: " + statusText(status));
      return diagnostics.exitCode();
    }
  hooks.trace = arguments.perGroup ? KernelTimes::trace : nullptr;
  hooks.trace_user = &kernels;

  std::vector<double> times;
  bool summary = llvm::outs().is_displayed() || arguments.perGroup;
  for (auto start = Clock::now();
       times.empty() || millisecondsSince(start) < arguments.seconds * 1000;) {
    auto begin = Clock::now();
    model->run(io, &hooks);
    times.push_back(millisecondsSince(begin));
  }
  if (arguments.perGroup)
    printKernels(kernels, launchNames(compilation.module()), times.size());
  if (summary)
    printSummary(times);
  else
    for (double time : times)
      llvm::outs() << llvm::format("%.6f\n", time);
  return Success;
}

} // namespace ingot
