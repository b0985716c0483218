// Operators that read or write the characters of strings.

#include "dialects/graph/ops/Strings.h"

#include "dialects/graph/ExprNames.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ingot::graph {

bool isString(Type type) { return isa<kernel::StringType>(type); }

bool writesCharacters(Operation *op) {
  auto strings = dyn_cast<StringsOp>(op);
  return strings && !strings.getCharacters().getDefiningOp<ConstantOp>();
}

static bool holdsStrings(Value v) { return isString(elementOf(v)); }

static Type byte(MLIRContext *context) {
  return IntegerType::get(context, 8, IntegerType::Unsigned);
}

static Type si64(MLIRContext *context) {
  return IntegerType::get(context, 64, IntegerType::Signed);
}

static Expr lengthOf(ElementBuilder &b, Expr string) {
  Type index = b.builder.getIndexType();
  return b.wrap(
      kernel::StringLengthOp::create(b.builder, b.loc, index, string.value),
      index);
}

static Expr characterOf(ElementBuilder &b, Expr string, Expr position) {
  return b.wrap(kernel::CharacterOp::create(b.builder, b.loc,
                                            b.builder.getI8Type(), string.value,
                                            position.value),
                byte(b.builder.getContext()));
}

Value buildStrings(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape,
                   ArrayRef<std::string> values) {
  // The characters of all strings. Equal strings are stored once.
  SmallVector<uint8_t> characters;
  SmallVector<int32_t> begins;
  llvm::StringMap<int32_t> known;
  for (const std::string &value : values) {
    auto [place, isNew] =
        known.try_emplace(value, static_cast<int32_t>(characters.size()));
    begins.push_back(place->second);
    if (!isNew)
      continue;
    characters.append(value.begin(), value.end());
    characters.push_back(0);
  }
  if (characters.empty())
    characters.push_back(0);
  auto list = RankedTensorType::get({int64_t(characters.size())},
                                    byte(builder.getContext()));
  auto places = RankedTensorType::get(
      shape, builder.getIntegerType(32, /*isSigned=*/true));
  Value all = ConstantOp::create(
      builder, loc, DenseElementsAttr::get(list, ArrayRef(characters)));
  Value at = ConstantOp::create(
      builder, loc, DenseElementsAttr::get(places, ArrayRef(begins)));
  return StringsOp::create(builder, loc, all, at);
}

//===----------------------------------------------------------------------===//
// Strings and automata
//===----------------------------------------------------------------------===//

LogicalResult StringsOp::inferTypes(Adaptor op, TypeRule &rule) {
  Value characters = op.getCharacters();
  if (failed(rule.require(elementOf(characters).isUnsignedInteger(8) &&
                              shapeOf(characters).size() == 1,
                          "has characters that are no list of bytes")))
    return failure();
  return rule.result(dimsOf(op.getBegins()),
                     kernel::StringType::get(op.getCharacters().getContext()));
}

Expr StringsOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  Expr begin = convert(b.load(getBegins(), idx), b.builder.getIndexType());
  Type string = elementOf(getResult());
  return b.wrap(kernel::StringAtOp::create(b.builder, b.loc, string,
                                           b.bufferOf(getCharacters()),
                                           begin.value),
                string);
}

static LogicalResult requireAutomaton(Value table, Value accepts,
                                      TypeRule &rule) {
  ArrayRef<int64_t> next = shapeOf(table);
  return rule.require(next.size() == 2 && next[0] > 0 && next[1] == 256 &&
                          shapeOf(accepts) == next.take_front(1),
                      "has no next state for each state and byte");
}

LogicalResult MatchStringOp::inferTypes(Adaptor op, TypeRule &rule) {
  if (failed(rule.require(holdsStrings(op.getX()), "reads no strings")) ||
      failed(requireAutomaton(op.getNext(), op.getAccepts(), rule)))
    return failure();
  return rule.result(dimsOf(op.getX()),
                     IntegerType::get(op.getX().getContext(), 1));
}

bool MatchStringOp::isCheap() { return false; }

Expr MatchStringOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  Expr string = b.load(getX(), idx);
  Type index = b.builder.getIndexType();
  Expr end =
      b.loop(b.index(0), lengthOf(b, string), 1, {b.index(0)},
             [&](Expr i, ArrayRef<Expr> state) -> Exprs {
               Expr at = convert(characterOf(b, string, i), index);
               return {convert(b.load(getNext(), {state[0], at}), index)};
             })[0];
  return b.load(getAccepts(), {end});
}

//===----------------------------------------------------------------------===//
// Writing characters
//===----------------------------------------------------------------------===//

namespace {

/// Writes characters into result 0, up to its capacity `room`. The last
/// character of the capacity is set to zero first, so that truncated strings
/// are terminated as well.
class Writer {
public:
  Writer(BodyBuilder &b, Value characters)
      : b(b), room(tensorType(characters).getNumElements()) {
    b.store(0u, zero(), {b.index(room - 1)});
  }

  /// Stores a character at position `at` if this is before the last character
  /// of the capacity, which stays zero.
  void put(Expr at, Expr character) {
    b.when(at < double(room - 1), [&] { b.store(0u, character, {at}); });
  }
  void end(Expr at) { put(at, zero()); }
  /// Returns the position to store as the beginning of a string that is written
  /// at `at`, limited to the capacity.
  Expr begin(Expr at) { return number(min(at, b.index(room - 1))); }
  /// Converts a position or a count to the type in which it is stored.
  Expr number(Expr at) { return convert(at, si64(b.builder.getContext())); }
  /// Copies the characters [from, to) of a string to `at`, followed by a zero;
  /// returns the position after the zero.
  Expr copy(Expr string, Expr from, Expr to, Expr at) {
    Expr count = to - from;
    b.forRange(b.index(0), count,
               [&](Expr i) { put(at + i, characterOf(b, string, from + i)); });
    end(at + count);
    return at + count + 1.0;
  }

private:
  Expr zero() { return b.constantInt(0, byte(b.builder.getContext())); }

  BodyBuilder &b;
  int64_t room;
};

} // namespace

static LogicalResult requireRoom(TypeRule &rule) {
  return rule.require(rule.stated(0).size() == 1 && rule.stated(0)[0] > 0 &&
                          rule.statedElement(0).isUnsignedInteger(8),
                      "has no room for characters");
}

LogicalResult JoinStringsOp::inferTypes(Adaptor op, TypeRule &rule) {
  ValueRange inputs = op.getInputs();
  if (failed(rule.require(!inputs.empty() && llvm::all_of(inputs, holdsStrings),
                          "joins no strings")) ||
      failed(requireRoom(rule)))
    return failure();
  for (Value input : inputs)
    if (failed(rule.require(dimsOf(input) == dimsOf(inputs[0]),
                            "joins strings of different shapes")))
      return failure();
  Type i64 = si64(rule.statedElement(0).getContext());
  (void)rule.result(rule.stated(0), rule.statedElement(0));
  (void)rule.result(dimsOf(inputs[0]), i64);
  return rule.result({1}, i64);
}

void JoinStringsOp::emitBody(BodyBuilder &b) {
  Writer writer(b, getCharacters());
  Dims sizes = dimsOf(getBegins());
  Expr used =
      b.loop(product(sizes), {b.index(0)}, [&](Expr i, ArrayRef<Expr> carried) {
        Exprs at = b.delinearize(i, sizes);
        Expr place = named(carried[0], "place");
        b.store(1u, writer.begin(place), at);
        for (Value input : getInputs()) {
          Expr string = b.load(input, at),
               length = named(lengthOf(b, string), "length");
          b.forRange(b.index(0), length, [&](Expr j) {
            writer.put(place + j, characterOf(b, string, j));
          });
          place = place + length;
        }
        writer.end(place);
        return Exprs{place + 1.0};
      })[0];
  b.store(2u, writer.number(used), {b.index(0)});
}

LogicalResult MapLettersOp::inferTypes(Adaptor op, TypeRule &rule) {
  ArrayRef<int64_t> ranges = shapeOf(op.getRanges());
  if (failed(rule.require(holdsStrings(op.getX()), "reads no strings")) ||
      failed(rule.require(
          elementOf(op.getRanges()).isSignedInteger(32) && ranges.size() == 2 &&
              ranges[0] > 0 && ranges[1] == 4,
          "has no first, last, step and distance for each range")) ||
      failed(requireRoom(rule)))
    return failure();
  Type i64 = si64(rule.statedElement(0).getContext());
  (void)rule.result(rule.stated(0), rule.statedElement(0));
  (void)rule.result(dimsOf(op.getX()), i64);
  return rule.result({1}, i64);
}

namespace {

/// Decodes strings to code points, maps each code point (to lower or upper
/// case), and writes the result.
class LetterMap {
public:
  LetterMap(BodyBuilder &b, Writer &writer, Value ranges)
      : b(b), writer(writer), ranges(ranges),
        si32(b.builder.getIntegerType(32, /*isSigned=*/true)) {}

  /// Maps the character that begins at byte `i` of a string of `length` bytes
  /// and writes the mapped character at output position `place`. Returns the
  /// number of bytes read, and the output position after the bytes written.
  std::pair<Expr, Expr> map(Expr string, Expr length, Expr i, Expr place) {
    Expr c[4];
    for (unsigned k = 0; k < 4; ++k)
      // Beyond the end of the string, the terminating zero is read, which is
      // not a continuation byte.
      c[k] = named(
          convert(characterOf(b, string, min(i + double(k), length)), si32),
          "byte_" + Twine(k));
    auto goesOn = [&](unsigned k) {
      return equal(c[k] & literal(0xc0), 128.0);
    };
    auto bits = [&](unsigned k, int64_t mask, int64_t shift) {
      return (c[k] & literal(mask)) << literal(shift);
    };
    Expr two = bits(0, 0x1f, 6) | bits(1, 0x3f, 0),
         three = named(bits(0, 0x0f, 12) | bits(1, 0x3f, 6) | bits(2, 0x3f, 0),
                       "code_of_3"),
         four = named(bits(0, 0x07, 18) | bits(1, 0x3f, 12) | bits(2, 0x3f, 6) |
                          bits(3, 0x3f, 0),
                      "code_of_4");
    // Excludes overlong encodings, which are not valid UTF-8.
    Expr isTwo = (c[0] >= 0xc2) & (c[0] < 0xe0) & goesOn(1),
         isThree = (c[0] >= 0xe0) & (c[0] < 0xf0) & goesOn(1) & goesOn(2) &
                   (three >= 0x800),
         isFour = (c[0] >= 0xf0) & (c[0] < 0xf5) & goesOn(1) & goesOn(2) &
                  goesOn(3) & (four >= 0x10000);
    Expr one = b.index(1);
    Expr bytes = named(
        select(isTwo, b.index(2),
               select(isThree, b.index(3), select(isFour, b.index(4), one))),
        "bytes");
    Expr code = named(
        select(isTwo, two, select(isThree, three, select(isFour, four, c[0]))),
        "code");
    Expr isText = (c[0] < 0x80) | (bytes > 1.0);
    Expr letter = named(select(isText, mapped(code), code), "letter");
    Expr written =
        named(select((letter < 0x80) | ~isText, one,
                     select(letter < 0x800, b.index(2),
                            select(letter < 0x10000, b.index(3), b.index(4)))),
              "written");
    // Writes the lead byte, then the continuation bytes, highest bits first.
    for (int64_t count = 1; count <= 4; ++count)
      b.when(equal(written, double(count)), [&] {
        constexpr int64_t lead[] = {0, 0xc0, 0xe0, 0xf0};
        for (int64_t k = 0; k < count; ++k) {
          Expr part = letter >> literal(6 * (count - 1 - k));
          if (k > 0)
            part = (part & literal(0x3f)) | literal(0x80);
          else if (count > 1)
            part = part | literal(lead[count - 1]);
          writer.put(place + double(k),
                     convert(part, byte(b.builder.getContext())));
        }
      });
    return {bytes, place + written};
  }

private:
  Expr literal(int64_t value) { return b.constantInt(value, si32); }
  Expr entry(Expr range, int64_t column) {
    return b.load(ranges, {range, b.index(column)});
  }

  /// Finds, by binary search, the last range that begins at or before the code
  /// point `code`. Returns the code point to which the range maps `code`; if
  /// the range does not contain `code`, returns `code`.
  Expr mapped(Expr code) {
    int64_t count = shapeOf(ranges)[0];
    double half = double(llvm::PowerOf2Ceil(uint64_t(count))) / 2;
    Expr range =
        b.loop(b.index(0), b.index(llvm::Log2_64_Ceil(uint64_t(count))), 1,
               {b.index(0), b.index(int64_t(half))},
               [&](Expr, ArrayRef<Expr> carried) -> Exprs {
                 Expr next = named(carried[0] + carried[1], "next");
                 Expr first = entry(min(next, b.index(count - 1)), 0);
                 Expr isBelow = (next < double(count)) & (first <= code);
                 return {named(select(isBelow, next, carried[0]), "range"),
                         named(carried[1] / 2.0, "half")};
               })[0];
    Expr offset = named(code - entry(range, 0), "offset");
    Expr isIn = (offset >= 0.0) & (code <= entry(range, 1)) &
                equal(offset % entry(range, 2), 0.0);
    return select(isIn, code + entry(range, 3), code);
  }

  BodyBuilder &b;
  Writer &writer;
  Value ranges;
  Type si32;
};

} // namespace

void MapLettersOp::emitBody(BodyBuilder &b) {
  Writer writer(b, getCharacters());
  LetterMap letters(b, writer, getRanges());
  Dims sizes = dimsOf(getBegins());
  Expr used =
      b.loop(product(sizes), {b.index(0)}, [&](Expr i, ArrayRef<Expr> carried) {
        Exprs at = b.delinearize(i, sizes);
        b.store(1u, writer.begin(carried[0]), at);
        Expr string = b.load(getX(), at),
             length = named(lengthOf(b, string), "length");
        // The loop carries the next output position, and the start of the next
        // character.
        Expr end = b.loop(b.index(0), length, 1, {carried[0], b.index(0)},
                          [&](Expr j, ArrayRef<Expr> s) -> Exprs {
                            Expr place = named(s[0], "place"),
                                 begin = named(s[1], "begin");
                            // ifElse has a single result, so the output
                            // position and the number of bytes read, which is
                            // at most four, are packed into one number.
                            Expr next = b.ifElse(
                                equal(j, begin),
                                [&] {
                                  auto [bytes, behind] =
                                      letters.map(string, length, j, place);
                                  return behind * 8.0 + bytes;
                                },
                                [&] { return place * 8.0; });
                            return {next / 8.0, begin + next % 8.0};
                          })[0];
        writer.end(end);
        return Exprs{end + 1.0};
      })[0];
  b.store(2u, writer.number(used), {b.index(0)});
}

/// The type rule of operators that split strings.
static LogicalResult inferPieces(Value x, TypeRule &rule) {
  if (failed(rule.require(holdsStrings(x), "splits no strings")) ||
      failed(requireRoom(rule)))
    return failure();
  Dims pieces = dimsOf(x);
  if (failed(rule.require(rule.stated(1).size() == pieces.size() + 1 &&
                              rule.stated(1).back() > 0,
                          "has no room for pieces")))
    return failure();
  pieces.push_back(rule.statedDims(1).back());
  Type i64 = si64(rule.statedElement(0).getContext());
  (void)rule.result(rule.stated(0), rule.statedElement(0));
  (void)rule.result(pieces, i64);
  (void)rule.result(dimsOf(x), i64);
  return rule.result({2}, i64);
}

LogicalResult SplitStringsOp::inferTypes(Adaptor op, TypeRule &rule) {
  return inferPieces(op.getX(), rule);
}

namespace {

/// The pieces into which one string is split. Writes their characters, and
/// their positions to the row of the string in result 1.
struct Pieces {
  /// Sets all entries of the row to `nothing`, the position of the empty
  /// string.
  void clear(Expr nothing) {
    b.forEach({room}, [&](ArrayRef<Expr> piece) {
      b.store(1u, writer.number(nothing), at(piece[0]));
    });
  }
  /// Writes the characters [from, to) of the string as piece number `count` to
  /// output position `place`. Returns the output position after the piece.
  Expr write(Expr string, Expr from, Expr to, Expr count, Expr place) {
    b.when(count < double(room),
           [&] { b.store(1u, writer.begin(place), at(count)); });
    return writer.copy(string, from, to, place);
  }
  Exprs at(Expr piece) {
    Exprs place(row);
    place.push_back(piece);
    return place;
  }

  BodyBuilder &b;
  Writer &writer;
  int64_t room;
  Exprs row;
};

} // namespace

/// Whether a delimiter begins at byte `i` of a string of `length` bytes. If
/// `delimiter` is empty, each white-space character is a delimiter.
static Expr isDelimiter(BodyBuilder &b, Expr string, Expr length, Expr i,
                        StringRef delimiter) {
  if (delimiter.empty()) {
    Expr c = characterOf(b, string, i);
    return ((c >= double('\t')) & (c <= double('\r'))) |
           ((c >= 28.0) & (c <= double(' ')));
  }
  // Reads bytes only if a delimiter fits between `i` and the end of the string.
  return b.ifElse(
      i + double(delimiter.size()) <= length,
      [&] {
        Expr same;
        for (auto [k, c] : llvm::enumerate(delimiter)) {
          Expr own = equal(characterOf(b, string, i + double(k)),
                           double(static_cast<uint8_t>(c)));
          same = same ? same & own : own;
        }
        return same;
      },
      [&] { return b.constantInt(0, b.builder.getI1Type()); });
}

/// A string to split, and the output position of its first piece.
struct CutString {
  Expr string, length, place;
};
/// The number of pieces of a string, and the output position after them.
struct Cut {
  Expr count, place;
};

/// Splits each string of `x` by calling `cut`, and writes the pieces from
/// output position `place` on. Stores the number of pieces of each string in
/// result 2. Stores the largest of these numbers, and the end of the output, in
/// result 3.
static void emitPieces(BodyBuilder &b, Writer &writer, Value x, Value begins,
                       Expr place,
                       llvm::function_ref<Cut(Pieces &, CutString)> cut) {
  Dims sizes = dimsOf(x);
  Expr none = b.index(0);
  Exprs all = b.loop(product(sizes), {place, none},
                     [&](Expr row, ArrayRef<Expr> carried) -> Exprs {
                       Exprs at = b.delinearize(row, sizes);
                       Expr string = b.load(x, at),
                            length = named(lengthOf(b, string), "length");
                       Pieces pieces{b, writer, shapeOf(begins).back(), at};
                       pieces.clear(none);
                       Cut own = cut(pieces, {string, length, carried[0]});
                       b.store(2u, writer.number(own.count), at);
                       return {own.place, max(carried[1], own.count)};
                     });
  b.store(3u, writer.number(all[1]), {none});
  b.store(3u, writer.number(all[0]), {b.index(1)});
}

void SplitStringsOp::emitBody(BodyBuilder &b) {
  Writer writer(b, getCharacters());
  int64_t splits = static_cast<int64_t>(getSplits());
  bool spaces = getDelimiter().empty();
  int64_t width = spaces ? 1 : getDelimiter().size();
  Expr none = b.index(0);
  // Writes an empty string at position 0. The unused entries of `begins` refer
  // to it.
  b.store(0u, b.constantInt(0, byte(getContext())), {none});
  auto cut = [&](Pieces &pieces, CutString from) -> Cut {
    Expr string = from.string, length = from.length;
    auto mayGoOn = [&](Expr count) {
      return splits < 0 ? b.constantInt(1, b.builder.getI1Type())
                        : count < double(splits);
    };
    // The loop carries: the start of the current piece; the number of pieces;
    // the next output position; the end of the last delimiter. When splitting
    // at white space, the start is length + 1 if no piece has begun.
    Expr outside = length + 1.0;
    Exprs state = b.loop(
        none, length, 1, {spaces ? outside : none, none, from.place, none},
        [&](Expr i, ArrayRef<Expr> s) -> Exprs {
          Expr begins = named(s[0], "begins"), count = named(s[1], "count"),
               place = named(s[2], "place"), skip = named(s[3], "skip");
          Expr parts = (i >= skip) & mayGoOn(count) &
                       isDelimiter(b, string, length, i, getDelimiter());
          Expr writes = spaces ? parts & (begins <= length) : parts;
          Expr next = b.ifElse(
              writes,
              [&] { return pieces.write(string, begins, i, count, place); },
              [&] { return place; });
          Expr started =
              spaces ? select(parts, outside,
                              select((begins > length) &
                                         ~isDelimiter(b, string, length, i, ""),
                                     i, begins))
                     : select(parts, i + double(width), begins);
          return {started, select(writes, count + 1.0, count), next,
                  select(parts, i + double(width), skip)};
        });
    Expr begins = state[0], count = state[1], place = state[2];
    Expr rest =
        spaces ? begins <= length : b.constantInt(1, b.builder.getI1Type());
    place = b.ifElse(
        rest,
        [&] { return pieces.write(string, begins, length, count, place); },
        [&] { return place; });
    return {select(rest, count + 1.0, count), place};
  };
  emitPieces(b, writer, getX(), getBegins(), b.index(1), cut);
}

LogicalResult FindTokensOp::inferTypes(Adaptor op, TypeRule &rule) {
  if (failed(requireAutomaton(op.getNext(), op.getAccepts(), rule)))
    return failure();
  return inferPieces(op.getX(), rule);
}

/// Returns the end of the longest token that begins at byte `from` of a string
/// of `length` bytes; `from` if no token begins there.
static Expr endOfToken(BodyBuilder &b, FindTokensOp op, Expr string,
                       Expr length, Expr from) {
  Type index = b.builder.getIndexType();
  Expr dead = b.index(static_cast<int64_t>(op.getDead()));
  Expr start = b.index(0);
  return b.loopWhile(
      {from, start, from},
      [&](ArrayRef<Expr> c) {
        return (named(c[0], "position") < length) &
               ~equal(named(c[1], "state"), dead);
      },
      [&](ArrayRef<Expr> c) -> Exprs {
        Expr position = named(c[0], "position"), state = named(c[1], "state"),
             end = named(c[2], "end");
        Expr byte = convert(characterOf(b, string, position), index);
        Expr next = convert(b.load(op.getNext(), {state, byte}), index);
        Expr behind = position + 1.0;
        return {behind, next,
                select(b.load(op.getAccepts(), {next}), behind, end)};
      })[2];
}

/// Whether the bytes [from, to) contain at least `least` characters. Characters
/// are counted as bytes other than UTF-8 continuation bytes.
static Expr hasCharacters(BodyBuilder &b, Expr string, Expr from, Expr to,
                          int64_t least) {
  if (least <= 1)
    return from < to;
  Expr count = b.loop(from, to, 1, {b.index(0)},
                      [&](Expr i, ArrayRef<Expr> carried) -> Exprs {
                        Expr c = characterOf(b, string, i);
                        Expr begins = (c < 128.0) | (c >= 192.0);
                        return {select(begins, carried[0] + 1.0, carried[0])};
                      })[0];
  return count >= double(least);
}

void FindTokensOp::emitBody(BodyBuilder &b) {
  Writer writer(b, getCharacters());
  int64_t least = static_cast<int64_t>(getLeast());
  Expr none = b.index(0);
  StringRef pad = getPad();
  for (auto [i, c] : llvm::enumerate(pad))
    writer.put(b.index(i),
               b.constantInt(static_cast<uint8_t>(c), byte(getContext())));
  writer.end(b.index(pad.size()));
  auto cut = [&](Pieces &pieces, CutString from) -> Cut {
    Expr string = from.string, length = from.length;
    // The loop carries the number of tokens, the next output position, and the
    // end of the last token.
    Exprs state = b.loop(
        none, length, 1, {none, from.place, none},
        [&](Expr i, ArrayRef<Expr> s) -> Exprs {
          Expr count = named(s[0], "count"), place = named(s[1], "place"),
               skip = named(s[2], "skip");
          Expr end = b.ifElse(
              i >= skip,
              [&] { return endOfToken(b, *this, string, length, i); },
              [&] { return i; });
          Expr counts =
              named(hasCharacters(b, string, i, end, least), "counts");
          Expr next = b.ifElse(
              counts,
              [&] { return pieces.write(string, i, end, count, place); },
              [&] { return place; });
          return {select(counts, count + 1.0, count), next, max(end, skip)};
        });
    return {state[0], state[1]};
  };
  emitPieces(b, writer, getX(), getBegins(),
             b.index(static_cast<int64_t>(pad.size()) + 1), cut);
}

} // namespace ingot::graph
