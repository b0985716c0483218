//===- Contraction.cpp ---------------------------------------------------===//

#include "dialects/graph/OnnxImport.h"

using namespace mlir;

namespace ingot::graph {

void registerContractionImports(OnnxRegistry &registry) {}

} // namespace ingot::graph
