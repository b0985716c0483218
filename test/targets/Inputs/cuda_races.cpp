// Kernels with one mistake each, which the emulated GPU's debug mode must
// detect; the argument selects one. Without an argument, runs correct kernels.

#include <cuda_runtime.h>

namespace {

constexpr int threads = 64;

// Each thread reads what its neighbour wrote, with or without a barrier in
// between.
template <bool waits> __global__ void reverse(float *data) {
  __shared__ float tile[threads];
  tile[threadIdx.x] = data[threadIdx.x];
  if (waits)
    __syncthreads();
  data[threadIdx.x] = tile[threads - 1 - threadIdx.x];
}

// The second round writes elements that the first one may still be reading.
template <bool waits> __global__ void rounds(float *data) {
  __shared__ float tile[threads];
  for (int round = 0; round < 2; ++round) {
    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] += tile[threads - 1 - threadIdx.x];
    if (waits)
      __syncthreads();
  }
}

// The threads of a warp exchange data through memory; a warp barrier is
// sufficient.
template <bool waits> __global__ void inWarp(float *data) {
  __shared__ float tile[threads];
  tile[threadIdx.x] = data[threadIdx.x];
  if (waits)
    __syncwarp();
  data[threadIdx.x] = tile[threadIdx.x ^ 1u];
}

// All blocks increment the same element.
__global__ void blocks(float *data) { data[0] += 1; }

// The last of two blocks to finish reads what the other one wrote, with or
// without an atomic counter in between.
template <bool counts> __global__ void parts(float *data) {
  float *part = data + blockIdx.x * 16;
  int32_t *count = reinterpret_cast<int32_t *>(data + 63);
  if (threadIdx.x < 16)
    part[threadIdx.x] = 1;
  ptrdiff_t number = emulated_instructions::count(count, 1);
  if (!counts && threadIdx.x < 16)
    part[threadIdx.x] = 2;
  if (number == 2 && threadIdx.x < 16)
    data[32 + threadIdx.x] = data[threadIdx.x] + data[16 + threadIdx.x];
}

__global__ void behindEnd(float *data) { data[threadIdx.x + 1] = 1; }

// Asynchronous copies are visible to other threads only after a barrier, and
// only if they were awaited.
template <bool awaits, bool waits> __global__ void copies(float *data) {
  alignas(16) __shared__ float tile[threads * 4];
  emulated_instructions::copy_ahead(&tile[4 * threadIdx.x],
                                    &data[4 * (threadIdx.x % 16)], true);
  emulated_instructions::close_copies();
  if (awaits)
    emulated_instructions::await_copies<0>();
  if (waits)
    __syncthreads();
  float value = tile[4 * ((threadIdx.x + 1) % threads)];
  __syncthreads();
  if (threadIdx.x < 16)
    data[threadIdx.x] = value;
}

template <typename Kernel> void launch(Kernel kernel, unsigned count) {
  void *data = nullptr;
  cudaMalloc(&data, threads * sizeof(float));
  memset(data, 0, threads * sizeof(float));
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(count);
  config.blockDim = dim3(threads);
  cudaLaunchKernelEx(&config, kernel, static_cast<float *>(data));
  cudaFree(data);
}

__global__ void fill(float *data, float value) { data[threadIdx.x] = value; }

// Two branches of a graph write to the same element or to two different ones,
// which are read after both have finished. With `joins`, the second stream
// continues the work of the first, so there is only one branch.
void branches(bool together, bool joins) {
  void *data = nullptr;
  cudaMalloc(&data, 2 * threads * sizeof(float));
  float *first = static_cast<float *>(data);
  cudaStream_t streams[2];
  for (cudaStream_t &stream : streams)
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  auto start = [&](cudaStream_t stream, float *to, float value) {
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(threads);
    config.stream = stream;
    cudaLaunchKernelEx(&config, fill, to, value);
  };
  auto follow = [](cudaStream_t stream, cudaStream_t other) {
    cudaEvent_t event;
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaEventRecord(event, other);
    cudaStreamWaitEvent(stream, event, 0);
    cudaEventDestroy(event);
  };
  cudaGraph_t recorded = nullptr;
  cudaGraphExec_t graph = nullptr;
  cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeThreadLocal);
  start(streams[0], first, 1);
  follow(streams[1], streams[0]);
  start(streams[0], first, 2);
  start(streams[1], together ? first : first + threads, 3);
  if (joins)
    follow(streams[0], streams[1]);
  start(streams[0], first, 4);
  if (cudaStreamEndCapture(streams[0], &recorded) != cudaSuccess)
    puts("a branch is left");
  cudaGraphInstantiate(&graph, recorded, 0);
  cudaGraphLaunch(graph, nullptr);
  cudaGraphExecDestroy(graph);
  cudaGraphDestroy(recorded);
  for (cudaStream_t stream : streams)
    cudaStreamDestroy(stream);
  cudaFree(data);
}

} // namespace

int main(int count, char **arguments) {
  switch (count > 1 ? arguments[1][0] : ' ') {
  case 't':
    branches(true, true);
    break;
  case 'u':
    branches(false, false);
    break;
  case 'r':
    launch(reverse<false>, 1);
    break;
  case 's':
    launch(rounds<false>, 1);
    break;
  case 'w':
    launch(inWarp<false>, 1);
    break;
  case 'b':
    launch(blocks, 2);
    break;
  case 'p':
    launch(parts<false>, 2);
    break;
  case 'e':
    launch(behindEnd, 1);
    break;
  case 'c':
    launch(copies<true, false>, 1);
    break;
  case 'a':
    launch(copies<false, true>, 1);
    break;
  default:
    launch(reverse<true>, 1);
    launch(rounds<true>, 1);
    launch(inWarp<true>, 1);
    branches(false, true);
    launch(copies<true, true>, 1);
    launch(parts<true>, 2);
  }
  puts("nothing found");
}
