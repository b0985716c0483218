//===- Window.cpp ---------------------------------------------------===//

#include "dialects/graph/OnnxImport.h"

using namespace mlir;

namespace ingot::graph {

void registerWindowImports(OnnxRegistry &registry) {}

} // namespace ingot::graph
