// One direction of recurrent layers.
//
// The part of the gates that does not depend on the previous step is computed
// for all steps by one matrix multiplication outside of the operator. Operands:
// `gates` [time, batch, gates * hidden], the result of this multiplication; the
// transposed recurrent weights `r` [hidden, gates * hidden]; the initial state. If
// `r` is bf16 and the other operands are f32, the state is rounded to bf16 where
// `r` multiplies it; sums and the stored state stay f32.
// Results: the state after each step, and after the last step. If a sequence is
// shorter than the longest (`lengths`), its states are padded with zeros.
// `scratch` is temporary memory for the gates of one step of one sequence.

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
