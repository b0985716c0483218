// The strategy for chains of elementwise operators with broadcasting. Two
// adjacent axes are merged if each operand either has both axes in full or is
// broadcast along both. The innermost merged axis is vectorized; the others
// become loops.

#include "passes/schedule/ContiguousRows.h"
#include "passes/schedule/ExecutionModel.h"
#include "passes/schedule/gpu/Neighbours.h"
#include "passes/schedule/tiles/HalfTile.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

class ElementwiseStrategy : public Strategy {
public:
  bool matches(GroupOnTarget group) const override {
    return group.isElementwise() && group.results().size() == 1;
  }

  bool takesDynamicSizes() const override { return true; }

  ArrayRef<PlanKey> planKeys() const override { return elementsKey(); }
  SmallVector<Plan> plans(GroupOnTarget group) const override {
    MergedAxes axes = mergeAxes(group, [](size_t, size_t) { return true; });
    return plansByElements(group, axes.trips, axes.trips.back(),
                           group.target.device.warp * 4);
  }

  void emit(KernelBuilder &b) const override {
    Value result = b.result();
    ArrayRef<int64_t> shape = shapeOf(result);
    ValueRange inputs = b.group.block->getArguments();
    auto [strides, offset] =
        cast<MemRefType>(b.outputs[0].getType()).getStridesAndOffset();
    auto [merged, trips, mergedShapes] =
        mergeAxes(b.group, [&](size_t outside, size_t axis) {
          return strides[outside] == strides[axis] * shape[axis];
        });

    SmallVector<Value> buffers;
    for (auto [i, input] : llvm::enumerate(inputs)) {
      buffers.push_back(b.view(b.bufferOf(input), mergedShapes[i]));
      if (shapeOf(input) == shape &&
          storageType(elementOf(input)) == storageType(elementOf(result)))
        b.allowInPlace(0, i);
    }
    Value output = b.view(b.outputs[0], merged);

    auto compute = [&](ArrayRef<Expr> idx) {
      for (size_t i = 0; i < inputs.size(); ++i) {
        Exprs at;
        for (auto [axis, size] : llvm::enumerate(mergedShapes[i]))
          at.push_back(size == 1 ? b.index(0) : idx[axis]);
        auto load = [&] {
          return b.loadFrom(buffers[i], elementOf(inputs[i]), at);
        };
        bool repeated = mergedShapes[i].back() == 1;
        b.bindElement(inputs[i], repeated ? b.withLanes(1, load) : load());
      }
      // All operands are bound to their elements at `idx`, so the indices
      // passed here are ignored.
      Exprs zeros(shape.size(), b.index(0));
      b.store(output, b.load(result, zeros), idx);
    };
    // If a buffer is part of a larger tensor, its rows may not be contiguous.
    // In that case, elements are accessed one by one.
    bool isDense =
        hasContiguousRows(output) && llvm::all_of(buffers, hasContiguousRows);
    Type type = widestType(b);
    auto inner = [&](Exprs outer, Expr base, const Dim &size) {
      auto element = [&](Expr i, int64_t) {
        Exprs idx(outer);
        named(i, axisName(merged.size() - 1, merged.size()));
        idx.push_back(base ? named(base + i, "element") : i);
        compute(idx);
      };
      b.forLanes(size, type, element, /*widest=*/isDense ? 0 : 1);
    };
    if (modelOf(b.target).accessBytes)
      return forNeighbours(b, trips, elementsOfThread(b.plan), compute);
    if (merged.size() == 1 && !trips[0].known())
      return inner({}, {}, trips[0]);
    if (merged.size() == 1) {
      // Threads divide a single long axis into blocks.
      int64_t block = blockOf(merged[0], b.target.maxLanes(type));
      if (block < merged[0])
        return b.parallelFor(merged[0] / block, [&](Expr part) {
          inner({}, named(named(part, "block") * double(block), "first"),
                block);
        });
      return inner({}, {}, merged[0]);
    }
    b.forIndependent(ArrayRef(trips).drop_back(), [&](ArrayRef<Expr> outer) {
      for (auto [axis, i] : llvm::enumerate(outer))
        named(i, axisName(axis, merged.size()));
      inner(Exprs(outer), {}, trips.back());
    });
  }

private:
  /// The axes of the result after merging. `sizes` are their sizes, and `trips`
  /// the same as loop trip counts, which may be dynamic. `inputs` has the sizes
  /// of each input along these axes, 1 where the input is broadcast.
  struct MergedAxes {
    SmallVector<int64_t> sizes;
    Dims trips;
    SmallVector<SmallVector<int64_t>> inputs;
  };

  /// Merges each axis of the result into the axis before it if all operands
  /// allow it and if `continues(outside, axis)` says that the two axes are
  /// contiguous with each other in the result's memory. Axes of dynamic size
  /// are never merged.
  static MergedAxes
  mergeAxes(GroupView group,
            llvm::function_ref<bool(size_t outside, size_t axis)> continues) {
    Value result = group.results()[0];
    ArrayRef<int64_t> shape = shapeOf(result);
    Dims sizes = dimsOf(result);
    // Shapes of the inputs, right-aligned to the result's rank.
    SmallVector<SmallVector<int64_t>> shapes;
    for (Value input : group.block->getArguments()) {
      SmallVector<int64_t> aligned(shape.size() - shapeOf(input).size(), 1);
      llvm::append_range(aligned, shapeOf(input));
      shapes.push_back(aligned);
    }
    MergedAxes merged;
    merged.inputs.resize(shapes.size());
    auto begin = [&] {
      merged.sizes.push_back(1);
      merged.trips.push_back(1);
      for (auto &input : merged.inputs)
        input.push_back(1);
    };
    std::optional<size_t> outside;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (sizes[axis] == 1)
        continue;
      bool joins = outside && sizes[axis].known() && sizes[*outside].known() &&
                   continues(*outside, axis);
      outside = axis;
      for (size_t i = 0; joins && i < shapes.size(); ++i)
        joins = (shapes[i][axis] == 1) == (merged.inputs[i].back() == 1);
      if (!joins)
        begin();
      merged.sizes.back() *= shape[axis];
      merged.trips.back() *= sizes[axis];
      for (size_t i = 0; i < shapes.size(); ++i)
        merged.inputs[i].back() *= shapes[i][axis];
    }
    if (merged.sizes.empty())
      begin();
    return merged;
  }

  /// Returns the number of elements per block if threads divide an axis of
  /// `size` elements into equal blocks: the largest divisor of `size` from 512
  /// to 4,096 that is a multiple of `lanes`. Returns `size` if there is no such
  /// divisor.
  static int64_t blockOf(int64_t size, int64_t lanes) {
    for (int64_t block = 4096; block >= 512; block -= lanes)
      if (block % lanes == 0 && size % block == 0)
        return block;
    return size;
  }

  /// Returns the element type, among all values of the group, that determines
  /// the number of lanes (KernelBuilder::decidingLanes).
  static Type widestType(KernelBuilder &b) {
    // A result that can be computed in f16 has as many lanes as any vector of
    // 16-bit elements.
    if (halvesByLane(b.target) && roundsToHalves(b, /*anchor=*/Value()))
      return b.builder.getI16Type();
    Type widest = elementOf(b.result());
    auto consider = [&](Type type) { widest = b.decidingLanes(widest, type); };
    for (Value input : b.group.block->getArguments())
      consider(elementOf(input));
    for (Operation &op : b.group.block->without_terminator())
      for (Value v : op.getResults())
        consider(elementOf(v));
    return computeType(widest).isInteger(1)
               ? IntegerType::get(widest.getContext(), 8)
               : widest;
  }
};

} // namespace

std::unique_ptr<Strategy> createElementwiseStrategy() {
  return std::make_unique<ElementwiseStrategy>();
}

} // namespace ingot::schedule
