// The option --emit-test of `ingot MODEL -o FILE`.

#ifndef INGOT_COMPILER_TOOLS_INGOT_EMITTEST_H
#define INGOT_COMPILER_TOOLS_INGOT_EMITTEST_H

#include "codegen/files/TestPrinter.h"
#include "compiler/run/DataSets.h"

namespace ingot {

/// Writes a program that checks the compiled model on data sets.
class EmitTest {
public:
  /// Reads the data sets in `folder`; their shapes become import options of the
  /// compilation. False with diagnostics on failure.
  bool read(llvm::StringRef folder, CompileOptions &options,
            mlir::MLIRContext &context, Diagnostics &diagnostics);
  /// Writes NAME_test.cpp for the model whose code was written to `output`.
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
  // The nodes that are checked, and the element types of arguments: an entry
  // per input, followed by one per output. All data sets have the same nodes
  // and types.
  std::vector<TestNode> nodes;
  llvm::SmallVector<llvm::StringRef> types;
};

} // namespace ingot

#endif // INGOT_COMPILER_TOOLS_INGOT_EMITTEST_H
