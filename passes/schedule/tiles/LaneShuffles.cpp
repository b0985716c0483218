#include "passes/schedule/tiles/LaneShuffles.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ingot::schedule {

static int64_t lanesOf(Value vector) {
  return cast<VectorType>(vector.getType()).getNumElements();
}

SmallVector<Value> turned(KernelBuilder &b, SmallVector<Value> rows) {
  size_t half = rows.size() / 2;
  int64_t lanes = lanesOf(rows[0]);
  for (size_t done = 1; done < rows.size(); done *= 2) {
    SmallVector<Value> next;
    for (size_t i = 0; i < half; ++i)
      for (int64_t from : {int64_t(0), lanes / 2}) {
        SmallVector<int64_t> order;
        for (int64_t lane = from; lane < from + lanes / 2; ++lane)
          order.append({lane, lane + lanes});
        next.push_back(vector::ShuffleOp::create(b.builder, b.loc, rows[i],
                                                 rows[i + half], order));
        StringRef stem = 2 * done == rows.size() ? "turned_" : "interleaved_";
        kernel::renameValue(next.back(), stem + Twine(next.size() - 1));
      }
    rows = std::move(next);
  }
  return rows;
}

Value gathered(KernelBuilder &b, ArrayRef<Value> from,
               llvm::function_ref<int64_t(int64_t)> place) {
  int64_t lanes = lanesOf(from[0]);
  SmallVector<int64_t> sources;
  bool isInOrder = true;
  for (int64_t lane = 0; lane < lanes; ++lane)
    if (int64_t at = place(lane); at >= 0) {
      sources.push_back(at / lanes);
      isInOrder &= at % lanes == lane;
    }
  llvm::sort(sources);
  sources.erase(llvm::unique(sources), sources.end());
  Value all = from[sources[0]];
  if (sources.size() == 1 && isInOrder)
    return all;
  // Each shuffle takes some lanes from one vector and keeps the other lanes.
  for (size_t i = sources.size() == 1 ? 0 : 1; i < sources.size(); ++i) {
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t at = place(lane), source = at < 0 ? -1 : at / lanes;
      order.push_back(source == sources[i]             ? lanes + at % lanes
                      : i <= 1 && source == sources[0] ? at % lanes
                                                       : lane);
    }
    all = vector::ShuffleOp::create(b.builder, b.loc, all, from[sources[i]],
                                    order);
  }
  return all;
}

} // namespace ingot::schedule
