// Operators that read or write the characters of strings.
//
// Operators that only move or compare strings are the same as for other element
// types; an element is a pointer to a string. An operator that creates strings
// has results for the characters (each string ends with a zero) and for the
// position at which each string begins; `graph.strings` combines both into
// strings. The capacity for characters is part of the result type. Characters
// beyond it are not written; the result `used` is the required capacity, which
// `graph.read_sizes` checks.

def Graph_StringsOp : Graph_ElementOp<"strings", [
    Graph_DynamicSizes, DeclareOpInterfaceMethods<ElementOpInterface>]> {
  let summary = "The strings that begin at the given positions of `characters`";
  let arguments = (ins Graph_Integers:$characters, Graph_Integers:$begins);
}

def Graph_MatchStringOp : Graph_ElementOp<"match_string", [
    Graph_DynamicSizes, DeclareOpInterfaceMethods<ElementOpInterface, ["isCheap"]>]> {
  let summary = "Whether a finite automaton accepts all bytes of a string";
  let description = [{
    `next` [states, 256] is the transition table of a state and a byte; matching
    starts in state 0, and `accepts` [states] marks the final states.
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Integers:$next, Graph_Truths:$accepts);
}

def Graph_JoinStringsOp : Graph_BodyOp<"join_strings", [Graph_DynamicSizes], Graph_StatedTypes> {
  let summary = "Concatenates strings elementwise";
  let description = "`used` [1] is how many characters there are.";
  let arguments = (ins Variadic<Graph_Tensor>:$inputs);
  let results = (outs Graph_Integers:$characters, Graph_Integers:$begins, Graph_Integers:$used);
}

def Graph_MapLettersOp : Graph_BodyOp<"map_letters", [Graph_DynamicSizes], Graph_StatedTypes> {
  let summary = "Maps the characters of strings, for example to lower case";
  let description = [{
    `ranges` [ranges, 4] (si32), ascending and disjoint: the first and the last code point,
    the step between them, and the offset added to each. Strings are UTF-8; invalid bytes
    stay. `used` [1] is the required number of characters, including terminating zeros.
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Integers:$ranges);
  let results = (outs Graph_Integers:$characters, Graph_Integers:$begins, Graph_Integers:$used);
}

def Graph_SplitStringsOp : Graph_BodyOp<"split_strings", [Graph_DynamicSizes], Graph_StatedTypes> {
  let summary = "Splits strings at delimiters";
  let description = [{
    `begins` [..., pieces] holds the positions of the pieces of each string, padded
    with that of an empty string; `counts` the number of pieces; `used` [2] the largest
    count and the required number of characters. An empty delimiter splits at white
    space. After `splits` pieces, unless negative, the rest of the string is the last
    piece.
  }];
  let arguments = (ins Graph_Tensor:$x, StrAttr:$delimiter, I64Attr:$splits);
  let results = (outs Graph_Integers:$characters, Graph_Integers:$begins, Graph_Integers:$counts,
                      Graph_Integers:$used);
}

def Graph_FindTokensOp : Graph_BodyOp<"find_tokens", [Graph_DynamicSizes], Graph_StatedTypes> {
  let summary = "The substrings that a finite automaton accepts";
  let description = [{
    Each token begins where the previous one ends, or at the next position where one
    begins, and is as long as possible. `next` and `accepts` are those of
    graph.match_string; state `dead` cannot reach a final state. Tokens of fewer than
    `least` characters are dropped. The results are those of graph.split_strings, padded
    with the string `pad`.
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Integers:$next, Graph_Truths:$accepts, I64Attr:$dead,
                       I64Attr:$least, StrAttr:$pad);
  let results = (outs Graph_Integers:$characters, Graph_Integers:$begins, Graph_Integers:$counts,
                      Graph_Integers:$used);
}
