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

def Graph_ForestMasksOp : Graph_BodyOp<"forest_masks", [Graph_RunTimeSizes]> {
  let summary = "The same for small trees: each node says which leaves stay possible";
  let description = [{
    x [features, rows]. The leaves of a tree, from left to right, are the bits of its words [words_of[t],
    words_of[t + 1]), 32 in each; word w begins with leaf first_leaf[w] and belongs to the nodes [nodes_of[w],
    nodes_of[w + 1]) in any order. A node leaves all leaves where feature[n] is not above threshold[n] (or is NaN and
    missing[n] is not 0), and else those whose bits are set in kept[n]. The first leaf that all nodes leave is the one
    that is reached; it adds weights[leaf] to target targets[leaf]. Then `base` is added.

    No node waits for another one, and neighbouring rows ask the same questions, so rows are lanes
    (Lucchese et al., "QuickScorer", SIGIR 2015). `graph.forest` is for trees of any size.
  }];
  let arguments = (ins Graph_Floats:$x, Graph_Integers:$feature, Graph_Floats:$threshold, Graph_Integers:$missing,
                   Graph_Integers:$kept, Graph_Integers:$nodes_of, Graph_Integers:$first_leaf, Graph_Integers:$words_of,
                   Graph_Floats:$weights, Graph_Integers:$targets, Graph_Floats:$base, UnitAttr:$any_missing);
  let results = (outs Graph_Tensor:$result);
}
