//===- Footprint.cpp ------------------------------------------------------===//

#include "compiler/Footprint.h"

#include "codegen/Names.h"
#include "codegen/Toolchain.h"
#include "compiler/BuiltModel.h"
#include "compiler/report/Progress.h"
#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace ingot {

/// The ONNX nodes that a location names.
static std::string nodesOf(Location location) {
  llvm::SetVector<StringRef> names;
  location->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part))
      names.insert(name.getName().getValue());
    return WalkResult::advance();
  });
  std::string text;
  for (auto [i, name] : llvm::enumerate(names)) {
    if (i == 3) {
      text += ", ...";
      break;
    }
    text += (i ? ", " : "") + printable(name, 60);
  }
  return text;
}

static int64_t integerAttr(ModuleOp module, StringRef name) {
  auto attr = module->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getInt() : 0;
}

/// What the plan says; the compilation is at its end and not written.
static Footprint planFootprint(Compilation &compilation) {
  Footprint footprint;
  ModuleOp module = compilation.module();
  footprint.arena = integerAttr(module, "ingot.arena_bytes");
  footprint.arenaLowerBound = integerAttr(module, "ingot.arena_lower_bound");
  footprint.macsRecomputed = integerAttr(module, "ingot.macs_recomputed");
  auto use = module->getAttrOfType<DenseI64ArrayAttr>("ingot.arena_use");
  SymbolTable symbols(module);
  llvm::DenseSet<Operation *> counted;
  auto weightsOf = [&](memref::GetGlobalOp get) -> int64_t {
    auto global = symbols.lookup<memref::GlobalOp>(get.getName());
    return counted.insert(global).second ? kernel::spanBytes(global.getType())
                                         : 0;
  };
  module.walk([&](kernel::LaunchOp launch) {
    auto kernel = symbols.lookup<func::FuncOp>(launch.getCallee());
    Footprint::Launch row{launch.getLoc(), launch.getCallee().str(), ""};
    if (auto strategy = kernel->getAttrOfType<StringAttr>("kernel.strategy"))
      row.strategy = strategy.str();
    row.isFirst = counted.insert(kernel).second;
    for (Value operand : launch.getOperands()) {
      while (auto view = operand.getDefiningOp<kernel::ViewOp>())
        operand = view.getSource();
      if (auto get = operand.getDefiningOp<memref::GetGlobalOp>())
        row.weights += weightsOf(get);
    }
    kernel.walk(
        [&](memref::GetGlobalOp get) { row.weights += weightsOf(get); });
    if (use && footprint.launches.size() < size_t(use.size()))
      row.arena = use[footprint.launches.size()];
    footprint.weights += row.weights;
    footprint.kernels += row.isFirst;
    footprint.launches.push_back(std::move(row));
  });
  return footprint;
}

/// The target as it is measured.
static TargetDescription measuredTarget(const CompileOptions &options) {
  TargetDescription target = *options.target;
  if (!options.measureWith.empty())
    target.compilers = {options.measureWith};
  return target;
}

llvm::Expected<std::vector<std::string>>
findMeasuringCompiler(const CompileOptions &options) {
  return findCompiler(measuredTarget(options));
}

/// Compiles what emit() writes.
static bool measure(Compilation &compilation, Footprint &footprint) {
  const CompileOptions &options = compilation.options;
  Diagnostics &diagnostics = compilation.getDiagnostics();
  TemporaryFolder folder;
  std::string source = folder.file("model.cpp"),
              weights = folder.file("model.weights.o");
  if (!folder.valid()) {
    diagnostics.report(DiagnosticId::CannotWrite,
                       "no temporary folder can be made");
    return false;
  }
  if (!compilation.emit(source))
    return false;
  Progress progress("compiling the C++ for its sizes");
  std::vector<std::string> objects;
  if (llvm::sys::fs::exists(weights))
    objects.push_back(weights);
  TargetDescription target = measuredTarget(options);
  std::string object = folder.file("model.o");
  auto fail = [&](llvm::Error error) {
    diagnostics.report(DiagnosticId::Internal,
                       "the C++ could not be measured: " +
                           firstError(llvm::toString(std::move(error))));
    return false;
  };
  if (auto error = compileSource(target, source, object, measuringFlags()))
    return fail(std::move(error));
  objects.insert(objects.begin(), object);
  auto sizes =
      measureObjects(target, objects, folder.file("model.su"), folder.file(""));
  if (!sizes)
    return fail(sizes.takeError());
  footprint.object = std::move(*sizes);
  compilation.options.measured =
      footprint.object->measured(toIdentifier(options.name));
  footprint.stack = compilation.options.measured->stack;
  footprint.variables = footprint.object->data + footprint.object->zeroed;
  if (!options.arenaSection.empty())
    footprint.variables -= std::max<int64_t>(footprint.arena, 1);
  for (Footprint::Launch &row : footprint.launches) {
    ObjectSizes::Function function =
        footprint.object->function(toIdentifier(row.kernel));
    row.code = row.isFirst ? function.code : 0;
    row.stack = function.stack;
  }
  return true;
}

std::unique_ptr<Compilation> planAndMeasure(const CompileOptions &options,
                                            MLIRContext &context,
                                            Footprint &footprint,
                                            Diagnostics &diagnostics) {
  CompileOptions given = options;
  bool canMeasure = true;
  if (auto compiler = findMeasuringCompiler(given); !compiler) {
    llvm::consumeError(compiler.takeError());
    canMeasure = false;
  }
  std::unique_ptr<Compilation> best;
  for (int plansLeft = 4;; --plansLeft) {
    auto compilation =
        std::make_unique<Compilation>(given, context, diagnostics);
    if (!compilation->advance(Stage::Plan))
      return nullptr;
    Footprint plan = planFootprint(*compilation);
    if (!best || plan.arena < footprint.arena) {
      if (canMeasure && !measure(*compilation, plan))
        return nullptr;
      best = std::move(compilation);
      footprint = std::move(plan);
    }
    int64_t limit = given.maxRam.value_or(footprint.ram());
    if (footprint.ram() <= limit || given.reservedRam >= limit ||
        plansLeft == 0)
      return best;
    // Too much by the stack, which is known only now, or by gaps in the arena,
    // which close in no foreseeable way.
    given.reservedRam +=
        given.reservedRam ? limit / 16 : footprint.ram() - limit;
  }
}

/// "  weights 10240 + code 312: matmul_1x10 (Times212)", heaviest first.
static std::string heaviest(const Footprint &footprint, StringRef what,
                            int64_t Footprint::Launch::*first, StringRef other,
                            int64_t Footprint::Launch::*second) {
  std::vector<Footprint::Launch> rows = footprint.launches;
  llvm::stable_sort(rows, [&](const auto &a, const auto &b) {
    return a.*first + a.*second > b.*first + b.*second;
  });
  std::string text;
  for (const Footprint::Launch &row : llvm::ArrayRef(rows).take_front(5)) {
    if (!text.empty())
      text += "\n      ";
    text += (what + " " + Twine(row.*first) + " + " + other + " " +
             Twine(row.*second) + ": " + row.kernel + " (" +
             nodesOf(row.location) + ")")
                .str();
  }
  return text;
}

bool checkBudget(const CompileOptions &options, const Footprint &footprint,
                 Diagnostics &diagnostics) {
  if (!options.maxFlash && !options.maxRam)
    return true;
  if (!footprint.object) {
    diagnostics.report(
        DiagnosticId::BadOption,
        "--max-flash and --max-ram need a compiler for sizes: " +
            llvm::toString(findMeasuringCompiler(options).takeError()),
        "install one, or name another with --cxx");
    return false;
  }
  auto check = [&](StringRef memory, StringRef option, int64_t taken,
                   std::optional<int64_t> limit, auto details) {
    if (!limit || taken <= *limit)
      return true;
    Diagnostic diagnostic;
    diagnostic.id = DiagnosticId::OverBudget;
    diagnostic.message =
        ("the model takes " + Twine(taken) + " bytes of " + memory + ", " +
         Twine(taken - *limit) + " more than " + option + " " + Twine(*limit))
            .str();
    diagnostic.file = options.model;
    diagnostic.operands = details();
    diagnostics.report(std::move(diagnostic));
    return false;
  };
  bool fits =
      check("flash", "--max-flash", footprint.flash(), options.maxFlash, [&] {
        return heaviest(footprint, "weights", &Footprint::Launch::weights,
                        "code", &Footprint::Launch::code);
      });
  return check("RAM", "--max-ram", footprint.ram(), options.maxRam,
               [&] {
                 return heaviest(footprint, "arena", &Footprint::Launch::arena,
                                 "stack", &Footprint::Launch::stack);
               }) &&
         fits;
}

} // namespace ingot
