// Sizes that a run makes.
//
// A count (of NonZero) or a shape that is a tensor of the run: its elements become symbols,
// with bounds that follow from the operands or that the user gives. From then on they are
// sizes like those of inputs.

#include "compiler/import/GraphImporter.h"
#include "compiler/import/TensorData.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot {

std::optional<SizeRange> GraphImporter::boundOf(const std::string &name) const {
  auto own = options.dims.find(name), all = options.dims.find("*");
  return own != options.dims.end()   ? std::optional(own->second)
         : all != options.dims.end() ? std::optional(all->second)
                                     : std::nullopt;
}

static std::vector<std::string> namesOf(const llvm::StringSet<> &set) {
  std::vector<std::string> names;
  for (const auto &entry : set)
    names.push_back(entry.first().str());
  llvm::sort(names);
  return names;
}

/// A size that each run of the body makes and that the type has; null if there is none.
static kernel::SymbolAttr madeIn(func::FuncOp body, Type type) {
  auto sizes = kernel::SizesAttr::of(type);
  if (!sizes)
    return {};
  llvm::DenseSet<kernel::SymbolAttr> inside, outside;
  body->getParentOp()->walk([&](ReadSizesOp read) {
    auto &known = read->getParentOp() == body ? inside : outside;
    known.insert_range(read.getSizes().getSymbols());
  });
  for (kernel::SymbolAttr symbol : sizes.getSymbols())
    if (inside.contains(symbol) && !outside.contains(symbol))
      return symbol;
  return {};
}

bool GraphImporter::isMadeIn(func::FuncOp body, Type type) const {
  kernel::SymbolAttr symbol = madeIn(body, type);
  return symbol && isMade(symbol);
}

bool GraphImporter::checkStaysInside(const NodePlace &at, func::FuncOp body,
                                     ArrayRef<Value> results) {
  for (Value result : results) {
    if (!isMadeIn(body, result.getType()))
      continue;
    std::string name = printable(madeIn(body, result.getType()).getName());
    report(DiagnosticId::UnsupportedForm,
           "`" + printable(at.node.op_type()) + "`: its body results in " +
               describe(result.getType()) + ", of a size `" + name +
               "` that each run of the body makes",
           at, "", "give one size: --dim " + name + "=SIZE");
    return false;
  }
  return true;
}

FailureOr<Dims>
GraphImporter::readSizes(const NodePlace &at, Value counts,
                         ArrayRef<std::optional<int64_t>> most) {
  std::string what = "`" + printable(at.node.op_type()) + "`: ";
  std::string base = at.node.output_size() && !at.node.output(0).empty()
                         ? at.node.output(0)
                         : at.node.op_type();
  Dims sizes;
  for (auto [i, bound] : llvm::enumerate(most)) {
    std::string name =
        base + "_" + (most.size() == 1 ? "count" : std::to_string(i));
    while (symbols.count(name) || !made.insert(name).second)
      name += "_";
    // A bound that follows is better than one for all sizes.
    std::optional<SizeRange> range = bound && !options.dims.count(name)
                                         ? SizeRange(0, *bound)
                                         : boundOf(name);
    if (range) {
      sizes.push_back(dimOf(name, *range));
      continue;
    }
    std::vector<std::string> inputs = bindableInputs(counts);
    report(inputs.empty() ? DiagnosticId::RuntimeShape
                          : DiagnosticId::UnboundValue,
           what + "nothing says how large `" + printable(name) +
               "` can be, a size of its result that is only known at run time",
           at, "",
           "give a bound with --dim " + printable(name) + "=0..MOST" +
               (inputs.empty() ? "" : ", or " + bindHint(inputs)));
    return failure();
  }
  ReadSizesOp::create(builder, locationOf(at), counts,
                      kernel::sizesAttr(sizes, &context),
                      /*equal=*/kernel::SizesAttr());
  return sizes;
}

void GraphImporter::checkEqual(const NodePlace &at, const Dim &x,
                               const Dim &y) {
  buildCheck(at, x, y);
}

void GraphImporter::checkOneOr(const NodePlace &at, const Dim &size,
                               const Dim &other) {
  Dim distance = (size - 1) * (size - other);
  auto isOfRun = [&](kernel::SymbolAttr symbol) { return isMade(symbol); };
  if (llvm::is_contained(checked, distance))
    return;
  OpBuilder::InsertionGuard guard(builder);
  if (!llvm::any_of(distance.symbols(), isOfRun))
    builder.setInsertionPointToStart(&main.getBody().front());
  // What a body has checked, it has not where it does not run.
  if (builder.getInsertionBlock() == &main.getBody().front())
    checked.push_back(distance);
  buildCheck(at, distance, 0);
}

void GraphImporter::buildCheck(const NodePlace &at, const Dim &x,
                               const Dim &y) {
  auto none =
      RankedTensorType::get({0}, builder.getIntegerType(64, /*isSigned=*/true));
  Value nothing = constant(DenseElementsAttr::get(none, ArrayRef<int64_t>()),
                           locationOf(at));
  ReadSizesOp::create(builder, locationOf(at), nothing,
                      kernel::sizesAttr(Dims(), &context),
                      kernel::sizesAttr(Dims{x, y}, &context));
}

bool GraphImporter::fitsAtBounds(const NodePlace &at, RankedTensorType type) {
  // What has more elements does not fit into the memory of most machines.
  constexpr int64_t mostElements = int64_t(1) << 31;
  if (!hasRunTimeSizes(type) || type.getNumElements() <= mostElements)
    return true;
  report(DiagnosticId::UnsupportedForm,
         "`" + printable(at.node.op_type()) +
             "`: the result is too large at its bounds, " + describe(type),
         at, "", "give smaller bounds with --dim");
  return false;
}

void GraphImporter::checkMadeOptions() {
  for (const auto &[name, range] : options.dims)
    if (name != "*" && !symbols.count(name) && !made.contains(name) &&
        diagnostics.empty())
      reportUnknownInput("--dim", "no run makes a size", name, namesOf(made));
}

} // namespace ingot
