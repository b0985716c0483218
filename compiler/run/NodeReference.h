// What each kernel should leave behind.
//
// Evaluates the fusion groups of a model by the definitions of their operators,
// on this host (passes/evaluate/Evaluate.h): no strategy, no vectors, no printed
// C++. Beside a run of the generated code it tells which kernel is the first to
// be wrong.

#ifndef INGOT_COMPILER_RUN_NODEREFERENCE_H
#define INGOT_COMPILER_RUN_NODEREFERENCE_H

#include "codegen/files/TestPrinter.h"
#include "compiler/import/TensorFile.h"
#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace ingot {

class NodeReference {
public:
  /// `decided` is a module after Stage::Decide; it is used up. Nothing, with a
  /// diagnostic of MLIR's, if the evaluation fails.
  static std::optional<NodeReference>
  evaluate(mlir::ModuleOp decided, llvm::ArrayRef<const Tensor *> inputs);

  /// The results of the model.
  const std::vector<Tensor> &outputs() const { return outputTensors; }

  /// Where the results of the groups lie in `planned`, which is the same model
  /// at a later stage, in the order of the run; and what they are like.
  void find(mlir::ModuleOp planned, std::vector<TestNode> &nodes,
            std::vector<TestSignature> &signatures) const;

private:
  struct Group {
    mlir::Location location;
    size_t operands;
    /// Of each result in elements; empty: row-major.
    llvm::ArrayRef<int64_t> strides;
    std::vector<Tensor> results;
  };
  std::vector<Group> groups;
  std::vector<Tensor> outputTensors;
};

/// The enumerator of ingot_test::Type for a type of the graph; empty if it has
/// none.
llvm::StringRef testType(mlir::Type elementType);

} // namespace ingot

#endif // INGOT_COMPILER_RUN_NODEREFERENCE_H
