// 32-bit Arm with NEON.
//
// NEON has 16-byte vectors in 16 registers. Compilers do not use NEON for the
// float operators of C, since it flushes subnormal numbers to zero; the entries
// of the table of intrinsics use it explicitly. A multiply-add by lane is not
// fused: product and sum are rounded separately.

#include "targets/arm/Arm.h"
#include "targets/arm/Products.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

namespace ingot::targets {

#define BINARY(OP, NAME)                                                       \
  {OP, "f32x4", "f32x4", NAME "q_f32({0}, {1})"},                              \
      {OP, "f32x2", "f32x2", NAME "_f32({0}, {1})"}

/// Entries of the table of intrinsics for a multiply-add by lane LANE of the
/// vector {0}. LANE is lane IN_HALF of the lower or upper half (HALF) of the
/// vector.
#define BY_LANE(LANE, HALF, IN_HALF)                                           \
  {"vector.fma[" LANE "]", "f32x4", "f32x4",                                   \
   "vmlaq_lane_f32({2}, {1}, vget_" HALF "_f32({0}), " IN_HALF ")"},           \
      {"vector.fma[" LANE "]", "f32x4", "f32x2",                               \
       "vmla_lane_f32({2}, {1}, vget_" HALF "_f32({0}), " IN_HALF ")"}

static const std::vector<Intrinsic> intrinsics = {
    BY_LANE("0", "low", "0"),
    BY_LANE("1", "low", "1"),
    BY_LANE("2", "high", "0"),
    BY_LANE("3", "high", "1"),
    {"arith.fptosi", "f32x4", "i32x4", "vcvtq_s32_f32({0})"},
    {"arith.sitofp", "i32x4", "f32x4", "vcvtq_f32_s32(int32x4_t({0}))"},
    BINARY("arith.addf", "vadd"),
    BINARY("arith.subf", "vsub"),
    BINARY("arith.mulf", "vmul"),
    BINARY("arith.maximumf", "vmax"),
    BINARY("arith.minimumf", "vmin"),
    {"arith.negf", "f32x4", "f32x4", "vnegq_f32({0})"},
    {"arith.negf", "f32x2", "f32x2", "vneg_f32({0})"},
    {"vector.fma", "f32x4", "f32x4", "vmlaq_f32({2}, {0}, {1})"},
    {"vector.fma", "f32x2", "f32x2", "vmla_f32({2}, {0}, {1})"},
    {"vector.broadcast", "f32", "f32x4", "vdupq_n_f32({0})"},
    {"vector.broadcast", "f32", "f32x2", "vdup_n_f32({0})"},
};

void armv7(std::vector<TargetDescription> &targets) {
  TargetDescription target;
  target.name = "armv7-a";
  target.family = "arm";
  target.summary = "32-bit Arm with NEON (Cortex-A7, A9, Raspberry Pi 2)";
  target.vectorBytes = {16, 8};
  target.vectorRegisters = 16;
  target.multiplyByLane = true;
  target.l1Bytes = 32 << 10;
  target.l2Bytes = 256 << 10;
  target.pointerBytes = 4;
  target.intrinsics = intrinsics;
  target.products = neonProducts();
  target.includes = {"arm_neon.h"};
  // clang can enable NEON only by a flag, not for single functions.
  target.openText = "#if defined(__clang__)\n"
                    "#if !defined(__ARM_NEON)\n"
                    "#error \"clang has to be called with -mfpu=neon\"\n"
                    "#endif\n"
                    "#else\n"
                    "#pragma GCC push_options\n"
                    "#pragma GCC target(\"fpu=neon\")\n"
                    "#endif\n";
  target.closeText = "#if !defined(__clang__)\n"
                     "#pragma GCC pop_options\n"
                     "#endif\n";
  target.compilers = {"clang++-22 --target=armv7-linux-gnueabihf -mfpu=neon",
                      "arm-linux-gnueabihf-g++"};
  target.linkFlags = {"-static"};
  target.emulator = "qemu-arm -cpu cortex-a15";
  target.elf.machine = llvm::ELF::EM_ARM;
  target.elf.flags =
      llvm::ELF::EF_ARM_EABI_VER5 | llvm::ELF::EF_ARM_ABI_FLOAT_HARD;
  target.elf.is64Bit = false;
  target.runsOnThisHost = [] {
    return llvm::Triple(llvm::sys::getDefaultTargetTriple()).isARM() &&
           llvm::sys::getHostCPUFeatures().lookup("neon");
  };
  targets.push_back(std::move(target));
}

} // namespace ingot::targets
