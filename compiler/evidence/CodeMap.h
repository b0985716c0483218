// Maps each node of the model to its code in the generated source.

#ifndef INGOT_COMPILER_EVIDENCE_CODEMAP_H
#define INGOT_COMPILER_EVIDENCE_CODEMAP_H

#include "codegen/kernel/SourceMap.h"
#include "compiler/Compile.h"
#include "compiler/import/ModelNodes.h"
#include "dialects/kernel/KernelModule.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

namespace ingot {

/// A function of the generated source: a kernel, a helper that kernels call, or
/// a program, which launches kernels.
struct Function {
  mlir::Operation *op;
  const char *kind;
  std::string name;
  size_t firstLine = 0, lastLine = 0;
  /// The nodes of the model that the function computes.
  llvm::SetVector<llvm::StringRef> nodes;
};

/// A node of the model, with the code that was generated for it.
struct Node {
  std::string entry; ///< the entry point, if there are several
  ModelNode node;
  std::vector<const Function *> functions;
  /// The first and last line of each statement that calls a kernel of the node.
  std::vector<std::pair<size_t, size_t>> launches;
  /// If the node has neither functions nor launches: the reason and, if an
  /// output of the graph depends on the node, the kernels that compute the
  /// nearest nodes before and after it.
  std::string reason;
  llvm::SetVector<const Function *> neighbours;
};

/// The source that a compilation prints to the file `output`, with its functions
/// and with the nodes that each function computes. `compilation` must have
/// completed stage Legalize.
class CodeMap {
public:
  CodeMap(Compilation &compilation, llvm::StringRef output)
      : compilation(compilation), module(compilation.module()),
        options(compilation.codegenOptions(output)),
        variant{module, compilation.options.target},
        file(llvm::sys::path::filename(output)) {}

  /// Reads the nodes of the model, and prints the source; false with
  /// diagnostics if the model cannot be read.
  bool read();

  /// Returns the function that contains an operation; null if there is none.
  const Function *functionOf(mlir::Operation *op) const;

  Compilation &compilation;
  mlir::ModuleOp module;
  CodegenOptions options;
  Variant variant;
  std::string file;
  std::string text;
  SourceMap map;
  std::vector<std::unique_ptr<Function>> functions;
  std::vector<Node> nodes;

protected:
  size_t lineOf(size_t offset) const;
  size_t lastLineOf(size_t end) const { return lineOf(end ? end - 1 : 0); }
  std::vector<size_t> lineStarts;
  llvm::StringSet<> nodeNames;

private:
  bool readNodes();
  void readSource();
  void readFunctions();
  void explainNodes();
};

} // namespace ingot

#endif // INGOT_COMPILER_EVIDENCE_CODEMAP_H
