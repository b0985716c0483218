// The functions of Hopper's own instructions, for the opening text: gates (mbarrier),
// copies of whole tiles (cp.async.bulk.tensor), products of warpgroups (wgmma), and how
// the host makes the maps of tensors that such copies take.

#include "targets/cuda/Opening.h"

#include "llvm/ADT/Twine.h"

namespace ingot::targets {

static constexpr llvm::StringLiteral gates =
    R"(
  // A kernel may begin before the one in front of it ends, and has the next one begin.
  static __device__ void begin() {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  }
  // What the kernel in front has read and stored is waited for here. Before that a kernel
  // reads constants alone.
  static __device__ void await_inputs() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

  // Shared memory beyond what a kernel may declare.
  template <typename Shared> static __device__ Shared &shared_memory() {
    extern __shared__ __align__(1024) unsigned char memory[];
    return *reinterpret_cast<Shared *>(memory);
  }

  // Gates: they open when all have arrived and all bytes are there.
  static __device__ void init_gate(int64_t *gate, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                 :: "r"(shared_address(gate)), "r"(arrivals) : "memory");
  }
  static __device__ void publish_gates() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  static __device__ void arrive(int64_t *gate) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];"
                 :: "r"(shared_address(gate)) : "memory");
  }
  static __device__ void expect_bytes(int64_t *gate, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :: "r"(shared_address(gate)), "r"(bytes) : "memory");
  }
  static __device__ void await_gate(int64_t *gate, ptrdiff_t parity) {
    asm volatile("{\n\t.reg .pred is_open;\n"
                 "AGAIN:\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 is_open, [%0], %1;\n\t"
                 "@!is_open bra AGAIN;\n\t}"
                 :: "r"(shared_address(gate)), "r"(static_cast<unsigned>(parity)) : "memory");
  }

  // Copies of tiles, the place in a tensor innermost first.
TILES
  // Products of warpgroups. Sums are held in registers from their last use before the
  // products to the first one behind them.
  template <unsigned count> static __device__ void hold(float (&sums)[count]) {
    INGOT_UNROLLED for (unsigned i = 0; i < count; ++i) asm volatile("" : "+f"(sums[i]) :: "memory");
  }
  template <unsigned count> static __device__ void hold(int32_t (&sums)[count]) {
    INGOT_UNROLLED for (unsigned i = 0; i < count; ++i) asm volatile("" : "+r"(sums[i]) :: "memory");
  }
  template <typename... Sums> static __device__ void begin_products(Sums &...sums) {
    (hold(sums), ...);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  }
  static __device__ void close_products() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  }
  template <unsigned newest, typename... Sums> static __device__ void await_products(Sums &...sums) {
    asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(newest) : "memory");
    (hold(sums), ...);
  }
  template <unsigned count> static __device__ void more_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(count));
  }
  template <unsigned count> static __device__ void fewer_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(count));
  }
  // A tile with rows of 128 bytes whose pieces of 16 are exchanged by row: its address,
  // 1024 bytes from 8 rows to the next 8, and the way in which they are exchanged.
  static __device__ uint64_t tile_at(const void *tile) {
    return (shared_address(tile) & 0x3ffffu) >> 4 | uint64_t(1) << 16 | uint64_t(64) << 32 |
           uint64_t(1) << 62;
  }
  // The same of a tile across: its rows are steps of 64 columns; so many bytes from there to
  // the next 64.
  static __device__ uint64_t tile_across_at(const void *tile, unsigned distance) {
    return tile_at(tile) ^ uint64_t(1 ^ distance >> 4) << 16;
  }
PRODUCTS)";

static constexpr llvm::StringLiteral maps =
    R"(
  // Describes a tensor to copies of its tiles: sizes, distances in bytes and the tile, all
  // innermost first.
  template <unsigned rank>
  static ingot_status map_tiles(CUtensorMap *map, unsigned element, const void *tensor,
                                const cuuint64_t (&sizes)[rank], const cuuint64_t (&distances)[rank],
                                const cuuint32_t (&tile)[rank]) {
    cuuint32_t steps[rank];
    for (cuuint32_t &step : steps) step = 1;
    auto *encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(
        driver_function("cuTensorMapEncodeTiled"));
    if (!encode) return INGOT_ERROR_DEVICE;
    return map_status(tensor, encode(map, type_of(element), rank, const_cast<void *>(tensor), sizes,
                                     distances + 1, tile, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                     CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                                     CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  }
  // The same to copies of positions of windows, which go from `low` to `high` past the
  // last one, by `steps`.
  template <unsigned rank>
  static ingot_status map_windows(CUtensorMap *map, unsigned element, const void *tensor,
                                  const cuuint64_t (&sizes)[rank], const cuuint64_t (&distances)[rank],
                                  const int (&low)[rank - 2], const int (&high)[rank - 2],
                                  const cuuint32_t (&steps)[rank], unsigned channels, unsigned positions) {
    auto *encode = reinterpret_cast<decltype(&cuTensorMapEncodeIm2col)>(
        driver_function("cuTensorMapEncodeIm2col"));
    if (!encode) return INGOT_ERROR_DEVICE;
    return map_status(tensor, encode(map, type_of(element), rank, const_cast<void *>(tensor), sizes,
                                     distances + 1, low, high, channels, positions, steps,
                                     CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                     CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                                     CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  }

private:
  // A function of the driver, which nothing is linked with.
  static void *driver_function(const char *name) {
    void *found = nullptr;
    cudaDriverEntryPointQueryResult result;
    cudaError_t error = cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result);
    return status(error) == INGOT_OK && result == cudaDriverEntryPointSuccess ? found : nullptr;
  }
  static CUtensorMapDataType type_of(unsigned bytes) {
    return bytes == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
           : bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                        : CU_TENSOR_MAP_DATA_TYPE_UINT32;
  }
  static ingot_status map_status(const void *tensor, CUresult result) {
    if (reinterpret_cast<uintptr_t>(tensor) % 16 != 0) return INGOT_ERROR_ALIGNMENT;
    return result == CUDA_SUCCESS ? INGOT_OK : INGOT_ERROR_DEVICE;
  }
)";

/// "%3, %4, %5".
static std::string registers(unsigned first, unsigned count) {
  std::string text;
  for (unsigned i = first; i < first + count; ++i)
    text += (i > first ? ", %" : "%") + std::to_string(i);
  return text;
}

/// A copy of a tile of so many axes, or of windows.
static std::string copyFunction(unsigned rank, bool areWindows) {
  std::string places, inputs, numbers, shifts, shiftInputs, shiftNumbers;
  for (unsigned axis = 0; axis < rank; ++axis) {
    std::string name = "at" + std::to_string(axis);
    places += ", ptrdiff_t " + name;
    inputs += ", \"r\"(static_cast<int>(" + name + "))";
  }
  numbers = registers(3, rank);
  if (areWindows) {
    for (unsigned axis = 0; axis + 2 < rank; ++axis) {
      std::string name = "shift" + std::to_string(axis);
      shifts += ", ptrdiff_t " + name;
      shiftInputs += ", \"h\"(static_cast<short>(" + name + "))";
    }
    shiftNumbers = ", {" + registers(3 + rank, rank - 2) + "}";
  }
  std::string text = "  static __device__ void copy_";
  text += areWindows ? "window" : "tile";
  text += "(void *to, const CUtensorMap &map, int64_t *gate" + places + shifts +
          ") {\n    asm volatile(\"cp.async.bulk.tensor." +
          std::to_string(rank) + "d.shared::cluster.global." +
          (areWindows ? "im2col" : "tile") +
          ".mbarrier::complete_tx::bytes \"\n                 \"[%0], [%1, {" +
          numbers + "}], [%2]" + shiftNumbers +
          ";\"\n                 :: \"r\"(shared_address(to)), \"l\"(&map), "
          "\"r\"(shared_address(gate))" +
          inputs + shiftInputs + " : \"memory\");\n  }\n";
  return text;
}

/// How a product gets its operands, and whether it takes the place of its sums.
enum class Form { Tiles, FirstOfTiles, WordsByTileAcross };

/// A product of 64 rows and as many columns as twice the sums.
static std::string productFunction(unsigned count, llvm::StringRef left,
                                   llvm::StringRef right, unsigned steps,
                                   Form form = Form::Tiles) {
  bool areBytes = left.ends_with("8"), isFirst = form == Form::FirstOfTiles,
       isAcross = form == Form::WordsByTileAcross;
  std::string letter = areBytes ? "r" : "f",
              sum = areBytes ? "int32_t" : "float";
  std::string types =
      (areBytes ? ".s32." : ".f32.") + left.str() + "." + right.str();
  bool areBytesOfFloats = steps == 32 && !areBytes;
  std::string name = "product_" + left.str() +
                     (steps == 32 ? "_" + right.str() : std::string()) +
                     (isFirst    ? "_first"
                      : isAcross ? "_words_across"
                                 : "") +
                     "_" + std::to_string(2 * count) + "(";
  // Printed where it is called.
  std::string text =
      "//? " + name + "\n  static __device__ void " + name + sum + " (&s)[" +
      std::to_string(count) + "], const " + (isAcross ? "int32_t" : "void") +
      " *left, const void *right" + (isAcross ? ", unsigned distance" : "") +
      ") {\n"
      "    asm volatile(\"{\\n\\t.reg .pred adds;\\n\\tsetp.ne.b32 adds, " +
      (isFirst ? "0" : "1") +
      ", 0;\\n\\t\"\n                 \"wgmma.mma_async.sync.aligned.m64n" +
      std::to_string(2 * count) + "k" + std::to_string(steps) + types +
      " \"\n                 \"{";
  for (unsigned i = 0; i < count; i += 16)
    text +=
        registers(i, 16) + (i + 16 < count ? ", \"\n                 \"" : "");
  unsigned ofLeft = isAcross ? 4 : 1;
  text += "}, \"\n                 \"" +
          (isAcross ? "{" + registers(count, ofLeft) + "}"
                    : registers(count, ofLeft)) +
          ", " + registers(count + ofLeft, 1) + ", adds";
  // Signs are kept; floats may also be of tiles the other way round.
  if (isAcross)
    text += ", 1, 1, 1";
  else if (!areBytes)
    text += left == "tf32" || areBytesOfFloats ? ", 1, 1" : ", 1, 1, 0, 0";
  text += ";\\n\\t}\"\n                 : ";
  for (unsigned i = 0; i < count; ++i) {
    text +=
        (isFirst ? "\"=" : "\"+") + letter + "\"(s[" + std::to_string(i) + "])";
    if (i + 1 < count)
      text += i % 8 == 7 ? ",\n                   " : ", ";
  }
  text += "\n                 : ";
  if (isAcross) {
    for (unsigned i = 0; i < ofLeft; ++i)
      text += "\"r\"(left[" + std::to_string(i) + "]), ";
    text += "\"l\"(tile_across_at(right, distance))";
  } else {
    text += "\"l\"(tile_at(left)), \"l\"(tile_at(right))";
  }
  return text + " : \"memory\");\n  }\n//?\n";
}

WarpgroupText warpgroupText() {
  std::string tiles, products;
  for (unsigned rank : {2, 3, 4, 5})
    tiles += copyFunction(rank, false);
  for (unsigned rank : {3, 4})
    tiles += copyFunction(rank, true);
  for (unsigned count : {32, 64, 96, 128}) {
    for (llvm::StringRef name : {"f16", "bf16", "tf32"})
      products += productFunction(count, name, name, name == "tf32" ? 8 : 16);
    for (llvm::StringRef name : {"f16", "bf16"})
      for (Form form : {Form::FirstOfTiles, Form::WordsByTileAcross})
        products += productFunction(count, name, name, 16, form);
    for (llvm::StringRef left : {"s8", "u8"})
      for (llvm::StringRef right : {"s8", "u8"})
        products += productFunction(count, left, right, 32);
    for (llvm::StringRef left : {"e4m3", "e5m2"})
      for (llvm::StringRef right : {"e4m3", "e5m2"})
        products += productFunction(count, left, right, 32);
  }
  std::string instructions = gates.str();
  auto put = [&](llvm::StringRef what, const std::string &text) {
    size_t at = instructions.find(what);
    instructions.replace(at, what.size(), text);
  };
  put("TILES", tiles);
  put("PRODUCTS", products);
  return {instructions, maps.str()};
}

} // namespace ingot::targets
