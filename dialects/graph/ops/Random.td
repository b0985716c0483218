// Numbers that look random.

def Graph_RandomBitsOp : Graph_ElementOp<"random_bits", [Graph_RunTimeSizes,
    DeclareOpInterfaceMethods<ElementOpInterface, ["passesLanes", "isCheap"]>], Graph_StatedTypes> {
  let summary = "Integers below 2^bits, each as likely as any other, by Philox 4x32-10";
  let description = [{
    Element i, in row-major order, is the first `bits` bits of what Philox 4x32 with 10
    rounds makes of the counter (i, stream), 64 bits each, and of `key` (Salmon, Moraes,
    Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3; SC 2011). It is a function of
    these alone: there is no state, elements can be computed in any order, and each target
    has the same. The key is an operand because each iteration of a loop has another one.

        graph.random_bits %key {stream = 0 : i64, bits = 24 : i64} : (tensor<ui64>) -> tensor<8xui32>
  }];
  let arguments = (ins StaticShapeTensorOf<[UI64]>:$key, I64Attr:$stream, I64Attr:$bits);
}
