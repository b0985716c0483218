// Decides which SSA values become C++ variables.

#include "codegen/kernel/Placement.h"

#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/KernelModule.h"
#include "dialects/kernel/NumberTypes.h"
#include "dialects/kernel/TileRegisters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ingot {

/// The largest number of operations in one expression. If an expression would
/// have more, a subexpression becomes a variable.
static constexpr unsigned kLargestExpression = 10;
/// The largest number of operations in each arm of a conditional expression.
static constexpr unsigned kLargestArm = 6;

bool isTransparent(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    return !dense || dense.isSplat();
  }
  if (auto splat = dyn_cast<vector::BroadcastOp>(op)) {
    Type element = splat.getSourceType();
    return element.isF32() || element.isF64();
  }
  // A vector of one lane is printed as a scalar.
  if (auto lane = dyn_cast<vector::ExtractOp>(op))
    return !isVector(lane.getSourceVectorType()) && !lane.hasDynamicPosition();
  return isa<memref::GetGlobalOp>(op);
}

// The functions that entries of Printable.def name as USES: each returns how
// often the text of an operation contains the text of an operand.
static unsigned once(Operation *, unsigned) { return 1; }
static unsigned twice(Operation *, unsigned) { return 2; }
static unsigned inComparison(arith::CmpFOp compare, unsigned) {
  switch (compare.getPredicate()) {
  case arith::CmpFPredicate::ONE:
  case arith::CmpFPredicate::UEQ:
  case arith::CmpFPredicate::ORD:
  case arith::CmpFPredicate::UNO:
    return 2;
  default:
    return 1;
  }
}
/// A select between masks (vectors of i1) prints as bitwise logic, in which the
/// condition occurs twice.
static unsigned inChoice(arith::SelectOp select, unsigned index) {
  return index == 0 && select.getType() == select.getCondition().getType() ? 2
                                                                           : 1;
}

unsigned textualUses(Operation *op, unsigned index) {
#define INGOT_EXPRESSION(OP, FUNCTION, USES)                                   \
  if (auto o = dyn_cast<OP>(op))                                               \
    return USES(o, index);
#include "codegen/kernel/Printable.def"
  return 1;
}

static bool mayAliasOthers(Value root) {
  auto argument = dyn_cast<BlockArgument>(root);
  auto function =
      argument
          ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
          : FunctionOpInterface();
  return function &&
         function.getArgAttr(argument.getArgNumber(), kernel::kMayAliasAttr);
}

/// Whether an operation is a call of a function with one result and without
/// buffer operands. Such a function has no side effects.
static bool isPureCall(Operation *op) {
  return isa<func::CallOp>(op) && op->getNumResults() == 1 &&
         llvm::none_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>);
}

/// Returns the buffer that `op` itself stores to, or null.
static Value writtenBuffer(Operation *op) {
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return kernel::bufferRoot(store.getMemRef());
  if (auto store = dyn_cast<vector::StoreOp>(op))
    return kernel::bufferRoot(store.getBase());
  if (auto store = dyn_cast<kernel::StoreVectorOp>(op))
    return kernel::bufferRoot(store.getTo());
  if (auto copy = dyn_cast<kernel::CopyAheadOp>(op))
    return kernel::bufferRoot(copy.getTo());
  if (auto copy = dyn_cast<kernel::CopyTileOp>(op))
    return kernel::bufferRoot(copy.getTo());
  if (auto send = dyn_cast<kernel::SendOp>(op))
    return kernel::bufferRoot(send.getTo());
  if (auto product = dyn_cast<kernel::TileProductOp>(op))
    return kernel::bufferRoot(product.getSums());
  if (auto store = dyn_cast<kernel::StoreTileOp>(op))
    return kernel::bufferRoot(store.getBuffer());
  return {};
}

static Value readBuffer(Operation *op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return kernel::bufferRoot(load.getMemRef());
  if (auto load = dyn_cast<vector::LoadOp>(op))
    return kernel::bufferRoot(load.getBase());
  return {};
}

/// Whether `writer`, including its regions, may change memory that `reader`
/// reads.
static bool clobbers(Operation *writer, Operation *reader) {
  SmallVector<Value> reads;
  reader->walk([&](Operation *op) {
    if (Value buffer = readBuffer(op))
      reads.push_back(buffer);
  });
  if (reads.empty())
    return false;
  return writer
      ->walk([&](Operation *op) {
        Value written = writtenBuffer(op);
        // A barrier makes values visible that other threads wrote. A load
        // before a GPU vector store, or before a wait for the previous kernel,
        // should not be delayed past that store or wait.
        if (isa<gpu::BarrierOp, kernel::WaitMbarrierOp, kernel::AwaitProductsOp,
                kernel::AwaitInputsOp, kernel::CountOp, kernel::StoreVectorOp>(
                op) ||
            (isa<func::CallOp>(op) && !isPureCall(op)))
          return WalkResult::interrupt();
        if (!written)
          return WalkResult::advance();
        for (Value read : reads)
          if (read == written ||
              (mayAliasOthers(read) && mayAliasOthers(written)))
            return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether `writer`, including its regions, overwrites a fixed register that
/// holds an operand of `reader` (kernel.load_next).
static bool reloads(Operation *writer, Operation *reader) {
  for (Value operand : reader->getOperands()) {
    auto load = operand.getDefiningOp<kernel::LoadNextOp>();
    if (!load || !load.getFirst())
      continue;
    uint64_t number =
        *load.getFirst() + cast<OpResult>(operand).getResultNumber();
    auto found = writer->walk([&](kernel::LoadNextOp other) {
      bool isSame = other.getFirst() && *other.getFirst() <= number &&
                    number < *other.getFirst() + other.getNumResults();
      return isSame ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (found.wasInterrupted())
      return true;
  }
  return false;
}

/// Whether an operation rounds a float to a narrower type.
static bool narrows(Operation *op) {
  return isa<arith::TruncFOp>(op) && isa<FloatType>(op->getResult(0).getType());
}

/// Whether `op` must not be printed after `store`: if `op` narrows a float, it
/// could separate two stores that GPU compilers otherwise combine.
static bool separates(Operation *op, Operation *store) {
  return isa<memref::StoreOp>(store) && narrows(op);
}

Placement::Placement(Region &body) {
  findChains(body);
  findSigns(body);
  // Visits inner blocks first: an scf.if becomes a conditional expression only
  // if all operations in it are nested, that is, part of the text of their
  // users.
  body.walk<WalkOrder::PostOrder>([&](Block *block) {
    findNested(*block);
    confirmNested(*block);
  });
  body.walk([&](Operation *op) {
    if (isa<scf::ForOp, scf::WhileOp>(op))
      shareUpdates(op);
  });
}

Value Placement::variable(Value value) const {
  auto found = leader.find(value);
  return found == leader.end() ? value : found->second;
}

void Placement::share(Value a, Value b) {
  Value to = variable(a), from = variable(b);
  leader[a] = leader[to] = to;
  leader[b] = to;
  if (to == from)
    return;
  for (auto &entry : leader)
    if (entry.second == from)
      entry.second = to;
}

/// Follows `carried`, such as an accumulator, through operations (including
/// inner loops), as long as each operation is the only use of the previous
/// value. Appends their results to `path`. Returns whether `yielded` is
/// reached.
bool Placement::followToYield(Value carried, Value yielded,
                              SmallVectorImpl<Value> &path) {
  Value value = carried;
  while (value != yielded) {
    if (!value.hasOneUse() || value.getType() != carried.getType())
      return false;
    OpOperand &use = *value.getUses().begin();
    Operation *user = use.getOwner();
    if (user->getBlock() != yielded.getParentBlock())
      return false;
    if (auto loop = dyn_cast<scf::ForOp>(user)) {
      if (use.getOperandNumber() < loop.getNumControlOperands())
        return false;
      value = loop.getTiedLoopResult(&use);
    } else if (auto product = dyn_cast<kernel::WarpProductOp>(user)) {
      value = product.resultOf(use);
      if (!value)
        return false;
    } else if (user->getNumResults() == 1 && user->getNumRegions() == 0 &&
               !isa<vector::BroadcastOp>(user) &&
               (!isa<func::CallOp>(user) || isPureCall(user))) {
      value = user->getResult(0);
    } else {
      return false;
    }
    path.push_back(value);
  }
  return value.getType() == carried.getType();
}

void Placement::findSigns(Region &body) {
  llvm::DenseSet<Value> sums;
  body.walk([&](kernel::DotOp op) { sums.insert(variable(op.getResult())); });
  body.walk([&](arith::SIToFPOp op) {
    if (Value read = variable(op.getIn());
        isShared(read) && sums.contains(read))
      readSigned.insert(read);
  });
}

void Placement::findChains(Region &body) {
  auto shareAlong = [&](Value start, ArrayRef<Value> path) {
    for (Value value : path) {
      share(start, value);
      if (Operation *op = value.getDefiningOp())
        pinned.insert(op);
    }
  };
  body.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [carried, yielded, result] :
           llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues(),
                           loop.getResults())) {
        share(carried, result);
        SmallVector<Value> path;
        if (followToYield(carried, yielded, path))
          shareAlong(carried, path);
        else if (Operation *update = yielded.getDefiningOp())
          pinned.insert(update);
      }
      // A loop-carried value shares the variable of its initial value if
      // nothing else reads the initial value.
      for (auto [init, carried] :
           llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs()))
        if (init.hasOneUse() && isShared(init) &&
            init.getParentBlock() == op->getBlock())
          share(init, carried);
    }
    if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      auto condition = loop.getConditionOp();
      for (auto [i, before] : llvm::enumerate(loop.getBeforeArguments()))
        share(before, before);
      for (auto [i, passed] : llvm::enumerate(condition.getArgs())) {
        share(loop.getAfterArguments()[i], loop.getResult(i));
        if (i < loop.getBeforeArguments().size() &&
            passed == loop.getBeforeArguments()[i])
          share(passed, loop.getResult(i));
        else if (Operation *update = passed.getDefiningOp())
          pinned.insert(update);
      }
      for (Value yielded : loop.getYieldOp().getOperands())
        if (Operation *update = yielded.getDefiningOp())
          pinned.insert(update);
    }
    // Outside of a loop, a sum of at least three products is also printed as
    // updates of one variable.
    auto addend = [](Value value) -> Value {
      if (auto fma = value.getDefiningOp<vector::FMAOp>())
        return fma.getAcc();
      if (auto fma = value.getDefiningOp<math::FmaOp>())
        return fma.getC();
      if (auto sum = value.getDefiningOp<arith::AddFOp>()) {
        auto isProduct = [](Value v) {
          return v.getDefiningOp<arith::MulFOp>() && v.hasOneUse();
        };
        if (isProduct(sum.getLhs()) != isProduct(sum.getRhs()))
          return isProduct(sum.getLhs()) ? sum.getRhs() : sum.getLhs();
      }
      return {};
    };
    if (op->getNumResults() == 1 && !isShared(op->getResult(0))) {
      SmallVector<Value> chain = {op->getResult(0)};
      while (Value next = addend(chain.back())) {
        if (!next.hasOneUse() || !addend(next) || isShared(next) ||
            next.getParentBlock() != op->getBlock())
          break;
        chain.push_back(next);
      }
      auto endsHere = [&] {
        // Whether the chain, a sum of products, ends with this operation: no
        // further product is added to its result.
        Value last = chain.front();
        return !last.hasOneUse() ||
               addend(last.getUses().begin()->getOwner()->getNumResults() == 1
                          ? last.getUses().begin()->getOwner()->getResult(0)
                          : Value()) != last;
      };
      if (chain.size() >= 3 && endsHere())
        shareAlong(chain.back(), chain);
    }
  });
}

unsigned Placement::occurrences(Value value) const {
  unsigned count = 0;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    unsigned inUser = textualUses(user, use.getOperandNumber());
    count += isTransparent(user) ? occurrences(user->getResult(0)) : inUser;
  }
  return count;
}

/// Whether an operation can be printed as an expression.
static bool isExpression(Operation *op) {
  if (op->getNumResults() != 1)
    return false;
  // An scf.if or a call may be an expression or a statement.
  if (isa<scf::IfOp>(op))
    return true;
  if (isa<func::CallOp>(op))
    return isPureCall(op);
  if (auto insert = dyn_cast<vector::InsertOp>(op))
    return insert.getType().getNumElements() == 1;
#define INGOT_STATEMENT(OP, FUNCTION)                                          \
  if (isa<OP>(op))                                                             \
    return false;
#define INGOT_TOGETHER INGOT_STATEMENT
#include "codegen/kernel/Printable.def"
  return op->getNumRegions() == 0;
}

/// Whether `op` shifts 8- or 16-bit lanes to the left and its result is shifted
/// again. Without optimization, clang 22 for WebAssembly does not truncate the
/// lanes between two such shifts in one expression.
static bool isShiftedAgain(Operation *op) {
  return isa<arith::ShLIOp>(op) && isVector(op->getResult(0).getType()) &&
         getElementTypeOrSelf(op->getResult(0)).getIntOrFloatBitWidth() < 32 &&
         llvm::any_of(
             op->getUses(),
             [](OpOperand &use) {
               return use.getOperandNumber() == 0 &&
                      isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(
                          use.getOwner());
             });
}

void Placement::findNested(Block &block) {
  for (Operation &op : block) {
    if (isTransparent(&op)) {
      nested.insert(&op);
      continue;
    }
    if (pinned.contains(&op) || !isExpression(&op) || isShiftedAgain(&op))
      continue;
    unsigned size = 1;
    for (Value operand : op.getOperands())
      if (Operation *source = operand.getDefiningOp())
        size += nested.contains(source) ? weight.lookup(source) : 0;
    if (auto conditional = dyn_cast<scf::IfOp>(op)) {
      bool fits = true;
      for (Region &region : op.getRegions()) {
        if (region.empty()) {
          fits = false;
          break;
        }
        unsigned arm = 0;
        for (Operation &inner : region.front().without_terminator()) {
          fits &= nested.contains(&inner);
          arm += !isTransparent(&inner);
        }
        fits &= arm <= kLargestArm;
        size += arm;
      }
      if (!fits)
        continue;
      conditionals.insert(&op);
    }
    Value result = op.getResult(0);
    if (size > kLargestExpression || occurrences(result) != 1)
      continue;
    // Finds the operation whose text contains the value. Splats of the value
    // have no text of their own.
    Operation *user = *result.user_begin();
    while (isTransparent(user))
      user = *user->getResult(0).user_begin();
    if (user->getBlock() != &block)
      continue;
    // C++ evaluates the bound and step of a loop in each iteration, so the
    // operations that compute them become statements. The start is evaluated
    // once.
    auto loop = dyn_cast<scf::ForOp>(user);
    if (loop &&
        llvm::is_contained({loop.getUpperBound(), loop.getStep()}, result))
      continue;
    if (isa<scf::YieldOp, scf::ConditionOp>(user) &&
        isa<scf::ForOp>(user->getParentOp()))
      continue;
    nested.insert(&op);
    weight[&op] = size;
  }
}

/// Whether `load`, which is marked as adjacent to other loads, would be printed
/// in an expression that narrows a value. GPU compilers could then not combine
/// the loads into one access.
bool Placement::leavesOthers(Operation *load) const {
  if (!load->hasAttr(kernel::kSideBySideAttr))
    return false;
  Operation *op = load;
  while (isNested(op) && !op->use_empty() && !narrows(op))
    op = *op->getResult(0).user_begin();
  return narrows(op);
}

Operation *Placement::statementOf(Operation *op) const {
  while (isNested(op) && !op->use_empty())
    op = *op->getResult(0).user_begin();
  return op;
}

void Placement::confirmNested(Block &block) {
  // Visits operations from the last to the first: the position of an
  // operation's text is that of its user.
  for (Operation &op : llvm::reverse(block)) {
    if (!nested.contains(&op) || isTransparent(&op))
      continue;
    if (leavesOthers(&op)) {
      nested.erase(&op);
      continue;
    }
    Operation *place = statementOf(&op);
    for (Operation *between = op.getNextNode(); between && between != place;
         between = between->getNextNode())
      if (!nested.contains(between) &&
          (clobbers(between, &op) || reloads(between, &op) ||
           separates(&op, between))) {
        nested.erase(&op);
        break;
      }
  }
}

/// Whether the text of `reader` is at or before `update`, or outside of the
/// block of `update`.
bool Placement::standsBefore(Operation *reader, Operation *update) const {
  if (isTransparent(reader))
    return llvm::all_of(reader->getUsers(), [&](Operation *next) {
      return standsBefore(next, update);
    });
  Operation *place = statementOf(reader);
  place = update->getBlock()->findAncestorOpInBlock(*place);
  while (place && isNested(place))
    place = statementOf(place);
  return !place || place == update || place->isBeforeInBlock(update);
}

/// If a carried value has several readers, lets it share a variable with its
/// update in the loop, provided that the text of all readers comes before the
/// update.
void Placement::shareUpdates(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  if (!loop)
    return;
  Block &body = *loop.getBody();
  for (auto [carried, yielded] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues())) {
    Operation *update = yielded.getDefiningOp();
    if (!update || update->getBlock() != &body || isShared(yielded) ||
        isNested(update) || yielded.getType() != carried.getType() ||
        llvm::count(loop.getYieldedValues(), yielded) != 1)
      continue;
    // Checks the readers of all values that share a variable with the carried
    // value.
    bool readBefore = true;
    Value own = variable(carried);
    for (auto &[member, of] : leader)
      if (of == own)
        readBefore &= llvm::all_of(member.getUsers(), [&](Operation *reader) {
          return standsBefore(reader, update);
        });
    // An scf.if assigns its result inside its arms, which may read the variable
    // afterwards.
    if (readBefore && update->getNumRegions() == 0)
      share(carried, yielded);
  }
}

} // namespace ingot
