// Vectors read near memory.
//
// A target may have a small memory that its vectors read fastest. Results that only vectors
// read are stored there; which of them is tried in several ways. What else they read is
// copied there some rows at a time, before its reader computes the rows of its own result
// that these are for:
//
//   %2 = group(%x, %1) { conv, add %1 }  ->  %a = slice %1  // rows
//                                            %b = group(%a) { reshape } {near}
//                                            %c = group(%x', %b) { conv, add }
//                                            ...            // the next rows
//                                            %2 = concat %c, ...
//
// Slices are views, the concatenation is in place, and equal stripes become one kernel, as
// in StripeRows.cpp. What is not computed row by row is copied as a whole. Constants stay
// where they are, since weights are streamed, and so does what is read by words, which
// pass through the caches. Programs that others run stay as they are.
//
// Where the memory is too small for that, nothing is changed, and the function gets
// kernel.near_least: how much is enough.

#include "dialects/graph/ops/Movement.h"
#include "dialects/kernel/KernelDialect.h"
#include "passes/decide/Passes.h"
#include "passes/decide/Stripes.h"
#include "passes/plan/Buffers.h"
#include "passes/schedule/Strategy.h"

#include <numeric>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {
#define GEN_PASS_DEF_FILLNEAR
#include "passes/decide/Passes.h.inc"

namespace {

/// The tensor that a view is of.
Value rootOf(Value v) {
  while (isa_and_nonnull<ReshapeOp, SliceOp>(v.getDefiningOp()))
    v = v.getDefiningOp()->getOperand(0);
  return v;
}

/// Which results are stored in near memory: until they take so much of it, from the
/// smallest or from the largest on.
struct Policy {
  bool takesHalf, smallestFirst;
};
constexpr Policy policies[] = {
    {true, true}, {true, false}, {false, true}, {false, false}};

/// One function, changed for near memory of `limit` bytes.
class Filling {
public:
  Filling(func::FuncOp main, const TargetDescription &target, Policy policy,
          int64_t limit)
      : main(main), target(target), policy(policy), limit(limit) {}

  /// The bytes that are copied, and what launches cost, in the time of as many bytes.
  int64_t cost = 0;

  /// Returns whether vectors read all from there now.
  bool run() {
    SmallVector<GroupOp> groups;
    for (auto [step, op] : llvm::enumerate(main.getBody().front())) {
      stepOf[&op] = step;
      if (auto group = dyn_cast<GroupOp>(op))
        groups.push_back(group);
    }
    used.assign(stepOf.size(), 0);
    chooseResidents(groups);
    for (GroupOp group : groups) {
      auto copied = copiedOperands(group);
      if (copied.empty())
        continue;
      int64_t room = limit - used[stepOf.lookup(group)];
      int64_t height = heightFor(group, copied, room);
      if (height == 0)
        return false;
      cost += costOf(group, copied, height);
      build(group, copied, height);
    }
    return true;
  }

private:
  using Operands = SmallVector<unsigned, 4>;

  int64_t bytesOf(Type type) const {
    return static_cast<int64_t>(
        llvm::alignTo(plan::bytesOf(type), target.bufferAlign));
  }

  bool readsVectors(OpOperand &read) const {
    auto group = cast<GroupOp>(read.getOwner());
    return !hasRunTimeSizes(read.get().getType()) &&
           schedule::lookupStrategy(group.getStrategy())
               ->readsVectors(
                   schedule::GroupView{&group.getBody().front()},
                   group.getBody().getArgument(read.getOperandNumber()),
                   target);
  }

  /// Whether all that reads `value` are vectors; `last` becomes the last step that does.
  bool isReadByVectors(Value value, unsigned &last) {
    return llvm::all_of(value.getUses(), [&](OpOperand &use) {
      Operation *user = use.getOwner();
      if (isa<ReshapeOp, SliceOp>(user))
        return isReadByVectors(user->getResult(0), last);
      last = std::max(last, stepOf.lookup(user));
      return isa<GroupOp>(user) && readsVectors(use);
    });
  }

  /// Results that are stored in near memory.
  void chooseResidents(ArrayRef<GroupOp> groups) {
    struct Candidate {
      int64_t bytes;
      unsigned first, last;
      GroupOp group;
    };
    std::vector<Candidate> candidates;
    for (GroupOp group : groups) {
      unsigned first = stepOf.lookup(group), last = first;
      if (group.getNumResults() == 1 && !group.getOutputStrides() &&
          !hasRunTimeSizes(group.getResult(0).getType()) &&
          isReadByVectors(group.getResult(0), last))
        candidates.push_back(
            {bytesOf(group.getResult(0).getType()), first, last, group});
    }
    llvm::stable_sort(candidates, [&](const Candidate &a, const Candidate &b) {
      return policy.smallestFirst ? a.bytes < b.bytes : a.bytes > b.bytes;
    });
    int64_t most = policy.takesHalf ? limit / 2 : limit;
    for (Candidate &candidate : candidates) {
      auto steps = llvm::make_range(used.begin() + candidate.first,
                                    used.begin() + candidate.last + 1);
      if (llvm::any_of(steps, [&](int64_t bytes) {
            return bytes + candidate.bytes > most;
          }))
        continue;
      for (int64_t &bytes : steps)
        bytes += candidate.bytes;
      candidate.group.setNear(true);
      // There has to be room for what is copied meanwhile.
      bool isEnough = llvm::all_of(groups, [&](GroupOp group) {
        unsigned step = stepOf.lookup(group);
        if (step < candidate.first || step > candidate.last)
          return true;
        auto copied = copiedOperands(group);
        return copied.empty() ||
               heightFor(group, copied, limit - used[step]) > 0;
      });
      if (isEnough)
        continue;
      for (int64_t &bytes : steps)
        bytes -= candidate.bytes;
      candidate.group.setNear(false);
    }
  }

  /// The operands that vectors read elsewhere.
  Operands copiedOperands(GroupOp group) const {
    Operands copied;
    for (OpOperand &read : group->getOpOperands()) {
      Operation *origin = rootOf(read.get()).getDefiningOp();
      auto maker = dyn_cast_or_null<GroupOp>(origin);
      if (!isa_and_nonnull<ConstantOp>(origin) && !(maker && maker.getNear()) &&
          tensorType(read.get()).getNumElements() > 0 && readsVectors(read))
        copied.push_back(read.getOperandNumber());
    }
    return copied;
  }

  static bool isByRows(GroupOp group) {
    return group.getNumResults() == 1 &&
           shapeOf(group.getResult(0)).size() > 1 &&
           operandRows(group, {0, shapeOf(group.getResult(0))[1]}).has_value();
  }

  /// What the operands take for `height` rows of the result, for each such stripe; one
  /// stripe of all where it is 0. None if the group is not computed by rows.
  std::optional<SmallVector<int64_t>> bytesOfStripes(GroupOp group,
                                                     const Operands &operands,
                                                     int64_t height) const {
    if (height == 0) {
      int64_t all = 0;
      for (unsigned operand : operands)
        all += bytesOf(group->getOperand(operand).getType());
      return SmallVector<int64_t>{all};
    }
    SmallVector<int64_t> stripes;
    int64_t rows = shapeOf(group.getResult(0))[1];
    for (int64_t begin = 0; begin < rows; begin += height) {
      auto reads = operandRows(group, {begin, std::min(rows, begin + height)});
      if (!reads)
        return std::nullopt;
      int64_t sum = 0;
      for (const OperandRows &read : *reads)
        if (llvm::is_contained(operands, read.operand)) {
          auto type =
              cast<RankedTensorType>(group->getOperand(read.operand).getType());
          SmallVector<int64_t> shape(type.getShape());
          if (read.axis >= 0)
            shape[read.axis] = read.rows.size();
          sum += bytesOf(RankedTensorType::get(shape, type.getElementType()));
        }
      stripes.push_back(sum);
    }
    return stripes;
  }

  bool fit(GroupOp group, const Operands &operands, int64_t height,
           int64_t room) const {
    auto stripes = bytesOfStripes(group, operands, height);
    return stripes &&
           llvm::all_of(*stripes, [&](int64_t bytes) { return bytes <= room; });
  }

  int64_t costOf(GroupOp group, const Operands &operands,
                 int64_t height) const {
    // How a launch begins, and what each reads again, such as weights that it keeps in
    // registers: a hundred packets on the DSPs of November 2026, in which 6 KB are copied.
    constexpr int64_t launch = 6 << 10;
    bool isWhole = isAll(group, height);
    auto stripes = *bytesOfStripes(group, operands, isWhole ? 0 : height);
    int64_t count = int64_t(stripes.size()), copies = int64_t(operands.size());
    return std::accumulate(stripes.begin(), stripes.end(), int64_t(0)) +
           launch * (count * copies + count - 1);
  }

  static bool isAll(GroupOp group, int64_t height) {
    return group.getNumResults() != 1 ||
           shapeOf(group.getResult(0)).size() < 2 ||
           height == shapeOf(group.getResult(0))[1];
  }

  /// As many rows at a time as there is room for; 0 if for none.
  int64_t heightFor(GroupOp group, const Operands &operands,
                    int64_t room) const {
    int64_t all =
        group.getNumResults() == 1 && shapeOf(group.getResult(0)).size() > 1
            ? shapeOf(group.getResult(0))[1]
            : 1;
    if (fit(group, operands, 0, room))
      return all;
    if (!isByRows(group))
      return 0;
    int64_t before = all;
    for (int64_t stripes = 2; before > 1; ++stripes) {
      int64_t height = llvm::divideCeil(all, stripes);
      if (height < before && fit(group, operands, height, room))
        return height;
      before = height;
    }
    return 0;
  }

  void build(GroupOp group, const Operands &operands, int64_t height) {
    OpBuilder builder(group);
    if (isAll(group, height)) {
      for (unsigned operand : operands)
        group->setOperand(operand, copyPart(builder, group.getLoc(),
                                            group->getOperand(operand), target,
                                            /*near=*/true));
      return;
    }
    buildStripes({{group}, height}, /*fromEnd=*/false, target,
                 [&](OpBuilder &builder, const OperandRows &read, Value part) {
                   return llvm::is_contained(operands, read.operand)
                              ? copyPart(builder, group.getLoc(), part, target,
                                         /*near=*/true)
                              : part;
                 });
  }

  func::FuncOp main;
  const TargetDescription &target;
  Policy policy;
  int64_t limit;
  llvm::DenseMap<Operation *, unsigned> stepOf;
  /// Bytes of near memory that results take at each step.
  std::vector<int64_t> used;
};

struct FillNearPass : impl::FillNearBase<FillNearPass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (function.isPublic() && !function.isExternal())
        fill(function);
  }

private:
  void fill(func::FuncOp main) {
    if (OwningOpRef<func::FuncOp> filled = tryWith(main, maxBytes)) {
      main.getBody().takeBody(filled->getBody());
      return;
    }
    // How much is enough, to a kilobyte.
    constexpr int64_t unit = 1024;
    int64_t less = maxBytes, enough = std::max<int64_t>(2 * maxBytes, unit);
    while (!tryWith(main, enough))
      less = std::exchange(enough, 2 * enough);
    while (enough - less > unit) {
      int64_t middle = less + (enough - less) / 2;
      (tryWith(main, middle) ? enough : less) = middle;
    }
    main->setAttr(
        kernel::kNearLeastAttr,
        Builder(&getContext()).getI64IntegerAttr(llvm::alignTo(enough, unit)));
  }

  /// The function with `bytes` of near memory, by the policy that costs least; null if that
  /// is too small.
  OwningOpRef<func::FuncOp> tryWith(func::FuncOp main, int64_t bytes) {
    OwningOpRef<func::FuncOp> best;
    int64_t least = 0;
    for (Policy policy : policies) {
      int64_t cost = 0;
      if (OwningOpRef<func::FuncOp> trial = tryWith(main, bytes, policy, cost);
          trial && (!best || cost < least)) {
        best = std::move(trial);
        least = cost;
      }
    }
    return best;
  }

  OwningOpRef<func::FuncOp> tryWith(func::FuncOp main, int64_t bytes,
                                    Policy policy, int64_t &cost) {
    const TargetDescription &target = *lookupTarget(targetName);
    // Buffers may not fit together as well as their sum says.
    for (int64_t limit = bytes; limit > 0;) {
      OwningOpRef<func::FuncOp> trial(main.clone());
      // Strategies ask the module how strict it is.
      getOperation().push_back(*trial);
      Filling filling(*trial, target, policy, limit);
      if (!filling.run())
        return nullptr;
      cost = filling.cost;
      int64_t taken =
          plan::planArena(plan::Buffers(*trial).requests(
                              target.bufferAlign, nullptr, /*near=*/true),
                          target.bufferAlign)
              .bytes;
      if (taken <= bytes)
        return trial;
      limit -= std::max<int64_t>(taken - bytes, target.bufferAlign);
    }
    return nullptr;
  }
};

} // namespace
} // namespace ingot::decide
