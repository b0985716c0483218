// Places data that vectors read in fast local memory of the target (VTCM).
//
// A target may have a small memory that its vectors read fastest. Results that
// only vectors read are stored there; the pass tries several policies for
// choosing these results. Other operands of vectors are copied there a few rows
// at a time, before the group that reads them computes the corresponding row
// band of its result:
//
//   %2 = group(%x, %1) { conv, add %1 }  ->  %a = slice %1  // rows
//                                            %b = group(%a) { reshape } {second_memory}
//                                            %c = group(%x', %b) { conv, add }
//                                            ...            // the next rows
//                                            %2 = concat %c, ...
//
// Slices are views, the concatenation is in place, and equal row bands become
// one kernel, as in RowBands.cpp. An operand of a group that cannot be
// computed in row bands is copied as a whole. Constants are not copied, since
// weights are streamed; neither are operands read by scalar code, which go
// through the caches. Called programs are unchanged.
//
// If VTCM is too small, the function is unchanged and gets the attribute
// kernel.vtcm_least: the number of bytes that would suffice.

#include "dialects/graph/ops/Movement.h"
#include "dialects/kernel/KernelDialect.h"
#include "passes/decide/Passes.h"
#include "passes/decide/RowBandBuilder.h"
#include "passes/plan/Buffers.h"
#include "passes/schedule/Strategy.h"

#include <numeric>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {
#define GEN_PASS_DEF_PLACEINVTCM
#include "passes/decide/Passes.h.inc"

namespace {

/// Returns the tensor of which `v` is a view.
Value rootOf(Value v) {
  while (isa_and_nonnull<ReshapeOp, SliceOp>(v.getDefiningOp()))
    v = v.getDefiningOp()->getOperand(0);
  return v;
}

/// How results are chosen for VTCM: the smallest or the largest ones first,
/// until half of VTCM is full or all of it.
struct Policy {
  bool takesHalf, smallestFirst;
};
constexpr Policy policies[] = {
    {true, true}, {true, false}, {false, true}, {false, false}};

/// Rewrites one function for VTCM of `limit` bytes.
class Filling {
public:
  Filling(func::FuncOp main, const TargetDescription &target, Policy policy,
          int64_t limit)
      : main(main), target(target), policy(policy), limit(limit) {}

  /// The estimated cost of copies: the bytes copied, plus the overhead of
  /// launches, which is expressed as a number of bytes.
  int64_t cost = 0;

  /// Rewrites the function. Returns false if VTCM is too small for the operands
  /// of a group, so that vectors would read other memory.
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
    return !hasDynamicSizes(read.get().getType()) &&
           schedule::lookupStrategy(group.getStrategy())
               ->readsVectors({group, target}, group.getBody().getArgument(
                                                   read.getOperandNumber()));
  }

  /// Whether only vectors read `value`. Raises `last` to the index of the last
  /// operation that reads it.
  bool isReadByVectors(Value value, unsigned &last) {
    return llvm::all_of(value.getUses(), [&](OpOperand &use) {
      Operation *user = use.getOwner();
      if (isa<ReshapeOp, SliceOp>(user))
        return isReadByVectors(user->getResult(0), last);
      last = std::max(last, stepOf.lookup(user));
      return isa<GroupOp>(user) && readsVectors(use);
    });
  }

  /// Chooses the results that are placed in VTCM.
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
          !hasDynamicSizes(group.getResult(0).getType()) &&
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
      candidate.group.setSecondMemory(true);
      // Enough space must remain for the operands that are copied while the
      // candidate is live.
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
      candidate.group.setSecondMemory(false);
    }
  }

  /// Returns the operands of `group` that vectors would read from memory other
  /// than VTCM, except constants.
  Operands copiedOperands(GroupOp group) const {
    Operands copied;
    for (OpOperand &read : group->getOpOperands()) {
      Operation *origin = rootOf(read.get()).getDefiningOp();
      auto maker = dyn_cast_or_null<GroupOp>(origin);
      if (!isa_and_nonnull<ConstantOp>(origin) &&
          !(maker && maker.getSecondMemory()) &&
          tensorType(read.get()).getNumElements() > 0 && readsVectors(read))
        copied.push_back(read.getOperandNumber());
    }
    return copied;
  }

  /// Whether `group` can be computed in row bands. The row bands of several
  /// images would not be contiguous in the result, so there is only one image.
  static bool isByRows(GroupOp group) {
    if (group.getNumResults() != 1)
      return false;
    ArrayRef<int64_t> shape = shapeOf(group.getResult(0));
    return shape.size() > 1 && shape[0] == 1 &&
           operandRows(group, {0, shape[1]}).has_value();
  }

  /// Returns, for each row band of `height` rows of the group's result, the
  /// number of bytes of the `operands` that are copied. Height 0 means a single
  /// band of all rows. Returns nothing if the group cannot be computed by rows.
  std::optional<SmallVector<int64_t>>
  bytesOfBands(GroupOp group, const Operands &operands, int64_t height) const {
    if (height == 0) {
      int64_t all = 0;
      for (unsigned operand : operands)
        all += bytesOf(group->getOperand(operand).getType());
      return SmallVector<int64_t>{all};
    }
    SmallVector<int64_t> bands;
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
      bands.push_back(sum);
    }
    return bands;
  }

  bool fit(GroupOp group, const Operands &operands, int64_t height,
           int64_t room) const {
    auto bands = bytesOfBands(group, operands, height);
    return bands &&
           llvm::all_of(*bands, [&](int64_t bytes) { return bytes <= room; });
  }

  int64_t costOf(GroupOp group, const Operands &operands,
                 int64_t height) const {
    // The overhead of a launch, including data such as weights that each launch
    // reloads into registers: about a hundred VLIW packets on the DSPs of
    // November 2026, which take as long as copying 6 KB.
    constexpr int64_t launch = 6 << 10;
    bool isWhole = isAll(group, height);
    auto bands = *bytesOfBands(group, operands, isWhole ? 0 : height);
    int64_t count = int64_t(bands.size()), copies = int64_t(operands.size());
    return std::accumulate(bands.begin(), bands.end(), int64_t(0)) +
           launch * (count * copies + count - 1);
  }

  static bool isAll(GroupOp group, int64_t height) {
    return group.getNumResults() != 1 ||
           shapeOf(group.getResult(0)).size() < 2 ||
           height == shapeOf(group.getResult(0))[1];
  }

  /// Returns the largest height of row bands whose copied operands fit into
  /// `room` bytes; this is the number of all rows if the whole operands fit.
  /// Returns 0 if there is no such height, or if `group` cannot be computed by
  /// rows.
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
    for (int64_t bands = 2; before > 1; ++bands) {
      int64_t height = llvm::divideCeil(all, bands);
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
                                            /*inSecondMemory=*/true));
      return;
    }
    buildRowBands({{group}, height}, /*fromEnd=*/false, target,
                  [&](OpBuilder &builder, const OperandRows &read, Value part) {
                    return llvm::is_contained(operands, read.operand)
                               ? copyPart(builder, group.getLoc(), part, target,
                                          /*inSecondMemory=*/true)
                               : part;
                  });
  }

  func::FuncOp main;
  const TargetDescription &target;
  Policy policy;
  int64_t limit;
  llvm::DenseMap<Operation *, unsigned> stepOf;
  /// The bytes of VTCM that results occupy at each step (operation) of `main`.
  std::vector<int64_t> used;
};

struct PlaceInVtcmPass : impl::PlaceInVtcmBase<PlaceInVtcmPass> {
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
    // Finds the least sufficient size of VTCM by binary search, to a kilobyte.
    constexpr int64_t unit = 1024;
    int64_t less = maxBytes, enough = std::max<int64_t>(2 * maxBytes, unit);
    while (!tryWith(main, enough))
      less = std::exchange(enough, 2 * enough);
    while (enough - less > unit) {
      int64_t middle = less + (enough - less) / 2;
      (tryWith(main, middle) ? enough : less) = middle;
    }
    main->setAttr(
        kernel::kVtcmLeastAttr,
        Builder(&getContext()).getI64IntegerAttr(llvm::alignTo(enough, unit)));
  }

  /// Returns a copy of the function that uses `bytes` bytes of VTCM with the
  /// best policy; null if `bytes` is too small for every policy.
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
    // VTCM may need more bytes than are live at any step, because of gaps
    // between the placed buffers. So `limit` is reduced until they fit into
    // `bytes` bytes.
    for (int64_t limit = bytes; limit > 0;) {
      OwningOpRef<func::FuncOp> trial(main.clone());
      // The copy is added to the module, since strategies read the module's
      // `strict` attribute.
      getOperation().push_back(*trial);
      Filling filling(*trial, target, policy, limit);
      if (!filling.run())
        return nullptr;
      cost = filling.cost;
      int64_t taken = plan::planArena(plan::Buffers(*trial).requests(
                                          target.bufferAlign, nullptr,
                                          /*inSecondMemory=*/true),
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
