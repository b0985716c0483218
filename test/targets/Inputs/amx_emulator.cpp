// Emulates AMX on processors without it. An unknown instruction raises SIGILL;
// the handler executes it, and the program continues after it. So the machine
// code that compilers generate can be tested on any x86-64 Linux machine.
//
// On a processor with AMX the instructions are executed natively: the program
// asks Linux for permission at its start, handles no signal and counts nothing.
// The two cannot be mixed: without the permission, such a processor executes
// LDTILECFG natively, and only the following instructions raise SIGILL.
//
// Encodings and operations: Intel 64 and IA-32 Architectures Software
// Developer's Manual, volume 2 (LDTILECFG, STTILECFG, TILELOADD, TILESTORED,
// TILERELEASE, TILEZERO, TDPB*) and volume 1, chapter 18 (palette 1: eight
// tiles of at most 16 rows of 64 bytes). If an instruction would raise an
// exception according to the manual, the program ends with a message.
#include "amx_emulator.h"

#include <atomic>
#include <cmath>
#include <cpuid.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

namespace {

constexpr int tileCount = 8, mostRows = 16, mostBytes = 64;

struct Tile {
  int rows = 0, bytes = 0;
  uint8_t data[mostRows][mostBytes] = {};

  template <typename T> T get(int row, int index) const {
    T value;
    memcpy(&value, data[row] + index * sizeof(T), sizeof(T));
    return value;
  }
  template <typename T> void set(int row, int index, T value) {
    memcpy(data[row] + index * sizeof(T), &value, sizeof(T));
  }
};

struct Tiles {
  bool isConfigured = false;
  Tile all[tileCount];
};

thread_local Tiles tiles;
std::atomic<long> configurations, zeros, loads, stores, products;

[[noreturn]] void fault(const char *why) {
  char line[200];
  int length = snprintf(line, sizeof line, "amx: %s\n", why);
  if (write(STDERR_FILENO, line, size_t(length)) != length)
    _exit(3);
  _exit(3);
}

/// Maps the register numbers of ModRM and SIB to indices into the registers of
/// a signal context.
constexpr int registers[16] = {
    REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

/// Decodes an instruction after its three-byte VEX prefix.
struct Decoder {
  const uint8_t *at;
  const greg_t *values;
  bool r, x, b; // Bits that extend the fields of ModRM and SIB.

  struct Memory {
    uint64_t address;   // Base register plus displacement.
    int64_t pitch = 0;  // The scaled index.
    bool isRip = false; // `address` is relative to the next instruction.
    bool hasSib = false;
  };

  uint64_t value(int number) const {
    return uint64_t(values[registers[number]]);
  }

  /// Decodes ModRM (at `at`), SIB and displacement.
  Memory memory() {
    int modrm = *at++, mode = modrm >> 6, rm = modrm & 7;
    Memory found{};
    bool hasBase = true;
    int base = rm | b << 3;
    if (rm == 4) {
      int sib = *at++;
      found.hasSib = true;
      base = (sib & 7) | b << 3;
      hasBase = (sib & 7) != 5 || mode != 0;
      int index = ((sib >> 3) & 7) | x << 3;
      if (index != 4)
        found.pitch = int64_t(value(index) << (sib >> 6));
    } else if (mode == 0 && rm == 5) {
      hasBase = false;
      found.isRip = true;
    }
    if (hasBase)
      found.address = value(base);
    if (mode == 1) {
      found.address += uint64_t(int64_t(int8_t(*at++)));
    } else if (mode == 2 || !hasBase) {
      int32_t displacement;
      memcpy(&displacement, at, 4);
      at += 4;
      found.address += uint64_t(int64_t(displacement));
    }
    if (found.isRip)
      found.address += uint64_t(at);
    return found;
  }
  int tileOfReg() const {
    if (r)
      fault("a tile beyond the eighth");
    return (*at >> 3) & 7;
  }
  int tileOfRm() const {
    if (b)
      fault("a tile beyond the eighth");
    return *at & 7;
  }
};

void release() {
  tiles.isConfigured = false;
  for (Tile &tile : tiles.all)
    tile = Tile();
}

void configure(const uint8_t *from) {
  ++configurations;
  uint8_t bytes[64];
  memcpy(bytes, from, sizeof bytes);
  if (bytes[0] > 1)
    fault("LDTILECFG of an unknown palette");
  if (bytes[0] == 0)
    return release();
  for (int i = 0; i < 64; ++i) {
    bool isReserved = (i >= 2 && i < 16) || (i >= 32 && i < 48) || i >= 56;
    if (isReserved && bytes[i])
      fault("LDTILECFG with a reserved byte that is not zero");
  }
  if (bytes[1])
    fault("LDTILECFG that starts in the middle of an instruction");
  release();
  for (int i = 0; i < tileCount; ++i) {
    uint16_t width;
    memcpy(&width, bytes + 16 + 2 * i, 2);
    int rows = bytes[48 + i];
    if (rows > mostRows || width > mostBytes)
      fault("LDTILECFG of a tile that is too large");
    if ((rows == 0) != (width == 0))
      fault("LDTILECFG of a tile with rows or columns alone");
    tiles.all[i].rows = rows;
    tiles.all[i].bytes = width;
  }
  tiles.isConfigured = true;
}

void storeConfiguration(uint8_t *to) {
  uint8_t bytes[64] = {};
  if (tiles.isConfigured) {
    bytes[0] = 1;
    for (int i = 0; i < tileCount; ++i) {
      bytes[16 + 2 * i] = uint8_t(tiles.all[i].bytes);
      bytes[48 + i] = uint8_t(tiles.all[i].rows);
    }
  }
  memcpy(to, bytes, sizeof bytes);
}

Tile &configured(int number) {
  if (!tiles.isConfigured)
    fault("a tile is used before LDTILECFG");
  if (tiles.all[number].rows == 0)
    fault("a tile is used that the configuration does not have");
  return tiles.all[number];
}

void load(Tile &tile, const Decoder::Memory &from) {
  ++loads;
  memset(tile.data, 0, sizeof tile.data);
  for (int row = 0; row < tile.rows; ++row)
    memcpy(tile.data[row],
           reinterpret_cast<const void *>(from.address +
                                          uint64_t(row * from.pitch)),
           size_t(tile.bytes));
}

void store(const Tile &tile, const Decoder::Memory &to) {
  ++stores;
  for (int row = 0; row < tile.rows; ++row)
    memcpy(reinterpret_cast<void *>(to.address + uint64_t(row * to.pitch)),
           tile.data[row], size_t(tile.bytes));
}

/// Checks the constraints of sums[m, n] += a[m, k] * b[k, n], with elements of
/// four bytes.
void checkShapes(const Tile &sums, const Tile &a, const Tile &b) {
  if (&sums == &a || &sums == &b || &a == &b)
    fault("a product of tiles that are not three");
  if (sums.bytes % 4 || a.bytes % 4 || b.bytes % 4)
    fault("a product of tiles whose rows are no whole words");
  if (sums.rows != a.rows)
    fault("a product whose sums have other rows than the left tile");
  if (a.bytes / 4 != b.rows)
    fault(
        "a product whose right tile has other rows than the left one columns");
  if (sums.bytes != b.bytes)
    fault("a product whose sums have other columns than the right tile");
}

template <typename A, typename B>
void multiplyBytes(Tile &sums, const Tile &a, const Tile &b) {
  for (int m = 0; m < sums.rows; ++m)
    for (int k = 0; k < b.rows; ++k)
      for (int n = 0; n < sums.bytes / 4; ++n) {
        uint32_t sum = sums.get<uint32_t>(m, n);
        for (int i = 0; i < 4; ++i)
          sum += uint32_t(int32_t(a.get<A>(m, 4 * k + i)) *
                          int32_t(b.get<B>(k, 4 * n + i)));
        sums.set(m, n, sum);
      }
}

float flushed(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
}

float bfloat(const Tile &tile, int row, int index) {
  uint32_t bits = uint32_t(tile.get<uint16_t>(row, index)) << 16;
  float x;
  memcpy(&x, &bits, 4);
  return flushed(x);
}

/// Even and odd elements of the reduction are accumulated separately, then both
/// sums are added to the previous value. Each multiply-add is rounded once;
/// subnormal numbers are treated as zeros.
void multiplyBFloats(Tile &sums, const Tile &a, const Tile &b) {
  for (int m = 0; m < sums.rows; ++m)
    for (int n = 0; n < sums.bytes / 4; ++n) {
      float parts[2] = {0, 0};
      for (int k = 0; k < b.rows; ++k)
        for (int i = 0; i < 2; ++i)
          parts[i] = flushed(std::fma(bfloat(a, m, 2 * k + i),
                                      bfloat(b, k, 2 * n + i), parts[i]));
      float both = flushed(parts[0] + parts[1]);
      sums.set(m, n, flushed(flushed(sums.get<float>(m, n)) + both));
    }
}

/// Executes the instruction at `code`. Returns the address of the next one, or
/// null if it is not a tile instruction.
const uint8_t *execute(const uint8_t *code, const greg_t *values) {
  // Three-byte VEX prefix with map 0F38, W0 and 128 bits.
  if (code[0] != 0xC4 || (code[1] & 0x1F) != 2 || (code[2] & 0x84) != 0)
    return nullptr;
  bool r = !(code[1] & 0x80), x = !(code[1] & 0x40), b = !(code[1] & 0x20);
  int further = ~(code[2] >> 3) & 15, prefix = code[2] & 3, opcode = code[3];
  enum { None, P66, PF3, PF2 };
  Decoder decoder{code + 4, values, r, x, b};
  bool isMemory = code[4] >> 6 != 3;
  if (opcode == 0x49 && isMemory && prefix <= P66) {
    if ((code[4] >> 3) & 7 || further)
      return nullptr;
    uint64_t address = [&] {
      Decoder::Memory memory = decoder.memory();
      return memory.address + uint64_t(memory.pitch);
    }();
    if (prefix == None)
      configure(reinterpret_cast<const uint8_t *>(address));
    else
      storeConfiguration(reinterpret_cast<uint8_t *>(address));
    return decoder.at;
  }
  if (opcode == 0x49 && prefix == None && code[4] == 0xC0) {
    release();
    return code + 5;
  }
  if (opcode == 0x49 && prefix == PF2 && !isMemory && (code[4] & 7) == 0) {
    ++zeros;
    Tile &tile = configured(decoder.tileOfReg());
    memset(tile.data, 0, sizeof tile.data);
    return code + 5;
  }
  if (opcode == 0x4B && isMemory && prefix != None && further == 0) {
    Tile &tile = configured(decoder.tileOfReg());
    Decoder::Memory memory = decoder.memory();
    if (!memory.hasSib)
      fault("a load or store of a tile without an index");
    prefix == PF3 ? store(tile, memory) : load(tile, memory);
    return decoder.at;
  }
  bool isOfBytes = opcode == 0x5E, isOfFloats = opcode == 0x5C && prefix == PF3;
  if ((isOfBytes || isOfFloats) && !isMemory) {
    if (further > 7)
      fault("a tile beyond the eighth");
    Tile &sums = configured(decoder.tileOfReg()),
         &left = configured(decoder.tileOfRm()), &right = configured(further);
    checkShapes(sums, left, right);
    ++products;
    if (isOfFloats)
      multiplyBFloats(sums, left, right);
    else if (prefix == None)
      multiplyBytes<uint8_t, uint8_t>(sums, left, right);
    else if (prefix == P66)
      multiplyBytes<uint8_t, int8_t>(sums, left, right);
    else if (prefix == PF3)
      multiplyBytes<int8_t, uint8_t>(sums, left, right);
    else
      multiplyBytes<int8_t, int8_t>(sums, left, right);
    return code + 5;
  }
  return nullptr;
}

// qemu does not align signal frames as the ABI requires.
[[gnu::force_align_arg_pointer]] void onIllegal(int, siginfo_t *,
                                                void *context) {
  greg_t *values = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
  const auto *code = reinterpret_cast<const uint8_t *>(values[REG_RIP]);
  const uint8_t *next = execute(code, values);
  if (!next)
    fault("an illegal instruction that is none of tiles");
  values[REG_RIP] = greg_t(reinterpret_cast<uintptr_t>(next));
}

/// Whether the processor has AMX-TILE: CPUID leaf 7, EDX bit 24.
bool processorHasTiles() {
  unsigned a, b, c, d;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 24 & 1);
}

const bool isEmulated = [] {
  if (processorHasTiles()) {
    // Requests the permission to use tiles: ARCH_REQ_XCOMP_PERM for
    // XFEATURE_XTILEDATA.
    if (syscall(SYS_arch_prctl, 0x1023, 18) != 0)
      fault("the processor has tiles, but Linux does not permit them");
    return false;
  }
  struct sigaction action = {};
  action.sa_sigaction = onIllegal;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  if (sigaction(SIGILL, &action, nullptr) != 0)
    fault("no handler of SIGILL can be installed");
  return true;
}();

} // namespace

bool amx_is_emulated() { return isEmulated; }

AmxCounts amx_counts() {
  return {configurations.exchange(0), zeros.exchange(0), loads.exchange(0),
          stores.exchange(0), products.exchange(0)};
}
