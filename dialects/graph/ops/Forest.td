// Operators for ensembles of decision trees.

def Graph_ForestOp : Graph_BodyOp<"forest", [Graph_DynamicSizes]> {
  let summary = "Aggregates the leaves that a row of features reaches in each tree";
  let description = [{
    x [rows, features]. At node n a row continues at next[n, 0] if its feature[n] <= threshold[n],
    otherwise at next[n, 1]; if missing[n] is not 0, NaN takes the opposite branch. Leaves point to
    themselves. Tree t starts at roots[t] and takes depths[t] steps. Node n contributes weights[e]
    to target targets[e] for e in [first[n], first[n + 1]). Aggregation: SUM, AVERAGE, MIN, MAX;
    then `base` is added.
  }];
  let arguments = (ins Graph_Floats:$x, Graph_Integers:$feature, Graph_Floats:$threshold, Graph_Integers:$missing,
                   Graph_Integers:$next, Graph_Integers:$roots, Graph_Integers:$depths, Graph_Integers:$first,
                   Graph_Floats:$weights, Graph_Integers:$targets, Graph_Floats:$base,
                   Graph_Choice<["SUM", "AVERAGE", "MIN", "MAX"]>:$aggregate, UnitAttr:$any_missing);
  let results = (outs Graph_Tensor:$result);
}

def Graph_ForestMasksOp : Graph_BodyOp<"forest_masks", [Graph_DynamicSizes]> {
  let summary = "Aggregates the leaves of small trees, by bit masks of the reachable leaves";
  let description = [{
    x [features, rows]. The leaves of a tree, from left to right, are the bits of its words
    [words_of[t], words_of[t + 1]), 32 per word; word w starts at leaf first_leaf[w] and belongs to
    the nodes [nodes_of[w], nodes_of[w + 1]), in any order. A node keeps all leaves if feature[n] <=
    threshold[n] (or feature[n] is NaN and missing[n] is not 0), otherwise only those set in
    kept[n]. The first leaf that all nodes keep is the one reached; it adds weights[leaf] to target
    targets[leaf]. Then `base` is added.

    Nodes are independent of each other, and all rows evaluate the same nodes, so rows are vector
    lanes (Lucchese et al., "QuickScorer", SIGIR 2015). `graph.forest` supports trees of any size.
  }];
  let arguments = (ins Graph_Floats:$x, Graph_Integers:$feature, Graph_Floats:$threshold, Graph_Integers:$missing,
                   Graph_Integers:$kept, Graph_Integers:$nodes_of, Graph_Integers:$first_leaf, Graph_Integers:$words_of,
                   Graph_Floats:$weights, Graph_Integers:$targets, Graph_Floats:$base, UnitAttr:$any_missing);
  let results = (outs Graph_Tensor:$result);
}
