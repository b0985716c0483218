// Prints a program that tests a model: the text of
// runtime_support/ingot_test.h, the inputs and expected outputs of some runs,
// and a `main` that executes them.

#ifndef INGOT_CODEGEN_FILES_TESTPRINTER_H
#define INGOT_CODEGEN_FILES_TESTPRINTER_H

#include "codegen/files/Interface.h"

namespace ingot {

/// Where the result of a kernel is in memory. Corresponds to ingot_test::Node
/// in runtime_support/ingot_test.h.
struct TestNode {
  unsigned kernel = 0;
  std::string name;
  llvm::StringRef type;
  /// Index of the argument of the main function that holds the result; -1 if
  /// the result is in the arena, the buffer for intermediate tensors.
  int argument = -1;
  int64_t offset = 0, sizes[4], strides[4];
};

/// The expected result of a kernel. Corresponds to ingot_test::Signature in
/// runtime_support/ingot_test.h.
struct TestSignature {
  double norm = 0, sums[4];
  int64_t odd = 0;
};

struct TestCase {
  std::string name;
  /// The bytes of all arguments of the main function: inputs, expected outputs.
  std::vector<std::vector<char>> data;
  /// The tolerated differences of outputs (relative, absolute), one pair for
  /// each argument.
  std::vector<std::pair<double, double>> tolerances;
  /// The expected results of the kernels, one for each TestNode, in the same
  /// order.
  std::vector<TestSignature> signatures;
};

/// Prints the test program. `types` are the ingot_test::Type of the main
/// function's arguments.
void printTest(const Interface &interface, const CodegenOptions &options,
               llvm::ArrayRef<llvm::StringRef> types,
               llvm::ArrayRef<TestNode> nodes, llvm::ArrayRef<TestCase> cases,
               llvm::raw_ostream &os);

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_TESTPRINTER_H
