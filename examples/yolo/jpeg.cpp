#include "jpeg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

// Words of this file, from ITU-T T.81: a *component* is a plane of samples, such
// as the brightness. A *block* has 8 x 8 samples, stored as 64 coefficients of a
// cosine transform. A *unit* (MCU) has the blocks of all components for one
// area. A *scan* has some of the coefficients of some components; a progressive
// file has several scans for each block.

using Bytes = std::vector<uint8_t>;

namespace {

constexpr int blockSide = 8, blockSize = 64;
/// Limits the work for a small file. Encoders write about ten scans.
constexpr int mostScans = 100;

const char *const cutOff = "the JPEG file is cut off";

/// The place of each coefficient in its block, in the order of the file.
const uint8_t zigzag[blockSize] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

/// A Huffman code: the number of code words of each length, and the symbols in
/// the order of their code words. Without symbols, it is not defined.
struct Code {
  std::array<uint8_t, 17> counts{};
  Bytes symbols;
};

/// A quantization table: the factor of each coefficient, by its place.
struct Factors {
  bool isDefined = false;
  std::array<uint16_t, blockSize> values{};
};

/// A plane of samples.
struct Component {
  int id = 0;
  /// Blocks of a unit along each axis.
  int across = 1, down = 1;
  int factors = 0;
  /// Samples of the picture along each axis.
  int width = 0, height = 0;
  /// Blocks along each axis: those with samples of the picture, and all of the
  /// units.
  int blockColumns = 0, blockRows = 0, storedColumns = 0, storedRows = 0;
  std::vector<int16_t> coefficients;
  /// The codes of the current scan, and the last first coefficient.
  const Code *first = nullptr, *others = nullptr;
  int last = 0;
  /// The decoded samples, `stride` per row.
  Bytes samples;

  size_t stride() const { return size_t(storedColumns) * blockSide; }
  int16_t *block(int column, int row) {
    return &coefficients[(size_t(row) * size_t(storedColumns) +
                          size_t(column)) *
                         blockSize];
  }
};

/// Which coefficients a scan has, and which of their bits: all bits from `low`
/// up, or bit `low` only if a previous scan had the bits from `high` up.
struct Scan {
  int begin = 0, end = 0, high = 0, low = 0;
  std::vector<Component *> components;
};

/// Reads the bits of a scan.
class BitReader {
public:
  BitReader(const Bytes &file, size_t &at) : file(file), at(at) {}

  int bit() {
    if (count == 0) {
      require(at < file.size(), cutOff);
      current = file[at++];
      // A zero byte follows each byte 255 of the data.
      if (current == 255) {
        require(at < file.size(), cutOff);
        require(file[at++] == 0, "the JPEG file is damaged (a scan is short)");
      }
      count = 8;
    }
    return current >> --count & 1;
  }

  int bits(int number) {
    int value = 0;
    for (int i = 0; i < number; ++i)
      value = 2 * value + bit();
    return value;
  }

  /// Reads a signed number whose magnitude has `number` bits.
  int magnitude(int number) {
    int value = bits(number);
    return number > 0 && value < 1 << (number - 1) ? value - (1 << number) + 1
                                                   : value;
  }

  int symbol(const Code &code) {
    int word = 0, firstWord = 0, firstSymbol = 0;
    for (size_t length = 1; length <= 16; ++length) {
      word += bit();
      int words = code.counts[length];
      if (word - firstWord < words)
        return code.symbols[size_t(firstSymbol + word - firstWord)];
      firstSymbol += words;
      firstWord = (firstWord + words) * 2;
      word *= 2;
    }
    throw ImageError("the JPEG file is damaged (a code word is unknown)");
  }

  /// Drops the rest of the current byte.
  void align() { count = 0; }

private:
  const Bytes &file;
  size_t &at;
  int current = 0, count = 0;
};

/// Decodes the coefficients of blocks, one scan after the other.
class ScanDecoder {
public:
  ScanDecoder(const Scan &scan, bool isProgressive, BitReader &reader)
      : scan(scan), isProgressive(isProgressive), reader(reader) {}

  void restart() {
    emptyBlocks = 0;
    for (Component *component : scan.components)
      component->last = 0;
  }

  void decode(Component &component, int16_t *block) {
    if (!isProgressive) {
      readFirst(component, block);
      readOthers(*component.others, block);
    } else if (scan.begin == 0) {
      scan.high == 0 ? readFirst(component, block) : refineFirst(block);
    } else {
      scan.high == 0 ? readOthers(*component.others, block)
                     : refineOthers(*component.others, block);
    }
  }

private:
  void readFirst(Component &component, int16_t *block) {
    int length = reader.symbol(*component.first);
    require(length <= 15, "the JPEG file is damaged (a number is too large)");
    component.last = int16_t(component.last + reader.magnitude(length));
    block[0] = int16_t(component.last * (1 << scan.low));
  }

  void refineFirst(int16_t *block) {
    block[0] = int16_t(block[0] | reader.bit() << scan.low);
  }

  /// Reads a symbol: how many zeros come before the next coefficient, and how
  /// many bits it has. Without bits, a symbol means 16 zeros, or that this block
  /// and some further ones have no more coefficients; in this case, sets
  /// emptyBlocks.
  std::pair<int, int> readRun(const Code &code) {
    int symbol = reader.symbol(code), zeros = symbol >> 4, length = symbol & 15;
    if (length == 0 && zeros < 15)
      emptyBlocks = (1 << zeros) + reader.bits(zeros);
    return {zeros, length};
  }

  void readOthers(const Code &code, int16_t *block) {
    for (int k = std::max(scan.begin, 1); k <= scan.end && emptyBlocks == 0;
         ++k) {
      auto [zeros, length] = readRun(code);
      if (emptyBlocks > 0)
        break;
      k += zeros;
      require(k <= scan.end, "the JPEG file is damaged (a block is too long)");
      if (length > 0)
        block[zigzag[k]] = int16_t(reader.magnitude(length) * (1 << scan.low));
    }
    emptyBlocks -= emptyBlocks > 0;
  }

  /// Reads the next bit of a coefficient that is not zero.
  void refine(int16_t &value) {
    if (reader.bit())
      value = int16_t(value + (value < 0 ? -1 : 1) * (1 << scan.low));
  }

  void refineOthers(const Code &code, int16_t *block) {
    int k = scan.begin;
    while (k <= scan.end && emptyBlocks == 0) {
      auto [zeros, length] = readRun(code);
      if (emptyBlocks > 0)
        break;
      require(length <= 1, "the JPEG file is damaged (a number is too large)");
      int fresh = length == 0 ? 0 : (reader.bit() ? 1 : -1) * (1 << scan.low);
      // Coefficients that are not zero do not count among the zeros; each has
      // another bit here.
      for (; k <= scan.end; ++k) {
        int16_t &value = block[zigzag[k]];
        if (value != 0)
          refine(value);
        else if (zeros-- == 0)
          break;
      }
      require(k <= scan.end || length == 0,
              "the JPEG file is damaged (a block is too long)");
      if (length > 0)
        block[zigzag[k]] = int16_t(fresh);
      ++k;
    }
    if (emptyBlocks == 0)
      return;
    for (; k <= scan.end; ++k)
      if (block[zigzag[k]] != 0)
        refine(block[zigzag[k]]);
    --emptyBlocks;
  }

  const Scan &scan;
  bool isProgressive;
  BitReader &reader;
  /// How many blocks, from the current one on, have no more coefficients.
  int emptyBlocks = 0;
};

/// Rotates or mirrors a picture; `orientation` is the value of Exif, 1 to 8.
Image oriented(const Image &image, int orientation) {
  bool isTurned = orientation >= 5;
  bool flipsX = orientation == 2 || orientation == 3 || orientation == 7 ||
                orientation == 8,
       flipsY = orientation == 3 || orientation == 4 || orientation == 6 ||
                orientation == 7;
  Image result;
  result.width = isTurned ? image.height : image.width;
  result.height = isTurned ? image.width : image.height;
  result.pixels.resize(image.pixels.size());
  for (int y = 0; y < result.height; ++y)
    for (int x = 0; x < result.width; ++x) {
      int fromX = isTurned ? y : x, fromY = isTurned ? x : y;
      if (flipsX)
        fromX = image.width - 1 - fromX;
      if (flipsY)
        fromY = image.height - 1 - fromY;
      const uint8_t *from =
          &image.pixels[(size_t(fromY) * size_t(image.width) + size_t(fromX)) *
                        3];
      std::copy(from, from + 3, result.at(x, y));
    }
  return result;
}

uint8_t toLevel(float value) {
  return uint8_t(std::min(std::max(value + 0.5f, 0.0f), 255.0f));
}

/// The transform from coefficients to samples along one axis: the weight of
/// each coefficient in each sample.
using Cosines = std::array<std::array<float, blockSide>, blockSide>;

Cosines cosines() {
  Cosines weights;
  for (size_t x = 0; x < blockSide; ++x)
    for (size_t u = 0; u < blockSide; ++u)
      weights[x][u] = float(
          std::cos((2 * double(x) + 1) * double(u) * std::acos(-1.0) / 16) *
          (u == 0 ? std::sqrt(0.125) : 0.5));
  return weights;
}

/// For each pixel along an axis, the two samples of a component between which
/// it lies, and the weight of the second one.
struct Neighbors {
  std::vector<size_t> first, second;
  std::vector<float> weights;

  /// `count` samples cover `pixels` pixels, up to the rounding of their number;
  /// each sample covers `most` / `own` pixels.
  Neighbors(int pixels, int count, int own, int most) {
    for (int i = 0; i < pixels; ++i) {
      float place = (float(i) + 0.5f) * float(own) / float(most) - 0.5f,
            below = std::floor(place);
      auto inside = [&](float index) {
        return size_t(std::min(std::max(int(index), 0), count - 1));
      };
      first.push_back(inside(below));
      second.push_back(inside(below + 1));
      weights.push_back(place - below);
    }
  }
};

class JpegDecoder {
public:
  explicit JpegDecoder(const Bytes &file) : file(file) {}

  Image run() {
    for (int marker = nextMarker(); marker != endOfImage;
         marker = nextMarker()) {
      size_t length = number(at, 2);
      require(length >= 2 && length <= file.size() - at, cutOff);
      size_t from = at + 2, to = at + length;
      at = to;
      readSegment(marker, from, to);
    }
    require(scans > 0, "the JPEG file has no picture");
    for (Component &component : components)
      transform(component);
    Image image = toPixels();
    return orientation > 1 ? oriented(image, orientation) : image;
  }

private:
  enum Marker {
    huffmanTables = 0xc4,
    endOfImage = 0xd9,
    startOfScan = 0xda,
    quantizationTables = 0xdb,
    restartInterval = 0xdd,
    exif = 0xe1,
    adobe = 0xee
  };

  /// Reads a big-endian number.
  size_t number(size_t from, size_t bytes) const {
    require(from <= file.size() && bytes <= file.size() - from, cutOff);
    size_t value = 0;
    for (size_t i = 0; i < bytes; ++i)
      value = value << 8 | file[from + i];
    return value;
  }

  /// Returns the type of the next marker, and sets `at` behind it.
  int nextMarker() {
    while (true) {
      while (at < file.size() && file[at] != 255)
        ++at;
      while (at < file.size() && file[at] == 255)
        ++at;
      require(at < file.size(), cutOff);
      int marker = file[at++];
      // A zero byte is no marker; the others have no content.
      bool isRestart = marker >= 0xd0 && marker <= 0xd7;
      if (marker != 0 && marker != 1 && !isRestart && marker != 0xd8)
        return marker;
    }
  }

  void readSegment(int marker, size_t from, size_t to) {
    bool isFrame = marker >= 0xc0 && marker <= 0xcf &&
                   marker != huffmanTables && marker != 0xc8 && marker != 0xcc;
    if (isFrame)
      readFrame(marker, from, to);
    else if (marker == huffmanTables)
      readCodes(from, to);
    else if (marker == quantizationTables)
      readFactors(from, to);
    else if (marker == restartInterval)
      interval = int(number(from, 2));
    else if (marker == exif)
      readOrientation(from, to);
    else if (marker == adobe && to - from >= 12 &&
             std::memcmp(&file[from], "Adobe", 5) == 0)
      transformOfAdobe = file[from + 11];
    else if (marker == startOfScan)
      readScan(from, to);
  }

  /// Reads the size of the picture and its components.
  void readFrame(int marker, size_t from, size_t to) {
    require(marker <= 0xc2, "only JPEG files with sequential or progressive "
                            "Huffman codes are supported");
    require(components.empty(), "the JPEG file has several pictures");
    isProgressive = marker == 0xc2;
    require(number(from, 1) == 8,
            "only JPEG files with 8 bits per sample are supported");
    height = int(number(from + 1, 2));
    width = int(number(from + 3, 2));
    size_t count = number(from + 5, 1);
    require(width >= 1 && height >= 1, "it has no pixels");
    require(width <= longestSide && height <= longestSide,
            "it is larger than 16384 x 16384 pixels");
    require(count != 4, "JPEG files in CMYK are not supported; convert it to "
                        "RGB");
    require((count == 1 || count == 3) && to - from == 6 + 3 * count,
            "the JPEG file is damaged (its header is wrong)");
    for (size_t i = from + 6; i < to; i += 3) {
      Component component;
      component.id = file[i];
      component.across = file[i + 1] >> 4;
      component.down = file[i + 1] & 15;
      component.factors = file[i + 2];
      require(component.across >= 1 && component.across <= 4 &&
                  component.down >= 1 && component.down <= 4 &&
                  component.factors < 4,
              "the JPEG file is damaged (its header is wrong)");
      components.push_back(component);
    }
    // The only component of a picture has one block per unit, whatever its
    // factors.
    if (count == 1)
      components[0].across = components[0].down = 1;
    for (const Component &component : components) {
      mostAcross = std::max(mostAcross, component.across);
      mostDown = std::max(mostDown, component.down);
    }
    auto divideUp = [](int a, int b) { return (a + b - 1) / b; };
    unitColumns = divideUp(width, blockSide * mostAcross);
    unitRows = divideUp(height, blockSide * mostDown);
    for (Component &component : components) {
      component.width = divideUp(width * component.across, mostAcross);
      component.height = divideUp(height * component.down, mostDown);
      component.blockColumns = divideUp(component.width, blockSide);
      component.blockRows = divideUp(component.height, blockSide);
      component.storedColumns = unitColumns * component.across;
      component.storedRows = unitRows * component.down;
      size_t blocks =
          size_t(component.blockColumns) * size_t(component.blockRows);
      // Each block has at least one bit. This also limits the memory for a
      // small file.
      require(blocks / 8 <= file.size(), cutOff);
      component.coefficients.resize(size_t(component.storedColumns) *
                                    size_t(component.storedRows) * blockSize);
    }
  }

  void readCodes(size_t from, size_t to) {
    while (from < to) {
      size_t type = number(from, 1) >> 4, place = number(from, 1) & 15;
      require(type <= 1 && place <= 3 && to - from >= 17,
              "the JPEG file is damaged (a code is wrong)");
      Code code;
      size_t count = 0, free = 1;
      for (size_t length = 1; length <= 16; ++length) {
        code.counts[length] = file[from + length];
        count += code.counts[length];
        free = 2 * free;
        require(code.counts[length] <= free,
                "the JPEG file is damaged (a code is wrong)");
        free -= code.counts[length];
      }
      from += 17;
      require(count >= 1 && count <= to - from,
              "the JPEG file is damaged (a code is wrong)");
      auto symbols = file.begin() + std::ptrdiff_t(from);
      code.symbols.assign(symbols, symbols + std::ptrdiff_t(count));
      from += count;
      codes[type][place] = code;
    }
  }

  void readFactors(size_t from, size_t to) {
    while (from < to) {
      size_t bytes = (number(from, 1) >> 4) + 1, place = number(from, 1) & 15;
      require(bytes <= 2 && place <= 3 && to - from >= 1 + bytes * blockSize,
              "the JPEG file is damaged (a quantization table is wrong)");
      factors[place].isDefined = true;
      for (size_t i = 0; i < blockSize; ++i)
        factors[place].values[zigzag[i]] =
            uint16_t(number(from + 1 + i * bytes, bytes));
      from += 1 + bytes * blockSize;
    }
  }

  /// Reads entry 0x112 of the first directory of the Exif data. Wrong data has
  /// no effect.
  void readOrientation(size_t from, size_t to) {
    if (to - from < 14 || std::memcmp(&file[from], "Exif\0", 6) != 0)
      return;
    size_t start = from + 6;
    bool isLittle = file[start] == 'I';
    auto read = [&](size_t offset, size_t bytes) -> size_t {
      if (offset > to - start || bytes > to - start - offset)
        return 0;
      size_t value = 0;
      for (size_t i = 0; i < bytes; ++i)
        value |= size_t(file[start + offset + i])
                 << 8 * (isLittle ? i : bytes - 1 - i);
      return value;
    };
    size_t directory = read(4, 4), entries = read(directory, 2);
    for (size_t i = 0; i < entries; ++i) {
      size_t entry = directory + 2 + 12 * i;
      if (read(entry, 2) == 0x112 && read(entry + 8, 2) <= 8)
        orientation = int(read(entry + 8, 2));
    }
  }

  void readScan(size_t from, size_t to) {
    require(++scans <= mostScans, "the JPEG file has more than 100 scans");
    size_t count = number(from, 1);
    require(count >= 1 && count <= components.size() &&
                to - from == 4 + 2 * count,
            "the JPEG file is damaged (the header of a scan is wrong)");
    Scan scan;
    scan.begin = file[to - 3];
    scan.end = file[to - 2];
    scan.high = file[to - 1] >> 4;
    scan.low = file[to - 1] & 15;
    if (!isProgressive)
      scan = {0, blockSize - 1, 0, 0, {}};
    require(scan.begin <= scan.end && scan.end < blockSize && scan.low <= 13 &&
                (scan.high == 0 || scan.high == scan.low + 1) &&
                (!isProgressive || scan.begin > 0 || scan.end == 0) &&
                (scan.begin == 0 || count == 1),
            "the JPEG file is damaged (the header of a scan is wrong)");
    for (size_t i = 0; i < count; ++i) {
      size_t tables = file[from + 2 + 2 * i];
      require(tables >> 4 <= 3 && (tables & 15) <= 3,
              "the JPEG file is damaged (the header of a scan is wrong)");
      Component *component = find(file[from + 1 + 2 * i]);
      require(component && std::count(scan.components.begin(),
                                      scan.components.end(), component) == 0,
              "the JPEG file is damaged (the header of a scan is wrong)");
      component->first = &codes[0][tables >> 4];
      component->others = &codes[1][tables & 15];
      bool needsFirst = scan.begin == 0 && scan.high == 0,
           needsOthers = scan.end > 0;
      require((!needsFirst || !component->first->symbols.empty()) &&
                  (!needsOthers || !component->others->symbols.empty()),
              "the JPEG file is damaged (a code is missing)");
      scan.components.push_back(component);
    }
    decodeScan(scan);
  }

  Component *find(int id) {
    for (Component &component : components)
      if (component.id == id)
        return &component;
    return nullptr;
  }

  void decodeScan(const Scan &scan) {
    BitReader reader(file, at);
    ScanDecoder decoder(scan, isProgressive, reader);
    decoder.restart();
    // A scan of one component has only the blocks with samples of the picture.
    Component &only = *scan.components[0];
    bool isAlone = scan.components.size() == 1;
    int columns = isAlone ? only.blockColumns : unitColumns,
        rows = isAlone ? only.blockRows : unitRows;
    int untilRestart = interval;
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < columns; ++column) {
        if (interval > 0 && untilRestart-- == 0) {
          reader.align();
          skipRestart();
          decoder.restart();
          untilRestart = interval - 1;
        }
        if (isAlone) {
          decoder.decode(only, only.block(column, row));
          continue;
        }
        for (Component *component : scan.components)
          for (int y = 0; y < component->down; ++y)
            for (int x = 0; x < component->across; ++x)
              decoder.decode(*component,
                             component->block(column * component->across + x,
                                              row * component->down + y));
      }
  }

  void skipRestart() {
    while (at < file.size() && file[at] == 255)
      ++at;
    require(at < file.size(), cutOff);
    require(file[at] >= 0xd0 && file[at] <= 0xd7 && file[at - 1] == 255,
            "the JPEG file is damaged (a restart marker is missing)");
    ++at;
  }

  /// Computes the samples of a component and drops its coefficients.
  void transform(Component &component) {
    static const Cosines weights = cosines();
    const Factors &table = factors[size_t(component.factors)];
    require(table.isDefined,
            "the JPEG file is damaged (a quantization table is missing)");
    component.samples.resize(component.coefficients.size());
    for (int row = 0; row < component.storedRows; ++row)
      for (int column = 0; column < component.storedColumns; ++column) {
        const int16_t *block = component.block(column, row);
        // Transforms the columns, then the rows.
        float rows[blockSide][blockSide] = {};
        for (size_t v = 0; v < blockSide; ++v)
          for (size_t u = 0; u < blockSide; ++u) {
            size_t place = v * blockSide + u;
            if (block[place] == 0)
              continue;
            float value = float(block[place]) * float(table.values[place]);
            for (size_t y = 0; y < blockSide; ++y)
              rows[y][u] += weights[y][v] * value;
          }
        for (size_t y = 0; y < blockSide; ++y) {
          uint8_t *to =
              &component
                   .samples[(size_t(row) * blockSide + y) * component.stride() +
                            size_t(column) * blockSide];
          for (size_t x = 0; x < blockSide; ++x) {
            float sum = 128;
            for (size_t u = 0; u < blockSide; ++u)
              sum += weights[x][u] * rows[y][u];
            to[x] = toLevel(sum);
          }
        }
      }
    component.coefficients = {};
  }

  /// Whether the components are brightness and two differences of color.
  bool isYCbCr() const {
    if (transformOfAdobe >= 0)
      return transformOfAdobe != 0;
    return components[0].id != 'R' || components[1].id != 'G' ||
           components[2].id != 'B';
  }

  Image toPixels() const {
    Image image;
    image.width = width;
    image.height = height;
    image.pixels.resize(size_t(width) * size_t(height) * 3);
    std::vector<Neighbors> columns, rows;
    for (const Component &component : components) {
      columns.emplace_back(width, component.width, component.across,
                           mostAcross);
      rows.emplace_back(height, component.height, component.down, mostDown);
    }
    bool isColor = components.size() == 3, converts = isColor && isYCbCr();
    for (size_t y = 0; y < size_t(height); ++y)
      for (size_t x = 0; x < size_t(width); ++x) {
        float values[3];
        for (size_t c = 0; c < components.size(); ++c)
          values[c] = sampleAt(components[c], columns[c], rows[c], x, y);
        uint8_t *pixel = image.at(int(x), int(y));
        if (!isColor)
          values[1] = values[2] = values[0];
        if (converts) {
          float level = values[0], blue = values[1] - 128,
                red = values[2] - 128;
          values[0] = level + 1.402f * red;
          values[1] = level - 0.344136f * blue - 0.714136f * red;
          values[2] = level + 1.772f * blue;
        }
        for (size_t c = 0; c < 3; ++c)
          pixel[c] = toLevel(values[c]);
      }
    return image;
  }

  /// Returns a component at a pixel, interpolated between its samples.
  static float sampleAt(const Component &component, const Neighbors &columns,
                        const Neighbors &rows, size_t x, size_t y) {
    const uint8_t *upper =
                      &component.samples[rows.first[y] * component.stride()],
                  *lower =
                      &component.samples[rows.second[y] * component.stride()];
    auto across = [&](const uint8_t *row) {
      float left = row[columns.first[x]], right = row[columns.second[x]];
      return left + (right - left) * columns.weights[x];
    };
    float above = across(upper), below = across(lower);
    return above + (below - above) * rows.weights[y];
  }

  const Bytes &file;
  /// The first byte that is not read yet, behind the marker of the file's start.
  size_t at = 2;
  int width = 0, height = 0, unitColumns = 0, unitRows = 0;
  int mostAcross = 1, mostDown = 1;
  bool isProgressive = false;
  std::vector<Component> components;
  /// Codes of first coefficients and of the others.
  std::array<std::array<Code, 4>, 2> codes;
  std::array<Factors, 4> factors;
  /// The units between two restart markers; 0 without markers.
  int interval = 0;
  int scans = 0, orientation = 1, transformOfAdobe = -1;
};

} // namespace

Image readJpeg(const Bytes &file) { return JpegDecoder(file).run(); }
