// Rewrites a function of a whole window of columns as a function of the new
// columns, which keeps state between calls (`--stream`). Columns are the slices
// of a tensor along one axis.
//
//   func.func @main(%x : tensor<1x49x10xf32>
//                        {kernel.stream = array<i64: 1, 1>}) -> scores
//     %c = conv %x          // 3 columns each: [1, 47, 64]
//     %p = average_pool %c  // all 47 columns
//       ->
//   func.func @main(%x : tensor<1x1x10xf32> {kernel.streamed = ..},
//                   %past : tensor<1x30xf32> {kernel.state = "window_of_x"},
//                   %past_1 : tensor<1x3008xf32>
//                             {kernel.state = "window_of_c"}) -> scores, ...
//     %window = shift %past, %x      // the last 3 columns of the input
//     %c = conv %window              // the new column: [1, 1, 64]
//     %window_1 = shift %past_1, %c  // the last 47 columns of the convolution
//     %p = average_pool %window_1
//
// One call moves the window by `hop` columns. The results are those of the
// original function applied to the columns that the window then contains; they
// have the same bits if the order of additions does not matter, as for
// integers.
//
// A tensor is streamed if a move of the window moves its columns: column i of
// the tensor is column i + hop of the previous call. This does not hold for
// columns that depend on the padding that an operator adds to the window: the
// first `left` and the last `right` columns. So each call computes the columns
// [0, left) and [size - right - hop, size). If these are all columns, the
// tensor is computed as a whole, as are all tensors that depend on the order or
// the number of the columns, such as a mean over the window. An operator that
// reads other columns of a streamed tensor reads them from a state, which keeps
// the columns of earlier calls, or computes them again from the state of a
// tensor with smaller elements.

#include "dialects/graph/ops/Contraction.h"
#include "dialects/graph/ops/Movement.h"
#include "dialects/kernel/KernelDialect.h"
#include "passes/simplify/Passes.h"
#include "passes/simplify/StreamAnalysis.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::simplify {
#define GEN_PASS_DEF_STREAMAXIS
#include "passes/simplify/Passes.h.inc"

namespace {

using namespace stream;

Type withColumns(Value v, int64_t axis, int64_t count) {
  SmallVector<int64_t> shape(shapeOf(v));
  shape[axis] = count;
  return RankedTensorType::get(shape, elementOf(v));
}

/// Returns the name of the ONNX node that computes `v`, or of the input `v`.
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

/// Rewrites the function of `input` to compute only new columns, as `analysis`
/// has determined.
class Rewriter {
public:
  Rewriter(BlockArgument input, const StreamAnalysis &analysis, bool inPlace)
      : input(input),
        function(cast<func::FuncOp>(input.getOwner()->getParentOp())),
        analysis(analysis), inPlace(inPlace), builder(function.getContext()) {}

  /// The multiply-adds of a call, and those of the original function.
  int64_t macs = 0, macsOfWindow = 0;
  unsigned streamedOps = 0;

  void run() {
    Block &block = *input.getOwner();
    SmallVector<Operation *> ops;
    for (Operation &op : block.without_terminator())
      ops.push_back(&op);
    const Stream &stream = *analysis.streamOf(input);
    // Inserts the argument of the new columns before that of the window, which
    // is erased when it has no readers any more.
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
      int64_t own = multiplyAddsOf(op);
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
  /// columns in the tensor's state after the call (null without a state).
  struct Parts {
    Value first, last, window;
  };

  /// Computes the columns of the result of `op` that each call computes.
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

  /// Builds a clone of `op` that computes the columns `result` of its result.
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
    macs += multiplyAddsOf(part);
    return value;
  }

  /// If `op` gathers frames of columns, replaces the indices of `part`, a clone
  /// of it, by those of `count` frames, relative to the first column that they
  /// read.
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
    OpBuilder before(part);
    part.getIndicesMutable().assign(ConstantOp::create(
        before, op.getLoc(), DenseElementsAttr::get(type, indices)));
  }

  /// Sets the padding of `op` along the axis of its columns. The start of a
  /// slice becomes 0, because its operand begins with the first column read.
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

  /// Computes the columns `wanted` of `v`, the result of `op`, again from the
  /// same columns of its only streamed operand.
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

  /// Adds a state that keeps the last columns of `v`, if later calls read any,
  /// and computes its next value.
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

  /// Updates the types and attributes of the function for the new arguments and
  /// results.
  void updateType() {
    Block &block = function.front();
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
  const StreamAnalysis &analysis;
  bool inPlace;
  OpBuilder builder;
  llvm::DenseMap<Value, Parts> computed;
  /// For each tensor, the ranges of columns that columns() has already built
  /// from states, each with the value that holds it.
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
  /// Reports that --stream cannot be applied. A line break separates the
  /// message from the hint.
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
      StreamAnalysis analysis(input, axis, wanted);
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
    return rewrite(input, StreamAnalysis(input, axis, hop), axis, hop);
  }

  /// Returns the least number of columns that all strides along the axis
  /// divide, or a number that is not less than the size of the window.
  static int64_t leastHop(BlockArgument input, int64_t axis) {
    int64_t hop = 1;
    while (hop < shapeOf(input)[axis]) {
      StreamAnalysis analysis(input, axis, hop);
      if (!analysis.undivided)
        break;
      hop *= analysis.factor;
    }
    return hop;
  }

  LogicalResult rewrite(BlockArgument input, const StreamAnalysis &analysis,
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
