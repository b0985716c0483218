#include "targets/cuda/Opening.h"

namespace ingot::targets {

/// LEVEL is a number. Members of a template, as a file need not call all of them: of
/// other functions in an anonymous namespace compilers demand that.
static constexpr llvm::StringLiteral text =
    R"(#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < LEVEL0
#error "call nvcc with -arch=sm_LEVEL or a later one"
#endif

namespace {

// What is asked of the device and its driver.
template <typename = void> struct device_functions {
  // The place of a thread.
  static __device__ ptrdiff_t block() { return static_cast<ptrdiff_t>(blockIdx.x); }
  static __device__ ptrdiff_t thread() { return static_cast<ptrdiff_t>(threadIdx.x); }
  // Waits for all threads of the block, and sees what they have written.
  static __device__ void barrier() { __syncthreads(); }
  // The value of the thread of this warp whose number differs in the bits of `mask`.
  template <typename Value> static __device__ Value exchange(Value value, int32_t mask) {
    return __shfl_xor_sync(0xffffffffu, value, mask);
  }

  static ingot_status status(cudaError_t error) {
    if (error == cudaSuccess) return INGOT_OK;
    // What is read here is not left for the next call to find.
    (void)cudaGetLastError();
    if (error == cudaErrorMemoryAllocation) return INGOT_ERROR_CAPACITY;
    if (error == cudaErrorNoKernelImageForDevice) return INGOT_ERROR_TARGET;
    return INGOT_ERROR_DEVICE;
  }

  // The device of this thread, if it runs these kernels.
  static ingot_status current(int *number) {
    int major = 0, minor = 0;
    ingot_status result = status(cudaGetDevice(number));
    if (result == INGOT_OK)
      result = status(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, *number));
    if (result == INGOT_OK)
      result = status(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, *number));
    if (result != INGOT_OK) return result;
    return 10 * major + minor < LEVEL ? INGOT_ERROR_TARGET : INGOT_OK;
  }

  static ingot_status allocate(unsigned char **memory, size_t bytes) {
    void *found = nullptr;
    ingot_status result = status(cudaMalloc(&found, bytes));
    *memory = static_cast<unsigned char *>(found);
    return result;
  }
  static ingot_status allocate_staging(unsigned char **memory, size_t bytes) {
    void *found = nullptr;
    ingot_status result = status(cudaMallocHost(&found, bytes));
    *memory = static_cast<unsigned char *>(found);
    return result;
  }
  static ingot_status release(void *memory) { return status(cudaFree(memory)); }
  static ingot_status release_staging(void *memory) { return status(cudaFreeHost(memory)); }

  // Whether the device may read and write there.
  static bool holds(const void *pointer) {
    cudaPointerAttributes attributes;
    if (status(cudaPointerGetAttributes(&attributes, pointer)) != INGOT_OK) return false;
    return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  }
  static ingot_status copy(void *to, const void *from, size_t bytes, cudaStream_t stream) {
    return status(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
  }
  static ingot_status wait(cudaStream_t stream) { return status(cudaStreamSynchronize(stream)); }

  // Starts a kernel behind what is on the stream already.
  template <typename... Parameters, typename... Arguments>
  static ingot_status start(void (*kernel)(Parameters...), ptrdiff_t blocks, unsigned threads,
                            cudaStream_t stream, Arguments... arguments) {
    if (blocks == 0) return INGOT_OK;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(threads);
    config.stream = stream;
    return status(cudaLaunchKernelEx(&config, kernel, arguments...));
  }

  // What `enqueue` puts on a stream becomes one graph, in the place of the one before.
  template <typename Enqueue>
  static ingot_status record(cudaGraphExec_t *graph, const Enqueue &enqueue) {
    cudaStream_t stream = nullptr;
    ingot_status result = status(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    if (result != INGOT_OK) return result;
    cudaGraph_t recorded = nullptr;
    result = status(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    if (result == INGOT_OK) {
      result = enqueue(stream);
      ingot_status ended = status(cudaStreamEndCapture(stream, &recorded));
      if (result == INGOT_OK) result = ended;
    }
    cudaGraphExecUpdateResultInfo info;
    if (result == INGOT_OK && *graph &&
        status(cudaGraphExecUpdate(*graph, recorded, &info)) != INGOT_OK) {
      (void)cudaGraphExecDestroy(*graph);
      *graph = nullptr;
    }
    if (result == INGOT_OK && !*graph) result = status(cudaGraphInstantiate(graph, recorded, 0));
    if (recorded) (void)cudaGraphDestroy(recorded);
    (void)cudaStreamDestroy(stream);
    return result;
  }
  static ingot_status replay(cudaGraphExec_t graph, cudaStream_t stream) {
    return status(cudaGraphLaunch(graph, stream));
  }
  static ingot_status release_graph(cudaGraphExec_t graph) {
    return status(cudaGraphExecDestroy(graph));
  }
};
using device = device_functions<>;

} // namespace
)";

std::string cudaOpening(unsigned level) {
  std::string result = text.str();
  for (size_t at; (at = result.find("LEVEL")) != std::string::npos;)
    result.replace(at, 5, std::to_string(level));
  return result;
}

} // namespace ingot::targets
