// A GPU within a program of the host.
//
// Takes the place of CUDA's header of this name: a .cu that Ingot wrote compiles with it
// as ordinary C++, and its kernels run on the calling thread, block by block and thread
// by thread; where they wait for each other, each has a stack of its own. Only what such
// files use is here. Streams do at once what they are given, unless they are recorded as
// a graph, which knows what each of its nodes waits for.
//
// A program may ask `emulated_gpu()` how much is allocated, and set what the GPU is like:
// its memory, its compute capability, that there is none. With `backwards` the threads of
// a launch run in the opposite order, and so do branches of a graph: results that change have
// a race. With EMULATED_GPU_CHECK races and accesses out of bounds are found (races.h).

#ifndef INGOT_EMULATED_CUDA_RUNTIME_H
#define INGOT_EMULATED_CUDA_RUNTIME_H

#include <algorithm>
#include <chrono>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tuple>
#include <ucontext.h>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
// Blocks run one after the other.
#ifdef EMULATED_GPU_CHECK
#define __shared__ static __attribute__((section("emulated_shared")))
#define EMULATED_PER_THREAD
// Of these functions no access is looked at, wherever they are called.
#pragma clang attribute push(__attribute__((no_sanitize("coverage"))),         \
                             apply_to = function)
#pragma clang attribute push(__attribute__((noinline)), apply_to = function)
#else
#define __shared__ static thread_local
#define EMULATED_PER_THREAD thread_local
#endif

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorNoDevice = 100,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorStreamCaptureUnjoined = 904
};
enum cudaDeviceAttr {
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76
};
enum cudaMemoryType {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3
};
enum cudaMemcpyKind { cudaMemcpyDefault = 4 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal = 1 };
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2 };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
enum cudaDriverEntryPointQueryResult {
  cudaDriverEntryPointSuccess = 0,
  cudaDriverEntryPointSymbolNotFound = 1
};
enum { cudaEnableDefault = 0 };

struct dim3 {
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1)
      : x(x), y(y), z(z) {}
  unsigned x, y, z;
};
struct cudaPointerAttributes {
  cudaMemoryType type;
};

// Of the thread that runs.
inline EMULATED_PER_THREAD dim3 threadIdx(0, 0, 0),
    blockIdx(0, 0, 0), blockDim, gridDim;
// Blocks of a cluster run together: so many, of which this one has a number, and so have
// their threads. Shared memory of the next one is so many bytes further on.
inline EMULATED_PER_THREAD unsigned emulated_cluster = 1;
inline EMULATED_PER_THREAD ptrdiff_t emulated_block_bytes = 0;
constexpr unsigned emulated_most_blocks = 8, emulated_most_threads = 4096;
inline unsigned emulated_rank() { return blockIdx.x % emulated_cluster; }
inline unsigned emulated_thread() {
  return emulated_rank() * blockDim.x + threadIdx.x;
}
// From here on the thread with that number runs.
inline void emulated_go_on(unsigned thread) {
  threadIdx.x = thread % blockDim.x;
  blockIdx.x += thread / blockDim.x - emulated_rank();
}

struct CUstream_st;
struct CUgraph_st {
  struct Node {
    std::function<void()> work;
    // The nodes that have to be done before.
    std::vector<size_t> after;
  };
  std::vector<Node> nodes;
  // Those that are recorded as this graph.
  std::vector<CUstream_st *> streams;
};
struct CUgraphExec_st : CUgraph_st {};
struct CUstream_st {
  CUgraph_st *recorded = nullptr;
  // The nodes that the next one waits for.
  std::vector<size_t> last;
};
// What was on a stream when the event was recorded.
struct CUevent_st {
  CUgraph_st *recorded = nullptr;
  std::vector<size_t> last;
  std::chrono::steady_clock::time_point time;
};
typedef CUstream_st *cudaStream_t;
typedef CUevent_st *cudaEvent_t;
typedef CUgraph_st *cudaGraph_t;
typedef CUgraphExec_st *cudaGraphExec_t;
struct cudaGraphExecUpdateResultInfo {
  int result;
};
enum cudaLaunchAttributeID {
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  struct {
    int programmaticStreamSerializationAllowed;
    dim3 clusterDim = dim3();
  } val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned numAttrs;
};

struct EmulatedGpu {
  // What a test may set.
  bool exists = getenv("EMULATED_GPU_MISSING") == nullptr;
  int level = 120;
  size_t capacity = SIZE_MAX;
  bool backwards = getenv("EMULATED_GPU_BACKWARDS") != nullptr;

  // What is allocated: bytes of the device, all that a program has to release.
  size_t deviceBytes = 0, objects = 0;
  // Launches so far, in graphs as well.
  size_t launches = 0;

  struct Allocation {
    size_t bytes;
    cudaMemoryType type;
  };
  std::map<const char *, Allocation> allocations;
  // Of kernels that have asked for it, the most bytes that their blocks may share.
  std::map<const void *, size_t> shared;
  std::mutex mutex;

  cudaError_t allocate(void **memory, size_t bytes, cudaMemoryType type) {
    std::lock_guard<std::mutex> lock(mutex);
    *memory = nullptr;
    if (!exists)
      return cudaErrorNoDevice;
    bool isDevice = type == cudaMemoryTypeDevice;
    if (isDevice && bytes > capacity - deviceBytes)
      return cudaErrorMemoryAllocation;
    if (bytes == 0)
      return cudaSuccess;
    // Alignment of what cudaMalloc returns; not a byte more, so that a tool which checks
    // addresses sees each access behind the end.
    if (posix_memalign(memory, 256, bytes))
      return cudaErrorMemoryAllocation;
    // Memory of the device is not zero.
    memset(*memory, 0xa5, bytes);
    deviceBytes += isDevice ? bytes : 0;
    ++objects;
    allocations[static_cast<const char *>(*memory)] = {bytes, type};
    return cudaSuccess;
  }
  cudaError_t release(void *memory, cudaMemoryType type) {
    std::lock_guard<std::mutex> lock(mutex);
    if (!memory)
      return cudaSuccess;
    auto found = allocations.find(static_cast<const char *>(memory));
    if (found == allocations.end() || found->second.type != type)
      return cudaErrorInvalidValue;
    deviceBytes -= type == cudaMemoryTypeDevice ? found->second.bytes : 0;
    --objects;
    allocations.erase(found);
    free(memory);
    return cudaSuccess;
  }
  cudaMemoryType typeOf(const void *pointer) {
    std::lock_guard<std::mutex> lock(mutex);
    const char *byte = static_cast<const char *>(pointer);
    auto behind = allocations.upper_bound(byte);
    if (behind == allocations.begin())
      return cudaMemoryTypeUnregistered;
    --behind;
    return byte < behind->first + behind->second.bytes
               ? behind->second.type
               : cudaMemoryTypeUnregistered;
  }
  void count(int by) {
    std::lock_guard<std::mutex> lock(mutex);
    objects += by;
  }
};

inline EmulatedGpu &emulated_gpu() {
  static EmulatedGpu gpu;
  return gpu;
}

#include "races.h"

#include "gates.h"

// Does something now, or when the graph is launched that the stream is recorded as.
template <typename Work>
cudaError_t emulated_enqueue(cudaStream_t stream, Work work) {
  if (!stream || !stream->recorded) {
    work();
    return cudaSuccess;
  }
  std::vector<CUgraph_st::Node> &nodes = stream->recorded->nodes;
  nodes.push_back({work, stream->last});
  stream->last = {nodes.size() - 1};
  return cudaSuccess;
}

#include "block.h"

#include "warp.h"

#include "warpgroup.h"

// An early kernel may begin before the one in front of it ends.
inline void emulated_launch(dim3 grid, dim3 block, unsigned cluster,
                            bool isEarly, const std::function<void()> &kernel) {
  EmulatedGpu &gpu = emulated_gpu();
  ++gpu.launches;
  gridDim = grid;
  blockDim = block;
  emulated_cluster = cluster;
  static thread_local EmulatedBlock threads;
  emulated_begin_launch();
  for (unsigned b = 0; b < grid.x; b += cluster) {
    blockIdx.x = gpu.backwards ? grid.x - cluster - b : b;
    EmulatedCopies::ofBlock().clear();
    emulated_begin_block(isEarly);
    threads.run(block.x * cluster, kernel);
    EmulatedTiles::ofBlock().endBlock();
    EmulatedProducts::ofBlock().endBlock();
  }
  emulated_cluster = 1;
}

inline void __syncthreads() {
  if (emulated_cluster > 1)
    EmulatedGate::fail("a block of a cluster uses a barrier of one block");
  EmulatedBlock::current()->wait(/*isWarp=*/false);
}
inline void __syncwarp(unsigned = ~0u) {
  EmulatedBlock::current()->wait(/*isWarp=*/true);
}
template <typename Value>
Value __shfl_xor_sync(unsigned, Value value, int mask) {
  static_assert(sizeof value <= sizeof(uint64_t),
                "a value of a register or two");
  EmulatedKernelCode pause(false);
  EmulatedBlock &block = *EmulatedBlock::current();
  memcpy(&block.shown[emulated_thread()], &value, sizeof value);
  block.wait(/*isWarp=*/true);
  memcpy(&value, &block.shown[emulated_thread() ^ unsigned(mask)],
         sizeof value);
  block.wait(/*isWarp=*/true);
  return value;
}

template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config,
                               void (*kernel)(Parameters...),
                               Arguments... arguments) {
  dim3 grid = config->gridDim, block = config->blockDim;
  if (grid.x == 0 || block.x == 0 || block.x > 1024 ||
      grid.y * grid.z * block.y * block.z != 1)
    return cudaErrorInvalidConfiguration;
  // Beyond what a kernel may declare it has to be asked for.
  auto asked =
      emulated_gpu().shared.find(reinterpret_cast<const void *>(kernel));
  size_t most = asked == emulated_gpu().shared.end() ? 0 : asked->second;
  if (config->dynamicSmemBytes > std::max<size_t>(most, 48u << 10))
    return cudaErrorInvalidValue;
  bool isEarly = false;
  unsigned cluster = 1;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute &attribute = config->attrs[i];
    if (attribute.id == cudaLaunchAttributeClusterDimension)
      cluster = attribute.val.clusterDim.x;
    else
      isEarly = attribute.val.programmaticStreamSerializationAllowed;
  }
  if (cluster == 0 || cluster > emulated_most_blocks || grid.x % cluster != 0)
    return cudaErrorInvalidConfiguration;
  std::tuple<Parameters...> values(arguments...);
  return emulated_enqueue(config->stream, [=] {
    emulated_launch(grid, block, cluster, isEarly, [&] {
      std::apply(
          [kernel = kernel](Parameters... parameters) {
            EmulatedKernelCode inside(true);
            kernel(parameters...);
          },
          values);
    });
  });
}

template <typename... Parameters>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...),
                                 cudaFuncAttribute, int bytes) {
  EmulatedGpu &gpu = emulated_gpu();
  std::lock_guard<std::mutex> lock(gpu.mutex);
  // Of 228 KB a block gets one less.
  if (bytes > 227 << 10)
    return cudaErrorInvalidValue;
  gpu.shared[reinterpret_cast<const void *>(kernel)] = size_t(bytes);
  return cudaSuccess;
}
inline cudaError_t
cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned,
                                 unsigned long long,
                                 cudaDriverEntryPointQueryResult *result) {
  *function = !strcmp(name, "cuTensorMapEncodeTiled")
                  ? reinterpret_cast<void *>(&cuTensorMapEncodeTiled)
              : !strcmp(name, "cuTensorMapEncodeIm2col")
                  ? reinterpret_cast<void *>(&cuTensorMapEncodeIm2col)
                  : nullptr;
  *result = *function ? cudaDriverEntryPointSuccess
                      : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return emulated_gpu().exists ? cudaSuccess : cudaErrorNoDevice;
}
inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute,
                                          int) {
  int level = emulated_gpu().level;
  *value =
      attribute == cudaDevAttrComputeCapabilityMajor ? level / 10 : level % 10;
  return cudaSuccess;
}

inline cudaError_t cudaMalloc(void **memory, size_t bytes) {
  return emulated_gpu().allocate(memory, bytes, cudaMemoryTypeDevice);
}
inline cudaError_t cudaFree(void *memory) {
  return emulated_gpu().release(memory, cudaMemoryTypeDevice);
}
inline cudaError_t cudaMallocHost(void **memory, size_t bytes) {
  return emulated_gpu().allocate(memory, bytes, cudaMemoryTypeHost);
}
inline cudaError_t cudaFreeHost(void *memory) {
  return emulated_gpu().release(memory, cudaMemoryTypeHost);
}
inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes,
                                            const void *pointer) {
  attributes->type = emulated_gpu().typeOf(pointer);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                                   cudaMemcpyKind, cudaStream_t stream) {
  return emulated_enqueue(stream, [=] { memcpy(to, from, bytes); });
}
inline cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes,
                                   cudaStream_t stream) {
  return emulated_enqueue(stream, [=] { memset(to, value, bytes); });
}

#include "graph.h"

#ifdef EMULATED_GPU_CHECK
#pragma clang attribute pop
#pragma clang attribute pop
#endif

#endif // INGOT_EMULATED_CUDA_RUNTIME_H
