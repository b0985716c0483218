// The input of a depthwise convolution as a stream of channels
// (ChannelStream.h), loaded and interleaved in registers for dot products.
//
// For kernel columns a, b, c of channels 0, 1, ..., each in its own register:
//
//   x at kernel columns a, b, c                  a0 a1 .. | b0 b1 .. | c0 c1 ..
//   interleaved with a column of zeros           a0 b0 c0 0  a1 b1 c1 0  ..
//
// With a stride of 2, a register takes every second position. The input columns
// 0 to 7, in two registers, become:
//
//   0 2 4 6 for kernel column 0, and 1 3 5 7 for kernel column 1
//
// If a register does not have a whole number of positions, it is merged from
// several registers. Each of these is loaded such that one of the positions is
// in place.

#ifndef INGOT_PASSES_SCHEDULE_TILES_STREAMINPUT_H
#define INGOT_PASSES_SCHEDULE_TILES_STREAMINPUT_H

#include "passes/schedule/tiles/ChannelStream.h"

#include <map>

namespace ingot::schedule {

/// A register of a row's results: the index of its first result in the row
/// (`start`), the position and the channel of that result (`column`,
/// `channel`), and the start of its window in the input row (`input`).
struct StreamPlace {
  graph::Expr start, column, channel, input;
  /// For registers merged from several positions: for each position after the
  /// first, a mask of the bytes that belong to that position or to a later one.
  graph::Exprs isBehind;
  /// The vectors of weights that stay in registers. The key of vector number v
  /// for group number g of kernel columns, counted over all kernel rows, is g *
  /// (lanes of a register) + v.
  std::map<int64_t, graph::Expr> weights;
};

class StreamInput {
public:
  StreamInput(KernelBuilder &b, graph::ConvOp conv,
              const ChannelStream &stream);

  /// The bytes of an input row, and the number of results of a row.
  int64_t pitch;
  graph::Expr resultsOfRow;

  /// Emits the computation of the distances between the loads of `rows` input
  /// rows, if the C++ compiler of the generated code must not know these
  /// distances. Also sets resultsOfRow. To be called before the loops.
  void hideDistances(int64_t rows);
  /// Calls `body` for each register of a row of results.
  void overRegisters(llvm::function_ref<void(StreamPlace)> body);
  /// Returns the inputs at all kernel columns, for the input row that begins
  /// `row` bytes after `start`. They are interleaved in groups of kernel
  /// columns. Each group has one vector for each vector of sums.
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
  /// The number 1, and distances in bytes, as values that the C++ compiler of
  /// the generated code cannot fold. `one` is null if distances need not be
  /// hidden.
  graph::Expr one;
  std::map<int64_t, graph::Expr> distances;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_STREAMINPUT_H
