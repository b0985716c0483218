// Tensor-level operators.
//
// The graph dialect holds a network as operators on statically shaped tensors.
// It is not ONNX: composites are decomposed, attributes that were operands in
// ONNX (axes, pads, shapes) are constants here, and each operator carries its
// own definition (see GraphInterfaces.td), from which every kernel is built.
//
// Why not TOSA or linalg: neither has signed and unsigned element types beside
// each other with NumPy's broadcasting, and neither lets an operator say what
// one element of its result is, which is what fusion by pulling needs.

#ifndef INGOT_GRAPH_DIALECT_TD
#define INGOT_GRAPH_DIALECT_TD

include "mlir/IR/OpBase.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::ingot::graph";
  let summary = "Tensor-level operators of a neural network";
  let description = [{
    Attributes of contractions:
    - `graph.multiplied` (type): with operands of f32, what both are numbers of, so that
      they may be multiplied as such: tf32. With operands of f16 and a result of f32: f16,
      so that products of a few neighbouring steps may be summed in f16.
  }];
  let hasOperationAttrVerify = 1;
  let useDefaultAttributePrinterParser = 0;
  let usePropertiesForAttributes = 1;
  let hasCanonicalizer = 1;
}

#endif // INGOT_GRAPH_DIALECT_TD
