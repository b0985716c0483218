// Operators that generate pseudo-random numbers.

def Graph_RandomBitsOp : Graph_ElementOp<"random_bits", [Graph_DynamicSizes,
    DeclareOpInterfaceMethods<ElementOpInterface, ["passesLanes", "isCheap"]>], Graph_StatedTypes> {
  let summary = "Uniformly distributed integers below 2^bits, by Philox 4x32-10";
  let description = [{
    Element i, in row-major order, is the first `bits` bits of the output of Philox 4x32
    with 10 rounds for the counter (i, stream), of 64 bits each, and `key` (Salmon,
    Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3; SC 2011). There is no
    other state: elements can be computed in any order, and all targets give the same
    values. The key is an operand, since it differs between the iterations of a loop.

        graph.random_bits %key {stream = 0 : i64, bits = 24 : i64} : (tensor<ui64>) -> tensor<8xui32>
  }];
  let arguments = (ins StaticShapeTensorOf<[UI64]>:$key, I64Attr:$stream, I64Attr:$bits);
}
