// What precedes the kernels of a generated .cu in addition for Hopper:
// functions for instructions that only Hopper has (mbarriers, copies of whole
// tiles by cp.async.bulk.tensor, warpgroup products by wgmma), and host
// functions that create tensor maps and launch clusters. In these texts, a line
// `//? NAME` begins functions that are printed only if kernels or the host
// program use NAME; they end before the next line with `//?`
// (codegen/files/Prologue.h).

#include "targets/cuda/Opening.h"

#include "llvm/ADT/Twine.h"

namespace ingot::targets {

static constexpr llvm::StringLiteral mbarriers =
    R"(
  // Allows the next kernel to start before this one ends.
  static __device__ void begin() {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  }
  // Waits until the previous kernel has completed. Before this call, a kernel reads constants
  // only.
  static __device__ void await_inputs() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

  // Dynamic shared memory.
  template <typename Shared> static __device__ Shared &shared_memory() {
    extern __shared__ __align__(1024) unsigned char memory[];
    return *reinterpret_cast<Shared *>(memory);
  }

  // mbarriers (`gate`): a phase completes when all threads have arrived and all bytes were copied.
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

  // Copies of tiles by TMA; coordinates are innermost first.
TILES
//? arrive_at(
  // Arrives at the mbarrier at the same address in another block of the cluster. The arrival
  // reports that this thread has read its data. No fence is needed, since other blocks read none
  // of the thread's stores.
  static __device__ void arrive_at(int64_t *gate, ptrdiff_t block) {
    asm volatile("{\n\t.reg .b32 its_gate;\n\t"
                 "mapa.shared::cluster.u32 its_gate, %0, %1;\n\t"
                 "mbarrier.arrive.shared::cluster.b64 _, [its_gate];\n\t}"
                 :: "r"(shared_address(gate)), "r"(static_cast<unsigned>(block)) : "memory");
  }
//?
//? cluster_barrier(
  // Waits for all threads of all blocks of the cluster. So far, the blocks share only mbarriers,
  // whose initialization has its own fence.
  static __device__ void cluster_barrier() {
    asm volatile("barrier.cluster.arrive.relaxed;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
  }
//?
//? cluster_barrier_shown(
  // The same; arrivals at the mbarriers of other blocks are complete afterwards.
  static __device__ void cluster_barrier_shown() {
    asm volatile("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
  }
//?
//? send(
  // Stores 16 bytes in the shared memory of another block, whose mbarrier counts them.
  static __device__ void send(int32_t *to, int64_t *gate, ptrdiff_t block, int32_t a, int32_t b, int32_t c,
                              int32_t d) {
    asm volatile("{\n\t.reg .b32 its_place, its_gate;\n\t"
                 "mapa.shared::cluster.u32 its_place, %0, %2;\n\t"
                 "mapa.shared::cluster.u32 its_gate, %1, %2;\n\t"
                 "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 "
                 "[its_place], {%3, %4, %5, %6}, [its_gate];\n\t}"
                 :: "r"(shared_address(to)), "r"(shared_address(gate)), "r"(static_cast<unsigned>(block)),
                    "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
  }
  static __device__ void send(float *to, int64_t *gate, ptrdiff_t block, float a, float b, float c, float d) {
    send(reinterpret_cast<int32_t *>(to), gate, block, __float_as_int(a), __float_as_int(b), __float_as_int(c),
         __float_as_int(d));
  }
//?
  // Matrix products of warpgroups. The accumulators stay in the same registers from their last
  // use before the products to their first use after them.
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
  // Returns the descriptor of a tile with rows of 128 bytes in the 128-byte swizzle: its address,
  // a stride of 1024 bytes between groups of 8 rows, and the swizzle mode. If K is not contiguous,
  // `distance` is the stride in bytes between groups of 64 rows or columns of the product.
  static __device__ uint64_t tile_at(const void *tile, unsigned distance = 0) {
    return (shared_address(tile) & 0x3ffffu) >> 4 | uint64_t(distance ? distance >> 4 : 1) << 16 |
           uint64_t(64) << 32 | uint64_t(1) << 62;
  }
PRODUCTS)";

static constexpr llvm::StringLiteral maps =
    R"(
//? cluster_barrier(
  // Enqueues a kernel in clusters of this number of blocks.
  template <typename... Parameters, typename... Arguments>
  static ingot_status start_clusters(void (*kernel)(Parameters...), ptrdiff_t blocks,
                                     unsigned threads, unsigned shared, unsigned cluster,
                                     cudaStream_t stream, Arguments... arguments) {
    if (blocks == 0) return INGOT_OK;
    ingot_status result = status(cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
    if (result != INGOT_OK) return result;
    cudaLaunchAttribute attributes[2] = {};
    attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[0].val.programmaticStreamSerializationAllowed = 1;
    attributes[1].id = cudaLaunchAttributeClusterDimension;
    attributes[1].val.clusterDim.x = cluster;
    attributes[1].val.clusterDim.y = attributes[1].val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared;
    config.attrs = attributes;
    config.numAttrs = 2;
    config.stream = stream;
    return status(cudaLaunchKernelEx(&config, kernel, arguments...));
  }
//?
  // Creates the TMA descriptor of a tensor: sizes, strides in bytes and the tile, all innermost
  // first.
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
  // The same for copies of window positions (im2col). Along each spatial axis, positions begin at
  // `low`, advance by `steps`, and end before the size of the axis plus `high`.
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
  // A function of the driver, looked up at run time instead of linked.
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

/// Returns the text of `count` asm operands, beginning with number `first`,
/// such as "%3, %4, %5".
static std::string registers(unsigned first, unsigned count) {
  std::string text;
  for (unsigned i = first; i < first + count; ++i)
    text += (i > first ? ", %" : "%") + std::to_string(i);
  return text;
}

/// Returns the text of the function that copies a tile of a tensor of rank
/// `rank`. If `areWindows`, the function copies window positions (im2col). If
/// `areForBlocks`, several blocks of a cluster receive the tile.
static std::string copyFunction(unsigned rank, bool areWindows,
                                bool areForBlocks) {
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
  std::string name = areWindows ? "copy_window" : "copy_tile";
  if (areForBlocks)
    name += "_for";
  if (areForBlocks)
    shiftNumbers +=
        ", %" + std::to_string(3 + rank + (areWindows ? rank - 2 : 0));
  std::string text =
      (areForBlocks ? "//? " + name + "(\n" : std::string()) +
      "  static __device__ void " + name +
      "(void *to, const CUtensorMap &map, int64_t *gate" +
      (areForBlocks ? ", ptrdiff_t blocks" : "") + places + shifts +
      ") {\n    asm volatile(\"cp.async.bulk.tensor." + std::to_string(rank) +
      "d.shared::cluster.global." + (areWindows ? "im2col" : "tile") +
      ".mbarrier::complete_tx::bytes" +
      (areForBlocks ? ".multicast::cluster" : "") +
      " \"\n                 \"[%0], [%1, {" + numbers + "}], [%2]" +
      shiftNumbers +
      ";\"\n                 :: \"r\"(shared_address(to)), \"l\"(&map), "
      "\"r\"(shared_address(gate))" +
      inputs + shiftInputs +
      (areForBlocks ? ", \"h\"(static_cast<short>(blocks))" : "") +
      " : \"memory\");\n  }\n" + (areForBlocks ? "//?\n" : "");
  return text;
}

/// The variants of the functions for products. `Turned` and `WordsTurned` exist
/// for 16-bit floats only: each tile may be transposed (MN-major). The function
/// has a template argument for each tile: 0 or, if the tile is transposed, the
/// bytes from 64 rows or columns to the next 64.
enum class Form {
  Tiles,       // adds to the accumulators; both operands in shared memory
  First,       // like Tiles, but overwrites the accumulators
  Turned,      // like Tiles, but the tiles may be transposed
  WordsTurned, // like Turned, but the left operand is in registers
};

/// Returns the text of the function for a product with 64 rows, 2 * `count`
/// columns and `steps` elements along K. `count` is the number of accumulators
/// of a thread; `left` and `right` are the element types of the operands.
static std::string productFunction(unsigned count, llvm::StringRef left,
                                   llvm::StringRef right, unsigned steps,
                                   Form form = Form::Tiles) {
  bool areBytes = left.ends_with("8"), areWords = form == Form::WordsTurned,
       areTurned = areWords || form == Form::Turned,
       isFirst = form == Form::First;
  std::string letter = areBytes ? "r" : "f",
              sum = areBytes ? "int32_t" : "float";
  std::string types =
      (areBytes ? ".s32." : ".f32.") + left.str() + "." + right.str();
  bool areFloat8 = steps == 32 && !areBytes;
  std::string name = std::string("product_") + (areWords ? "words_" : "") +
                     (areTurned ? "turned_" : "") + (isFirst ? "first_" : "") +
                     left.str() +
                     (steps == 32 ? "_" + right.str() : std::string()) + "_" +
                     std::to_string(2 * count);
  // The line `//? NAME` makes the printer omit the function if no kernel calls
  // it.
  std::string text =
      "//? " + name + (areTurned ? "<" : "(") +
      (areTurned ? "\n  template <unsigned left_distance, unsigned "
                   "right_distance>"
                 : "") +
      "\n  static __device__ void " + name + "(" + sum + " (&s)[" +
      std::to_string(count) + "], const " + (areWords ? "int32_t" : "void") +
      " *left, const void *right) {\n"
      "    asm volatile(\"{\\n\\t.reg .pred adds;\\n\\tsetp.ne.b32 adds, " +
      (isFirst ? "0" : "1") +
      ", 0;\\n\\t\"\n                 \"wgmma.mma_async.sync.aligned.m64n" +
      std::to_string(2 * count) + "k" + std::to_string(steps) + types +
      " \"\n                 \"{";
  for (unsigned i = 0; i < count; i += 16)
    text +=
        registers(i, 16) + (i + 16 < count ? ", \"\n                 \"" : "");
  // The immediate operands 1 keep the signs of both matrices. Products of
  // 16-bit floats have further immediate operands for transposed tiles.
  unsigned ofLeft = areWords ? 4 : 1, next = count + ofLeft;
  text += "}, \"\n                 \"" +
          (areWords ? "{" + registers(count, ofLeft) + "}"
                    : registers(count, ofLeft)) +
          ", " + registers(next, 1) + ", adds";
  if (areWords)
    text += ", 1, 1, " + registers(next + 1, 1);
  else if (areTurned)
    text += ", 1, 1, " + registers(next + 1, 1) + ", " + registers(next + 2, 1);
  else if (!areBytes)
    text += left == "tf32" || areFloat8 ? ", 1, 1" : ", 1, 1, 0, 0";
  text += ";\\n\\t}\"\n                 : ";
  for (unsigned i = 0; i < count; ++i) {
    text +=
        (isFirst ? "\"=" : "\"+") + letter + "\"(s[" + std::to_string(i) + "])";
    if (i + 1 < count)
      text += i % 8 == 7 ? ",\n                   " : ", ";
  }
  text += "\n                 : ";
  if (areWords)
    for (unsigned i = 0; i < ofLeft; ++i)
      text += "\"r\"(left[" + std::to_string(i) + "]), ";
  else
    text += areTurned ? "\"l\"(tile_at(left, left_distance)), "
                      : "\"l\"(tile_at(left)), ";
  text += areTurned ? "\"l\"(tile_at(right, right_distance)),\n"
                      "                   "
                    : "\"l\"(tile_at(right))";
  if (areTurned)
    text += std::string(areWords ? "" : "\"n\"(left_distance > 0), ") +
            "\"n\"(right_distance > 0)";
  return text + " : \"memory\");\n  }\n//?\n";
}

WarpgroupText warpgroupText() {
  std::string tiles, products;
  for (bool areForBlocks : {false, true}) {
    for (unsigned rank : {2, 3, 4, 5})
      tiles += copyFunction(rank, false, areForBlocks);
    for (unsigned rank : {3, 4})
      tiles += copyFunction(rank, true, areForBlocks);
  }
  for (unsigned count : {32, 64, 96, 128}) {
    for (llvm::StringRef name : {"f16", "bf16", "tf32"})
      products += productFunction(count, name, name, name == "tf32" ? 8 : 16);
    for (llvm::StringRef name : {"f16", "bf16"})
      for (Form form : {Form::First, Form::Turned, Form::WordsTurned})
        products += productFunction(count, name, name, 16, form);
    for (llvm::StringRef left : {"s8", "u8"})
      for (llvm::StringRef right : {"s8", "u8"})
        products += productFunction(count, left, right, 32);
    for (llvm::StringRef left : {"e4m3", "e5m2"})
      for (llvm::StringRef right : {"e4m3", "e5m2"})
        products += productFunction(count, left, right, 32);
  }
  std::string instructions = mbarriers.str();
  auto put = [&](llvm::StringRef what, const std::string &text) {
    size_t at = instructions.find(what);
    instructions.replace(at, what.size(), text);
  };
  put("TILES", tiles);
  put("PRODUCTS", products);
  return {instructions, maps.str()};
}

} // namespace ingot::targets
