#include "passes/schedule/tiles/PackedRows.h"

#include "dialects/kernel/LoopAttributes.h"
#include "passes/schedule/tiles/HalfTile.h"
#include "passes/schedule/tiles/LaneShuffles.h"
#include "passes/schedule/tiles/RowTiles.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

void unrollSteps(KernelBuilder &b, const Dim &trips, bool byClangOnly) {
  auto loop =
      dyn_cast<scf::ForOp>(b.builder.getInsertionBlock()->getParentOp());
  auto count = trips.known();
  // An iteration has about four instructions besides loads and multiply-adds.
  constexpr int64_t times = 2, leastRegisters = 32;
  if (!loop || !count || *count <= 1 || *count % times != 0 ||
      int64_t(b.target.vectorRegisters) < leastRegisters)
    return;
  loop->setAttr(byClangOnly ? kernel::kClangUnrollCountAttr
                            : kernel::kUnrollCountAttr,
                b.builder.getI64IntegerAttr(times));
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

namespace {

/// Counts the instructions of a product in tiles. Multiply-adds by lane are
/// limited by the number of instructions that in-order cores issue.
class Instructions {
public:
  Instructions(const PackedWork &work, const TargetDescription &target)
      : work(work), lanes(target.maxLanes(work.type)) {}

  double inPlace(const TileChoice &tile) const {
    return total(tile, /*isPacked=*/false);
  }
  double packed(const TileChoice &tile) const {
    // For each vector: a load, a store, shuffles, and some of the loop.
    double shuffles = std::log2(double(lanes)), ofLoop = 0.5;
    return total(tile, /*isPacked=*/true) + double(work.rows * work.steps) /
                                                double(lanes) *
                                                (2 + shuffles + ofLoop);
  }

private:
  /// Returns the instructions of a tile: for each K step, multiply-adds, loads
  /// (of pairs of adjacent vectors), and a part of the loop; for each sum, its
  /// start and end.
  double ofTile(int64_t rows, int64_t vectors, bool isPacked) const {
    double left = isPacked ? double(llvm::divideCeil(rows, lanes)) / 2
                           : double(rows) / double(lanes);
    double step = double(rows * vectors) + left + double(vectors) / 2 + 0.5;
    return double(work.steps) * step + 3 * double(rows * vectors) + 12;
  }
  double total(const TileChoice &tile, bool isPacked) const {
    int64_t vectors = llvm::divideCeil(work.columns, lanes),
            rest = vectors % tile.vectors;
    auto ofRows = [&](int64_t rows) {
      return double(vectors / tile.vectors) *
                 ofTile(rows, tile.vectors, isPacked) +
             (rest ? ofTile(rows, rest, isPacked) : 0);
    };
    int64_t left = work.rows % tile.rows;
    return double(work.rows / tile.rows) * ofRows(tile.rows) +
           (left ? ofRows(left) : 0);
  }

  const PackedWork &work;
  int64_t lanes;
};

} // namespace

/// Whether the sums of a tile, the vectors of rows and of weights of a K step,
/// and the weights that compilers load early fit the registers.
static bool fitsRegisters(const TileChoice &tile, int64_t lanes,
                          const TargetDescription &target) {
  int64_t left = llvm::divideCeil(tile.rows, lanes);
  return tile.rows * tile.vectors + left + tile.vectors + 3 <=
         int64_t(target.vectorRegisters);
}

std::optional<PackedChoice> packedChoice(const PackedWork &work,
                                         const TileChoice &inPlace,
                                         int64_t panel, bool divides,
                                         const TargetDescription &target) {
  int64_t lanes = target.maxLanes(work.type);
  constexpr int64_t leastRegisters = 32;
  if (!target.multiplyByLane || target.l2Bytes == 0 || target.smallCode ||
      int64_t(target.vectorRegisters) < leastRegisters ||
      !isa<Float32Type, Float16Type>(work.type) || work.rows < lanes ||
      work.steps < lanes)
    return std::nullopt;
  Instructions model(work, target);
  // Packing takes scratch memory and code, so it must save this fraction.
  constexpr double leastGain = 0.01;
  double best = model.inPlace(inPlace) * (1 - leastGain);
  PackedChoice choice;
  for (int64_t vectors = 2; vectors <= 4; ++vectors)
    for (int64_t rows = lanes; rows <= 4 * lanes && rows < work.rows + lanes;
         rows += lanes) {
      TileChoice tile{rows, vectors, 1};
      if ((panel && panel != vectors * lanes) ||
          !refusePacked(work, tile, rows, target).empty())
        continue;
      if (double cost = model.packed(tile); cost < best) {
        best = cost;
        choice.tile = tile;
      }
    }
  if (choice.tile.rows == 1)
    return std::nullopt;
  // If the weights do not stay in the L2 cache, a block has several tiles. Its
  // rows may take a part of that cache.
  int64_t bytes = work.type.getIntOrFloatBitWidth() / 8,
          tiles = llvm::divideCeil(work.rows, choice.tile.rows), most = 1;
  constexpr int64_t share = 4, enough = 4;
  // Threads divide packed rows by tiles only, but rows in place also by panels
  // of columns. So a product of few tiles is not packed if threads divide it.
  if (divides && tiles < enough)
    return std::nullopt;
  if (work.steps * work.columns * bytes > target.residentBytes())
    most = std::max<int64_t>(
        target.l2Bytes / share / (choice.tile.rows * work.steps * bytes), 1);
  int64_t blocks = llvm::divideCeil(tiles, most);
  if (divides)
    blocks = std::max(blocks, std::min(tiles, enough));
  choice.block = int64_t(llvm::divideCeil(tiles, blocks)) * choice.tile.rows;
  blocks = llvm::divideCeil(work.rows, choice.block);
  choice.parts = divides ? std::min(blocks, enough) : 1;
  return choice;
}

std::optional<Plan> packedPlanWithin(const Strategy &strategy,
                                     GroupOnTarget group, int64_t bytes) {
  SmallVector<Plan> all = strategy.plans(group);
  if (!all.front().optionalNumber("packed"))
    return std::nullopt;
  auto found = llvm::find_if(all, [&](const Plan &plan) {
    SmallVector<int64_t> needed = strategy.scratchBytes(group, plan);
    return needed.empty() || needed.front() <= bytes;
  });
  return found == all.end() ? std::nullopt : std::make_optional(*found);
}

std::string refusePacked(const PackedWork &work, const TileChoice &tile,
                         int64_t block, const TargetDescription &target) {
  int64_t lanes = target.maxLanes(work.type);
  if (!target.multiplyByLane || lanes == 1)
    return "rows are packed only for multiply-adds that take a lane of a "
           "vector as factor";
  if (tile.rows % lanes != 0 || block % tile.rows != 0)
    return "blocks of packed rows must consist of whole tiles, whose rows are "
           "a multiple of " +
           std::to_string(lanes);
  return fitsRegisters(tile, lanes, target)
             ? ""
             : "a tile of " + std::to_string(tile.rows) + " x " +
                   std::to_string(tile.vectors) +
                   " vectors of sums of packed rows does not fit the registers";
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

PackedRows::PackedRows(KernelBuilder &b, const PackedWork &work,
                       const PackedChoice &choice, const PackedMemory &memory)
    : b(b), work(work), choice(choice), lanes(b.target.maxLanes(work.type)),
      memory(memory) {}

void PackedRows::emit(Load load, llvm::function_ref<void(ForTiles)> ofBlock) {
  memory = {b.scratch({choice.parts, choice.block * work.steps}, work.type),
            b.index(0)};
  int64_t blocks = llvm::divideCeil(work.rows, choice.block);
  auto over = [&](Expr from, Expr end) {
    b.forRange(from, end, [&](Expr number) {
      block(named(number, "block"), load, ofBlock);
    });
  };
  if (blocks == 1)
    return block(b.index(0), load, ofBlock);
  if (choice.parts == 1)
    return over(b.index(0), b.index(blocks));
  b.forPart(choice.parts, [&](Expr begin, Expr end) {
    memory.own = begin;
    auto blockOf = [&](Expr part) {
      return blocks == choice.parts
                 ? part
                 : part * double(blocks) / double(choice.parts);
    };
    over(named(blockOf(begin), "first_block"),
         named(blockOf(end), "end_block"));
  });
}

void PackedRows::block(Expr number, Load load,
                       llvm::function_ref<void(ForTiles)> ofBlock) {
  overTiles(number, [&](Expr first, int64_t count) {
    pack(first, count, startOf(number, first), load);
  });
  ofBlock([&](Body body) {
    overTiles(number, [&](Expr first, int64_t count) {
      body(first, count, startOf(number, first));
    });
  });
}

void PackedRows::overTiles(Expr number,
                           llvm::function_ref<void(Expr, int64_t)> tile) {
  auto of = [&](Expr first, int64_t count) {
    tile(named(first, "row"), count);
  };
  if (choice.block >= work.rows)
    return forRowTiles(b, work.rows, choice.tile.rows, of);
  forRowTilesOfBlock(b, work.rows, choice.tile.rows, number, choice.block, of);
}

Expr PackedRows::startOf(Expr number, Expr first) {
  if (choice.block == choice.tile.rows)
    return b.index(0);
  Expr inBlock =
      choice.block >= work.rows ? first : first - number * double(choice.block);
  return named(inBlock * double(work.steps), "start");
}

void PackedRows::pack(Expr first, int64_t count, Expr start, Load load) {
  int64_t width = llvm::alignTo(count, lanes),
          whole = work.steps / lanes * lanes;
  // Lanes after the last row repeat it.
  auto rowAt = [&](int64_t row) {
    row = std::min(row, count - 1);
    return named(first + double(row), "row_" + Twine(row));
  };
  auto put = [&](Value value, Expr step, int64_t row) {
    b.withLanes(lanes, [&] {
      Expr stored = b.wrap(value, work.type);
      b.store(memory.buffer, stored,
              {memory.own, start + step * double(width) + double(row)});
      return stored;
    });
  };
  b.loop(
      b.index(0), b.index(whole), lanes, {},
      [&](Expr step, ArrayRef<Expr>) -> Exprs {
        named(step, "step");
        for (int64_t row = 0; row < width; row += lanes) {
          SmallVector<Value> rows;
          for (int64_t i = row; i < row + lanes; ++i)
            rows.push_back(kernel::nameValue(
                asStored(b, b.withLanes(lanes,
                                        [&] { return load(rowAt(i), step); })),
                "x_" + Twine(i)));
          for (auto [k, value] : llvm::enumerate(turned(b, rows)))
            put(value, step + double(k), row);
        }
        return {};
      });
  for (int64_t k = whole; k < work.steps; ++k)
    for (int64_t row = 0; row < width; ++row)
      b.withLanes(1, [&] {
        Expr x = load(rowAt(row), b.index(k));
        b.store(memory.buffer, x,
                {memory.own, start + double(k * width + row)});
        return x;
      });
}

Expr PackedRows::load(Expr start, int64_t rows, Expr k, int64_t group) {
  return b.withLanes(lanes, [&] {
    Expr at =
        start + k * double(llvm::alignTo(rows, lanes)) + double(group * lanes);
    return b.loadFrom(memory.buffer, work.type, {memory.own, at});
  });
}

void PackedRows::accumulate(Tile &tile, Expr start,
                            llvm::function_ref<Expr(Expr, size_t)> w,
                            StringRef stepName) {
  size_t vectors = tile.columns.lanes.size();
  int64_t groups = llvm::divideCeil(tile.rows, lanes);
  auto step = [&](Expr k, MutableArrayRef<Expr> sums) {
    Exprs left, right;
    for (int64_t group = 0; group < groups; ++group)
      left.push_back(
          named(load(start, tile.rows, k, group), "x_" + Twine(group)));
    for (size_t v = 0; v < vectors; ++v)
      right.push_back(named(w(k, v), "w_" + Twine(v)));
    auto add = [&](int64_t row, size_t v) {
      Expr &sum = sums[row * vectors + v];
      sum = named(
          fma(lanesOf(b, left[row / lanes], row % lanes, 1), right[v], sum),
          tile.nameAt("sum", row, v));
    };
    // The operand with fewer vectors is used in the inner loop: it stays in
    // registers, while each vector of the other one is needed only once.
    if (groups <= int64_t(vectors)) {
      for (size_t v = 0; v < vectors; ++v)
        for (int64_t row = 0; row < tile.rows; ++row)
          add(row, v);
      return;
    }
    for (int64_t row = 0; row < tile.rows; ++row)
      for (size_t v = 0; v < vectors; ++v)
        add(row, v);
  };
  constexpr int64_t together = 4;
  Dim trips = work.steps / together;
  Exprs sums = tile.sums;
  if (work.steps >= together)
    sums = b.loop(trips, sums, [&](Expr trip, ArrayRef<Expr> carried) {
      named(trip, "iteration");
      unrollSteps(b, trips, /*byClangOnly=*/true);
      Exprs next(carried.begin(), carried.end());
      for (int64_t k = 0; k < together; ++k)
        step(named(trip * double(together) + double(k),
                   stepName + "_" + Twine(k)),
             next);
      return next;
    });
  for (int64_t k = work.steps / together * together; k < work.steps; ++k)
    step(b.index(k), sums);
  tile.sums.assign(sums.begin(), sums.end());
}

} // namespace ingot::schedule
