//===- Elementwise.cpp ---------------------------------------------------===//

#include "dialects/graph/OnnxImport.h"

using namespace mlir;

namespace ingot::graph {

void registerElementwiseImports(OnnxRegistry &registry) {}

} // namespace ingot::graph
