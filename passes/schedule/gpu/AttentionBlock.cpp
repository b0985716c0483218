#include "passes/schedule/gpu/AttentionBlock.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Matchers.h"
#include "passes/schedule/DeviceTime.h"
#include "passes/schedule/gpu/ResultVectors.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

Expr largerOf(Expr x, Expr y) {
  ElementBuilder &b = *x.builder;
  Value larger = arith::MaxNumFOp::create(b.builder, b.loc, x.value, y.value);
  return named(b.wrap(larger, x.type), "largest");
}
Expr sumOf(Expr x, Expr y) { return named(x + y, "total"); }

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

OperandPlace OperandPlace::of(Value operand) {
  OperandPlace place;
  size_t rank = shapeOf(operand).size();
  place.axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  place.starts.assign(rank, 0);
  place.steps.assign(rank, 1);
  place.times.assign(rank, 1);
  Value v = operand;
  while (Operation *op = v.getDefiningOp()) {
    if (auto repeated = RepeatedMatrices::of(v);
        repeated && place.starts[repeated->axis] == 0 &&
        place.steps[repeated->axis] == 1 && place.times[repeated->axis] == 1) {
      place.times[repeated->axis] = repeated->times;
      place.isRepeated = true;
      place.isRounded |=
          llvm::any_of(repeated->path, llvm::IsaPred<RoundToTf32Op>);
      place.isCopied &= elementOf(repeated->from) == elementOf(v);
      v = repeated->from;
      continue;
    }
    if (auto transpose = dyn_cast<TransposeOp>(op)) {
      OperandPlace before = place;
      for (auto [axis, from] : llvm::enumerate(transpose.getPerm())) {
        place.axes[from] = before.axes[axis];
        place.starts[from] = before.starts[axis];
        place.steps[from] = before.steps[axis];
        place.times[from] = before.times[axis];
      }
    } else if (auto slice = dyn_cast<SliceOp>(op)) {
      for (size_t axis = 0; axis < rank; ++axis) {
        int64_t step = slice.getSteps()[axis];
        place.starts[axis] =
            slice.getStarts()[axis] + place.starts[axis] * step;
        place.steps[axis] *= step;
      }
    } else if (isa<CastOp, RoundToTf32Op>(op)) {
      place.isCopied = false;
      place.isRounded |= isa<RoundToTf32Op>(op);
    } else {
      break;
    }
    v = op->getOperand(0);
  }
  place.isCopied &= !place.isRounded;
  place.tensor = v;
  return place;
}

bool OperandPlace::liesAlong(int64_t axis) const {
  return axes.back() == axis && steps.back() == 1;
}

bool OperandPlace::isAligned(MemRefType buffer, int64_t count) const {
  auto [strides, offset] = buffer.getStridesAndOffset();
  if (strides.back() != 1 || offset % count != 0 || starts.back() % count != 0)
    return false;
  return llvm::all_of(ArrayRef(strides).drop_back(),
                      [&](int64_t stride) { return stride % count == 0; });
}

Exprs OperandPlace::at(KernelBuilder &b, ArrayRef<Expr> place) const {
  Exprs own;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    Expr i = place[axes[axis]];
    if (times[axis] != 1)
      i = i / double(times[axis]);
    if (steps[axis] != 1)
      i = i * double(steps[axis]);
    own.push_back(starts[axis] ? i + double(starts[axis]) : i);
  }
  return own;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Returns the constant by which f32 scores are multiplied before the softmax;
/// 1 if nothing changes them. Returns nothing if the constant is not positive
/// and finite, if other operators change the scores, or if they are not f32.
static std::optional<double> factorOfScores(const AttentionAnchor &anchor) {
  if (!elementOf(anchor.scores.getResult()).isF32() ||
      !elementOf(anchor.softmax.getInput()).isF32())
    return std::nullopt;
  double factor = 1;
  for (Operation *op : anchor.between) {
    DenseElementsAttr number;
    if (!isa<MulOp>(op) ||
        !(matchPattern(op->getOperand(0), m_Constant(&number)) ||
          matchPattern(op->getOperand(1), m_Constant(&number))) ||
        !number.isSplat() || !number.getElementType().isF32())
      return std::nullopt;
    factor *= number.getSplatValue<float>();
  }
  return factor > 0 && std::isfinite(factor) ? std::optional(factor)
                                             : std::nullopt;
}

AttentionBlock::AttentionBlock(KernelBuilder &b, AttentionAnchor anchor)
    : b(b), anchor(anchor), type(b.builder.getF32Type()),
      axes(anchor.axesOf(b.result())) {
  constexpr double log2E = 1.4426950408889634074;
  if (!b.target.intrinsic(kernel::Exp2Op::getOperationName(), type, type))
    return;
  std::optional<double> factor = factorOfScores(anchor);
  areScoresProducts = factor.has_value();
  powersOfScore = log2E * factor.value_or(1);
}

void AttentionBlock::forBlocks(int64_t queries, int64_t threads,
                               llvm::function_ref<void(Expr, Expr)> body) {
  Dims parts = anchor.batches();
  parts.push_back((anchor.queries() + (queries - 1)).floorDiv(queries));
  b.onBlocks(product(ArrayRef<Dim>(parts)), threads,
             [&](Expr block, Expr thread) {
               batch = b.delinearize(named(block, "block"), parts);
               Expr part = batch.pop_back_val();
               for (auto [axis, i] : llvm::enumerate(batch))
                 named(i, axisName(axis, parts.size() + 1));
               body(part, named(thread, "thread"));
             });
}

Exprs AttentionBlock::operandAt(Value operand, Expr row, Expr column) const {
  Exprs at;
  for (auto [size, i] : llvm::zip(shapeOf(operand), batch))
    at.push_back(size == 1 ? b.index(0) : i);
  at.push_back(row);
  at.push_back(column);
  return at;
}

Expr AttentionBlock::operand(Value operand, Expr row, Expr column) const {
  Exprs at = operandAt(operand, row, column);
  OperandPlace place = OperandPlace::of(operand);
  if (!place.isRepeated) {
    Expr x = b.load(operand, at);
    x.type = type;
    return x;
  }
  // If matrices are repeated, read the source tensor directly: the compiler
  // cannot simplify the index arithmetic of the reshapes.
  Expr x = b.load(place.tensor, place.at(b, at));
  x = convert(place.isRounded ? roundToTf32(x) : x, elementOf(operand));
  x.type = type;
  return x;
}

Expr AttentionBlock::lowest() const { return graph::lowest(b, type); }
Expr AttentionBlock::zero() const { return b.constant(0, type); }

Expr AttentionBlock::score(Expr sum, Expr query, Expr key) {
  if (areScoresProducts)
    return sum;
  Value product = anchor.scores.getResult();
  sum.type = elementOf(product);
  b.bindElement(product, sum);
  Exprs at(batch);
  at.push_back(query);
  at.push_back(key);
  Expr score = b.load(anchor.softmax.getInput(), at);
  b.unbindElement(product);
  score.type = type;
  return score;
}

Expr AttentionBlock::scoreInside(Expr sum, Expr query, Expr key,
                                 bool isInside) {
  if (isInside)
    return score(sum, query, key);
  Expr count = b.size(anchor.keys());
  return select(key < count, score(sum, query, min(key, count - 1.0)),
                lowest());
}

Expr AttentionBlock::weight(Expr score, Expr shift) const {
  if (!hasPowers())
    return expOrZero(score - shift);
  // The weight is 2^(score * powersOfScore - shift), so that one fma computes
  // the exponent. All scores of a query use the same rounded `shift`, which
  // therefore cancels when sums are divided by the total of the weights.
  Expr power = fma(score, b.constant(powersOfScore, type), -shift);
  return b.wrap(kernel::Exp2Op::create(b.builder, b.loc, type, power.value),
                type);
}

Expr AttentionBlock::rounded(Expr weight) const {
  if (isa_and_nonnull<RoundToTf32Op>(anchor.rounding))
    return roundToTf32(weight);
  Type narrow = elementOf(anchor.product.getA());
  return narrow.isF32() ? weight : convert(weight, narrow);
}

Expr AttentionBlock::shiftOf(Expr largest) const {
  // If all keys of a query are masked so far, `largest` is -inf; the difference
  // between a score of -inf and -inf would be NaN.
  return named(select(largest > lowest(),
                      hasPowers() ? largest * powersOfScore : largest, 0.0),
               "shift");
}

Expr AttentionBlock::across(int64_t threads, Expr value,
                            llvm::function_ref<Expr(Expr, Expr)> merge) {
  for (int64_t distance = threads / 2; distance > 0; distance /= 2) {
    auto shuffle =
        gpu::ShuffleOp::create(b.builder, b.loc, value.value, distance,
                               b.target.device.warp, gpu::ShuffleMode::XOR);
    value = merge(value, named(b.wrap(shuffle.getShuffleResult(), value.type),
                               "of_other_thread"));
  }
  return value;
}

Exprs AttentionState::carried() const {
  Exprs all(largest);
  llvm::append_range(all, total);
  llvm::append_range(all, sums);
  return all;
}

AttentionState AttentionBlock::firstState(int64_t queries,
                                          int64_t values) const {
  return {Exprs(queries, lowest()), Exprs(queries, zero()),
          Exprs(values, zero())};
}

void AttentionBlock::correct(AttentionState &state, ArrayRef<Expr> by,
                             llvm::function_ref<int64_t(int64_t)> of) {
  for (auto [n, sum] : llvm::enumerate(state.sums))
    sum = named(sum * by[of(int64_t(n))], "corrected");
}

void AttentionBlock::mergeSlices(AttentionState &state, int64_t slices,
                                 Expr slice, Expr inSlice, Value parts,
                                 llvm::function_ref<int64_t(int64_t)> of) {
  for (int64_t left = slices / 2; left > 0; left /= 2) {
    // In each round, half of the remaining slices (sets of threads) store their
    // states (AttentionState) in `parts`, and the other half merge these states
    // with their own. The states of the previous round must have been read
    // before.
    if (2 * left < slices)
      b.barrier();
    b.when((slice >= double(left)) & (slice < double(2 * left)), [&] {
      for (auto [n, value] : llvm::enumerate(state.carried()))
        b.store(parts, value, {slice - double(left), b.index(n), inSlice});
    });
    b.barrier();
    // The threads of all slices execute this, but only the results of the
    // remaining slices are used.
    Expr from = named(slice % double(left), "other_slice");
    Exprs loaded;
    for (size_t n = 0; n < state.carried().size(); ++n)
      loaded.push_back(named(
          b.loadFrom(parts, type, {from, b.index(n), inSlice}), "of_slice"));
    AttentionState other(loaded, int64_t(state.largest.size()));
    Exprs corrections;
    for (size_t q = 0; q < state.largest.size(); ++q) {
      Expr top = largerOf(state.largest[q], other.largest[q]),
           shift = shiftOf(top);
      corrections.push_back(
          named(weight(state.largest[q], shift), "correction"));
      other.largest[q] =
          named(weight(other.largest[q], shift), "correction_of_slice");
      state.total[q] = fma(other.total[q], other.largest[q],
                           state.total[q] * corrections[q]);
      state.largest[q] = top;
    }
    correct(state, corrections, of);
    for (auto [n, sum] : llvm::enumerate(state.sums))
      sum = named(fma(other.sums[n], other.largest[of(int64_t(n))], sum),
                  "merged");
  }
}

Expr AttentionBlock::result(Expr sum, Expr factor, Expr query, Expr column) {
  Expr y = named(sum * factor, "attention");
  // The total of the weights is 0 if all keys are masked, and NaN if a score is
  // NaN. With `zero_nan`, the result is 0 in both cases.
  if (anchor.softmax.getZeroNan())
    y = select(factor < highest(b, type), y, 0.0);
  Value product = anchor.product.getResult();
  y.type = elementOf(product);
  b.bindElement(product, y);
  Exprs at = resultAt(query, column);
  Expr result = b.load(b.result(), at);
  b.unbindElement(product);
  return result;
}

Exprs AttentionBlock::resultAt(Expr query, Expr column) const {
  Exprs own(batch), at;
  own.push_back(query);
  own.push_back(column);
  for (int64_t axis : axes)
    at.push_back(own[axis]);
  return at;
}

void AttentionBlock::storeResult(Expr sum, Expr factor, Expr query,
                                 Expr column) {
  b.store(0u, result(sum, factor, query, column), resultAt(query, column));
}

bool AttentionBlock::storesPairs() const {
  auto type = cast<MemRefType>(b.outputs[0].getType());
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  std::string name;
  llvm::raw_string_ostream(name)
      << kernel::StoreVectorOp::getOperationName() << '['
      << type.getElementType() << ",unaligned]";
  return anchor.width() % 2 == 0 && axes.back() == int64_t(axes.size()) - 1 &&
         succeeded(type.getStridesAndOffset(strides, offset)) &&
         strides.back() == 1 && offset % 2 == 0 &&
         llvm::all_of(ArrayRef(strides).drop_back(),
                      [](int64_t stride) { return stride % 2 == 0; }) &&
         b.target.intrinsic(name, Type(), Type());
}

void AttentionBlock::storePair(Expr first, Expr second, Expr factor, Expr query,
                               Expr column) {
  if (!storesPairs()) {
    storeResult(first, factor, query, column);
    return b.when(column + 1.0 < double(anchor.width()),
                  [&] { storeResult(second, factor, query, column + 1.0); });
  }
  storeRounded(b,
               {result(first, factor, query, column),
                result(second, factor, query, column + 1.0)},
               b.outputs[0], resultAt(query, column));
}

//===----------------------------------------------------------------------===//
// Strategies
//===----------------------------------------------------------------------===//

bool AttentionStrategyOnDevice::matches(GroupOnTarget group) const {
  if (group.isStrict())
    return false;
  AttentionAnchor anchor = AttentionAnchor::of(group);
  return anchor && suits(anchor, group.target);
}

SmallVector<Operation *>
AttentionStrategyOnDevice::takes(Operation *producer,
                                 llvm::function_ref<bool(Operation *)> isMember,
                                 llvm::function_ref<bool(Operation *)> isFree,
                                 const TargetDescription &target, bool) const {
  return takeAttention(
      producer, isMember, isFree, /*inStoredLayout=*/true,
      [&](const AttentionAnchor &anchor) { return suits(anchor, target); });
}

std::string
AttentionStrategyOnDevice::refuseBlock(int64_t threads, int64_t bytes,
                                       int64_t registers,
                                       const TargetDescription &target) {
  if (threads > 1024)
    return "a block has " + std::to_string(threads) +
           " threads, but can have at most 1024";
  if (bytes > mostShared)
    return "a block uses " + std::to_string(bytes) +
           " bytes of shared memory, but can use at most " +
           std::to_string(mostShared);
  // The most registers that a thread should use.
  constexpr int64_t most = 240;
  if (registers > most)
    return "each thread uses about " + std::to_string(registers) +
           " registers, but can use at most " + std::to_string(most);
  if (int64_t all = threads * registers; all > target.device.registers)
    return "a block uses about " + std::to_string(all) +
           " registers, but can use at most " +
           std::to_string(target.device.registers);
  return "";
}

double AttentionStrategyOnDevice::seconds(const AttentionAnchor &anchor,
                                          const Work &work,
                                          const TargetDescription &target) {
  // Clock rate of an SM, within 25 % for all targets (data sheets).
  constexpr double clock = 1.5e9;
  const Device &device = target.device;
  double heads = double(product(ArrayRef<Dim>(anchor.batches())).most()),
         blocks = heads * double(llvm::divideCeil(anchor.queries().most(),
                                                  work.queries));
  double resident = double(std::max<int64_t>(
      1, std::min({int64_t(device.residentThreads) / work.threads,
                   device.sharedBytes / std::max<int64_t>(work.sharedBytes, 1),
                   device.registers / (work.threads * work.registers)})));
  double waves = std::ceil(blocks / (device.multiprocessors * resident)),
         together =
             std::min(resident, std::ceil(blocks / device.multiprocessors));
  double busy =
      std::min(1.0, together * double(work.threads) / double(work.enough));
  double computing =
      waves * std::max(together * work.cycles / busy, work.latency) / clock;
  // Each thread block reads all keys and values of its head from L2.
  double moved = blocks * double(anchor.keys().most()) *
                 double(anchor.depth() + anchor.width()) *
                 double(bytesOf(elementOf(anchor.product.getB())));
  return std::max(computing, moved / l2Bandwidth(device));
}

} // namespace ingot::schedule
