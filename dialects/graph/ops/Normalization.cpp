//===- Normalization.cpp ---------------------------------------------------===//

#include "dialects/graph/OnnxImport.h"

using namespace mlir;

namespace ingot::graph {

void registerNormalizationImports(OnnxRegistry &registry) {}

} // namespace ingot::graph
