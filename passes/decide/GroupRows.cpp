#include "passes/decide/GroupRows.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/IRMapping.h"
#include "passes/plan/Buffers.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/Tables.h"
#include "llvm/ADT/SmallBitVector.h"

#include <tuple>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {
namespace {

/// The part of a value that is needed: the positions `rows` along `axis`, or
/// the whole value if `axis` is -1.
struct Need {
  int64_t axis = -1;
  Rows rows;
  bool operator==(const Need &other) const {
    return axis == other.axis && (axis < 0 || rows == other.rows);
  }
};

/// The input positions that the windows of an operator (such as a convolution)
/// read for some output positions: `inside` are those within the input; `low`
/// and `high` are the numbers of positions read before and after the input.
struct WindowRows {
  Rows inside;
  int64_t low, high;
};

struct WindowAttributes {
  ArrayRef<int64_t> kernel, strides, dilations, low;
};

std::optional<WindowAttributes> windowOf(Operation *op) {
  if (auto conv = dyn_cast<ConvOp>(op))
    return WindowAttributes{shapeOf(conv.getW()).drop_back(2),
                            conv.getStrides(), conv.getDilations(),
                            conv.getLow()};
  auto pool = [](auto op) {
    return WindowAttributes{op.getKernel(), op.getStrides(), op.getDilations(),
                            op.getLow()};
  };
  if (auto max = dyn_cast<MaxPoolOp>(op))
    return pool(max);
  if (auto average = dyn_cast<AveragePoolOp>(op))
    return pool(average);
  if (auto lp = dyn_cast<LpPoolOp>(op))
    return pool(lp);
  return std::nullopt;
}

WindowRows windowRows(Operation *op, const WindowAttributes &window,
                      const Need &need) {
  size_t i = need.axis - 1;
  int64_t size = shapeOf(op->getOperand(0))[need.axis];
  int64_t first = need.rows.begin * window.strides[i] - window.low[i];
  int64_t last = (need.rows.end - 1) * window.strides[i] - window.low[i] +
                 (window.kernel[i] - 1) * window.dilations[i];
  Rows inside{std::clamp<int64_t>(first, 0, size),
              std::clamp<int64_t>(last + 1, 0, size)};
  return {inside, std::max<int64_t>(0, -first),
          std::max<int64_t>(0, last + 1 - size)};
}

/// Returns the positions of the operand of `pad`, along the axis of `need`,
/// that appear in the part `need` of the result of `pad`. Positions in the
/// padding are left out.
Rows rowsInside(PadOp pad, const Need &need) {
  int64_t low = pad.getLow()[need.axis], size = shapeOf(pad.getX())[need.axis];
  return {std::clamp<int64_t>(need.rows.begin - low, 0, size),
          std::clamp<int64_t>(need.rows.end - low, 0, size)};
}

bool padsAxis(PadOp pad, int64_t axis) {
  return shapeOf(pad.getX())[axis] != shapeOf(pad.getResult())[axis];
}

/// Whether each position of the result along `axis` depends only on the same
/// position of the operands.
bool keepsAxis(Operation *op, int64_t axis) {
  if (auto reduction = dyn_cast<ReductionOpInterface>(op))
    return !llvm::is_contained(reduction.getAxes(), axis);
  if (auto concat = dyn_cast<ConcatOp>(op))
    return static_cast<int64_t>(concat.getAxis()) != axis;
  if (auto softmax = dyn_cast<SoftmaxOp>(op))
    return static_cast<int64_t>(softmax.getAxis()) != axis;
  // A slice may reverse the axis.
  if (auto slice = dyn_cast<SliceOp>(op); slice && slice.getSteps()[axis] != 1)
    return false;
  if (isa<SliceOp, PadOp>(op))
    return shapeOf(op->getOperand(0))[axis] == shapeOf(op->getResult(0))[axis];
  return isa<ElementwiseOpInterface, ExpandOp>(op) || schedule::isByteTable(op);
}

/// Whether each position of the first axis of the result depends only on the
/// same position of the operands that have this axis.
bool keepsFirstAxis(Operation *op) {
  if (isa<LayerNormOp>(op))
    return shapeOf(op->getResult(0)).size() > 1;
  return windowOf(op) || keepsAxis(op, 0);
}

/// Returns the part of each operand that a matmul reads to compute the
/// positions `need` of the result's first axis, which are batches or rows of a
/// matrix. Returns nothing if `need` is on another axis.
std::optional<SmallVector<Need>> productNeeds(MatMulOp product,
                                              const Need &need) {
  int64_t rank = shapeOf(product.getResult()).size();
  if (need.axis != 0 || rank < 2)
    return std::nullopt;
  SmallVector<Need> needs(product->getNumOperands());
  for (auto [i, operand] : llvm::enumerate(product->getOperands())) {
    ArrayRef<int64_t> shape = shapeOf(operand);
    // Operands 0 and 2 are the left matrix and its zero points.
    bool isRow = rank == 2 && (i == 0 || i == 2);
    if (int64_t(shape.size()) == rank && (isRow || rank > 2) && shape[0] != 1)
      needs[i] = need;
  }
  return needs;
}

std::optional<SmallVector<Need>> stageNeeds(GroupOp stage, const Need &need);

/// Returns the part of each operand that `op` reads to compute the part `need`
/// of its result; nothing if this is not known to be one range of positions of
/// each operand.
std::optional<SmallVector<Need>> operandNeeds(Operation *op, const Need &need) {
  SmallVector<Need> needs(op->getNumOperands());
  if (need.axis < 0)
    return needs;
  int64_t rank = shapeOf(op->getResult(0)).size();
  if (auto stage = dyn_cast<GroupOp>(op))
    return stageNeeds(stage, need);
  if (auto product = dyn_cast<MatMulOp>(op))
    return productNeeds(product, need);
  if (auto window = windowOf(op); window && need.axis == 0) {
    needs[0] = need;
    return needs;
  }
  if (auto window = windowOf(op)) {
    if (need.axis < 1 || need.axis > rank - 2)
      return std::nullopt;
    needs[0] = {need.axis, windowRows(op, *window, need).inside};
    return needs[0].rows.size() > 0 ? std::make_optional(needs) : std::nullopt;
  }
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    needs[0] = {transpose.getPerm()[need.axis], need.rows};
    return needs;
  }
  if (auto pad = dyn_cast<PadOp>(op); pad && padsAxis(pad, need.axis)) {
    needs[0] = {need.axis, rowsInside(pad, need)};
    return pad.getMode() == "constant" && needs[0].rows.size() > 0
               ? std::make_optional(needs)
               : std::nullopt;
  }
  if (need.axis == 0 ? !keepsFirstAxis(op) : !keepsAxis(op, need.axis))
    return std::nullopt;
  for (auto [operand, its] : llvm::zip(op->getOperands(), needs)) {
    // Operands of lower rank are aligned at the last axis (broadcasting).
    ArrayRef<int64_t> shape = shapeOf(operand);
    int64_t axis = need.axis - (rank - static_cast<int64_t>(shape.size()));
    if (axis >= 0 && shape[axis] == shapeOf(op->getResult(0))[need.axis])
      its = {axis, need.rows};
    else if (axis >= 0 && shape[axis] != 1)
      return std::nullopt;
  }
  return needs;
}

/// The parts of values that the body of a group reads: of results of the body's
/// operators (`inner`), and of its arguments. An argument that is read in
/// several ranges has several entries.
struct BodyNeeds {
  llvm::DenseMap<Value, Need> inner;
  SmallVector<std::pair<BlockArgument, Need>> arguments;
};

std::optional<BodyNeeds> bodyNeeds(GroupOp group, Rows rows, int64_t axis) {
  Block &body = group.getBody().front();
  Operation *yield = body.getTerminator();
  bool isStrided = group.getOutputStrides() || group.getInputStrides();
  if (group.getNumResults() != 1 || (isStrided && axis != 0) ||
      int64_t(shapeOf(group.getResult(0)).size()) < axis + 2)
    return std::nullopt;
  BodyNeeds all;
  auto add = [&](Value value, const Need &need) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (!llvm::is_contained(all.arguments, std::make_pair(argument, need)))
        all.arguments.push_back({argument, need});
      return true;
    }
    // A value is computed once, so all its users must need the same rows.
    auto [known, isNew] = all.inner.insert({value, need});
    return isNew || known->second == need;
  };
  add(yield->getOperand(0), {axis, rows});
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    if (op.getNumResults() != 1 || !all.inner.contains(op.getResult(0)))
      return std::nullopt;
    auto needs = operandNeeds(&op, all.inner.lookup(op.getResult(0)));
    if (!needs)
      return std::nullopt;
    for (auto [operand, need] : llvm::zip(op.getOperands(), *needs))
      if (!add(operand, need))
        return std::nullopt;
  }
  // If needed rows are not contiguous in an argument, only a transpose can read
  // them, element by element.
  for (auto [argument, need] : all.arguments)
    if (need.axis > 0 &&
        llvm::any_of(shapeOf(argument).take_front(need.axis),
                     [](int64_t size) { return size != 1; }) &&
        !llvm::all_of(argument.getUsers(), llvm::IsaPred<TransposeOp>))
      return std::nullopt;
  llvm::sort(all.arguments, [](auto &a, auto &b) {
    auto key = [](auto &read) {
      return std::make_tuple(read.first.getArgNumber(), read.second.axis,
                             read.second.rows.begin, read.second.rows.end);
    };
    return key(a) < key(b);
  });
  return all;
}

/// Returns the part of each operand that `stage` reads to compute the images
/// `need` of its result; nothing if `need` is not on axis 0, or if `stage`
/// reads several ranges of an operand. (A stage is one group of a row chain,
/// which ChainRows.cpp forms.)
std::optional<SmallVector<Need>> stageNeeds(GroupOp stage, const Need &need) {
  auto body = need.axis == 0 ? bodyNeeds(stage, need.rows, 0) : std::nullopt;
  if (!body)
    return std::nullopt;
  SmallVector<Need> needs(stage->getNumOperands());
  llvm::SmallBitVector known(stage->getNumOperands());
  for (auto [argument, its] : body->arguments) {
    unsigned i = argument.getArgNumber();
    if (known[i] && !(needs[i] == its))
      return std::nullopt;
    known.set(i);
    needs[i] = its;
  }
  return needs;
}

/// Restricts `op` to the positions `need` of its result: sets the result size,
/// and the padding of a window operator (from `window`, unless null) or of a
/// PadOp (`low`, if given, is its leading padding).
void restrictTo(Operation *op, const WindowRows *window,
                std::optional<int64_t> low, const Need &need) {
  Value result = op->getResult(0);
  SmallVector<int64_t> shape(shapeOf(result));
  shape[need.axis] = need.rows.size();
  result.setType(RankedTensorType::get(shape, elementOf(result)));
  if (low) {
    auto pad = cast<PadOp>(op);
    SmallVector<int64_t> values(pad.getLow());
    values[need.axis] = *low;
    pad.setLow(values);
  }
  if (!window)
    return;
  auto set = [&](StringRef name, int64_t value) {
    auto old = op->getAttrOfType<DenseI64ArrayAttr>(name);
    SmallVector<int64_t> values(old.asArrayRef());
    values[need.axis - 1] = value;
    op->setAttr(name, DenseI64ArrayAttr::get(op->getContext(), values));
  };
  set("low", window->low);
  if (auto average = dyn_cast<AveragePoolOp>(op); average && !window->high)
    set("high", 0);
}

} // namespace

std::optional<SmallVector<OperandRows>> operandRows(GroupOp group, Rows rows,
                                                    int64_t axis) {
  auto needs = bodyNeeds(group, rows, axis);
  if (!needs)
    return std::nullopt;
  SmallVector<OperandRows> result;
  for (auto [argument, need] : needs->arguments)
    result.push_back({argument.getArgNumber(), need.axis, need.rows});
  return result;
}

GroupOp buildForRows(OpBuilder &builder, GroupOp group, Rows rows,
                     const TargetDescription &target,
                     llvm::function_ref<Value(const OperandRows &)> part,
                     int64_t axis) {
  BodyNeeds needs = *bodyNeeds(group, rows, axis);
  SmallVector<Value> inputs;
  SmallVector<Attribute> strides;
  bool strided = false;
  for (auto [argument, need] : needs.arguments) {
    Value input = part({argument.getArgNumber(), need.axis, need.rows});
    inputs.push_back(input);
    SmallVector<int64_t> own;
    // An input that is a slice of a larger tensor keeps the strides of that
    // tensor.
    if (auto all = group.getInputStrides())
      own.assign(cast<DenseI64ArrayAttr>((*all)[argument.getArgNumber()])
                     .asArrayRef());
    strided |= !own.empty();
    if (auto slice = input.getDefiningOp<SliceOp>();
        slice && !plan::isContiguous(slice)) {
      ArrayRef<int64_t> shape = shapeOf(slice.getX());
      own.assign(shape.size(), 1);
      for (size_t i = shape.size(); i-- > 1;)
        own[i - 1] = own[i] * shape[i];
      strided = true;
    }
    strides.push_back(builder.getDenseI64ArrayAttr(own));
  }
  SmallVector<int64_t> shape(shapeOf(group.getResult(0)));
  shape[axis] = rows.size();
  Type type = RankedTensorType::get(shape, elementOf(group.getResult(0)));
  auto copy = GroupOp::create(
      builder, group.getLoc(), type, inputs, builder.getStringAttr(""),
      group.getOutputStridesAttr(),
      strided ? builder.getArrayAttr(strides) : ArrayAttr(), DictionaryAttr());
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&copy.getBody());
  for (Value input : inputs)
    body->addArgument(input.getType(), input.getLoc());
  // Returns the value in the new body for the part `need` of `value`. A tensor
  // that is read in several ranges is several arguments of the new body.
  auto mapped = [&](Value value, const Need &need, IRMapping &mapping) {
    for (auto [i, known] : llvm::enumerate(needs.arguments))
      if (known.first == value && known.second == need)
        return Value(body->getArgument(i));
    return mapping.lookup(value);
  };
  IRMapping mapping;
  Block &from = group.getBody().front();
  for (Operation &op : from.without_terminator()) {
    Need need = needs.inner.lookup(op.getResult(0));
    SmallVector<Need> reads = *operandNeeds(&op, need);
    if (auto stage = dyn_cast<GroupOp>(op)) {
      auto read = [&](const OperandRows &its) {
        return mapped(op.getOperand(its.operand), {its.axis, its.rows},
                      mapping);
      };
      mapping.map(op.getResult(0), buildForRows(builder, stage, need.rows,
                                                target, read, need.axis)
                                       .getResult(0));
      continue;
    }
    Operation *clone = builder.clone(op, mapping);
    for (auto [i, read] : llvm::enumerate(reads))
      clone->setOperand(i, mapped(op.getOperand(i), read, mapping));
    mapping.map(op.getResult(0), clone->getResult(0));
    if (need.axis < 0)
      continue;
    auto window = need.axis > 0 ? windowOf(&op) : std::nullopt;
    WindowRows reach;
    if (window)
      reach = windowRows(&op, *window, need);
    std::optional<int64_t> low;
    if (auto pad = dyn_cast<PadOp>(&op); pad && padsAxis(pad, need.axis))
      low = std::max<int64_t>(0, pad.getLow()[need.axis] - need.rows.begin);
    restrictTo(clone, window ? &reach : nullptr, low, need);
  }
  YieldOp::create(
      builder, group.getLoc(),
      mapped(from.getTerminator()->getOperand(0), {axis, rows}, mapping));
  schedule::decideStrategy(copy, target);
  return copy;
}

static Value copyAsIs(OpBuilder &builder, Location loc, Value part,
                      ArrayAttr strides, const TargetDescription &target,
                      bool inSecondMemory) {
  auto group = GroupOp::create(builder, loc, part.getType(), part,
                               builder.getStringAttr(""), DenseI64ArrayAttr(),
                               strides, DictionaryAttr(), inSecondMemory);
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&group.getBody());
  Value moved = ReshapeOp::create(builder, loc, part.getType(),
                                  body->addArgument(part.getType(), loc));
  YieldOp::create(builder, loc, moved);
  schedule::decideStrategy(group, target);
  return group.getResult(0);
}

Value copyPart(OpBuilder &builder, Location loc, Value part,
               const TargetDescription &target, bool inSecondMemory) {
  auto slice = part.getDefiningOp<SliceOp>();
  if (slice && !plan::isContiguous(slice))
    return copyAsIs(builder, loc, part,
                    builder.getArrayAttr(builder.getDenseI64ArrayAttr(
                        computeSuffixProduct(shapeOf(slice.getX())))),
                    target, inSecondMemory);
  // A contiguous tensor is copied as a few long rows: threads process rows, and
  // each row has an overhead.
  constexpr int64_t least = 4096;
  ArrayRef<int64_t> shape = shapeOf(part);
  int64_t count = ShapedType::getNumElements(shape), rows = 1;
  if (shape.size() > 2)
    for (int64_t size : shape.take_front(2))
      if (count / (rows * size) >= least)
        rows *= size;
  Value flat =
      ReshapeOp::create(builder, loc, part, ArrayRef{rows, count / rows});
  return ReshapeOp::create(
      builder, loc, copyAsIs(builder, loc, flat, {}, target, inSecondMemory),
      shape);
}

} // namespace ingot::decide
