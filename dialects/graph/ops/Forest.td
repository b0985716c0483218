// Ensembles of decision trees.

def Graph_ForestOp : Graph_BodyOp<"forest", [Graph_RunTimeSizes]> {
  let summary = "Combines the leaves that a row of features reaches in each tree";
  let description = [{
    x [rows, features]. At node n a row goes to next[n, 0] if its feature[n] is not above threshold[n], else to
    next[n, 1]; where missing[n] is not 0, NaN goes the other way. Leaves lead to themselves. Tree t starts at
    roots[t] and takes depths[t] steps. Node n contributes weights[e] to target targets[e] for e in [first[n],
    first[n + 1]). Aggregation: SUM, AVERAGE, MIN, MAX; then `base` is added.
  }];
  let arguments = (ins Graph_Floats:$x, Graph_Integers:$feature, Graph_Floats:$threshold, Graph_Integers:$missing,
                   Graph_Integers:$next, Graph_Integers:$roots, Graph_Integers:$depths, Graph_Integers:$first,
                   Graph_Floats:$weights, Graph_Integers:$targets, Graph_Floats:$base,
                   Graph_Choice<["SUM", "AVERAGE", "MIN", "MAX"]>:$aggregate, UnitAttr:$any_missing);
  let results = (outs Graph_Tensor:$result);
}
