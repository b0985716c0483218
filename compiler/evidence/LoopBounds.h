// Finds how often the loops of a kernel iterate, from its operations.

#ifndef INGOT_COMPILER_EVIDENCE_LOOPBOUNDS_H
#define INGOT_COMPILER_EVIDENCE_LOOPBOUNDS_H

#include "dialects/kernel/KernelModule.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <map>
#include <optional>
#include <string>

namespace ingot {

/// How often a loop iterates each time that it is entered.
struct LoopBound {
  int64_t least = 0;
  /// The largest number of iterations; no value if it is not known.
  std::optional<int64_t> most;
  /// The number of iterations in terms of dynamic sizes and of the counters of
  /// outer loops; empty if it is a constant or cannot be stated.
  std::string formula;

  bool isExact() const { return most && *most == least; }
};

/// Computes the ranges of integer values in the functions of a module.
class IntegerRanges {
public:
  explicit IntegerRanges(mlir::ModuleOp module);

  LoopBound boundOf(mlir::scf::ForOp loop);
  LoopBound boundOf(kernel::LoopOp loop) const;

private:
  /// A range of integers; the limits of int64_t stand for unknown ends.
  struct Range {
    int64_t least, most;
  };
  /// A sum of values times constants, plus a constant.
  struct Sum {
    /// The values and their factors, in the order in which the values occur, so
    /// that results are deterministic.
    llvm::SmallVector<std::pair<mlir::Value, int64_t>> terms;
    int64_t constant = 0;

    void add(const Sum &other, int64_t factor);
  };

  Range rangeOf(mlir::Value value);
  Range computeRange(mlir::Value value);
  Range rangeOfArgument(mlir::BlockArgument argument);
  Range rangeOf(const Sum &sum);
  Sum sumOf(mlir::Value value);
  /// Returns the range of `a` - `b`. If `a` is a minimum or `b` a maximum, also
  /// considers the differences for its operands, recursively; `depth` is the
  /// depth of this recursion, which is limited to 4.
  Range difference(mlir::Value a, mlir::Value b, unsigned depth = 0);
  /// Returns `value` as an expression of dynamic sizes, loop counters and the
  /// begin and end of a parallel loop, such as "(n - 1)"; empty if it depends
  /// on anything else.
  std::string textOf(mlir::Value value);

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  llvm::DenseMap<mlir::Value, Range> ranges;
  /// For each kernel, the ranges of the integers that its callers pass, by the
  /// index of the argument.
  llvm::DenseMap<mlir::Operation *, std::map<unsigned, Range>> passed;
};

} // namespace ingot

#endif // INGOT_COMPILER_EVIDENCE_LOOPBOUNDS_H
