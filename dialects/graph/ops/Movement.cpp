//===- Movement.cpp ---------------------------------------------------===//

#include "dialects/graph/OnnxImport.h"

using namespace mlir;

namespace ingot::graph {

void registerMovementImports(OnnxRegistry &registry) {}

} // namespace ingot::graph
