// Arm's microcontrollers, from the M0+ (no floating point, 16-bit instructions)
// to the M55 (16-byte vectors).
//
// These microcontrollers run without an operating system: weights stay in
// flash, programs include their start-up code, and code size counts.
//
// The costs are issue cycles from the cores' technical reference manuals. For
// cores without floating-point instructions, the costs of float operations are
// those of the compiler's helper functions.

#include "targets/arm/Arm.h"
#include "targets/arm/Helium.h"

#include "llvm/ADT/Twine.h"
#include "llvm/BinaryFormat/ELF.h"

namespace ingot::targets {

/// The start-up code of a program on an emulated board: the vector table, then
/// code that enables the floating-point unit and opens the semihosting channels
/// of the C library. The emulator loads the image into RAM, so no data has to
/// be copied or cleared.
static constexpr llvm::StringLiteral startText =
    R"(extern "C" {
extern char ingot_stack_top[];
void initialise_monitor_handles(void);
void exit(int) __attribute__((noreturn));
int main(void);
void _init(void) {}
void _fini(void) {}
__attribute__((used, noreturn)) void ingot_reset(void) {
  *(volatile unsigned *)0xE000ED88u |= 0xFu << 20;
  __asm__ volatile("dsb\n\tisb" ::: "memory");
  initialise_monitor_handles();
  exit(main());
}
__attribute__((section(".vectors"), used)) const void *ingot_vectors[] = {
    ingot_stack_top, (const void *)ingot_reset};
}
)";

/// The largest number of registers that one load instruction fills.
static constexpr unsigned mostLoaded = 10;

/// Dot products of 8-bit integers with the DSP extension, whose instructions
/// work on the halves of a register. SXTB16 and UXTB16 widen bytes 0 and 2 of a
/// register. SMLAD multiplies two pairs of 16-bit integers and adds both
/// products to a sum. Compilers do not widen bytes 1 and 3 in a single
/// instruction. A line `//? NAME` in the text begins text that is printed only
/// if kernels use NAME (codegen/files/Prologue.h).
#define BYTES_TEXT                                                             \
  R"(//? INGOT_DOT(
#if !defined(__ARM_FEATURE_SIMD32)
#error "compile this file for a core with the DSP extension, such as -mcpu=cortex-m4"
#endif
//?
// Extend the bytes 0 and 2, or 1 and 3, of a register to two 16-bit integers.
#define INGOT_EVEN_BYTES(WIDEN, X) __builtin_arm_##WIDEN(int(X))
#define INGOT_ODD_BYTES(WIDEN, X) \
  __extension__({ \
    int odd; \
    __asm__(#WIDEN " %0, %1, ror #8" : "=r"(odd) : "r"(int(X))); \
    odd; \
  })
// Adds the dot product of four 8-bit integers to SUM.
#define INGOT_DOT(WIDEN_A, A, WIDEN_B, B, SUM) \
  __builtin_arm_smlad( \
      INGOT_ODD_BYTES(WIDEN_A, A), INGOT_ODD_BYTES(WIDEN_B, B), \
      __builtin_arm_smlad(INGOT_EVEN_BYTES(WIDEN_A, A), INGOT_EVEN_BYTES(WIDEN_B, B), SUM))
// Load one word, or two aligned words, at FROM and increment FROM in the same instruction.
// Compilers use a separate instruction for the increment.
#define INGOT_NEXT_WORD(FROM) \
  __extension__({ \
    uint32_t word; \
    __asm__("ldr %0, [%1], #4" : "=r"(word), "+r"(FROM) \
            : "m"(*reinterpret_cast<const char(*)[4]>(FROM))); \
    word; \
  })
#define INGOT_NEXT_WORDS(FROM, W0, W1) \
  do { \
    uint32_t word_0, word_1; \
    __asm__("ldrd %0, %1, [%2], #8" \
            : "=&r"(word_0), "=&r"(word_1), "+r"(FROM) \
            : "m"(*reinterpret_cast<const char(*)[8]>(FROM))); \
    W0 = __builtin_bit_cast(__typeof__(W0), word_0); \
    W1 = __builtin_bit_cast(__typeof__(W1), word_1); \
  } while (0)
)"

/// Entries of the table of intrinsics that load one or two words, each of four
/// 8-bit elements, and advance the pointer.
static const std::vector<Intrinsic> wordLoads = {
    {"kernel.load_next", "i8", "i8x4", "INGOT_NEXT_WORD({0})"},
    {"kernel.load_next", "i8x4", "i8x8", "INGOT_NEXT_WORDS({0}, {1}, {2})"}};

static std::vector<Product> dspProducts() {
  constexpr double perCycle = 0.5;
  constexpr unsigned preparation = 2;
  return {{"si8",
           "si8",
           4,
           1,
           perCycle,
           "INGOT_DOT(sxtb16, {0}, sxtb16, {1}, {2})",
           {},
           0,
           preparation},
          {"ui8",
           "si8",
           4,
           1,
           perCycle,
           "INGOT_DOT(uxtb16, {0}, sxtb16, {1}, {2})",
           {},
           0,
           preparation},
          {"ui8",
           "ui8",
           4,
           1,
           perCycle,
           "INGOT_DOT(uxtb16, {0}, uxtb16, {1}, {2})",
           {},
           0,
           preparation}};
}

/// Returns the text before the kernels for cores with a single-precision FPU:
/// pragmas, and macros for loads that fill several registers:
/// INGOT_LOAD_2(FROM, R0, R1), ...
static std::string makeSmallFpuOpenText() {
  std::string text =
      R"(// On these cores, a multiplication and an addition are faster than a fused multiply-add. The other
// options keep GCC from scheduling before register allocation and from carrying elements over
// iterations, which need more registers than the core has, and from turning loops into memset.
#if defined(__clang__)
#pragma clang fp contract(off)
#else
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off", "no-schedule-insns", "no-predictive-commoning", \
                     "no-tree-loop-distribute-patterns")
#endif
)";
  text += "//? INGOT_LOAD_\n"
          "#if !defined(__ARM_FP)\n"
          "#error \"compile this file for a core with floating point, such as "
          "-mcpu=cortex-m4 -mfloat-abi=hard\"\n"
          "#endif\n"
          "//?\n";
  text += BYTES_TEXT;
  text += "// Load adjacent floats from FROM into several registers by one "
          "instruction, and increment FROM.\n// GCC and Clang merge single "
          "loads only if the registers happen to be in order.\n";
  constexpr unsigned outputsOfLine = 5;
  for (unsigned count = 2; count <= mostLoaded; ++count) {
    std::string parameters, list, outputs;
    for (unsigned i = 0; i < count; ++i) {
      parameters += (", R" + llvm::Twine(i)).str();
      list += ((i ? ", %" : "%") + llvm::Twine(i + 1)).str();
      outputs +=
          i % outputsOfLine == outputsOfLine - 1 ? ", \\\n            " : ", ";
      outputs += ("\"=t\"(R" + llvm::Twine(i) + ")").str();
    }
    text += ("#define INGOT_LOAD_" + llvm::Twine(count) + "(FROM" + parameters +
             ") \\\n  __asm__(\"vldmia %0!, {" + list +
             "}\" \\\n          : \"+r\"(FROM)" + outputs +
             " \\\n          : \"m\"(*reinterpret_cast<const float(*)[" +
             llvm::Twine(count) + "]>(FROM)))\n")
                .str();
  }
  return text;
}

static const std::vector<Intrinsic> &severalLoads() {
  static std::vector<std::string> texts;
  static const std::vector<Intrinsic> rows = [] {
    texts.reserve(2 * size_t(mostLoaded));
    std::vector<Intrinsic> rows = wordLoads;
    for (unsigned count = 2; count <= mostLoaded; ++count) {
      std::string number = std::to_string(count);
      texts.push_back("f32x" + number);
      std::string call = "INGOT_LOAD_" + number + "({0}";
      for (unsigned i = 1; i <= count; ++i)
        call += ", {" + std::to_string(i) + "}";
      texts.push_back(call + ")");
      rows.push_back(
          {"kernel.load_next", "f32", texts.end()[-2], texts.back()});
    }
    return rows;
  }();
  return rows;
}

static constexpr llvm::StringLiteral smallFpuCloseText =
    R"(#if defined(__clang__)
#pragma clang fp contract(on)
#else
#pragma GCC pop_options
#endif
)";

#define EMULATOR(BOARD)                                                        \
  "qemu-system-arm -M " BOARD                                                  \
  " -nographic -monitor none -serial none -semihosting-config "                \
  "enable=on,target=native -kernel"

/// Linker flags that place the vector table, the image and the top of the stack
/// in the board's largest memory.
#define MEMORY(VECTORS, IMAGE, TOP)                                            \
  "-Wl,--section-start=.vectors=" VECTORS, "-Wl,-Ttext=" IMAGE,                \
      "-Wl,--defsym=ingot_stack_top=" TOP

static TargetDescription core(llvm::StringRef name, llvm::StringRef summary,
                              std::initializer_list<llvm::StringRef> flags,
                              llvm::StringRef emulator,
                              std::initializer_list<llvm::StringRef> memory) {
  TargetDescription target;
  target.name = name;
  target.summary = summary;
  target.vectorRegisters = 32;
  target.coreRegisters = 13;
  target.l1Bytes = 16 << 10;
  target.l2Bytes = 128 << 10;
  target.pointerBytes = 4;
  target.bufferAlign = 8;
  target.smallCode = true;
  // Scaling an integer takes SMULL or SMMUL, then USAT or SSAT, which also
  // shift. Scaling by floats would take five to ten float instructions, or
  // calls if there is no FPU.
  target.scalesIntegers = true;
  target.freestanding = true;
  target.hasThreads = false;
  target.hasC = true;
  target.compilers = {"arm-none-eabi-g++"};
  target.compilerFlags = flags;
  target.compilerFlags.append(
      {"-mthumb", "-fno-pic", "-ffunction-sections", "-fdata-sections"});
  target.linkFlags = flags;
  target.linkFlags.append({"-mthumb", "-nostartfiles", "--specs=rdimon.specs",
                           "-Wl,--gc-sections",
                           "-Wl,-e,ingot_reset,-u,ingot_vectors"});
  target.linkFlags.append(memory);
  target.programText = startText;
  target.emulator = emulator;
  target.elf.machine = llvm::ELF::EM_ARM;
  target.elf.flags = llvm::ELF::EF_ARM_EABI_VER5 |
                     (target.compilerFlags[1] == "-mfloat-abi=hard"
                          ? llvm::ELF::EF_ARM_ABI_FLOAT_HARD
                          : llvm::ELF::EF_ARM_ABI_FLOAT_SOFT);
  target.elf.is64Bit = false;
  return target;
}

/// Completes the description of a core without an FPU. Functions of the
/// compiler's library compute with floats, which are in core registers.
static TargetDescription softFloat(TargetDescription target) {
  target.vectorRegisters = 8;
  target.costs = {
      /*multiplyAdd=*/90, /*multiply=*/40, /*add=*/50,
      /*load=*/2,         /*loadNext=*/1,  /*store=*/2,
      /*takenBranch=*/3};
  return target;
}

/// Completes the description of a core that has a single-precision FPU and does
/// not overlap instructions. On such a core, a fused multiply-add takes longer
/// than a multiplication and an addition.
static TargetDescription smallFpu(TargetDescription target) {
  target.fma = true;
  target.costs = {
      /*multiplyAdd=*/3, /*multiply=*/1, /*add=*/1,
      /*load=*/2,        /*loadNext=*/1, /*store=*/2,
      /*takenBranch=*/3};
  static const std::string openText = makeSmallFpuOpenText();
  target.openText = openText;
  target.closeText = smallFpuCloseText;
  // s0 to s15 are the registers that a called function need not save.
  target.loadRegisters = "s";
  target.loadRegisterCount = 16;
  target.intrinsics = severalLoads();
  target.products = dspProducts();
  return target;
}

void cortexM(std::vector<TargetDescription> &targets) {
  targets.push_back(softFloat(
      core("cortex-m0plus",
           "Arm microcontroller without floating point (RP2040, STM32G0)",
           {"-mcpu=cortex-m0plus", "-mfloat-abi=soft"}, EMULATOR("mps2-an385"),
           {MEMORY("0", "0x21000000", "0x22000000")})));
  targets.push_back(softFloat(
      core("cortex-m3", "Arm microcontroller without floating point (STM32F1)",
           {"-mcpu=cortex-m3", "-mfloat-abi=soft"}, EMULATOR("mps2-an385"),
           {MEMORY("0", "0x21000000", "0x22000000")})));
  targets.push_back(smallFpu(
      core("cortex-m4",
           "Arm microcontroller with single-precision floats (STM32F4, nRF52)",
           {"-mcpu=cortex-m4", "-mfloat-abi=hard"}, EMULATOR("mps2-an386"),
           {MEMORY("0", "0x21000000", "0x22000000")})));
  targets.push_back(smallFpu(
      core("cortex-m33",
           "Armv8-M microcontroller with single-precision floats (STM32U5, "
           "nRF53, RP2350)",
           {"-mcpu=cortex-m33", "-mfloat-abi=hard"}, EMULATOR("mps2-an505"),
           {MEMORY("0x10000000", "0x10000100", "0x10400000")})));

  // Cortex-M7 issues two instructions per cycle and has caches.
  TargetDescription m7 = core(
      "cortex-m7",
      "Arm microcontroller with double-precision floats (STM32F7, STM32H7)",
      {"-mcpu=cortex-m7", "-mfloat-abi=hard"}, EMULATOR("mps2-an500"),
      {MEMORY("0", "0x60000000", "0x61000000")});
  m7.fma = true;
  m7.l2Bytes = 256 << 10;
  static constexpr llvm::StringLiteral openText = BYTES_TEXT;
  m7.openText = openText;
  m7.intrinsics = wordLoads;
  m7.products = dspProducts();
  targets.push_back(std::move(m7));

  // clang compiles for the vectors of Cortex-M55; the C library (newlib) and
  // the linker are those of GCC.
  TargetDescription m55 =
      core("cortex-m55",
           "Armv8.1-M microcontroller with 16-byte vectors (STM32N6, Ensemble)",
           {"-mcpu=cortex-m55", "-mfloat-abi=hard"}, EMULATOR("mps3-an547"),
           {MEMORY("0", "0x70000000", "0x78000000")});
  addHelium(m55);
  m55.compilers = {"clang++-22 --target=arm-none-eabi",
                   "clang++ --target=arm-none-eabi"};
  m55.linker = "arm-none-eabi-g++";
  // Ingot already unrolls the loops of kernels where that pays off.
  m55.compilerFlags.push_back("-fno-unroll-loops");
  targets.push_back(std::move(m55));
}

} // namespace ingot::targets
