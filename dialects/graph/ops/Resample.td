// Operators that interpolate between elements.

def Graph_ResampleOp
    : Graph_ElementOp<"resample", [DeclareOpInterfaceMethods<ElementOpInterface, ["passesLanes", "isCheap"]>,
                                   DeclareOpInterfaceMethods<PermuteOpInterface, ["permutesOperand"]>,
                                   AttrSizedOperandSegments, Graph_DynamicSizes]> {
  let summary = "Weighted sums of a few elements along some axes";
  let description = [{
    For each entry of `axes` there is a table of positions [size of the result, taps], all in range,
    and one of weights of the same shape. The result is the sum, over the taps of all axes, of the
    element at these positions times the product of the weights. Every ONNX Resize is expressed in
    this form; the coordinate modes are resolved when imported.
  }];
  let arguments = (ins Graph_Tensor:$x, Variadic<Graph_Integers>:$positions, Variadic<Graph_Floats>:$weights,
                   DenseI64ArrayAttr:$axes);
}

def Graph_GridSampleOp : Graph_Compute<"grid_sample", Graph_InferredTypes, [Graph_DynamicSizes]> {
  let summary = "Samples at data-dependent positions, channels last";
  let description = [{
    x [N, spatial..., C], grid [N, out..., axes] -> [N, out..., C]; the grid's coordinates are
    innermost axis first, from -1 to 1. Modes: nearest, linear, cubic; outside: zeros, border,
    reflection.
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Floats:$grid, Graph_Choice<["nearest", "linear", "cubic"]>:$mode,
                   Graph_Choice<["zeros", "border", "reflection"]>:$padding_mode, UnitAttr:$align_corners);
}

def Graph_RoiAlignOp : Graph_Compute<"roi_align", Graph_StatedTypes, [Graph_DynamicSizes]> {
  let summary = "Means or maxima of samples in regions, channels last";
  let description = [{
    x [N, H, W, C], rois [R, 4] of x1, y1, x2, y2, batch [R] -> [R, out H, out W, C]. Each bin has
    `samples` x `samples` samples; if `samples` is 0, as many as the elements that it covers.
    `offset` is 0.5 if pixel centres are at 0.5.
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Floats:$rois, Graph_Integers:$batch, UnitAttr:$maximum,
                   F64Attr:$scale, F64Attr:$offset, I64Attr:$samples);
}
