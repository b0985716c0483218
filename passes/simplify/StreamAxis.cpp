// Rewrites a function of a whole window of columns as a function of the new
// columns, which keeps state between calls (`--stream`).
//
//   func.func @main(%x : tensor<1x49x10xf32> {kernel.stream = array<i64: 1, 1>}) -> scores
//     %c = conv %x          // 3 columns each: [1, 47, 64]
//     %p = average_pool %c  // all 47 columns
//       ->
//   func.func @main(%x : tensor<1x1x10xf32> {kernel.streamed = ..},
//                   %past : tensor<1x30xf32> {kernel.state = "window_of_x"},
//                   %past_1 : tensor<1x3008xf32> {kernel.state = "window_of_c"}) -> scores, ...
//     %window = shift %past, %x      // the last 3 columns of the input
//     %c = conv %window              // the new column: [1, 1, 64]
//     %window_1 = shift %past_1, %c  // the last 47 columns of the convolution
//     %p = average_pool %window_1
//
// One call moves the window by `hop` columns. The results are those of the
// whole function applied to the columns that the window then contains, to the
// bit wherever the order of additions does not matter, as for integers.
//
// A tensor is streamed if a move of the window moves its columns: column i of
// the tensor is column i + hop of the previous call. This does not hold for
// columns that depend on the zeros with which an operator pads the window:
// `left` columns at the beginning and `right` columns at the end. So each call
// computes the columns [0, left) and [size - right - hop, size). If these are
// all columns, the tensor is computed as a whole, as are all tensors that
// depend on the order or the number of the columns, such as a mean over the
// window. An operator that reads other columns of a streamed tensor reads them
// from a state, which keeps the columns of earlier calls.

#include "dialects/graph/ops/Movement.h"
#include "dialects/kernel/KernelDialect.h"
#include "passes/simplify/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::simplify {
#define GEN_PASS_DEF_STREAMAXIS
#include "passes/simplify/Passes.h.inc"

namespace {

/// The columns [begin, end) of a tensor.
struct Columns {
  int64_t begin, end;

  bool operator==(const Columns &other) const {
    return begin == other.begin && end == other.end;
  }
  int64_t count() const { return end - begin; }
  bool contains(Columns other) const {
    return begin <= other.begin && other.end <= end;
  }
};

/// A tensor whose columns move with the window.
struct Stream {
  /// The axis of the columns, and its size for the whole window.
  int64_t axis, size;
  /// How many columns a call adds.
  int64_t hop;
  /// How many columns at the beginning and the end depend on padding.
  int64_t left = 0, right = 0;

  Columns first() const { return {0, left}; }
  /// The columns at the end that a call computes.
  Columns last() const { return {size - right - hop, size}; }
  Columns all() const { return {0, size}; }
};

/// How the columns of an operator's result depend on those of its operands.
struct Reading {
  /// The axis of the columns in the result.
  int64_t axis;
  /// Column o of the result reads the columns o * stride - low + [0, extent) of
  /// the operands.
  int64_t extent = 1, stride = 1, low = 0;
  /// If the columns of an operand are split into several each: into how many.
  int64_t splits = 1;
  /// Columns at the beginning and the end that count as dependent on padding
  /// although they are not.
  int64_t margin = 0;

  /// Returns the columns of an operand of `size` columns that the columns
  /// `result` read.
  Columns read(Columns result, int64_t size) const {
    if (splits > 1)
      return {result.begin / splits, (result.end + splits - 1) / splits};
    return {std::max<int64_t>(0, result.begin * stride - low),
            std::min(size, (result.end - 1) * stride - low + extent)};
  }
};

Type withColumns(Value v, int64_t axis, int64_t count) {
  SmallVector<int64_t> shape(shapeOf(v));
  shape[axis] = count;
  return RankedTensorType::get(shape, elementOf(v));
}

/// Returns the multiply-adds of an operator.
int64_t macsOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case([](ConvOp conv) {
        int64_t each = 1;
        for (int64_t size : shapeOf(conv.getW()).drop_back())
          each *= size;
        return each * tensorType(conv.getResult()).getNumElements();
      })
      .Case([](MatMulOp product) {
        return shapeOf(product.getA()).back() *
               tensorType(product.getResult()).getNumElements();
      })
      .Case([](NarrowMatMulOp product) {
        return shapeOf(product.getA()).back() *
               tensorType(product.getResult()).getNumElements();
      })
      .Default(int64_t(0));
}

/// Returns the name of the node that computes `v`, or of the input.
std::string nameOf(Value v) {
  if (auto argument = dyn_cast<BlockArgument>(v)) {
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                      kernel::kOnnxNameAttr);
    return name ? name.str() : "input";
  }
  std::string found;
  v.getLoc()->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part)) {
      found = name.getName().str();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return found.empty() ? v.getDefiningOp()->getName().stripDialect().str()
                       : found;
}

/// The indices of a gather that begin with those of a frame, followed by those
/// of the next frames, each `step` larger.
struct Frames {
  SmallVector<int64_t> first;
  int64_t step;
};

/// Returns the frames that `gather` reads; nothing if its indices are others.
std::optional<Frames> framesOf(GatherOp gather) {
  auto constant = gather.getIndices().getDefiningOp<ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                           : DenseElementsAttr();
  ArrayRef<int64_t> shape = shapeOf(gather.getIndices());
  if (!elements || shape.empty() || shape.front() < 2)
    return std::nullopt;
  SmallVector<int64_t> indices;
  for (const APInt &index : elements.getValues<APInt>())
    indices.push_back(index.getSExtValue());
  size_t length = indices.size() / shape.front();
  Frames frames{{indices.begin(), indices.begin() + length},
                indices[length] - indices[0]};
  for (auto [i, index] : llvm::enumerate(indices))
    if (index < 0 ||
        index != frames.first[i % length] + int64_t(i / length) * frames.step)
      return std::nullopt;
  return frames.step > 0 ? std::optional(frames) : std::nullopt;
}

/// The columns that each tensor of a function has in common with the previous
/// call.
class Analysis {
public:
  Analysis(BlockArgument input, int64_t axis, int64_t hop) : input(input) {
    streams[input] = {axis, shapeOf(input)[axis], hop};
    for (Operation &op : input.getOwner()->without_terminator())
      if (!visit(&op))
        break;
  }

  const Stream *streamOf(Value v) const {
    auto found = streams.find(v);
    return found == streams.end() ? nullptr : &found->second;
  }
  bool isStreamed(Operation *op) const { return readings.contains(op); }
  const Reading &readingOf(Operation *op) const {
    return readings.find(op)->second;
  }
  /// The operator whose stride does not divide the columns that a call adds,
  /// and a number of times `hop` for which it would; null if there is none.
  Operation *undivided = nullptr;
  int64_t factor = 1;
  /// The first operator that reads the whole window; null if there is none.
  Operation *whole = nullptr;

  /// Returns the tensor of which the columns of `v` are kept: `v` itself, or a
  /// tensor with smaller elements from which `v` is computed column by column.
  Value keptFor(Value v) const {
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

  /// If `v` is computed from one streamed tensor by an elementwise operator, a
  /// transpose or a reshape, each column from one column, returns the number of
  /// this operand.
  std::optional<unsigned> onlyOperand(Value v) const {
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

  /// For each tensor with a state, the first column that is kept.
  llvm::MapVector<Value, int64_t> kept;

private:
  bool isFixed(Value v) const { return fixed.contains(v); }

  /// Returns false if the hop is not possible.
  bool visit(Operation *op) {
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

  /// Records that an operator reads `columns` of `v`.
  void need(Value v, Columns columns) {
    Stream stream = streams.find(v)->second;
    if (stream.first().contains(columns) || stream.last().contains(columns))
      return;
    auto [it, isNew] = kept.insert({keptFor(v), stream.last().begin});
    it->second = std::min(it->second, std::max(columns.begin, stream.left));
  }

  /// Returns the columns of the result of `op`; nothing if they do not move
  /// with the window, or if all of them depend on padding.
  std::optional<Stream> resultOf(Operation *op, const Reading &reading) {
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

  /// Returns the axis of the columns in the operand `i` of `op` if it is
  /// streamed; -1 if it is not.
  int64_t axisOf(Operation *op, unsigned i) const {
    const Stream *stream = streamOf(op->getOperand(i));
    return stream ? stream->axis : -1;
  }

  /// Returns how the result of `op` reads the columns of its operands; nothing
  /// if its columns do not move with the window.
  std::optional<Reading> readingFor(Operation *op) const {
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

  /// The columns of the result are those of the operand, unless the operator
  /// `mixes` columns.
  std::optional<Reading> unless(bool mixes, Operation *op) const {
    if (mixes)
      return std::nullopt;
    return Reading{axisOf(op, 0)};
  }

  std::optional<Reading> broadcast(Operation *op) const {
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
  std::optional<Reading> window(OpT op, ArrayRef<int64_t> kernel) const {
    int64_t axis = axisOf(op, 0), spatial = axis - 1;
    if (axis == 0)
      return Reading{0};
    if (axis < 0 || spatial >= int64_t(kernel.size()))
      return std::nullopt;
    return Reading{axis, (kernel[spatial] - 1) * op.getDilations()[spatial] + 1,
                   op.getStrides()[spatial], op.getLow()[spatial]};
  }

  /// The columns of a product are rows of its left operand.
  std::optional<Reading> product(Operation *op) const {
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
      // The last two axes of the right operand are not rows of the result.
      int64_t own = axis - (rank - int64_t(shapeOf(operand).size()));
      bool isRight = i == 1 || i == 3;
      if (isRight && axis >= rank - 2)
        continue;
      if (own >= 0 && shapeOf(operand)[own] != 1)
        return std::nullopt;
    }
    return Reading{axis};
  }

  std::optional<Reading> reshape(Operation *op) const {
    int64_t axis = axisOf(op, 0);
    ArrayRef<int64_t> from = shapeOf(op->getOperand(0)),
                      to = shapeOf(op->getResult(0));
    auto elements = [](ArrayRef<int64_t> sizes) {
      return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                             std::multiplies<int64_t>());
    };
    // The columns must be the outermost of the axes that are merged, so that
    // the elements of a column stay adjacent.
    int64_t outer = elements(from.take_front(axis)),
            inner = elements(from.drop_front(axis + 1)), before = 1;
    for (auto [i, size] : llvm::enumerate(to)) {
      // An axis of size 1 before the columns is not the columns.
      if (before == outer && size != 1) {
        int64_t after = elements(to.drop_front(i + 1));
        if (size == from[axis] && after == inner)
          return Reading{int64_t(i)};
        // Merged with inner axes.
        if (size % from[axis] == 0 && size > from[axis] &&
            (size / from[axis]) * after == inner)
          return Reading{int64_t(i), 1, 1, 0, size / from[axis]};
        // Split: an outer part stays the columns.
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

  /// A gather of overlapping frames, as of the samples of a spectrogram: each
  /// frame has the indices of the previous one plus a constant.
  std::optional<Reading> frames(GatherOp gather) const {
    auto indices = framesOf(gather);
    if (!indices)
      return std::nullopt;
    auto [least, most] =
        std::minmax_element(indices->first.begin(), indices->first.end());
    return Reading{int64_t(gather.getAxis()), *most - *least + 1, indices->step,
                   -*least};
  }

  std::optional<Reading> concatenation(ConcatOp concat) const {
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

  BlockArgument input;
  llvm::DenseMap<Value, Stream> streams;
  llvm::DenseMap<Operation *, Reading> readings;
  /// The tensors that depend on no input.
  llvm::DenseSet<Value> fixed;
};

/// Rewrites the function as the analysis says.
class Rewriter {
public:
  Rewriter(BlockArgument input, const Analysis &analysis, bool inPlace)
      : input(input),
        function(cast<func::FuncOp>(input.getOwner()->getParentOp())),
        analysis(analysis), inPlace(inPlace), builder(function.getContext()) {}

  /// The multiply-adds of a call, and those of the whole window.
  int64_t macs = 0, macsOfWindow = 0;
  unsigned streamedOps = 0;

  void run() {
    Block &block = *input.getOwner();
    SmallVector<Operation *> ops;
    for (Operation &op : block.without_terminator())
      ops.push_back(&op);
    const Stream &stream = *analysis.streamOf(input);
    // The argument of the new columns precedes that of the window, which is
    // erased when it has no readers any more.
    unsigned index = input.getArgNumber();
    (void)function.insertArgument(
        index, withColumns(input, stream.axis, stream.hop),
        function.getArgAttrDict(index), input.getLoc());
    builder.setInsertionPointToStart(&block);
    computed[input] = {Value(), function.getArgument(index), Value()};
    keep(input);
    SmallVector<Operation *> replaced;
    for (Operation *op : ops) {
      builder.setInsertionPoint(op);
      int64_t own = macsOf(op);
      macsOfWindow += own;
      if (analysis.isStreamed(op)) {
        streamResult(op);
        replaced.push_back(op);
        continue;
      }
      macs += own;
      for (OpOperand &operand : op->getOpOperands())
        if (const Stream *read = analysis.streamOf(operand.get()))
          operand.set(columns(operand.get(), read->all()));
    }
    Operation *terminator = block.getTerminator();
    builder.setInsertionPoint(terminator);
    for (OpOperand &operand : terminator->getOpOperands())
      if (const Stream *read = analysis.streamOf(operand.get()))
        operand.set(
            columns(operand.get(), {read->size - read->hop, read->size}));
    terminator->insertOperands(terminator->getNumOperands(), newStates);
    for (Operation *op : llvm::reverse(replaced))
      op->erase();
    (void)function.eraseArgument(index + 1);
    updateType();
  }

private:
  /// The columns of a streamed tensor that a call computes: those at the
  /// beginning (null if there are none) and those at the end. `window` are the
  /// columns that the state keeps.
  struct Parts {
    Value first, last, window;
  };

  /// Computes the new columns of the result of `op`.
  void streamResult(Operation *op) {
    Value result = op->getResult(0);
    const Stream &stream = *analysis.streamOf(result);
    Parts parts;
    if (stream.left)
      parts.first = compute(op, stream.first());
    parts.last = compute(op, stream.last());
    computed[result] = parts;
    ++streamedOps;
    keep(result);
  }

  /// Builds `op` for the columns `result` of its result.
  Value compute(Operation *op, Columns result) {
    const Reading &reading = analysis.readingOf(op);
    SmallVector<Value> operands;
    int64_t size = 0;
    for (Value operand : op->getOperands()) {
      const Stream *stream = analysis.streamOf(operand);
      if (stream)
        size = stream->size;
      operands.push_back(
          stream ? columns(operand, reading.read(result, stream->size))
                 : operand);
    }
    Operation *part = builder.clone(*op);
    part->setOperands(operands);
    if (auto gather = dyn_cast<GatherOp>(part))
      setFrames(gather, cast<GatherOp>(op), result.count());
    Value value = part->getResult(0);
    value.setType(cast<RankedTensorType>(
        withColumns(value, reading.axis, result.count())));
    int64_t begin = result.begin * reading.stride - reading.low,
            end = (result.end - 1) * reading.stride - reading.low +
                  reading.extent;
    setPadding(part, reading.axis, std::max<int64_t>(0, -begin),
               std::max<int64_t>(0, end - size));
    macs += macsOf(part);
    return value;
  }

  /// If `op` reads frames of columns, replaces the indices of `part`, a part of
  /// it, by those of `count` frames from the first column on.
  void setFrames(GatherOp part, GatherOp op, int64_t count) {
    if (analysis.streamOf(op.getX())->axis != int64_t(op.getAxis()))
      return;
    Frames frames = *framesOf(op);
    int64_t least = *llvm::min_element(frames.first);
    SmallVector<APInt> indices;
    auto type = cast<RankedTensorType>(withColumns(op.getIndices(), 0, count));
    unsigned bits = type.getElementTypeBitWidth();
    for (int64_t i = 0; i < count; ++i)
      for (int64_t index : frames.first)
        indices.push_back(APInt(bits, index - least + i * frames.step));
    part.getIndicesMutable().assign(ConstantOp::create(
        builder, op.getLoc(), DenseElementsAttr::get(type, indices)));
  }

  /// Sets the padding of `op` along the columns.
  void setPadding(Operation *op, int64_t axis, int64_t low, int64_t high) {
    auto with = [](ArrayRef<int64_t> values, int64_t at, int64_t value) {
      SmallVector<int64_t> changed(values);
      changed[at] = value;
      return changed;
    };
    llvm::TypeSwitch<Operation *>(op)
        .Case<ConvOp, MaxPoolOp, LpPoolOp>([&](auto window) {
          if (axis > 0)
            window.setLow(with(window.getLow(), axis - 1, low));
        })
        .Case([&](AveragePoolOp pool) {
          if (axis == 0)
            return;
          pool.setLow(with(pool.getLow(), axis - 1, low));
          pool.setHigh(with(pool.getHigh(), axis - 1,
                            std::min(pool.getHigh()[axis - 1], high)));
        })
        .Case([&](PadOp pad) { pad.setLow(with(pad.getLow(), axis, low)); })
        .Case([&](SliceOp slice) {
          slice.setStarts(with(slice.getStarts(), axis, 0));
        });
  }

  /// Returns the columns `wanted` of a streamed tensor.
  Value columns(Value v, Columns wanted) {
    const Stream &stream = *analysis.streamOf(v);
    const Parts &parts = computed.find(v)->second;
    if (stream.last().contains(wanted))
      return part(v, parts.last, stream.last(), wanted);
    if (stream.first().contains(wanted))
      return part(v, parts.first, stream.first(), wanted);
    for (auto &[columns, value] : earlier[v])
      if (columns == wanted)
        return value;
    Value value = analysis.keptFor(v) == v
                      ? fromState(v, wanted)
                      : recompute(v.getDefiningOp(), v, wanted);
    earlier[v].push_back({wanted, value});
    return value;
  }

  /// Computes the columns `wanted` of `v` again from the columns of the operand.
  Value recompute(Operation *op, Value v, Columns wanted) {
    unsigned number = *analysis.onlyOperand(v);
    Value operand = columns(op->getOperand(number), wanted);
    Operation *again = builder.clone(*op);
    again->setOperand(number, operand);
    Value value = again->getResult(0);
    value.setType(cast<RankedTensorType>(
        withColumns(value, analysis.streamOf(v)->axis, wanted.count())));
    return value;
  }

  Value fromState(Value v, Columns wanted) {
    const Stream &stream = *analysis.streamOf(v);
    const Parts &parts = computed.find(v)->second;
    Columns kept{analysis.kept.find(v)->second, stream.size - stream.right};
    SmallVector<Value> pieces;
    auto add = [&](Value from, Columns of) {
      Columns both{std::max(of.begin, wanted.begin),
                   std::min(of.end, wanted.end)};
      if (both.count() <= 0)
        return;
      assert((pieces.empty() || both.begin > wanted.begin) && from);
      pieces.push_back(part(v, from, of, both));
    };
    add(parts.first, stream.first());
    add(parts.window, kept);
    if (stream.right)
      add(slice(builder, v.getLoc(), parts.last, stream.axis, stream.hop,
                stream.right),
          {kept.end, stream.size});
    if (pieces.size() == 1)
      return pieces.front();
    return ConcatOp::create(builder, v.getLoc(), pieces, stream.axis);
  }

  /// Returns the columns `wanted` of `from`, which are the columns `of` of `v`.
  Value part(Value v, Value from, Columns of, Columns wanted) {
    return slice(builder, v.getLoc(), from, analysis.streamOf(v)->axis,
                 wanted.begin - of.begin, wanted.count());
  }

  /// Adds a state that keeps the last columns of `v`, if any are read later.
  void keep(Value v) {
    auto found = analysis.kept.find(v);
    if (found == analysis.kept.end())
      return;
    const Stream &stream = *analysis.streamOf(v);
    Parts &parts = computed.find(v)->second;
    int64_t count = stream.size - stream.right - found->second, outer = 1,
            inner = 1;
    SmallVector<int64_t> shape(shapeOf(parts.last));
    for (auto [i, size] : llvm::enumerate(shape))
      (int64_t(i) < stream.axis ? outer : inner) *=
          int64_t(i) == stream.axis ? 1 : size;
    auto type =
        RankedTensorType::get({outer, count * inner}, elementOf(parts.last));
    std::string base = "window_of_" + nameOf(v), name = base;
    for (unsigned i = 1; !names.insert(name).second; ++i)
      name = base + "_" + std::to_string(i);
    auto attrs = builder.getDictionaryAttr(
        {builder.getNamedAttr(kernel::kStateAttr, builder.getStringAttr(name)),
         builder.getNamedAttr(kernel::kOnnxNameAttr,
                              builder.getStringAttr(name))});
    Location loc = v.getLoc();
    unsigned index = function.getNumArguments();
    (void)function.insertArgument(index, type, attrs, loc);
    stateAttrs.push_back(attrs);
    Value past = function.getArgument(index);
    Value rows = slice(builder, loc, parts.last, stream.axis, 0, stream.hop);
    rows = flat(rows, outer, stream.hop * inner);
    Value next;
    if (inPlace)
      next = ShiftOp::create(builder, loc, past, rows, int64_t(1));
    else
      next = ConcatOp::create(
          builder, loc,
          ValueRange{slice(builder, loc, past, 1, stream.hop * inner,
                           (count - stream.hop) * inner),
                     rows},
          int64_t(1));
    newStates.push_back(next);
    shape[stream.axis] = count;
    parts.window = buildReshape(builder, loc, next, ArrayRef<int64_t>(shape));
  }

  Value flat(Value v, int64_t outer, int64_t inner) {
    return buildReshape(builder, v.getLoc(), v,
                        ArrayRef<int64_t>{outer, inner});
  }

  /// Updates the types and attributes of the function after new results were
  /// added.
  void updateType() {
    Block &block = *input.getOwner();
    SmallVector<DictionaryAttr> attrs;
    function.getAllResultAttrs(attrs);
    attrs.resize(function.getNumResults());
    attrs.append(stateAttrs);
    function.setFunctionType(
        FunctionType::get(function.getContext(), block.getArgumentTypes(),
                          block.getTerminator()->getOperandTypes()));
    function.setAllResultAttrs(attrs);
  }

  BlockArgument input;
  func::FuncOp function;
  const Analysis &analysis;
  bool inPlace;
  OpBuilder builder;
  llvm::DenseMap<Value, Parts> computed;
  /// Columns of earlier calls that have been read.
  llvm::DenseMap<Value, SmallVector<std::pair<Columns, Value>>> earlier;
  SmallVector<Value> newStates;
  SmallVector<DictionaryAttr> stateAttrs;
  llvm::StringSet<> names;
};

struct StreamAxisPass : impl::StreamAxisBase<StreamAxisPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (auto stream = function.getArgAttrOfType<DenseI64ArrayAttr>(
              i, kernel::kStreamAttr)) {
        function.removeArgAttr(i, kernel::kStreamAttr);
        if (failed(streamInput(function, i, stream[0], stream[1])))
          return signalPassFailure();
        return;
      }
  }

private:
  /// An error of the user, whose text begins with the option; a line break
  /// precedes the hint.
  static LogicalResult refuse(Location loc, const Twine &why,
                              const Twine &hint) {
    return emitError(loc) << "--stream: " << why << "\n" << hint;
  }

  LogicalResult streamInput(func::FuncOp function, unsigned index, int64_t axis,
                            int64_t wanted) {
    BlockArgument input = function.getArgument(index);
    bool isDynamic = llvm::any_of(function.getArgumentTypes(), [](Type type) {
      return kernel::SizesAttr::of(type) != nullptr;
    });
    function.walk([&](Operation *op) {
      isDynamic |= op != function && !op->hasTrait<OpTrait::IsTerminator>() &&
                   hasDynamicSizes(op);
    });
    if (isDynamic)
      return refuse(function.getLoc(),
                    "the model has sizes that are not constant",
                    "fix all dynamic sizes with --dim");
    int64_t size = shapeOf(input)[axis];
    if (wanted) {
      Analysis analysis(input, axis, wanted);
      if (!analysis.undivided)
        return rewrite(input, analysis, axis, wanted);
      return refuse(analysis.undivided->getLoc(),
                    "a call adds " + Twine(wanted) +
                        " columns, which the strides up to node `" +
                        nameOf(analysis.undivided->getResult(0)) +
                        "` do not divide",
                    "choose a multiple of " + Twine(leastHop(input, axis)) +
                        ", or leave the number of columns out");
    }
    int64_t hop = leastHop(input, axis);
    if (hop >= size)
      return refuse(function.getLoc(),
                    "because of the strides, a call would take " + Twine(hop) +
                        " columns, but the window has only " + Twine(size),
                    "compile the model without --stream");
    return rewrite(input, Analysis(input, axis, hop), axis, hop);
  }

  /// Returns the least number of columns that all strides along the axis divide,
  /// or a number that is not less than the window.
  static int64_t leastHop(BlockArgument input, int64_t axis) {
    int64_t hop = 1;
    while (hop < shapeOf(input)[axis]) {
      Analysis analysis(input, axis, hop);
      if (!analysis.undivided)
        break;
      hop *= analysis.factor;
    }
    return hop;
  }

  LogicalResult rewrite(BlockArgument input, const Analysis &analysis,
                        int64_t axis, int64_t hop) {
    auto function = cast<func::FuncOp>(input.getOwner()->getParentOp());
    int64_t size = shapeOf(input)[axis];
    unsigned index = input.getArgNumber();
    Location where =
        analysis.whole ? analysis.whole->getLoc() : function.getLoc();
    std::string name =
        analysis.whole && analysis.whole->getNumResults()
            ? "node `" + nameOf(analysis.whole->getResult(0)) + "`"
            : "the model";
    Rewriter rewriter(input, analysis, inPlace);
    rewriter.run();
    bool savesNothing = rewriter.macsOfWindow
                            ? rewriter.macs >= rewriter.macsOfWindow
                            : rewriter.streamedOps == 0;
    if (savesNothing)
      return refuse(
          where,
          "nothing would be saved: " + name + " needs the whole window of " +
              Twine(size) +
              " columns, or padding along the axis reaches all columns",
          "stream along another axis, export the model without padding along "
          "the axis, or compile it without --stream");
    function.setArgAttr(index, kernel::kStreamedAttr,
                        DenseI64ArrayAttr::get(function.getContext(),
                                               {axis, hop, size, rewriter.macs,
                                                rewriter.macsOfWindow}));
    return success();
  }
};

} // namespace
} // namespace ingot::simplify
