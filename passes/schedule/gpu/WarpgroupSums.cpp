// The sums of a block of warpgroups: initialization, reduction over slices or
// blocks, and the epilogue.
//
// If there are few tiles for the device, there are two ways to divide K. Either
// the slices of a block (sets of warpgroups) take turns at the K tiles of one
// tile, and leave their sums in shared memory for the first slice. Or the
// `behind` blocks of a cluster compute the same tile for different K tiles, and
// each completes a part of the tile: some of the column groups of every thread
// (a column group: the thread's columns of MMAs whose columns are interleaved):
//
//   for each block B of the cluster, including this one:
//     parts[this block's number] in the shared memory of B
//         = this block's sums of the column groups that B completes
//   await the parts of all blocks at an mbarrier that counts their bytes
//   for each column group of the thread that this block completes:
//     result = epilogue(parts[0] + parts[1] + ...)

#include "passes/schedule/gpu/WarpgroupSums.h"

#include "dialects/kernel/ValueNames.h"
#include "passes/schedule/Anchors.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

WarpgroupSums::WarpgroupSums(KernelBuilder &b, const BlockOperands &operands,
                             const WarpgroupTile &tile, bool mayDeal,
                             const WarpgroupCopies::Place &place)
    : b(b), operands(operands), tile(tile),
      anchor(b.group.anchor()->getResult(0)),
      vectors(b, operands, tile.rows * tile.below, tile.columns * tile.beside,
              tile.columns / 8, mayDeal, /*areWhole=*/true),
      place(place) {}

Type WarpgroupSums::sumType() const {
  return operands.areBytes() ? elementOf(anchor) : Type(b.builder.getF32Type());
}

void WarpgroupSums::declareShared() {
  if (tile.slices > 1)
    parts = sharedAt(vectorAccessBytes, b,
                     {tile.slices - 1, tile.sums(), tile.ofSlice()}, sumType(),
                     "parts_of_sums");
  if (tile.behind > 1)
    parts = sharedAt(
        vectorAccessBytes, b,
        {tile.behind, tile.sums() / tile.behind / 4, tile.ofSlice(), 4},
        sumType(), "parts_of_sums");
}

SmallVector<int64_t, 1> WarpgroupSums::arrivals() const {
  if (tile.behind > 1)
    return {1};
  if (tile.slices > 1)
    return {(tile.slices - 1) * tile.ofSlice()};
  return {};
}

void WarpgroupSums::expect(const StageRing &ring) const {
  if (tile.behind > 1)
    ring.expect(ring.further(0), tile.sumBytes());
}

void WarpgroupSums::declare(const Thread &thread) {
  mine = thread;
  for (int64_t i = 0; i < tile.productsDown(); ++i)
    lists.push_back(
        listOf(storageType(sumType()), tile.sumsOfProduct(),
               tile.productsDown() == 1 ? Twine("sums") : "sums_" + Twine(i)));
  declareOperands();
}

void WarpgroupSums::start() {
  startSums();
  loadEarly();
}

void WarpgroupSums::store(const StageRing &ring) {
  if (tile.behind > 1)
    storeOwn(ring);
  else if (tile.slices > 1)
    storeSlices(ring);
  else
    storeWhole();
}

void WarpgroupSums::unrolled(int64_t count, const Twine &name,
                             llvm::function_ref<void(Expr)> body) {
  Value zero = b.index(0).value, end = b.index(count).value,
        one = b.index(1).value;
  auto loop = scf::ForOp::create(b.builder, b.loc, zero, end, one);
  loop->setAttr(kernel::kUnrolledAttr, b.builder.getBoolAttr(true));
  OpBuilder::InsertionGuard guard(b.builder);
  b.builder.setInsertionPointToStart(loop.getBody());
  body(named(b.wrap(loop.getInductionVar(), b.builder.getIndexType()), name));
}

Expr WarpgroupSums::rowOf(int64_t i, int64_t half) {
  return place.firstRow + mine.groupRow + mine.warp * 16.0 + mine.lane / 4.0 +
         double(i * groupRows + 8 * half);
}

Expr WarpgroupSums::columnOf(Expr group, int64_t offset) {
  return named(vectors.columnOf(place.firstColumn, mine.lane, group, offset),
               "column");
}

Expr WarpgroupSums::sumAt(Expr group, int64_t half, int64_t offset) {
  return group * double(4 * vectors.units()) +
         double(offset / 2 * 4 + 2 * half + offset % 2);
}

Expr WarpgroupSums::biasOf(Expr group, int64_t offset) {
  int64_t inVector = offset % vectors.columns();
  Expr first =
      operands.first(b, place.batch,
                     vectors.insideColumn(columnOf(group, offset - inVector)) +
                         double(inVector));
  first.type = sumType();
  return first;
}

void WarpgroupSums::startSums() {
  unrolled(groups(), "group", [&](Expr group) {
    for (int64_t at = 0; at < vectors.columnsOfGroup(); ++at) {
      Expr first = isWhole() ? named(biasOf(group, at), "first")
                             : b.constant(0, sumType());
      for (Value array : lists)
        for (int64_t half : {0, 1})
          b.store(array, first, {sumAt(group, half, at)});
    }
  });
}

void WarpgroupSums::storeSlices(const StageRing &ring) {
  Expr inSlice = named(mine.number % double(tile.ofSlice()), "thread_of_slice");
  auto place = [&](int64_t i, Expr at) {
    return at + double(i * tile.sumsOfProduct());
  };
  b.branch(
      mine.slice > 0.0,
      [&] {
        for (auto [i, array] : llvm::enumerate(lists))
          unrolled(tile.sumsOfProduct(), "n", [&](Expr n) {
            b.store(parts, b.loadFrom(array, sumType(), {n}),
                    {mine.slice - 1.0, place(i, n), inSlice});
          });
        ring.arrive(ring.further(0));
      },
      [&] {
        ring.await(ring.further(0), b.index(0));
        for (auto [i, array] : llvm::enumerate(lists))
          unrolled(groups(), "group", [&](Expr group) {
            for (int64_t half : {0, 1})
              for (int64_t column = 0; column < vectors.columnsOfGroup();
                   ++column) {
                Expr at = sumAt(group, half, column);
                Expr total =
                    b.loadFrom(array, sumType(), {at}) + biasOf(group, column);
                for (int64_t other = 0; other + 1 < tile.slices; ++other)
                  total = total +
                          b.loadFrom(parts, sumType(),
                                     {b.index(other), place(i, at), inSlice});
                b.store(array, total, {at});
              }
          });
        storeWhole();
      });
}

int64_t WarpgroupSums::ownGroups() const {
  return 2 * tile.productsDown() * groups() / tile.behind;
}

WarpgroupSums::Own WarpgroupSums::ownGroup(Expr n) {
  Expr number = named(mine.inCluster * double(ownGroups()) + n, "number"),
       group = named(number % double(groups()), "group"),
       half = named(number / double(groups()), "half_of_rows");
  Expr row = rowOf(0, 0) + half / 2.0 * double(groupRows) + half % 2.0 * 8.0;
  return {group, named(row, "row")};
}

void WarpgroupSums::sendSums(const StageRing &ring) {
  int64_t width = vectors.columnsOfGroup(), count = tile.sums() / tile.behind;
  // The number of a sum is ((mma * 2 + half) * groups() + group) * width +
  // column: `mma` counts MMAs of 64 rows down the tile, `half` is 0 or 1 (rows
  // 8 apart), `group` counts groups of columns, and `column` counts the columns
  // of this thread in the group.
  auto sumOf = [&](int64_t number) {
    int64_t half = number / width / groups(), group = number / width % groups();
    return b
        .loadFrom(lists[size_t(half / 2)], sumType(),
                  {sumAt(b.index(group), half % 2, number % width)})
        .value;
  };
  for (int64_t block = 0; block < tile.behind; ++block)
    for (int64_t at = 0; at < count; at += 4) {
      SmallVector<Value> four;
      for (int64_t k = 0; k < 4; ++k)
        four.push_back(sumOf(block * count + at + k));
      kernel::SendOp::create(
          b.builder, b.loc, four, parts,
          valuesOf({mine.inCluster, b.index(at / 4), mine.number, b.index(0)}),
          b.index(block).value, ring.mbarriers, ring.further(0).value);
    }
}

void WarpgroupSums::storeOwn(const StageRing &ring) {
  sendSums(ring);
  int64_t width = vectors.columnsOfGroup(), count = ownGroups() * width;
  auto forOwn = [&](llvm::function_ref<void(Expr, Own)> body) {
    unrolled(ownGroups(), "n",
             [&](Expr n) { body(n * double(width), ownGroup(n)); });
  };
  for (const Operand &operand : epilogueOperands)
    forOwn([&](Expr from, Own own) {
      for (int64_t first = 0; first < width; first += vectors.columns())
        loadVector(operand, vectors.insideRow(own.row), own.group, first,
                   from + double(first));
    });
  Value firsts = listOf(storageType(sumType()), count, "firsts");
  forOwn([&](Expr from, Own own) {
    for (int64_t at = 0; at < width; ++at)
      b.store(firsts, biasOf(own.group, at), {from + double(at)});
  });
  ring.await(ring.further(0), b.index(0));
  Value results = listOf(computeType(elementOf(b.result())), count, "results");
  forOwn([&](Expr from, Own own) {
    for (int64_t first = 0; first < width; first += vectors.columns())
      findVector(
          vectors.insideRow(own.row), own.group, first,
          [&](int64_t at) {
            Expr inPart = from + double(at),
                 total = b.loadFrom(firsts, sumType(), {inPart});
            for (int64_t block = 0; block < tile.behind; ++block)
              total = total + b.loadFrom(parts, sumType(),
                                         {b.index(block), inPart / 4.0,
                                          mine.number, inPart % 4.0});
            return total;
          },
          [&](const Operand &, int64_t at) { return from + double(at); },
          results, from + double(first));
  });
  forOwn([&](Expr from, Own own) {
    vectors.whenRow(own.row, [&] {
      for (int64_t first = 0; first < width; first += vectors.columns())
        storeVector(own.row, own.group, first, results, from + double(first));
    });
  });
}

Value WarpgroupSums::listOf(Type type, int64_t count, const Twine &name) {
  return kernel::nameValue(
      memref::AllocaOp::create(b.builder, b.loc,
                               MemRefType::get({count}, type)),
      name);
}

void WarpgroupSums::declareOperands() {
  GroupView group = b.group;
  if (!hasFlatEpilogue(group, group.anchor()))
    return;
  // Operands can be loaded early only into registers that a thread has at the
  // start of the kernel, since nvcc 13 uses no more than these.
  constexpr int64_t others = 28;
  int64_t left = tile.registersAtStart(b.target.device) - tile.sums() - others;
  for (Value tensor : group.block->getArguments()) {
    if (tensor.getType() != group.results()[0].getType() ||
        !isEpilogueOperand(tensor, group.anchor()) || !b.bufferOf(tensor))
      continue;
    Type element =
        cast<MemRefType>(b.bufferOf(tensor).getType()).getElementType();
    int64_t registers = tile.sums() * bytesOf(element) / 4;
    bool isEarly = isWhole() && registers <= left;
    if (isEarly)
      left -= registers;
    int64_t count = isEarly            ? tile.sums()
                    : tile.behind == 1 ? tile.columns / 4
                                       : tile.sums() / tile.behind;
    epilogueOperands.push_back(
        {tensor, listOf(element, count, isEarly ? "early" : "operand"),
         isEarly});
  }
}

Expr WarpgroupSums::elementAt(const Operand &operand, int64_t i, int64_t half,
                              Expr group, int64_t offset) {
  Expr at = resultAt(group, offset);
  return operand.isEarly ? at + double((2 * i + half) * (tile.columns / 4))
                         : at;
}

void WarpgroupSums::load(const Operand &operand, int64_t i, int64_t half,
                         Expr row) {
  forVectors([&](Expr group, int64_t first) {
    loadVector(operand, row, group, first,
               elementAt(operand, i, half, group, first));
  });
}

void WarpgroupSums::loadVector(const Operand &operand, Expr row, Expr group,
                               int64_t first, Expr to) {
  Expr column = vectors.insideColumn(columnOf(group, first));
  for (int64_t k = 0; k < vectors.columns(); ++k) {
    Exprs at = operands.place(b, place.batch, row, column + double(k));
    Value element = memref::LoadOp::create(
        b.builder, b.loc, b.bufferOf(operand.tensor), valuesOf(at));
    memref::StoreOp::create(b.builder, b.loc, element, operand.elements,
                            (to + double(k)).value);
  }
}

void WarpgroupSums::loadEarly() {
  for (const Operand &operand : epilogueOperands)
    for (int64_t i = 0; operand.isEarly && i < tile.productsDown(); ++i)
      for (int64_t half : {0, 1})
        load(operand, i, half, named(vectors.insideRow(rowOf(i, half)), "row"));
}

void WarpgroupSums::storeWhole() {
  bool areFew = tile.sumsOfProduct() <= 64;
  Type type = computeType(elementOf(b.result()));
  SmallVector<Value, 2> results;
  for (int64_t rows = 0; rows < (areFew ? 2 : 1); ++rows)
    results.push_back(listOf(type, tile.columns / 4, "results"));
  for (auto [i, array] : llvm::enumerate(lists)) {
    SmallVector<Expr, 2> rows;
    for (int64_t half : {0, 1}) {
      rows.push_back(named(rowOf(i, half), "row"));
      findResults(int64_t(i), half, rows[half], results[areFew ? half : 0]);
      if (!areFew)
        storeResults(rows[half], results[0]);
    }
    if (areFew)
      for (int64_t half : {0, 1})
        storeResults(rows[half], results[half]);
  }
}

void WarpgroupSums::forVectors(llvm::function_ref<void(Expr, int64_t)> body) {
  unrolled(groups(), "group", [&](Expr group) {
    for (int64_t first = 0; first < vectors.columnsOfGroup();
         first += vectors.columns())
      body(group, first);
  });
}

Expr WarpgroupSums::resultAt(Expr group, int64_t offset) {
  return group * double(vectors.columnsOfGroup()) + double(offset);
}

void WarpgroupSums::findResults(int64_t i, int64_t half, Expr row,
                                Value results) {
  Value array = lists[size_t(i)];
  Expr inside = named(vectors.insideRow(row), "row");
  for (const Operand &operand : epilogueOperands)
    if (!operand.isEarly)
      load(operand, i, half, inside);
  forVectors([&](Expr group, int64_t first) {
    findVector(
        inside, group, first,
        [&](int64_t at) {
          return b.loadFrom(array, sumType(), {sumAt(group, half, at)});
        },
        [&](const Operand &operand, int64_t at) {
          return elementAt(operand, i, half, group, at);
        },
        results, resultAt(group, first));
  });
}

void WarpgroupSums::findVector(
    Expr inside, Expr group, int64_t first,
    llvm::function_ref<Expr(int64_t)> sumOf,
    llvm::function_ref<Expr(const Operand &, int64_t)> elementOfVector,
    Value results, Expr to) {
  Exprs own;
  for (int64_t at = first; at < first + vectors.columns(); ++at) {
    own.push_back(named(sumOf(at), "sum"));
    own.back().type = elementOf(anchor);
  }
  Expr column = vectors.insideColumn(columnOf(group, first));
  SmallVector<ResultVectors::Loaded> loaded;
  for (const Operand &operand : epilogueOperands) {
    loaded.push_back({operand.tensor, {}});
    for (int64_t at = first; at < first + vectors.columns(); ++at)
      loaded.back().elements.push_back(
          b.loadFrom(operand.elements, elementOf(operand.tensor),
                     {elementOfVector(operand, at)}));
  }
  for (auto [k, result] : llvm::enumerate(
           vectors.resultsOf(own, place.batch, inside, column, loaded)))
    b.store(results, result, {to + double(int64_t(k))});
}

void WarpgroupSums::storeResults(Expr row, Value results) {
  vectors.whenRow(row, [&] {
    forVectors([&](Expr group, int64_t first) {
      storeVector(row, group, first, results, resultAt(group, first));
    });
  });
}

void WarpgroupSums::storeVector(Expr row, Expr group, int64_t first,
                                Value results, Expr from) {
  Type stored = elementOf(b.result());
  Expr column = columnOf(group, first);
  vectors.whenColumn(column, [&] {
    Exprs own;
    for (int64_t k = 0; k < vectors.columns(); ++k) {
      own.push_back(
          b.loadFrom(results, computeType(stored), {from + double(k)}));
      own.back().type = stored;
    }
    vectors.store(own, place.batch, row, column);
  });
}

} // namespace ingot::schedule
