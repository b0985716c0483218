// Prints a program that tests a model: the text of runtime_support/ingot_test.h
// (see there), the data of some runs, and a `main` that executes them.

#ifndef INGOT_CODEGEN_FILES_TESTPRINTER_H
#define INGOT_CODEGEN_FILES_TESTPRINTER_H

#include "codegen/files/Interface.h"

namespace ingot {

/// The result of a kernel, as in ingot_test::Node.
struct TestNode {
  unsigned kernel = 0;
  std::string name;
  llvm::StringRef type;
  /// Index of the main function's argument; -1: a buffer in the arena.
  int argument = -1;
  int64_t offset = 0, sizes[4], strides[4];
};

/// As in ingot_test::Signature.
struct TestSignature {
  double norm = 0, sums[4];
  int64_t odd = 0;
};

struct TestCase {
  std::string name;
  /// The bytes of all arguments of the main function: inputs, expected outputs.
  std::vector<std::vector<char>> data;
  /// The tolerated differences of outputs, relative and absolute, by argument.
  std::vector<std::pair<double, double>> tolerances;
  /// In the order of the nodes.
  std::vector<TestSignature> signatures;
};

/// `types` are the ingot_test::Type of the main function's arguments.
void printTest(const Interface &interface, const CodegenOptions &options,
               llvm::ArrayRef<llvm::StringRef> types,
               llvm::ArrayRef<TestNode> nodes, llvm::ArrayRef<TestCase> cases,
               llvm::raw_ostream &os);

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_TESTPRINTER_H
