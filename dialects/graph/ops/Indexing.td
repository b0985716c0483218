// Operators whose indices are computed at run time.
//
// Negative indices count from the end. Any other index out of range is clamped,
// so that no memory outside of an operand is accessed.

/// Operators whose elements are too expensive to be computed again in the
/// kernel of each reader.
class Graph_Compute<string mnemonic, Trait types = Graph_InferredTypes, list<Trait> traits = []>
    : Graph_ElementOp<mnemonic,
                      !listconcat([DeclareOpInterfaceMethods<ElementOpInterface, ["passesLanes", "isCheap"]>], traits),
                      types>;

def Graph_GatherElementsOp : Graph_Move<"gather_elements", [Graph_DynamicSizes]> {
  let summary = "result[i] = x[i with component `axis` replaced by indices[i]]";
  let arguments = (ins Graph_Tensor:$x, Graph_Integers:$indices, I64Attr:$axis);
}

def Graph_GatherNDOp : Graph_Move<"gather_nd", [Graph_DynamicSizes]> {
  let summary = "Slices of `x` at the index tuples in the last axis of `indices`, after `batch_dims` common axes";
  let arguments = (ins Graph_Tensor:$x, Graph_Integers:$indices, I64Attr:$batch_dims);
}

def Graph_ReverseSequenceOp : Graph_Move<"reverse_sequence", [Graph_DynamicSizes]> {
  let summary = "Reverses the first lengths[batch] elements of an axis";
  let arguments = (ins Graph_Tensor:$x, Graph_Integers:$lengths, I64Attr:$batch_axis, I64Attr:$time_axis);
}

def Graph_TensorScatterOp : Graph_Move<"tensor_scatter", [Graph_DynamicSizes]> {
  let summary = "`past` with `update` stored into it from position[batch] on along an axis";
  let description = [{
    The batch is axis 0. A position that leaves too little room is clamped; with
    `circular`, the elements that do not fit wrap around to the beginning.
  }];
  let arguments = (ins Graph_Tensor:$past, Graph_Tensor:$update, Graph_Integers:$position, I64Attr:$axis,
                   UnitAttr:$circular);
}

def Graph_AppendOp : Graph_BodyOp<"append", [Graph_DynamicSizes, Graph_InPlace], Graph_StatedTypes> {
  let summary = "Stores rows in place into a state, from a position on along an axis";
  let description = [{
    The result shares the memory of `state`: an argument of the function that persists
    between runs (`kernel.state`), or the result of another `append` without other
    readers. Only `rows` are stored, from position `at` on along `axis`; -1 is the last
    position, and a position that leaves too little room is clamped. Along `axis` the
    result may be longer than the state; elements that were never stored are undefined.
    The sizes of axes after `axis` are constant. If the result is longer than the state,
    axes before `axis` have size 1.

        graph.append %past, %rows, %at {axis = 0} : (tensor<63x192xf32, #kernel.sizes<"n" in 0 to 63 : s0, 192>>,
            tensor<1x192xf32>, tensor<si64>) -> tensor<64x192xf32, #kernel.sizes<"n" in 0 to 63 : s0 + 1, 192>>
  }];
  let arguments = (ins Graph_Tensor:$state, Graph_Tensor:$rows, Graph_Integers:$at, I64Attr:$axis);
  let results = (outs Graph_Tensor:$result);
}

def Graph_ShiftOp : Graph_BodyOp<"shift", [Graph_InPlace]> {
  let summary = "Moves the columns of a state to the front in place and stores new columns at its end";
  let description = [{
    Column i of the result is column i + n of `state`, where n is the size of `rows` along `axis`;
    the last n columns are `rows`. The result shares the memory of `state`, like that of an
    `append`. Elements only move to lower addresses, in ascending order.

        graph.shift %window, %rows {axis = 1} : (tensor<1x640xsi8>, tensor<1x320xsi8>) -> tensor<1x640xsi8>
  }];
  let arguments = (ins Graph_Tensor:$state, Graph_Tensor:$rows, I64Attr:$axis);
  let results = (outs Graph_Tensor:$result);
}

def Graph_OneHotOp : Graph_Move<"one_hot", [Graph_DynamicSizes], Graph_StatedTypes> {
  let summary = "values[1] where the index along `axis` equals the element of `indices`, values[0] elsewhere";
  let arguments = (ins Graph_Tensor:$indices, Graph_Tensor:$values, I64Attr:$axis);
}

def Graph_TriluOp : Graph_Move<"trilu", [Graph_DynamicSizes]> {
  let summary = "The upper or lower triangle of the last two axes, bounded by diagonal k; 0 elsewhere";
  let arguments = (ins Graph_Tensor:$x, I64Attr:$k, UnitAttr:$upper);
}

def Graph_Col2ImOp : Graph_Compute<"col2im", Graph_StatedTypes> {
  let summary = "Adds overlapping blocks: (N, C * block, number of blocks) to (N, C, image)";
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$block, DenseI64ArrayAttr:$counts,
                   DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$low);
}

/// `reduction` states how an update is combined with the existing element:
/// "none" (it replaces the element), "add", "mul", "max" or "min".
class Graph_Scatter<string mnemonic, dag attributes> : Graph_BodyOp<mnemonic, [Graph_DynamicSizes]> {
  let arguments = !con((ins Graph_Tensor:$x, Graph_Integers:$indices, Graph_Tensor:$updates,
                            Graph_Text<"none", ["none", "add", "mul", "max", "min"]>:$reduction), attributes);
  let results = (outs Graph_Tensor:$result);
}

def Graph_ScatterElementsOp : Graph_Scatter<"scatter_elements", (ins I64Attr:$axis)> {
  let summary = "`x` with updates[i] stored at [i with component `axis` replaced by indices[i]]";
}

def Graph_ScatterNDOp : Graph_Scatter<"scatter_nd", (ins)> {
  let summary = "`x` with slices of `updates` stored at the index tuples in the last axis of `indices`";
}

def Graph_TopKOp : Graph_BodyOp<"topk", [Graph_DynamicSizes], Graph_StatedTypes> {
  let summary = "The k largest or smallest elements along an axis, best first, and their indices";
  let description = [{
    Equal elements keep their order; NaN is larger than any number. A heap of the
    k best is kept in the results themselves.
  }];
  let arguments = (ins Graph_Tensor:$x, I64Attr:$axis, UnitAttr:$largest);
  let results = (outs Graph_Tensor:$values, Graph_Tensor:$indices);
}

def Graph_NonMaxSuppressionOp : Graph_BodyOp<"non_max_suppression", [Graph_DynamicSizes], Graph_StatedTypes> {
  let summary = "The best boxes of each class, without those that overlap a better one too much";
  let description = [{
    boxes [N, B, 4] and scores [N, C, B] -> `selected` [most, 3] of image, class and box, of which
    the first `count` rows are written, and `state` [3, B], scratch memory. At most `limit` boxes
    are selected per class, in order of descending score above `score_threshold`. A selected box
    suppresses all others of its class whose intersection over union with it exceeds
    `iou_threshold`. Boxes are two corners (y and x), or with `center` the centre and the size (x
    and y).
  }];
  let arguments = (ins Graph_Floats:$boxes, Graph_Floats:$scores, StaticShapeTensorOf<[SI64]>:$limit,
                       Graph_Floats:$iou_threshold, Graph_Floats:$score_threshold, UnitAttr:$center);
  let results = (outs Graph_Tensor:$selected, Graph_Tensor:$count, Graph_Tensor:$state);
}

def Graph_DetOp : Graph_BodyOp<"det", [Graph_DynamicSizes]> {
  let summary = "Determinants of the matrices in the last two axes";
  let description = "By elimination with row pivots, in `scratch`, which nobody reads afterwards.";
  let arguments = (ins Graph_Floats:$x);
  let results = (outs Graph_Tensor:$result, Graph_Tensor:$scratch);
}
