#include "targets/cuda/Opening.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <vector>

namespace ingot::targets {

/// What precedes the namespace of a generated .cu. Words in capitals are
/// placeholders, here and below; LEVEL is replaced by the compute capability as
/// a number.
static constexpr llvm::StringLiteral opening =
    R"(#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < LEVEL0 && !defined(INGOT_CHOOSES_TARGET)
#error "call nvcc with -arch=sm_LEVEL or a later one"
#endif
#ifdef INGOT_EMULATED_CUDA_RUNTIME_H
#define INGOT_UNROLLED
#elseMAP_HEADERS
#define INGOT_UNROLLED _Pragma("unroll")
#endif
)";

/// The functions that precede the kernels. They are members of a template, since
/// a file need not call all of them, and compilers warn about unused functions
/// in an anonymous namespace.
static constexpr llvm::StringLiteral functions =
    R"(INSTRUCTIONS
// Queries of the device and its driver.
template <typename = void> struct device_functions : device_instructions {
  // The indices of a thread and its block.
  static __device__ ptrdiff_t block() { return static_cast<ptrdiff_t>(blockIdx.x); }
  static __device__ ptrdiff_t thread() { return static_cast<ptrdiff_t>(threadIdx.x); }
  // Waits for all threads of the block; their stores are visible afterwards.
  static __device__ void barrier() { __syncthreads(); }
  // Returns the `value` of another thread of the warp: the one whose lane number is that of this
  // thread XOR `mask`.
  template <typename Value> static __device__ Value exchange(Value value, int32_t mask) {
    return __shfl_xor_sync(0xffffffffu, value, mask);
  }

  static ingot_status status(cudaError_t error) {
    if (error == cudaSuccess) return INGOT_OK;
    // Reading the error also resets it, so that a later call does not report it again.
    (void)cudaGetLastError();
    if (error == cudaErrorMemoryAllocation) return INGOT_ERROR_CAPACITY;
    if (error == cudaErrorNoKernelImageForDevice) return INGOT_ERROR_TARGET;
    return INGOT_ERROR_DEVICE;
  }

  // The current device, and its compute capability as one number (90 for 9.0).
  static ingot_status current(int *number, int *level) {
    int major = 0, minor = 0;
    ingot_status result = status(cudaGetDevice(number));
    if (result == INGOT_OK)
      result = status(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, *number));
    if (result == INGOT_OK)
      result = status(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, *number));
    *level = 10 * major + minor;
    return result;
  }
  // The current device, if it supports these kernels.
  static ingot_status current(int *number) {
    int level = 0;
    ingot_status result = current(number, &level);
    return result == INGOT_OK && level < LEVEL ? INGOT_ERROR_TARGET : result;
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

  // Whether the device can access this address.
  static bool holds(const void *pointer) {
    cudaPointerAttributes attributes;
    if (status(cudaPointerGetAttributes(&attributes, pointer)) != INGOT_OK) return false;
    return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  }
  static ingot_status copy(void *to, const void *from, size_t bytes, cudaStream_t stream) {
    return status(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
  }
  static ingot_status clear(void *memory, size_t bytes, cudaStream_t stream) {
    return status(cudaMemsetAsync(memory, 0, bytes, stream));
  }
  static ingot_status wait(cudaStream_t stream) { return status(cudaStreamSynchronize(stream)); }

  // Enqueues a kernel on the stream.
  template <typename... Parameters, typename... Arguments>
  static ingot_status start(void (*kernel)(Parameters...), ptrdiff_t blocks, unsigned threads,
                            cudaStream_t stream, Arguments... arguments) {
    return start_sharing(kernel, blocks, threads, 0, stream, arguments...);
  }
  // The same, with `shared` bytes of dynamic shared memory.
  template <typename... Parameters, typename... Arguments>
  static ingot_status start_sharing(void (*kernel)(Parameters...), ptrdiff_t blocks,
                                    unsigned threads, unsigned shared, cudaStream_t stream,
                                    Arguments... arguments) {
    if (blocks == 0) return INGOT_OK;
    if (shared > 0) {
      ingot_status result = status(cudaFuncSetAttribute(
          kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
      if (result != INGOT_OK) return result;
    }
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared;
EARLY    config.stream = stream;
    return status(cudaLaunchKernelEx(&config, kernel, arguments...));
  }

  // Makes a stream wait for the work that another stream has so far.
  static ingot_status follow(cudaStream_t stream, cudaStream_t other) {
    cudaEvent_t event = nullptr;
    ingot_status result = status(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    if (result == INGOT_OK) result = status(cudaEventRecord(event, other));
    if (result == INGOT_OK) result = status(cudaStreamWaitEvent(stream, event, 0));
    if (event) (void)cudaEventDestroy(event);
    return result;
  }
  // Makes the other streams wait for the work of the first one; then all run concurrently.
  static ingot_status fork(const cudaStream_t *streams, unsigned count) {
    ingot_status result = INGOT_OK;
    for (unsigned i = 1; i < count && result == INGOT_OK; ++i)
      result = follow(streams[i], streams[0]);
    return result;
  }
  // Makes the first stream wait for the work of all of them.
  static ingot_status join(const cudaStream_t *streams, unsigned count) {
    ingot_status result = INGOT_OK;
    for (unsigned i = 1; i < count && result == INGOT_OK; ++i)
      result = follow(streams[0], streams[i]);
    return result;
  }

  // Captures the work that `enqueue` puts on a stream as a graph, which replaces the previous one.
  template <typename Enqueue>
  static ingot_status record(cudaGraphExec_t *graph, const Enqueue &enqueue) {
    return record_branches<1>(
        graph, [&](const cudaStream_t *streams) { return enqueue(streams[0]); });
  }
  // The same for several streams, which fork from the first one and join it again.
  template <unsigned Streams, typename Enqueue>
  static ingot_status record_branches(cudaGraphExec_t *graph, const Enqueue &enqueue) {
    cudaStream_t streams[Streams] = {};
    ingot_status result = INGOT_OK;
    for (cudaStream_t &stream : streams)
      if (result == INGOT_OK)
        result = status(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    cudaGraph_t recorded = nullptr;
    if (result == INGOT_OK)
      result = status(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeThreadLocal));
    if (result == INGOT_OK) {
      result = enqueue(streams);
      ingot_status ended = status(cudaStreamEndCapture(streams[0], &recorded));
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
    for (cudaStream_t stream : streams)
      if (stream) (void)cudaStreamDestroy(stream);
    return result;
  }
  static ingot_status replay(cudaGraphExec_t graph, cudaStream_t stream) {
    return status(cudaGraphLaunch(graph, stream));
  }
  static ingot_status release_graph(cudaGraphExec_t graph) {
    return status(cudaGraphExecDestroy(graph));
  }
MAPS};
using device = device_functions<>;
)";

/// Functions for operations that C++ cannot express: instructions of a whole
/// warp, and asynchronous copies. Their operands are laid out in registers as
/// in `kernel.load_matrices` and `kernel.warp_product`.
static constexpr llvm::StringLiteral instructions =
    R"(// Single instructions; the emulation has functions with the same names.
#ifdef INGOT_EMULATED_CUDA_RUNTIME_H
using device_instructions = EMULATED;
#else
template <typename = void> struct instructions {
  // Loads matrices of 8 rows of 16 bytes; thread 8 m + r passes the address of row r of matrix m.
  static __device__ void load_matrices(uint32_t &a, uint32_t &b, uint32_t &c, uint32_t &d,
                                       const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(shared_address(row)) : "memory");
  }
  static __device__ void load_matrices_transposed(uint32_t &a, uint32_t &b, uint32_t &c,
                                                  uint32_t &d, const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(shared_address(row)) : "memory");
  }

  // Adds a matrix product of 16 rows and 8 columns to the accumulators.
PRODUCTS
  // One instruction; returns the number if the other operand is NaN.
  static __host__ __device__ float larger_f32(float x, float y) {
#ifdef __CUDA_ARCH__
    return fmaxf(x, y);
#else
    return x != x || y > x ? y : x;
#endif
  }
  // Within 2 ULP, unless y is above 2^126.
  static __host__ __device__ float quotient_f32(float x, float y) {
#ifdef __CUDA_ARCH__
    float reciprocal;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(y));
    return x * reciprocal;
#else
    return x / y;
#endif
  }
  // Rounded as IEEE 754 requires, also under --use_fast_math.
  static __host__ __device__ float divide_f32(float x, float y) {
#ifdef __CUDA_ARCH__
    return __fdiv_rn(x, y);
#else
    return x / y;
#endif
  }
  // Correctly rounded square roots.
  static __host__ __device__ float root_f32(float x) {
#ifdef __CUDA_ARCH__
    return __fsqrt_rn(x);
#else
    return __builtin_sqrtf(x);
#endif
  }
  static __host__ __device__ double root_f64(double x) {
#ifdef __CUDA_ARCH__
    return __dsqrt_rn(x);
#else
    return __builtin_sqrt(x);
#endif
  }
  // 2^x within 2 ULP; subnormal results become 0.
  static __device__ float exp2_f32(float x) {
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
  }
  // Kernels on the host call these functions, too.
  static __host__ __device__ float widen_f16(uint16_t bits) {
    float value;
#ifdef __CUDA_ARCH__
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
#else
    uint32_t sign = uint32_t(bits & 0x8000u) << 16, rest = bits & 0x7fffu;
    // In the position of f32's exponent, that of f16 is 112 too low. The multiplication by 2^112
    // corrects this, also for subnormal numbers.
    uint32_t word = rest >= 0x7c00u ? 0x7f800000u | (rest & 0x3ffu) << 13 : rest << 13;
    memcpy(&value, &word, sizeof value);
    if (rest < 0x7c00u) value *= 5.192296858534828e33f; // 2^112
    if (sign) value = -value;
#endif
    return value;
  }
  static __host__ __device__ uint16_t narrow_f16(float value) {
#ifdef __CUDA_ARCH__
    uint16_t bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
#else
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    uint32_t sign = word >> 16 & 0x8000u, rest = word & 0x7fffffffu;
    if (rest > 0x7f800000u) return 0x7fff;
    if (rest >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
    if (rest < 0x38800000u) {
      // Subnormals: the addition of 0.5 leaves multiples of 2^-24 in the lowest bits.
      float small;
      memcpy(&small, &rest, sizeof small);
      small += 0.5f;
      memcpy(&rest, &small, sizeof rest);
      return static_cast<uint16_t>(sign | (rest - 0x3f000000u));
    }
    rest += 0xfffu + (rest >> 13 & 1u);
    return static_cast<uint16_t>(sign | ((rest - 0x38000000u) >> 13));
#endif
  }

  // Adds to a number that all blocks share and returns the sum. The stores of this block are
  // visible to the blocks that read the new number.
  static __device__ ptrdiff_t count(int32_t *number, ptrdiff_t amount) {
    __shared__ int32_t total;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
      total = atomicAdd(number, static_cast<int32_t>(amount)) + static_cast<int32_t>(amount);
    __syncthreads();
    __threadfence();
    return total;
  }

  // Store adjacent numbers with one access of up to 16 bytes. store_* requires an address that is
  // aligned to the access; put_* stores the numbers one by one if it is not.
  static __device__ void store_f32(float *to, float x0, float x1) {
    *reinterpret_cast<float2 *>(to) = make_float2(x0, x1);
  }
  static __device__ void store_f32(float *to, float x0, float x1, float x2, float x3) {
    *reinterpret_cast<float4 *>(to) = make_float4(x0, x1, x2, x3);
  }
  template <typename... Floats> static __device__ void put_f32(float *to, Floats... x) {
    if (reinterpret_cast<uintptr_t>(to) % sizeof(float[sizeof...(x)]) == 0) return store_f32(to, x...);
    (void(*to++ = x), ...);
  }
VECTOR_STORES

  // Copies 16 bytes to shared memory, zeros if `is_inside` is false. From an address that is not a
  // multiple of 16, the bytes are copied one by one.
  static __device__ void copy_ahead(void *to, const void *from, bool is_inside) {
    if (!is_inside) from = nullptr;
    if ((reinterpret_cast<uintptr_t>(from) & 15u) != 0) {
      for (int i = 0; i < 16; ++i)
        static_cast<unsigned char *>(to)[i] = static_cast<const unsigned char *>(from)[i];
      return;
    }
COPIES
  }
WARPGROUPS
private:
  static __device__ uint32_t shared_address(const void *pointer) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
  }
};
using device_instructions = instructions<>;
#endif
)";

static constexpr llvm::StringLiteral lateCopies =
    R"(    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"(shared_address(to)), "l"(__cvta_generic_to_global(from)),
                    "r"(is_inside ? 16 : 0) : "memory");
  }
  static __device__ void close_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
  template <unsigned newest> static __device__ void await_copies() {
    asm volatile("cp.async.wait_group %0;" :: "n"(newest) : "memory");)";

static constexpr llvm::StringLiteral copiesAtOnce =
    R"(    *static_cast<uint4 *>(to) =
        is_inside ? *static_cast<const uint4 *>(from) : make_uint4(0, 0, 0, 0);
  }
  static __device__ void close_copies() {}
  template <unsigned newest> static __device__ void await_copies() {)";

static constexpr llvm::StringLiteral earlyStart =
    R"(    // The blocks may start before the previous kernel ends; they wait in await_inputs().
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &early;
    config.numAttrs = 1;
)";

/// Returns the text of the function for one matrix product of a warp
/// (mma.sync). Before compute capability 8.0, it executes several smaller
/// instructions: one for each half of K and, for 8-bit integers, each half of
/// the rows.
static std::string productFunction(unsigned level, llvm::StringRef name,
                                   llvm::StringRef left,
                                   llvm::StringRef right) {
  bool areBytes = left.ends_with("8"),
       areFloat8 = left.ends_with("m3") || left.ends_with("m2");
  std::string sum = areBytes ? "int32_t" : "float",
              letter = areBytes ? "r" : "f",
              types = "." + (areBytes ? std::string("s32") : "f32") + "." +
                      left.str() + "." + right.str() + "." +
                      (areBytes ? "s32" : "f32");
  std::string text = "  static __device__ void " + name.str() + "(" + sum +
                     " &s0, " + sum + " &s1, " + sum + " &s2, " + sum +
                     " &s3, uint32_t a0,\n      uint32_t a1, uint32_t a2, "
                     "uint32_t a3, uint32_t b0, uint32_t b1) {\n";
  auto instruction = [&](llvm::StringRef shape, std::vector<std::string> sums,
                         std::vector<std::string> parts, unsigned ofLeft) {
    auto list = [](size_t from, size_t count) {
      std::string numbers;
      for (size_t i = from; i < from + count; ++i)
        numbers += (numbers.empty() ? "%" : ", %") + std::to_string(i);
      return "{" + numbers + "}";
    };
    std::string accumulators = list(0, sums.size());
    text += "    asm volatile(\"mma.sync.aligned." + shape.str() + ".row.col" +
            types + " \"\n                 \"" + accumulators + ", " +
            list(sums.size(), ofLeft) + ", " +
            list(sums.size() + ofLeft, parts.size() - ofLeft) + ", " +
            accumulators + ";\"\n                 : ";
    for (auto [i, s] : llvm::enumerate(sums))
      text += (i ? ", \"+" : "\"+") + letter + "\"(" + s + ")";
    text += " : ";
    for (auto [i, part] : llvm::enumerate(parts))
      text += (i ? ", \"r\"(" : "\"r\"(") + part + ")";
    text += ");\n";
  };
  if (level >= 80) {
    instruction(areBytes || areFloat8 ? "m16n8k32"
                : left == "tf32"      ? "m16n8k8"
                                      : "m16n8k16",
                {"s0", "s1", "s2", "s3"}, {"a0", "a1", "a2", "a3", "b0", "b1"},
                4);
  } else if (areBytes) {
    instruction("m8n8k16", {"s0", "s1"}, {"a0", "b0"}, 1);
    instruction("m8n8k16", {"s2", "s3"}, {"a1", "b0"}, 1);
    instruction("m8n8k16", {"s0", "s1"}, {"a2", "b1"}, 1);
    instruction("m8n8k16", {"s2", "s3"}, {"a3", "b1"}, 1);
  } else {
    instruction("m16n8k8", {"s0", "s1", "s2", "s3"}, {"a0", "a1", "b0"}, 2);
    instruction("m16n8k8", {"s0", "s1", "s2", "s3"}, {"a2", "a3", "b1"}, 2);
  }
  return text + "  }\n";
}

/// Returns the text of the functions that store up to 16 bytes of narrow
/// floats, and of the function that rounds two floats into a 32-bit word, which
/// is one instruction from compute capability 8.0 on.
static std::string vectorFunction(unsigned level, const std::string &type) {
  std::string text = "  static __device__ uint32_t pair_" + type +
                     "(float low, float high) {\n";
  if (level >= 80)
    text += "    uint32_t word;\n    asm(\"cvt.rn." + type +
            "x2.f32 %0, %1, %2;\" : \"=r\"(word) : \"f\"(high), "
            "\"f\"(low));\n    return word;\n  }\n";
  else
    text += "    return narrow_" + type +
            "(low) | static_cast<uint32_t>(narrow_" + type +
            "(high)) << 16;\n  }\n";
  auto store = [&](unsigned count) {
    std::string numbers, words;
    for (unsigned i = 0; i < count; i += 2) {
      std::string low = "x" + std::to_string(i),
                  high = "x" + std::to_string(i + 1);
      numbers += ", float " + low + ", float " + high;
      words +=
          (i == 0 ? "pair_" : ", pair_") + type + "(" + low + ", " + high + ")";
    }
    std::string word = count == 2 ? "uint32_t" : count == 4 ? "uint2" : "uint4";
    text += "  static __device__ void store_" + type + "(uint16_t *to" +
            numbers + ") {\n    *reinterpret_cast<" + word + " *>(to) = " +
            (count == 2 ? words : "make_" + word + "(" + words + ")") +
            ";\n  }\n";
  };
  for (unsigned count : {2, 4, 8})
    store(count);
  return text + "  template <typename... Floats> static __device__ void put_" +
         type +
         "(uint16_t *to, Floats... x) {\n"
         "    if (reinterpret_cast<uintptr_t>(to) % "
         "sizeof(uint16_t[sizeof...(x)]) == 0)\n"
         "      return store_" +
         type + "(to, x...);\n    (void(*to++ = narrow_" + type +
         "(x)), ...);\n  }\n";
}

static constexpr llvm::StringLiteral narrowBFloat =
    R"(  static __host__ __device__ uint16_t narrow_bf16(float value) {
#ifdef __CUDA_ARCH__
    uint16_t bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
#else
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    if ((word & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
    return static_cast<uint16_t>((word + 0x7fffu + (word >> 16 & 1u)) >> 16);
#endif
  }
)";

/// Returns the text of the function that converts 8-bit floats to f32. The text
/// converts to f16 first, which represents all 8-bit floats exactly: e5m2 is
/// the upper half of an f16; the exponent bias of e4m3 is 8 less, and its only
/// NaN has all bits set.
static std::string widenByte(llvm::StringRef type) {
  std::string onHost =
      type == "e5m2"
          ? "    return widen_f16(static_cast<uint16_t>(bits << 8));\n"
          : "    unsigned sign = bits & 0x80u, rest = bits & 0x7fu;\n"
            "    if (rest == 0x7fu) return widen_f16(0x7fff);\n"
            "    return widen_f16(static_cast<uint16_t>(sign << 8 | rest << "
            "7)) "
            "* 256.0f;\n";
  return "  static __host__ __device__ float widen_" + type.str() +
         "(uint8_t bits) {\n#ifdef __CUDA_ARCH__\n    uint32_t pair;\n"
         "    asm(\"cvt.rn.f16x2." +
         type.str() +
         "x2 %0, %1;\" : \"=r\"(pair) : "
         "\"h\"(static_cast<uint16_t>(bits)));\n"
         "    return widen_f16(static_cast<uint16_t>(pair));\n#else\n" +
         onHost + "#endif\n  }\n";
}

static void replaceAll(std::string &text, llvm::StringRef what,
                       llvm::StringRef by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos;
       at += by.size())
    text.replace(at, what.size(), by);
}

std::string cudaOpening(unsigned level) {
  std::string result = opening.str();
  replaceAll(result, "MAP_HEADERS", level == 90 ? "\n#include <cuda.h>" : "");
  replaceAll(result, "LEVEL", std::to_string(level));
  return result;
}

std::string cudaFunctions(unsigned level) {
  std::string products = productFunction(level, "multiply_f16", "f16", "f16");
  if (level >= 80) {
    products += productFunction(level, "multiply_bf16", "bf16", "bf16");
    products += productFunction(level, "multiply_tf32", "tf32", "tf32");
    products += narrowBFloat;
  }
  if (level >= 89)
    for (llvm::StringRef left : {"e4m3", "e5m2"}) {
      for (llvm::StringRef right : {"e4m3", "e5m2"})
        products += productFunction(
            level, ("multiply_" + llvm::Twine(left) + "_" + right).str(), left,
            right);
      products += widenByte(left);
    }
  for (llvm::StringRef left : {"s8", "u8"})
    for (llvm::StringRef right : {"s8", "u8"})
      products += productFunction(
          level, ("multiply_" + llvm::Twine(left) + "_" + right).str(), left,
          right);
  std::string result = functions.str();
  replaceAll(result, "INSTRUCTIONS", instructions);
  replaceAll(result, "PRODUCTS\n", products);
  replaceAll(result, "VECTOR_STORES\n",
             vectorFunction(level, "f16") +
                 (level >= 80 ? vectorFunction(level, "bf16") : ""));
  // Only compute capability 9.0 has products of warpgroups by wgmma. Later ones
  // have other instructions.
  WarpgroupText ofWarpgroups;
  if (level == 90)
    ofWarpgroups = warpgroupText();
  replaceAll(result, "WARPGROUPS\n", ofWarpgroups.instructions + "\n");
  replaceAll(result, "EARLY", level == 90 ? earlyStart : "");
  replaceAll(result, "MAPS", ofWarpgroups.maps);
  replaceAll(result, "EMULATED;",
             level == 90 ? "emulated_group_instructions;"
                         : "emulated_instructions;");
  replaceAll(result, "COPIES", level >= 80 ? lateCopies : copiesAtOnce);
  replaceAll(result, "LEVEL", std::to_string(level));
  return result;
}

} // namespace ingot::targets
