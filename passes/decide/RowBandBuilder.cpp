// Replaces a chain of groups by groups that compute its row bands.
//
//   %1 = group(%x) { conv }          %a = slice %x            // rows
//   %2 = group(%1) { conv }    ->    %b = group(%a) { conv }
//                                    %c = group(%b) { conv }
//                                    %k = copy(slice %b)      // rows that are kept
//                                    %d = slice %x            // the next rows
//                                    %e = group(%d) { conv }
//                                    %f = concat %k, %e
//                                    %g = group(%f) { conv }
//                                    ...
//                                    %2 = concat %c, %g, ...
//
// Slices are views, and concatenations are in place. Rows that the next band
// needs again are copied to the beginning of the next band's memory, directly
// after the last group that reads them in this band; their old memory is then
// free. Bands with equal shapes share kernels later.
//
// Groups compute multiples of the rows that their strategy computes together
// (Strategy::rowsTogether), so results are bit-identical to those of the
// original groups. If rows are kept for the next band, each group continues
// where it stopped, and nothing is recomputed.

#include "passes/decide/RowBandBuilder.h"

#include "dialects/graph/ops/Movement.h"
#include "passes/schedule/Plan.h"
#include "passes/schedule/Strategy.h"

#include <numeric>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {

static int64_t rowsOf(GroupOp group) { return shapeOf(group.getResult(0))[1]; }

int64_t rowsTogether(GroupOp group) {
  const auto *strategy = schedule::lookupStrategy(group.getStrategy());
  return strategy ? strategy->rowsTogether(group,
                                           schedule::Plan(group.getPlanAttr()))
                  : 1;
}

static Rows around(Rows a, Rows b) {
  if (a.size() == 0 || b.size() == 0)
    return a.size() == 0 ? b : a;
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

std::vector<size_t> lastReaders(ArrayRef<GroupOp> groups) {
  std::vector<size_t> last(groups.size(), groups.size());
  for (auto [i, group] : llvm::enumerate(groups))
    for (Value operand : group->getOperands()) {
      auto producer = llvm::find(groups, operand.getDefiningOp());
      if (producer != groups.end())
        last[producer - groups.begin()] = i;
    }
  return last;
}

namespace {

/// Determines the rows that each group of a chain computes, one band after the
/// other.
class RowsOfChain {
public:
  RowsOfChain(ArrayRef<GroupOp> groups, bool fromEnd, ReadRows read)
      : groups(groups), fromEnd(fromEnd), read(read) {
    for (GroupOp group : groups) {
      auto *strategy = schedule::lookupStrategy(group.getStrategy());
      together.push_back(strategy
                             ? strategy->rowsTogether(
                                   group, schedule::Plan(group.getPlanAttr()))
                             : 1);
      reached.push_back(fromEnd ? rowsOf(group) : 0);
    }
  }

  /// Adds the band that computes the rows `last` of the last group. Returns
  /// false if a group cannot be computed row by row.
  bool add(Rows last) {
    std::vector<Rows> needed(groups.size());
    needed.back() = last;
    RowBand band;
    band.computed.resize(groups.size());
    for (size_t i = groups.size(); i-- > 0;) {
      band.computed[i] = goOn(i, needed[i]);
      if (band.computed[i].size() == 0)
        continue;
      const auto &reads = read(groups[i], band.computed[i]);
      if (!reads)
        return false;
      for (const OperandRows &read : *reads) {
        auto producer = llvm::find(
            groups, groups[i]->getOperand(read.operand).getDefiningOp());
        if (producer == groups.end())
          continue;
        if (read.axis != 1)
          return false;
        Rows &known = needed[producer - groups.begin()];
        known = around(known, read.rows);
      }
    }
    wanted.push_back(std::move(needed));
    bands.push_back(std::move(band));
    return true;
  }

  /// Returns all added bands, with the rows of each group that are in memory
  /// during each band (`held`).
  std::vector<RowBand> take() {
    // Visits the bands from the last one to the first one; `ahead` are the rows
    // of each group that the visited bands read.
    std::vector<Rows> ahead(groups.size());
    for (size_t k = bands.size(); k-- > 0;) {
      RowBand &band = bands[k];
      band.held = band.computed;
      for (size_t i = 0; i + 1 < groups.size(); ++i) {
        ahead[i] = around(ahead[i], wanted[k][i]);
        Rows &held = band.held[i];
        if (ahead[i].size() == 0)
          continue;
        if (fromEnd)
          held.end = std::max(held.end, ahead[i].end);
        else
          held.begin = std::min(held.begin, ahead[i].begin);
      }
    }
    return std::move(bands);
  }

private:
  /// Returns the next rows that group `i` computes: from the row where it
  /// stopped until `needed` is covered, in multiples of the number of rows that
  /// the group's strategy computes together.
  Rows goOn(size_t i, Rows needed) {
    int64_t before = reached[i], grain = together[i];
    if (needed.size() == 0)
      return {before, before};
    if (fromEnd) {
      reached[i] = std::min(before, needed.begin / grain * grain);
      return {reached[i], before};
    }
    int64_t end = llvm::alignTo(needed.end, grain);
    reached[i] = std::max(before, std::min(rowsOf(groups[i]), end));
    return {before, reached[i]};
  }

  ArrayRef<GroupOp> groups;
  bool fromEnd;
  ReadRows read;
  std::vector<int64_t> together, reached;
  std::vector<RowBand> bands;
  /// For each band and each group, the rows of the group's result that other
  /// groups of the chain read.
  std::vector<std::vector<Rows>> wanted;
};

} // namespace

std::optional<std::vector<Rows>> rowsOfBand(ArrayRef<GroupOp> groups, Rows last,
                                            ReadRows read) {
  std::vector<Rows> rows(groups.size());
  rows.back() = last;
  for (size_t i = groups.size(); i-- > 0;) {
    GroupOp group = groups[i];
    if (rows[i].size() == 0)
      return std::nullopt;
    if (int64_t together = rowsTogether(group); together > 1)
      rows[i] = {rows[i].begin / together * together,
                 std::min<int64_t>(rowsOf(group),
                                   llvm::alignTo(rows[i].end, together))};
    const auto &reads = read(group, rows[i]);
    if (!reads)
      return std::nullopt;
    for (const OperandRows &read : *reads) {
      auto producer =
          llvm::find(groups, group->getOperand(read.operand).getDefiningOp());
      if (producer == groups.end())
        continue;
      if (read.axis != 1)
        return std::nullopt;
      Rows &known = rows[producer - groups.begin()];
      known = around(known, read.rows);
    }
  }
  return rows;
}

std::optional<std::vector<RowBand>> rowBandsOf(const Chain &chain, bool fromEnd,
                                               ReadRows read) {
  int64_t rows = rowsOf(chain.groups.back());
  int64_t count = llvm::divideCeil(rows, chain.height);
  RowsOfChain keeping(chain.groups, fromEnd, read);
  std::vector<RowBand> bands;
  for (int64_t n = 0; n < count; ++n) {
    int64_t k = fromEnd ? count - 1 - n : n;
    Rows last{k * chain.height, std::min(rows, (k + 1) * chain.height)};
    if (chain.keeps) {
      if (!keeping.add(last))
        return std::nullopt;
      continue;
    }
    auto computed = rowsOfBand(chain.groups, last, read);
    if (!computed)
      return std::nullopt;
    bands.push_back({*computed, *computed});
  }
  return chain.keeps ? keeping.take() : bands;
}

namespace {

class RowBandBuilder {
public:
  RowBandBuilder(const Chain &chain, bool fromEnd,
                 const TargetDescription &target, PlacePart place)
      : groups(chain.groups), fromEnd(fromEnd), target(target), place(place),
        builder(groups.back()), readers(lastReaders(groups)),
        results(groups.size()), kept(groups.size()) {
    std::optional<SmallVector<OperandRows>> reads;
    bands = *rowBandsOf(chain, fromEnd, [&](GroupOp group, Rows its) -> auto & {
      return reads = operandRows(group, its);
    });
  }

  Value build() {
    SmallVector<Value> parts;
    for (size_t k = 0; k < bands.size(); ++k)
      for (size_t i = 0; i < groups.size(); ++i) {
        if (bands[k].computed[i].size() > 0) {
          Value part = compute(k, i);
          if (i + 1 == groups.size())
            parts.push_back(part);
          else
            hold(k, i, part);
        }
        for (size_t producer = 0; producer < i; ++producer)
          if (readers[producer] == i && k + 1 < bands.size())
            keep(k + 1, producer);
      }
    if (fromEnd)
      std::reverse(parts.begin(), parts.end());
    GroupOp end = groups.back();
    Value whole = parts.size() == 1
                      ? parts[0]
                      : ConcatOp::create(builder, end.getLoc(), parts, 1);
    end.getResult(0).replaceAllUsesWith(whole);
    for (GroupOp group : llvm::reverse(groups))
      group->erase();
    return whole;
  }

private:
  /// Builds group `i` for band `k`; returns the computed rows.
  Value compute(size_t k, size_t i) {
    GroupOp group = groups[i];
    auto part = [&](const OperandRows &read) -> Value {
      Value input = group->getOperand(read.operand);
      if (read.axis < 0)
        return place ? place(builder, read, input) : input;
      int64_t begin = read.rows.begin;
      auto producer = llvm::find(groups, input.getDefiningOp());
      if (producer != groups.end()) {
        const Held &held = results[producer - groups.begin()];
        input = held.value;
        begin -= held.rows.begin;
      }
      Value rows = slice(builder, group->getLoc(), input, read.axis, begin,
                         read.rows.size());
      return place ? place(builder, read, rows) : rows;
    };
    GroupOp built =
        buildForRows(builder, group, bands[k].computed[i], target, part);
    // The scratch memory of a group for fewer rows must not exceed that of the
    // whole group.
    auto bytes = [&](GroupOp of) {
      SmallVector<int64_t> all = schedule::scratchBytes(of, target);
      return std::accumulate(all.begin(), all.end(), int64_t(0));
    };
    if (bytes(built) > bytes(group))
      schedule::limitScratch(built, bytes(group), target);
    return built.getResult(0);
  }

  /// Makes the rows of group `i` available to other groups: the rows `computed`
  /// together with those kept from the previous band.
  void hold(size_t k, size_t i, Value computed) {
    if (kept[i]) {
      SmallVector<Value> both{kept[i], computed};
      if (fromEnd)
        std::swap(both[0], both[1]);
      computed = ConcatOp::create(builder, groups[i].getLoc(), both, 1);
    }
    results[i] = {computed, bands[k].held[i]};
    kept[i] = Value();
  }

  /// Copies the rows of group `i` that band `k` reads but does not compute,
  /// since the previous band has computed them.
  void keep(size_t k, size_t i) {
    Rows rows = bands[k].kept(i, fromEnd);
    if (bands[k].computed[i].size() == 0 || rows.size() == 0)
      return;
    Value part = slice(builder, groups[i].getLoc(), results[i].value, 1,
                       rows.begin - results[i].rows.begin, rows.size());
    kept[i] = copyPart(builder, groups[i].getLoc(), part, target);
  }

  struct Held {
    Value value;
    Rows rows;
  };

  std::vector<GroupOp> groups;
  bool fromEnd;
  const TargetDescription &target;
  PlacePart place;
  OpBuilder builder;
  std::vector<size_t> readers;
  std::vector<RowBand> bands;
  /// For each group: its rows that are live (`results`), and the copy of its
  /// rows for the next band (`kept`).
  std::vector<Held> results;
  std::vector<Value> kept;
};

} // namespace

Value buildRowBands(const Chain &chain, bool fromEnd,
                    const TargetDescription &target, PlacePart place) {
  return RowBandBuilder(chain, fromEnd, target, place).build();
}

} // namespace ingot::decide
