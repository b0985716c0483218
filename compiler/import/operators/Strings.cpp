// Imports StringConcat, StringNormalizer, StringSplit, RegexFullMatch and
// Tokenizer. The last two become automata.
//
// All except RegexFullMatch create strings. They become operators with three
// results: the characters of all strings, which are in the arena (the buffer
// for intermediate tensors), the start positions of the strings, and the number
// of bytes needed, which the generated program compares with the bytes
// available.

#include "dialects/graph/ops/Strings.h"
#include "compiler/import/operators/OnnxImport.h"
#include "compiler/import/operators/Pattern.h"
#include "dialects/graph/ops/Movement.h"
#include "llvm/Support/ConvertUTF.h"

using namespace mlir;

namespace ingot::graph {

/// The number of bytes that are reserved, on average, for the characters of
/// each created string.
static constexpr int64_t bytesPerString = 256;

static Type integer(OnnxNode &node, unsigned bits, bool isSigned) {
  return node.builder.getIntegerType(bits, isSigned);
}

static RankedTensorType characters(OnnxNode &node, int64_t room) {
  return RankedTensorType::get({std::max<int64_t>(room, 1)},
                               integer(node, 8, /*isSigned=*/false));
}

static int64_t roomFor(Value x) {
  return bytesPerString * std::max<int64_t>(tensorType(x).getNumElements(), 1);
}

/// Builds the operator `OpT`, which writes a string for each element of `x`,
/// and returns the strings.
template <typename OpT, typename... Operands>
static FailureOr<Value> written(OnnxNode &node, Value x, Operands... operands) {
  Type i64 = node.i64();
  int64_t room = roomFor(x);
  if (tensorType(x).getNumElements() == 0)
    return x;
  auto op =
      OpT::create(node.builder, node.loc,
                  TypeRange{characters(node, room), tensorOf(dimsOf(x), i64),
                            RankedTensorType::get({1}, i64)},
                  operands...);
  auto used = node.readSizes(op.getUsed(), {room});
  if (failed(used))
    return failure();
  op.getCharacters().setType(characters(node, used->front().most()));
  return node.build<StringsOp>(op.getCharacters(), op.getBegins());
}

namespace {
/// A range of letters: `first`, `first` + `step`, ..., `last`, where `step` is
/// 1 or 2. The same letter in the other case has the code of the letter plus
/// `distance`.
struct LetterRange {
  int32_t first, last, step, distance;
};
} // namespace

static ArrayRef<LetterRange> letterRanges(bool upper) {
  static constexpr LetterRange lowers[] = {
#define INGOT_LOWER(FIRST, LAST, STEP, DISTANCE) {FIRST, LAST, STEP, DISTANCE},
#include "dialects/graph/ops/LetterCases.def"
  };
  static constexpr LetterRange uppers[] = {
#define INGOT_UPPER(FIRST, LAST, STEP, DISTANCE) {FIRST, LAST, STEP, DISTANCE},
#include "dialects/graph/ops/LetterCases.def"
  };
  return upper ? ArrayRef(uppers) : ArrayRef(lowers);
}

static FailureOr<Value> inCase(OnnxNode &node, Value x, bool upper) {
  SmallVector<int32_t> numbers;
  for (const LetterRange &range : letterRanges(upper))
    numbers.append({range.first, range.last, range.step, range.distance});
  auto type = RankedTensorType::get({int64_t(numbers.size()) / 4, 4},
                                    integer(node, 32, /*isSigned=*/true));
  Value ranges = node.constant(DenseElementsAttr::get(type, ArrayRef(numbers)));
  return written<MapLettersOp>(node, x, x, ranges);
}

/// Converts `text` to lower case, in the same way as the generated code.
static std::string inLowerCase(StringRef text) {
  std::string result;
  const auto *from = reinterpret_cast<const llvm::UTF8 *>(text.begin()),
             *end = reinterpret_cast<const llvm::UTF8 *>(text.end());
  while (from != end) {
    llvm::UTF32 code;
    if (llvm::convertUTF8Sequence(&from, end, &code, llvm::strictConversion) !=
        llvm::conversionOK) {
      result += static_cast<char>(*from++);
      continue;
    }
    for (const LetterRange &range : letterRanges(/*upper=*/false)) {
      int32_t offset = static_cast<int32_t>(code) - range.first;
      if (offset < 0 || static_cast<int32_t>(code) > range.last ||
          offset % range.step)
        continue;
      code += static_cast<llvm::UTF32>(range.distance);
      break;
    }
    char bytes[UNI_MAX_UTF8_BYTES_PER_CODE_POINT], *to = bytes;
    llvm::ConvertCodePointToUTF8(code, to);
    result.append(bytes, to);
  }
  return result;
}

static ImportResult importStringConcat(OnnxNode &node) {
  SmallVector<Value> operands{node.input(0), node.input(1)};
  std::optional<Dims> sizes = node.broadcast(operands);
  if (!sizes)
    return node.invalid("the shapes do not broadcast");
  for (Value &operand : operands)
    if (dimsOf(operand) != *sizes)
      operand = node.expand(operand, *sizes);
  return one(written<JoinStringsOp>(node, operands[0], ValueRange(operands)));
}

/// Returns booleans [n + 1]. The first n tell whether each element of x [n] is
/// not a stop word; the last one tells whether all elements are stop words.
static Value keptAndNone(OnnxNode &node, Value x, ArrayRef<std::string> words) {
  Dim count = dimsOf(x)[0];
  Type byte = integer(node, 8, /*isSigned=*/false);
  Value stops =
      buildStrings(node.builder, node.loc, {1, int64_t(words.size())}, words);
  Value same = node.equal(node.reshape(x, {count, 1}), stops);
  Value dropped =
      node.build<ReduceMaxOp>(node.cast(same, byte), ArrayRef<int64_t>{1});
  dropped = node.reshape(dropped, {count});
  Value none = node.build<ReduceMinOp>(dropped, ArrayRef<int64_t>{0});
  Value kept = node.equal(dropped, 0);
  return node.concat({kept, node.cast(none, node.builder.getI1Type())}, 0);
}

static ImportResult importStringNormalizer(OnnxNode &node) {
  Value x = node.input(0);
  size_t rank = shapeOf(x).size();
  std::string action = node.stringAttr("case_change_action", "NONE");
  if (!llvm::is_contained({"NONE", "LOWER", "UPPER"}, action))
    return node.invalid("unknown case_change_action `" + action + "`");
  if ((rank != 1 && rank != 2) || (rank == 2 && !(dimsOf(x)[0] == 1)))
    return node.invalid("the input must have the shape [C] or [1, C]");
  x = node.reshape(x, {dimsOf(x).back()});
  SmallVector<std::string> words = node.stringsAttr("stopwords");
  Value empty = buildStrings(node.builder, node.loc, {1}, {std::string()});
  if (tensorType(x).getNumElements() == 0) {
    x = empty;
  } else if (!words.empty()) {
    Value compared = x;
    if (node.intAttr("is_case_sensitive", 0) == 0) {
      auto lower = inCase(node, x, /*upper=*/false);
      if (failed(lower))
        return failure();
      compared = *lower;
      for (std::string &word : words)
        word = inLowerCase(word);
    }
    Value kept = keptAndNone(node, compared, words);
    Value all = node.concat({x, empty}, 0);
    x = node.valueAs("Compress", {all, kept});
    if (!x)
      return failure();
  }
  if (action != "NONE") {
    auto changed = inCase(node, x, /*upper=*/action == "UPPER");
    if (failed(changed))
      return failure();
    x = *changed;
  }
  if (rank == 2)
    x = node.reshape(x, {1, dimsOf(x)[0]});
  return one(x);
}

/// The largest number of parts into which a string is split: about the number
/// of words in a line of text.
static constexpr int64_t mostPieces = 64;

/// Returns the parts into which `op` splits its strings. `op` has space for
/// `pieces` parts per string and `room` bytes. The last axis of the result has
/// the size of the largest number of parts of a string.
template <typename OP>
static FailureOr<Value> readPieces(OnnxNode &node, OP op, int64_t pieces,
                                   int64_t room) {
  auto used = node.readSizes(op.getUsed(), {pieces, room});
  if (failed(used))
    return failure();
  Type i64 = node.i64();
  Dims sizes = dimsOf(op.getX());
  op.getCharacters().setType(characters(node, (*used)[1].most()));
  sizes.push_back((*used)[0].most());
  op.getBegins().setType(tensorOf(sizes, i64));
  sizes.back() = (*used)[0];
  Value begins = node.cut(op.getBegins(), sizes);
  return node.build<StringsOp>(op.getCharacters(), begins);
}

static ImportResult importStringSplit(OnnxNode &node) {
  Value x = node.input(0);
  Type i64 = node.i64();
  int64_t room = 2 * roomFor(x), splits = node.intAttr("maxsplit", -1);
  if (node.hasAttr("maxsplit") && splits < 0)
    splits = -1;
  // The attribute `maxsplit` limits the number of parts.
  int64_t pieces = splits < 0 ? mostPieces : std::min(splits + 1, mostPieces);
  Dims sizes = dimsOf(x);
  if (tensorType(x).getNumElements() == 0) {
    sizes.push_back(0);
    Value none = buildStrings(node.builder, node.loc, {1}, {std::string()});
    SmallVector<int64_t> shape;
    for (const Dim &size : sizes)
      shape.push_back(size.most());
    return SmallVector<Value>{buildStrings(node.builder, node.loc, shape, {}),
                              node.cast(node.equal(x, none), i64)};
  }
  sizes.push_back(pieces);
  auto split = SplitStringsOp::create(
      node.builder, node.loc,
      TypeRange{characters(node, room), tensorOf(sizes, i64),
                tensorOf(dimsOf(x), i64), RankedTensorType::get({2}, i64)},
      x, node.stringAttr("delimiter", ""), splits);
  auto found = readPieces(node, split, pieces, room);
  if (failed(found))
    return failure();
  return SmallVector<Value>{*found, split.getCounts()};
}

/// Returns the transition table [states, 256] of an automaton, and a boolean
/// for each state that tells whether the state accepts.
static std::pair<Value, Value> tablesOf(OnnxNode &node,
                                        const Automaton &automaton) {
  int64_t states = automaton.accepts.size();
  auto next = RankedTensorType::get({states, 256},
                                    integer(node, 16, /*isSigned=*/false));
  auto accepts = RankedTensorType::get({states}, node.builder.getI1Type());
  SmallVector<bool> ends(automaton.accepts.begin(), automaton.accepts.end());
  return {node.constant(DenseElementsAttr::get(next, ArrayRef(automaton.next))),
          node.constant(DenseElementsAttr::get(accepts, ArrayRef(ends)))};
}

static ImportResult importRegexFullMatch(OnnxNode &node) {
  std::string pattern = node.stringAttr("pattern", ""), error;
  std::optional<Automaton> automaton = compilePattern(pattern, error);
  if (!automaton)
    return node.unsupported("the pattern has " + error +
                            ", which is not supported");
  auto [next, accepts] = tablesOf(node, *automaton);
  return one(node.build<MatchStringOp>(node.input(0), next, accepts));
}

/// Returns the dead state, which has only transitions to itself and does not
/// accept. If there is none, returns the number of states, which is no valid
/// state.
static int64_t deadState(const Automaton &automaton) {
  int64_t states = automaton.accepts.size();
  for (int64_t state = 0; state < states; ++state) {
    auto next = ArrayRef(automaton.next).slice(state * 256, 256);
    if (!automaton.accepts[state] && llvm::all_equal(next) &&
        next.front() == state)
      return state;
  }
  return states;
}

static ImportResult importTokenizer(OnnxNode &node) {
  Value x = node.input(0);
  SmallVector<std::string> separators = node.stringsAttr("separators");
  std::string pattern = node.stringAttr("tokenexp", ""), error;
  std::string pad = node.stringAttr("pad_value", "");
  int64_t least = node.intAttr("mincharnum", 1);
  bool isOfCharacters = separators.size() == 1 && separators[0].empty();
  if (shapeOf(x).empty() || shapeOf(x).size() > 2)
    return node.invalid("the input must have the shape [C] or [N, C]");
  if (least < 1)
    return node.invalid("`mincharnum` must be 1 or more");
  if (separators.empty() == pattern.empty())
    return node.invalid(
        "exactly one of `separators` and `tokenexp` must be given");
  if (node.intAttr("mark", 0))
    return node.unsupported(
        "`mark`=1, marks at the start and the end, is not supported",
        "export the model with mark=0");
  if (!separators.empty() && !isOfCharacters)
    return node.unsupported("splitting at `separators` is not supported",
                            "export the model with `tokenexp`, the pattern of "
                            "tokens");
  if (pad.find('\0') != std::string::npos)
    return node.unsupported("a zero byte in `pad_value` is not supported",
                            "use another `pad_value`");
  auto automaton = compilePattern(isOfCharacters ? "." : pattern, error,
                                  /*isInText=*/true);
  if (!automaton)
    return node.unsupported("`tokenexp` has " + error +
                                ", which is not supported",
                            "export the model with a pattern without it");
  int64_t room = 2 * roomFor(x) + int64_t(pad.size()) + 1;
  Dims sizes = dimsOf(x);
  Type i64 = node.i64();
  if (tensorType(x).getNumElements() == 0)
    return node.unsupported("an input without strings is not supported",
                            "give an input with at least one string");
  auto [next, accepts] = tablesOf(node, *automaton);
  sizes.push_back(mostPieces);
  auto tokens = FindTokensOp::create(
      node.builder, node.loc,
      TypeRange{characters(node, room), tensorOf(sizes, i64),
                tensorOf(dimsOf(x), i64), RankedTensorType::get({2}, i64)},
      x, next, accepts, deadState(*automaton), least, pad);
  return one(readPieces(node, tokens, mostPieces, room));
}

void registerStringsImports(OnnxRegistry &registry) {
  registry.add("StringConcat", importStringConcat);
  registry.add("StringNormalizer", importStringNormalizer);
  registry.add("StringSplit", importStringSplit);
  registry.add("Tokenizer", importTokenizer,
               "marks; separators; anchors and edges of words in `tokenexp`",
               "com.microsoft");
  registry.add("RegexFullMatch", importRegexFullMatch,
               "flags; named character classes");
}

} // namespace ingot::graph
