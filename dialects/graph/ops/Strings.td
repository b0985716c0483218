// Operators that read or write the characters of strings.
//
// Moves and comparisons of strings are the operators of all element types; a string is an
// address there. What makes strings writes characters of its own, each string with a zero
// behind it, and the places where they begin; `graph.strings` makes strings of both. The
// room for characters is part of the result's type: what does not fit is not written, and
// `used` says how much would have been needed, for `graph.read_sizes` to check.

def Graph_StringsOp : Graph_ElementOp<"strings", [
    Graph_RunTimeSizes, DeclareOpInterfaceMethods<ElementOpInterface>]> {
  let summary = "The strings that begin at these places of `characters`";
  let arguments = (ins Graph_Integers:$characters, Graph_Integers:$begins);
}

def Graph_MatchStringOp : Graph_ElementOp<"match_string", [
    Graph_RunTimeSizes, DeclareOpInterfaceMethods<ElementOpInterface, ["isCheap"]>]> {
  let summary = "Whether an automaton accepts all bytes of a string";
  let description = [{
    `next` [states, 256] has the state behind each state and byte; a run begins in
    state 0, and `accepts` [states] says where it may end.
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Integers:$next, Graph_Truths:$accepts);
}

def Graph_JoinStringsOp : Graph_BodyOp<"join_strings", [Graph_RunTimeSizes], Graph_StatedTypes> {
  let summary = "Strings of one shape joined one behind the other";
  let description = "`used` [1] is how many characters there are.";
  let arguments = (ins Variadic<Graph_Tensor>:$inputs);
  let results = (outs Graph_Integers:$characters, Graph_Integers:$begins, Graph_Integers:$used);
}

def Graph_MapLettersOp : Graph_BodyOp<"map_letters", [Graph_RunTimeSizes], Graph_StatedTypes> {
  let summary = "Strings with other letters, such as those of lower case";
  let description = [{
    `ranges` [ranges, 4] (si32), ascending and disjoint: the first and the last code point,
    the step between them, and what is added to each. Strings are UTF-8; bytes that are
    not stay. `used` [1] is how many characters there are.
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Integers:$ranges);
  let results = (outs Graph_Integers:$characters, Graph_Integers:$begins, Graph_Integers:$used);
}

def Graph_SplitStringsOp : Graph_BodyOp<"split_strings", [Graph_RunTimeSizes], Graph_StatedTypes> {
  let summary = "The pieces of strings between delimiters";
  let description = [{
    `begins` [..., pieces] has empty strings behind the pieces of each string, `counts`
    the numbers of these, and `used` [2] the most of them and how many characters there
    are. Without a delimiter, pieces are parted by white space. After `splits` pieces,
    unless that is negative, the rest of the string is the last one.
  }];
  let arguments = (ins Graph_Tensor:$x, StrAttr:$delimiter, I64Attr:$splits);
  let results = (outs Graph_Integers:$characters, Graph_Integers:$begins, Graph_Integers:$counts,
                      Graph_Integers:$used);
}

def Graph_FindTokensOp : Graph_BodyOp<"find_tokens", [Graph_RunTimeSizes], Graph_StatedTypes> {
  let summary = "The parts of strings that an automaton accepts";
  let description = [{
    Each token begins where the one before ends, or behind that where none begins there,
    and is as long as possible. `next` and `accepts` are those of graph.match_string;
    nothing is accepted behind state `dead`. Tokens of fewer than `least` characters are
    left out. The results are those of graph.split_strings, with the string `pad` behind
    the tokens of each string.
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Integers:$next, Graph_Truths:$accepts, I64Attr:$dead,
                       I64Attr:$least, StrAttr:$pad);
  let results = (outs Graph_Integers:$characters, Graph_Integers:$begins, Graph_Integers:$counts,
                      Graph_Integers:$used);
}
