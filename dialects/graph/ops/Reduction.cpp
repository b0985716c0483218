//===- Reduction.cpp ---------------------------------------------------===//

#include "dialects/graph/OnnxImport.h"

using namespace mlir;

namespace ingot::graph {

void registerReductionImports(OnnxRegistry &registry) {}

} // namespace ingot::graph
