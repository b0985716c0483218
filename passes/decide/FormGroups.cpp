// Partitions operators into fusion groups, each of which becomes a kernel.
//
// Moves the operators of a function into `graph.group`s, each with the strategy
// that will build it and its plan. A group grows from its last operator towards
// its operands: it includes cheap producers without other users, which are then
// computed where they are used, and at most one anchor (reduction, convolution,
// ...) whose result is read at the index of the group's result.
//
//   %1 = graph.conv %x, %w          %2 = graph.group "conv" (%x, %w) {
//   %2 = graph.relu %1        ->        conv, relu }
//   %3 = graph.reshape %2           %3 = graph.reshape %2
//
// Reshapes stay outside of groups: they are views. So do slices of tensors that
// are stored anyway, if their elements are contiguous. Scalar constants are
// copied into each group; other constants stay outside as weights. Ifs and
// loops call functions, whose operators have their own groups. Afterwards every
// returned value is the result of a group, and none is returned twice.

#include "dialects/graph/GraphDialect.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/decide/MarkShortSums.h"
#include "passes/decide/OperatorGroup.h"
#include "passes/decide/Passes.h"
#include "passes/plan/Buffers.h"
#include "passes/schedule/Anchors.h"
#include "passes/schedule/ExecutionModel.h"
#include "passes/schedule/StoredOperands.h"
#include "passes/schedule/Tables.h"
#include "passes/schedule/gpu/ProductsOfRows.h"
#include "passes/schedule/tiles/ChannelStream.h"
#include "passes/schedule/tiles/HalfTile.h"
#include "llvm/ADT/SetVector.h"

#include <queue>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {
#define GEN_PASS_DEF_FORMGROUPS
#include "passes/decide/Passes.h.inc"

namespace {

/// Returns the row-major strides of a shape.
SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

/// Limits of a group: its number of operators, and how many times an element of
/// an operator may be computed for one element of the group's result. The first
/// limit bounds the compiler's stack: code of an element is built by recursion
/// over the operators. The second one bounds repeated work: if the users of an
/// operator read its elements at several indices, the element is computed again
/// for each index.
constexpr size_t mostMembers = 256;
constexpr int64_t mostTimes = 64;

class Grouping {
public:
  Grouping(func::FuncOp function, const TargetDescription &target, bool packs,
           bool savesMemory)
      : function(function), target(target), model(schedule::modelOf(target)),
        packs(packs), savesMemory(savesMemory) {}

  void run() {
    // Remove unused operators. Earlier passes may leave whole chains of them,
    // of which common subexpression elimination removes only the last one.
    IRRewriter rewriter(function.getContext());
    (void)runRegionDCE(rewriter, function->getRegions());
    dropEmpty();
    separateOutputs();
    separateSlices();
    if (schedule::halvesByLane(target))
      separateWidenings();
    if (model.separatesNorms)
      schedule::ProductsOfRows::separateNorms(function.getBody().front(),
                                              packs);
    placeConcatenations();
    SmallVector<Operation *> operations;
    for (Operation &op : function.getBody().front().without_terminator())
      operations.push_back(&op);
    for (Operation *op : llvm::reverse(operations))
      if (!grouped.contains(op) &&
          !isa<ConstantOp, GroupOp, IfOp, LoopOp, ReadSizesOp, CheckSizesOp>(
              op) &&
          !isView(op) && !placed.contains(op))
        build(collect(op), op);
    // Operands of the concatenations in `placed` are written directly into the
    // result of the concatenation. So the groups that compute these operands
    // store them with the strides of that result.
    for (Operation *concat : placed)
      for (Value part : concat->getOperands())
        if (!hasContiguousOperands(cast<ConcatOp>(concat)))
          part.getDefiningOp<GroupOp>().setOutputStrides(
              stridesOf(shapeOf(concat->getResult(0))));
    // Constants that were copied into groups are now unused.
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
      if (op.use_empty() && isa<ConstantOp, ReshapeOp, SliceOp>(op))
        op.erase();
  }

private:
  bool isView(Operation *op) const {
    return op && (isa<ReshapeOp>(op) || views.contains(op));
  }

  /// Whether `op` is a nonempty slice whose elements are contiguous in its
  /// operand. If the operand is in memory, such a slice is a view of it.
  static bool isSliceOfStored(Operation *op) {
    return isa<SliceOp>(op) && plan::isContiguous(op) &&
           tensorType(op->getResult(0)).getNumElements() != 0;
  }

  /// Whether `op` belongs to no group, and is not a concatenation that stays
  /// outside of groups.
  bool isFree(Operation *op) const {
    return !grouped.contains(op) && !placed.contains(op);
  }

  /// Whether a kernel has to store `v` at a given address, because `v` or a
  /// view of `v` is returned, or is written directly into the result of a
  /// concatenation.
  bool needsItsPlace(Value v) const {
    return llvm::any_of(v.getUsers(), [&](Operation *user) {
      return user->hasTrait<OpTrait::IsTerminator>() || placed.contains(user) ||
             (isView(user) && needsItsPlace(user->getResult(0)));
    });
  }

  /// Replaces tensors without elements by constants, unless they have dynamic
  /// sizes.
  void dropEmpty() {
    for (Operation &op : llvm::make_early_inc_range(
             function.getBody().front().without_terminator())) {
      if (op.getNumResults() == 0 || isa<ConstantOp>(op) ||
          llvm::any_of(op.getResults(), [](Value v) {
            return tensorType(v).getNumElements() != 0 ||
                   hasDynamicSizes(v.getType());
          }))
        continue;
      OpBuilder builder(&op);
      for (Value result : op.getResults())
        result.replaceAllUsesWith(emptyConstant(builder, result));
      op.erase();
    }
  }

  /// Whether `op` stores its result in the memory of a state. False for a null
  /// `op`, which stands for an argument.
  static bool storesInState(Operation *op) {
    auto group = dyn_cast_or_null<GroupOp>(op);
    return group ? storesInPlace(group) : op && op->hasTrait<InPlace>();
  }

  /// Copies returned values that are arguments, constants, or returned twice,
  /// so that each result of the function has memory of its own.
  void separateOutputs() {
    Operation *terminator = function.getBody().front().getTerminator();
    auto rootOf = [this](Value root) {
      while (isView(root.getDefiningOp()))
        root = root.getDefiningOp()->getOperand(0);
      return root;
    };
    // The memory of a result that is stored in a state belongs to the state, and
    // any other result that is a view of it is copied.
    llvm::DenseSet<Value> taken, states;
    for (OpOperand &operand : terminator->getOpOperands())
      if (Value root = rootOf(operand.get());
          storesInState(root.getDefiningOp()) &&
          function.getResultAttr(operand.getOperandNumber(),
                                 kernel::kStateAttr))
        states.insert(root);
    for (OpOperand &operand : terminator->getOpOperands()) {
      if (tensorType(operand.get()).getNumElements() == 0)
        continue;
      Value root = rootOf(operand.get());
      bool isState = function.getResultAttr(operand.getOperandNumber(),
                                            kernel::kStateAttr) != nullptr;
      bool writable = root.getDefiningOp() &&
                      !isa<ConstantOp>(root.getDefiningOp()) &&
                      (isState || !states.contains(root));
      if (writable && taken.insert(root).second)
        continue;
      OpBuilder builder(terminator);
      auto copy = ReshapeOp::create(builder, operand.get().getLoc(),
                                    operand.get().getType(), operand.get());
      operand.set(buildGroup({copy}).getResult(0));
    }
  }

  /// Whether `reader` is a convolution of `x` whose kernel can read the
  /// operands of `x` in place, without a copy. `x` is a slice of some channels,
  /// or a concatenation of channels.
  bool readsChannels(Operation *reader, Value x) const {
    auto conv = dyn_cast<ConvOp>(reader);
    return conv && conv.getX() == x && !conv.isWidening() &&
           model.accessBytes == 0 && !target.smallCode &&
           schedule::isFusableConvolution(conv, packs);
  }

  /// Whether `reader` is a convolution whose device kernel can read the
  /// channels of `slice` in place from the tensor that is sliced. For this, the
  /// first channel of the slice and the numbers of channels of both tensors
  /// must be multiples of 16 bytes.
  bool readsWholeVectors(Operation *reader, SliceOp slice) const {
    auto conv = dyn_cast<ConvOp>(reader);
    Value from = slice.getX(), x = slice.getResult();
    auto areWholeVectors = [&](int64_t channels) {
      return channels * kernel::elementBytes(elementOf(x)) %
                 model.accessBytes ==
             0;
    };
    return conv && conv.getX() == x && model.accessBytes != 0 &&
           isa<FloatType>(elementOf(x)) && conv.getGroups() == 1 &&
           schedule::isFusableConvolution(conv, packs) &&
           areWholeVectors(shapeOf(from).back()) &&
           areWholeVectors(shapeOf(x).back()) &&
           areWholeVectors(slice.getStarts().back());
  }

  /// If all users of a slice of channels can read the sliced tensor in place,
  /// gives each user its own clone of the slice, so that each user can be
  /// grouped with its clone.
  void separateSlices() {
    for (auto slice : llvm::make_early_inc_range(
             function.getBody().front().getOps<SliceOp>())) {
      if (slice->hasOneUse() || plan::isContiguous(slice) ||
          !schedule::takesChannels(slice) ||
          !llvm::all_of(slice->getUsers(), [&](Operation *user) {
            return readsChannels(user, slice.getResult()) ||
                   readsWholeVectors(user, slice) ||
                   (isa<ElementwiseOpInterface>(user) &&
                    dimsOf(user->getResult(0)) == dimsOf(slice.getResult()));
          }))
        continue;
      for (OpOperand &use :
           llvm::make_early_inc_range(llvm::drop_begin(slice->getUses())))
        use.set(OpBuilder(slice).clone(*slice)->getResult(0));
    }
  }

  /// Gives each elementwise operator and reduction that reads a widened tensor
  /// its own clone of the widening. Each can then be grouped with its clone, so
  /// that the narrow tensor is stored.
  void separateWidenings() {
    for (auto cast : llvm::make_early_inc_range(
             function.getBody().front().getOps<CastOp>())) {
      if (!schedule::isWidening(cast) || !elementOf(cast.getX()).isF16())
        continue;
      for (OpOperand &use : llvm::make_early_inc_range(cast->getUses()))
        if (!cast->hasOneUse() &&
            isa<ElementwiseOpInterface, ReductionOpInterface>(use.getOwner()))
          use.set(OpBuilder(cast).clone(*cast)->getResult(0));
    }
  }

  /// Whether the kernel of `v` stores registers that contain channels of
  /// several positions. Such a kernel cannot write `v` directly into a
  /// concatenation along the channels (`axis` is the last axis).
  bool isStoredByRows(Value v, int64_t axis) const {
    if (axis + 1 != int64_t(shapeOf(v).size()))
      return false;
    while (isa_and_nonnull<ElementwiseOpInterface>(v.getDefiningOp()))
      v = v.getDefiningOp()->getOperand(0);
    auto conv = v.getDefiningOp<ConvOp>();
    auto stream = conv ? schedule::ChannelStream::of(conv, target)
                       : std::optional<schedule::ChannelStream>();
    return stream && stream->crossesPositions();
  }

  /// Whether the elements of each operand are contiguous in the result of a
  /// concatenation.
  static bool hasContiguousOperands(ConcatOp concat) {
    return llvm::all_of(
        shapeOf(concat.getResult()).take_front(concat.getAxis()),
        [](int64_t size) { return size == 1; });
  }

  /// Whether a matrix product after `concat`, such as one of attention, can
  /// include it in its group as an operand that the kernel reads in place.
  bool isReadByProduct(ConcatOp concat) const {
    for (Operation *op = concat; op->hasOneUse();) {
      op = *op->user_begin();
      if (isa<MatMulOp>(op) &&
          llvm::is_contained(schedule::furtherAnchors(
                                 op, [](Operation *) { return false; },
                                 [&](Operation *free) { return isFree(free); },
                                 target, packs),
                             concat.getOperation()))
        return true;
    }
    return false;
  }

  /// Keeps a large concatenation outside of groups if operands that are
  /// computed for it alone, and can therefore be written directly into the
  /// result, have at least half of its elements. The other operands are copied
  /// into the result.
  void placeConcatenations() {
    for (auto concat : llvm::make_early_inc_range(
             function.getBody().front().getOps<ConcatOp>())) {
      int64_t own = 0, all = tensorType(concat.getResult()).getNumElements();
      auto isOwn = [&](Value part) {
        Operation *op = part.getDefiningOp();
        // If an operand is contiguous in the result, its kernel can write it
        // directly even if reshapes follow the kernel.
        while (isa_and_nonnull<ReshapeOp>(op) && part.hasOneUse() &&
               hasContiguousOperands(concat)) {
          part = op->getOperand(0);
          op = part.getDefiningOp();
        }
        return op && op->getNumResults() == 1 && part.hasOneUse() &&
               !isStoredByRows(part, concat.getAxis()) && !isView(op) &&
               !isa<ConstantOp, GroupOp, IfOp, LoopOp, CallExternalOp>(op) &&
               (!placed.contains(op) || hasContiguousOperands(concat));
      };
      for (Value part : concat.getInputs())
        own += isOwn(part) ? tensorType(part).getNumElements() : 0;
      bool small = all < 1024;
      // If the only user of the concatenation is a convolution that can read
      // all operands in place, and some operands are not computed for the
      // concatenation alone, leaves the concatenation to the group of the
      // convolution.
      if (own < all && schedule::readsByParts(concat) &&
          readsChannels(*concat->user_begin(), concat.getResult()))
        continue;
      if (isReadByProduct(concat))
        continue;
      // The offsets of the operands in the result must be static.
      bool isKnown = llvm::all_of(concat.getInputs(), [&](Value part) {
        return dimsOf(part)[concat.getAxis()].known().has_value();
      });
      if (small || !isKnown || 2 * own < all ||
          llvm::any_of(
              concat.getInputs(),
              [](Value v) { return tensorType(v).getNumElements() == 0; }))
        continue;
      OpBuilder builder(concat);
      SmallVector<std::pair<OpOperand *, ReshapeOp>> copies;
      for (OpOperand &part : concat->getOpOperands())
        if (!isOwn(part.get()))
          copies.push_back(
              {&part, ReshapeOp::create(builder, concat.getLoc(),
                                        part.get().getType(), part.get())});
      for (auto [part, copy] : copies)
        part->set(copy);
      for (auto [part, copy] : copies)
        part->set(buildGroup({copy}).getResult(0));
      placed.insert(concat);
    }
  }

  /// A growing group: its members, and the indices at which their elements are
  /// computed for one element of the group's result.
  struct Growth {
    llvm::SetVector<Operation *> members;
    /// Members with equal `index` compute their elements at the same index; 0
    /// is the index of the group's result. `times` is the largest number of
    /// times that an element of the member is computed.
    struct Place {
      int64_t index, times;
    };
    llvm::DenseMap<Operation *, Place> places;
    int64_t nextIndex = 1;

    /// Returns the index at which the elements of `producer` are computed, and
    /// how many times. All users of `producer` must be members of the group.
    Place placeOf(Operation *producer) {
      std::optional<int64_t> index;
      bool oneIndex = true;
      int64_t times = 0;
      llvm::SmallDenseSet<int64_t> counted;
      for (OpOperand &use : producer->getUses()) {
        Operation *user = use.getOwner();
        Place at = places.lookup(user);
        bool same = isa<ElementwiseOpInterface>(user) &&
                    shapeOf(user->getResult(0)) == shapeOf(use.get());
        oneIndex &= same && index.value_or(at.index) == at.index;
        index = at.index;
        if (!same || counted.insert(at.index).second)
          times += at.times;
      }
      return {oneIndex ? *index : nextIndex++, times};
    }
  };

  /// Returns the operators that form a group with `root`, its last operator. A
  /// producer is considered once, when all its users are members; later
  /// producers are considered first. So if there are two anchors (reductions,
  /// convolutions, ...), the later one joins and the earlier one stays in
  /// another group.
  llvm::SetVector<Operation *> collect(Operation *root) {
    Growth growth;
    growth.members.insert(root);
    if (isa<BodyOpInterface>(root) || root->getNumResults() != 1)
      return growth.members;
    if (isInRegisters(root)) {
      if (auto bits = root->getOperand(1).getDefiningOp<BitCastOp>();
          bits && mayJoin(bits, growth.members))
        growth.members.insert(bits);
      return growth.members;
    }
    bool anchored = !cast<ElementOpInterface>(root).isCheap();
    growth.places[root] = {0, 1};
    auto isEarlier = [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    };
    std::priority_queue<Operation *, SmallVector<Operation *>,
                        decltype(isEarlier)>
        candidates(isEarlier);
    auto addProducersOf = [&](Operation *member) {
      llvm::SmallDenseSet<Operation *> added;
      for (Value operand : member->getOperands())
        if (Operation *producer = operand.getDefiningOp();
            producer && added.insert(producer).second &&
            mayJoin(producer, growth.members))
          candidates.push(producer);
    };
    addProducersOf(root);
    while (!candidates.empty() && growth.members.size() < mostMembers) {
      Operation *producer = candidates.top();
      candidates.pop();
      if (growth.members.contains(producer))
        continue;
      // Adds further anchors (operators that loop over their operands), such as
      // the first matmul of attention. Their elements are computed at other
      // indices than the elements of the group's result.
      if (SmallVector<Operation *> chain = schedule::furtherAnchors(
              producer,
              [&](Operation *op) { return growth.members.contains(op); },
              [&](Operation *op) { return isFree(op); }, target, packs);
          !chain.empty()) {
        growth.members.insert(chain.begin(), chain.end());
        for (Operation *op : chain)
          growth.places[op] = {growth.nextIndex++, 1};
        anchored = true;
        llvm::for_each(chain, addProducersOf);
        continue;
      }
      if (!isa<ElementOpInterface>(producer))
        continue;
      Growth::Place place = growth.placeOf(producer);
      bool cheap = cast<ElementOpInterface>(producer).isCheap();
      if (anchored && isLastOfGroup(producer))
        continue;
      if (cheap ? place.times > mostTimes || !worthPulling(producer)
                : anchored || place.index != 0)
        continue;
      growth.members.insert(producer);
      growth.places[producer] = place;
      anchored |= !cheap;
      addProducersOf(producer);
    }
    return withoutRows(growth.members);
  }

  /// Returns `members` without the operators that broadcast an operand along
  /// rows (the last axis); these get a group of their own. This is for targets
  /// with slow partial-register accesses: a kernel of narrow integers treats
  /// the tensor as one long row there, which is impossible with broadcast
  /// operands. Returns all members on other targets, if some are not
  /// elementwise or read floats, if sizes are dynamic, or if the row length is
  /// a multiple of the lanes of a register.
  llvm::SetVector<Operation *>
  withoutRows(const llvm::SetVector<Operation *> &members) const {
    Value result = members.front()->getResult(0);
    auto isRow = [](Operation *op) {
      return llvm::any_of(op->getOperands(), [&](Value operand) {
        return tensorType(operand).getNumElements() != 1 &&
               shapeOf(operand) != shapeOf(op->getResult(0));
      });
    };
    if (!target.wholeRegisters || hasDynamicSizes(members.front()) ||
        shapeOf(result).empty() || isRow(members.front()) ||
        shapeOf(result).back() % target.maxLanes(elementOf(result)) == 0 ||
        llvm::any_of(members, [](Operation *op) {
          return !isa<ElementwiseOpInterface>(op) ||
                 llvm::any_of(op->getOperands(), [](Value operand) {
                   return isa<FloatType>(elementOf(operand));
                 });
        }))
      return members;
    llvm::SetVector<Operation *> kept;
    for (Operation *op : members)
      if (op == members.front() ||
          (!isRow(op) && llvm::all_of(op->getUsers(), [&](Operation *user) {
            return kept.contains(user);
          })))
        kept.insert(op);
    return kept;
  }

  /// Whether `producer` converts a value to a narrower type, and the operator
  /// of this value can be in another group. The producer then belongs to that
  /// group, so that its kernel stores narrow elements.
  bool isLastOfGroup(Operation *producer) const {
    Operation *before = schedule::isNarrowing(producer)
                            ? producer->getOperand(0).getDefiningOp()
                            : nullptr;
    return before && before->hasOneUse() && isa<ElementOpInterface>(before) &&
           !isa<ConstantOp>(before) && !isView(before) && isFree(before);
  }

  /// Whether `op` looks up bytes in a table that the target holds in registers.
  /// Such an operator gets its own group.
  bool isInRegisters(Operation *op) const {
    return schedule::isByteTable(op) && schedule::looksUpBytes(target);
  }

  bool mayJoin(Operation *producer,
               const llvm::SetVector<Operation *> &members) {
    Operation *user = *producer->user_begin();
    if (!isFree(producer) ||
        (isView(producer) && !joinsParts(producer, user)) ||
        isa<ConstantOp>(producer) || isInRegisters(producer) ||
        !isa<ElementOpInterface, BodyOpInterface>(producer))
      return false;
    return llvm::all_of(producer->getUsers(), [&](Operation *user) {
      return members.contains(user);
    });
  }

  /// Whether `user` is a concatenation or padding whose device kernel can
  /// compute the elements of `producer` too. No element is computed twice,
  /// since each is read once, by the thread that stores it. If `producer` is a
  /// view, the kernel computes the tensor of which it is a view.
  bool joinsParts(Operation *producer, Operation *user) const {
    if (!model.readsSlices || !isa<ConcatOp, PadOp>(user) ||
        !schedule::readsStored(producer,
                               [&](Operation *op) { return isFree(op); }))
      return false;
    Operation *before =
        isView(producer) ? producer->getOperand(0).getDefiningOp() : producer;
    return before && isFree(before) && !isView(before) &&
           !isa<ConstantOp>(before) &&
           (before == producer || before->hasOneUse());
  }

  /// Whether `producer` should be computed within the group of its users:
  /// usually if each element of its result is computed about once there.
  bool worthPulling(Operation *producer) const {
    int64_t produced = tensorType(producer->getResult(0)).getNumElements();
    return llvm::all_of(producer->getUsers(), [&](Operation *user) {
      auto element = dyn_cast<ElementOpInterface>(user);
      if (isa<UnpackPanelsOp>(producer))
        return true;
      if (!element)
        return false;
      // Convolutions read their input element by element, so a transposed input
      // costs no more. Only int8 dot products need groups of adjacent channels.
      if (auto conv = dyn_cast<ConvOp>(user);
          conv && isa<TransposeOp>(producer))
        return shapeOf(conv.getX()).back() <= 4 &&
               (!conv.isWidening() ||
                (target.coreRegisters &&
                 !schedule::copiesWindows(conv, target))) &&
               conv.getX() == producer->getResult(0) && conv.getGroups() == 1;
      if (auto slice = dyn_cast<SliceOp>(producer); slice && isa<ConvOp>(user))
        return schedule::takesChannels(slice) &&
               (readsChannels(user, slice.getResult()) ||
                readsWholeVectors(user, slice));
      if (auto concat = dyn_cast<ConcatOp>(producer);
          concat && isa<ConvOp>(user))
        return schedule::readsByParts(concat) &&
               readsChannels(user, concat.getResult());
      // A convolution that reads slices or operands of a concatenation in place
      // needs the sliced or concatenated tensors in memory.
      if (isa<SliceOp, ConcatOp>(user) &&
          llvm::any_of(user->getUsers(), [&](Operation *reader) {
            auto slice = dyn_cast<SliceOp>(user);
            return readsChannels(reader, user->getResult(0)) ||
                   (slice && readsWholeVectors(reader, slice));
          }))
        return false;
      // A cast to a wider type is computed within a pool or depthwise
      // convolution, although the pool or convolution reads each element
      // several times and casts it each time: the elements in memory stay
      // narrow, which takes less space and bandwidth.
      if (schedule::isWidening(producer) &&
          isa<ConvOp, MaxPoolOp, AveragePoolOp>(user)) {
        auto conv = dyn_cast<ConvOp>(user);
        return !conv || (conv.getX() == producer->getResult(0) &&
                         schedule::isDepthwise(conv));
      }
      if (!element.isCheap())
        return isa<ReductionOpInterface>(user);
      // Computing a gather within another gather repeats no work: each result
      // reads one element of the inner gather.
      if (isa<GatherOp>(producer) && isa<GatherOp>(user) &&
          user->getOperand(0) == producer->getResult(0))
        return true;
      if (joinsParts(producer, user))
        return true;
      return tensorType(user->getResult(0)).getNumElements() <= produced;
    });
  }

  void build(const llvm::SetVector<Operation *> &members, Operation *root) {
    SmallVector<Operation *> ordered(members.begin(), members.end());
    llvm::sort(ordered, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
    // Slices of stored tensors are views for users outside of the group, so
    // they do not move into the group.
    SmallVector<Operation *> rest;
    for (Operation *op : ordered) {
      if (isSliceOfStored(op) &&
          !llvm::is_contained(rest, op->getOperand(0).getDefiningOp()) &&
          !(op == root && needsItsPlace(op->getResult(0))))
        views.insert(op);
      else
        rest.push_back(op);
    }
    if (!rest.empty())
      buildGroup(rest);
  }

  GroupOp buildGroup(ArrayRef<Operation *> ordered) {
    grouped.insert(ordered.begin(), ordered.end());
    return moveToGroup(ordered, target, packs, savesMemory);
  }

  func::FuncOp function;
  const TargetDescription &target;
  const schedule::ExecutionModel &model;
  bool packs, savesMemory;
  llvm::DenseSet<Operation *> grouped;
  llvm::SetVector<Operation *> placed;
  /// Slices that stay outside of groups, as views.
  llvm::DenseSet<Operation *> views;
};

struct FormGroupsPass : impl::FormGroupsBase<FormGroupsPass> {
  using Base::Base;
  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    markShortSums(getOperation(), target);
    Grouping(getOperation(), target, packs, savesMemory).run();
  }
};

} // namespace
} // namespace ingot::decide
