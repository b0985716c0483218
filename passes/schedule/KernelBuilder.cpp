#include "passes/schedule/KernelBuilder.h"

#include "dialects/graph/ExprNames.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/ValueNames.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "passes/schedule/GroupCost.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace ingot::graph;
using namespace ingot::kernel;

namespace ingot::schedule {

/// Number of work items that a few cores can share evenly.
static constexpr int64_t enoughParts = 16;

void KernelBuilder::forIndependent(
    ArrayRef<Dim> trips, llvm::function_ref<void(ArrayRef<Expr>)> body) {
  size_t merged = 0;
  Dim parts = 1;
  SmallVector<int64_t> shape;
  // Merge the outermost axes into one parallel loop until it has enough
  // iterations. Only the outermost axis may have a dynamic size.
  while (merged < trips.size() && parts.most() < enoughParts &&
         (trips[merged].known() || parts == 1)) {
    shape.push_back(trips[merged].most());
    parts *= trips[merged++];
  }
  if (parts == 1 || !paysToFork(group))
    return forEach(trips, body);
  parallelFor(parts, [&](Expr part) {
    Exprs first = delinearize(part, shape);
    forEach(trips.drop_front(merged), [&](ArrayRef<Expr> rest) {
      Exprs at(first);
      llvm::append_range(at, rest);
      body(at);
    });
    for (auto [axis, i] : llvm::enumerate(first))
      named(i, axisName(axis, trips.size()));
  });
}

int64_t KernelBuilder::threadsOfRow(ArrayRef<Dim> rows, int64_t length) const {
  const Device &device = target.device;
  // Four warps for each of the four warp schedulers of an SM (512 threads) hide
  // the latency of arithmetic instructions, which is four cycles.
  const int64_t enough = 512 * int64_t(device.multiprocessors);
  constexpr int64_t most = 512;
  int64_t count = product(rows).most(), threads = device.warp;
  while (threads < most && count * threads < enough && length >= 4 * threads)
    threads *= 2;
  return threads;
}

void KernelBuilder::forSharedRows(
    ArrayRef<Dim> trips, int64_t threads,
    llvm::function_ref<void(ArrayRef<Expr>, Expr)> body) {
  forPlaces(trips, threads, [&](ArrayRef<Expr> at, Expr thread) {
    sharing = Sharing{threads, thread};
    body(at, thread);
    sharing.reset();
  });
}

Expr KernelBuilder::acrossThreads(Expr value,
                                  llvm::function_ref<Expr(Expr, Expr)> merge) {
  int64_t warp = target.device.warp, warps = sharing->threads / warp;
  Expr ofWarp = acrossWarp(value, merge);
  if (warps == 1)
    return ofWarp;
  Type type = isa<FloatType>(value.type) ? builder.getF32Type() : value.type;
  Value totals = shared({warps}, type, "totals_of_warps");
  auto totalOf = [&](int64_t number) {
    Expr total = loadFrom(totals, type, {index(number)});
    total.type = value.type;
    return total;
  };
  // The totals of a previous reduction must have been read before this one
  // overwrites them.
  barrier();
  when(equal(sharing->thread % double(warp), 0.0),
       [&] { store(totals, ofWarp, {sharing->thread / double(warp)}); });
  barrier();
  Expr total = totalOf(0);
  for (int64_t other = 1; other < warps; ++other)
    total = named(merge(total, totalOf(other)), "total_of_row");
  return total;
}

Expr KernelBuilder::acrossWarp(Expr value,
                               llvm::function_ref<Expr(Expr, Expr)> merge) {
  int64_t warp = target.device.warp;
  for (int64_t distance = warp / 2; distance > 0; distance /= 2) {
    auto shuffle = gpu::ShuffleOp::create(builder, loc, value.value, distance,
                                          warp, gpu::ShuffleMode::XOR);
    Expr other = wrap(shuffle.getShuffleResult(), value.type);
    value = named(merge(value, named(other, "of_other_thread")),
                  "total_of_" + Twine(warp / distance));
  }
  return value;
}

void KernelBuilder::forPlaces(
    ArrayRef<Dim> trips, int64_t each,
    llvm::function_ref<void(ArrayRef<Expr>, Expr)> body) {
  Dim parts = 1;
  for (const Dim &size : trips)
    parts *= size;
  if (parts.known() && *parts.known() == 0)
    return;
  // A row that more than one warp shares gets a block of its own.
  int64_t ofBlock =
      each > int64_t(target.device.warp) ? each : target.device.blockThreads;
  onThreads(parts * each, ofBlock, [&](Expr thread) {
    Expr lane = each == 1 ? index(0) : named(thread % double(each), "lane"),
         part = each == 1 ? thread : named(thread / double(each), "place");
    Exprs at = delinearize(part, trips);
    body(at, lane);
    for (auto [axis, i] : llvm::enumerate(at))
      named(i, axisName(axis, trips.size()));
  });
}

void KernelBuilder::onThreads(const Dim &count, int64_t ofBlock,
                              llvm::function_ref<void(Expr)> body) {
  int64_t threads = std::min<int64_t>(
      ofBlock, llvm::alignTo(count.most(), target.device.warp));
  onBlocks((count + (threads - 1)).floorDiv(threads), threads,
           [&](Expr block, Expr inBlock) {
             Expr thread = named(block * double(threads) + inBlock, "thread");
             if (count.known() && *count.known() % threads == 0)
               return body(thread);
             when(thread < size(count), [&] { body(thread); });
           });
}

void KernelBuilder::onBlocks(const Dim &blocks, int64_t threads,
                             llvm::function_ref<void(Expr, Expr)> body) {
  function.setThreads(threads);
  setExtent(function, blocks);
  auto place = [&](Value of) { return wrap(of, builder.getIndexType()); };
  Expr block = place(gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x)),
       thread = place(gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x));
  body(block, thread);
}

Value KernelBuilder::shared(ArrayRef<int64_t> shape, Type type,
                            const Twine &name) {
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  Value buffer = memref::AllocaOp::create(
      builder, loc,
      MemRefType::get(shape, storageType(type), MemRefLayoutAttrInterface(),
                      space));
  return kernel::nameValue(buffer, name);
}

void KernelBuilder::barrier() { gpu::BarrierOp::create(builder, loc); }

void KernelBuilder::onOneThread() {
  function.setThreads(1);
  setExtent(function, 1);
}

void KernelBuilder::parallelFor(const Dim &extent,
                                llvm::function_ref<void(Expr)> body) {
  if (extent == 1)
    return body(index(0));
  if (!paysToFork(group))
    return forRange(index(0), size(extent), body);
  forPart(extent, [&](Expr begin, Expr end) { forRange(begin, end, body); });
}

void KernelBuilder::parallelFor(
    const Dim &extent, int64_t steps,
    llvm::function_ref<void(Expr, const Part &)> body) {
  // `enoughIterations` iterations can be shared evenly by a few cores. Dividing
  // iterations into more parts would cost a few instructions for each part.
  constexpr int64_t enoughIterations = 12;
  int64_t parts = 1;
  if (paysToFork(group))
    while (parts < steps &&
           (steps % parts != 0 || extent.most() * parts < enoughIterations))
      ++parts;
  if (parts == 1)
    return parallelFor(extent, [&](Expr i) { body(i, {index(0), 1}); });
  parallelFor(extent * parts, [&](Expr number) {
    named(number, "part");
    Exprs at = delinearize(number, {extent, parts});
    body(at[0], {named(at[1], "piece"), parts});
  });
}

void KernelBuilder::forShared(int64_t trips,
                              llvm::function_ref<void(Expr, Expr)> body) {
  if (!sharedCycles || trips == 1)
    return BodyBuilder::forShared(trips, body);
  auto parallel = kernel::ParallelOp::create(
      builder, loc, trips, builder.getI64IntegerAttr(*sharedCycles));
  Type indexType = builder.getIndexType();
  OpBuilder::InsertionGuard guard(builder);
  Block *part = builder.createBlock(&parallel.getBody(), {},
                                    {indexType, indexType}, {loc, loc});
  body(wrap(part->getArgument(0), indexType),
       wrap(part->getArgument(1), indexType));
  kernel::ReturnOp::create(builder, loc);
}

void KernelBuilder::forPart(const Dim &extent,
                            llvm::function_ref<void(Expr, Expr)> body) {
  Block &entry = function.getBody().front();
  Type indexType = builder.getIndexType();
  Value begin = entry.addArgument(indexType, loc),
        end = entry.addArgument(indexType, loc);
  setExtent(function, extent);
  body(wrap(begin, indexType), wrap(end, indexType));
}

Type KernelBuilder::decidingLanes(Type a, Type b) const {
  int64_t ofA = target.maxLanes(computeType(a)),
          ofB = target.maxLanes(computeType(b));
  bool takesMost = target.wholeRegisters && ofA > 1 && ofB > 1;
  return (takesMost ? ofB > ofA : ofB < ofA) ? b : a;
}

void KernelBuilder::forLanes(const Dim &dim, Type type,
                             llvm::function_ref<void(Expr, int64_t)> body,
                             int64_t widest) {
  SmallVector<int64_t> widths = target.lanes(computeType(type));
  widths.push_back(1);
  llvm::erase_if(widths, [&](int64_t w) { return widest && w > widest; });
  auto over = [&](Expr from, Expr to, int64_t lanes) {
    llvm::SaveAndRestore inLanes(laneCount, lanes);
    loop(from, to, lanes, {}, [&](Expr i, ArrayRef<Expr>) -> Exprs {
      body(i, lanes);
      return {};
    });
  };
  if (!dim.known()) {
    // Whole vectors first, then the remaining elements one by one.
    Expr whole = size(dim.floorDiv(widths.front()) * widths.front());
    over(index(0), whole, widths.front());
    if (widths.front() > 1)
      over(whole, size(dim), 1);
    return;
  }
  int64_t at = 0;
  for (int64_t lanes : widths) {
    int64_t trips = (*dim.known() - at) / lanes;
    if (trips == 0)
      continue;
    if (trips == 1) {
      llvm::SaveAndRestore inLanes(laneCount, lanes);
      body(index(at), lanes);
    } else {
      over(index(at), index(at + trips * lanes), lanes);
    }
    at += trips * lanes;
  }
}

void KernelBuilder::forLanes(const Part &part, int64_t size, Type type,
                             llvm::function_ref<void(Expr, int64_t)> body) {
  if (part.count == 1)
    return forLanes(size, type, body);
  int64_t lanes = target.maxLanes(computeType(type)),
          length = size / part.count;
  Expr first = part.number * double(length);
  llvm::SaveAndRestore inLanes(laneCount, lanes);
  if (length == lanes)
    return body(first, lanes);
  loop(first, first + double(length), lanes, {},
       [&](Expr i, ArrayRef<Expr>) -> Exprs {
         body(i, lanes);
         return {};
       });
}

LogicalResult KernelBuilder::finish(int64_t) {
  function.setCycles(cyclesOf(group));
  return success();
}

void KernelBuilder::addSizes() {
  SmallVector<kernel::SymbolAttr> found;
  for (Operation &op : *group.block)
    for (kernel::SymbolAttr symbol : dynamicSizes(&op))
      if (!llvm::is_contained(found, symbol))
        found.push_back(symbol);
  if (found.empty())
    return;
  Dims sizes;
  for (kernel::SymbolAttr symbol : found) {
    sizes.push_back(Dim(symbol));
    bindSymbol(symbol, function.getBody().front().addArgument(
                           builder.getIndexType(), loc));
  }
  function.setSizesAttr(kernel::sizesAttr(sizes, builder.getContext()));
}

void KernelBuilder::dropUnusedSizes() {
  if (!function.getSizes())
    return;
  Block &entry = function.getBody().front();
  Dims all = dimsOf(*function.getSizes()), used;
  size_t at = entry.getNumArguments() - partArguments(function) - all.size();
  for (const Dim &size : all)
    if (entry.getArgument(at).use_empty()) {
      entry.eraseArgument(at);
    } else {
      used.push_back(size);
      ++at;
    }
  if (used.empty())
    function.removeSizesAttr();
  else
    function.setSizesAttr(sizesAttr(used, builder.getContext()));
}

void KernelBuilder::branch(Expr condition, llvm::function_ref<void()> then,
                           llvm::function_ref<void()> otherwise) {
  auto op = scf::IfOp::create(builder, loc, condition.value,
                              /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&op.getThenRegion().front());
  then();
  builder.setInsertionPointToStart(&op.getElseRegion().front());
  otherwise();
}

void KernelBuilder::allowInPlace(unsigned result, unsigned operand) {
  if (!isContiguous(result))
    return;
  promises.inPlace.push_back({result, operand});
}

Value KernelBuilder::view(Value buffer, ArrayRef<int64_t> shape) {
  auto type = cast<MemRefType>(buffer.getType());
  if (type.getShape() == shape)
    return buffer;
  if (type.getLayout().isIdentity())
    return ViewOp::create(
        builder, loc, MemRefType::get(shape, type.getElementType()), buffer);
  // Go from the innermost axis outwards: each axis of `shape` covers axes of
  // the buffer that are contiguous with each other.
  auto [strides, offset] = type.getStridesAndOffset();
  SmallVector<std::pair<int64_t, int64_t>>
      axes; // (size, stride), innermost first
  for (size_t i = strides.size(); i-- > 0;)
    if (type.getShape()[i] != 1)
      axes.push_back({type.getShape()[i], strides[i]});
  SmallVector<int64_t> newStrides(shape.size(), 1);
  size_t at = 0;
  for (size_t i = shape.size(); i-- > 0;) {
    int64_t left = shape[i];
    if (left != 1)
      newStrides[i] = at < axes.size() ? axes[at].second : 1;
    while (left != 1) {
      if (at == axes.size() || left % axes[at].first != 0 ||
          axes[at].second != newStrides[i] * (shape[i] / left))
        return {};
      left /= axes[at++].first;
    }
  }
  auto layout = StridedLayoutAttr::get(type.getContext(), offset, newStrides);
  return ViewOp::create(builder, loc,
                        MemRefType::get(shape, type.getElementType(), layout),
                        buffer);
}

bool KernelBuilder::isContiguous(unsigned output) const {
  return cast<MemRefType>(outputs[output].getType()).getLayout().isIdentity();
}

Value KernelBuilder::scratch(ArrayRef<int64_t> shape, Type type) {
  Block &entry = function.getBody().front();
  auto memref = MemRefType::get(shape, storageType(type));
  // The arguments of scratch buffers come before those of the dynamic sizes,
  // and before `begin` and `end`, which parallelFor adds last.
  assert(!function.getExtent() && "scratch comes before the parallel loop");
  size_t sizes =
      function.getSizes() ? function.getSizes()->getSizes().size() : 0;
  Value buffer =
      entry.insertArgument(entry.getNumArguments() - sizes, memref, loc);
  promises.scratch.push_back(RankedTensorType::get(shape, type));
  return buffer;
}

Value KernelBuilder::counts(int64_t size) {
  promises.cleared.push_back(promises.scratch.size());
  return scratch({size}, builder.getIntegerType(32, /*isSigned=*/true));
}

} // namespace ingot::schedule
