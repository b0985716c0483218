// Creates symbols for data-dependent sizes.
//
// If a size is an element of a tensor computed at run time (the count of
// NonZero, or a shape operand), it becomes a symbol. The bounds of the symbol
// are inferred from the operands or given by the user. From then on, the size
// is treated like a dynamic size of an input. The broadcast of two sizes, each
// of which may be 1, becomes a data-dependent size as well.

#include "compiler/import/GraphImporter.h"
#include "compiler/import/KnownSizes.h"
#include "compiler/import/ProtoNode.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/ValueBounds.h"
#include "compiler/import/operators/RunTimeShapes.h"

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

static bool reads(func::FuncOp function, kernel::SymbolAttr symbol) {
  return llvm::any_of(function.getOps<ReadSizesOp>(), [&](ReadSizesOp read) {
    return llvm::is_contained(read.getSizes().getSymbols(), symbol);
  });
}

kernel::SymbolAttr GraphImporter::madeIn(func::FuncOp body, Type type) const {
  auto module = cast<ModuleOp>(body->getParentOp());
  auto isOfBody = [&](kernel::SymbolAttr symbol) {
    return isMade(symbol) && reads(body, symbol) &&
           llvm::none_of(module.getOps<func::FuncOp>(),
                         [&](func::FuncOp other) {
                           return other != body && reads(other, symbol);
                         });
  };
  for (const Dim &size : dimsOf(cast<RankedTensorType>(type)))
    for (kernel::SymbolAttr symbol : size.given())
      if (isOfBody(symbol))
        return symbol;
  return {};
}

bool GraphImporter::mayBe(const Dim &size, int64_t number) {
  return size.mayBe(number);
}

void GraphImporter::takeAsDeclared(NodePlace &at, BodyFunction &body,
                                   size_t result,
                                   const onnx::ValueInfoProto &declared) {
  Binding &binding = body.bindings[result];
  const auto &dims = declared.type().tensor_type().shape().dim();
  if (binding.kind != Binding::Known ||
      !madeIn(body.function, binding.value.getType()) ||
      dims.size() != tensorType(binding.value).getRank())
    return;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&body.function.getBody().front());
  Dims sizes = dimsOf(binding.value);
  Dim count = product(sizes);
  for (auto [size, given] : llvm::zip(sizes, dims))
    if (!size.known() && given.dim_value() > 0 &&
        mayBe(size, given.dim_value())) {
      checkEqual(at, size, given.dim_value());
      size = given.dim_value();
    }
  if (sizes == dimsOf(binding.value))
    return;
  ProtoNode node(*this, at);
  Value flat = node.reshape(binding.value, {count});
  binding.value = node.reshape(resizedFlat(node, flat, product(sizes)), sizes);
}

bool GraphImporter::checkStaysInside(const NodePlace &at, func::FuncOp body,
                                     ArrayRef<Value> results) {
  for (Value result : results) {
    kernel::SymbolAttr size = madeIn(body, result.getType());
    if (!size)
      continue;
    std::string name = printable(size.getName());
    report(DiagnosticId::UnsupportedForm,
           "`" + printable(at.node.op_type()) + "`: its body returns " +
               describe(result.getType()) + ", whose size `" + name +
               "` differs between iterations",
           at, "", "fix the size: --dim " + name + "=SIZE");
    return false;
  }
  return true;
}

SmallVector<std::optional<Dim>> GraphImporter::elementsIn(Value value) {
  return elementsOfSizes(resolve(value));
}

std::string GraphImporter::nameSize(const NodePlace &at, const Twine &suffix) {
  std::string name = at.node.output_size() && !at.node.output(0).empty()
                         ? at.node.output(0)
                         : at.node.op_type();
  name += "_" + suffix.str();
  std::string first = name;
  while (symbols.count(name) || !made.insert(name).second)
    name = first + "_" + std::to_string(++timesMade[first] + 1);
  if (builder.getInsertionBlock() != &main.getBody().front())
    madeInBodies.insert(name);
  return name;
}

FailureOr<Dim> GraphImporter::madeSize(const NodePlace &at, const Twine &suffix,
                                       std::optional<int64_t> most,
                                       ArrayRef<Value> from) {
  std::string name = nameSize(at, suffix);
  // A bound that is inferred for this size has precedence over a --dim option
  // for all sizes (`*`), but not over an option with the name of the size.
  std::optional<SizeRange> range =
      most && !options.dims.count(name) ? SizeRange(0, *most) : boundOf(name);
  if (range)
    return dimOf(name, *range);
  std::vector<std::string> inputs;
  for (Value value : from)
    llvm::append_range(inputs, bindableInputs(value));
  report(
      inputs.empty() ? DiagnosticId::RuntimeShape : DiagnosticId::UnboundValue,
      "`" + printable(at.node.op_type()) + "`: the size `" + printable(name) +
          "` of its result depends on data and has no upper "
          "bound",
      at, "",
      "bound it with --dim " + printable(name) + "=0..MOST" +
          (inputs.empty() ? "" : ", or " + bindHint(inputs)));
  return failure();
}

void GraphImporter::readSize(const NodePlace &at, Value count,
                             const Dim &size) {
  ReadSizesOp::create(builder, locationOf(at), count,
                      kernel::sizesAttr(size, &context));
}

FailureOr<Dims>
GraphImporter::readSizes(const NodePlace &at, Value counts,
                         ArrayRef<std::optional<int64_t>> most) {
  Dims sizes;
  bool isMissing = false;
  if (most.empty())
    return sizes;
  SmallVector<std::optional<Dim>> known = elementsIn(counts);
  // Counts that are computed from constants, but not by arithmetic on sizes,
  // are evaluated.
  if (!allOf(known) && constantOf(counts))
    known = elementsIn(counts);
  counts = resolve(counts);
  for (const std::optional<Dim> &size : known)
    if (size && size->most() < 0) {
      report(DiagnosticId::InvalidNode,
             "`" + printable(at.node.op_type()) + "`: a size is " +
                 kernel::sizeText(*size) + ", but must be 0 or more",
             at);
      return failure();
    }
  auto isKnown = [](const std::optional<Dim> &size) {
    return size && size->least() >= 0;
  };
  // The upper bound of a quotient, or a bound that ValueBounds.cpp computes
  // from intervals, may be too large, since it may combine extremes of sizes
  // that never occur together. If --dim gives a smaller bound for all sizes
  // (`*`), that bound is used instead.
  auto all = options.dims.find("*");
  auto isLoose = [&](int64_t bound) {
    return all != options.dims.end() && bound > all->second.most;
  };
  auto isLooseQuotient = [&](const std::optional<Dim> &size) {
    return isLoose(size->most()) &&
           llvm::any_of(size->symbols(), [](kernel::SymbolAttr symbol) {
             return symbol.getChoice() == kernel::SizeChoice::Quotient;
           });
  };
  // If all elements of `counts` are expressions of other sizes, the generated
  // program need not read them from the tensor.
  if (llvm::all_of(known, isKnown) && llvm::none_of(known, isLooseQuotient))
    return Dims(llvm::map_range(known, [](const auto &size) { return *size; }));
  SmallVector<std::optional<int64_t>> computed = mostOfElements(counts);
  for (auto [i, given] : llvm::enumerate(most)) {
    std::optional<int64_t> bound = given;
    if (!given && computed[i] && !isLoose(*computed[i]))
      bound = computed[i];
    // An element that is an expression of symbols is not read from the tensor.
    // An exception is an expression with a choice such as min(x, y)
    // (SizeChoice): reading it makes it a single symbol.
    if (isKnown(known[i]) &&
        llvm::all_of(known[i]->symbols(), [](kernel::SymbolAttr symbol) {
          return symbol.isGiven();
        })) {
      sizes.push_back(*known[i]);
      continue;
    }
    auto size = madeSize(at, most.size() == 1 ? Twine("count") : Twine(i),
                         bound, counts);
    // Continues after a failure, so that all sizes that need a bound are
    // reported.
    if (failed(size))
      isMissing = true;
    else
      sizes.push_back(*size);
  }
  if (isMissing)
    return failure();
  ReadSizesOp::create(builder, locationOf(at), counts,
                      kernel::sizesAttr(sizes, &context));
  return sizes;
}

void GraphImporter::checkEqual(const NodePlace &at, const Dim &x,
                               const Dim &y) {
  OpBuilder::InsertionGuard guard(builder);
  // A check in main moves to where both sizes are known. A check in the body of
  // an If, Loop or Scan stays there: it applies only to runs that enter the
  // body.
  if (builder.getInsertionBlock() == &main.getBody().front())
    moveToSize(x + y);
  buildCheck(at, x, y);
}

void GraphImporter::checkOneOr(const NodePlace &at, const Dim &size,
                               const Dim &other) {
  Dim distance = (size - 1) * (size - other);
  if (llvm::is_contained(checked, distance))
    return;
  auto isOfRun = [&](kernel::SymbolAttr symbol) { return isMade(symbol); };
  OpBuilder::InsertionGuard guard(builder);
  // If no size is data-dependent, the check moves to the start of a run. A
  // check in a branch of `If` stays there: a run that takes the other branch
  // need not pass it.
  if (branchDepth == 0 && !llvm::any_of(distance.given(), isOfRun))
    builder.setInsertionPointToStart(&main.getBody().front());
  // Only a check in main is added to `checked`: a run that skips a branch or
  // the body of a loop does not execute the checks in it.
  if (builder.getInsertionBlock() == &main.getBody().front())
    checked.push_back(distance);
  buildCheck(at, distance, 0);
}

void GraphImporter::leaveBodies(const Dim &size) {
  auto isInside = [&](kernel::SymbolAttr symbol) {
    return madeInBodies.contains(symbol.getName());
  };
  Block &block = main.getBody().front();
  if (builder.getInsertionBlock() != &block && branchDepth == 0 &&
      !llvm::any_of(size.given(), isInside))
    builder.setInsertionPointToEnd(&block);
}

void GraphImporter::leaveBodies(ArrayRef<Value> values) {
  Block &block = main.getBody().front();
  if (branchDepth == 0 && llvm::all_of(values, [&](Value value) {
        return !value || value.getParentBlock() == &block;
      }))
    builder.setInsertionPointToEnd(&block);
}

void GraphImporter::moveToSize(const Dim &size) {
  auto isOfRun = [&](kernel::SymbolAttr symbol) { return isMade(symbol); };
  if (llvm::any_of(size.given(), isOfRun))
    return leaveBodies(size);
  builder.setInsertionPointToStart(&main.getBody().front());
}

bool GraphImporter::isPart(const Dim &size, const Dim &whole) const {
  SmallVector<Dim> parts{whole};
  // A broadcast size may be an operand of a later broadcast, so the broadcasts
  // are visited from the last to the first.
  for (const Whole &each : llvm::reverse(wholes))
    if (llvm::is_contained(parts, each.size))
      for (const Dim &part : {each.x, each.y})
        if (!llvm::is_contained(parts, part))
          parts.push_back(part);
  return llvm::is_contained(parts, size);
}

Dim GraphImporter::wholeOf(NodePlace &at, const Dim &x, const Dim &y) {
  if (isPart(x, y))
    return y;
  if (isPart(y, x))
    return x;
  Block *block = &main.getBody().front();
  for (const Whole &whole : wholes) {
    bool isHere =
        whole.block == block || whole.block == builder.getInsertionBlock();
    bool isSame =
        (whole.x == x && whole.y == y) || (whole.x == y && whole.y == x);
    if (isHere && isSame) {
      Dim size = whole.size;
      checkOneOr(at, whole.y, size);
      return size;
    }
  }
  OpBuilder::InsertPoint place = builder.saveInsertionPoint();
  OpBuilder::InsertionGuard guard(builder);
  moveToSize(x + y);
  bool isFirst = builder.getInsertionPoint() != builder.getBlock()->end();
  block = builder.getInsertionBlock();
  ProtoNode node(*this, at);
  RunTimeInts ints(node);
  Value counts =
      node.where(node.equal(ints.sizes(x), 1), ints.sizes(y), ints.sizes(x));
  std::string name = nameSize(at, "size");
  Dim whole = dimOf(name, SizeRange(std::min(x.least(), y.least()),
                                    std::max(x.most(), y.most())));
  ReadSizesOp::create(builder, locationOf(at), counts,
                      kernel::sizesAttr(whole, &context));
  if (branchDepth > 0)
    builder.restoreInsertionPoint(place);
  checkOneOr(at, y, whole);
  wholes.push_back({name, whole, x, y, block, isFirst});
  return whole;
}

void GraphImporter::buildCheck(const NodePlace &at, const Dim &x,
                               const Dim &y) {
  CheckSizesOp::create(builder, locationOf(at),
                       kernel::sizesAttr(Dims{x, y}, &context));
}

bool GraphImporter::fitsAtBounds(const NodePlace &at, RankedTensorType type) {
  // The product of sizes with large upper bounds may be small in each run, so
  // memory is not checked here; but the number of bytes at the upper bounds
  // must be representable.
  if (!hasDynamicSizes(type) ||
      checkedElements(type.getShape(), 8 * elementBytes(type.getElementType())))
    return true;
  report(DiagnosticId::UnsupportedForm,
         "`" + printable(at.node.op_type()) +
             "`: the result is too large with all dimensions at their upper "
             "bounds, " +
             describe(type),
         at, "", "give smaller bounds with --dim");
  return false;
}

void GraphImporter::checkMadeOptions() {
  for (const auto &[name, range] : options.dims)
    if (name != "*" && !symbols.count(name) && !made.contains(name) &&
        diagnostics.empty())
      reportUnknownInput("--dim", "the model has no data-dependent size", name,
                         namesOf(made));
}

} // namespace ingot
