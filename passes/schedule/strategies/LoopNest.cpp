// The fallback strategy for any group: loops over the result's elements.
//
// Each element is computed on demand, together with the elements of the group's
// intermediate tensors that it depends on. The last axis is vectorized if every
// operator supports vectors. If tensors are concatenated along that axis, each
// of them gets its own loop, so that no element needs a select and vectors can
// be used. If the last operator is a refill (a move of all elements into
// another shape) into a one-dimensional result, the loops run over the axes of
// the refill's operand, and each element is stored at its linear index.
//
// Pools and reductions that keep the last axis process several vectors of
// channels at once (PoolLoops.h).

#include "passes/schedule/Anchors.h"
#include "passes/schedule/ExecutionModel.h"
#include "passes/schedule/gpu/Neighbours.h"
#include "passes/schedule/tiles/PoolLoops.h"

#include <numeric>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

class LoopNestStrategy : public Strategy {
public:
  bool matches(GroupOnTarget group) const override {
    return group.results().size() == 1;
  }

  bool takesDynamicSizes() const override { return true; }

  ArrayRef<PlanKey> planKeys() const override { return elementsKey(); }
  SmallVector<Plan> plans(GroupOnTarget group) const override {
    Value result = group.results()[0];
    RefillOp refill = refilled(result);
    if (refill)
      result = refill.getX();
    Dims trips = dimsOf(result);
    // The number of threads per SM that keeps the device busy: one warp per
    // scheduler if the group only moves elements or computes them elementwise,
    // more if each element takes an inner loop.
    bool moves = isCheap(group);
    int64_t enough =
        moves ? 4 * group.target.device.warp : group.target.device.busyThreads;
    if (moves && !refill)
      if (auto plans = plansByRows(group, trips, enough); plans.size() > 1)
        return plans;
    SmallVector<ConcatOp> joins = joinsInPlace(group, result);
    if (!passLanes(group, refill, joins))
      return {Plan()};
    return plansByElements(group, trips, runOf(trips, joins), enough);
  }

  void emit(KernelBuilder &b) const override {
    Value result = b.result();
    RefillOp refill = refilled(result);
    if (refill)
      result = refill.getX();
    Dims shape = dimsOf(result);
    if (tensorType(result).getNumElements() == 0)
      return;
    if (modelOf(b.target).accessBytes)
      return emitForDevice(b, result, refill);
    Type type = elementOf(result);
    int64_t widest = 1;
    SmallVector<ConcatOp> joins = joinsToCut(b, result);
    if (passLanes(b.group, refill, joins)) {
      widest = 0;
      // All operators are vectorized. Together, the element types of their
      // operands and results determine the number of lanes.
      for (Operation &op : b.group.block->without_terminator())
        for (Value v : llvm::concat<Value>(op.getOperands(), op.getResults()))
          type = b.decidingLanes(type, elementOf(v));
      if (computeType(type).isInteger(1))
        type = IntegerType::get(type.getContext(), 8);
    }
    Dim last = shape.empty() ? Dim(1) : shape.back();
    // The positions along the last axis at which a concatenation changes from
    // one operand to the next. Vectors are used only if the sections between
    // these positions are on average at least one vector long.
    SmallVector<int64_t> cuts = cutsOf(joins);
    if (!joins.empty() &&
        partCount(cuts) * b.target.maxLanes(type) > cuts.back())
      widest = 1;
    bool cut = !joins.empty() && widest == 0;
    PoolLoops pools(b, type);
    b.forIndependent(ArrayRef(shape).drop_back(shape.empty() ? 0 : 1),
                     [&](ArrayRef<Expr> outer) {
                       for (auto [axis, i] : llvm::enumerate(outer))
                         named(i, nameOf(b, axis));
                       auto body = [&](Expr i, int64_t) {
                         Exprs at(outer);
                         if (!shape.empty())
                           at.push_back(named(i, nameOf(b, shape.size() - 1)));
                         Expr element = b.load(result, at);
                         if (refill)
                           at = {b.linearize(at, shape)};
                         b.store(0u, element, at);
                       };
                       if (cut)
                         return forJoined(b, joins, cuts, type, outer, body);
                       if (widest == 0 && pools.apply())
                         return pools.emit(outer, [&](int64_t first) {
                           b.forLanes(*last.known() - first, type,
                                      [&](Expr i, int64_t lanes) {
                                        body(i + double(first), lanes);
                                      });
                         });
                       if (widest == 0 && takesNarrowerVectors(b) &&
                           last.known())
                         forNarrowerVectors(b, *last.known(), body);
                       else
                         b.forLanes(last, type, body, widest);
                     });
  }

private:
  /// Whether all operators of the group are elementwise or move elements.
  static bool isCheap(GroupView group) {
    return llvm::all_of(group.block->without_terminator(), [](Operation &op) {
      auto element = dyn_cast<ElementOpInterface>(op);
      return isa<ConstantOp, ElementwiseOpInterface>(op) ||
             (element && element.isCheap());
    });
  }

  static void emitForDevice(KernelBuilder &b, Value result, RefillOp refill) {
    Dims shape = dimsOf(result);
    auto place = [&](ArrayRef<Expr> at) {
      return refill ? Exprs{b.linearize(at, shape)} : Exprs(at);
    };
    int64_t elements = elementsOfThread(b.plan);
    if (forNeighbourRows(
            b, shape, elements,
            [&](ArrayRef<Expr> at) { return b.load(result, at); },
            [&](Expr element, ArrayRef<Expr> at) {
              b.store(0u, element, place(at));
            }))
      return;
    SmallVector<ConcatOp> joins;
    if (elements > 1) {
      joins = joinsInPlace(b.group, result);
      elements = std::gcd(elements, runOf(shape, joins).known().value_or(1));
    }
    forNeighbours(b, shape, elements, [&](ArrayRef<Expr> at) {
      for (auto [axis, i] : llvm::enumerate(at))
        named(i, nameOf(b, axis));
      // All elements that one thread computes come from the same operand of
      // each concatenation, so no element needs a select.
      for (ConcatOp join : joins)
        b.bindElement(join.getResult(), join.emitElement(b, at));
      b.store(0u, b.load(result, at), place(at));
      for (ConcatOp join : joins)
        b.unbindElement(join.getResult());
    });
  }

  /// Returns the largest n for which elements [i * n, (i + 1) * n) of the last
  /// axis come from the same operand of each concatenation in `joins`, for
  /// every i.
  static Dim runOf(ArrayRef<Dim> shape, ArrayRef<ConcatOp> joins) {
    if (shape.empty() || !shape.back().known())
      return 1;
    int64_t run = *shape.back().known();
    for (int64_t cut : cutsOf(joins))
      run = std::gcd(run, cut);
    return run;
  }

  /// Returns the concatenations at whose operand boundaries the loop over the
  /// last axis is split. Returns none if the target uses whole registers only,
  /// since the sections between boundaries rarely fill them.
  static SmallVector<ConcatOp> joinsToCut(KernelBuilder &b, Value result) {
    return b.target.wholeRegisters ? SmallVector<ConcatOp>()
                                   : joinsInPlace(b.group, result);
  }

  /// Returns the concatenations along the last axis with static sizes whose
  /// elements have the same index as the result elements computed from them:
  /// the concatenation has the shape of `result`, and only elementwise
  /// operators lie between the two.
  static SmallVector<ConcatOp> joinsInPlace(GroupView group, Value result) {
    SmallVector<ConcatOp> joins;
    Dims shape = dimsOf(result);
    for (Operation &op : group.block->without_terminator())
      if (auto join = dyn_cast<ConcatOp>(op);
          join && !join.passesLanes() && dimsOf(join.getResult()) == shape &&
          llvm::all_of(join.getInputs(),
                       [](Value x) { return dimsOf(x).back().known(); }) &&
          keepsIndices(join.getResult(), result))
        joins.push_back(join);
    return joins;
  }

  /// Returns the positions along the last axis at which an operand of `joins`
  /// begins or ends, in ascending order without duplicates, from 0 to the size
  /// of the axis.
  static SmallVector<int64_t> cutsOf(ArrayRef<ConcatOp> joins) {
    SmallVector<int64_t> cuts = {0};
    for (ConcatOp join : joins) {
      int64_t end = 0;
      for (Value x : join.getInputs())
        cuts.push_back(end += shapeOf(x).back());
    }
    llvm::sort(cuts);
    cuts.erase(llvm::unique(cuts), cuts.end());
    return cuts;
  }
  static int64_t partCount(ArrayRef<int64_t> cuts) {
    return static_cast<int64_t>(cuts.size()) - 1;
  }

  /// Emits one loop for each section of the last axis between two adjacent
  /// `cuts`. Within a section, all elements of a concatenation come from one
  /// operand, which replaces the concatenation while `body` emits the code.
  static void forJoined(KernelBuilder &b, ArrayRef<ConcatOp> joins,
                        ArrayRef<int64_t> cuts, Type type, ArrayRef<Expr> outer,
                        llvm::function_ref<void(Expr, int64_t)> body) {
    for (auto [first, end] : llvm::zip(cuts, cuts.drop_front())) {
      b.forLanes(end - first, type, [&, first = first](Expr i, int64_t lanes) {
        named(i, "element");
        for (ConcatOp join : joins) {
          int64_t begin = 0;
          Value operand;
          for (Value x : join.getInputs()) {
            operand = x;
            if (begin + shapeOf(x).back() > first)
              break;
            begin += shapeOf(x).back();
          }
          Exprs at(outer.begin(), outer.end());
          at.push_back(first == begin ? i : i + double(first - begin));
          b.bindElement(join.getResult(), b.load(operand, at));
        }
        body(first == 0 ? i : i + double(first), lanes);
        for (ConcatOp join : joins)
          b.unbindElement(join.getResult());
      });
    }
  }

  /// Whether vectors narrower than a register pay off although the target
  /// otherwise computes in whole registers. They do if the group only copies
  /// int8 elements or takes their maximum: narrower copies use other registers
  /// than computation, and loads and stores of half a register are fast.
  static bool takesNarrowerVectors(KernelBuilder &b) {
    return b.target.wholeRegisters &&
           llvm::all_of(b.group.block->without_terminator(), [](Operation &op) {
             return (isa<ConstantOp>(op) || isCopy(op) || isa<MaxPoolOp>(op)) &&
                    storageType(elementOf(op.getResult(0))).isInteger(8);
           });
  }
  static bool isCopy(Operation &op) {
    return isa<PadOp, TransposeOp, SliceOp, ConcatOp>(op) ||
           (isa<ReshapeOp>(op) &&
            shapeOf(op.getOperand(0)) == shapeOf(op.getResult(0)));
  }

  /// Emits `body` for the int8 elements [0, size): first in whole registers,
  /// then in vectors that are each half as wide as the previous one. If the
  /// group does more than copy, vectors have at least half a register, and the
  /// remaining elements are processed one by one.
  static void forNarrowerVectors(KernelBuilder &b, int64_t size,
                                 llvm::function_ref<void(Expr, int64_t)> body) {
    int64_t at = 0, widest = b.target.vectorBytes.front();
    bool copies =
        llvm::all_of(b.group.block->without_terminator(), [](Operation &op) {
          return isa<ConstantOp>(op) || isCopy(op);
        });
    for (int64_t lanes = widest; at < size;
         lanes = copies || lanes == widest ? lanes / 2 : 1) {
      int64_t end = size / lanes * lanes;
      if (at == end)
        continue;
      b.withLanes(lanes, [&]() -> Expr {
        if (at + lanes == end)
          body(b.index(at), lanes);
        else
          b.loop(b.index(at), b.index(end), lanes, {},
                 [&](Expr i, ArrayRef<Expr>) -> Exprs {
                   body(i, lanes);
                   return {};
                 });
        return {};
      });
      at = end;
    }
  }

  /// Returns the name of an axis of the result in the generated code. Results
  /// of convolutions and pools are images with channels last, whose axes are
  /// named accordingly ("batch", "row", "column", "channel").
  static std::string nameOf(KernelBuilder &b, size_t axis) {
    size_t rank = shapeOf(b.result()).size();
    bool isImage =
        isa_and_nonnull<ConvOp, ConvTransposeOp, MaxPoolOp, AveragePoolOp>(
            b.group.anchor());
    return isImage ? imageAxisName(axis, rank) : axisName(axis, rank);
  }

  /// Returns the refill (a move of all elements into another shape) that yields
  /// `result`; null if another operator yields it, or if `result` is not
  /// one-dimensional.
  static RefillOp refilled(Value result) {
    auto refill = result.getDefiningOp<RefillOp>();
    return refill && shapeOf(result).size() == 1 ? refill : RefillOp();
  }

  static bool passLanes(GroupView group, Operation *last,
                        ArrayRef<ConcatOp> joins) {
    return llvm::all_of(group.block->without_terminator(), [&](Operation &op) {
      auto element = dyn_cast<ElementOpInterface>(op);
      return &op == last || !element || element.passesLanes() ||
             llvm::is_contained(joins, dyn_cast<ConcatOp>(op));
    });
  }
};

} // namespace

std::unique_ptr<Strategy> createLoopNestStrategy() {
  return std::make_unique<LoopNestStrategy>();
}

} // namespace ingot::schedule
