// Chooses the layout of states and appends rows to them in place.
//
//   func @main(%flat : tensor<12096xf32, [n * 192]> {kernel.state = "past"}, %new)
//     %past = refill %flat : [1, 3, n, 64]
//     %all = concat %past, %new {axis = 2}       reads of %all
//     return refill %all                         {kernel.state = "past"}
//       ->
//   func @main(%past : tensor<1x3x64x64xf32> {kernel.state = "past"}, %new)
//     %all = append %past, %new, n {axis = 2}    reads of slice(%all)
//     return %all
//
// A state is a tensor kept from run to run, such as a key-value cache. If it
// grows along one axis, no element may move when it grows. There are two
// layouts for which this holds:
//
// - If all entry functions only append to the state, the growing axis has its
//   largest size in memory. Then all strides are constant. The axis comes
//   before the last other one, so that the rows of a head are contiguous.
// - Otherwise the growing axis becomes the first axis. Then the memory has no
//   gaps.
//
// A concatenation with the state, or a scatter into it, then only stores the
// new rows, if nothing else reads the state. All entry functions agree on the
// layout of a state, since it is derived from all tensors of that state.

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/Movement.h"
#include "dialects/kernel/KernelModule.h"
#include "mlir/Transforms/RegionUtils.h"
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
  /// Returns the tensor with the axes of the model: the tensor itself or, if
  /// the program passes it with one flat axis, the operand or the result of the
  /// reshape to this axis or from it; the flat tensor if there is no such
  /// reshape.
  Value inModel() const {
    Value own = value();
    if (hasAxes(own))
      return own;
    if (!isResult) {
      for (Operation *user : own.getUsers())
        if (isReshape(user) && hasAxes(user->getResult(0)))
          return user->getResult(0);
    } else if (Operation *op = own.getDefiningOp();
               isReshape(op) && hasAxes(op->getOperand(0))) {
      return op->getOperand(0);
    }
    return own;
  }

  /// Whether the program passes the tensor with one flat axis.
  bool isFlat() const { return !hasAxes(value()); }
  /// Whether nothing reads the tensor, an argument.
  bool isUnused() const {
    Value own = value(), tensor = inModel();
    return tensor.use_empty() && (tensor == own || own.hasOneUse());
  }

  bool operator==(const StateTensor &other) const {
    return function == other.function && index == other.index &&
           isResult == other.isResult;
  }

private:
  static bool isReshape(Operation *op) {
    return isa_and_nonnull<RefillOp, ReshapeOp>(op);
  }
  bool hasAxes(Value x) const { return shapeOf(x).size() == sizes().size(); }
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

void updateType(func::FuncOp function) {
  Block &entry = function.getBody().front();
  function.setFunctionType(
      FunctionType::get(function.getContext(), entry.getArgumentTypes(),
                        entry.getTerminator()->getOperandTypes()));
}

/// How the program stores the tensors of a state.
struct StateLayout {
  /// The permutation from the axes of the model to the axes in memory; empty if
  /// the order is the same.
  SmallVector<int64_t> perm;
  /// The sizes of the tensors in memory if they have spare rows; else empty, and
  /// each tensor has its own sizes.
  Dims whole;
  /// The axis in memory that has spare rows.
  int64_t axis = 0;

  Value fromModel(OpBuilder &builder, Value x) const {
    return perm.empty() ? x : buildTranspose(builder, x.getLoc(), x, perm);
  }

  /// Returns the tensor of the model, with sizes `sizes`, that `stored` holds.
  Value toModel(OpBuilder &builder, Value stored, const Dims &sizes) const {
    Location loc = stored.getLoc();
    if (!whole.empty()) {
      SmallVector<int64_t> starts(sizes.size(), 0), steps(sizes.size(), 1);
      stored = SliceOp::create(builder, loc, stored, starts, steps,
                               ArrayRef<Dim>(permutedSizes(sizes)));
    }
    return perm.empty()
               ? stored
               : buildTranspose(builder, loc, stored, inversePermutation(perm));
  }

  Dims permutedSizes(const Dims &sizes) const {
    return perm.empty() ? sizes : permuted(ArrayRef<Dim>(sizes), perm);
  }
  /// Returns the sizes in memory of a tensor that has `sizes` in the model.
  Dims sizesInMemory(const Dims &sizes) const {
    return whole.empty() ? permutedSizes(sizes) : whole;
  }

  /// Stores `tensor` in this layout, which has no spare rows.
  void apply(StateTensor tensor) const {
    Dims stated = tensor.sizes();
    tensor.isResult ? permuteResult(tensor) : permuteArgument(tensor);
    if (tensor.attrs().contains(kernel::kSizesAttr))
      setSizes(tensor, stated);
  }

  /// Records the sizes of `tensor`, which are `sizes` in the model.
  void setSizes(StateTensor tensor, const Dims &sizes) const {
    tensor.setAttr(
        kernel::kSizesAttr,
        kernel::sizesAttr(permutedSizes(sizes), tensor.function.getContext()));
  }

private:
  void permuteArgument(StateTensor &tensor) const {
    BlockArgument argument = tensor.function.getArgument(tensor.index);
    // A reshape of the argument has the symbols that the program uses for
    // dynamic sizes.
    Value inModel = tensor.inModel();
    Dims own = shapeOf(inModel).size() == perm.size() ? dimsOf(inModel)
                                                      : tensor.sizes();
    OpBuilder builder = OpBuilder::atBlockBegin(argument.getOwner());
    Type before = argument.getType();
    Dims flat = dimsOf(argument);
    argument.setType(tensorOf(sizesInMemory(own), elementOf(argument)));
    Value back = toModel(builder, argument, own);
    Operation *transpose = back.getDefiningOp();
    for (OpOperand &use : llvm::make_early_inc_range(argument.getUses())) {
      Operation *user = use.getOwner();
      if (user == transpose)
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

  void permuteResult(StateTensor &tensor) const {
    OpOperand &operand = tensor.returned();
    OpBuilder builder(operand.getOwner());
    Value value = tensor.inModel();
    if (shapeOf(value).size() != perm.size())
      value = buildReshape(builder, value.getLoc(), value, tensor.sizes());
    operand.set(fromModel(builder, value));
    updateType(tensor.function);
  }
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
/// state (a result of a function) from its old value (an argument). If the old
/// value is empty and nothing reads it, the chain has no steps.
class Appending {
public:
  /// Returns the chain between two tensors of a state; nothing if the new value
  /// is computed otherwise, or if anything else reads the old value.
  static std::optional<Appending> between(StateTensor input,
                                          StateTensor output) {
    Appending found(input, output);
    Value value = found.last;
    while (Operation *op = stepOf(value)) {
      if (value != found.last && !value.hasOneUse())
        return std::nullopt;
      found.steps.push_back(op);
      value = withoutLength(op->getOperand(0), axisOf(op));
    }
    found.after = dimsOf(found.last);
    found.before = dimsOf(input.inModel());
    bool isEmpty = tensorType(input.inModel()).getNumElements() == 0;
    if (isEmpty && input.isUnused()) {
      found.steps.clear();
      return found;
    }
    if (found.steps.empty() || value != input.inModel() || !value.hasOneUse() ||
        !input.value().hasOneUse())
      return std::nullopt;
    std::reverse(found.steps.begin(), found.steps.end());
    return found;
  }

  const StateTensor &getInput() const { return input; }
  const StateTensor &getOutput() const { return output; }

  /// Returns the largest size of `axis` of the old and the new value.
  int64_t most(int64_t axis) const {
    return std::max(before[axis].most(), after[axis].most());
  }

  /// Whether all steps add rows along `axis`.
  bool isAlong(int64_t axis) const {
    return llvm::all_of(steps,
                        [&](Operation *step) { return axisOf(step) == axis; });
  }

  bool isWithoutSteps() const { return steps.empty(); }

  /// Replaces the chain by in-place appends to a state that is stored in
  /// `layout`. Without steps, the new value is appended at position 0.
  void run(const StateLayout &layout) {
    for (StateTensor tensor : {input, output})
      if (!layout.whole.empty() || tensor.attrs().contains(kernel::kSizesAttr))
        layout.setSizes(tensor, tensor.sizes());
    BlockArgument argument = input.function.getArgument(input.index);
    argument.setType(
        tensorOf(layout.sizesInMemory(before), elementOf(argument)));
    Value state = argument;
    if (steps.empty()) {
      OpBuilder builder(output.returned().getOwner());
      state = AppendOp::create(builder, last.getLoc(),
                               tensorOf(layout.whole, elementOf(state)), state,
                               layout.fromModel(builder, last),
                               scalar(builder, last.getLoc(), 0), layout.axis);
    } else {
      for (Operation *step : steps)
        state = append(step, state, layout);
      OpBuilder builder(steps.back());
      builder.setInsertionPointAfterValue(state);
      last.replaceAllUsesWith(layout.toModel(builder, state, after));
    }
    output.returned().set(state);
    updateType(input.function);
  }

private:
  Appending(StateTensor input, StateTensor output)
      : input(input), output(output), last(output.inModel()) {}

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

  /// Returns `size` as a scalar integer.
  static Value scalar(OpBuilder &builder, Location loc, const Dim &size) {
    Type i64 = builder.getIntegerType(64, /*isSigned=*/true);
    auto type = RankedTensorType::get({}, i64);
    if (auto number = size.known())
      return ConstantOp::create(
          builder, loc,
          DenseElementsAttr::get(type, builder.getIntegerAttr(i64, *number)));
    return SizesOp::create(builder, loc, type,
                           kernel::sizesAttr({size}, builder.getContext()));
  }

  /// Returns the position of the first new row of `step`. A scatter counts a
  /// negative position from the end of the axis, and clamps a position that
  /// leaves too little room. An append does the same, but in memory with spare
  /// rows the axis does not end where the one of the model ends.
  static Value positionOf(OpBuilder &builder, Operation *step, bool hasSpare) {
    Location loc = step->getLoc();
    int64_t axis = axisOf(step);
    auto scatter = dyn_cast<TensorScatterOp>(step);
    if (!scatter)
      return scalar(builder, loc, dimsOf(step->getOperand(0))[axis]);
    Value at =
        buildReshape(builder, loc, scatter.getPosition(), ArrayRef<int64_t>());
    if (!hasSpare)
      return at;
    Dim length = dimsOf(scatter.getResult())[axis],
        rows = dimsOf(scatter.getUpdate())[axis];
    Value zero = scalar(builder, loc, 0);
    if (at.getType() != zero.getType())
      at = CastOp::create(builder, loc, TypeRange{zero.getType()}, at);
    Value isNegative = LessOp::create(builder, loc, at, zero),
          wrapped =
              AddOp::create(builder, loc, at, scalar(builder, loc, length));
    at = WhereOp::create(builder, loc, isNegative, wrapped, at);
    return MinimumOp::create(builder, loc, at,
                             scalar(builder, loc, length - rows));
  }

  static Value append(Operation *op, Value state, const StateLayout &layout) {
    OpBuilder builder(op);
    int64_t axis = axisOf(op);
    if (!layout.perm.empty())
      axis = llvm::find(layout.perm, axis) - layout.perm.begin();
    Dims sizes = layout.sizesInMemory(dimsOf(op->getResult(0)));
    Value rows = layout.fromModel(builder, op->getOperand(1)),
          at = positionOf(builder, op, !layout.whole.empty());
    return AppendOp::create(builder, op->getLoc(),
                            tensorOf(sizes, elementOf(state)), state, rows, at,
                            axis);
  }

  StateTensor input, output;
  /// The new value, with the axes of the model.
  Value last;
  /// The concatenations and scatters, first one first.
  SmallVector<Operation *> steps;
  /// The sizes of the old and of the new value in the model.
  Dims before, after;
};

/// All tensors of a state.
class State {
public:
  void add(StateTensor tensor) { tensors.push_back(tensor); }

  /// Chooses the layout of the state and, with `onePlace`, appends to it in
  /// place.
  void layOut(bool onePlace) {
    SmallVector<Appending> chains;
    if (onePlace)
      for (const StateTensor &input : tensors)
        for (const StateTensor &output : tensors)
          if (!input.isResult && output.isResult &&
              input.function == output.function)
            if (auto chain = Appending::between(input, output))
              chains.push_back(*chain);
    StateLayout layout = choose(chains);
    // A state with several dynamic axes keeps its one flat axis.
    bool keepsAxes = layout.perm.empty();
    if (layout.whole.empty())
      llvm::erase_if(chains, [&](const Appending &chain) {
        return chain.isWithoutSteps() ||
               (keepsAxes &&
                (chain.getInput().isFlat() || chain.getOutput().isFlat()));
      });
    for (Appending &chain : chains)
      chain.run(layout);
    if (layout.perm.empty())
      return;
    for (const StateTensor &tensor : tensors)
      if (llvm::none_of(chains, [&](const Appending &chain) {
            return chain.getInput() == tensor || chain.getOutput() == tensor;
          }))
        layout.apply(tensor);
  }

private:
  StateLayout choose(ArrayRef<Appending> chains) const {
    std::optional<int64_t> axis = growingAxis(tensors);
    if (!axis || *axis < 1)
      return {};
    Dims sizes = tensors.front().sizes();
    int64_t last = int64_t(sizes.size()) - 1;
    bool isFirst = llvm::all_of(ArrayRef(sizes).take_front(*axis),
                                [](const Dim &size) { return size == 1; });
    if (isFirst)
      return {};
    StateLayout layout;
    bool onlyAppended = chains.size() * 2 == tensors.size() &&
                        llvm::all_of(chains, [&](const Appending &chain) {
                          return chain.isAlong(*axis);
                        });
    if (!onlyAppended) {
      layout.perm = moved(*axis, 0, sizes.size());
      return layout;
    }
    if (*axis != last - 1)
      layout.perm = moved(*axis, last - 1, sizes.size());
    int64_t most = 0;
    for (const StateTensor &tensor : tensors)
      most = std::max(most, tensor.sizes()[*axis].most());
    for (const Appending &chain : chains)
      most = std::max(most, chain.most(*axis));
    sizes[*axis] = most;
    layout.whole = layout.permutedSizes(sizes);
    layout.axis = last - 1;
    return layout;
  }

  /// Returns the permutation of `rank` axes that moves `axis` to `position`.
  static SmallVector<int64_t> moved(int64_t axis, int64_t position,
                                    size_t rank) {
    SmallVector<int64_t> perm;
    for (int64_t i = 0; i < int64_t(rank); ++i)
      if (i != axis)
        perm.push_back(i);
    perm.insert(perm.begin() + position, axis);
    return perm;
  }

  SmallVector<StateTensor> tensors;
};

struct LayOutStatesPass : impl::LayOutStatesBase<LayOutStatesPass> {
  using Base::Base;

  void runOnOperation() override {
    llvm::MapVector<StringAttr, State> states;
    auto add = [&](StateTensor tensor) {
      DictionaryAttr attrs = tensor.attrs();
      if (auto name = attrs ? attrs.getAs<StringAttr>(kernel::kStateAttr)
                            : StringAttr())
        states[name].add(tensor);
    };
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        add({function, i, /*isResult=*/false});
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        add({function, i, /*isResult=*/true});
    }
    for (auto &[name, state] : states)
      state.layOut(onePlace);
    // Remove the reshapes and concatenations that were replaced: their types do
    // not fit the new types of the states.
    IRRewriter rewriter(&getContext());
    for (auto function : getOperation().getOps<func::FuncOp>())
      (void)runRegionDCE(rewriter, function->getRegions());
  }
};

} // namespace
} // namespace ingot::simplify
