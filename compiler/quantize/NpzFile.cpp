// Reads an .npz file: a zip archive with a member NAME.npy for each array,
// stored or deflated. Sizes are read from the central directory of the archive,
// since the headers before the members may omit them.

#include "compiler/quantize/NpzFile.h"

#include "compiler/report/Diagnostics.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"

#include <zlib.h>

using namespace llvm;

namespace ingot::quantize {

/// The bytes of the largest array that is read from an archive.
static constexpr uint64_t maxBytes = uint64_t(1) << 34;

static bool inflateTo(StringRef packed, std::string &bytes) {
  z_stream stream = {};
  // Negative window bits select a raw deflate stream without zlib's header.
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return false;
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef *>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  int status = inflate(&stream, Z_FINISH);
  bool good = status == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  return good;
}

namespace {
/// Reads little-endian numbers at offsets of a file; a number beyond the end of
/// the file is 0.
struct Bytes {
  StringRef all;
  uint64_t number(uint64_t at, unsigned size) const {
    uint64_t value = 0;
    if (at > all.size() || size > all.size() - at)
      return 0;
    for (unsigned i = 0; i < size; ++i)
      value |= uint64_t(uint8_t(all[at + i])) << (8 * i);
    return value;
  }
  bool has(uint64_t at, uint64_t size) const {
    return at <= all.size() && size <= all.size() - at;
  }
};

/// The entry of a member in the central directory of the archive.
struct Member {
  uint64_t method, packed, size, header;
};
} // namespace

/// Reads the 64-bit sizes and the offset of a member from its extra field
/// (`length` bytes at `at`), where numpy writes them if the 32-bit fields are
/// saturated.
static void readWideSizes(Bytes file, uint64_t at, uint64_t length,
                          Member &member) {
  for (uint64_t end = at + length; at + 4 <= end;) {
    uint64_t id = file.number(at, 2), size = file.number(at + 2, 2);
    at += 4;
    if (id == 1) {
      uint64_t field = at;
      for (uint64_t *value : {&member.size, &member.packed, &member.header})
        if (*value == 0xffffffff) {
          *value = file.number(field, 8);
          field += 8;
        }
    }
    at += size;
  }
}

std::optional<std::vector<NpzEntry>> readNpz(StringRef path,
                                             std::string &error) {
  auto fail = [&](const Twine &what) {
    error = ("`" + printable(path) + "` " + what).str();
    return std::nullopt;
  };
  auto buffer = MemoryBuffer::getFile(path, false, false);
  if (!buffer)
    return fail("cannot be read: " + buffer.getError().message());
  Bytes file{(*buffer)->getBuffer()};
  size_t end = file.all.rfind("PK\x05\x06");
  if (!file.all.starts_with("PK") || end == StringRef::npos)
    return fail("is not an .npz file");
  std::vector<NpzEntry> entries;
  uint64_t count = file.number(end + 10, 2), at = file.number(end + 16, 4);
  for (uint64_t i = 0; i < count; ++i) {
    if (!file.has(at, 46) || file.number(at, 4) != 0x02014b50)
      return fail("is damaged: its list of arrays is cut off");
    Member member{file.number(at + 10, 2), file.number(at + 20, 4),
                  file.number(at + 24, 4), file.number(at + 42, 4)};
    uint64_t name = file.number(at + 28, 2), extra = file.number(at + 30, 2);
    if (!file.has(at + 46, name + extra))
      return fail("is damaged: its list of arrays is cut off");
    NpzEntry &entry = entries.emplace_back();
    entry.name = file.all.substr(at + 46, name).str();
    readWideSizes(file, at + 46 + name, extra, member);
    uint64_t data = member.header + 30 + file.number(member.header + 26, 2) +
                    file.number(member.header + 28, 2);
    if (!file.has(data, member.packed) || member.size > maxBytes)
      return fail("is damaged: `" + printable(entry.name) + "` is cut off");
    StringRef packed = file.all.substr(data, member.packed);
    entry.bytes.resize(member.size);
    bool good = member.method == 8
                    ? inflateTo(packed, entry.bytes)
                    : member.method == 0 && member.packed == member.size;
    if (!good)
      return fail("is damaged: `" + printable(entry.name) +
                  "` cannot be unpacked");
    if (member.method == 0)
      entry.bytes = packed.str();
    if (StringRef(entry.name).ends_with(".npy"))
      entry.name.resize(entry.name.size() - 4);
    at += 46 + name + extra + file.number(at + 32, 2);
  }
  return entries;
}

} // namespace ingot::quantize
