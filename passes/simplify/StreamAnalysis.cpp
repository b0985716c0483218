#include "passes/simplify/StreamAnalysis.h"

#include "dialects/graph/ElementsData.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::simplify::stream {

std::optional<Frames> framesOf(GatherOp gather) {
  auto constant = gather.getIndices().getDefiningOp<ConstantOp>();
  ArrayRef<int64_t> shape = shapeOf(gather.getIndices());
  if (!constant || !hasData(constant.getValue()) || shape.empty() ||
      shape.front() < 2)
    return std::nullopt;
  SmallVector<int64_t> indices = elementsAsInts(constant.getValue());
  size_t length = indices.size() / shape.front();
  Frames frames{{indices.begin(), indices.begin() + length},
                indices[length] - indices[0]};
  for (auto [i, index] : llvm::enumerate(indices))
    if (index < 0 ||
        index != frames.first[i % length] + int64_t(i / length) * frames.step)
      return std::nullopt;
  return frames.step > 0 ? std::optional(frames) : std::nullopt;
}

StreamAnalysis::StreamAnalysis(BlockArgument input, int64_t axis, int64_t hop) {
  streams[input] = {axis, shapeOf(input)[axis], hop};
  for (Operation &op : input.getOwner()->without_terminator())
    if (!visit(&op))
      break;
}

const Stream *StreamAnalysis::streamOf(Value v) const {
  auto found = streams.find(v);
  return found == streams.end() ? nullptr : &found->second;
}

Value StreamAnalysis::keptFor(Value v) const {
  Value best = v;
  auto bits = [](Value x) {
    Type type = elementOf(x);
    return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 64;
  };
  while (std::optional<unsigned> operand = onlyOperand(v)) {
    v = v.getDefiningOp()->getOperand(*operand);
    if (bits(v) < bits(best))
      best = v;
  }
  return best;
}

std::optional<unsigned> StreamAnalysis::onlyOperand(Value v) const {
  Operation *op = v.getDefiningOp();
  if (!isa_and_nonnull<ElementwiseOpInterface, TransposeOp, ReshapeOp>(op) ||
      !isStreamed(op))
    return std::nullopt;
  std::optional<unsigned> found;
  for (OpOperand &operand : op->getOpOperands())
    if (const Stream *stream = streamOf(operand.get())) {
      if (found || stream->size != streamOf(v)->size ||
          tensorType(operand.get()).getNumElements() !=
              tensorType(v).getNumElements())
        return std::nullopt;
      found = operand.getOperandNumber();
    }
  return found;
}

bool StreamAnalysis::visit(Operation *op) {
  bool readsStream = llvm::any_of(
      op->getOperands(), [&](Value v) { return streamOf(v) != nullptr; });
  if (!readsStream) {
    if (isPure(op) &&
        llvm::all_of(op->getOperands(), [&](Value v) { return isFixed(v); }))
      fixed.insert(op->result_begin(), op->result_end());
    return true;
  }
  std::optional<Reading> reading = readingFor(op);
  std::optional<Stream> result;
  if (reading) {
    result = resultOf(op, *reading);
    if (undivided)
      return false;
  }
  if (!result) {
    if (!whole)
      whole = op;
    for (Value operand : op->getOperands())
      if (const Stream *stream = streamOf(operand))
        need(operand, stream->all());
    return true;
  }
  for (Value operand : op->getOperands())
    if (const Stream *stream = streamOf(operand)) {
      if (result->left)
        need(operand, reading->read(result->first(), stream->size));
      need(operand, reading->read(result->last(), stream->size));
    }
  readings[op] = *reading;
  streams[op->getResult(0)] = *result;
  return true;
}

void StreamAnalysis::need(Value v, Columns columns) {
  Stream stream = streams.find(v)->second;
  if (stream.first().contains(columns) || stream.last().contains(columns))
    return;
  auto [it, isNew] = kept.insert({keptFor(v), stream.last().begin});
  it->second = std::min(it->second, std::max(columns.begin, stream.left));
}

std::optional<Stream> StreamAnalysis::resultOf(Operation *op,
                                               const Reading &reading) {
  std::optional<Stream> in;
  for (Value operand : op->getOperands())
    if (const Stream *stream = streamOf(operand)) {
      if (!in)
        in = *stream;
      if (in->size != stream->size || in->hop != stream->hop)
        return std::nullopt;
      in->left = std::max(in->left, stream->left);
      in->right = std::max(in->right, stream->right);
    }
  int64_t size = shapeOf(op->getResult(0))[reading.axis];
  Stream out{reading.axis, size, 0};
  if (reading.splits > 1) {
    out.left = in->left * reading.splits;
    out.right = in->right * reading.splits;
    out.hop = in->hop * reading.splits;
  } else {
    int64_t stride = reading.stride;
    out.left = std::max<int64_t>(
        0, llvm::divideCeilSigned(in->left + reading.low, stride));
    int64_t lastWhole = llvm::divideFloorSigned(
        in->size - in->right - reading.extent + reading.low, stride);
    out.right = std::max<int64_t>(0, size - 1 - lastWhole);
    if (out.left + out.right + 1 >= size)
      return std::nullopt;
    if (in->hop % stride != 0) {
      undivided = op;
      factor = stride / std::gcd(in->hop, stride);
      return std::nullopt;
    }
    out.hop = in->hop / stride;
  }
  if (out.left)
    out.left += reading.margin;
  if (out.right)
    out.right += reading.margin;
  if (out.left + out.right + out.hop >= size)
    return std::nullopt;
  for (Columns columns : {out.first(), out.last()})
    if (columns.count() > 0 && reading.read(columns, in->size).count() <= 0)
      return std::nullopt;
  return out;
}

int64_t StreamAnalysis::axisOf(Operation *op, unsigned i) const {
  const Stream *stream = streamOf(op->getOperand(i));
  return stream ? stream->axis : -1;
}

std::optional<Reading> StreamAnalysis::readingFor(Operation *op) const {
  if (op->getNumResults() != 1 || !isPure(op))
    return std::nullopt;
  for (Value operand : op->getOperands())
    if (!streamOf(operand) && !isFixed(operand))
      return std::nullopt;
  if (isa<ElementwiseOpInterface, ExpandOp>(op))
    return broadcast(op);
  return llvm::TypeSwitch<Operation *, std::optional<Reading>>(op)
      .Case([&](ConvOp conv) -> std::optional<Reading> {
        if (axisOf(conv, 1) >= 0)
          return std::nullopt;
        return window(conv, shapeOf(conv.getW()).drop_back(2));
      })
      .Case<MaxPoolOp, AveragePoolOp, LpPoolOp>(
          [&](auto pool) { return window(pool, pool.getKernel()); })
      .Case([&](MatMulOp) { return product(op); })
      .Case([&](NarrowMatMulOp) { return product(op); })
      .Case([&](TransposeOp transpose) -> std::optional<Reading> {
        return Reading{permutedAxis(axisOf(op, 0), transpose.getPerm())};
      })
      .Case([&](ReshapeOp) { return reshape(op); })
      .Case([&](SliceOp slice) -> std::optional<Reading> {
        int64_t axis = axisOf(op, 0), step = slice.getSteps()[axis];
        if (step < 1)
          return std::nullopt;
        return Reading{axis, 1, step, -slice.getStarts()[axis]};
      })
      .Case([&](PadOp pad) -> std::optional<Reading> {
        int64_t axis = axisOf(op, 0);
        bool isPadded =
            shapeOf(pad.getResult())[axis] != shapeOf(pad.getX())[axis];
        if (isPadded && pad.getMode() != "constant")
          return std::nullopt;
        return Reading{axis, 1, 1, pad.getLow()[axis], 1, /*margin=*/1};
      })
      .Case([&](ConcatOp concat) { return concatenation(concat); })
      .Case([&](GatherOp gather) -> std::optional<Reading> {
        int64_t axis = axisOf(op, 0), gathered = gather.getAxis();
        if (axis < 0 || axisOf(op, 1) >= 0)
          return std::nullopt;
        if (axis == gathered)
          return frames(gather);
        int64_t more = shapeOf(gather.getIndices()).size() - 1;
        return Reading{axis < gathered ? axis : axis + more};
      })
      .Case([&](ReductionOpInterface reduction) {
        return unless(llvm::is_contained(reduction.getAxes(), axisOf(op, 0)),
                      op);
      })
      .Case<ArgMaxOp, ArgMinOp, CumSumOp, CumProdOp, SoftmaxOp, LogSoftmaxOp,
            LRNOp>([&](auto along) {
        return unless(int64_t(along.getAxis()) == axisOf(op, 0), op);
      })
      .Case([&](LayerNormOp norm) -> std::optional<Reading> {
        int64_t axis = axisOf(op, 0),
                last = shapeOf(norm.getInput()).size() - 1;
        if (axis < 0)
          return std::nullopt;
        return unless(axis == last, op);
      })
      .Default(std::nullopt);
}

std::optional<Reading> StreamAnalysis::unless(bool mixes, Operation *op) const {
  if (mixes)
    return std::nullopt;
  return Reading{axisOf(op, 0)};
}

std::optional<Reading> StreamAnalysis::broadcast(Operation *op) const {
  int64_t rank = shapeOf(op->getResult(0)).size(), axis = -1;
  auto offset = [&](Value v) { return rank - int64_t(shapeOf(v).size()); };
  for (Value operand : op->getOperands())
    if (const Stream *stream = streamOf(operand)) {
      int64_t own = stream->axis + offset(operand);
      if (axis >= 0 && axis != own)
        return std::nullopt;
      axis = own;
    }
  for (Value operand : op->getOperands()) {
    int64_t own = axis - offset(operand);
    if (!streamOf(operand) && own >= 0 && shapeOf(operand)[own] != 1)
      return std::nullopt;
  }
  return Reading{axis};
}

template <typename OpT>
std::optional<Reading> StreamAnalysis::window(OpT op,
                                              ArrayRef<int64_t> kernel) const {
  int64_t axis = axisOf(op, 0), spatial = axis - 1;
  if (axis == 0)
    return Reading{0};
  if (axis < 0 || spatial >= int64_t(kernel.size()))
    return std::nullopt;
  return Reading{axis, (kernel[spatial] - 1) * op.getDilations()[spatial] + 1,
                 op.getStrides()[spatial], op.getLow()[spatial]};
}

std::optional<Reading> StreamAnalysis::product(Operation *op) const {
  int64_t rank = shapeOf(op->getResult(0)).size();
  int64_t axis = axisOf(op, 0);
  if (axis < 0 || axis + 1 == int64_t(shapeOf(op->getOperand(0)).size()))
    return std::nullopt;
  axis += rank - int64_t(shapeOf(op->getOperand(0)).size());
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (i == 0)
      continue;
    if (streamOf(operand))
      return std::nullopt;
    // Rows of the result do not index the right operand and its zero points.
    int64_t own = axis - (rank - int64_t(shapeOf(operand).size()));
    bool isRight = i == 1 || i == 3;
    if (isRight && axis >= rank - 2)
      continue;
    if (own >= 0 && shapeOf(operand)[own] != 1)
      return std::nullopt;
  }
  return Reading{axis};
}

std::optional<Reading> StreamAnalysis::reshape(Operation *op) const {
  int64_t axis = axisOf(op, 0);
  ArrayRef<int64_t> from = shapeOf(op->getOperand(0)),
                    to = shapeOf(op->getResult(0));
  // If the reshape merges axes, the axis of the columns must be the outermost
  // of them, so that the elements of a column stay adjacent.
  int64_t outer = ShapedType::getNumElements(from.take_front(axis)),
          inner = ShapedType::getNumElements(from.drop_front(axis + 1)),
          before = 1;
  for (auto [i, size] : llvm::enumerate(to)) {
    // Skips axes of size 1 before the axis of the columns.
    if (before == outer && size != 1) {
      int64_t after = ShapedType::getNumElements(to.drop_front(i + 1));
      if (size == from[axis] && after == inner)
        return Reading{int64_t(i)};
      // The axis is merged with inner axes: each column becomes several.
      if (size % from[axis] == 0 && size > from[axis] &&
          (size / from[axis]) * after == inner)
        return Reading{int64_t(i), 1, 1, 0, size / from[axis]};
      // The axis is split: `part` columns become one.
      if (from[axis] % size == 0 && size < from[axis]) {
        int64_t part = from[axis] / size;
        if (part * inner == after)
          return Reading{int64_t(i), part, part};
      }
      return std::nullopt;
    }
    before *= size;
  }
  return std::nullopt;
}

std::optional<Reading> StreamAnalysis::frames(GatherOp gather) const {
  auto indices = framesOf(gather);
  if (!indices)
    return std::nullopt;
  auto [least, most] =
      std::minmax_element(indices->first.begin(), indices->first.end());
  return Reading{int64_t(gather.getAxis()), *most - *least + 1, indices->step,
                 -*least};
}

std::optional<Reading> StreamAnalysis::concatenation(ConcatOp concat) const {
  std::optional<int64_t> axis;
  for (Value part : concat.getInputs()) {
    const Stream *stream = streamOf(part);
    if (!stream || (axis && *axis != stream->axis))
      return std::nullopt;
    axis = stream->axis;
  }
  if (!axis || *axis == int64_t(concat.getAxis()))
    return std::nullopt;
  return Reading{*axis};
}

} // namespace ingot::simplify::stream
