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
  /// How data affect the code that is executed.
  enum class Effect {
    Branch,  ///< the condition of an `if`
    Loop,    ///< the number of iterations of a loop
    Choice,  ///< a conditional expression or a short-circuit operator
    Address, ///< the address of a memory access; caches make it visible as time
    Call,    ///< an external function, about which nothing is known
  };
  struct Place {
    Effect effect;
    mlir::Operation *op;
  };

  explicit DataFlow(mlir::ModuleOp module);

  /// Returns the operations of a kernel or program at which data affect the
  /// code that is executed, in order. Operations of called functions are not
  /// included.
  std::vector<Place> placesIn(mlir::Operation *function) const;
  static llvm::StringRef nameOf(Effect effect);

private:
  /// Goes through a function once, and marks its values that depend on data,
  /// also the arguments of called functions; returns whether any of them were
  /// not marked before.
  bool spread(mlir::FunctionOpInterface function);
  bool mark(mlir::Value value) { return dependent.insert(value).second; }
  bool depends(mlir::Value value) const { return dependent.contains(value); }
  bool isConditional(mlir::Operation *op) const;
  /// Whether the buffer `memref` holds data of a run.
  bool holdsData(mlir::Value memref) const;

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  /// Values that depend on data: scalars, vectors, and buffers whose elements
  /// depend on data.
  llvm::DenseSet<mlir::Value> dependent;
};

} // namespace ingot

#endif // INGOT_COMPILER_EVIDENCE_DATAFLOW_H
