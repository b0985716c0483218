// The input of a stream of channels (ChannelStream.h), in registers for dot
// products.
//
//   x at kernel columns 0 to 2, a register each  a0 a1 .. | b0 b1 .. | c0 c1 ..
//   interleaved with a zero column               a0 b0 c0 0  a1 b1 c1 0  ..
//
// With a stride of 2, a register takes every second position:
//
//   input columns 0 to 3 | 4 to 7
//     -> columns 0 2 4 6 for kernel column 0, 1 3 5 7 for kernel column 1
//
// If positions do not fill a register evenly, it is merged from registers that
// each have one of its positions in place.

#ifndef INGOT_PASSES_SCHEDULE_TILES_STREAMINPUT_H
#define INGOT_PASSES_SCHEDULE_TILES_STREAMINPUT_H

#include "passes/schedule/tiles/ChannelStream.h"

#include <map>

namespace ingot::schedule {

/// A register of a row: its start in the row's results, its first position and
/// channel, and the start of its first window in the input row.
struct StreamPlace {
  graph::Expr start, column, channel, input;
  /// For merged registers: masks of the bytes that belong to each later
  /// position or one after it.
  graph::Exprs isBehind;
  /// Weights that stay in registers, with the key step * (lanes of a register)
  /// + vector.
  std::map<int64_t, graph::Expr> weights;
};

class StreamInput {
public:
  StreamInput(KernelBuilder &b, graph::ConvOp conv,
              const ChannelStream &stream);

  /// Bytes of an input row, and number of results of a row.
  int64_t pitch;
  graph::Expr resultsOfRow;

  /// Computes the distances of loads for `rows` input rows, before the loops,
  /// if they should be hidden from the compiler of the generated code.
  void hideDistances(int64_t rows);
  /// Calls `body` for each register of a row, with its position.
  void overRegisters(llvm::function_ref<void(StreamPlace)> body);
  /// Returns the inputs at all kernel columns, for the input row that begins
  /// `row` bytes after `start`. They are interleaved in groups of kernel
  /// columns; each group has a part for each vector of sums.
  llvm::SmallVector<graph::Exprs> interleaved(graph::Expr start, int64_t row,
                                              const StreamPlace &place);

private:
  using Load = llvm::function_ref<graph::Expr(int64_t)>;

  bool hidesDistances() const;
  StreamPlace placeOf(graph::Expr start, graph::Expr column,
                      graph::Expr channel, int64_t parts);
  graph::Expr isFromPosition(const StreamPlace &place, int64_t part);
  graph::Expr tap(int64_t column, const StreamPlace &place, Load load);
  graph::Expr eachSecond(graph::Expr low, graph::Expr high, int64_t odd);

  KernelBuilder &b;
  ChannelStream stream;
  mlir::Type type;
  mlir::Value input;
  /// The number 1, and byte distances, in a form that the compiler of the
  /// generated code cannot fold; null if they need not be hidden.
  graph::Expr one;
  std::map<int64_t, graph::Expr> distances;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_STREAMINPUT_H
