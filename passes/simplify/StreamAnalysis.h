// Finds the streamed tensors of a function, and the columns of these tensors
// that operators read from earlier calls. A column is a slice of a tensor at
// one index of the streamed axis; StreamAxis.cpp explains streamed tensors.

#ifndef INGOT_PASSES_SIMPLIFY_STREAMANALYSIS_H
#define INGOT_PASSES_SIMPLIFY_STREAMANALYSIS_H

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/Movement.h"
#include "llvm/ADT/MapVector.h"

#include <optional>

namespace ingot::simplify::stream {

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

/// A streamed tensor: column i is column i + hop of the previous call, except
/// for columns that depend on padding.
struct Stream {
  /// The axis of the columns, and its size for the whole input window.
  int64_t axis, size;
  /// The number of new columns in each call.
  int64_t hop;
  /// The numbers of columns at the beginning and at the end that depend on
  /// padding.
  int64_t left = 0, right = 0;

  Columns first() const { return {0, left}; }
  /// The columns at the end that each call computes: the new ones, and those
  /// that depend on padding.
  Columns last() const { return {size - right - hop, size}; }
  Columns all() const { return {0, size}; }
};

/// How the columns of an operator's result depend on those of its operands.
struct Reading {
  /// The axis of the columns in the result.
  int64_t axis;
  /// Column o of the result reads `extent` columns of the operands, from column
  /// o * stride - low on.
  int64_t extent = 1, stride = 1, low = 0;
  /// The number of columns of the result into which a reshape splits each
  /// column of the operand.
  int64_t splits = 1;
  /// The number of columns beside the padding that are treated as dependent on
  /// it, so that each computed part reads at least one column of the operand.
  int64_t margin = 0;

  /// Returns the columns that the columns `result` of the result read of an
  /// operand with `size` columns.
  Columns read(Columns result, int64_t size) const {
    if (splits > 1)
      return {result.begin / splits, (result.end + splits - 1) / splits};
    return {std::max<int64_t>(0, result.begin * stride - low),
            std::min(size, (result.end - 1) * stride - low + extent)};
  }
};

/// The constant indices of a gather that reads overlapping frames: `first` are
/// those of the first frame; those of each next frame are `step` larger.
struct Frames {
  llvm::SmallVector<int64_t> first;
  int64_t step;
};

/// Returns the frames that `gather` reads; nullopt if its indices do not have
/// this form.
std::optional<Frames> framesOf(graph::GatherOp gather);

/// Determines which tensors of a function are streamed if each call adds `hop`
/// columns along an axis of one input, and which columns need a state.
class StreamAnalysis {
public:
  StreamAnalysis(mlir::BlockArgument input, int64_t axis, int64_t hop);

  const Stream *streamOf(mlir::Value v) const;
  bool isStreamed(mlir::Operation *op) const { return readings.contains(op); }
  const Reading &readingOf(mlir::Operation *op) const {
    return readings.find(op)->second;
  }
  /// The operator whose stride does not divide the number of columns that a
  /// call adds, null if there is none; and the least factor by which `hop` must
  /// be multiplied for this stride.
  mlir::Operation *undivided = nullptr;
  int64_t factor = 1;
  /// The first operator that reads the whole window; null if there is none.
  mlir::Operation *whole = nullptr;

  /// Returns the tensor whose columns a state keeps for readers of `v`: `v`
  /// itself, or a tensor with smaller elements from which `v` is computed
  /// column by column.
  mlir::Value keptFor(mlir::Value v) const;

  /// Returns the number of the only streamed operand of the operator that
  /// computes `v`, if this is an elementwise operator, a transpose or a reshape
  /// that computes each column from one column; otherwise nullopt.
  std::optional<unsigned> onlyOperand(mlir::Value v) const;

  /// Maps each tensor with a state to the first column that the state keeps.
  llvm::MapVector<mlir::Value, int64_t> kept;

private:
  bool isFixed(mlir::Value v) const { return fixed.contains(v); }
  /// Analyzes an operator. Returns false if its stride does not divide the
  /// columns that a call adds (see `undivided`).
  bool visit(mlir::Operation *op);
  /// Records that an operator reads `columns` of `v`: they need a state, unless
  /// each call computes them.
  void need(mlir::Value v, Columns columns);
  /// Returns the form of the result of `op` as a streamed tensor; nullopt if it
  /// is not streamed because its operands have different columns, too many
  /// columns depend on padding, or the stride does not divide the columns that
  /// a call adds (sets `undivided`).
  std::optional<Stream> resultOf(mlir::Operation *op, const Reading &reading);
  /// Returns the axis of the columns in operand `i` of `op`; -1 if the operand
  /// is not streamed.
  int64_t axisOf(mlir::Operation *op, unsigned i) const;
  /// Returns how the result of `op` reads the columns of its operands; nullopt
  /// if the result is not streamed.
  std::optional<Reading> readingFor(mlir::Operation *op) const;
  /// Returns the reading of an operator that computes each column from the same
  /// column of its operand; nullopt if it `mixes` columns.
  std::optional<Reading> unless(bool mixes, mlir::Operation *op) const;
  std::optional<Reading> broadcast(mlir::Operation *op) const;
  template <typename OpT>
  std::optional<Reading> window(OpT op, llvm::ArrayRef<int64_t> kernel) const;
  /// Returns the reading of a matrix multiplication whose columns are rows or
  /// batches of its left operand.
  std::optional<Reading> product(mlir::Operation *op) const;
  std::optional<Reading> reshape(mlir::Operation *op) const;
  /// Returns the reading of a gather of overlapping frames, such as the frames
  /// of samples of a spectrogram.
  std::optional<Reading> frames(graph::GatherOp gather) const;
  std::optional<Reading> concatenation(graph::ConcatOp concat) const;

  llvm::DenseMap<mlir::Value, Stream> streams;
  llvm::DenseMap<mlir::Operation *, Reading> readings;
  /// The tensors that depend on no input.
  llvm::DenseSet<mlir::Value> fixed;
};

} // namespace ingot::simplify::stream

#endif // INGOT_PASSES_SIMPLIFY_STREAMANALYSIS_H
