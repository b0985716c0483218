// AMX: eight matrix tile registers of 16 rows of 64 bytes, and their products.
//
// TDPBUSD and three similar instructions multiply 8-bit integers of either
// signedness and sum four products in each 32-bit lane, without saturation.
// TDPBF16PS multiplies pairs of bf16. It sums the even K elements of a tile
// separately from the odd ones, rounding each multiply-add once to nearest
// even, and adds both sums to an f32 accumulator. It flushes subnormal operands
// and results to zero, regardless of MXCSR (Intel 64 and IA-32 Architectures
// Software Developer's Manual, volume 2).
//
// Cycles, for Sapphire Rapids: Intel 64 and IA-32 Architectures Optimization
// Reference Manual, chapter on AMX. A product issues every 16 cycles with a
// latency of 52; loads issue every 8 cycles, stores every 16. The manual does
// not document LDTILECFG, which writes the state of all tiles; it is assumed to
// take 64 cycles. LLVM 22 has no model of these instructions. None of these
// numbers was measured, since no machine with AMX was available.

#include "targets/x86/Tiles.h"

#if defined(__linux__) && defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace ingot::targets {

TileRegisters tileRegisters() {
  TileRegisters tiles;
  tiles.count = 8;
  tiles.rows = 16;
  tiles.bytes = 64;
  tiles.productCycles = 16;
  tiles.productLatency = 52;
  tiles.loadCycles = 8;
  tiles.storeCycles = 16;
  tiles.shapeCycles = 64;
  return tiles;
}

std::vector<Intrinsic> tileIntrinsics() {
  return {
      {"kernel.shape_tiles", "", "", "INGOT_SHAPE_TILES"},
      {"kernel.release_tiles", "", "", "_tile_release"},
      {"kernel.clear_tile", "", "", "_tile_zero"},
      {"kernel.load_tile", "", "", "_tile_loadd"},
      {"kernel.store_tile", "", "", "_tile_stored"},
      {"kernel.multiply_tiles[ui8,ui8]", "", "", "_tile_dpbuud"},
      {"kernel.multiply_tiles[ui8,si8]", "", "", "_tile_dpbusd"},
      {"kernel.multiply_tiles[si8,ui8]", "", "", "_tile_dpbsud"},
      {"kernel.multiply_tiles[si8,si8]", "", "", "_tile_dpbssd"},
      {"kernel.multiply_tiles[bf16,bf16]", "", "", "_tile_dpbf16ps"},
  };
}

const llvm::StringLiteral tileFunctions =
    R"(// Configures tiles 0 to 7: the bytes of a row, then the rows of each. It is also a barrier for
// earlier stores, since g++'s intrinsics do not declare that tile loads read memory.
#define INGOT_SHAPE_TILES(b0, b1, b2, b3, b4, b5, b6, b7, r0, r1, r2, r3, r4, r5, r6, r7) \
  do { \
    alignas(64) static const uint8_t shapes[64] = { \
        1 /* palette */, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
        b0, 0, b1, 0, b2, 0, b3, 0, b4, 0, b5, 0, b6, 0, b7, 0, \
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, r0, r1, r2, r3, r4, r5, r6, r7}; \
    __asm__ volatile("" : : "r"(shapes) : "memory"); \
    _tile_loadconfig(shapes); \
  } while (false)
)";

const llvm::StringLiteral tilePermissionText =
    R"(// Whether the process may use tiles. A process on Linux requests this with the system call
// arch_prctl (158), ARCH_REQ_XCOMP_PERM (0x1023), component 18. Returns false on other systems.
inline bool may_use_tiles() {
#if defined(__linux__)
  long result = 158;
  __asm__ volatile("syscall" : "+a"(result) : "D"(0x1023L), "S"(18L) : "rcx", "r11", "memory");
  return result == 0;
#else
  return false;
#endif
}
)";

bool mayUseTiles() {
#if defined(__linux__) && defined(__x86_64__)
  constexpr long requestPermission = 0x1023, tileData = 18;
  return syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
#else
  return false;
#endif
}

} // namespace ingot::targets
