//===- Strategy.h - how a fusion group becomes loops ------------*- C++ -*-===//
//
// A strategy builds the loops of one kind of group for its very shapes, its
// epilogue and the target. `decide` asks which one takes a group (the first in
// Strategies.def that matches); `schedule` has it build the code.
//
//===----------------------------------------------------------------------===//

#ifndef INGOT_PASSES_KERNEL_STRATEGY_H
#define INGOT_PASSES_KERNEL_STRATEGY_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "targets/TargetDescription.h"

namespace ingot::kernel {

/// The operators of one group: a block that ends with a terminator whose
/// operands are the results.
struct GroupView {
  mlir::Block *block;

  mlir::ValueRange results() const {
    return block->getTerminator()->getOperands();
  }
  /// The one operator that is neither elementwise nor a mere movement; null if
  /// there is none or more than one.
  mlir::Operation *anchor() const;
  bool isElementwise() const;
  /// Whether sums keep the order of their terms.
  bool isStrict() const;
};

/// On the module: floating-point operations keep their order.
inline constexpr llvm::StringLiteral kStrictAttr = "ingot.strict";

/// What a strategy builds in: the kernel function with its buffers bound.
class KernelBuilder : public graph::BodyBuilder {
public:
  KernelBuilder(mlir::OpBuilder &builder, mlir::func::FuncOp function,
                GroupView group, const TargetDescription &target,
                mlir::ValueRange outputs)
      : BodyBuilder(builder, function.getLoc(), outputs), group(group),
        target(target), function(function) {}

  GroupView group;
  const TargetDescription &target;
  mlir::func::FuncOp function;

  /// The result tensor `i`, its type.
  mlir::Value result(unsigned i = 0) const { return group.results()[i]; }

  /// for i in [0, extent), divided among threads where there are any. Once per
  /// kernel, outermost.
  void parallelFor(int64_t extent, llvm::function_ref<void(graph::Expr)> body);
  /// Runs `body(i, lanes)` over [0, size) in the target's vectors of `type`,
  /// then the rest in narrower ones. `widest` limits the lanes.
  void forLanes(int64_t size, mlir::Type type,
                llvm::function_ref<void(graph::Expr i, int64_t lanes)> body,
                int64_t widest = 0);
  /// The result `i` may be written over operand `operand`.
  void allowInPlace(unsigned result, unsigned operand);
  /// The same buffer under another shape; null if its strides do not allow it
  /// (outputs may lie inside a larger tensor).
  mlir::Value view(mlir::Value buffer, llvm::ArrayRef<int64_t> shape);
  /// Whether an output is a tensor of its own.
  bool isContiguous(unsigned output) const;
  /// Adds an output that is only scratch memory: live while the kernel runs.
  mlir::Value scratch(llvm::ArrayRef<int64_t> shape, mlir::Type type);
};

class Strategy {
public:
  virtual ~Strategy() = default;
  virtual llvm::StringRef name() const = 0;
  /// Whether it takes this group on this target.
  virtual bool matches(GroupView group,
                       const TargetDescription &target) const = 0;
  virtual void emit(KernelBuilder &b) const = 0;
};

/// The first strategy that takes the group. The last ones take anything.
const Strategy &selectStrategy(GroupView group,
                               const TargetDescription &target);
const Strategy *lookupStrategy(llvm::StringRef name);

} // namespace ingot::kernel

#endif // INGOT_PASSES_KERNEL_STRATEGY_H
