// Which values become variables.
//
// Decides, for one function and before any text is written, how its SSA values
// appear in C:
//   - a *nested* operation has no statement: its text stands in its one use;
//   - values that *share* a variable are one mutable local: a loop's carried
//     value, what updates it on its way to the yield, and the loop's result.
//
//     %r = scf.for .. iter_args(%a = %z) {        f32x16 acc0 = f32x16{};
//       %w = vector.load %x[%i]                   for (...)
//       %n = vector.fma %w, %s, %a          =>      acc0 += load(x, i) * s;
//       scf.yield %n
//     }
//
// Statements keep their order: compilers schedule well, but they start from
// what they read, and a kernel's author ordered loads and multiplies with care.
//
// What is guaranteed: no expression moves over a write to what it reads, over
// the assignment of a variable or a load into a register that it names, or into
// a loop.

#ifndef INGOT_CODEGEN_KERNEL_PLACEMENT_H
#define INGOT_CODEGEN_KERNEL_PLACEMENT_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace ingot {

class Placement {
public:
  explicit Placement(mlir::Region &body);

  /// No statement: the text stands where the value is used.
  bool isNested(mlir::Operation *op) const { return nested.contains(op); }
  /// An scf.if to be written `c ? a : b`, nested or not.
  bool isConditional(mlir::Operation *op) const {
    return conditionals.contains(op);
  }
  /// One of the values in the variable; the same for all who share it.
  mlir::Value variable(mlir::Value value) const;
  /// Whether the value lives in a variable that is assigned again.
  bool isShared(mlir::Value value) const { return leader.contains(value); }
  /// Whether the variable is of sums of products that become floats with their sign.
  bool isReadSigned(mlir::Value value) const {
    return readSigned.contains(variable(value));
  }

private:
  void findChains(mlir::Region &body);
  void findSigns(mlir::Region &body);
  void findNested(mlir::Block &block);
  void confirmNested(mlir::Block &block);
  void shareUpdates(mlir::Operation *loop);
  void share(mlir::Value a, mlir::Value b);

  bool followToYield(mlir::Value carried, mlir::Value yielded,
                     llvm::SmallVectorImpl<mlir::Value> &path);
  unsigned occurrences(mlir::Value value) const;
  bool leavesOthers(mlir::Operation *load) const;
  mlir::Operation *statementOf(mlir::Operation *op) const;
  bool standsBefore(mlir::Operation *reader, mlir::Operation *update) const;

  llvm::DenseSet<mlir::Operation *> nested, conditionals;
  /// Operations that must be statements, since they assign a variable.
  llvm::DenseSet<mlir::Operation *> pinned;
  llvm::DenseMap<mlir::Operation *, unsigned> weight;
  llvm::DenseMap<mlir::Value, mlir::Value> leader;
  /// Of variables that are shared.
  llvm::DenseSet<mlir::Value> readSigned;
};

/// An operation whose text is short and costs nothing however often it stands
/// there: scalar constants, splats of floats, the lane of a vector of one.
bool isTransparent(mlir::Operation *op);

/// How often the text of `op` contains that of its operand `index`.
unsigned textualUses(mlir::Operation *op, unsigned index);

} // namespace ingot

#endif // INGOT_CODEGEN_KERNEL_PLACEMENT_H
