#include "image.h"

#include "inflate.h"
#include "jpeg.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using Bytes = std::vector<uint8_t>;

namespace {

void setSize(Image &image, int64_t width, int64_t height) {
  require(width >= 1 && height >= 1, "it has no pixels");
  require(width <= longestSide && height <= longestSide,
          "it is larger than 16384 x 16384 pixels");
  image.width = int(width);
  image.height = int(height);
  image.pixels.resize(size_t(width) * size_t(height) * 3);
}

uint32_t bigEndian(const Bytes &bytes, size_t at) {
  return uint32_t(bytes[at]) << 24 | uint32_t(bytes[at + 1]) << 16 |
         uint32_t(bytes[at + 2]) << 8 | bytes[at + 3];
}

int64_t littleEndian(const Bytes &bytes, size_t at, int count) {
  uint32_t value = 0;
  for (int i = 0; i < count; ++i)
    value |= uint32_t(bytes[at + size_t(i)]) << (8 * i);
  return count == 4 ? int64_t(int32_t(value)) : int64_t(value);
}

uint32_t crc32(const uint8_t *bytes, size_t count) {
  uint32_t crc = ~0u;
  for (size_t i = 0; i < count; ++i) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0u);
  }
  return ~crc;
}

// ------------------------------------------------------------------------ PNG

const uint8_t pngSignature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

/// The fields of a PNG file's header, its palette and its compressed pixels.
struct Png {
  int64_t width = 0, height = 0;
  int bits = 0, color = -1, interlaced = 0;
  Bytes palette, data;

  int channels() const {
    return color == 2 ? 3 : color == 4 ? 2 : color == 6 ? 4 : 1;
  }
};

/// Undoes a PNG filter in place: adds its prediction to each byte of a row.
/// `before` is the row above, `step` the bytes of a pixel, at least 1.
void undoFilter(int filter, uint8_t *row, const uint8_t *before, size_t count,
                size_t step) {
  for (size_t i = 0; i < count; ++i) {
    int left = i >= step ? row[i - step] : 0, up = before[i],
        corner = i >= step ? before[i - step] : 0, guess = 0;
    if (filter == 1)
      guess = left;
    if (filter == 2)
      guess = up;
    if (filter == 3)
      guess = (left + up) / 2;
    if (filter == 4) {
      int sum = left + up - corner, toLeft = std::abs(sum - left),
          toUp = std::abs(sum - up), toCorner = std::abs(sum - corner);
      guess = toLeft <= toUp && toLeft <= toCorner ? left
              : toUp <= toCorner                   ? up
                                                   : corner;
    }
    row[i] = uint8_t(row[i] + guess);
  }
}

Png readChunks(const Bytes &file) {
  Png png;
  bool hasEnd = false;
  for (size_t at = 8; !hasEnd;) {
    require(file.size() - at >= 12, "the PNG file is cut off");
    size_t length = bigEndian(file, at);
    require(length <= file.size() - at - 12, "the PNG file is cut off");
    require(crc32(&file[at + 4], length + 4) ==
                bigEndian(file, at + 8 + length),
            "the PNG file is damaged (a checksum is wrong)");
    std::string type(file.begin() + std::ptrdiff_t(at) + 4,
                     file.begin() + std::ptrdiff_t(at) + 8);
    auto data = file.begin() + std::ptrdiff_t(at) + 8;
    auto dataEnd = data + std::ptrdiff_t(length);
    if (type == "IHDR") {
      require(length == 13, "the PNG file has a header of a wrong size");
      png.width = bigEndian(file, at + 8);
      png.height = bigEndian(file, at + 12);
      png.bits = data[8];
      png.color = data[9];
      png.interlaced = data[12];
    } else if (type == "PLTE") {
      png.palette.assign(data, dataEnd);
    } else if (type == "IDAT") {
      png.data.insert(png.data.end(), data, dataEnd);
    }
    hasEnd = type == "IEND";
    at += length + 12;
  }
  return png;
}

Image readPng(const Bytes &file) {
  Png png = readChunks(file);
  bool isDeep = png.color == 2 || png.color == 4 || png.color == 6;
  require(png.color == 0 || png.color == 3 || isDeep,
          "the PNG file has an unknown type of color");
  require(png.bits == 8 || (png.bits == 16 && png.color != 3) ||
              ((png.bits == 1 || png.bits == 2 || png.bits == 4) && !isDeep),
          "the PNG file has an unknown number of bits");
  require(png.interlaced == 0,
          "interlaced PNG files are not supported; save it without "
          "interlacing");
  Image image;
  setSize(image, png.width, png.height);
  size_t channels = size_t(png.channels()), bits = size_t(png.bits),
         width = size_t(png.width), height = size_t(png.height);
  size_t rowBytes = (width * channels * bits + 7) / 8,
         step = std::max<size_t>(1, channels * bits / 8);
  Bytes rows;
  require(inflate(png.data, (rowBytes + 1) * height, rows),
          "the PNG file is damaged (its data cannot be decompressed)");
  Bytes before(rowBytes, 0);
  for (size_t y = 0; y < height; ++y) {
    uint8_t *row = &rows[y * (rowBytes + 1)];
    require(row[0] <= 4, "the PNG file is damaged (a filter is unknown)");
    undoFilter(row[0], row + 1, before.data(), rowBytes, step);
    std::memcpy(before.data(), row + 1, rowBytes);
    // Returns sample i of the row: a level from 0 to 255, or a palette index.
    auto sample = [&](size_t i) -> int {
      if (bits >= 8)
        return row[1 + i * bits / 8];
      int value = row[1 + i * bits / 8] >> (8 - bits - i * bits % 8) &
                  ((1 << bits) - 1);
      return png.color == 3 ? value : value * 255 / ((1 << bits) - 1);
    };
    for (size_t x = 0; x < width; ++x)
      for (size_t c = 0; c < 3; ++c) {
        int value = sample(x * channels + (channels >= 3 ? c : 0));
        if (png.color == 3) {
          require(size_t(value) * 3 + 2 < png.palette.size(),
                  "the PNG file is damaged (a color is not in the palette)");
          value = png.palette[size_t(value) * 3 + c];
        }
        image.pixels[(y * width + x) * 3 + c] = uint8_t(value);
      }
  }
  return image;
}

void putBigEndian(Bytes &bytes, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes.push_back(uint8_t(value >> shift));
}

void putChunk(Bytes &file, const char *type, const Bytes &data) {
  putBigEndian(file, uint32_t(data.size()));
  size_t from = file.size();
  file.insert(file.end(), type, type + 4);
  file.insert(file.end(), data.begin(), data.end());
  putBigEndian(file, crc32(&file[from], data.size() + 4));
}

Bytes writePng(const Image &image) {
  Bytes header;
  putBigEndian(header, uint32_t(image.width));
  putBigEndian(header, uint32_t(image.height));
  header.insert(header.end(), {8, 2, 0, 0, 0});
  Bytes rows;
  size_t rowBytes = size_t(image.width) * 3;
  for (int y = 0; y < image.height; ++y) {
    rows.push_back(0);
    auto from = image.pixels.begin() + std::ptrdiff_t(rowBytes) * y;
    rows.insert(rows.end(), from, from + std::ptrdiff_t(rowBytes));
  }
  // The zlib data consists of stored blocks, which are not compressed.
  Bytes data{0x78, 0x01};
  for (size_t at = 0; at < rows.size();) {
    size_t count = std::min<size_t>(65535, rows.size() - at);
    data.push_back(at + count == rows.size());
    for (size_t number : {count, count ^ 0xffff}) {
      data.push_back(uint8_t(number));
      data.push_back(uint8_t(number >> 8));
    }
    data.insert(data.end(), rows.begin() + std::ptrdiff_t(at),
                rows.begin() + std::ptrdiff_t(at + count));
    at += count;
  }
  putBigEndian(data, adler32(rows.data(), rows.size()));
  Bytes file(pngSignature, pngSignature + 8);
  putChunk(file, "IHDR", header);
  putChunk(file, "IDAT", data);
  putChunk(file, "IEND", {});
  return file;
}

// ------------------------------------------------------------------ BMP, PPM

Image readBmp(const Bytes &file) {
  require(file.size() >= 54, "the BMP file is cut off");
  int64_t start = littleEndian(file, 10, 4), width = littleEndian(file, 18, 4),
          height = littleEndian(file, 22, 4), bits = littleEndian(file, 28, 2),
          compression = littleEndian(file, 30, 4);
  require(littleEndian(file, 14, 4) >= 40, "the BMP file is of an old version");
  require((bits == 24 && compression == 0) ||
              (bits == 32 && (compression == 0 || compression == 3)),
          "only BMP files with 24 or 32 bits and without compression are "
          "supported");
  // A negative height means that the first row is the upper one.
  bool isDown = height < 0;
  Image image;
  setSize(image, width, isDown ? -height : height);
  int64_t step = bits / 8, rowBytes = (width * step + 3) / 4 * 4;
  require(start >= 54 &&
              start + rowBytes * image.height <= int64_t(file.size()),
          "the BMP file is cut off");
  for (int y = 0; y < image.height; ++y) {
    int64_t row = start + rowBytes * (isDown ? y : image.height - 1 - y);
    for (int x = 0; x < image.width; ++x)
      for (int c = 0; c < 3; ++c)
        image.at(x, y)[c] = file[size_t(row + x * step + 2 - c)];
  }
  return image;
}

Bytes writeBmp(const Image &image) {
  size_t rowBytes = (size_t(image.width) * 3 + 3) / 4 * 4,
         size = rowBytes * size_t(image.height);
  Bytes file(54 + size, 0);
  auto put = [&](size_t at, uint64_t value) {
    for (size_t i = 0; i < 4; ++i)
      file[at + i] = uint8_t(value >> (8 * i));
  };
  file[0] = 'B';
  file[1] = 'M';
  put(2, file.size());
  put(10, 54);
  put(14, 40);
  put(18, uint64_t(image.width));
  put(22, uint64_t(image.height));
  put(26, 1 | 24 << 16);
  put(34, size);
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x)
      for (int c = 0; c < 3; ++c)
        file[54 + rowBytes * size_t(image.height - 1 - y) + size_t(x) * 3 +
             size_t(2 - c)] =
            image.pixels[(size_t(y) * size_t(image.width) + size_t(x)) * 3 +
                         size_t(c)];
  return file;
}

/// Reads a PPM (P6) or PGM (P5) file.
Image readPnm(const Bytes &file) {
  size_t at = 2;
  // Returns the next number of the header; skips comments, from # to the line's
  // end.
  auto number = [&]() -> int64_t {
    while (at < file.size() && (file[at] <= ' ' || file[at] == '#')) {
      bool isComment = file[at] == '#';
      while (isComment && at < file.size() && file[at] != '\n')
        ++at;
      at += at < file.size();
    }
    int64_t value = -1;
    while (at < file.size() && file[at] >= '0' && file[at] <= '9' &&
           value < 1000000)
      value = std::max<int64_t>(value, 0) * 10 + file[at++] - '0';
    return value;
  };
  int64_t width = number(), height = number(), levels = number();
  require(width >= 0 && height >= 0 && levels >= 0 && at < file.size(),
          "the header of the PPM file is damaged");
  require(levels == 255, "only PPM files with 255 levels are supported");
  ++at;
  Image image;
  setSize(image, width, height);
  size_t channels = file[1] == '6' ? 3 : 1;
  require(file.size() - at >= image.pixels.size() / 3 * channels,
          "the PPM file is cut off");
  for (size_t i = 0; i < image.pixels.size(); ++i)
    image.pixels[i] = file[at + (channels == 3 ? i : i / 3)];
  return image;
}

Bytes writePpm(const Image &image) {
  std::string header = "P6\n" + std::to_string(image.width) + " " +
                       std::to_string(image.height) + "\n255\n";
  Bytes file(header.begin(), header.end());
  file.insert(file.end(), image.pixels.begin(), image.pixels.end());
  return file;
}

bool endsWith(const std::string &text, const char *end) {
  size_t count = std::strlen(end);
  return text.size() >= count &&
         text.compare(text.size() - count, count, end) == 0;
}

} // namespace

Image readImage(const std::string &path) {
  Bytes file;
  std::FILE *stream = std::fopen(path.c_str(), "rb");
  require(stream, "the file cannot be opened");
  uint8_t block[65536];
  for (size_t count; (count = std::fread(block, 1, sizeof(block), stream)) > 0;)
    file.insert(file.end(), block, block + count);
  bool failed = std::ferror(stream) != 0;
  std::fclose(stream);
  require(!failed, "the file cannot be read");
  require(!file.empty(), "the file is empty");
  auto startsWith = [&](const void *start, size_t count) {
    return file.size() >= count && std::memcmp(file.data(), start, count) == 0;
  };
  if (startsWith(pngSignature, 8))
    return readPng(file);
  if (startsWith("BM", 2))
    return readBmp(file);
  if (startsWith("P6", 2) || startsWith("P5", 2))
    return readPnm(file);
  if (startsWith("\xff\xd8\xff", 3))
    return readJpeg(file);
  throw ImageError("it is no PNG, JPEG, BMP, PPM or PGM file");
}

void writeImage(const Image &image, const std::string &path) {
  Bytes file;
  if (endsWith(path, ".png"))
    file = writePng(image);
  else if (endsWith(path, ".bmp"))
    file = writeBmp(image);
  else if (endsWith(path, ".ppm"))
    file = writePpm(image);
  else
    throw ImageError("the name must end in .png, .bmp or .ppm");
  std::FILE *stream = std::fopen(path.c_str(), "wb");
  require(stream, "the file cannot be written");
  bool written =
      std::fwrite(file.data(), 1, file.size(), stream) == file.size();
  written &= std::fclose(stream) == 0;
  require(written, "the file cannot be written");
}
