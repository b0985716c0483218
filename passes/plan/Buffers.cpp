#include "passes/plan/Buffers.h"

#include "dialects/graph/ElementsData.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/kernel/HostOps.h"
#include "passes/schedule/Anchors.h"
#include "targets/ProgramForm.h"

#include <map>
#include <numeric>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::plan {

int64_t bytesOf(Type type) {
  auto shaped = cast<ShapedType>(type);
  return shaped.getNumElements() *
         kernel::elementBytes(storageType(shaped.getElementType()));
}

/// Returns, for each axis of `tensor`, the distance in bytes between
/// neighbouring elements.
static SmallVector<int64_t> byteStrides(Value tensor) {
  ArrayRef<int64_t> shape = shapeOf(tensor);
  int64_t bytes = bytesPerElement(elementOf(tensor));
  SmallVector<int64_t> strides(shape.size(), bytes);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

int64_t sliceOffset(Operation *op) {
  auto slice = cast<SliceOp>(op);
  SmallVector<int64_t> strides = byteStrides(slice.getX());
  return std::inner_product(strides.begin(), strides.end(),
                            slice.getStarts().begin(), int64_t(0));
}

bool isContiguous(Operation *op) {
  auto slice = cast<SliceOp>(op);
  ArrayRef<int64_t> from = shapeOf(slice.getX()), to = shapeOf(slice);
  bool whole = true; // whether all inner axes are read completely
  for (size_t i = to.size(); i-- > 0;) {
    if (to[i] > 1 && slice.getSteps()[i] != 1)
      return false;
    if (!whole && to[i] != 1)
      return false;
    whole &= to[i] == from[i];
  }
  return true;
}

Buffers::Buffers(FunctionOpInterface main, ArrayRef<Operation *> order,
                 bool inPlace)
    : arguments(main.getNumArguments()) {
  for (BlockArgument argument : main.getArguments())
    places[argument] = {newBuffer(Input, bytesOf(argument.getType()), -1,
                                  argument.getArgNumber()),
                        0};
  if (order.empty())
    for (Operation &op : main.getFunctionBody().front().without_terminator())
      read(&op);
  for (Operation *op : order)
    read(op);
  readReturned(main);
  keepInForks();
  if (inPlace)
    mergeInPlace();
}

static std::optional<uint64_t> forkOf(Operation *op) {
  auto launch = dyn_cast<kernel::LaunchOp>(op);
  return launch ? launch.getFork() : std::nullopt;
}

void Buffers::keepInForks() {
  std::map<uint64_t, std::pair<int64_t, int64_t>> bounds;
  for (auto [time, op] : llvm::enumerate(stepOps))
    if (std::optional<uint64_t> fork = forkOf(op)) {
      auto [found, isNew] = bounds.insert({*fork, {time, time}});
      found->second.second = time;
    }
  for (auto [fork, around] : bounds)
    for (int64_t time = around.first; time <= around.second; ++time)
      forks[time] = around;
  for (Buffer &buffer : buffers) {
    buffer.first = forkAround(buffer.first).first;
    buffer.last = forkAround(buffer.last).second;
  }
}

std::pair<int64_t, int64_t> Buffers::forkAround(int64_t time) const {
  auto found = forks.find(time);
  return found == forks.end() ? std::make_pair(time, time) : found->second;
}

unsigned Buffers::newBuffer(Kind kind, int64_t bytes, int64_t time,
                            unsigned argument) {
  unsigned id = buffers.size();
  buffers.push_back({kind, argument, bytes, time, time, id, 0});
  return id;
}

Buffers::Place Buffers::placeOf(Value value) const {
  Place place = places.lookup(value);
  while (buffers[place.buffer].parent != place.buffer) {
    place.offset += buffers[place.buffer].shift;
    place.buffer = buffers[place.buffer].parent;
  }
  return place;
}

void Buffers::absorb(unsigned part, unsigned whole, int64_t shift) {
  Buffer &from = buffers[part], &to = buffers[whole];
  to.first = std::min(to.first, from.first);
  to.last = std::max(to.last, from.last);
  from.parent = whole;
  from.shift = shift;
}

static bool isOfStrings(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && isa<kernel::StringType>(shaped.getElementType());
}

/// Records the character tensors from which `op` makes strings. A string holds
/// the address of its characters, and operators that move strings pass the
/// address on, so the characters stay live until the end of the program.
void Buffers::keepCharacters(Operation *op) {
  for (Value operand : op->getOperands())
    if (auto shaped = dyn_cast<ShapedType>(operand.getType());
        shaped && shaped.getElementType().isInteger(8))
      characters.push_back(operand);
  // The frame of an if, its last result, contains the characters of strings
  // that a branch makes.
  if (isa<kernel::IfOp>(op) && elementOf(op->getResults().back()).isInteger(8))
    characters.push_back(op->getResults().back());
}

/// Returns the number of results of `op` (the first ones) that are in VTCM or,
/// for a host kernel of a device program, in host memory.
static size_t countInSecondMemory(Operation *op) {
  if (auto group = dyn_cast<GroupOp>(op))
    return group.getSecondMemory();
  if (auto copy = dyn_cast<kernel::CopyOp>(op))
    return copy.getSecondMemory();
  auto launch = dyn_cast<kernel::LaunchOp>(op);
  if (!launch || !launch.getSecondMemory())
    return 0;
  auto target = launch->getParentOfType<ModuleOp>()->getAttrOfType<StringAttr>(
      kernel::kTargetAttr);
  return target && programForm(*lookupTarget(target.getValue())).hasHandle
             ? launch.getNumResults()
             : 1;
}

/// Whether `op` stores its result in the memory of its first operand.
static bool isAppending(Operation *op) {
  if (auto launch = dyn_cast<kernel::LaunchOp>(op))
    return launch.getAppends();
  auto group = dyn_cast<GroupOp>(op);
  return group && storesInPlace(group);
}

void Buffers::read(Operation *op) {
  int64_t time = stepOps.size();
  for (Value operand : op->getOperands())
    buffers[placeOf(operand).buffer].last = time;
  if (llvm::any_of(op->getResultTypes(), isOfStrings))
    keepCharacters(op);
  if (isa<ReshapeOp, SliceOp>(op)) {
    Place place = places.lookup(op->getOperand(0));
    if (isa<SliceOp>(op))
      place.offset += sliceOffset(op);
    places[op->getResult(0)] = place;
    return;
  }
  if (isa<ConstantOp>(op)) {
    places[op->getResult(0)] = {
        newBuffer(Constant, bytesOf(op->getResult(0).getType()), time), 0};
    return;
  }
  stepOps.push_back(op);
  if (isa<ConcatOp>(op))
    return placeParts(op, time);
  if (isAppending(op)) {
    places[op->getResult(0)] = places.lookup(op->getOperand(0));
    return;
  }
  for (Value result : op->getResults())
    places[result] = {newBuffer(Arena, bytesOf(result.getType()), time), 0};
  for (Value result : op->getResults().take_front(countInSecondMemory(op)))
    buffers[places.lookup(result).buffer].isInSecondMemory = true;
}

void Buffers::placeParts(Operation *op, int64_t time) {
  auto concat = cast<ConcatOp>(op);
  Value result = concat.getResult();
  unsigned whole = newBuffer(Arena, bytesOf(result.getType()), time);
  int64_t offset = 0, axis = concat.getAxis();
  int64_t stride = byteStrides(result)[axis];
  for (Value part : concat.getInputs()) {
    unsigned own = places.lookup(part).buffer;
    int64_t size = shapeOf(part)[axis];
    assert(buffers[own].kind == Arena && buffers[own].parent == own &&
           "parts are results of their own");
    absorb(own, whole, offset);
    parts.insert(part);
    while (auto view = part.getDefiningOp<ReshapeOp>())
      parts.insert(part = view.getX());
    offset += size * stride;
  }
  places[result] = {whole, 0};
}

void Buffers::readReturned(FunctionOpInterface main) {
  Operation *terminator = main.getFunctionBody().front().getTerminator();
  int64_t time = stepOps.size();
  for (Value kept : characters)
    buffers[placeOf(kept).buffer].last = time;
  for (OpOperand &operand : terminator->getOpOperands()) {
    Buffer &buffer = buffers[placeOf(operand.get()).buffer];
    buffer.last = time;
    if (tensorType(operand.get()).getNumElements() == 0)
      continue;
    // An output that appends to a state (a value kept from one run to the next)
    // is in the memory of the state's input.
    assert((buffer.kind == Arena || buffer.kind == Input) &&
           "outputs were separated when groups were formed");
    buffer.isAppended = buffer.kind == Input;
    buffer.kind = Output;
    buffer.argument = arguments + operand.getOperandNumber();
  }
}

void Buffers::mergeInPlace() {
  for (auto [time, op] : llvm::enumerate(stepOps)) {
    // The kernel of a group does not exist yet. But kernels of the strategies
    // listed below let their result overwrite such an operand.
    if (auto group = dyn_cast<GroupOp>(op)) {
      for (auto [input, argument] :
           llvm::zip(group.getInputs(), group.getBody().getArguments()))
        if (group.getNumResults() == 1 &&
            llvm::is_contained(
                {"elementwise", "convolution", "compact-convolution"},
                group.getStrategy()) &&
            schedule::mayBecomeResult(group, argument) &&
            mergeInPlace(time, group.getResult(0), input))
          break;
      continue;
    }
    // In a fork (launches that may run concurrently), an operand is not
    // overwritten, since another branch may still read it.
    if (forks.contains(int64_t(time)))
      continue;
    if (auto launch = dyn_cast<kernel::LaunchOp>(op)) {
      ArrayRef<int64_t> pairs =
          launch.getInplace().value_or(ArrayRef<int64_t>());
      for (size_t i = 0; i + 1 < pairs.size(); i += 2)
        if (mergeInPlace(time, launch.getResult(pairs[i]),
                         launch.getOperand(pairs[i + 1])))
          break;
    }
  }
}

bool Buffers::mergeInPlace(int64_t time, Value result, Value operand) {
  Place to = placeOf(result), from = placeOf(operand);
  const Buffer &source = buffers[from.buffer], &target = buffers[to.buffer];
  Operation *op = stepOps[time];
  bool readElsewhere = llvm::count_if(op->getOperands(), [&](Value v) {
                         return placeOf(v).buffer == from.buffer;
                       }) > 1;
  if (parts.contains(result) || from.buffer == to.buffer ||
      target.kind != Arena || source.kind != Arena || source.last != time ||
      target.first != time || readElsewhere ||
      source.isInSecondMemory != target.isInSecondMemory ||
      from.offset + target.bytes > source.bytes)
    return false;
  absorb(to.buffer, from.buffer, from.offset);
  return true;
}

/// Returns the number of bytes from the first to the last byte of the buffer
/// that a step accesses if it reads or writes `value`.
static int64_t spanOf(Value value) {
  auto part = value.getDefiningOp<SliceOp>();
  if (!part || isContiguous(part))
    return bytesOf(value.getType());
  SmallVector<int64_t> strides = byteStrides(part.getX());
  int64_t span = bytesPerElement(elementOf(value));
  for (auto [size, stride] : llvm::zip(shapeOf(value), strides))
    span += (size - 1) * stride;
  return span;
}

std::vector<ArenaRequest> Buffers::requests(int64_t alignment,
                                            std::vector<unsigned> *owners,
                                            bool inSecondMemory) const {
  // Maps each buffer to its accesses: [begin, end) in bytes, and the step.
  std::map<unsigned, std::vector<std::array<int64_t, 3>>> touched;
  auto touch = [&](Value value, int64_t time) {
    Place place = placeOf(value);
    int64_t span = spanOf(value);
    auto users = value.getUsers();
    auto user = llvm::find_if(users, llvm::IsaPred<ConcatOp>);
    if (parts.contains(value) && user != users.end()) {
      // If the elements of an operand are not contiguous in the concatenation,
      // the operand extends from the first to the last of its elements there.
      auto concat = cast<ConcatOp>(*user);
      span = bytesOf(concat.getType());
      int64_t outer = 1;
      for (int64_t size : shapeOf(value).take_front(concat.getAxis()))
        outer *= size;
      span = span / outer * (outer - 1) + bytesOf(value.getType()) / outer;
    }
    if (buffers[place.buffer].kind == Arena)
      touched[place.buffer].push_back(
          {place.offset, place.offset + span, time});
  };
  for (auto [time, op] : llvm::enumerate(stepOps)) {
    if (isa<ConcatOp>(op))
      continue;
    for (Value operand : op->getOperands())
      touch(operand, time);
    for (Value result : op->getResults())
      touch(result, time);
  }

  std::vector<ArenaRequest> requests;
  for (size_t id = 0; id < buffers.size(); ++id) {
    const Buffer &buffer = buffers[id];
    if (buffer.kind != Arena || buffer.parent != id ||
        buffer.isInSecondMemory != inSecondMemory)
      continue;
    ArenaRequest request{static_cast<int64_t>(llvm::alignTo(
                             std::max<int64_t>(buffer.bytes, 1), alignment)),
                         buffer.first, buffer.last};
    auto &accesses = touched[id];
    bool inParts = llvm::any_of(accesses, [&](auto &access) {
      return access[0] != 0 || access[1] != buffer.bytes;
    });
    if (inParts) {
      std::vector<int64_t> cuts{0, buffer.bytes};
      for (auto [begin, end, time] : accesses)
        cuts.insert(cuts.end(), {begin, end});
      llvm::sort(cuts);
      cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
      for (size_t i = 0; i + 1 < cuts.size(); ++i) {
        LiveRange range{cuts[i], cuts[i + 1], buffer.last + 1,
                        buffer.first - 1};
        for (auto [begin, end, time] : accesses)
          if (begin <= range.begin && range.end <= end) {
            range.first = std::min(range.first, forkAround(time).first);
            range.last = std::max(range.last, forkAround(time).second);
          }
        if (range.first > range.last)
          continue; // no step accesses these bytes
        if (!request.liveRanges.empty() &&
            request.liveRanges.back().end == range.begin &&
            request.liveRanges.back().first == range.first &&
            request.liveRanges.back().last == range.last)
          request.liveRanges.back().end = range.end;
        else
          request.liveRanges.push_back(range);
      }
    }
    requests.push_back(std::move(request));
    if (owners)
      owners->push_back(id);
  }
  return requests;
}

} // namespace ingot::plan
