// The graph dialect: operators on tensors.
//
// The dialect represents a network as operators on tensors of static shape; for
// a tensor with dynamic sizes, this is its largest shape. The dialect is not
// ONNX: composite operators are decomposed, operands that decide shapes in ONNX
// (axes, pads, shapes) are attributes, and each operator carries its own
// definition (see GraphInterfaces.td), from which kernels are built.
//
// Why not TOSA or linalg: neither has both signed and unsigned element types
// and NumPy's broadcasting, and neither lets an operator define a single
// element of its result, which fusion needs, since it computes elements where
// they are read.

#ifndef INGOT_GRAPH_DIALECT_TD
#define INGOT_GRAPH_DIALECT_TD

include "mlir/IR/OpBase.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::ingot::graph";
  let summary = "Tensor-level operators of a neural network";
  let description = [{
    Attributes of contractions:
    - `graph.multiplied` (type): the reduced precision of the multiplications. f32 operands:
      tf32, if the values of both are tf32 numbers. f16 operands with an f32 result: f16, so
      that products of a few adjacent steps may be summed in f16. bf16 operands of a
      convolution with an f32 result: bf16, so that Winograd's algorithm may round the
      transformed operands to bf16.
  }];
  let hasOperationAttrVerify = 1;
  let useDefaultAttributePrinterParser = 0;
  let usePropertiesForAttributes = 1;
  let hasCanonicalizer = 1;
}

#endif // INGOT_GRAPH_DIALECT_TD
