// Ensembles of decision trees.

def Graph_ForestOp : Graph_BodyOp<"forest"> {
  let summary = "Combines the leaves that a row of features reaches in each tree";
  let description = [{
    x [rows, features]. At node n a row goes to next[n, 0] if its feature[n] is not above threshold[n], else to
    next[n, 1]; where missing[n] is not 0, NaN goes the other way. Leaves lead to themselves. Tree t starts at
    roots[t] and takes depths[t] steps. Node n contributes weights[e] to target targets[e] for e in [first[n],
    first[n + 1]). Aggregation: SUM, AVERAGE, MIN, MAX; then `base` is added.
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$feature, Graph_Tensor:$threshold, Graph_Tensor:$missing,
                   Graph_Tensor:$next, Graph_Tensor:$roots, Graph_Tensor:$depths, Graph_Tensor:$first,
                   Graph_Tensor:$weights, Graph_Tensor:$targets, Graph_Tensor:$base, StrAttr:$aggregate,
                   UnitAttr:$any_missing);
  let results = (outs Graph_Tensor:$result);
}
