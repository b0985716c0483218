// Reductions by thread blocks: reductions of leading axes that keep the last
// axis, and reductions of few rows.
//
// Reduced elements are "steps" (say, all positions of an image); kept axes
// before them are "rows" (images); the kept trailing axes are contiguous
// "columns" (channels). If the last axis is reduced, there is a single column.
// A block has some adjacent columns. Its threads divide the steps of these
// columns so that a warp reads contiguous memory, and combine their totals in
// shared memory by a tree:
//
//   total = init
//   for this thread's steps: total = combine(total, x[row, step, column])
//   totals[part][column] <- total
//   for half = parts / 2 .. 1:
//     barrier
//     if part < half:
//       totals[part][column] = merge(totals[part][column],
//                                    totals[part + half][column])
//   result[row, column] = epilogue(finish(totals[0][column]))
//
// If there are few columns or rows for the device, several blocks divide the
// steps of the same columns into slices. Each block stores its totals and
// increments a counter; the block that completes the count merges the totals of
// all slices in their order, so that the result is deterministic.
//
// With one thread per column instead, the mean of each of 32 channels over 112
// x 112 positions would be computed by a single warp in 12,544 sequential
// loads.

#include "passes/schedule/DeviceTime.h"
#include "passes/schedule/PlanFields.h"
#include "passes/schedule/StoredOperands.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/TileChoice.h"

#include "dialects/kernel/ValueNames.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// Divides the axes of a reduction into rows (kept axes before the last reduced
/// one), steps (reduced axes) and columns (kept axes after the last reduced
/// one).
struct ReductionAxes {
  explicit ReductionAxes(ReductionOpInterface reduction)
      : sizes(dimsOf(reduction.getInput())) {
    int64_t last = reduction.getAxes().back();
    for (int64_t axis = 0, e = sizes.size(); axis < e; ++axis)
      (llvm::is_contained(reduction.getAxes(), axis) ? steps
       : axis < last                                 ? rows
                                                     : columns)
          .push_back(axis);
  }

  Dims of(ArrayRef<int64_t> axes) const {
    return Dims(llvm::map_range(axes, [&](int64_t a) { return sizes[a]; }));
  }
  int64_t columnCount() const { return product(of(columns)).most(); }
  Dim stepCount() const { return product(of(steps)); }
  Dim rowCount() const { return product(of(rows)); }

  Dims sizes;
  SmallVector<int64_t> rows, steps, columns;
};

/// The size of a block: its columns, the number of its threads that divide the
/// elements of each column (`parts`), and the number of blocks that divide the
/// elements of the same columns (`slices`).
struct ReductionBlock {
  int64_t columns, parts, slices;

  int64_t threads() const { return columns * parts; }
};

class BlockReductionKernel {
public:
  BlockReductionKernel(KernelBuilder &b, const ReductionBlock &block)
      : b(b), reduction(cast<ReductionOpInterface>(b.group.anchor())),
        axes(reduction), block(block), columns(axes.columnCount()) {
    findStretches();
  }

  void emit() {
    Type type = elementOf(reduction.getInput());
    stored = isa<FloatType>(type) ? computeType(type) : type;
    int64_t across = llvm::divideCeil(columns, block.columns);
    if (block.parts > 1)
      totals = b.shared({block.parts, block.columns}, stored, "totals");
    Value ofSlices, counts;
    if (block.slices > 1) {
      int64_t places = axes.rowCount().most() * across;
      ofSlices = b.scratch({places, block.slices, block.columns}, stored);
      counts = b.counts(places);
    }
    b.onBlocks(axes.rowCount() * across * block.slices, block.threads(),
               [&](Expr number, Expr thread) {
                 findPlace(number, thread, across);
                 Expr total = acrossParts(overSteps());
                 if (block.slices == 1)
                   return finish(total);
                 whereFirst([&] {
                   b.store(ofSlices, total, {place, slice, inBlock});
                 });
                 Expr done =
                     b.wrap(kernel::CountOp::create(
                                b.builder, b.loc, b.builder.getIndexType(),
                                counts, place.value, b.index(1).value)
                                .getTotal(),
                            place.type);
                 b.when(equal(named(done, "done"), double(block.slices)),
                        [&] { finish(acrossParts(overSlices(ofSlices))); });
               });
  }

private:
  void findPlace(Expr number, Expr thread, int64_t across) {
    named(thread, "thread");
    inBlock = named(thread % double(block.columns), "column_of_block");
    part = named(thread / double(block.columns), "part");
    slice = b.index(0);
    place = number;
    if (block.slices > 1) {
      slice = named(number % double(block.slices), "slice");
      place = named(number / double(block.slices), "place");
    }
    bool isOneRow = axes.rowCount() == 1;
    Expr firstColumn = b.index(0);
    row = isOneRow ? b.index(0) : place;
    if (across > 1) {
      Expr number = isOneRow ? place : place % double(across);
      firstColumn = named(number * double(block.columns), "first_column");
      if (!isOneRow)
        row = named(place / double(across), "row");
    }
    column = named(firstColumn + inBlock, "column");
  }

  /// If the reduced axes are adjacent and all sizes are static, sets
  /// `stretches` to views of the buffers that the reduction reads, in which the
  /// reduced axes are merged into one axis and the columns into another. Leaves
  /// `stretches` empty otherwise, or if a buffer cannot be viewed that way.
  /// Buffers of a single element are ignored.
  void findStretches() {
    if (axes.steps.back() - axes.steps.front() + 1 !=
            int64_t(axes.steps.size()) ||
        hasDynamicSizes(reduction.getInput().getType()))
      return;
    ArrayRef<int64_t> shape = shapeOf(reduction.getInput());
    SmallVector<int64_t> flat(shape.take_front(axes.steps.front()));
    flat.append({axes.stepCount().most(), columns});
    auto stored = storedOperands(reduction.getInput());
    if (!stored)
      return;
    SmallVector<std::pair<Value, Value>> found;
    for (Value v : *stored) {
      Value view = b.view(b.bufferOf(v), flat);
      if (!view)
        return;
      found.push_back({v, view});
    }
    stretches = std::move(found);
  }

  /// Returns the index of the first input element that is reduced in the given
  /// row and column.
  Exprs placeOf(Expr row, Expr column) {
    Exprs at(axes.sizes.size(), b.index(0));
    auto set = [&](ArrayRef<int64_t> which, Expr position) {
      for (auto [axis, i] :
           llvm::zip(which, b.delinearize(position, axes.of(which))))
        at[axis] = named(i, axisName(axis, at.size()));
    };
    set(axes.rows, row);
    set(axes.columns, column);
    return at;
  }

  Expr overSteps() {
    bool fits = columns % block.columns == 0;
    // Threads of columns beyond the last one read the last column again; their
    // results are not stored.
    Expr readable =
        fits ? column
             : named(min(column, double(columns - 1)), "readable_column");
    Exprs at = placeOf(row, readable);
    Expr first = block.slices == 1
                     ? part
                     : named(slice * double(block.parts) + part, "first_step");
    return b.loop(first, b.size(axes.stepCount()), block.parts * block.slices,
                  {reduction.init(b)},
                  [&](Expr step, ArrayRef<Expr> carried) -> Exprs {
                    named(step, "step");
                    return {named(reduction.combine(b, carried[0],
                                                    load(at, step, readable)),
                                  "total")};
                  })[0];
  }

  Expr load(Exprs at, Expr step, Expr column) {
    Exprs flat(at.begin(), at.begin() + axes.steps.front());
    flat.append({step, column});
    for (auto [tensor, view] : stretches)
      b.bindElement(tensor, b.loadFrom(view, elementOf(tensor), flat));
    if (stretches.empty())
      for (auto [axis, i] :
           llvm::zip(axes.steps, b.delinearize(step, axes.of(axes.steps))))
        at[axis] = named(i, axisName(axis, at.size()));
    Expr x = b.load(reduction.getInput(), at);
    for (auto [tensor, view] : stretches)
      b.unbindElement(tensor);
    return x;
  }

  Expr overSlices(Value ofSlices) {
    return b.loop(part, b.index(block.slices), block.parts, {reduction.init(b)},
                  [&](Expr other, ArrayRef<Expr> carried) -> Exprs {
                    named(other, "other_slice");
                    Expr total = loadAs(carried[0].type, ofSlices,
                                        {place, other, inBlock});
                    return {named(reduction.merge(b, carried[0], total),
                                  "total_of_slices")};
                  })[0];
  }

  Expr loadAs(Type type, Value buffer, const Exprs &at) {
    Expr x = b.loadFrom(buffer, stored, at);
    x.type = type;
    return x;
  }

  /// Reduces the totals of the `block.parts` threads that share a column. The
  /// first of these threads (part 0) gets the result.
  Expr acrossParts(Expr mine) {
    if (block.parts == 1)
      return mine;
    auto totalOf = [&](Expr part) {
      return loadAs(mine.type, totals, {part, inBlock});
    };
    b.store(totals, mine, {part, inBlock});
    for (int64_t half = block.parts / 2; half > 0; half /= 2) {
      b.barrier();
      b.when(part < double(half), [&] {
        b.store(totals,
                reduction.merge(b, totalOf(part), totalOf(part + double(half))),
                {part, inBlock});
      });
    }
    return totalOf(part);
  }

  void whereFirst(llvm::function_ref<void()> body) {
    block.parts == 1 ? body() : b.when(equal(part, 0.0), body);
  }

  void finish(Expr total) {
    auto store = [&] {
      Value anchor = reduction->getResult(0);
      Exprs at = placeOf(row, column);
      Expr result = named(reduction.finish(b, total, axes.stepCount()),
                          reduction->getName().stripDialect());
      result.type = elementOf(anchor);
      b.bindElement(anchor, result);
      b.store(0u, b.load(b.result(), at), at);
      b.unbindElement(anchor);
    };
    whereFirst([&] {
      columns % block.columns == 0 ? store()
                                   : b.when(column < double(columns), store);
    });
  }

  KernelBuilder &b;
  ReductionOpInterface reduction;
  ReductionAxes axes;
  ReductionBlock block;
  int64_t columns;
  /// The type in which totals are stored in shared memory and in the scratch
  /// buffer of the slices.
  Type stored;
  Value totals;
  /// The stored tensors that the reduction reads, each with a view of its
  /// buffer that has one axis of reduced elements and one of columns.
  SmallVector<std::pair<Value, Value>> stretches;
  Expr inBlock, part, slice, place, row, column;
};

class BlockReductionStrategy : public Strategy {
public:
  ArrayRef<PlanKey> planKeys() const override { return fields.keys(); }

  bool takesDynamicSizes() const override { return true; }

  bool matches(GroupOnTarget group) const override {
    if (!isOfColumns(group))
      return false;
    // With several columns, `group` uses this strategy if it is faster than one
    // thread per column. With a single column, the strategy must be clearly
    // faster than one block per row (strategies/Reduction.cpp), as estimates of
    // latency are rough. If `group` is a kernel function already, this strategy
    // has been chosen for it.
    ReductionAxes axes(cast<ReductionOpInterface>(group.anchor()));
    if (isa<kernel::FuncOp>(group.block->getParentOp()))
      return true;
    double least = rank(group).leastCost();
    constexpr double clearly = 0.9;
    constexpr ReductionBlock ofRow = {1, 512, 1};
    return axes.columns.empty()
               ? least < clearly * seconds(group, ofRow)
               : least < seconds(group, {axes.columnCount(), 1, 1});
  }

  SmallVector<Plan> plans(GroupOnTarget group) const override {
    return fields.plans(group.anchor()->getContext(),
                        rank(group).ranked({32, 8, 1}));
  }

  std::string refuse(GroupOnTarget group, const Plan &plan) const override {
    ReductionBlock block = fields.tileOf(plan);
    if (!llvm::isPowerOf2_64(block.parts))
      return "the number of parts is " + std::to_string(block.parts) +
             ", but must be a power of two, since parts are merged in pairs";
    if (block.threads() > mostThreads ||
        block.threads() % group.target.device.warp != 0)
      return "a block has " + std::to_string(block.threads()) +
             " threads, but must have a multiple of the warp size, and at "
             "most " +
             std::to_string(mostThreads);
    return "";
  }

  void emit(KernelBuilder &b) const override {
    BlockReductionKernel(b, fields.tileOf(b.plan)).emit();
  }

private:
  static inline const PlanFields<ReductionBlock> fields = {
      {{"columns", 1, 1024}, &ReductionBlock::columns},
      {{"parts", 1, 1024}, &ReductionBlock::parts},
      {{"slices", 1, 1024}, &ReductionBlock::slices}};

  static constexpr int64_t mostThreads = 1024;

  static bool isOfColumns(GroupView group) {
    auto reduction = dyn_cast_or_null<ReductionOpInterface>(group.anchor());
    if (!reduction || reduction.getAxes().empty() ||
        group.results().size() != 1 ||
        dimsOf(group.results()[0]) != dimsOf(reduction->getResult(0)))
      return false;
    // In strict mode, float sums must keep the order of their terms. Maxima,
    // minima and integer reductions do not depend on the order.
    Type type = elementOf(reduction.getInput());
    if (group.isStrict() && isa<FloatType>(type) &&
        !isa<ReduceMaxOp, ReduceMinOp>(group.anchor()))
      return false;
    auto isKnown = [](const Dim &size) { return size.known().has_value(); };
    auto hasOneOpen = [&](const Dims &sizes) {
      return llvm::count_if(sizes, isKnown) + 1 >= int64_t(sizes.size());
    };
    ReductionAxes axes(reduction);
    return computeType(type).isIntOrFloat() && !type.isInteger(1) &&
           llvm::all_of(axes.of(axes.columns), isKnown) &&
           hasOneOpen(axes.of(axes.rows)) && hasOneOpen(axes.of(axes.steps)) &&
           tensorType(reduction.getInput()).getNumElements() > 0;
  }

  static Ranking<ReductionBlock> rank(GroupOnTarget group) {
    ReductionAxes axes(cast<ReductionOpInterface>(group.anchor()));
    Type type = computeType(
        elementOf(cast<ReductionOpInterface>(group.anchor()).getInput()));
    int64_t warp = group.target.device.warp,
            all = llvm::PowerOf2Ceil(uint64_t(axes.columnCount())),
            steps = llvm::PowerOf2Ceil(uint64_t(axes.stepCount().most()));
    // Memory is read in sectors of 32 bytes, so a block has at least as many
    // columns as a sector has elements, or all columns if there are fewer.
    int64_t sector = 32 * 8 / type.getIntOrFloatBitWidth();
    Ranking<ReductionBlock> ranking;
    for (int64_t columns = std::min(all, sector);
         columns <= std::min(all, warp); columns *= 2)
      for (int64_t threads = 128; threads <= mostThreads; threads *= 2)
        for (int64_t slices = 1; slices <= 256; slices *= 2)
          if (int64_t parts = threads / columns; parts * slices <= steps)
            ranking.add({columns, parts, slices},
                        seconds(group, {columns, parts, slices}));
    return ranking;
  }

  /// Estimates the time: elements arrive at memory bandwidth if there are
  /// enough threads. A thread waits about 600 cycles for four loads, as
  /// compilers unroll its loop four times. Each level of the tree that merges
  /// the parts takes about 100 cycles for a barrier and two accesses to shared
  /// memory.
  static double seconds(GroupOnTarget group, const ReductionBlock &block) {
    const Device &device = group.target.device;
    auto reduction = cast<ReductionOpInterface>(group.anchor());
    ReductionAxes axes(reduction);
    double steps = double(axes.stepCount().most()),
           across =
               std::ceil(double(axes.columnCount()) / double(block.columns)),
           threads = double(axes.rowCount().most()) * across *
                     double(block.slices * block.threads());
    double used = std::min(
        1.0, threads / (device.busyThreads * double(device.multiprocessors)));
    int64_t bits =
        storageType(elementOf(reduction.getInput())).getIntOrFloatBitWidth();
    double bytes = double(tensorType(reduction.getInput()).getNumElements()) *
                   double(bits) / 8;
    constexpr double cycle = 1 / 1.5e9;
    double trips = steps / double(block.parts * block.slices);
    double waiting = std::ceil(trips / 4) * 600 * cycle,
           joining = std::log2(double(block.parts)) * 100 * cycle;
    double result =
        std::max(bytes / device.bytesPerSecond / used, waiting) + joining;
    if (block.slices > 1)
      result += std::ceil(double(block.slices) / double(block.parts) / 4) *
                    600 * cycle +
                joining + countingSeconds;
    return result;
  }
};

} // namespace

std::unique_ptr<Strategy> createBlockReductionStrategy() {
  return std::make_unique<BlockReductionStrategy>();
}

} // namespace ingot::schedule
