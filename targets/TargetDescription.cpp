// The list of targets, and queries of a target.

#include "targets/TargetDescription.h"

#include "targets/DepthwiseForms.h"

#include "targets/Cores.h"
#include "targets/DeviceHere.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace mlir;

namespace ingot {

namespace targets {
#define INGOT_TARGET(folder)                                                   \
  void folder(std::vector<TargetDescription> &targets);
#define INGOT_CORES(folder) void folder(std::vector<Core> &cores);
#include "targets/Targets.def"
} // namespace targets

llvm::ArrayRef<TargetDescription> allTargets() {
  static const std::vector<TargetDescription> all = [] {
    std::vector<TargetDescription> list;
#define INGOT_TARGET(folder) targets::folder(list);
#include "targets/Targets.def"
    return list;
  }();
  return all;
}

llvm::ArrayRef<Core> allCores() {
  static const std::vector<Core> all = [] {
    std::vector<Core> list;
#define INGOT_CORES(folder) targets::folder(list);
#include "targets/Targets.def"
    return list;
  }();
  return all;
}

bool canShareOutput(const TargetDescription &a, const TargetDescription &b) {
  return !a.selectCondition.empty() && !b.selectCondition.empty() &&
         a.sourceExtension == b.sourceExtension &&
         (a.family.empty() || b.family.empty() || a.family == b.family);
}

/// Applies a suffix of a target's name to its description. Returns whether the
/// suffix exists.
static bool applySuffix(TargetDescription &target, StringRef suffix) {
  if (suffix == smallSuffix) {
    target.smallCode = target.smallestCode = true;
    target.compilerFlags.push_back("-Os");
    return true;
  }
  if (suffix == oneThreadSuffix) {
    target.hasThreads = false;
    return true;
  }
  for (const Core &core : allCores()) {
    if (core.name != suffix || core.family != target.family)
      continue;
    target.rates = core.rates;
    target.l1Bytes = core.l1Bytes;
    target.l2Bytes = core.l2Bytes;
    return true;
  }
  return false;
}

const TargetDescription *withSuffix(const TargetDescription &target,
                                    StringRef suffix) {
  // Static, since callers keep pointers to the descriptions in it.
  static std::map<std::string, TargetDescription> known;
  std::string name = (target.name + ":" + suffix).str();
  auto found = known.find(name);
  if (found != known.end())
    return &found->second;
  TargetDescription result = target;
  if (!applySuffix(result, suffix))
    return nullptr;
  auto made = known.emplace(std::move(name), std::move(result)).first;
  made->second.name = made->first;
  return &made->second;
}

TargetDescription asEmulated(const TargetDescription &target) {
  TargetDescription result = target;
  if (target.emulation.compilers.empty())
    return result;
  if (hasDeviceFor(target)) {
    // This machine has the GPU, so nothing is emulated, and the compiler for
    // the GPU also links.
    result.emulation = {};
    result.linker = "";
    return result;
  }
  result.compilers = target.emulation.compilers;
  result.linker = "";
  result.compilerFlags.assign(target.emulation.flags.begin(),
                              target.emulation.flags.end());
  return result;
}

const TargetDescription *lookupTarget(llvm::StringRef name) {
  auto [base, suffixes] = name.split(':');
  const TargetDescription *target = nullptr;
  for (const TargetDescription &known : allTargets())
    if (base == known.name ||
        (base == "native" && known.runsOnThisHost && known.runsOnThisHost()))
      target = &known;
  while (target && !suffixes.empty()) {
    StringRef suffix;
    std::tie(suffix, suffixes) = suffixes.split(':');
    target = withSuffix(*target, suffix);
  }
  return target;
}

std::string intrinsicTypeName(Type type) {
  if (!type)
    return "";
  if (type.isIndex())
    return "index";
  if (auto vector = dyn_cast<VectorType>(type)) {
    std::string element = intrinsicTypeName(vector.getElementType());
    if (vector.getNumElements() == 1 || element.empty())
      return element;
    return element + "x" + llvm::utostr(vector.getNumElements());
  }
  if (type.isBF16())
    return "bf16";
  if (isa<Float16Type, Float32Type, Float64Type>(type))
    return "f" + llvm::utostr(type.getIntOrFloatBitWidth());
  if (type.isInteger())
    return "i" + llvm::utostr(type.getIntOrFloatBitWidth());
  return "";
}

llvm::SmallVector<int64_t>
TargetDescription::lanes(mlir::Type elementType) const {
  llvm::SmallVector<int64_t> counts;
  if (!elementType.isIntOrFloat())
    return counts; // Strings are not vector elements.
  int64_t bits = std::max(elementType.getIntOrFloatBitWidth(), 8u);
  if (isa<FloatType>(elementType) ? !vectorFloats : bits > vectorIntegerBits)
    return counts;
  for (int64_t bytes : vectorBytes)
    if (bytes * 8 / bits >= 2)
      counts.push_back(bytes * 8 / bits);
  return counts;
}

int64_t TargetDescription::maxLanes(mlir::Type elementType) const {
  llvm::SmallVector<int64_t> counts = lanes(elementType);
  return counts.empty() ? 1 : counts.front();
}

const Intrinsic *TargetDescription::intrinsic(llvm::StringRef op,
                                              mlir::Type operand,
                                              mlir::Type result) const {
  std::string from = intrinsicTypeName(operand), to = intrinsicTypeName(result);
  for (const Intrinsic &row : intrinsics)
    if (row.op == op && row.operand == from && row.result == to)
      return &row;
  return nullptr;
}

const Product *TargetDescription::product(llvm::StringRef a, llvm::StringRef b,
                                          unsigned group,
                                          unsigned lanes) const {
  for (const Product &row : products)
    if (row.a == a && row.b == b && row.group == group && row.lanes == lanes)
      return &row;
  return nullptr;
}

bool TargetDescription::splitsWords() const {
  constexpr unsigned group = 4;
  constexpr double times = 4;
  if (coreRegisters || vectorBytes.empty())
    return false;
  const Product *row =
      product("ui8", "si8", group, unsigned(vectorBytes.front()) / group);
  return row && row->perCycle * group >= times * rates.multiplyAdds;
}

bool filtersByDots(const TargetDescription &target, mlir::Type x, mlir::Type w,
                   int64_t channels) {
  constexpr int64_t leastChannels = 16;
  constexpr unsigned group = 4;
  auto narrows = [](const Intrinsic &row) {
    return row.op == "kernel.narrow_unsigned";
  };
  return x.isUnsignedInteger(8) && w.isSignedInteger(8) &&
         channels >= leastChannels && !target.vectorBytes.empty() &&
         llvm::any_of(target.intrinsics, narrows) &&
         llvm::all_of(target.vectorBytes, [&](unsigned bytes) {
           return target.product("ui8", "si8", group, bytes / group);
         });
}

bool filtersByWords(const TargetDescription &target, mlir::Type x, mlir::Type w,
                    int64_t channels) {
  if (target.vectorBytes.empty() || !x.isInteger(8) || !w.isSignedInteger(8))
    return false;
  unsigned words = target.vectorBytes.front() / 2;
  return channels % words == 0 &&
         target.product("si16", "si16", /*group=*/1, words / 2);
}

bool TargetDescription::filtersInt8(mlir::Type x, mlir::Type w,
                                    int64_t channels) const {
  return filtersByDots(*this, x, w, channels) ||
         filtersByWords(*this, x, w, channels);
}

bool TargetDescription::hasInt8Dot(mlir::Type a, mlir::Type b) const {
  auto name = [](mlir::Type type) {
    return type.isUnsignedInteger(8) ? "ui8" : "si8";
  };
  return llvm::any_of(products, [&](const Product &row) {
    return (row.a == name(a) && row.b == name(b)) ||
           (row.a == name(b) && row.b == name(a));
  });
}

bool TargetDescription::multiplies(llvm::StringRef floats) const {
  std::string byWarps =
      ("kernel.warp_product[" + floats + "," + floats + "]").str();
  return llvm::any_of(products,
                      [&](const Product &row) { return row.a == floats; }) ||
         llvm::any_of(intrinsics,
                      [&](const Intrinsic &row) { return row.op == byWarps; });
}

const Intrinsic *TargetDescription::loadOfSeveral(mlir::Type element,
                                                  unsigned count) const {
  auto vector = mlir::dyn_cast<mlir::VectorType>(element);
  mlir::Type single = vector ? vector.getElementType() : element;
  return intrinsic("kernel.load_next", element,
                   mlir::VectorType::get(
                       count * (vector ? vector.getNumElements() : 1), single));
}

} // namespace ingot
