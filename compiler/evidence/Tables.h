// The tables of --evidence, while they are collected and printed.

#ifndef INGOT_COMPILER_EVIDENCE_TABLES_H
#define INGOT_COMPILER_EVIDENCE_TABLES_H

#include "codegen/files/OutputFiles.h"
#include "codegen/kernel/SourceMap.h"
#include "compiler/evidence/DataFlow.h"
#include "compiler/evidence/LoopBounds.h"
#include "compiler/import/ModelNodes.h"
#include "compiler/measure/Footprint.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
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
  /// The lines of the programs at which its kernels are launched.
  std::vector<std::pair<size_t, size_t>> launches;
  /// The reason why no function computes it, and the functions that computed
  /// its neighbours instead.
  std::string reason;
  llvm::SetVector<const Function *> neighbours;
};

class Evidence {
public:
  Evidence(Compilation &compilation, const Footprint &footprint,
           llvm::StringRef output)
      : compilation(compilation), footprint(footprint),
        module(compilation.module()),
        options(compilation.codegenOptions(output)),
        variant{module, compilation.options.target}, ranges(module),
        flow(module), file(llvm::sys::path::filename(output)) {}

  bool read();
  llvm::Error write(OutputFiles &files, llvm::StringRef folder) const;

private:
  bool readNodes();
  void readSource();
  void readFunctions();
  void explainNodes();

  size_t lineOf(size_t offset) const;
  size_t lastLineOf(size_t end) const { return lineOf(end ? end - 1 : 0); }
  /// Returns the first and the last line of an operation; of one that is part
  /// of an expression, those of the statement.
  std::pair<size_t, size_t> linesOf(mlir::Operation *op) const;
  const Function *functionOf(mlir::Operation *op) const;

  void printTraceability(llvm::raw_ostream &os) const;
  void printNodes(llvm::raw_ostream &os) const;
  void printLines(llvm::raw_ostream &os) const;
  void printLoops(llvm::raw_ostream &os) const;
  void printFlowFacts(llvm::raw_ostream &os) const;
  void printControlFlow(llvm::raw_ostream &os) const;
  void printMemory(llvm::raw_ostream &os) const;
  void printIdentity(llvm::json::OStream &json) const;
  void printStack(llvm::json::OStream &json) const;
  void printArena(llvm::json::OStream &json) const;
  void printConstants(llvm::json::OStream &json) const;

  struct Loop {
    mlir::Operation *op;
    const Function *function;
    size_t firstLine, lastLine;
    std::string counter;
    LoopBound bound;
    bool isOfData;
    std::vector<const Loop *> inside;
  };
  void printLoop(const Loop &loop, unsigned indent,
                 llvm::raw_ostream &os) const;

  Compilation &compilation;
  const Footprint &footprint;
  mlir::ModuleOp module;
  CodegenOptions options;
  Variant variant;
  mutable IntegerRanges ranges;
  DataFlow flow;
  std::string file;
  std::string text;
  std::vector<size_t> lineStarts;
  SourceMap map;
  llvm::DenseMap<mlir::Operation *, const SourceMap::Site *> sites;
  std::vector<std::unique_ptr<Function>> functions;
  std::vector<Node> nodes;
  llvm::StringSet<> nodeNames;
  std::vector<std::unique_ptr<Loop>> loops;
};

} // namespace ingot

#endif // INGOT_COMPILER_EVIDENCE_TABLES_H
