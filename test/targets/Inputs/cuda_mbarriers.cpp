// A kernel in which one thread copies tiles into shared memory, synchronized by
// mbarriers, and a warpgroup multiplies them. The argument selects a mistake
// that the emulated GPU's debug mode must detect; without one, the kernel is
// correct.

#include <cuda_runtime.h>

namespace {

typedef emulated_group_instructions device;

enum Mistake {
  None,
  Barrier,  // Omits __syncthreads between the initialization of the mbarriers
            // and their use.
  Publish,  // Does not make the mbarriers visible to asynchronous copies.
  Full,     // Starts a matmul before its tiles have arrived.
  Empty,    // Copies into a tile that is still being read.
  Early,    // Lets a stage's tiles be overwritten before the matmuls have read
            // them.
  Sums,     // Reads accumulators before the matmuls that add to them have
            // completed.
  Begin,    // Omits the fence (wgmma.fence) before the matmuls.
  Close,    // Does not commit the matmuls to a group, so no wait includes them.
  Arrivals, // An mbarrier completes before all warps have arrived.
  Bytes,    // An mbarrier completes before all bytes have arrived.
  End,      // The block ends before a copy has arrived.
  Front,    // Stores before the preceding kernel has ended.
  Words,    // Writes registers before waiting for the matmul that reads them.
  Turned    // A transposed tile starts where no matrix descriptor can point.
};

constexpr int stages = 2, kTiles = 5, columns = 64, step = 64;

template <Mistake mistake>
__global__ void product(float *y, const __grid_constant__ CUtensorMap left_map,
                        const __grid_constant__ CUtensorMap right_map) {
  struct Shared {
    alignas(1024) uint16_t left[stages * 64 * step];
    alignas(1024) uint16_t right[stages * columns * step];
    alignas(8) int64_t mbarriers[2 * stages];
  };
  Shared &shared = device::shared_memory<Shared>();
  device::begin();
  if (mistake != Front)
    device::await_inputs();
  int thread = int(threadIdx.x);
  if (thread == 0) {
    for (int stage = 0; stage < stages; ++stage) {
      device::init_gate(&shared.mbarriers[stage], 1);
      device::init_gate(&shared.mbarriers[stages + stage],
                        mistake == Arrivals ? 3 : 4);
    }
    if (mistake != Publish)
      device::publish_gates();
  }
  if (mistake != Barrier)
    __syncthreads();
  if (thread >= 128) {
    if (thread > 128)
      return;
    for (int kTile = 0; kTile < kTiles + (mistake == End); ++kTile) {
      int stage = kTile % stages;
      if (mistake != Empty || kTile < stages)
        device::await_gate(&shared.mbarriers[stages + stage],
                           1 - kTile / stages % 2);
      device::expect_bytes(&shared.mbarriers[stage],
                           mistake == Bytes ? 8192 : 16384);
      device::copy_tile(&shared.left[stage * 64 * step], left_map,
                        &shared.mbarriers[stage], kTile * step, 0);
      device::copy_tile(&shared.right[stage * columns * step], right_map,
                        &shared.mbarriers[stage], kTile * step, 0);
    }
    return;
  }
  float sums[columns / 2] = {};
  for (int kTile = 0; kTile < kTiles; ++kTile) {
    int stage = kTile % stages;
    if (mistake != Full)
      device::await_gate(&shared.mbarriers[stage], kTile / stages % 2);
    if (mistake != Begin)
      device::begin_products(sums);
    for (int at = 0; at < step; at += 16)
      device::product_f16_64(sums, &shared.left[stage * 64 * step + at],
                             &shared.right[stage * columns * step + at]);
    if (mistake != Close)
      device::close_products();
    if (mistake != Early)
      device::await_products<1>();
    int before = mistake == Early ? kTile : kTile - 1;
    if (before >= 0 && thread % 32 == 0)
      device::arrive(&shared.mbarriers[stages + before % stages]);
  }
  // Multiplies the last right tile once more, transposed, with the left operand
  // (ones) in registers: the rows of the tile are steps of the reduction, of
  // which 16 are used.
  if (mistake != Sums)
    device::await_products<0>(sums);
  int32_t words[4];
  for (int32_t &word : words)
    word = int32_t(device::pair_f16(1, 1));
  const uint16_t *last = &shared.right[(kTiles - 1) % stages * columns * step];
  if (mistake != Sums) {
    device::begin_products(sums, words);
    device::product_words_turned_f16_64<0, 8192>(
        sums, words, mistake == Turned ? last + 64 : last);
    device::close_products();
    if (mistake == Words)
      words[0] = 0;
    device::await_products<0>(sums, words);
  }
  for (int j = 0; j < columns / 8; ++j)
    for (int at = 0; at < 4; ++at)
      y[(thread / 32 * 16 + thread % 32 / 4 + at / 2 * 8) * columns + j * 8 +
        thread % 4 * 2 + at % 2] = sums[4 * j + at];
}

CUtensorMap mapOf(void *tensor, uint64_t rows) {
  cuuint64_t sizes[] = {kTiles * step, rows}, distance = kTiles * step * 2;
  cuuint32_t box[] = {step, 64}, steps[] = {1, 1};
  CUtensorMap map;
  if (cuTensorMapEncodeTiled(
          &map, CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, tensor, sizes, &distance,
          box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
          CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
          CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
    abort();
  return map;
}

template <Mistake mistake> void launch() {
  // The left matrix has fewer rows than a tile: the copy fills the other rows
  // of the tile with zeros.
  constexpr int rows = 50;
  void *left = nullptr, *right = nullptr, *y = nullptr;
  cudaMalloc(&left, rows * kTiles * step * 2);
  cudaMalloc(&right, columns * kTiles * step * 2);
  cudaMalloc(&y, 64 * columns * 4);
  // The left matrix is all ones; the right one has column + step within its K
  // tile.
  for (int i = 0; i < rows * kTiles * step; ++i)
    static_cast<uint16_t *>(left)[i] = device::narrow_f16(1);
  for (int i = 0; i < columns * kTiles * step; ++i)
    static_cast<uint16_t *>(right)[i] =
        device::narrow_f16(float(i % step + i / (kTiles * step)));
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1);
  config.blockDim = dim3(256);
  cudaLaunchAttribute early = {
      cudaLaunchAttributeProgrammaticStreamSerialization, {1}};
  config.attrs = &early;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, product<mistake>, static_cast<float *>(y),
                     mapOf(left, rows), mapOf(right, columns));
  for (int row = 0; row < 64; ++row)
    for (int column = 0; column < columns; ++column) {
      float sum = row < rows
                      ? float(kTiles * (step * (step - 1) / 2 + step * column))
                      : 0;
      sum += float(16 * column + 16 * 15 / 2);
      if (static_cast<float *>(y)[row * columns + column] != sum) {
        puts("a wrong sum");
        exit(1);
      }
    }
}

} // namespace

int main(int count, char **arguments) {
  switch (count > 1 ? atoi(arguments[1]) : None) {
#define MISTAKE(NAME)                                                          \
  case NAME:                                                                   \
    launch<NAME>();                                                            \
    break;
    MISTAKE(Barrier)
    MISTAKE(Publish)
    MISTAKE(Full)
    MISTAKE(Empty)
    MISTAKE(Early)
    MISTAKE(Sums)
    MISTAKE(Begin)
    MISTAKE(Close)
    MISTAKE(Arrivals)
    MISTAKE(Bytes)
    MISTAKE(End)
    MISTAKE(Front)
    MISTAKE(Words)
    MISTAKE(Turned)
    MISTAKE(None)
  }
  puts("nothing found");
}
