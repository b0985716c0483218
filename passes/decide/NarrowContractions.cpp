// Contractions of bf16, which the target multiplies, are summed in f32.
//
//   conv(%x, %w, %bias) : bf16
//     ->  cast(conv(%x, %w, cast(%bias, f32)) : f32, bf16)
//
// and with `fast` (--fast=bf16) contractions of f32 become such ones:
//
//   %a = relu(%z)
//   %y = conv(%a, %w, %bias) : f32
//     ->  %n = cast(relu(%z), bf16)
//         %y = conv(%n, cast(%w, bf16), %bias) : f32
//   add(%a, %y)  ->  add(cast(%n, f32), %y)
//
// and matrix products alike. Weights are rounded when constants are folded, activations
// where they are stored: what else reads them element by element reads the rounded ones,
// so that they are stored once, in half of the bytes. Sums, and all that is computed
// between contractions, stay in f32, as do convolutions that Winograd's algorithm
// computes in less time with f32. Attention does, too, if there are few queries: keys and
// values are put into pairs for each block of them. Filters of one channel each keep their
// operands, but for how their input is stored.

#include "dialects/graph/ElementsData.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/Contraction.h"
#include "passes/decide/Passes.h"
#include "passes/schedule/Anchors.h"
#include "passes/schedule/AttentionAnchor.h"
#include "passes/schedule/tiles/DotTile.h"
#include "passes/schedule/tiles/WinogradTiles.h"
#include "passes/simplify/Moves.h"
#include "targets/TargetDescription.h"

using namespace mlir;
using namespace ingot::graph;
using ingot::simplify::Moves;

namespace ingot::decide {
#define GEN_PASS_DEF_NARROWCONTRACTIONS
#include "passes/decide/Passes.h.inc"

namespace {

/// The convolutions and products with operands of type `element`.
std::vector<Operation *>
contractionsOf(func::FuncOp function,
               llvm::function_ref<bool(Type element)> isWanted) {
  std::vector<Operation *> found;
  function.walk([&](Operation *op) {
    if (isa<ConvOp, MatMulOp>(op) && hasKnownSteps(op) &&
        isWanted(elementOf(op->getOperand(0))) &&
        isWanted(elementOf(op->getOperand(1))))
      found.push_back(op);
  });
  return found;
}

Value castTo(OpBuilder &builder, Value v, Type type) {
  return CastOp::create(builder, v.getLoc(), tensorOf(dimsOf(v), type), v);
}

/// Sums the products of a contraction of bf16 in f32.
void widen(Operation *op) {
  Value y = op->getResult(0);
  Type narrow = elementOf(y);
  auto conv = dyn_cast<ConvOp>(op);
  if (!narrow.isBF16() || (conv && conv.getGroups() != 1))
    return;
  OpBuilder builder(op);
  if (conv && conv.getBias())
    conv.getBiasMutable().assign(
        castTo(builder, conv.getBias(), builder.getF32Type()));
  y.setType(tensorOf(dimsOf(y), builder.getF32Type()));
  builder.setInsertionPointAfter(op);
  Value rounded = castTo(builder, y, narrow);
  y.replaceAllUsesExcept(rounded, rounded.getDefiningOp());
}

/// The products of attention in a function that has few queries, or a number of keys that
/// is known only at run time.
llvm::DenseSet<Operation *> productsOfSmallAttention(func::FuncOp function) {
  constexpr int64_t fewQueries = 16;
  llvm::DenseSet<Operation *> products;
  function.walk([&](MatMulOp product) {
    auto anchor = schedule::AttentionAnchor::of(product);
    if (anchor &&
        (anchor.queries().most() < fewQueries || !anchor.keys().known())) {
      products.insert(anchor.scores);
      products.insert(anchor.product);
    }
  });
  return products;
}

/// Whether f32 take less time, with fewer products.
bool isFasterWide(Operation *op, const TargetDescription &target) {
  auto conv = dyn_cast<ConvOp>(op);
  auto weights = conv ? conv.getW().getDefiningOp<ConstantOp>() : ConstantOp();
  if (!weights || !hasData(weights.getValue()))
    return false;
  std::optional<double> wide =
      schedule::winogradCycles(conv, weights.getValue(), target);
  if (!wide)
    return false;
  Type narrow = BFloat16Type::get(op->getContext());
  int64_t steps = ShapedType::getNumElements(shapeOf(conv.getW()).drop_back());
  auto form = schedule::dotForm(narrow, narrow, target, steps);
  ArrayRef<int64_t> y = shapeOf(conv.getResult());
  schedule::DotModel dots(ShapedType::getNumElements(y.drop_back()), y.back(),
                          steps, *form, target);
  return *wide < dots.cycles(dots.ranked().front());
}

class Narrowing {
public:
  Narrowing(func::FuncOp function, const TargetDescription &target)
      : builder(function.getContext()), narrow(builder.getBF16Type()),
        contractions(
            contractionsOf(function, [](Type type) { return type.isF32(); })) {
    llvm::DenseSet<Operation *> attention = productsOfSmallAttention(function);
    llvm::erase_if(contractions, [&](Operation *op) {
      return attention.contains(op) || isFasterWide(op, target);
    });
    inBFloats.insert_range(contractions);
  }

  void run() {
    for (Operation *op : contractions) {
      auto conv = dyn_cast<ConvOp>(op);
      if (conv && schedule::isDepthwise(conv)) {
        store(conv.getX());
        continue;
      }
      if (conv && conv.getGroups() != 1)
        continue;
      for (OpOperand &operand : op->getOpOperands().take_front(2))
        operand.set(narrowed(operand.get()));
    }
  }

private:
  Value castHere(Value v, Type type) {
    builder.setInsertionPointAfterValue(v);
    return castTo(builder, v, type);
  }

  /// The operand of a contraction as bf16: rounded before it is moved.
  Value narrowed(Value v) {
    Moves moves = Moves::behind(v);
    auto known = moves.from.getDefiningOp<CastOp>();
    return moves.repeat(known && elementOf(known.getX()) == narrow
                            ? known.getX()
                            : store(moves.from));
  }

  /// Rounds `v` where it is computed, for all that can read it in bf16.
  Value store(Value v) {
    if (Value known = stored.lookup(v))
      return known;
    Value rounded = castHere(v, narrow);
    stored[v] = rounded;
    Operation *from = v.getDefiningOp(), *rounding = rounded.getDefiningOp();
    if (!from || isa<ConstantOp>(from) ||
        !llvm::all_of(v.getUsers(), [&](Operation *user) {
          return user == rounding || readsNarrow(user, v);
        }))
      return rounded;
    Value wide = castHere(rounded, elementOf(v));
    stored[wide] = rounded;
    v.replaceAllUsesExcept(wide, rounding);
    return rounded;
  }

  /// Whether a reader of `v` in f32 can widen it as it loads it, or reads bf16 itself.
  bool readsNarrow(Operation *user, Value v) {
    auto conv = dyn_cast<ConvOp>(user);
    if (conv && conv.getGroups() != 1)
      return schedule::isDepthwise(conv) && conv.getX() == v;
    if (conv && !inBFloats.contains(conv))
      return false;
    return isa<ElementwiseOpInterface, MaxPoolOp, AveragePoolOp, TransposeOp,
               ReshapeOp>(user) ||
           inBFloats.contains(user);
  }

  OpBuilder builder;
  Type narrow;
  std::vector<Operation *> contractions;
  llvm::DenseSet<Operation *> inBFloats;
  /// What is known as bf16.
  llvm::DenseMap<Value, Value> stored;
};

struct NarrowContractionsPass
    : impl::NarrowContractionsBase<NarrowContractionsPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    if (!target.multipliesBFloats())
      return;
    llvm::for_each(
        contractionsOf(getOperation(), [](Type type) { return type.isBF16(); }),
        widen);
    if (fast)
      Narrowing(getOperation(), target).run();
  }
};

} // namespace
} // namespace ingot::decide
