// The input of a stream of channels, in registers that products can take.
//
//   x at kernel columns 0 to 2, one register each      a0 a1 .. | b0 b1 .. | c0 c1 ..
//   interleaved, missing columns as zeros              a0 b0 c0 0  a1 b1 c1 0  ..
//
// At a stride of 2 a register takes each second position:
//
//   input columns 0 to 3 | 4 to 7  ->  columns 0 2 4 6 at kernel column 0, 1 3 5 7 at 1
//
// and where positions do not fill a register evenly, it is merged from registers that
// each have one of its positions at the right place.

#ifndef INGOT_PASSES_SCHEDULE_TILES_STREAMINPUT_H
#define INGOT_PASSES_SCHEDULE_TILES_STREAMINPUT_H

#include "passes/schedule/tiles/ChannelStream.h"

#include <map>

namespace ingot::schedule {

/// A register of a row: where it begins among the row's results, at which position and
/// channel, and where in a row of the input its first window begins.
struct StreamPlace {
  graph::Expr start, column, channel, input;
  /// For registers that are merged, which of their bytes belong to which later position,
  /// or one behind it.
  graph::Exprs isBehind;
  /// Weights that stay in registers, by their number.
  std::map<int64_t, graph::Expr> weights;
};

class StreamInput {
public:
  StreamInput(KernelBuilder &b, graph::ConvOp conv,
              const ChannelStream &stream);

  /// Bytes of a row of the input, and results of a row.
  int64_t pitch;
  graph::Expr resultsOfRow;

  /// Names the distances of what `rows` rows of the input load, in front of the loops,
  /// where the compiler of the generated code is not to know them.
  void hideDistances(int64_t rows);
  /// Calls `body` for each register of a row, with its place.
  void overRegisters(llvm::function_ref<void(StreamPlace)> body);
  /// The row of the input that is `row` bytes behind `start`, at all kernel columns, in
  /// groups of these, each of them in parts for one vector of sums.
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
  /// The number 1, and numbers of bytes, that the compiler of the generated code does not
  /// see; none where it may.
  graph::Expr one;
  std::map<int64_t, graph::Expr> distances;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_STREAMINPUT_H
