// Accumulates contractions of bf16 in f32 and rounds operands for --fast.
//
//   conv(%x, %w, %bias) : bf16
//     ->  cast(conv(%x, %w, cast(%bias, f32)) : f32, bf16)
//
// and with `fast` (--fast=bf16) converts contractions of f32 to bf16:
//
//   %a = relu(%z)
//   %y = conv(%a, %w, %bias) : f32
//     ->  %n = cast(relu(%z), bf16)
//         %y = conv(%n, cast(%w, bf16), %bias) : f32
//   add(%a, %y)  ->  add(cast(%n, f32), %y)
//
// Matmuls are rewritten in the same way. With `fast` = f16, operands are
// rounded to f16, and contractions of f16 in the model accumulate in f32, too.
// Matrix units of devices accumulate f16 in f32. On other targets, the
// attribute {graph.multiplied = f16} permits the kernel to sum a few
// neighbouring products in f16. With `fast` = tf32 (an f32 with 10 bits of
// fraction), operands stay f32, and an attribute states that they are rounded
// to tf32:
//
//   %y = conv(%a, %w, %bias) : f32
//     ->  %n = round_to_tf32(%a)
//         %y = conv(%n, round_to_tf32(%w), %bias) {graph.multiplied = tf32} : f32
//
// Convolutions of bf16 that Winograd's algorithm may compute are marked by
// {graph.multiplied = bf16}: sums of their inputs and of their weights may be
// rounded to bf16, too.
//
// Weights are rounded when constants are folded, activations where they are
// stored: elementwise users read the rounded values too, so that each tensor is
// stored once, with half the size. Values that are converted to integers or are
// arguments of a sine (valuesWithDigits) stay in f32, and so do the
// contractions that compute them: for these values, the absolute error matters.
// A contraction that sums a single product stays in f32 as well, since it would
// gain nothing. Accumulators, and all operators between contractions, stay in
// f32, and so do convolutions for which Winograd's algorithm in f32 is faster.
// On processors (not devices), attention with few queries stays in f32 as well,
// because keys and values would have to be repacked for each block of queries.
// Depthwise convolutions are computed in f32, but their input may be stored in
// the narrow type. Only if the target multiplies vectors of f16 by a lane are
// they computed in f16.
//
// Recurrent weights of RNN, GRU and LSTM layers are rounded to bf16 on
// processors where the cost model predicts that a time step gets faster. The
// layer itself rounds its state to bf16 where these weights multiply it; gates,
// cell and state stay f32:
//
//   lstm(%gates, %r, %h, %c)  ->  lstm(%gates, cast(%r, bf16), %h, %c)

#include "dialects/graph/ElementsData.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/Contraction.h"
#include "passes/decide/NeededDigits.h"
#include "passes/decide/Passes.h"
#include "passes/schedule/Anchors.h"
#include "passes/schedule/AttentionAnchor.h"
#include "passes/schedule/ExecutionModel.h"
#include "passes/schedule/tiles/DotTile.h"
#include "passes/schedule/tiles/HalfTile.h"
#include "passes/schedule/tiles/RecurrenceModel.h"
#include "passes/schedule/tiles/TileWindowModel.h"
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

/// Returns the convolutions and matmuls of `function` that sum a constant
/// number of products (hasKnownSteps) and whose two operands have element types
/// that satisfy `isWanted`.
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

/// Makes a contraction of bf16 or f16 return f32, and rounds its result to the
/// narrow type afterwards. Leaves a grouped convolution, and a contraction that
/// returns f32 already, as it is.
void widen(Operation *op) {
  Value y = op->getResult(0);
  Type narrow = elementOf(y);
  auto conv = dyn_cast<ConvOp>(op);
  if (narrow.isF32() || (conv && conv.getGroups() != 1))
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

/// Returns the matmuls that keep f32 operands although others are narrowed:
/// both matmuls of every attention with fewer than 16 queries, or with a
/// dynamic number of keys.
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

/// Returns the number of products that the contraction `op` sums, which must be
/// constant (hasKnownSteps).
int64_t stepsOf(Operation *op) {
  auto conv = dyn_cast<ConvOp>(op);
  return conv ? ShapedType::getNumElements(shapeOf(conv.getW()).drop_back())
              : *dimsOf(op->getOperand(0)).back().known();
}

/// Whether a convolution is faster with f32 operands than with `narrow`
/// operands: because Winograd's algorithm in f32 needs fewer multiplications,
/// or because sums in f16 would have to be widened after few steps.
bool isFasterWide(Operation *op, Type narrow, const TargetDescription &target) {
  auto conv = dyn_cast<ConvOp>(op);
  auto weights = conv ? conv.getW().getDefiningOp<ConstantOp>() : ConstantOp();
  if (!weights || !hasData(weights.getValue()) || conv.getGroups() != 1)
    return false;
  int64_t steps = stepsOf(conv);
  auto form = schedule::dotFormOfPairs(narrow, narrow, target);
  if (!form || shapeOf(conv.getX()).back() % form->group != 0)
    form = schedule::dotForm(narrow, narrow, target, steps);
  if (!form)
    return false;
  std::optional<double> wide = schedule::winogradCycles(
      conv, weights.getValue(), target, elementOf(conv.getX()));
  ArrayRef<int64_t> y = shapeOf(conv.getResult());
  int64_t positions = ShapedType::getNumElements(y.drop_back());
  if (!wide && form->stage) {
    schedule::TileModel tiles(positions, y.back(), steps, target,
                              Float32Type::get(op->getContext()));
    wide = tiles.cycles(tiles.ranked().front());
  }
  if (!wide)
    return false;
  schedule::DotModel dots(conv, positions, *form, target);
  double asNarrow = dots.cycles(dots.ranked().front());
  if (std::optional<double> sampled =
          schedule::winogradCycles(conv, weights.getValue(), target, narrow))
    asNarrow = std::min(asNarrow, *sampled);
  if (std::optional<double> tiles = schedule::tileCycles(conv, narrow, target))
    asNarrow = std::min(asNarrow, *tiles);
  return *wide < asNarrow;
}

/// Whether a contraction has so few rows that reading the right operand from
/// memory dominates its time; rounding to tf32 does not make that operand
/// smaller.
bool isBoundByBytes(Operation *op) {
  constexpr int64_t few = 8;
  auto product = dyn_cast<MatMulOp>(op);
  int64_t rows =
      product ? schedule::ProductSizes(product).rows.most()
              : tensorType(op->getResult(0)).getNumElements() /
                    std::max<int64_t>(shapeOf(op->getResult(0)).back(), 1);
  return rows < few;
}

/// Whether a time step of `layer`, an RNN, GRU or LSTM, is faster with recurrent
/// weights of bf16.
bool isFasterInBFloats(Operation *layer, const TargetDescription &target) {
  Builder builder(layer->getContext());
  auto model = [&](Type element) {
    return schedule::RecurrenceModel::of(layer, element, target,
                                         /*packs=*/true);
  };
  auto wide = model(builder.getF32Type()),
       narrow = model(builder.getBF16Type());
  return wide && narrow && narrow->cycles() < wide->cycles();
}

class Narrowing {
public:
  Narrowing(func::FuncOp function, const TargetDescription &target,
            StringRef fast)
      : builder(function.getContext()), target(target),
        model(schedule::modelOf(target)), isTf32(fast == "tf32"),
        narrow(isTf32          ? Type(builder.getF32Type())
               : fast == "f16" ? Type(builder.getF16Type())
                               : Type(builder.getBF16Type())),
        contractions(
            contractionsOf(function, [](Type type) { return type.isF32(); })),
        digits(valuesWithDigits(function)) {
    llvm::DenseSet<Operation *> attention;
    if (model.copiesKeys)
      attention = productsOfSmallAttention(function);
    llvm::erase_if(contractions, [&](Operation *op) {
      return attention.contains(op) || digits.contains(op->getResult(0)) ||
             stepsOf(op) == 1 || isFasterWide(op, narrow, target) ||
             (isTf32 && isBoundByBytes(op));
    });
    inNarrow.insert_range(contractions);
    if (narrow.isBF16())
      function.walk([&](Operation *op) {
        if (isa<RNNOp, GRUOp, LSTMOp>(op) && isFasterInBFloats(op, target) &&
            llvm::none_of(op->getResults(),
                          [&](Value v) { return digits.contains(v); }))
          recurrences.push_back(op);
      });
  }

  void run() {
    for (Operation *op : contractions) {
      auto conv = dyn_cast<ConvOp>(op);
      bool isFilter = conv && schedule::isDepthwise(conv);
      if (isFilter && !sumsInHalves(conv)) {
        store(conv.getX());
        continue;
      }
      if (conv && !isFilter && !isNarrowed(conv))
        continue;
      bool roundsSums = conv && narrow.isBF16() &&
                        schedule::hasWinogradForm(conv) &&
                        schedule::suitsWinograd(conv, target, narrow);
      for (OpOperand &operand : op->getOpOperands().take_front(2))
        operand.set(narrowed(operand.get()));
      if (roundsSums)
        op->setAttr(kMultipliedAttr, TypeAttr::get(narrow));
      else if (isTf32)
        op->setAttr(kMultipliedAttr, TypeAttr::get(builder.getTF32Type()));
      else if (isFilter)
        op->setAttr(kMultipliedAttr, TypeAttr::get(narrow));
    }
    for (Operation *layer : recurrences) {
      OpOperand &weights = schedule::recurrentWeights(layer);
      weights.set(narrowed(weights.get()));
    }
  }

private:
  /// Whether the depthwise convolution `conv` is computed in f16. This is
  /// accurate enough, since a sum has only one product per element of the
  /// window.
  bool sumsInHalves(ConvOp conv) const {
    return storesHalves() && shapeOf(conv.getW()).back() % 4 == 0;
  }
  /// Whether the operands of a convolution are multiplied in the narrow type.
  bool isNarrowed(ConvOp conv) const {
    int64_t bytes = narrow.getIntOrFloatBitWidth() / 8;
    return conv.getGroups() == 1 ||
           (!schedule::isDepthwise(conv) &&
            target.multipliesGroups(schedule::inputsOfGroup(conv) * bytes,
                                    schedule::channelsOfGroup(conv)));
  }
  /// Whether results are stored in f16 at once, in vectors of eight elements.
  bool storesHalves() const {
    return narrow.isF16() && schedule::halvesByLane(target);
  }
  Value castHere(Value v, Type type) {
    builder.setInsertionPointAfterValue(v);
    return castTo(builder, v, type);
  }
  /// Returns `v`, rounded. If `v` is a concatenation or a maximum pool, its
  /// operands are rounded instead, which gives the same result: the operators
  /// that compute them then store narrow results.
  Value roundHere(Value v) {
    auto pool = v.getDefiningOp<MaxPoolOp>();
    if (pool && storesHalves() && isReadNarrow(pool.getX()))
      if (Value x = store(pool.getX());
          !schedule::joinsConvolution(pool, target))
        return poolOf(x, pool);
    auto concat = v.getDefiningOp<ConcatOp>();
    if (concat && storesHalves() && isReadNarrow(v)) {
      SmallVector<Value> parts;
      for (Value part : concat.getInputs())
        parts.push_back(store(part));
      builder.setInsertionPointAfter(concat);
      return ConcatOp::create(builder, concat.getLoc(), parts,
                              concat.getAxis());
    }
    if (!isTf32)
      return castHere(v, narrow);
    builder.setInsertionPointAfterValue(v);
    return RoundToTf32Op::create(builder, v.getLoc(), v.getType(), v);
  }

  /// Returns the maximum pool `pool` of the rounded tensor `x`.
  Value poolOf(Value x, MaxPoolOp pool) {
    builder.setInsertionPointAfter(pool);
    return MaxPoolOp::create(
        builder, pool.getLoc(),
        TypeRange{tensorOf(dimsOf(pool.getResult()), narrow)}, ValueRange{x},
        pool->getAttrs());
  }

  /// Returns the operand `v` of a contraction in the narrow type. If transposes
  /// and reshapes compute `v` from another tensor, that tensor is rounded, and
  /// they are repeated on the rounded tensor.
  Value narrowed(Value v) {
    Moves moves = Moves::behind(v, /*withSlices=*/model.readsSlices);
    if (isTf32)
      return moves.repeat(moves.from.getDefiningOp<RoundToTf32Op>()
                              ? moves.from
                              : store(moves.from));
    auto known = moves.from.getDefiningOp<CastOp>();
    return moves.repeat(known && elementOf(known.getX()) == narrow
                            ? known.getX()
                            : store(moves.from));
  }

  /// Rounds `v` directly after it is computed and returns the result. If all
  /// users of `v` can read the rounded tensor, they do, so that only the
  /// rounded tensor is stored.
  Value store(Value v) {
    if (Value known = stored.lookup(v))
      return known;
    bool isReplaced = isReadNarrow(v);
    Value rounded = roundHere(v);
    stored[v] = rounded;
    if (!isReplaced)
      return rounded;
    if (auto product = v.getDefiningOp<MulOp>(); product && storesHalves())
      storeFactors(product);
    Value wide = isTf32 ? rounded : castHere(rounded, elementOf(v));
    stored[wide] = rounded;
    v.replaceAllUsesExcept(wide, rounded.getDefiningOp());
    return rounded;
  }

  /// Rounds the factors of a product that is stored in f16, such as a tensor and
  /// the gates of its channels. Rounding a factor has the same relative error as
  /// rounding the product.
  void storeFactors(MulOp product) {
    for (Value factor : llvm::to_vector(product->getOperands()))
      if (isReadNarrow(factor))
        store(factor);
  }

  /// Whether all users of `v` can read it in the narrow type, and an operator
  /// computes it.
  bool isReadNarrow(Value v) {
    Operation *from = v.getDefiningOp();
    return from && !isa<ConstantOp>(from) && !digits.contains(v) &&
           llvm::all_of(v.getUsers(),
                        [&](Operation *user) { return readsNarrow(user, v); });
  }

  /// Whether `user` can read the f32 tensor `v` in the narrow type. A user that
  /// computes in f32 widens the elements when it loads them.
  bool readsNarrow(Operation *user, Value v) {
    if (llvm::any_of(user->getResults(),
                     [&](Value result) { return digits.contains(result); }))
      return false;
    auto conv = dyn_cast<ConvOp>(user);
    if (conv && !isNarrowed(conv))
      return schedule::isDepthwise(conv) && conv.getX() == v;
    if (conv && !inNarrow.contains(conv))
      return false;
    if (model.readsSlices && isa<SliceOp, ConcatOp>(user))
      return true;
    return isa<ElementwiseOpInterface, MaxPoolOp, AveragePoolOp, TransposeOp,
               ReshapeOp>(user) ||
           (storesHalves() && isa<ReduceMeanOp>(user)) ||
           inNarrow.contains(user);
  }

  OpBuilder builder;
  const TargetDescription &target;
  const schedule::ExecutionModel &model;
  bool isTf32;
  Type narrow;
  std::vector<Operation *> contractions;
  /// The recurrent layers whose recurrent weights are rounded.
  std::vector<Operation *> recurrences;
  /// The values that must not be rounded.
  llvm::SetVector<Value> digits;
  llvm::DenseSet<Operation *> inNarrow;
  /// Maps values to their rounded versions.
  llvm::DenseMap<Value, Value> stored;
};

struct NarrowContractionsPass
    : impl::NarrowContractionsBase<NarrowContractionsPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    bool isHalf = fast == "f16" && target.multiplies("f16");
    auto isNarrow = [&](Type type) {
      return type.isF16() ? isHalf : type.isBF16() && target.multiplies("bf16");
    };
    llvm::for_each(contractionsOf(getOperation(), isNarrow), widen);
    if (target.multiplies(fast))
      Narrowing(getOperation(), target, fast).run();
    if (isHalf && schedule::modelOf(target).sumsInHalves)
      for (Operation *op : contractionsOf(
               getOperation(), [](Type type) { return type.isF16(); }))
        if (elementOf(op->getResult(0)).isF32())
          op->setAttr(kMultipliedAttr,
                      TypeAttr::get(Float16Type::get(&getContext())));
  }
};

} // namespace
} // namespace ingot::decide
