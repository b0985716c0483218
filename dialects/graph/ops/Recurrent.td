// One direction of recurrent layers.
//
// One matrix multiplication outside of the operator computes, for all steps,
// the part that does not depend on the previous step. Operands: its result,
// gates [time, batch, gates * hidden], the transposed weights r [hidden, gates
// * hidden], and the initial state. Results: the state after each step and
// after the last one; sequences shorter than the longest (`lengths`) are padded
// with zeros. `scratch` is temporary memory for one row of gates.

class Graph_Recurrent<string mnemonic, dag operands, dag attributes, dag states, list<Trait> traits = []>
    : Graph_BodyOp<mnemonic, !listconcat([Graph_DynamicSizes], traits)> {
  let arguments = !con((ins Graph_Floats:$gates, Graph_Floats:$r, Graph_Floats:$h0), operands,
                       (ins Optional<Graph_Integers>:$lengths, UnitAttr:$reverse, StrArrayAttr:$activations,
                            DenseF64ArrayAttr:$alpha, DenseF64ArrayAttr:$beta, OptionalAttr<F64Attr>:$clip),
                       attributes);
  let results = !con((outs Graph_Tensor:$y, Graph_Tensor:$h), states, (outs Graph_Tensor:$scratch));
}

def Graph_RNNOp : Graph_Recurrent<"rnn", (ins), (ins), (outs)> {
  let summary = "h = f(gates + h r)";
}

def Graph_GRUOp : Graph_Recurrent<"gru", (ins Optional<Graph_Floats>:$bias), (ins), (outs),
                                  [AttrSizedOperandSegments]> {
  let summary = "Gates z, r, h; with `bias` [hidden] the reset gate multiplies (h r + bias), otherwise h";
}

def Graph_LSTMOp : Graph_Recurrent<"lstm", (ins Graph_Floats:$c0, Optional<Graph_Floats>:$peepholes),
                                   (ins UnitAttr:$input_forget), (outs Graph_Tensor:$c),
                                   [AttrSizedOperandSegments]> {
  let summary = "Gates i, o, f, c; `peepholes` [3 * hidden] in the order i, o, f";
}
