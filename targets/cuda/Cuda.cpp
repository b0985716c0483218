// NVIDIA's GPUs, from Turing to Hopper.
//
// A kernel is a function that one thread executes. It uses no vectors, since
// nvcc rejects GCC's vector types in device code. The rates of a compute
// capability are those of one GPU: T4 (7.5), A100 40 GB (8.0), A10 (8.6), L4
// (8.9), H100 SXM (9.0), from NVIDIA's data sheets. The limits of blocks and
// multiprocessors are those of the CUDA C++ Programming Guide, table "Technical
// Specifications per Compute Capability".

#include "targets/cuda/Emulation.h"
#include "targets/cuda/Opening.h"

#include "targets/TargetDescription.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <deque>

namespace ingot::targets {

/// Returns the part of the description that all compute capabilities have in
/// common.
static TargetDescription base() {
  TargetDescription target;
  target.family = "cuda";
  target.sourceExtension = ".cu";
  target.fma = true;
  // The line size of the L2 cache, which is also the alignment of buffers
  // within an allocation.
  target.bufferAlign = 128;
  // The bytes of the largest access of a thread. Allocations of the driver
  // satisfy this alignment, since they are aligned to 256 bytes.
  target.tensorAlign = 16;
  target.l1Bytes = 128 << 10;
  target.includes = {"string.h", "cuda_runtime.h"};
  target.intrinsics = {
      {"gpu.block_id", "", "index", "device::block()"},
      {"gpu.thread_id", "", "index", "device::thread()"},
      {"gpu.barrier", "", "", "device::barrier()"},
      // Exchanges {0} with another thread of the warp: the one whose number is
      // this thread's number XOR {1}.
      {"gpu.shuffle", "f32", "f32", "device::exchange({0}, {1})"},
      {"gpu.shuffle", "i32", "i32", "device::exchange({0}, {1})"},
      {"arith.maxnumf", "f32", "f32", "device::larger_f32({0}, {1})"},
      {"kernel.exp2", "f32", "f32", "device::exp2_f32({0})"},
      {"math.sqrt", "f32", "f32", "device::root_f32({0})"},
      {"math.sqrt", "f64", "f64", "device::root_f64({0})"},
      {"arith.divf[arcp]", "f32", "f32", "device::quotient_f32({0}, {1})"},
      // A function instead of the C++ operator `/`, which is approximate under
      // nvcc's --use_fast_math.
      {"arith.divf", "f32", "f32", "device::divide_f32({0}, {1})"},
      {"arith.extf", "f16", "f32", "device::widen_f16({0})"},
      {"arith.truncf", "f32", "f16", "device::narrow_f16({0})"},
      // For functions that take several registers, the entry contains only the
      // name of the function.
      {"kernel.load_matrices[4]", "", "", "device::load_matrices"},
      {"kernel.load_matrices[4,transposed]", "", "",
       "device::load_matrices_transposed"},
      {"kernel.warp_product[f16,f16]", "", "", "device::multiply_f16"},
      {"kernel.warp_product[si8,si8]", "", "", "device::multiply_s8_s8"},
      {"kernel.warp_product[si8,ui8]", "", "", "device::multiply_s8_u8"},
      {"kernel.warp_product[ui8,si8]", "", "", "device::multiply_u8_s8"},
      {"kernel.warp_product[ui8,ui8]", "", "", "device::multiply_u8_u8"},
      {"kernel.store_vector[f32]", "", "", "device::store_f32"},
      {"kernel.store_vector[f16]", "", "", "device::store_f16"},
      {"kernel.store_vector[f32,unaligned]", "", "", "device::put_f32"},
      {"kernel.store_vector[f16,unaligned]", "", "", "device::put_f16"},
      {"kernel.round_pair[f16]", "f32", "i32", "device::pair_f16({0}, {1})"},
      {"kernel.count", "", "", "device::count"},
      {"kernel.copy_ahead", "", "", "device::copy_ahead"},
      {"kernel.close_copies", "", "", "device::close_copies()"},
      {"kernel.await_copies", "", "", "device::await_copies"},
  };
  // Weights that are not in the source are linked into the host program, so
  // they are objects for the host's processor.
  llvm::Triple host(llvm::sys::getDefaultTargetTriple());
  target.elf.machine =
      host.isAArch64() ? llvm::ELF::EM_AARCH64 : llvm::ELF::EM_X86_64;
  target.linker = "ld";
  target.emulation = cudaEmulation();
  // The program itself emulates the GPU, so no emulator runs it: `env` only
  // starts it.
  target.emulator = "env";
  return target;
}

/// Returns the entries for matrix products of 8-bit floats, which require
/// compute capability 8.9.
static std::vector<Intrinsic> ofFloat8() {
  return {
      {"kernel.warp_product[f8E4M3FN,f8E4M3FN]", "", "",
       "device::multiply_e4m3_e4m3"},
      {"kernel.warp_product[f8E4M3FN,f8E5M2]", "", "",
       "device::multiply_e4m3_e5m2"},
      {"kernel.warp_product[f8E5M2,f8E4M3FN]", "", "",
       "device::multiply_e5m2_e4m3"},
      {"kernel.warp_product[f8E5M2,f8E5M2]", "", "",
       "device::multiply_e5m2_e5m2"},
      {"arith.extf", "f8E4M3FN", "f32", "device::widen_e4m3({0})"},
      {"arith.extf", "f8E5M2", "f32", "device::widen_e5m2({0})"},
  };
}

/// Returns the entries for instructions that only compute capability 9.0 has.
static std::vector<Intrinsic> ofWarpgroups() {
  return {
      // This function is called at the beginning of each kernel.
      {"kernel.func", "", "", "device::begin()"},
      {"kernel.await_inputs", "", "", "device::await_inputs()"},
      {"kernel.tiles", "", "", "CUtensorMap"},
      {"kernel.init_mbarrier", "", "", "device::init_gate"},
      {"kernel.fence_mbarriers", "", "", "device::publish_gates()"},
      {"kernel.expect_bytes", "", "", "device::expect_bytes"},
      {"kernel.arrive", "", "", "device::arrive"},
      {"kernel.wait_mbarrier", "", "", "device::await_gate"},
      {"kernel.copy_tile", "", "", "device::copy_tile"},
      {"kernel.copy_tile[windows]", "", "", "device::copy_window"},
      {"kernel.copy_tile[blocks]", "", "", "device::copy_tile_for"},
      {"kernel.copy_tile[windows,blocks]", "", "", "device::copy_window_for"},
      {"kernel.arrive[block]", "", "", "device::arrive_at"},
      {"kernel.cluster_barrier", "", "", "device::cluster_barrier()"},
      {"kernel.cluster_barrier[shown]", "", "",
       "device::cluster_barrier_shown()"},
      {"kernel.send", "", "", "device::send"},
      {"kernel.begin_products", "", "", "device::begin_products"},
      {"kernel.close_products", "", "", "device::close_products()"},
      {"kernel.await_products", "", "", "device::await_products"},
      {"kernel.set_registers", "", "", "device::more_registers"},
      {"kernel.set_registers[fewer]", "", "", "device::fewer_registers"},
      // The printer appends the number of columns of the product to these
      // names.
      {"kernel.tile_product[f16,f16]", "", "", "device::product_f16"},
      {"kernel.tile_product[bf16,bf16]", "", "", "device::product_bf16"},
      {"kernel.tile_product[f16,f16,first]", "", "",
       "device::product_first_f16"},
      {"kernel.tile_product[bf16,bf16,first]", "", "",
       "device::product_first_bf16"},
      {"kernel.tile_product[f16,f16,turned]", "", "",
       "device::product_turned_f16"},
      {"kernel.tile_product[bf16,bf16,turned]", "", "",
       "device::product_turned_bf16"},
      {"kernel.tile_product[f16,f16,words,turned]", "", "",
       "device::product_words_turned_f16"},
      {"kernel.tile_product[bf16,bf16,words,turned]", "", "",
       "device::product_words_turned_bf16"},
      {"kernel.tile_product[tf32,tf32]", "", "", "device::product_tf32"},
      {"kernel.tile_product[si8,si8]", "", "", "device::product_s8_s8"},
      {"kernel.tile_product[si8,ui8]", "", "", "device::product_s8_u8"},
      {"kernel.tile_product[ui8,si8]", "", "", "device::product_u8_s8"},
      {"kernel.tile_product[ui8,ui8]", "", "", "device::product_u8_u8"},
      {"kernel.tile_product[f8E4M3FN,f8E4M3FN]", "", "",
       "device::product_e4m3_e4m3"},
      {"kernel.tile_product[f8E4M3FN,f8E5M2]", "", "",
       "device::product_e4m3_e5m2"},
      {"kernel.tile_product[f8E5M2,f8E4M3FN]", "", "",
       "device::product_e5m2_e4m3"},
      {"kernel.tile_product[f8E5M2,f8E5M2]", "", "",
       "device::product_e5m2_e5m2"},
  };
}

// nvcc in the search path, or in the folder of NVIDIA's installer, which is
// rarely in the path.
#define COMPILERS(LEVEL)                                                       \
  {"nvcc -arch=" LEVEL, "/usr/local/cuda/bin/nvcc -arch=" LEVEL}

void cuda(std::vector<TargetDescription> &targets) {
  auto add = [&](llvm::StringRef name, llvm::StringRef summary,
                 std::initializer_list<llvm::StringRef> compilers,
                 const Device &device, int64_t l2Bytes) {
    // Static, since the descriptions refer to the texts in it.
    static std::deque<std::string> openings;
    TargetDescription &target = targets.emplace_back(base());
    target.name = name;
    target.summary = summary;
    target.device = device;
    target.l2Bytes = l2Bytes;
    target.compilers = compilers;
    if (device.multipliesBf16()) {
      target.intrinsics.push_back(
          {"kernel.warp_product[bf16,bf16]", "", "", "device::multiply_bf16"});
      target.intrinsics.push_back(
          {"kernel.warp_product[tf32,tf32]", "", "", "device::multiply_tf32"});
      target.intrinsics.push_back(
          {"arith.truncf", "f32", "bf16", "device::narrow_bf16({0})"});
      target.intrinsics.push_back({"kernel.round_pair[bf16]", "f32", "i32",
                                   "device::pair_bf16({0}, {1})"});
      target.intrinsics.push_back(
          {"kernel.store_vector[bf16]", "", "", "device::store_bf16"});
      target.intrinsics.push_back(
          {"kernel.store_vector[bf16,unaligned]", "", "", "device::put_bf16"});
    }
    if (device.multipliesFloat8())
      llvm::append_range(target.intrinsics, ofFloat8());
    if (device.multipliesByWarpgroups())
      llvm::append_range(target.intrinsics, ofWarpgroups());
    target.openText = openings.emplace_back(cudaOpening(device.level));
    target.functionsText = openings.emplace_back(cudaFunctions(device.level));
    target.closeText = "#undef INGOT_UNROLLED\n";
    // Code for an architecture whose name ends in a letter (sm_90a) does not
    // run on later architectures.
    target.selectCondition = openings.emplace_back(
        (llvm::isAlpha(name.back()) ? "level == " : "level >= ") +
        std::to_string(device.level));
  };
  auto device = [](unsigned level, int64_t sharedBytes,
                   unsigned multiprocessors, unsigned residentThreads,
                   double gigabytes, double teraflops, double matrixTeraflops) {
    Device result;
    result.level = level;
    result.sharedBytes = sharedBytes;
    result.multiprocessors = multiprocessors;
    result.residentThreads = residentThreads;
    result.bytesPerSecond = gigabytes * 1e9;
    result.multiplyAddsPerSecond = teraflops / 2 * 1e12;
    result.matrixMultiplyAddsPerSecond = matrixTeraflops / 2 * 1e12;
    // A multiprocessor has four schedulers. To be always busy, each scheduler
    // needs four warps, since an instruction takes four cycles (CUDA C++
    // Programming Guide, "Multiprocessor Level"). If the instructions are
    // independent matrix products, each scheduler needs only one warp.
    result.busyThreads = 512;
    result.busyMatrixThreads = 128;
    // In a graph, a kernel of 2.9 us takes 3.4 us: a delay of 0.5 us ("Getting
    // Started with CUDA Graphs", NVIDIA, 2019, on V100). A branch causes one
    // such delay where it begins, and another one where it ends.
    result.branchSeconds = 1e-6;
    result.stream = "struct CUstream_st";
    result.graph = "struct CUgraphExec_st";
    return result;
  };
  add("sm_75", "NVIDIA GPU, Turing (T4, RTX 20)", COMPILERS("sm_75"),
      device(75, 64 << 10, 40, 1024, 320, 8.1, 65), 4 << 20);
  add("sm_80", "NVIDIA GPU, Ampere (A100)", COMPILERS("sm_80"),
      device(80, 163 << 10, 108, 2048, 1555, 19.5, 312), 40 << 20);
  add("sm_86", "NVIDIA GPU, Ampere (A10, RTX 30)", COMPILERS("sm_86"),
      device(86, 99 << 10, 72, 1536, 600, 31.2, 125), 6 << 20);
  add("sm_89", "NVIDIA GPU, Ada (L4, RTX 40)", COMPILERS("sm_89"),
      device(89, 99 << 10, 58, 1536, 300, 30.3, 121), 48 << 20);
  // Not -arch=sm_90a: with it, nvcc 13.0 also compiles for 9.0, which lacks the
  // instructions of 9.0a.
#define HOPPER "nvcc -gencode=arch=compute_90a,code=sm_90a"
  Device hopper = device(90, 227 << 10, 132, 2048, 3350, 66.9, 989);
  // mma.sync reaches 62.9 % of the data sheet's rate on H100; wgmma reaches all
  // of it with at least 64 columns (Luo and others, "Benchmarking and
  // Dissecting the Nvidia Hopper GPU Architecture", 2024). The L2 cache
  // delivers 7.9 to 8.4 TB/s if most data is read once, and about 12 TB/s to
  // matrix products whose K loop reads at least eight tiles of each operand.
  // Measured (H100 SXM and H200, November 2026): 2048 x 2048 x 2048 in tiles of
  // 128 x 192 takes 34 us, 1024 x 1024 x 1024 in tiles of 128 x 64 takes 4.6
  // us, and a 3 x 3 convolution by 98 blocks of 128 x 128 takes 13.4 us.
  hopper.ofWarps = 0.629;
  hopper.l2BytesPerSecond = 8.2e12;
  hopper.tileBytesPerSecond = 12e12;
  // Branches of a launch graph do not pay off: without them, kernels start
  // before the previous kernel ends.
  hopper.branchSeconds = 0;
  add("sm_90a", "NVIDIA GPU, Hopper (H100, H200)",
      {HOPPER, "/usr/local/cuda/bin/" HOPPER}, hopper, 50 << 20);
}

} // namespace ingot::targets
