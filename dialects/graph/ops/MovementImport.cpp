//===- MovementImport.cpp - ONNX operators that move elements -------------===//

#include "dialects/graph/OnnxImport.h"

using namespace mlir;

namespace ingot::graph {

void registerMovementImports(OnnxRegistry &registry) {}

} // namespace ingot::graph
