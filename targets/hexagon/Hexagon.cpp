// Qualcomm's Hexagon DSPs with HVX.
//
// HVX has 32 vector registers of 128 bytes, for integers of 8, 16 and 32 bits.
// Float vectors are not used, since those of v68 and later levels are
// approximate: floats are computed one by one. A packet is a group of up to
// four instructions that the processor issues in one cycle; the compiler forms
// packets.

#include "targets/hexagon/LinuxProgram.h"
#include "targets/hexagon/Products.h"

#include "llvm/BinaryFormat/ELF.h"

namespace ingot::targets {

static constexpr llvm::StringLiteral openText =
    R"(// Clang enables Hexagon's vectors by its command line only.
#if !defined(__HVX__) || __HVX_LENGTH__ != 128
#error "call clang with -mhvx -mhvx-length=128B and the processor, such as -mv67"
#endif
// A fused multiply-add would round once where other targets round twice. Integer networks with
// float scales give the same bits on all targets.
#pragma clang fp contract(off)
// Prefetches contiguous rows of 1024 bytes into the L2 cache.
#define INGOT_PREFETCH(POINTER, BYTES) \
  __builtin_HEXAGON_Y5_l2fetch(reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(POINTER)), \
                               int64_t(1024) << 32 | int64_t(1024) << 16 | ((BYTES) + 1023) / 1024)
typedef int32_t ingot_hvx __attribute__((vector_size(128)));
// Returns 1; the compiler cannot fold it.
#define INGOT_ONE() \
  __extension__({ \
    ptrdiff_t one = 1; \
    __asm__("" : "+r"(one)); \
    one; \
  })
// Looks up bytes in a table of 256. An instruction covers 32 entries, which it takes from every
// second byte of a register.
#define INGOT_LOOKUP_NEXT(FOUND, BYTES, HALF, NUMBER) \
  __builtin_HEXAGON_V6_vlutvvb_oracci_128B(FOUND, BYTES, HALF, NUMBER)
#define INGOT_LOOKUP(X, TABLE) \
  __extension__({ \
    const ingot_hvx *table_halves = static_cast<const ingot_hvx *>( \
        static_cast<const void *>(TABLE)); \
    const ingot_hvx table_low = __builtin_HEXAGON_V6_vshuffb_128B(table_halves[0]); \
    const ingot_hvx table_high = __builtin_HEXAGON_V6_vshuffb_128B(table_halves[1]); \
    const ingot_hvx table_bytes = ingot_hvx(X); \
    ingot_hvx found = __builtin_HEXAGON_V6_vlutvvbi_128B(table_bytes, table_low, 0); \
    found = INGOT_LOOKUP_NEXT(found, table_bytes, table_low, 1); \
    found = INGOT_LOOKUP_NEXT(found, table_bytes, table_low, 2); \
    found = INGOT_LOOKUP_NEXT(found, table_bytes, table_low, 3); \
    found = INGOT_LOOKUP_NEXT(found, table_bytes, table_high, 4); \
    found = INGOT_LOOKUP_NEXT(found, table_bytes, table_high, 5); \
    found = INGOT_LOOKUP_NEXT(found, table_bytes, table_high, 6); \
    INGOT_LOOKUP_NEXT(found, table_bytes, table_high, 7); \
  })
// The upper 32 bits of the 64-bit products of 32-bit integers.
#define INGOT_MUL_HIGH(X, Y) \
  __extension__({ \
    const int32_t __attribute__((vector_size(128))) x_words = X, y_words = Y; \
    __builtin_HEXAGON_V6_hi_128B(__builtin_HEXAGON_V6_vmpyowh_64_acc_128B( \
        __builtin_HEXAGON_V6_vmpyewuh_64_128B(x_words, y_words), x_words, y_words)); \
  })
)";

static constexpr llvm::StringLiteral closeText =
    "#pragma clang fp contract(on)\n";

#define INTERLEAVED(STEP)                                                      \
  "__builtin_HEXAGON_V6_vshuffvdd_128B(ingot_hvx({1}), ingot_hvx({0}), " STEP  \
  ")"

// Entries of the table of intrinsics for VDEAL of two registers: one half of
// its result consists of the even groups of BYTES bytes, the other half of the
// odd groups.
#define EACH_SECOND(BYTES)                                                     \
  {"vector.shuffle[even " BYTES "]", "i8x128", "i8x128", DEALT("lo", BYTES)},  \
  {                                                                            \
    "vector.shuffle[odd " BYTES "]", "i8x128", "i8x128", DEALT("hi", BYTES)    \
  }
#define DEALT(HALF, BYTES)                                                     \
  "__builtin_HEXAGON_V6_" HALF                                                 \
  "_128B(__builtin_HEXAGON_V6_vdealvdd_128B(ingot_hvx({1}), ingot_hvx({0}), "  \
  "-" BYTES "))"

/// Returns the part of the description that all versions of the processor (v65,
/// v66, ...) have in common.
static TargetDescription base() {
  TargetDescription target;
  target.vectorBytes = {128};
  target.vectorRegisters = 32;
  target.scalarRegisters = 28;
  target.vectorFloats = false;
  // clang 22 uses sfmax, sfmin, dfmax and dfmin.
  target.extremaDropNan = true;
  target.vectorIntegerBits = 32;
  target.wholeRegisters = true;
  // Scaling a vector of integers takes VMPYE and VMPYO. With floats, each step
  // takes at least a packet (a cycle) for each element.
  target.scalesIntegers = true;
  target.intrinsics = {
      // vector.vscale is always 1, which clang does not see. The distances
      // between memory accesses are multiplied by it, to hide them from clang
      // 22. Otherwise, clang turns aligned vector accesses into unaligned ones,
      // and fills the range between two distant stores with masked stores of
      // nothing.
      {"vector.vscale", "", "index", "INGOT_ONE()"},
      {"kernel.mul_high", "i32x32", "i32x32", "INGOT_MUL_HIGH({0}, {1})"},
      // Looks up bytes in a table of 256 bytes with eight VLUT32 instructions.
      {"vector.gather", "", "i8x128", "INGOT_LOOKUP({2}, {0})"},
      // VSHUFF interleaves two registers in units of one or two bytes. clang 22
      // takes up to ten instructions for such a shuffle.
      {"vector.interleave", "i8x128", "i8x256", INTERLEAVED("-1")},
      {"vector.interleave", "i16x64", "i16x128", INTERLEAVED("-2")},
      EACH_SECOND("2"),
      EACH_SECOND("4"),
      EACH_SECOND("8"),
      EACH_SECOND("16"),
      EACH_SECOND("32"),
      EACH_SECOND("64")};
  target.alignedAccess = true;
  target.bufferAlign = 128;
  target.tcmName = "vtcm";
  // Groups of four 8-bit integers are read as 32-bit words, which the processor
  // requires to be aligned to four bytes.
  target.tensorAlign = 4;
  target.pointerBytes = 4;
  // From the scheduling model of LLVM 22: a packet (instructions that are
  // issued together) has two multipliers, one vector load and four
  // instructions; a float multiply-add takes four cycles; consecutive VRMPY
  // accumulate without a stall.
  target.rates.multiplyAddLatency = 4;
  target.rates.dotLatency = 1;
  target.rates.multiplyAdds = 2;
  target.rates.loads = 1;
  target.rates.instructions = 4;
  // Vector loads bypass L1 and read from L2.
  target.l1Bytes = 32 << 10;
  target.l2Bytes = 512 << 10;
  // There is no hardware prefetcher for the vectors of weights, which are read
  // from L2.
  target.prefetchText = "INGOT_PREFETCH({0}, {1});";
  target.products = hvxProducts();
  target.openText = openText;
  target.closeText = closeText;
  target.linkFlags = {"-nostdlib", "-static"};
  target.libraryText = linuxLibraryText;
  target.programText = linuxProgramText;
  target.emulator = "qemu-hexagon -cpu v67";
  // If an instruction of an earlier packet (a set of instructions that are
  // issued together) was cancelled, qemu-hexagon 7.2 may execute a load before
  // an earlier store in the same packet. That corrupts registers that are
  // spilled and reloaded in one packet.
  target.compilerFlags = {"-mllvm", "-slot1-store-slot0-load=false"};
  target.elf.machine = llvm::ELF::EM_HEXAGON;
  target.elf.is64Bit = false;
  return target;
}

#define COMPILER(LEVEL)                                                        \
  "clang++-22 --target=hexagon-unknown-linux-musl -m" LEVEL                    \
  " -mhvx -mhvx-length=128B",                                                  \
      "clang++ --target=hexagon-unknown-linux-musl -m" LEVEL                   \
      " -mhvx -mhvx-length=128B"

void hexagon(std::vector<TargetDescription> &targets) {
  auto level = [&](llvm::StringRef name, llvm::StringRef summary,
                   std::initializer_list<llvm::StringRef> compilers,
                   unsigned machine, llvm::StringRef emulator) {
    TargetDescription target = base();
    target.name = name;
    target.summary = summary;
    target.compilers = compilers;
    target.elf.flags = machine;
    target.emulator = emulator;
    targets.push_back(std::move(target));
  };
  // The emulator supports v67 and earlier versions of the processor.
  constexpr llvm::StringLiteral emulator = "qemu-hexagon -cpu v67";
  level("hexagon-v65", "Hexagon DSP with 128-byte vectors (Snapdragon 845)",
        {COMPILER("v65")}, llvm::ELF::EF_HEXAGON_MACH_V65, emulator);
  level("hexagon-v66",
        "Hexagon DSP with 128-byte vectors (Snapdragon 855, 865)",
        {COMPILER("v66")}, llvm::ELF::EF_HEXAGON_MACH_V66, emulator);
  level("hexagon-v67", "Hexagon DSP with 128-byte vectors", {COMPILER("v67")},
        llvm::ELF::EF_HEXAGON_MACH_V67, emulator);
  level("hexagon-v68", "Hexagon DSP with 128-byte vectors (Snapdragon 888)",
        {COMPILER("v68")}, llvm::ELF::EF_HEXAGON_MACH_V68, "");
  level("hexagon-v69", "Hexagon DSP with 128-byte vectors (Snapdragon 8 Gen 1)",
        {COMPILER("v69")}, llvm::ELF::EF_HEXAGON_MACH_V69, "");
  level("hexagon-v73", "Hexagon DSP with 128-byte vectors (Snapdragon 8 Gen 2)",
        {COMPILER("v73")}, llvm::ELF::EF_HEXAGON_MACH_V73, "");
}

} // namespace ingot::targets
