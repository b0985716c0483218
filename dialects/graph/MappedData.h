// Files that the data of constants is mapped from.
//
// A page of a mapped file is in memory from when it is first read until the
// mapping ends. The weights of a language model are most of what the compiler
// holds in memory, so pages that have been read are given back early; they are
// read from the file again where they are needed again.

#ifndef INGOT_GRAPH_MAPPEDDATA_H
#define INGOT_GRAPH_MAPPEDDATA_H

#include "mlir/IR/DialectInterface.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <vector>

namespace ingot::graph {

/// The mapped files of a context, which the graph dialect keeps.
class MappedData : public mlir::DialectInterface::Base<MappedData> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MappedData)
  explicit MappedData(mlir::Dialect *dialect) : Base(dialect) {}

  static MappedData &of(mlir::MLIRContext *context);
  /// Adds a file that constants may point into for as long as it exists.
  void add(std::weak_ptr<llvm::MemoryBuffer> file);
  /// Gives the pages of all files back. Several threads may call it.
  void releasePages() const;

private:
  std::vector<std::weak_ptr<llvm::MemoryBuffer>> files;
};

} // namespace ingot::graph

#endif // INGOT_GRAPH_MAPPEDDATA_H
