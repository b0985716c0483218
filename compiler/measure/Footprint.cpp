#include "compiler/measure/Footprint.h"

#include "compiler/measure/DeviceRegisters.h"

#include "codegen/files/NodeNames.h"
#include "codegen/kernel/Names.h"
#include "codegen/objects/TemporaryFolder.h"
#include "codegen/objects/Toolchain.h"
#include "compiler/Faults.h"
#include "compiler/report/Progress.h"
#include "dialects/kernel/KernelModule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "targets/ModuleForm.h"
#include "targets/ProgramForm.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace ingot {

/// Lists at most `most` of the ONNX nodes that a location names.
static std::string listNodes(Location location, size_t most) {
  std::string text;
  for (auto [i, name] : llvm::enumerate(nodesOf(location))) {
    if (i == most) {
      text += ", ...";
      break;
    }
    text += (i ? ", " : "") + printable(name, 60);
  }
  return text;
}

/// Returns the parts of the footprint that are known after stage Plan, before
/// C++ is written: the bytes of weights, of the arena (the buffer of
/// intermediate tensors) and of state kept between runs.
static Footprint planFootprint(Compilation &compilation) {
  Footprint footprint;
  ModuleOp module = compilation.module();
  for (kernel::ProgramOp entry : kernel::entryPrograms(module)) {
    footprint.arena =
        std::max<int64_t>(footprint.arena, entry.getArenaBytes().value_or(0));
    footprint.arenaLowerBound = std::max<int64_t>(
        footprint.arenaLowerBound, entry.getArenaLowerBound().value_or(0));
    footprint.second =
        std::max<int64_t>(footprint.second, entry.getSecondBytes().value_or(0));
    if (auto macs =
            entry->getAttrOfType<IntegerAttr>(kernel::kMacsRecomputedAttr))
      footprint.macsRecomputed += macs.getInt();
  }
  if (auto bytes = module->getAttrOfType<IntegerAttr>(kernel::kStateBytesAttr))
    footprint.state = bytes.getInt();
  // The arena is the buffer of intermediate tensors. For each kernel call, the
  // bytes of the arena that are in use during the call.
  llvm::DenseMap<Operation *, int64_t> alive;
  module.walk([&](kernel::ProgramOp program) {
    ArrayRef<int64_t> use = program.getArenaUse().value_or(ArrayRef<int64_t>());
    program.walk([&](kernel::LaunchOp launch) {
      if (!use.empty())
        alive[launch] = use.consume_front();
    });
  });
  module.walk([&](Operation *op) {
    auto loop = dyn_cast<kernel::LoopOp>(op);
    footprint.decisions += isa<kernel::IfOp, kernel::ReadSizesOp>(op) ||
                           (loop && (loop.getLimit() || loop.getCondition() ||
                                     loop.getConditional()));
  });
  SymbolTable symbols(module);
  llvm::DenseSet<Operation *> counted;
  auto weightsOf = [&](memref::GetGlobalOp get) -> int64_t {
    auto global = symbols.lookup<memref::GlobalOp>(get.getName());
    return counted.insert(global).second ? kernel::spanBytes(global.getType())
                                         : 0;
  };
  module.walk([&](kernel::LaunchOp launch) {
    auto kernel = symbols.lookup<kernel::FuncOp>(launch.getCallee());
    Footprint::Launch row{launch.getLoc(), launch.getCallee().str(), ""};
    row.strategy = kernel.getStrategy().value_or("").str();
    row.isFirst = counted.insert(kernel).second;
    row.device = schedule::DeviceWork::of(kernel);
    row.onHost = programForm(*compilation.options.target).hasHandle &&
                 launch.getSecondMemory();
    if (row.device.threads)
      row.device.registers =
          estimateRegisters(kernel, compilation.options.target->device);
    row.fork = launch.getFork();
    row.branch = launch.getBranch();
    for (Value operand : launch.getOperands()) {
      while (auto view = operand.getDefiningOp<kernel::ViewOp>())
        operand = view.getSource();
      if (auto get = operand.getDefiningOp<memref::GetGlobalOp>())
        row.weights += weightsOf(get);
    }
    kernel.walk(
        [&](memref::GetGlobalOp get) { row.weights += weightsOf(get); });
    row.arena = alive.lookup(launch);
    footprint.weights += row.weights;
    footprint.kernels += row.isFirst;
    footprint.launches.push_back(std::move(row));
  });
  return footprint;
}

llvm::Expected<std::vector<std::string>>
findMeasuringCompiler(const CompileOptions &options) {
  if (!programForm(*options.target).measuresObjects)
    return llvm::make_error<MissingProgram>(
        "the sizes of GPU kernels are reported by the compiler of the GPU");
  if (const ModuleForm *form = moduleForm(*options.target))
    return llvm::make_error<MissingProgram>(
        "objects of this target are not measured; the header of a " +
        form->extension.str() + " file states its sizes");
  return findCompiler(withCompiler(*options.target, options.compiler));
}

/// An upper bound, in bytes, of the stack of a model: no function uses more
/// than 4 KB itself, and few functions call others.
static constexpr int64_t mostStack = 16 << 10;

/// Compiles the generated C++ and reads its sizes into `footprint`; false with
/// diagnostics on failure.
static bool measure(Compilation &compilation, Footprint &footprint) {
  const CompileOptions &options = compilation.options;
  Diagnostics &diagnostics = compilation.getDiagnostics();
  auto fail = [&](llvm::Error error) {
    reportFault(std::move(error), diagnostics, "the C++ could not be measured",
                options.compiler);
    return false;
  };
  auto folder = TemporaryFolder::create();
  if (!folder)
    return fail(folder.takeError());
  std::string source = folder->file("model.cpp"),
              weights = folder->file("model.weights.o");
  if (!compilation.emit(source))
    return false;
  Progress progress("compiling the C++ for its sizes");
  std::vector<std::string> objects;
  if (llvm::sys::fs::exists(weights))
    objects.push_back(weights);
  TargetDescription target = withCompiler(*options.target, options.compiler);
  std::string object = folder->file("model.o");
  if (auto error = compileSource(target, source, object, measuringFlags()))
    return fail(std::move(error));
  objects.insert(objects.begin(), object);
  auto sizes =
      measureObjects(target, objects, folder->file("model.su"), folder->path());
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
  bool isMeasured = false;
  auto measureBest = [&] {
    if (!isMeasured && canMeasure && !measure(*best, footprint))
      best.reset();
    isMeasured = true;
  };
  for (int plansLeft = 4;; --plansLeft) {
    auto compilation =
        std::make_unique<Compilation>(given, context, diagnostics);
    if (!compilation->advance(Stage::Plan))
      return nullptr;
    Footprint plan = planFootprint(*compilation);
    if (!best || plan.arena < footprint.arena) {
      best = std::move(compilation);
      footprint = std::move(plan);
      isMeasured = false;
    }
    // Compiling the C++ takes longer than planning the memory. If the RAM
    // without the stack exceeds maxRam by more than any stack needs, the sizes
    // are measured only if no later plan is better.
    bool isFar = given.maxRam && footprint.ram() > *given.maxRam + mostStack;
    if (!isFar)
      measureBest();
    if (!best)
      return nullptr;
    int64_t limit = given.maxRam.value_or(footprint.ram());
    if (footprint.ram() <= limit)
      return best;
    if (given.reservedRam >= limit || plansLeft == 0) {
      if (given.savesMemory) {
        measureBest();
        return best;
      }
      // Tries kernels without optional scratch memory, which are slower.
      given.savesMemory = true;
      given.reservedRam = options.reservedRam;
      plansLeft = 5;
      continue;
    }
    // Plans the memory again with fewer bytes for the arena (intermediate
    // tensors). The footprint exceeds maxRam because of the stack, which is
    // known only now, or of gaps in the arena, which cannot be predicted.
    given.reservedRam +=
        given.reservedRam ? limit / 16 : footprint.ram() - limit;
  }
}

namespace {

/// The kernel calls for the same set of ONNX nodes, for example the calls that
/// compute a chain of operators a few rows at a time.
struct NodeCalls {
  std::string nodes;
  llvm::SetVector<StringRef> kernels;
  int64_t calls = 0, weights = 0, code = 0, arena = 0, stack = 0;
  /// The number of other sets of ONNX nodes with the same kernels and sizes.
  int64_t others = 0;
};

} // namespace

/// Returns the kernel calls grouped by ONNX nodes. The flash bytes of the calls
/// in a group are added. The bytes in the arena (intermediate tensors) and on
/// the stack are those of the call with the largest sum of both, since the
/// calls run one after the other.
static std::vector<NodeCalls> callsByNodes(const Footprint &footprint) {
  std::vector<NodeCalls> rows;
  llvm::StringMap<size_t> places;
  for (const Footprint::Launch &launch : footprint.launches) {
    auto [place, isNew] =
        places.try_emplace(listNodes(launch.location, SIZE_MAX), rows.size());
    if (isNew)
      rows.emplace_back();
    NodeCalls &row = rows[place->second];
    row.nodes = listNodes(launch.location, 3);
    row.kernels.insert(launch.kernel);
    ++row.calls;
    row.weights += launch.weights;
    row.code += launch.code;
    if (launch.arena + launch.stack > row.arena + row.stack) {
      row.arena = launch.arena;
      row.stack = launch.stack;
    }
  }
  return rows;
}

/// Lists the five largest entries such as "weights 10240 + code 312:
/// matmul_1x10 (Times212)", largest first; equal entries are listed once.
static std::string heaviest(const Footprint &footprint, StringRef what,
                            int64_t NodeCalls::*first, StringRef other,
                            int64_t NodeCalls::*second) {
  std::vector<NodeCalls> all = callsByNodes(footprint), rows;
  llvm::stable_sort(all, [&](const auto &a, const auto &b) {
    return a.*first + a.*second > b.*first + b.*second;
  });
  for (NodeCalls &row : all) {
    auto same = llvm::find_if(rows, [&](const NodeCalls &listed) {
      return listed.kernels == row.kernels && listed.*first == row.*first &&
             listed.*second == row.*second;
    });
    if (same != rows.end())
      ++same->others;
    else
      rows.push_back(std::move(row));
  }
  std::string text;
  for (const NodeCalls &row : llvm::ArrayRef(rows).take_front(5)) {
    if (!text.empty())
      text += "\n      ";
    text += (what + " " + Twine(row.*first) + " + " + other + " " +
             Twine(row.*second) + ": " + row.kernels.front() + " (" +
             row.nodes + ")")
                .str();
    if (row.calls > 1)
      text += ", " + std::to_string(row.calls) + " calls";
    if (row.kernels.size() > 1)
      text += " of " + std::to_string(row.kernels.size()) + " kernels";
    if (row.others)
      text += ", and " + std::to_string(row.others) + " more like it";
  }
  return text;
}

/// Returns the measured footprint of the model for `options`; nothing if the
/// model does not compile or its code and stack were not measured.
static std::optional<Footprint> tryOptions(const CompileOptions &options,
                                           MLIRContext &context) {
  Diagnostics ignored;
  Footprint footprint;
  if (!planAndMeasure(options, context, footprint, ignored) ||
      !footprint.object)
    return std::nullopt;
  return footprint;
}

/// Returns a hint: that the constants alone exceed the limit of flash or, if
/// they do not, how many bytes --optimize=size would save. Empty if the option
/// would save none or was given.
static std::string flashHint(const CompileOptions &options,
                             const Footprint &footprint, MLIRContext &context) {
  int64_t constants = footprint.flash() - footprint.object->code;
  if (constants > *options.maxFlash)
    return ("the constants alone need " + Twine(constants) + " bytes").str();
  if (options.target->smallestCode)
    return "";
  CompileOptions smaller = options;
  smaller.target = withSuffix(*options.target, smallSuffix);
  std::optional<Footprint> small = tryOptions(smaller, context);
  if (!small || small->flash() >= footprint.flash())
    return "";
  return ("with --optimize=size it needs " + Twine(small->flash()) +
          " bytes of flash, " + Twine(footprint.flash() - small->flash()) +
          " fewer")
      .str();
}

/// Returns a hint with the RAM bytes of the smallest memory plan that was
/// found.
static std::string ramHint(const Footprint &footprint) {
  std::string parts = "arena " + std::to_string(footprint.arena) + " + stack " +
                      std::to_string(footprint.stack);
  if (footprint.state > 0)
    parts += " + state " + std::to_string(footprint.state);
  if (footprint.macsRecomputed > 0)
    parts +=
        "; recomputes " + std::to_string(footprint.macsRecomputed) + " MACs";
  return ("the smallest plan found needs " + Twine(footprint.ram()) +
          " bytes (" + parts + "): try --max-ram " + Twine(footprint.ram()))
      .str();
}

bool checkBudget(const CompileOptions &options, const Footprint &footprint,
                 MLIRContext &context, Diagnostics &diagnostics) {
  if (!options.maxFlash && !options.maxRam)
    return true;
  if (!footprint.object) {
    diagnostics.report(
        DiagnosticId::BadOption,
        "--max-flash and --max-ram need a compiler that measures sizes: " +
            llvm::toString(findMeasuringCompiler(options).takeError()),
        "install one, or name another with --cxx");
    return false;
  }
  auto check = [&](StringRef memory, StringRef option, int64_t taken,
                   std::optional<int64_t> limit, auto details, auto hint) {
    if (!limit || taken <= *limit)
      return true;
    Diagnostic diagnostic;
    diagnostic.id = DiagnosticId::OverBudget;
    diagnostic.message =
        ("the model needs " + Twine(taken) + " bytes of " + memory + ", " +
         Twine(taken - *limit) + " more than " + option + " " + Twine(*limit))
            .str();
    diagnostic.file = options.model;
    diagnostic.operands = details();
    if (std::string text = hint(); !text.empty())
      diagnostic.hints.push_back(std::move(text));
    diagnostics.report(std::move(diagnostic));
    return false;
  };
  bool fits = check(
      "flash", "--max-flash", footprint.flash(), options.maxFlash,
      [&] {
        return heaviest(footprint, "weights", &NodeCalls::weights, "code",
                        &NodeCalls::code);
      },
      [&] { return flashHint(options, footprint, context); });
  return check(
             "RAM", "--max-ram", footprint.ram(), options.maxRam,
             [&] {
               return heaviest(footprint, "arena", &NodeCalls::arena, "stack",
                               &NodeCalls::stack);
             },
             [&] { return ramHint(footprint); }) &&
         fits;
}

} // namespace ingot
