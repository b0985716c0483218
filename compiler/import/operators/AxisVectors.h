// Vectors of integers with an element for each axis of a tensor.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_AXISVECTORS_H
#define INGOT_COMPILER_IMPORT_OPERATORS_AXISVECTORS_H

#include "compiler/import/operators/OnnxImport.h"

namespace ingot::graph {

/// Returns attribute `name` in opsets before `sinceInput`, and input `i` since
/// then, as an si64 vector; null if this attribute or input is absent. Numbers
/// whose magnitude exceeds 2^39 are clamped to it, so that the arithmetic on
/// positions does not overflow: exporters write INT64_MAX for the end of an
/// axis.
mlir::FailureOr<mlir::Value> positionsFrom(OnnxNode &node, llvm::StringRef name,
                                           int64_t sinceInput, unsigned i);
/// Returns `vector`, which has one element per axis, with values[i] in place of
/// the element of axis axes[i]. Fails with a diagnostic if the axes are known
/// when compiling, and one of them is repeated or out of range.
mlir::FailureOr<mlir::Value> putOnAxes(OnnxNode &node, mlir::Value vector,
                                       mlir::Value axes, mlir::Value values);
/// Returns the elements of an si64 vector if all of them are numbers.
std::optional<llvm::SmallVector<int64_t>> numbersOf(OnnxNode &node,
                                                    mlir::Value vector);
/// Returns element `i` of an si64 vector as a vector: the sizes of which it is
/// an expression, if there are any, in place of a computed value.
mlir::Value elementAt(OnnxNode &node, mlir::Value vector, int64_t i);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_AXISVECTORS_H
