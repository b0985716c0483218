// Chooses the layout of states and appends rows to them in place.
//
//   func @main(%flat : tensor<12096xf32, [n * 192]> {kernel.state = "past"}, %new)
//     %past = refill %flat : [1, 3, n, 64]
//     %all = concat %past, %new {axis = 2}       reads of %all
//     return refill %all                         {kernel.state = "past"}
//       ->
//   func @main(%past : tensor<63x1x3x64xf32, [n, 1, 3, 64]> {kernel.state = "past"}, %new)
//     %all = append %past, transpose(%new), n    reads of transpose(%all)
//     return %all
//
// A state is a tensor kept from run to run, such as a key-value cache. If it
// grows along one axis, this axis becomes the first axis: then its memory has
// no gaps and no element moves when it grows. A concatenation with the state,
// or a scatter into it, then only stores the new rows, if nothing else reads
// the state. All entry points agree on the layout of a state, since it is
// derived from the sizes of all tensors of that state.

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/Movement.h"
#include "dialects/kernel/KernelModule.h"
#include "passes/simplify/Passes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::simplify {
#define GEN_PASS_DEF_LAYOUTSTATES
#include "passes/simplify/Passes.h.inc"

namespace {

/// An argument or a result of a function that holds a state (a tensor kept from
/// run to run).
struct StateTensor {
  mutable func::FuncOp function;
  unsigned index;
  bool isResult;

  DictionaryAttr attrs() const {
    return isResult ? function.getResultAttrDict(index)
                    : function.getArgAttrDict(index);
  }
  void setAttr(StringRef name, Attribute value) {
    isResult ? function.setResultAttr(index, name, value)
             : function.setArgAttr(index, name, value);
  }
  OpOperand &returned() const {
    return function.getBody().front().getTerminator()->getOpOperand(index);
  }
  Value value() const {
    return isResult ? returned().get() : Value(function.getArgument(index));
  }
  /// Returns the sizes that the tensor has in the model. They differ from the
  /// sizes of the argument or result if the program passes the tensor with one
  /// flat axis, because its elements would have gaps in memory.
  Dims sizes() const {
    if (auto sizes = attrs().getAs<kernel::SizesAttr>(kernel::kSizesAttr))
      return kernel::dimsOf(sizes);
    return dimsOf(value());
  }
};

/// Returns the only axis whose size is dynamic or differs between the tensors
/// of a state; -1 if all sizes are constant and equal; nothing if ranks differ
/// or there are several such axes.
std::optional<int64_t> growingAxis(ArrayRef<StateTensor> tensors) {
  int64_t found = -1;
  Dims first = tensors.front().sizes();
  for (const StateTensor &tensor : tensors) {
    Dims sizes = tensor.sizes();
    if (sizes.size() != first.size())
      return std::nullopt;
    for (auto [axis, size] : llvm::enumerate(sizes))
      if (!size.known() || !(size == first[axis])) {
        if (found >= 0 && found != int64_t(axis))
          return std::nullopt;
        found = int64_t(axis);
      }
  }
  return found;
}

/// Returns the permutation of `rank` axes that moves `axis` to the front.
SmallVector<int64_t> firstAxis(int64_t axis, size_t rank) {
  SmallVector<int64_t> perm{axis};
  for (int64_t i = 0; i < int64_t(rank); ++i)
    if (i != axis)
      perm.push_back(i);
  return perm;
}

class StateLayout {
public:
  explicit StateLayout(ArrayRef<StateTensor> tensors) : tensors(tensors) {}

  /// Moves the growing axis to the front, unless all axes before it have size
  /// 1.
  void permute() {
    std::optional<int64_t> axis = growingAxis(tensors);
    if (!axis || *axis < 1)
      return;
    size_t rank = tensors.front().sizes().size();
    bool isFirst =
        llvm::all_of(ArrayRef(tensors.front().sizes()).take_front(*axis),
                     [](const Dim &size) { return size == 1; });
    if (isFirst)
      return;
    SmallVector<int64_t> perm = firstAxis(*axis, rank);
    for (StateTensor &tensor : tensors) {
      Dims stated = tensor.sizes();
      tensor.isResult ? permuteResult(tensor, perm)
                      : permuteArgument(tensor, perm);
      if (tensor.attrs().contains(kernel::kSizesAttr))
        tensor.setAttr(kernel::kSizesAttr,
                       kernel::sizesAttr(permuted(ArrayRef<Dim>(stated), perm),
                                         tensor.function.getContext()));
    }
  }

private:
  static void permuteArgument(StateTensor &tensor, ArrayRef<int64_t> perm) {
    BlockArgument argument = tensor.function.getArgument(tensor.index);
    Dims whole = tensor.sizes();
    // Take the sizes from a reshape of the argument, if there is one: the
    // program already uses the symbols of this reshape for dynamic sizes.
    for (Operation *user : argument.getUsers())
      if (isa<RefillOp, ReshapeOp>(user) &&
          shapeOf(user->getResult(0)).size() == whole.size() &&
          shapeOf(argument).size() != whole.size())
        whole = dimsOf(user->getResult(0));
    OpBuilder builder = OpBuilder::atBlockBegin(argument.getOwner());
    Type before = argument.getType();
    Dims flat = dimsOf(argument);
    argument.setType(
        tensorOf(permuted(ArrayRef<Dim>(whole), perm), elementOf(argument)));
    Value back = buildTranspose(builder, argument.getLoc(), argument,
                                inversePermutation(perm));
    Operation *own = back.getDefiningOp();
    for (OpOperand &use : llvm::make_early_inc_range(argument.getUses())) {
      Operation *user = use.getOwner();
      if (user == own)
        continue;
      if (isa<RefillOp, ReshapeOp>(user) &&
          user->getResult(0).getType() == back.getType()) {
        user->getResult(0).replaceAllUsesWith(back);
        user->erase();
      } else if (back.getType() == before) {
        use.set(back);
      } else {
        builder.setInsertionPoint(user);
        use.set(buildReshape(builder, argument.getLoc(), back, flat));
      }
    }
    updateType(tensor.function);
  }

  static void permuteResult(StateTensor &tensor, ArrayRef<int64_t> perm) {
    OpOperand &operand = tensor.returned();
    Value value = operand.get();
    size_t rank = perm.size();
    OpBuilder builder(operand.getOwner());
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<RefillOp, ReshapeOp>(op) &&
        shapeOf(value).size() != rank &&
        shapeOf(op->getOperand(0)).size() == rank)
      value = op->getOperand(0);
    else if (shapeOf(value).size() != rank)
      value = buildReshape(builder, value.getLoc(), value, tensor.sizes());
    operand.set(buildTranspose(builder, value.getLoc(), value, perm));
    updateType(tensor.function);
  }

  static void updateType(func::FuncOp function) {
    Block &entry = function.getBody().front();
    function.setFunctionType(
        FunctionType::get(function.getContext(), entry.getArgumentTypes(),
                          entry.getTerminator()->getOperandTypes()));
  }

  SmallVector<StateTensor> tensors;
};

/// Whether `value` is a constant with the elements 0, 1, 2, ..., or a slice
/// with the first elements of such a constant.
bool countsUp(Value value) {
  if (auto slice = value.getDefiningOp<SliceOp>()) {
    auto is = [](int64_t number) {
      return [number](int64_t x) { return x == number; };
    };
    if (!llvm::all_of(slice.getStarts(), is(0)) ||
        !llvm::all_of(slice.getSteps(), is(1)))
      return false;
    value = slice.getX();
  }
  auto constant = value.getDefiningOp<ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                           : DenseElementsAttr();
  return elements && shapeOf(value).size() == 1 &&
         llvm::all_of(
             llvm::enumerate(elements.getValues<APInt>()),
             [](auto number) { return number.value() == number.index(); });
}

/// If `value` is a gather by the indices 0, 1, 2, ... along `axis` and has one
/// user, returns the tensor that the gather reads; otherwise `value` itself.
/// Such a gather only changes the length of the axis, since ONNX leaves an
/// index past the end undefined. Some models append one row to the tensor
/// before the gather, for indices past the end; then returns the tensor without
/// this row.
Value withoutLength(Value value, int64_t axis) {
  auto gather = value.getDefiningOp<GatherOp>();
  if (!gather || int64_t(gather.getAxis()) != axis || !value.hasOneUse() ||
      !countsUp(gather.getIndices()))
    return value;
  Value from = gather.getX();
  if (auto concat = from.getDefiningOp<ConcatOp>();
      concat && from.hasOneUse() && concat.getInputs().size() == 2 &&
      int64_t(concat.getAxis()) == axis &&
      dimsOf(concat.getInputs()[1])[axis] == 1 &&
      concat.getInputs()[1].getDefiningOp<ExpandOp>())
    return concat.getInputs()[0];
  return from;
}

/// The chain of concatenations and scatters that computes the new value of a
/// state (an output of the function) from its old value (an input).
class Appending {
public:
  Appending(BlockArgument input, OpOperand &returned)
      : input(input), returned(returned) {}

  /// Replaces the chain by in-place appends, if nothing else reads the old
  /// value.
  void run() {
    Value last = returned.get();
    // If StateLayout has permuted the state, a transpose follows the chain, and
    // the inverse transpose precedes it.
    if (auto transpose = last.getDefiningOp<TransposeOp>()) {
      perm = llvm::to_vector(transpose.getPerm());
      last = transpose.getX();
    }
    SmallVector<Operation *> steps;
    Value value = last;
    while (Operation *op = stepOf(value)) {
      if (value != last && !value.hasOneUse())
        return;
      steps.push_back(op);
      value = withoutLength(op->getOperand(0), axisOf(op));
    }
    if (steps.empty() || !isInput(value))
      return;
    Value state = input;
    for (Operation *op : llvm::reverse(steps))
      state = append(op, state);
    OpBuilder builder(steps.front());
    builder.setInsertionPointAfterValue(state);
    Value back = perm.empty() ? state
                              : buildTranspose(builder, last.getLoc(), state,
                                               inversePermutation(perm));
    last.replaceAllUsesWith(back);
    returned.set(state);
  }

private:
  /// Returns the operator that computes `value` by adding rows to its first
  /// operand: a concatenation of two tensors, or a scatter that has a single
  /// position and is not circular. Returns null if `value` is computed
  /// otherwise.
  static Operation *stepOf(Value value) {
    Operation *op = value.getDefiningOp();
    if (auto concat = dyn_cast_or_null<ConcatOp>(op))
      return concat.getInputs().size() == 2 ? op : nullptr;
    auto scatter = dyn_cast_or_null<TensorScatterOp>(op);
    bool isPlain = scatter && !scatter.getCircular() &&
                   product(dimsOf(scatter.getPosition())) == 1;
    return isPlain ? op : nullptr;
  }

  static int64_t axisOf(Operation *step) {
    auto scatter = dyn_cast<TensorScatterOp>(step);
    return scatter ? scatter.getAxis() : cast<ConcatOp>(step).getAxis();
  }

  /// Whether `value` is the input of the state (transposed to the axes of the
  /// model if StateLayout has permuted it), and `value` and the input both have
  /// a single use.
  bool isInput(Value value) const {
    if (!input.hasOneUse() || !value.hasOneUse())
      return false;
    if (perm.empty())
      return value == input;
    auto transpose = value.getDefiningOp<TransposeOp>();
    return transpose && transpose.getX() == input &&
           ArrayRef(transpose.getPerm()) ==
               ArrayRef<int64_t>(inversePermutation(perm));
  }

  Value inLayout(OpBuilder &builder, Value rows) const {
    return perm.empty() ? rows
                        : buildTranspose(builder, rows.getLoc(), rows, perm);
  }

  Value append(Operation *op, Value state) const {
    OpBuilder builder(op);
    Type i64 = builder.getIntegerType(64, /*isSigned=*/true);
    auto scatter = dyn_cast<TensorScatterOp>(op);
    int64_t axis = axisOf(op);
    Value at;
    if (scatter) {
      at = buildReshape(builder, op->getLoc(), scatter.getPosition(),
                        ArrayRef<int64_t>());
    } else {
      Dim before = dimsOf(op->getOperand(0))[axis];
      auto type = RankedTensorType::get({}, i64);
      if (auto number = before.known())
        at = ConstantOp::create(
            builder, op->getLoc(),
            DenseElementsAttr::get(type, builder.getIntegerAttr(i64, *number)));
      else
        at = SizesOp::create(builder, op->getLoc(), type,
                             kernel::sizesAttr({before}, op->getContext()));
    }
    Dims sizes = dimsOf(op->getResult(0));
    if (!perm.empty()) {
      sizes = permuted(ArrayRef<Dim>(sizes), perm);
      axis = llvm::find(perm, axis) - perm.begin();
    }
    return AppendOp::create(builder, op->getLoc(),
                            tensorOf(sizes, elementOf(state)), state,
                            inLayout(builder, op->getOperand(1)), at, axis);
  }

  BlockArgument input;
  OpOperand &returned;
  /// The permutation from the axes of the model to the axes of the state; empty
  /// if the order of axes is the same.
  SmallVector<int64_t> perm;
};

struct LayOutStatesPass : impl::LayOutStatesBase<LayOutStatesPass> {
  using Base::Base;

  void runOnOperation() override {
    llvm::MapVector<StringAttr, SmallVector<StateTensor>> states;
    auto add = [&](StateTensor tensor) {
      DictionaryAttr attrs = tensor.attrs();
      if (auto name = attrs ? attrs.getAs<StringAttr>(kernel::kStateAttr)
                            : StringAttr())
        states[name].push_back(tensor);
    };
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        add({function, i, /*isResult=*/false});
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        add({function, i, /*isResult=*/true});
    }
    for (auto &[name, tensors] : states) {
      StateLayout(tensors).permute();
      if (!onePlace)
        continue;
      for (const StateTensor &input : tensors)
        for (const StateTensor &output : tensors)
          if (!input.isResult && output.isResult &&
              input.function == output.function)
            appendInPlace(input, output);
    }
  }

private:
  static void appendInPlace(const StateTensor &input,
                            const StateTensor &output) {
    Appending(cast<BlockArgument>(input.value()), output.returned()).run();
  }
};

} // namespace
} // namespace ingot::simplify
