// Verifies forks (launches of kernels in branches that run concurrently) and
// teams (worker groups: the same threads process the launches in sequence).
//
// Launches with the same `fork` are consecutive. A launch reads only data that
// was written before the fork or by its own branch, not data that other
// branches write. Launches with the same `team` are consecutive as well.

#include "dialects/kernel/HostOps.h"
#include "dialects/kernel/KernelModule.h"

using namespace mlir;

namespace ingot::kernel {

/// Whether an operation does work at run time, so that a fork (branches of
/// launches that run concurrently) ends before it.
static bool isStep(Operation *op) {
  return isa<LaunchOp, CopyOp, IfOp, LoopOp, ReadSizesOp, CheckSizesOp,
             RequireEqualOp>(op);
}

/// Returns the launch, in another branch of the same fork (whose branches run
/// concurrently), that computes `value` or the tensor of which `value` is a
/// slice; null if there is none.
static LaunchOp ofOtherBranch(Value value, LaunchOp launch) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  if (auto other = dyn_cast<LaunchOp>(op))
    return other.getFork() == launch.getFork() &&
                   other.getBranch() != launch.getBranch()
               ? other
               : LaunchOp();
  for (Value operand : op->getOperands())
    if (LaunchOp other = ofOtherBranch(operand, launch))
      return other;
  return {};
}

namespace {

/// Checks the order of forks (branches that run concurrently), or of teams
/// (launches that the same threads process in sequence): the launches of each
/// fork or team are consecutive, and its number is greater than those of the
/// previous ones.
class Order {
public:
  explicit Order(StringRef kind) : kind(kind) {}

  /// Checks the next step of the program: `launch`, whose fork or team has the
  /// number `number`. Without a number, the step ends the current fork or team;
  /// `launch` may then be null.
  LogicalResult next(LaunchOp launch, std::optional<uint64_t> number) {
    if (number && number != open && last && *number <= *last)
      return launch.emitOpError("is of ")
             << kind << ' ' << *number << ", which is not behind " << kind
             << ' ' << *last;
    open = number;
    if (number)
      last = number;
    return success();
  }

private:
  StringRef kind;
  std::optional<uint64_t> open, last;
};

} // namespace

LogicalResult verifyForks(ProgramOp program) {
  Order order("fork");
  for (Operation &op : program.getBody().front()) {
    if (!isStep(&op))
      continue;
    auto launch = dyn_cast<LaunchOp>(op);
    std::optional<uint64_t> fork = launch ? launch.getFork() : std::nullopt;
    if (fork && (!program.isPublic() || decidesOnHost(program)))
      return launch.emitOpError("is in a fork, but the program cannot be "
                                "recorded as a graph: it is called by another "
                                "program or does work on the host");
    if (failed(order.next(launch, fork)))
      return failure();
    if (!fork)
      continue;
    for (Value operand : launch.getOperands())
      if (LaunchOp other = ofOtherBranch(operand, launch))
        return launch.emitOpError("reads what branch ")
               << *other.getBranch() << " of its fork computes";
  }
  return success();
}

LogicalResult verifyTeams(ProgramOp program) {
  Order order("team");
  for (Operation &op : program.getBody().front()) {
    if (!isStep(&op))
      continue;
    auto launch = dyn_cast<LaunchOp>(op);
    if (failed(order.next(launch, launch ? launch.getTeam() : std::nullopt)))
      return failure();
  }
  return success();
}

int64_t mostBranches(ProgramOp program) {
  int64_t most = 1;
  program.walk([&](LaunchOp launch) {
    most = std::max<int64_t>(most, launch.getBranch().value_or(0) + 1);
  });
  return most;
}

namespace {

/// The bytes of a buffer that a launch reads or writes: rows of `row` bytes
/// each, which begin `stride` bytes apart. If `stride` is 0, there is a single
/// row.
struct Access {
  mutable LaunchOp launch;
  bool isWrite;
  /// The accessed buffer: an argument of the program, or null for the arena,
  /// the buffer for intermediate tensors.
  Value root;
  int64_t begin, end, row, stride = 0;

  Access(LaunchOp launch, Value operand, bool isWrite)
      : launch(launch), isWrite(isWrite) {
    auto type = cast<MemRefType>(operand.getType());
    begin = 0;
    while (auto view = operand.getDefiningOp<ViewOp>()) {
      begin += view.getOffset();
      operand = view.getSource();
    }
    if (auto arena = operand.getDefiningOp<ArenaOp>())
      begin += arena.getOffset();
    else
      root = operand;
    auto [strides, offset] = type.getStridesAndOffset();
    int64_t element = elementBytes(type.getElementType());
    end = begin + spanBytes(type);
    begin += offset * element;
    row = element;
    for (size_t axis = strides.size(); axis-- > 0;) {
      int64_t size = type.getDimSize(axis), step = strides[axis] * element;
      if (size == 1)
        continue;
      if (stride == 0 && step == row)
        row *= size;
      else if (stride == 0)
        stride = step;
      else if (step % stride != 0)
        row = end - begin;
    }
  }

  bool isApartFrom(const Access &other) const {
    if (root != other.root || end <= other.begin || other.end <= begin)
      return true;
    if (stride == 0 || stride != other.stride)
      return false;
    // A row may cross a multiple of the stride, so offsets are compared modulo
    // the stride.
    int64_t ahead = (other.begin % stride - begin % stride + stride) % stride;
    return row <= ahead && ahead + other.row <= stride;
  }
};

} // namespace

LogicalResult checkBranches(ProgramOp program, const SymbolTable &symbols) {
  std::vector<Access> accesses;
  for (auto launch : program.getOps<LaunchOp>()) {
    if (!launch.getFork())
      continue;
    if (!accesses.empty() &&
        accesses.back().launch.getFork() != launch.getFork())
      accesses.clear();
    auto callee = symbols.lookup<FuncOp>(launch.getCallee());
    size_t earlier = accesses.size();
    for (auto [i, operand] : llvm::enumerate(launch.getOperands())) {
      auto type = cast<MemRefType>(operand.getType());
      if (type.getNumElements() > 0 &&
          !bufferRoot(operand).getDefiningOp<memref::GetGlobalOp>())
        accesses.emplace_back(launch, operand,
                              !callee.getArgAttr(i, kReadAttr));
    }
    for (const Access &now : ArrayRef(accesses).drop_front(earlier))
      for (const Access &before : ArrayRef(accesses).take_front(earlier))
        if (before.launch.getBranch() != launch.getBranch() &&
            (now.isWrite || before.isWrite) && !now.isApartFrom(before))
          return launch.emitOpError("is in branch ")
                 << *launch.getBranch() << " of a fork, and branch "
                 << *before.launch.getBranch()
                 << " may use the same bytes at the same time: of '"
                 << before.launch.getCallee() << "' and '" << launch.getCallee()
                 << "' one writes them";
  }
  return success();
}

} // namespace ingot::kernel
