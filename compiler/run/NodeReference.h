// Computes reference results for each kernel.
//
// Evaluates the fusion groups of a model by the definitions of their operators,
// on this host (passes/evaluate/Evaluate.h), without vectors, optimized loops
// or generated C++. If these results are compared with those of the generated
// code, the first difference shows which kernel is wrong.

#ifndef INGOT_COMPILER_RUN_NODEREFERENCE_H
#define INGOT_COMPILER_RUN_NODEREFERENCE_H

#include "codegen/files/TestPrinter.h"
#include "compiler/import/TensorFile.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLExtras.h"

#include <optional>

namespace ingot {

class NodeReference {
public:
  /// Evaluates `decided`, a module after Stage::Decide, on `inputs`; the module
  /// is modified. Nothing, with an MLIR diagnostic, if the evaluation fails.
  static std::optional<NodeReference>
  evaluate(mlir::ModuleOp decided, llvm::ArrayRef<const Tensor *> inputs);

  /// Returns the results of the model. A result that depends on an if or loop,
  /// which cannot be evaluated, has a type but no bytes.
  const std::vector<Tensor> &outputs() const { return outputTensors; }
  /// Whether all results of the model could be evaluated.
  bool isComplete() const { return llvm::all_of(outputTensors, isEvaluated); }
  static bool isEvaluated(const Tensor &tensor) {
    return !tensor.bytes.empty() || tensor.elements() == 0;
  }

  /// Finds the memory of the results of the groups in `planned`, the same model
  /// after stage Plan or a later one, in the order of execution; computes the
  /// expected signatures (sums of the elements) of these results.
  void find(mlir::ModuleOp planned, std::vector<TestNode> &nodes,
            std::vector<TestSignature> &signatures) const;

private:
  struct Group {
    mlir::Location location;
    size_t operands;
    /// The strides of the group's results in elements; empty: row-major.
    llvm::ArrayRef<int64_t> strides;
    std::vector<Tensor> results;
  };
  std::vector<Group> groups;
  std::vector<Tensor> outputTensors;
};

/// Returns the enumerator of ingot_test::Type for an element type; empty if
/// there is none.
llvm::StringRef testType(mlir::Type elementType);

} // namespace ingot

#endif // INGOT_COMPILER_RUN_NODEREFERENCE_H
