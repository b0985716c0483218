// Collects and prints the tables of --evidence.

#ifndef INGOT_COMPILER_EVIDENCE_TABLES_H
#define INGOT_COMPILER_EVIDENCE_TABLES_H

#include "codegen/files/OutputFiles.h"
#include "compiler/evidence/CodeMap.h"
#include "compiler/evidence/DataFlow.h"
#include "compiler/evidence/LoopBounds.h"
#include "compiler/measure/Footprint.h"
#include "llvm/Support/JSON.h"

namespace ingot {

class Evidence : CodeMap {
public:
  Evidence(Compilation &compilation, const Footprint &footprint,
           llvm::StringRef output)
      : CodeMap(compilation, output), footprint(footprint), ranges(module),
        flow(module) {}

  bool read();
  llvm::Error write(OutputFiles &files, llvm::StringRef folder) const;

private:
  void readSites();
  void readLoops();

  /// Returns the first and the last line of the statement that contains `op`;
  /// {0, 0} if there is none.
  std::pair<size_t, size_t> linesOf(mlir::Operation *op) const;

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

  const Footprint &footprint;
  mutable IntegerRanges ranges;
  DataFlow flow;
  llvm::DenseMap<mlir::Operation *, const SourceMap::Site *> sites;
  std::vector<std::unique_ptr<Loop>> loops;
};

} // namespace ingot

#endif // INGOT_COMPILER_EVIDENCE_TABLES_H
