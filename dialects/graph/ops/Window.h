// Code that convolutions and pools share: which kernel positions are inside the
// input.

#ifndef INGOT_DIALECTS_GRAPH_OPS_WINDOW_H
#define INGOT_DIALECTS_GRAPH_OPS_WINDOW_H

#include "dialects/graph/GraphDialect.h"

namespace ingot::graph {

/// Whether no window along an axis reaches into padding. The first window
/// begins `low` positions before the input; each following window begins
/// `stride` positions after the previous one.
bool hasNoBorders(const Dim &input, const Dim &output, int64_t kernel,
                  int64_t stride, int64_t dilation, int64_t low);

/// Returns the kernel positions [lo, hi) of one axis that lie inside an input
/// of `size`, for a window that begins at `start` (which may be negative).
std::pair<Expr, Expr> insideWindow(Expr start, const Dim &kernel,
                                   int64_t dilation, const Dim &size);

/// Emits loops over those kernel positions, along all spatial axes, that lie
/// inside the input for the output position `idx` (batch, spatial..., channel).
/// Calls `body` with the kernel position, the input position and the
/// accumulator, which begins as `init`; returns the final accumulator.
Expr overWindow(ElementBuilder &b, llvm::ArrayRef<Expr> idx,
                llvm::ArrayRef<Dim> inputShape, llvm::ArrayRef<Dim> outputShape,
                llvm::ArrayRef<Dim> kernel, llvm::ArrayRef<int64_t> strides,
                llvm::ArrayRef<int64_t> dilations, llvm::ArrayRef<int64_t> low,
                Expr init,
                llvm::function_ref<Expr(llvm::ArrayRef<Expr> k,
                                        llvm::ArrayRef<Expr> at, Expr acc)>
                    body);
/// Like that, with several accumulators.
Exprs overWindow(
    ElementBuilder &b, llvm::ArrayRef<Expr> idx, llvm::ArrayRef<Dim> inputShape,
    llvm::ArrayRef<Dim> outputShape, llvm::ArrayRef<Dim> kernel,
    llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> dilations,
    llvm::ArrayRef<int64_t> low, llvm::ArrayRef<Expr> init,
    llvm::function_ref<Exprs(llvm::ArrayRef<Expr> k, llvm::ArrayRef<Expr> at,
                             llvm::ArrayRef<Expr> accs)>
        body);

/// Returns the mean of the window of `pool` at `idx`, whose elements add up to
/// `sum`.
Expr meanOfWindow(ElementBuilder &b, AveragePoolOp pool,
                  llvm::ArrayRef<Expr> idx, Expr sum);

} // namespace ingot::graph

#endif // INGOT_DIALECTS_GRAPH_OPS_WINDOW_H
