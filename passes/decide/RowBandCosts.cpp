#include "passes/decide/RowBandCosts.h"

#include "dialects/graph/ElementsData.h"
#include "passes/plan/Buffers.h"
#include "passes/schedule/GroupCost.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {
namespace {

/// The overhead of a launch in units of schedule::workOf (multiply-adds). With
/// this cost, few large row bands are preferred to many small ones.
constexpr double call = 500;

/// Returns the bytes of constants that each launch of a group reads.
int64_t constantBytes(GroupOp group) {
  int64_t bytes = 0;
  for (Value operand : group.getInputs())
    if (operand.getDefiningOp<ConstantOp>())
      bytes += plan::bytesOf(operand.getType());
  return bytes;
}

} // namespace

RowBandCosts::RowBandCosts(const TargetDescription &target)
    : target(target), hasCaches(!target.freestanding && target.l2Bytes != 0),
      rate(schedule::workPerCycle(target)) {}

const RowBandCosts::Group &RowBandCosts::of(GroupOp group) const {
  auto [it, isNew] = known.try_emplace(group);
  if (!isNew)
    return it->second;
  schedule::GroupOnTarget view(group, target);
  it->second = {double(schedule::workOf(view)), 0};
  if (hasCaches) {
    // Each launch reads the weights again and synchronizes the threads.
    it->second.launchCycles =
        double(constantBytes(group)) / target.rates.cacheBytes;
    if (schedule::paysToFork(view))
      it->second.launchCycles += double(target.forkCycles);
  }
  return it->second;
}

double RowBandCosts::launch(GroupOp group, int64_t rows) const {
  const Group &whole = of(group);
  return whole.work * double(rows) / double(shapeOf(group.getResult(0))[1]) +
         call + whole.launchCycles * rate;
}

double RowBandCosts::kernel() const {
  // The assumed cost of one more kernel. With any value from 14,000 to 22,000
  // cycles, row bands halve the arena of yolov8n_640; 22,000 give the fewest
  // kernels (87; there are 68 without row bands; November 2026).
  constexpr double cycles = 22000;
  return hasCaches ? cycles * rate : 0;
}

double RowBandCosts::copy(Type type, int64_t elements) const {
  if (!hasCaches)
    return double(elements) + call;
  // Each element is read from the L2 cache and written to it. The L2 cache is
  // twice as fast as the memory beyond it, so both accesses together take as
  // long as one access to that memory.
  double bytes =
      double(elements) *
      double(bytesPerElement(cast<ShapedType>(type).getElementType()));
  return call + bytes / target.rates.cacheBytes * rate;
}

double RowBandCosts::saved(int64_t bytes, int64_t held) const {
  // Without row bands, a tensor that exceeds half of the L2 cache would be
  // written to the memory beyond the cache and read from there. The other half
  // is assumed to hold other operands.
  int64_t room = target.l2Bytes / 2;
  if (!hasCaches || bytes <= room || held > room)
    return 0;
  return 2 * double(bytes) / target.rates.cacheBytes * rate;
}

} // namespace ingot::decide
