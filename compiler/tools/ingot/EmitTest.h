// Ingot MODEL -o FILE --emit-test=DIR.

#ifndef INGOT_COMPILER_TOOLS_INGOT_EMITTEST_H
#define INGOT_COMPILER_TOOLS_INGOT_EMITTEST_H

#include "codegen/files/TestPrinter.h"
#include "compiler/run/DataSets.h"

namespace ingot {

/// A program that checks the compiled model on data sets.
class EmitTest {
public:
  /// Reads the data sets in `folder`; their shapes become options of the
  /// compilations. False with diagnostics if that fails.
  bool read(llvm::StringRef folder, CompileOptions &options,
            mlir::MLIRContext &context, Diagnostics &diagnostics);
  /// Writes NAME_test.cpp for a model that was written as `output`.
  void write(Compilation &compilation, llvm::StringRef output);

private:
  struct DataSet {
    std::string folder;
    InputData inputs;
  };
  bool addCase(const DataSet &set, Compilation &compilation,
               std::vector<TestCase> &cases);
  std::vector<DataSet> sets;
  Tolerance tolerance;
  // The same for all data sets; types of the outputs, behind one for each
  // input.
  std::vector<TestNode> nodes;
  llvm::SmallVector<llvm::StringRef> types;
};

} // namespace ingot

#endif // INGOT_COMPILER_TOOLS_INGOT_EMITTEST_H
