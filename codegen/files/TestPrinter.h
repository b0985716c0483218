// A program that checks a model.
//
// The text of runtime_support/ingot_test.h, the data of some runs, and a `main`
// that makes them: see that file.

#ifndef INGOT_CODEGEN_FILES_TESTPRINTER_H
#define INGOT_CODEGEN_FILES_TESTPRINTER_H

#include "codegen/files/Interface.h"

namespace ingot {

/// The result of a kernel, as ingot_test::Node has it.
struct TestNode {
  unsigned kernel = 0;
  std::string name;
  llvm::StringRef type;
  /// Of the main function; -1: in the arena.
  int argument = -1;
  int64_t offset = 0, sizes[4], strides[4];
};

/// As ingot_test::Signature.
struct TestSignature {
  double norm = 0, sums[4];
  int64_t odd = 0;
};

struct TestCase {
  std::string name;
  /// Bytes of all arguments of the main function: inputs, expected outputs.
  std::vector<std::vector<char>> data;
  /// Those that an output may differ by, relative and absolute, by argument.
  std::vector<std::pair<double, double>> tolerances;
  /// In the order of the nodes.
  std::vector<TestSignature> signatures;
};

/// `types` are ingot_test::Type's for the arguments of the main function.
void printTest(const Interface &interface, const CodegenOptions &options,
               llvm::ArrayRef<llvm::StringRef> types,
               llvm::ArrayRef<TestNode> nodes, llvm::ArrayRef<TestCase> cases,
               llvm::raw_ostream &os);

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_TESTPRINTER_H
