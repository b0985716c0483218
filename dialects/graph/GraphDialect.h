// C++ declarations of the graph dialect.

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

/// Implements emitElement of elementwise operators: loads the operands by
/// NumPy's broadcasting and applies the scalar function.
Expr emitElementwise(ElementwiseOpInterface op, ElementBuilder &b,
                     llvm::ArrayRef<Expr> idx);
/// Builds the elementwise operator `op` on operands whose axes are permuted by
/// `perm`; the shape of the result is permuted too. Returns null if an operand
/// of several elements has another rank than the result.
mlir::Operation *buildPermutedElementwise(mlir::Operation *op,
                                          mlir::OpBuilder &builder,
                                          llvm::ArrayRef<int64_t> perm,
                                          mlir::ValueRange operands);
/// Builds `op` on operands and results whose axes are permuted by `perm`; its
/// attributes `axis` and `axes` are adapted.
mlir::Operation *buildPermutedAxes(mlir::Operation *op,
                                   mlir::OpBuilder &builder,
                                   llvm::ArrayRef<int64_t> perm,
                                   mlir::ValueRange operands);
/// Implements emitElement of reductions: nested loops over the reduced axes.
Expr emitReduction(ReductionOpInterface op, ElementBuilder &b,
                   llvm::ArrayRef<Expr> idx);
/// Returns `sum`, a sum over `count` elements, divided by `count`.
Expr meanOf(Expr sum, const Dim &count);
/// Whether operand `i` has the rank of the result and more than one element.
bool hasAxesOfResult(mlir::Operation *op, unsigned i);
/// Whether an operand has elements of type string, of which there are no
/// vectors.
bool readsStrings(mlir::Operation *op);

/// Returns the type in which elements of `x` are summed: f64 or f32.
mlir::Type realType(mlir::Value x);
llvm::SmallVector<int64_t> permuted(llvm::ArrayRef<int64_t> values,
                                    llvm::ArrayRef<int64_t> perm);
Dims permuted(llvm::ArrayRef<Dim> sizes, llvm::ArrayRef<int64_t> perm);
llvm::SmallVector<int64_t> inversePermutation(llvm::ArrayRef<int64_t> perm);

} // namespace ingot::graph

#define GET_OP_CLASSES
#include "dialects/graph/GraphOps.h.inc"

namespace ingot::graph {

/// Whether a fusion group stores its result in the memory of its first operand,
/// a state (a value that is kept from one run to the next).
inline bool storesInPlace(GroupOp group) {
  return llvm::any_of(group.getBody().front(), [](mlir::Operation &op) {
    return op.hasTrait<InPlace>();
  });
}

} // namespace ingot::graph

#endif // INGOT_GRAPH_GRAPHDIALECT_H
