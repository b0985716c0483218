// Base classes, and the families' operators.

#ifndef INGOT_GRAPH_OPS_TD
#define INGOT_GRAPH_OPS_TD

include "dialects/graph/GraphDialect.td"
include "dialects/graph/GraphInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpAsmInterface.td"

def Graph_Tensor : StaticShapeTensorOf<[AnyType]>;

class Graph_Op<string mnemonic, list<Trait> traits = []> : Op<Graph_Dialect, mnemonic, traits> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

/// An operator with one result that is defined element by element.
class Graph_ElementOp<string mnemonic, list<Trait> traits = []>
    : Graph_Op<mnemonic, !listconcat([Pure], traits)> {
  let results = (outs Graph_Tensor:$result);
}

/// An operator that writes its results as a whole.
class Graph_BodyOp<string mnemonic, list<Trait> traits = []>
    : Graph_Op<mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<BodyOpInterface>], traits)>;

include "dialects/graph/ops/Elementwise.td"
include "dialects/graph/ops/Movement.td"
include "dialects/graph/ops/Indexing.td"
include "dialects/graph/ops/Resample.td"
include "dialects/graph/ops/Recurrent.td"
include "dialects/graph/ops/Forest.td"
include "dialects/graph/ops/Reduction.td"
include "dialects/graph/ops/Contraction.td"
include "dialects/graph/ops/Window.td"
include "dialects/graph/ops/Normalization.td"
include "dialects/graph/ops/Structure.td"

#endif // INGOT_GRAPH_OPS_TD
