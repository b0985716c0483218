// Finds where the control flow of kernels depends on the data of a run: on the
// elements of tensors, not on sizes or constants of the model.

#ifndef INGOT_COMPILER_EVIDENCE_DATAFLOW_H
#define INGOT_COMPILER_EVIDENCE_DATAFLOW_H

#include "dialects/kernel/KernelModule.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"

#include <vector>

namespace ingot {

class DataFlow {
public:
  /// How data determine what is executed.
  enum class Effect {
    Branch,  ///< the condition of an `if`
    Loop,    ///< the number of iterations of a loop
    Choice,  ///< a conditional expression or a short-circuit operator
    Address, ///< the address of an access, which caches make visible in time
    Call,    ///< an external function, about which nothing is known
  };
  struct Place {
    Effect effect;
    mlir::Operation *op;
  };

  explicit DataFlow(mlir::ModuleOp module);

  /// Returns the places of a kernel or program at which data determine what is
  /// executed, in order. Functions that it calls have places of their own.
  std::vector<Place> placesIn(mlir::Operation *function) const;
  static llvm::StringRef nameOf(Effect effect);

private:
  /// Marks the values of a function that depend on data; returns whether there
  /// are new ones.
  bool spread(mlir::FunctionOpInterface function);
  bool mark(mlir::Value value) { return dependent.insert(value).second; }
  bool depends(mlir::Value value) const { return dependent.contains(value); }
  bool isConditional(mlir::Operation *op) const;
  /// Whether the memory of a buffer holds data of a run.
  bool holdsData(mlir::Value memref) const;

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  /// Values that depend on data: scalars and vectors, and buffers whose
  /// elements do.
  llvm::DenseSet<mlir::Value> dependent;
};

} // namespace ingot

#endif // INGOT_COMPILER_EVIDENCE_DATAFLOW_H
