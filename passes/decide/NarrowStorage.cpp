// Stores the intermediate tensors of device kernels in bf16 or f16, for the
// option `fast` = bf16 or f16.
//
//   %1 = group "tensor-product"(%x, %w) -> f32 { %y = matmul; yield %y }
//   %2 = group "elementwise"(%1) -> bf16 { yield cast(%1, bf16) }
//   %3 = group "elementwise"(%1, %2) -> f32 { yield add(%1, cast(%2, f32)) }
//     ->
//   %1 = group "tensor-product"(%x, %w) -> bf16 { %y = matmul; yield cast(%y, bf16) }
//   %3 = group "elementwise"(%1) -> f32 { %a = cast(%1, f32); yield add(%a, %a) }
//
// Kernels still compute in f32: a group widens its operands and rounds its
// result. Groups that would only round are removed, and strategies are chosen
// again.
//
// These tensors stay f32:
// - inputs and outputs of the function, and operands of functions called by ifs
//   and loops;
// - constants;
// - values computed from integers only (positions, masks);
// - statistics and other results of reductions;
// - values that are converted to integers or are arguments of a sine, for which
//   the absolute error matters;
// - operands and results of whole-tensor operators other than layer
//   normalization and softmax.
//
// Operands and results of layer normalization and softmax, of views and of
// in-place concatenations have the same type.

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/IRMapping.h"
#include "passes/decide/NeededDigits.h"
#include "passes/decide/Passes.h"
#include "passes/schedule/Anchors.h"
#include "passes/schedule/ExecutionModel.h"
#include "targets/TargetDescription.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {
#define GEN_PASS_DEF_NARROWSTORAGE
#include "passes/decide/Passes.h.inc"

namespace {

bool isWideFloat(Value v) {
  auto tensor = dyn_cast<RankedTensorType>(v.getType());
  return tensor && tensor.getElementType().isF32();
}

/// Whether a kernel supports `op` on a widened operand: `v` is stored in a
/// narrow type, and a cast in the group of `op` widens it before `op` reads it.
bool takesWidened(Operation *op, Value v) {
  if (auto conv = dyn_cast<ConvOp>(op))
    return schedule::isDepthwise(conv) && conv.getX() == v;
  // A layer normalization that is not the group's result computes rows for a
  // matmul of the same group. The code that computes these rows can also widen
  // its operand.
  if (isa<LayerNormOp>(op) && !isa<YieldOp>(*op->user_begin()))
    return true;
  auto element = dyn_cast<ElementOpInterface>(op);
  return element && !isa<MatMulOp, NarrowMatMulOp, ConvTransposeOp>(op) &&
         (element.isCheap() ||
          isa<ReductionOpInterface, MaxPoolOp, AveragePoolOp>(op));
}

/// Whether all users of a group's operand support an operand that is stored in
/// a narrow type and widened by a cast in the group.
bool takesWidened(BlockArgument operand) {
  return llvm::all_of(operand.getUsers(), [&](Operation *user) {
    return isa<YieldOp>(user) || takesWidened(user, operand);
  });
}

/// Whether an operator that needs full precision depends on a group's operand.
/// With `isResult`, the group's result needs full precision too, so all
/// operands on which it depends do.
bool isReadExactly(BlockArgument operand, bool isResult) {
  llvm::SetVector<Value> computed;
  computed.insert(operand);
  for (size_t i = 0; i < computed.size(); ++i)
    for (Operation *user : computed[i].getUsers()) {
      if (needsDigits(user) || (isResult && isa<YieldOp>(user)))
        return true;
      if (isa<ElementwiseOpInterface>(user) || movesElements(user))
        computed.insert(user->getResult(0));
    }
  return false;
}

/// Returns the layer normalization or softmax that computes the result of a
/// group directly from an operand of the group; null if there is none.
Operation *rowsOf(GroupOp group) {
  Operation *op =
      group.getBody().front().getTerminator()->getOperand(0).getDefiningOp();
  return isa_and_nonnull<LayerNormOp, SoftmaxOp>(op) &&
                 isa<BlockArgument>(op->getOperand(0))
             ? op
             : nullptr;
}

/// Returns the number that all elements of `constant` equal, in the narrow
/// type; nothing if elements differ or the conversion is not exact.
std::optional<APFloat> narrowNumber(ConstantOp constant, FloatType narrow) {
  auto value = dyn_cast<DenseFPElementsAttr>(constant.getValue());
  if (!value || value.empty() || !value.isSplat())
    return std::nullopt;
  APFloat number = value.getSplatValue<APFloat>();
  bool isRounded = false;
  number.convert(narrow.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                 &isRounded);
  return isRounded ? std::nullopt : std::optional(number);
}

/// In the body of a group, replaces casts from f32 to the narrow type. A cast
/// is replaced if its operand is computed only by moves from widened values and
/// from constants that the narrow type represents exactly. The same moves are
/// then built in the narrow type, and their result replaces that of the cast.
class NarrowForms {
public:
  explicit NarrowForms(FloatType narrow) : narrow(narrow) {}

  /// Rewrites widen -> move -> round as a move of the narrow elements.
  void replace(Block &body) {
    for (auto rounding : llvm::make_early_inc_range(body.getOps<CastOp>()))
      if (elementOf(rounding.getResult()) == narrow &&
          isWideFloat(rounding.getX()) && exists(rounding.getX()))
        rounding.replaceAllUsesWith(of(rounding.getX()));
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
      if (op.use_empty() && !op.hasTrait<OpTrait::IsTerminator>())
        op.erase();
  }

private:
  bool exists(Value v) {
    Operation *op = v.getDefiningOp();
    if (auto constant = dyn_cast_or_null<ConstantOp>(op))
      return narrowNumber(constant, narrow).has_value();
    if (auto widening = dyn_cast_or_null<CastOp>(op))
      return elementOf(widening.getX()) == narrow;
    if (!op || !movesElements(op))
      return false;
    if (auto found = known.find(v); found != known.end())
      return found->second;
    bool all = llvm::all_of(op->getOperands(), [&](Value operand) {
      return !isWideFloat(operand) || exists(operand);
    });
    known[v] = all;
    return all;
  }

  /// Returns `v` in the narrow type; exists(v) must hold.
  Value of(Value v) {
    if (Value form = forms.lookup(v))
      return form;
    Value form = build(v);
    forms[v] = form;
    return form;
  }

  Value build(Value v) {
    Operation *op = v.getDefiningOp();
    if (auto widening = dyn_cast<CastOp>(op))
      return widening.getX();
    OpBuilder builder(op);
    RankedTensorType type = tensorOf(dimsOf(v), narrow);
    if (auto constant = dyn_cast<ConstantOp>(op))
      return ConstantOp::create(builder, v.getLoc(),
                                cast<ElementsAttr>(DenseElementsAttr::get(
                                    type, *narrowNumber(constant, narrow))));
    IRMapping mapping;
    for (Value operand : op->getOperands())
      if (isWideFloat(operand))
        mapping.map(operand, of(operand));
    Value moved = builder.clone(*op, mapping)->getResult(0);
    moved.setType(type);
    return moved;
  }

  FloatType narrow;
  /// The results of exists() and of().
  llvm::DenseMap<Value, bool> known;
  llvm::DenseMap<Value, Value> forms;
};

class Storage {
public:
  Storage(func::FuncOp function, FloatType narrow,
          const TargetDescription &target, bool savesMemory)
      : block(function.getBody().front()), narrow(narrow), target(target),
        savesMemory(savesMemory) {}

  void run() {
    for (Operation &op : block)
      join(&op);
    for (Operation &op : llvm::reverse(block))
      keepWide(&op);
    for (Operation &op : llvm::make_early_inc_range(block))
      if (auto group = dyn_cast<GroupOp>(op))
        rewrite(group);
      else if (isView(&op) && isNarrowed(op.getResult(0)))
        setNarrow(op.getResult(0));
  }

private:
  static bool isView(Operation *op) {
    return isa<ReshapeOp, SliceOp, ConcatOp>(op);
  }
  /// Adds the results of `op` to `data` if they are computed from floats, and
  /// unites values that must have the same type.
  void join(Operation *op) {
    bool hasData = isa<ConstantOp>(op)
                       ? isa<FloatType>(elementOf(op->getResult(0)))
                       : llvm::any_of(op->getOperands(),
                                      [&](Value v) { return isData(v); });
    for (Value result : op->getResults()) {
      if (hasData)
        data.insert(result);
      if (isWideFloat(result))
        classes.insert(result.getAsOpaquePointer());
    }
    auto unite = [&](Value read) {
      classes.unionSets(op->getResult(0).getAsOpaquePointer(),
                        read.getAsOpaquePointer());
    };
    if (auto group = dyn_cast<GroupOp>(op)) {
      Operation *rows = rowsOf(group);
      if (rows && isWideFloat(op->getResult(0)))
        unite(group.getInputs()[cast<BlockArgument>(rows->getOperand(0))
                                    .getArgNumber()]);
    } else if (isView(op) && isWideFloat(op->getResult(0))) {
      llvm::for_each(op->getOperands(), unite);
    }
  }

  /// Whether a tensor is computed from floats, not only from integers.
  bool isData(Value v) const {
    return data.contains(v) ||
           (isa<BlockArgument>(v) && isa<FloatType>(elementOf(v)));
  }

  void keepWide(Value v) {
    if (isWideFloat(v))
      wide.insert(classes.getOrInsertLeaderValue(v.getAsOpaquePointer()));
  }

  /// Marks the values that `op` forces to stay f32. Must have been called for
  /// all users of the results of `op`.
  void keepWide(Operation *op) {
    if (auto group = dyn_cast<GroupOp>(op)) {
      Block &body = group.getBody().front();
      if (op->getNumResults() != 1 || !data.contains(op->getResult(0)) ||
          !isRounded(group))
        llvm::for_each(op->getResults(), [&](Value v) { keepWide(v); });
      for (auto [argument, input] :
           llvm::zip_equal(body.getArguments(), group.getInputs()))
        if (isa<BlockArgument>(input) || input.getDefiningOp<ConstantOp>() ||
            (!takesWidened(argument) && !isRead(rowsOf(group), argument))) {
          keepWide(input);
        } else if (isReadExactly(argument,
                                 digits.contains(group.getResult(0)))) {
          digits.insert(input);
          keepWide(input);
        }
      return;
    }
    if (!isView(op))
      llvm::for_each(op->getResults(), [&](Value v) { keepWide(v); });
    for (Value v : op->getOperands())
      if (!isView(op) || isa<BlockArgument>(v) || v.getDefiningOp<ConstantOp>())
        keepWide(v);
  }

  static bool isRead(Operation *rows, BlockArgument argument) {
    return rows && rows->getOperand(0) == argument &&
           !llvm::is_contained(rows->getOperands().drop_front(), argument);
  }

  /// Whether the result of `group` can be stored rounded. It can if a layer
  /// normalization or softmax computes the result directly from an operand of
  /// the group (rowsOf), or if the group has no reduction, its only
  /// whole-tensor operators are layer normalization and softmax, and its first
  /// operator is no softmax.
  static bool isRounded(GroupOp group) {
    if (rowsOf(group))
      return true;
    return llvm::all_of(group.getBody().front().without_terminator(),
                        [](Operation &op) {
                          return isa<ConstantOp, SoftmaxOp, LayerNormOp>(op) ||
                                 (isa<ElementOpInterface>(op) &&
                                  !isa<ReductionOpInterface>(op));
                        }) &&
           !isa<SoftmaxOp>(group.getBody().front().front());
  }

  bool isNarrowed(Value v) const {
    auto known = classes.findLeader(v.getAsOpaquePointer());
    return known != classes.member_end() && !wide.contains(*known) &&
           !isa<BlockArgument>(v) && !v.getDefiningOp<ConstantOp>();
  }

  void setNarrow(Value v) const { v.setType(tensorOf(dimsOf(v), narrow)); }

  /// Makes `group` read and write narrow tensors, according to `isNarrowed`.
  void rewrite(GroupOp group) const {
    Block &body = group.getBody().front();
    Operation *rows = rowsOf(group);
    bool isChanged = false;
    auto builder = OpBuilder::atBlockBegin(&body);
    for (auto [argument, input] :
         llvm::zip_equal(body.getArguments(), group.getInputs())) {
      if (argument.getType() == input.getType())
        continue;
      isChanged = true;
      Type before = argument.getType();
      argument.setType(input.getType());
      if (isRead(rows, argument))
        continue;
      Value widened =
          CastOp::create(builder, argument.getLoc(), before, argument);
      argument.replaceAllUsesExcept(widened, widened.getDefiningOp());
    }
    Operation *yield = body.getTerminator();
    if (group.getNumResults() == 1 && isNarrowed(group.getResult(0))) {
      isChanged = true;
      setNarrow(group.getResult(0));
      Value result = yield->getOperand(0);
      builder.setInsertionPoint(yield);
      if (rows)
        setNarrow(result);
      else
        yield->setOperand(0,
                          CastOp::create(builder, result.getLoc(),
                                         group.getResult(0).getType(), result));
    }
    isChanged |= mergeInputs(group);
    if (!isChanged)
      return;
    NarrowForms(narrow).replace(body);
    if (auto same = dyn_cast<BlockArgument>(yield->getOperand(0));
        same && group.getNumResults() == 1 && !group.getOutputStrides() &&
        isReadByGroups(group.getResult(0))) {
      group.getResult(0).replaceAllUsesWith(
          group.getInputs()[same.getArgNumber()]);
      group.erase();
      return;
    }
    // If the group now only returns an operand, a reshape in the group copies
    // it.
    if (Value same = yield->getOperand(0); isa<BlockArgument>(same)) {
      builder.setInsertionPoint(yield);
      yield->setOperand(
          0, ReshapeOp::create(builder, same.getLoc(), same.getType(), same));
    }
    schedule::decideStrategy(group, target, /*packs=*/true, savesMemory);
  }

  /// Merges operands of a group that are the same tensor; returns whether it
  /// merged any.
  static bool mergeInputs(GroupOp group) {
    Block &body = group.getBody().front();
    llvm::DenseMap<Value, BlockArgument> first;
    llvm::BitVector same(body.getNumArguments());
    for (auto [argument, input] :
         llvm::zip_equal(body.getArguments(), group.getInputs())) {
      auto [known, isFirst] = first.try_emplace(input, argument);
      if (isFirst)
        continue;
      argument.replaceAllUsesWith(known->second);
      same.set(argument.getArgNumber());
    }
    body.eraseArguments(same);
    group->eraseOperands(same);
    return same.any();
  }

  /// Whether only groups read `v`, directly or through views.
  static bool isReadByGroups(Value v) {
    return llvm::all_of(v.getUsers(), [](Operation *user) {
      return isa<GroupOp>(user) || (isa<ReshapeOp, SliceOp>(user) &&
                                    isReadByGroups(user->getResult(0)));
    });
  }

  Block &block;
  FloatType narrow;
  const TargetDescription &target;
  bool savesMemory;
  /// Classes of values that must have the same element type.
  llvm::EquivalenceClasses<void *> classes;
  /// The leaders of the classes whose values stay f32.
  llvm::DenseSet<void *> wide;
  /// Values computed from floats (`data`), and values that need full precision
  /// (`digits`).
  llvm::DenseSet<Value> data, digits;
};

struct NarrowStoragePass : impl::NarrowStorageBase<NarrowStoragePass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    Builder builder(&getContext());
    if (schedule::modelOf(target).storesNarrow && target.multiplies(fast) &&
        fast != "tf32")
      Storage(getOperation(),
              fast == "f16" ? FloatType(builder.getF16Type())
                            : FloatType(builder.getBF16Type()),
              target, savesMemory)
          .run();
  }
};

} // namespace
} // namespace ingot::decide
