// The graph dialect's C++ face.

#ifndef INGOT_GRAPH_GRAPHDIALECT_H
#define INGOT_GRAPH_GRAPHDIALECT_H

#include "dialects/graph/ElementBuilder.h"
#include "dialects/graph/TypeRule.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/graph/GraphDialect.h.inc"
#include "dialects/graph/GraphInterfaces.h.inc"

namespace ingot::graph {

inline constexpr llvm::StringLiteral kMultipliedAttr = "graph.multiplied";

/// emitElement of every elementwise operator: loads the operands by NumPy's
/// broadcasting and applies the scalar function.
Expr emitElementwise(ElementwiseOpInterface op, ElementBuilder &b,
                     llvm::ArrayRef<Expr> idx);
/// The same operator on operands of other shapes, result shaped by
/// broadcasting.
mlir::Operation *buildPermutedElementwise(mlir::Operation *op,
                                          mlir::OpBuilder &builder,
                                          llvm::ArrayRef<int64_t> perm,
                                          mlir::ValueRange operands);
/// `op` on permuted operands with permuted results; its attributes `axis` and
/// `axes` follow the axes.
mlir::Operation *buildPermutedAxes(mlir::Operation *op,
                                   mlir::OpBuilder &builder,
                                   llvm::ArrayRef<int64_t> perm,
                                   mlir::ValueRange operands);
/// emitElement of every reduction: nested loops over the reduced axes.
Expr emitReduction(ReductionOpInterface op, ElementBuilder &b,
                   llvm::ArrayRef<Expr> idx);
/// Returns what was summed from `count` elements, divided by their number.
Expr meanOf(Expr sum, const Dim &count);
/// Whether operand `i` has the rank of the result and more than one element.
bool hasAxesOfResult(mlir::Operation *op, unsigned i);
/// Whether an operand has elements that are strings, of which there are no vectors.
bool readsStrings(mlir::Operation *op);

/// The type that sums over elements of `x` are computed in: f64, or f32.
mlir::Type realType(mlir::Value x);
llvm::SmallVector<int64_t> permuted(llvm::ArrayRef<int64_t> values,
                                    llvm::ArrayRef<int64_t> perm);
Dims permuted(llvm::ArrayRef<Dim> sizes, llvm::ArrayRef<int64_t> perm);
llvm::SmallVector<int64_t> inversePermutation(llvm::ArrayRef<int64_t> perm);

} // namespace ingot::graph

#define GET_OP_CLASSES
#include "dialects/graph/GraphOps.h.inc"

#endif // INGOT_GRAPH_GRAPHDIALECT_H
