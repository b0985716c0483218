// Computes batches image by image, so that intermediate tensors stay in a
// cache.
//
//   %1 = group(%x) { conv }         %a = slice %x        // the first image
//   %2 = group(%1) { gelu }    ->   %b = group(%a) { conv }
//   %3 = group(%2) { conv }         %c = group(%b) { gelu }
//                                   %d = group(%c) { conv }
//                                   ...                  // the next image
//                                   %3 = concat %d, ...
//
// For a whole batch, tensors between groups may exceed the caches, while those
// of one image fit. But with one launch per image, weights are read again and
// kernels are launched again. So consecutive groups are split only if that
// costs less than it saves. Slices are views, concatenations are in place, and
// all images use the same kernels.
//
// A part is a range of positions of the first axis: one or more images. If
// groups have merged other axes into the first axis of a tensor, such as the
// windows of an image, the range contains all positions of these images.

#include "dialects/graph/ElementsData.h"
#include "dialects/graph/ops/Movement.h"
#include "passes/decide/GroupRows.h"
#include "passes/decide/Passes.h"
#include "passes/plan/Buffers.h"
#include "passes/schedule/GroupCost.h"
#include "passes/schedule/Plan.h"
#include "passes/schedule/Strategy.h"
#include "llvm/ADT/SetVector.h"

#include <numeric>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {
#define GEN_PASS_DEF_SPLITBATCHES
#include "passes/decide/Passes.h.inc"

namespace {

/// The largest number of parts into which a batch is split; more parts would
/// need too many launches.
constexpr int64_t mostParts = 16;
/// The largest number of operators in a segment, the consecutive operators that
/// are split together. Two segments instead of a longer one cost only one more
/// pass over memory per 64 operators, and without a limit the search would take
/// long in networks with thousands of operators.
constexpr size_t mostOperators = 64;
/// The overhead of a launch in cycles.
constexpr double call = 100;
/// Splitting a segment has to save at least this fraction of its time, since
/// costs are estimates.
constexpr double leastShare = 0.02;

class BatchSplitter {
public:
  BatchSplitter(func::FuncOp main, int64_t parts,
                const TargetDescription &target)
      : main(main), parts(parts), target(target) {
    for (Operation &op : main.getBody().front().without_terminator())
      if (llvm::all_of(op.getOperands(),
                       [&](Value v) { return isConstant(v); }))
        constants.insert(&op);
      else
        ops.push_back(&op);
  }

  void run() {
    for (Operation *op : ops)
      costs.push_back(costOf(op));
    for (auto [first, last] : segments())
      build(ArrayRef(ops).slice(first, last - first + 1));
  }

private:
  /// The cycles of an operator for the whole batch (`whole`), the additional
  /// cycles if it is computed in parts (`more`), and the operands that each
  /// part reads as a whole.
  struct Cost {
    bool canSplit = false;
    double whole = 0, more = 0;
    SmallVector<Value> readAsWhole;
  };

  bool isConstant(Value v) const {
    return v.getDefiningOp() && constants.contains(v.getDefiningOp());
  }

  bool isBatch(Value v) const {
    return isa<RankedTensorType>(v.getType()) && !shapeOf(v).empty() &&
           shapeOf(v)[0] >= parts && shapeOf(v)[0] % parts == 0 &&
           !hasDynamicSizes(v.getType());
  }
  Rows rowsOf(Value v, int64_t part) const {
    int64_t size = shapeOf(v)[0] / parts;
    return {part * size, (part + 1) * size};
  }

  /// Returns the ranges of its operands that `group` reads to compute part
  /// number `part` of its result; nothing if the group cannot be computed in
  /// parts.
  std::optional<SmallVector<OperandRows>> reads(GroupOp group,
                                                int64_t part) const {
    if (group.getSecondMemory() || group.getNumResults() != 1 ||
        !isBatch(group.getResult(0)))
      return std::nullopt;
    auto all = operandRows(group, rowsOf(group.getResult(0), part), 0);
    if (!all)
      return std::nullopt;
    for (const OperandRows &read : *all) {
      Value operand = group->getOperand(read.operand);
      if (read.axis > 0 ||
          (read.axis == 0 &&
           (!isBatch(operand) || !(rowsOf(operand, part) == read.rows))))
        return std::nullopt;
    }
    return all;
  }

  /// Whether `op` moves no data: the elements of its result are in memory
  /// already.
  static bool isView(Operation *op) {
    return isa<ReshapeOp, SliceOp, ConcatOp>(op);
  }
  bool canSplitView(Operation *op) const {
    auto all = llvm::concat<Value>(op->getOperands(), op->getResults());
    if (!llvm::all_of(all, [&](Value v) { return isBatch(v); }))
      return false;
    if (auto concat = dyn_cast<ConcatOp>(op))
      return concat.getAxis() != 0;
    auto slice = dyn_cast<SliceOp>(op);
    return !slice || shapeOf(slice.getX())[0] == shapeOf(slice)[0];
  }
  Operation *buildView(OpBuilder &builder, Operation *op,
                       ArrayRef<Value> operands) const {
    SmallVector<int64_t> shape(shapeOf(op->getResult(0)));
    shape[0] /= parts;
    Operation *part = builder.clone(*op);
    part->setOperands(operands);
    part->getResult(0).setType(
        RankedTensorType::get(shape, elementOf(op->getResult(0))));
    return part;
  }

  Cost costOf(Operation *op) {
    if (isView(op))
      return {canSplitView(op), 0, 0, {}};
    auto group = dyn_cast<GroupOp>(op);
    if (!group || hasDynamicSizes(group))
      return {};
    auto its = reads(group, 0);
    if (!its || !reads(group, parts - 1))
      return {};
    Cost cost{true, cyclesOf(group), 0, {}};
    for (const OperandRows &read : *its)
      if (read.axis < 0)
        cost.readAsWhole.push_back(group->getOperand(read.operand));
    OpBuilder builder(group);
    SmallVector<Operation *> slices;
    GroupOp part = buildForRows(
        builder, group, rowsOf(group.getResult(0), 0), target,
        [&](const OperandRows &read) {
          Value operand = group->getOperand(read.operand);
          if (read.axis < 0)
            return operand;
          Value rows = slice(builder, group.getLoc(), operand, 0,
                             read.rows.begin, read.rows.size());
          slices.push_back(rows.getDefiningOp());
          return rows;
        },
        /*axis=*/0);
    cost.more = double(parts) * cyclesOf(part) - cost.whole +
                double(parts - 1) * againOf(group, part);
    // If threads share the work for a whole batch, a part must also be large
    // enough to be divided among threads.
    cost.canSplit = paysToFork(part) || !paysToFork(group);
    part.erase();
    for (Operation *rows : slices)
      if (rows && rows->use_empty() && isa<SliceOp>(rows))
        rows->erase();
    return cost;
  }

  double cyclesOf(GroupOp group) const {
    schedule::GroupOnTarget view(group, target);
    const auto *strategy = schedule::lookupStrategy(group.getStrategy());
    double cycles =
        strategy ? strategy->cost(view, schedule::Plan(group.getPlanAttr()))
                 : 0;
    // A strategy without plans reports a cost of 0. Then only the elementwise
    // operators count.
    return cycles > 0 ? cycles + schedule::elementCyclesOf(view)
                      : schedule::elementCyclesOf(view);
  }

  bool paysToFork(GroupOp group) const {
    return schedule::paysToFork({group, target});
  }

  /// Returns the cycles of one more launch of a group, in which it reads
  /// weights again and synchronizes threads.
  double againOf(GroupOp group, GroupOp part) const {
    double cycles = call;
    for (Value operand : group.getInputs())
      if (isConstant(operand) &&
          plan::bytesOf(operand.getType()) > target.l1Bytes)
        cycles +=
            double(plan::bytesOf(operand.getType())) / target.rates.cacheBytes;
    if (paysToFork(part))
      cycles += double(target.forkCycles);
    return cycles;
  }

  /// Returns the additional cycles to read a byte of a tensor of `bytes` bytes,
  /// compared to a byte in the L2 cache.
  double cyclesOfByte(int64_t bytes) const {
    return bytes <= target.l2Bytes / 2      ? 0
           : bytes <= schedule::cachedBytes ? 1 / target.rates.cacheBytes
                                            : 1 / target.rates.memoryBytes;
  }

  /// Returns the cycles saved if `v` passes between groups in parts instead of
  /// as a whole. Each byte is transferred three times: a cache line is fetched
  /// before it is written, is written, and is read.
  double savedBy(Value v) const {
    constexpr double passes = 3;
    int64_t bytes = plan::bytesOf(v.getType());
    return passes * double(bytes) *
           (cyclesOfByte(bytes) - cyclesOfByte(bytes / parts));
  }

  /// Returns the cycles saved by splitting the operators first .. last, and the
  /// cycles that they take unsplit; two zeros if these operators cannot be
  /// split without others.
  std::pair<double, double> gainOf(size_t first, size_t last) const {
    double gain = 0, whole = 0;
    llvm::SmallPtrSet<Operation *, 16> members(ops.begin() + first,
                                               ops.begin() + last + 1);
    for (size_t i = first; i <= last; ++i) {
      gain -= costs[i].more;
      whole += costs[i].whole;
      // All of an operand exists only after the last part of the segment that
      // computes it.
      if (llvm::any_of(costs[i].readAsWhole, [&](Value operand) {
            return members.contains(operand.getDefiningOp());
          }))
        return {0, 0};
      // If a segment contains a concatenation, the segment has to compute all
      // operands of the concatenation.
      if (isa<ConcatOp>(ops[i]) &&
          !llvm::all_of(ops[i]->getOperands(), [&](Value part) {
            return members.contains(part.getDefiningOp());
          }))
        return {0, 0};
      if (isView(ops[i]))
        continue;
      Value result = ops[i]->getResult(0);
      if (!leaves(result, members))
        gain += savedBy(result);
      // A group that stores into the result of a concatenation is split only
      // together with the concatenation.
      else if (cast<GroupOp>(ops[i]).getOutputStrides() &&
               llvm::any_of(result.getUsers(), [&](Operation *user) {
                 return !members.contains(user);
               }))
        return {0, 0};
    }
    return {gain, whole};
  }

  /// Whether an operation outside of `members` uses `v` or a view of it.
  static bool leaves(Value v,
                     const llvm::SmallPtrSetImpl<Operation *> &members) {
    llvm::SetVector<Value> views;
    views.insert(v);
    for (size_t i = 0; i < views.size(); ++i)
      for (Operation *user : views[i].getUsers()) {
        if (!members.contains(user))
          return true;
        if (isView(user))
          views.insert(user->getResult(0));
      }
    return false;
  }

  /// Returns the segments [first, last] that together save the most cycles when
  /// they are split, the last segment first.
  std::vector<std::pair<size_t, size_t>> segments() const {
    std::vector<double> best{0};
    std::vector<std::optional<size_t>> from{std::nullopt};
    for (size_t last = 0; last < ops.size(); ++last) {
      best.push_back(best[last]);
      from.push_back(std::nullopt);
      for (size_t first = last + 1; first-- > 0 && costs[first].canSplit &&
                                    last - first < mostOperators;) {
        auto [gain, whole] = gainOf(first, last);
        if (first == last || gain <= leastShare * whole ||
            best[first] + gain <= best[last + 1])
          continue;
        best[last + 1] = best[first] + gain;
        from[last + 1] = first;
      }
    }
    std::vector<std::pair<size_t, size_t>> chosen;
    for (size_t end = ops.size(); end > 0;) {
      if (from[end])
        chosen.push_back({*from[end], end - 1});
      end = from[end] ? *from[end] : end - 1;
    }
    return chosen;
  }

  void build(ArrayRef<Operation *> segment) {
    llvm::SmallPtrSet<Operation *, 16> members(segment.begin(), segment.end());
    OpBuilder builder(segment.back());
    Parts results;
    for (int64_t n = 0; n < parts; ++n) {
      Parts slices;
      auto partOf = [&](Value v) {
        return this->partOf(builder, v, n, results, slices);
      };
      for (Operation *op : segment) {
        Value part;
        if (auto group = dyn_cast<GroupOp>(op))
          part = buildForRows(
                     builder, group, rowsOf(group.getResult(0), n), target,
                     [&](const OperandRows &read) {
                       Value operand = group->getOperand(read.operand);
                       return read.axis < 0 ? operand : partOf(operand);
                     },
                     /*axis=*/0)
                     .getResult(0);
        else
          part = buildView(builder, op,
                           llvm::map_to_vector(op->getOperands(), partOf))
                     ->getResult(0);
        results[op->getResult(0)].push_back(part);
      }
    }
    llvm::DenseMap<Value, Value> wholes;
    for (Operation *op : segment) {
      auto isOutside = [&](OpOperand &use) {
        return !members.contains(use.getOwner());
      };
      Value result = op->getResult(0);
      if (llvm::any_of(result.getUses(), isOutside))
        result.replaceUsesWithIf(
            wholeOf(builder, result, members, results, wholes), isOutside);
    }
    for (Operation *op : llvm::reverse(segment))
      op->erase();
  }

  /// Maps each value of the segment to its parts, in the order of part numbers.
  using Parts = llvm::DenseMap<Value, SmallVector<Value>>;

  /// Returns part `n` of `v`: the part that the segment has computed, or a
  /// slice of `v`. `slices` caches the slices.
  Value partOf(OpBuilder &builder, Value v, int64_t n, const Parts &results,
               Parts &slices) const {
    if (auto found = results.find(v); found != results.end())
      return found->second[n];
    if (auto found = slices.find(v); found != slices.end())
      return found->second.front();
    Value part;
    if (auto view = v.getDefiningOp<SliceOp>(); view && canSplitView(view))
      part = buildView(builder, view,
                       partOf(builder, view.getX(), n, results, slices))
                 ->getResult(0);
    else
      part = slice(builder, v.getLoc(), v, 0, rowsOf(v, n).begin,
                   rowsOf(v, n).size());
    slices[v] = {part};
    return part;
  }

  /// Returns the whole value `v` of the segment, for users outside of the
  /// segment: the concatenation of its parts. Views are built again on the
  /// whole tensor.
  static Value wholeOf(OpBuilder &builder, Value v,
                       const llvm::SmallPtrSetImpl<Operation *> &members,
                       const Parts &results,
                       llvm::DenseMap<Value, Value> &wholes) {
    Operation *op = v.getDefiningOp();
    if (!op || !members.contains(op))
      return v;
    if (auto found = wholes.find(v); found != wholes.end())
      return found->second;
    Value whole;
    if (isa<ReshapeOp, SliceOp>(op)) {
      Value of = wholeOf(builder, op->getOperand(0), members, results, wholes);
      Operation *view = builder.clone(*op);
      view->setOperand(0, of);
      whole = view->getResult(0);
    } else {
      whole = ConcatOp::create(builder, v.getLoc(), results.at(v), 0);
    }
    wholes[v] = whole;
    return whole;
  }

  func::FuncOp main;
  int64_t parts;
  const TargetDescription &target;
  /// The operators of `main` that depend on constants only, and the other ones
  /// in order.
  llvm::DenseSet<Operation *> constants;
  std::vector<Operation *> ops;
  std::vector<Cost> costs;
};

struct SplitBatchesPass : impl::SplitBatchesBase<SplitBatchesPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp main = getOperation();
    const TargetDescription &target = *lookupTarget(targetName);
    if (target.l2Bytes == 0 || !main.isPublic())
      return;
    if (int64_t parts = partsOf(main); parts > 1)
      BatchSplitter(main, parts, target).run();
  }

private:
  /// Returns the largest number of parts, at most `mostParts`, into which the
  /// batches of all inputs can be divided; 1 if they cannot be divided.
  static int64_t partsOf(func::FuncOp main) {
    int64_t batch = 0;
    for (Type type : main.getArgumentTypes()) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor || hasDynamicSizes(type))
        return 1;
      // An input whose first axis has size 1 is read as a whole for each image.
      if (tensor.getRank() > 0 && tensor.getDimSize(0) != 1)
        batch = std::gcd(batch, tensor.getDimSize(0));
    }
    for (int64_t parts = std::min(batch, mostParts); parts > 1; --parts)
      if (batch % parts == 0)
        return parts;
    return 1;
  }
};

} // namespace
} // namespace ingot::decide
