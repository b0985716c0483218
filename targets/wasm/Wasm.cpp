// 32-bit WebAssembly: without vectors, with 16-byte vectors (simd128), and also
// with the relaxed operations on vectors.
//
// A module is compiled for one of these targets, since an engine rejects a
// whole module that contains an unknown instruction. The program that loads
// modules chooses one of them (`ingot export --as web` writes a module for each
// target). The compiler enables the features of all functions for the whole
// module, so pragmas around functions suffice.

#include "targets/FeaturePragmas.h"
#include "targets/TargetDescription.h"
#include "targets/wasm/Module.h"

namespace ingot::targets {

/// Entries of the table of intrinsics for roundings and square roots, which are
/// single instructions for scalars and for vectors. The builtins do not set
/// errno.
#define ROUNDINGS(TYPE)                                                        \
  {"math.sqrt", TYPE, TYPE, "__builtin_elementwise_sqrt({0})"},                \
      {"math.floor", TYPE, TYPE, "__builtin_elementwise_floor({0})"},          \
      {"math.ceil", TYPE, TYPE, "__builtin_elementwise_ceil({0})"},            \
      {"math.trunc", TYPE, TYPE, "__builtin_elementwise_trunc({0})"},          \
      {"math.roundeven", TYPE, TYPE, "__builtin_elementwise_roundeven({0})"}

static const std::vector<Intrinsic> scalarIntrinsics = {ROUNDINGS("f32"),
                                                        ROUNDINGS("f64")};

/// clang 22 shifts the lanes of a constant, such as 255 in 8 bits, as 32-bit
/// integers that it has extended by the sign, whether or not the kernel widens
/// them. A volatile variable hides the constant.
#define SHIFT_TEXT                                                             \
  R"(
// X >> Y for a constant vector X. The compiler would extend the sign of its lanes.
#define INGOT_SHIFT_CONSTANT(ELEMENT, X, Y) \
  __extension__({ \
    typedef ELEMENT ingot_lanes __attribute__((vector_size(sizeof(X)))); \
    const volatile ingot_lanes ingot_constant = ingot_lanes(X); \
    ingot_lanes(ingot_constant) >> ingot_lanes(Y); \
  })
)"

/// An entry of the table of intrinsics for a function with two vector operands.
#define OF_TWO(OP, FROM, TO, FUNCTION)                                         \
  {OP, FROM, TO, FUNCTION "(v128_t({0}), v128_t({1}))"}

/// An entry of the table of intrinsics for max or min. `a > b ? a : b` is pmax
/// with exchanged operands.
#define EXTREMUM(OP, TYPE)                                                     \
  {OP, TYPE, TYPE, "wasm_" TYPE "_p" OP "(v128_t({1}), v128_t({0}))"}

/// An entry of the table of intrinsics for the shift of a constant vector TYPE
/// of unsigned integers ELEMENT to the right.
#define SHIFT_OF_CONSTANT(TYPE, ELEMENT)                                       \
  {"arith.shrui[of constant]", TYPE, TYPE,                                     \
   "INGOT_SHIFT_CONSTANT(" ELEMENT ", ({0}), ({1}))"}

static const std::vector<Intrinsic> vectorIntrinsics = {
    SHIFT_OF_CONSTANT("i8x2", "uint8_t"),
    SHIFT_OF_CONSTANT("i8x4", "uint8_t"),
    SHIFT_OF_CONSTANT("i8x8", "uint8_t"),
    SHIFT_OF_CONSTANT("i8x16", "uint8_t"),
    SHIFT_OF_CONSTANT("i16x2", "uint16_t"),
    SHIFT_OF_CONSTANT("i16x4", "uint16_t"),
    SHIFT_OF_CONSTANT("i16x8", "uint16_t"),
    ROUNDINGS("f32x4"),
    ROUNDINGS("f64x2"),
    EXTREMUM("max", "f32x4"),
    EXTREMUM("max", "f64x2"),
    EXTREMUM("min", "f32x4"),
    EXTREMUM("min", "f64x2"),
    OF_TWO("kernel.narrow_signed", "i32x4", "i16x8", "wasm_i16x8_narrow_i32x4"),
    OF_TWO("kernel.narrow_unsigned", "i32x4", "i16x8",
           "wasm_u16x8_narrow_i32x4"),
    OF_TWO("kernel.narrow_signed", "i16x8", "i8x16", "wasm_i8x16_narrow_i16x8"),
    OF_TWO("kernel.narrow_unsigned", "i16x8", "i8x16",
           "wasm_u8x16_narrow_i16x8"),
};

/// An entry of the table of intrinsics for a multiply-add. An engine rounds it
/// once if the processor has such an instruction, otherwise twice.
#define MULTIPLY_ADD(TYPE)                                                     \
  {"vector.fma", TYPE, TYPE,                                                   \
   "wasm_" TYPE "_relaxed_madd(v128_t({0}), v128_t({1}), v128_t({2}))"}

static const std::vector<Intrinsic> relaxedIntrinsics = {MULTIPLY_ADD("f32x4"),
                                                         MULTIPLY_ADD("f64x2")};

template <typename Row>
static void append(std::vector<Row> &rows, const std::vector<Row> &more) {
  rows.insert(rows.end(), more.begin(), more.end());
}

void wasm(std::vector<TargetDescription> &targets) {
  TargetDescription scalar;
  scalar.name = "wasm32";
  scalar.summary = "WebAssembly without vectors (browsers since 2021); "
                   "tested in Node 20";
  scalar.family = moduleFamily;
  // x86-64, on which engines run, has 16 registers for vectors and floats.
  scalar.vectorRegisters = 16;
  scalar.pointerBytes = 4;
  scalar.l1Bytes = 32 << 10;
  scalar.l2Bytes = 512 << 10;
  scalar.intrinsics = scalarIntrinsics;
  scalar.compilers = {"clang++-22 --target=wasm32", "clang++ --target=wasm32"};
  scalar.compilerFlags = {"-fno-PIC", "-DINGOT_WITHOUT_MODULE"};
  scalar.linkFlags = {"-nostdlib", "-Wl,--no-entry,--export=__main_void",
                      "-Wl,-z,stack-size=1048576"};
  scalar.libraryText = hostLibraryText;
  scalar.emulator = nodeCommand;
  scalar.elf.is64Bit = false;
  targets.push_back(scalar);

  TargetDescription simd = scalar;
  simd.name = "wasm32+simd128";
  simd.summary = "WebAssembly with 16-byte vectors (Chrome 91, Firefox 89, "
                 "Safari 16.4, Node 16); tested in Node 20 and Chromium 156";
  simd.vectorBytes = {16};
  // V8 keeps one of the 16 registers of x86-64 for itself. Its compiler does
  // not keep the order of the operations in a module: it places multiply-adds
  // as late as possible, after all loads of an iteration.
  simd.vectorRegisters = 15;
  simd.loadsBeforeMultiplyAdds = true;
  append(simd.intrinsics, vectorIntrinsics);
  simd.products = pairProducts();
  simd.includes = {"wasm_simd128.h"};
  simd.openText = INGOT_OPEN_FEATURES("simd128") SHIFT_TEXT;
  simd.closeText = closeFeatures;
  targets.push_back(simd);

  TargetDescription relaxed = simd;
  relaxed.name = "wasm32+relaxed-simd";
  relaxed.summary = "wasm32+simd128 with fused multiply-adds (Chrome 114, "
                    "Firefox 145, Node 21); tested in Node 20 and Chromium 156";
  relaxed.fma = true;
  append(relaxed.intrinsics, relaxedIntrinsics);
  relaxed.openText = INGOT_OPEN_FEATURES("simd128,relaxed-simd") SHIFT_TEXT;
  targets.push_back(relaxed);
}

} // namespace ingot::targets
