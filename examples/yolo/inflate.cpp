#include "inflate.h"

#include <cstddef>

namespace {

/// A Huffman code: the number of code words of each length, and the symbols in
/// the order of their code words.
struct Code {
  uint16_t counts[16] = {};
  uint16_t symbols[288] = {};

  /// Forms the code from the length of each symbol's code word. Returns false if
  /// more code words are needed than exist.
  bool form(const uint8_t *lengths, int symbolCount) {
    for (int i = 0; i < symbolCount; ++i)
      ++counts[lengths[i]];
    counts[0] = 0;
    int free = 1;
    uint16_t next[16] = {};
    for (int length = 1; length < 16; ++length) {
      free = 2 * free - counts[length];
      if (free < 0)
        return false;
      next[length] = uint16_t(next[length - 1] + counts[length - 1]);
    }
    for (int i = 0; i < symbolCount; ++i)
      if (lengths[i])
        symbols[next[lengths[i]]++] = uint16_t(i);
    return true;
  }
};

class Inflater {
public:
  Inflater(const std::vector<uint8_t> &data, std::size_t size,
           std::vector<uint8_t> &out)
      : data(data), size(size), out(out) {}

  bool run() {
    // The header has two bytes: method 8 (deflate), no preset dictionary, and a
    // multiple of 31 as a big-endian number.
    if (data.size() < 6 || (data[0] & 15) != 8 || (data[1] & 32) != 0 ||
        (data[0] * 256 + data[1]) % 31 != 0)
      return false;
    position = 2;
    bool isLast = false;
    while (!isLast) {
      isLast = bits(1) != 0;
      int kind = bits(2);
      if (failed || !(kind == 0   ? copyStored()
                      : kind == 1 ? expand(fixedLengths())
                      : kind == 2 ? expand(readLengths())
                                  : false))
        return false;
    }
    if (out.size() != size || data.size() - position < 4)
      return false;
    uint32_t sum = 0;
    for (int i = 0; i < 4; ++i)
      sum = sum << 8 | data[position + std::size_t(i)];
    return sum == adler32(out.data(), out.size());
  }

private:
  /// The lengths of the code words of literals and match lengths, and of match
  /// distances.
  struct Lengths {
    uint8_t literals[288] = {}, distances[32] = {};
    bool valid = true;
  };

  /// Returns the next `count` bits; the first one is the lowest bit.
  int bits(int count) {
    while (held < count) {
      if (position >= data.size()) {
        failed = true;
        return 0;
      }
      buffer |= uint32_t(data[position++]) << held;
      held += 8;
    }
    int value = int(buffer & ((1u << count) - 1));
    buffer >>= count;
    held -= count;
    return value;
  }

  /// Returns the next symbol; -1 if the bits are no code word or have ended.
  int symbol(const Code &code) {
    int word = 0, first = 0, index = 0;
    for (int length = 1; length < 16 && !failed; ++length) {
      word |= bits(1);
      int count = code.counts[length];
      if (word - first < count)
        return failed ? -1 : code.symbols[index + word - first];
      index += count;
      first = (first + count) * 2;
      word *= 2;
    }
    return -1;
  }

  bool copyStored() {
    buffer = 0;
    held = 0;
    if (data.size() - position < 4)
      return false;
    std::size_t count = data[position] + 256u * data[position + 1],
                inverse = data[position + 2] + 256u * data[position + 3];
    position += 4;
    if ((count ^ inverse) != 0xffff || data.size() - position < count ||
        size - out.size() < count)
      return false;
    auto from = data.begin() + std::ptrdiff_t(position);
    out.insert(out.end(), from, from + std::ptrdiff_t(count));
    position += count;
    return true;
  }

  static Lengths fixedLengths() {
    Lengths lengths;
    for (int i = 0; i < 288; ++i)
      lengths.literals[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    for (uint8_t &length : lengths.distances)
      length = 5;
    return lengths;
  }

  Lengths readLengths() {
    static const uint8_t order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                      11, 4,  12, 3, 13, 2, 14, 1, 15};
    Lengths lengths;
    int literals = bits(5) + 257, distances = bits(5) + 1, few = bits(4) + 4;
    uint8_t own[19] = {}, all[320] = {};
    for (int i = 0; i < few; ++i)
      own[order[i]] = uint8_t(bits(3));
    Code code;
    lengths.valid = literals <= 286 && code.form(own, 19);
    for (int i = 0; lengths.valid && i < literals + distances;) {
      int value = symbol(code), count = 1;
      uint8_t length = uint8_t(value);
      if (value == 16) {
        lengths.valid = i > 0;
        length = i > 0 ? all[i - 1] : 0;
        count = 3 + bits(2);
      } else if (value > 16) {
        length = 0;
        count = value == 17 ? 3 + bits(3) : 11 + bits(7);
      }
      if (value < 0 || i + count > literals + distances)
        lengths.valid = false;
      for (; lengths.valid && count > 0; --count)
        all[i++] = length;
    }
    for (int i = 0; i < literals && i < 288; ++i)
      lengths.literals[i] = all[i];
    for (int i = 0; i < distances; ++i)
      lengths.distances[i] = all[literals + i];
    return lengths;
  }

  bool expand(const Lengths &lengths) {
    // The match length of a symbol is its base plus an integer of its extra
    // bits.
    static const uint16_t lengthBase[29] = {
        3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
        31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t lengthBits[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1,
                                           1, 1, 2, 2, 2, 2, 3, 3, 3, 3,
                                           4, 4, 4, 4, 5, 5, 5, 5, 0};
    Code literals, distances;
    if (!lengths.valid || !literals.form(lengths.literals, 288) ||
        !distances.form(lengths.distances, 32))
      return false;
    while (true) {
      int value = symbol(literals);
      if (value < 0 || value > 285)
        return false;
      if (value == 256)
        return true;
      if (value < 256) {
        if (out.size() == size)
          return false;
        out.push_back(uint8_t(value));
        continue;
      }
      int count = lengthBase[value - 257] + bits(lengthBits[value - 257]);
      int far = symbol(distances);
      if (far < 0 || far > 29)
        return false;
      int extra = far < 4 ? 0 : far / 2 - 1;
      std::size_t back = 1 +
                         std::size_t(far < 4 ? far : (2 + far % 2) << extra) +
                         std::size_t(bits(extra));
      if (failed || back > out.size() || size - out.size() < std::size_t(count))
        return false;
      for (; count > 0; --count)
        out.push_back(out[out.size() - back]);
    }
  }

  const std::vector<uint8_t> &data;
  std::size_t size, position = 0;
  std::vector<uint8_t> &out;
  uint32_t buffer = 0;
  int held = 0;
  bool failed = false;
};

} // namespace

uint32_t adler32(const uint8_t *bytes, std::size_t count) {
  uint32_t a = 1, b = 0;
  for (std::size_t i = 0; i < count; ++i) {
    a = (a + bytes[i]) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

bool inflate(const std::vector<uint8_t> &data, std::size_t size,
             std::vector<uint8_t> &result) {
  result.clear();
  result.reserve(size);
  return Inflater(data, size, result).run();
}
