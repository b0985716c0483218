// The description of a target.
//
// A target is data: the facts from which Ingot chooses the loops of kernels
// (vector widths, registers, caches); the text around generated functions that
// enables the instruction set; and a table that gives the C++ spelling of
// operations that C++ cannot express. Code outside of targets/ uses these
// facts, never the name of a target.
//
// A new target is a folder with such a description and a line in Targets.def.

#ifndef INGOT_TARGETS_TARGETDESCRIPTION_H
#define INGOT_TARGETS_TARGETDESCRIPTION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace mlir {
class Type;
} // namespace mlir

namespace ingot {

/// An entry of the table of intrinsics: the operation named `op` (such as
/// "math.sqrt"), with an operand of type `operand` and a result of type
/// `result`, is printed as `spelling`, in which {0}, {1}, ... stand for the
/// operands. Types are element types with lanes: f32, f32x8, i16x16. Integers
/// are signless, and the spelling casts to the types of the intrinsic.
/// `operand` is empty if the operation has none.
struct Intrinsic {
  llvm::StringRef op, operand, result, spelling;
  /// Whether the operation flushes subnormal numbers to zero, which --strict
  /// does not allow.
  bool flushes = false;
};

/// A dot product instruction, by which the target computes a `kernel.dot`.
/// `spelling` is a C++ expression: {0} and {1} stand for the vectors of narrow
/// elements, {2} for the accumulator.
struct Product {
  /// Element types of the operands. "ui8", "si8", "si16" are accumulated in
  /// 32-bit integers, "bf16" in f32, "f16" in f16.
  llvm::StringRef a, b;
  /// The number of adjacent products that are summed into each lane of the
  /// accumulator, and the number of lanes. A lane has 32 bits (16 bits for
  /// f16).
  unsigned group, lanes;
  /// How many of these instructions a processor of this target issues per
  /// cycle.
  double perCycle;
  llvm::StringRef spelling;
  /// The spelling of the variant in which {1} is one group of elements, used
  /// for all lanes, as an integer in a scalar register. Empty if the target has
  /// no such variant. `wordsPerCycle` is the number of such instructions per
  /// cycle.
  llvm::StringRef wordSpelling = {};
  double wordsPerCycle = 0;
  /// The number of instructions that prepare an operand. They are executed once
  /// for all dot products that use the operand.
  unsigned preparation = 0;
};

/// The ELF identity of object files with weights, which are written beside the
/// code.
struct ElfIdentity {
  unsigned machine = 0;
  unsigned flags = 0;
  bool is64Bit = true;
};

/// Issue cycles of f32 instructions: the cost model for in-order cores that
/// issue one instruction at a time. `loadNext` is the cost of each element
/// after the first one in a load that fills several registers.
struct InstructionCosts {
  unsigned multiplyAdd = 1, multiply = 1, add = 1;
  unsigned load = 1, loadNext = 1, store = 1;
  unsigned takenBranch = 1;
};

/// Throughputs and latencies of a superscalar core: the cost model for targets
/// where code size is secondary. The defaults are those of x86 cores since
/// Skylake and Zen 2. (uops.info: vfmadd231ps has a latency of 4 and issues
/// twice per cycle, as do loads; vpdpbusd has a latency of 5 on Intel cores.)
/// Arm's Cortex-A76 and later cores have similar values.
struct IssueRates {
  /// Latency, in cycles, from a multiply-add to the next one that uses its
  /// accumulator: for floats, and for dot products of narrow integers.
  double multiplyAddLatency = 4, dotLatency = 5;
  /// Vector multiply-adds, loads, and instructions of any kind per cycle.
  double multiplyAdds = 2, loads = 2, instructions = 4;
  /// Bytes per cycle that one core reads from the cache after L2, and from
  /// memory. (Zen 5 at 4 GHz reads 102 to 126 GB/s and 31 to 45 GB/s, measured
  /// in November 2026.)
  double cacheBytes = 25, memoryBytes = 8;
  /// Additional cycles of a load whose cache line has been evicted from L1 to
  /// L2, while other loads are in flight. (Measured on Zen 4: 8.5 cycles for a
  /// step that loads from 14 rows of 4096 bytes.)
  double missedLoad = 0.6;
};

/// A GPU, which runs a kernel as blocks of threads: the cost model from which
/// its kernels are chosen. Rates per second are those of one GPU of this
/// compute capability, which targets/cuda/Cuda.cpp names.
struct Device {
  /// Compute capability as one number, 80 for 8.0; 0 if the target is not a
  /// GPU.
  unsigned level = 0;
  /// The number of threads that execute in lockstep and can exchange registers.
  unsigned warp = 32;
  /// Threads per block, unless a kernel requires another number.
  unsigned blockThreads = 128;
  /// Bytes of shared memory per block, and registers per multiprocessor.
  int64_t sharedBytes = 0, registers = 65536;
  /// Bytes of static shared memory that a kernel may declare. To use more, the
  /// host must request it from the driver.
  int64_t declaredSharedBytes = 48 << 10;
  /// The number of multiprocessors, and the maximum number of threads resident
  /// on each.
  unsigned multiprocessors = 0, residentThreads = 0;
  /// busyThreads: the number of threads that a multiprocessor needs to issue an
  /// instruction in every cycle, if each instruction of a thread depends on the
  /// previous one. busyMatrixThreads: the number of threads that keep its
  /// matrix units busy, if matrix products do not depend on each other.
  unsigned busyThreads = 0, busyMatrixThreads = 0;
  /// Per second: bytes of global memory, and f32 multiply-adds outside of
  /// matrix units.
  double bytesPerSecond = 0, multiplyAddsPerSecond = 0;
  /// f16 multiply-adds per second with f32 accumulation in matrix units; twice
  /// that for int8.
  double matrixMultiplyAddsPerSecond = 0;
  /// On a GPU that also has matrix products of warpgroups: the fraction of
  /// matrixMultiplyAddsPerSecond that products of single warps reach. The bytes
  /// per second that multiprocessors read from the L2 cache: first in general,
  /// then in kernels that copy many whole tiles (0 if unknown).
  double ofWarps = 1, l2BytesPerSecond = 0, tileBytesPerSecond = 0;
  /// Seconds that the fork and the join of each additional branch, together,
  /// add to a graph of launches; 0 if launches are always sequential.
  double branchSeconds = 0;
  /// The names of the C++ structures to which the driver's stream and graph
  /// pointers point.
  llvm::StringRef stream, graph;

  /// Whether matrix units multiply bf16 and tf32, and whether asynchronous
  /// copies to shared memory (cp.async) exist.
  bool multipliesBf16() const { return level >= 80; }
  bool copiesAhead() const { return level >= 80; }
  /// Whether matrix units multiply 8-bit floats (e4m3 and e5m2).
  bool multipliesFloat8() const { return level >= 89; }
  /// Whether warpgroups multiply tiles in shared memory (wgmma, Hopper only),
  /// and whole tiles are copied there by tensor maps (TMA).
  bool multipliesByWarpgroups() const { return level == 90; }
};

/// Matrix tile registers (such as AMX), for which the table of intrinsics has
/// entries kernel.multiply_tiles: the cost model of kernels that use them.
struct TileRegisters {
  /// The number of tile registers (0: none), their maximum number of rows, and
  /// the bytes per row.
  unsigned count = 0, rows = 0, bytes = 0;
  /// Cycles between the starts of two products; from a product to the next one
  /// that uses its accumulator; between loads from L1; between stores.
  double productCycles = 0, productLatency = 0, loadCycles = 0, storeCycles = 0;
  /// Cycles for configuring the shapes of all tiles.
  double shapeCycles = 0;
};

/// How a program for the target can run on this machine: compiled as ordinary
/// C++ that emulates the GPU.
struct Emulation {
  /// Commands of compilers for this machine, in order of preference, and the
  /// flags that each gets; empty if there is no emulation.
  llvm::SmallVector<llvm::StringRef, 2> compilers, flags;
  /// The name and the text of the header that replaces the header of the GPU's
  /// runtime library.
  llvm::StringRef headerName, headerText;
};

struct TargetDescription {
  llvm::StringRef name;
  llvm::StringRef summary;

  /// Widths of vector registers in bytes, widest first; empty if there are no
  /// vectors.
  llvm::SmallVector<unsigned, 4> vectorBytes;
  unsigned vectorRegisters = 0;
  /// If a loop carries more vectors than this, GCC spills them unless the kernel
  /// has the attribute INGOT_UNSCHEDULED, which openText defines. 0 if there is
  /// no such attribute.
  unsigned scheduledVectors = 0;
  /// Whether compilers move the multiply-adds of an iteration after all of its
  /// loads, so that registers hold all loaded vectors at the same time.
  bool loadsBeforeMultiplyAdds = false;
  /// The distance in bytes between the 32-bit elements of consecutive iterations
  /// at which the target's compiler vectorizes a scalar loop wrongly; 0 if there
  /// is none.
  int64_t faultyStride = 0;
  /// Whether the target's compiler turns `a > b ? a : b` of scalar floats into
  /// an instruction that returns the operand that is a number, if the other one
  /// is NaN.
  bool extremaDropNan = false;
  /// The number of core registers, if the core multiplies 8-bit integers in
  /// core registers (by scalar instructions, or by dot products with a one-lane
  /// accumulator); 0 for other targets.
  unsigned coreRegisters = 0;
  /// The number of scalar registers. They hold addresses and the scalar
  /// operands of dot products (see Product::wordSpelling).
  unsigned scalarRegisters = 16;
  /// Which element types vectors support: whether floats, and the largest width
  /// of integers in bits.
  bool vectorFloats = true;
  unsigned vectorIntegerBits = 64;
  /// Whether loads and stores of partial registers are slow. If so, all vectors
  /// of a kernel have as many lanes as a register holds of its narrowest
  /// elements, and vectors of wider elements take several registers.
  bool wholeRegisters = false;
  /// Whether vector and word accesses are faster if the compiler knows that
  /// they are aligned.
  bool alignedAccess = false;
  /// Whether integers are scaled faster by the upper half of a product of two
  /// 32-bit integers than by converting to float, multiplying, rounding and
  /// converting back.
  bool scalesIntegers = false;
  /// Whether a multiply-add is one instruction, for f32 and f64.
  bool fma = false;
  /// Whether one factor of a multiply-add can be a single lane of a vector
  /// register.
  bool multiplyByLane = false;
  InstructionCosts costs;
  IssueRates rates;
  /// Whether memory is scarcer than time: code is kept small where that costs
  /// little speed.
  bool smallCode = false;
  /// Whether only memory counts: code is kept small at any cost of speed.
  bool smallestCode = false;
  /// The registers that one load of consecutive f32 elements (kernel.load_next
  /// in the table of intrinsics) may fill: the prefix of their names, such as
  /// "s" for s0, s1, ..., and their number. Empty and 0 if there is no such
  /// load.
  llvm::StringRef loadRegisters;
  unsigned loadRegisterCount = 0;
  /// Whether there is no operating system: programs include their own start-up
  /// code.
  bool freestanding = false;
  /// Required alignment in bytes: of the arena (the buffer for intermediate
  /// tensors) and of constants; then of the tensors that the caller passes, if
  /// it is more than the alignment of their elements.
  unsigned bufferAlign = 64, tensorAlign = 1;
  /// The name of a local memory (not a cache or DRAM), such as "vtcm", that
  /// vectors read fastest and that the caller provides for each run. The name
  /// is also that of the option for the size of this memory, and of the field
  /// for the memory's address in the argument of a run. Empty if there is no
  /// such memory.
  llvm::StringRef tcmName;
  int64_t l1Bytes = 0, l2Bytes = 0;
  /// The bytes of one way of the L1 cache; 0 if unknown. Addresses that differ
  /// by a multiple of this number are in the same L1 set, which holds l1Bytes /
  /// l1WayBytes cache lines.
  int64_t l1WayBytes = 0;
  /// The fraction of the L2 cache that weights can occupy without being evicted
  /// while the input and result of a layer stream through the cache.
  double residentShare = 0.5;
  /// Cycles for starting work on another core and waiting for its end. 0.25 us
  /// with runtime_support/ingot_thread_pool.h while both threads spin, plus
  /// another 0.25 us since workers do not finish together (Zen 5 at 4.5 GHz,
  /// November 2026).
  int64_t forkCycles = 3000;
  /// The clock rate with which generated programs convert predicted cycles to
  /// time.
  double gigahertz = 3;
  /// Whether programs may divide their work among threads of the caller.
  bool hasThreads = true;
  unsigned pointerBytes = 8;
  Device device;
  TileRegisters tiles;

  std::vector<Intrinsic> intrinsics;
  /// Dot product instructions. If no entry fits, narrow elements are widened,
  /// and then multiplied.
  std::vector<Product> products;

  /// A C++ statement that prefetches bytes into the caches: {0} stands for a
  /// pointer, {1} for the number of bytes. Empty if hardware prefetching
  /// suffices.
  llvm::StringRef prefetchText;
  /// The bytes of a cache line if `prefetchText` prefetches a single cache
  /// line; 0 if it prefetches all of a range.
  int64_t prefetchLine = 0;

  /// Headers to include, the text before and after the namespace of the
  /// generated functions, which enables the instruction set, so that no compiler
  /// flag is needed, and functions of the target, which precede them.
  llvm::SmallVector<llvm::StringRef, 2> includes;
  llvm::StringRef openText, closeText, functionsText;

  /// Targets of one family can be combined in one output, which selects the
  /// most capable one that the machine supports. `selectCondition` is a C++
  /// expression that is true if the machine supports this target. It may use
  /// the functions of `selectText`, which is the same for the whole family. A
  /// target without a family runs on every machine and can be combined with all
  /// families.
  llvm::StringRef family, selectText, selectCondition;
  /// C++ functions with which `selectCondition` of this target requests
  /// permission from the operating system to use certain registers. Empty if no
  /// permission is needed. An output for this target alone calls them as well.
  llvm::StringRef permissionText;

  /// Commands of compilers that accept the generated source, in order of
  /// preference, and the flags that are needed.
  llvm::SmallVector<llvm::StringRef, 2> compilers;
  llvm::SmallVector<llvm::StringRef, 4> compilerFlags;
  /// The linker for programs that run in the emulator, if it is not the
  /// compiler, and its flags.
  llvm::StringRef linker;
  llvm::SmallVector<llvm::StringRef, 4> linkFlags;
  /// C++ text (start-up code) that a program in the emulator needs in addition
  /// to the generated source, or empty.
  llvm::StringRef programText;
  /// C++ text that replaces the headers of the C library in a program for the
  /// emulator, if the target has no C library: the parts of <stdio.h> and
  /// <string.h> that test programs use.
  llvm::StringRef libraryText;
  /// The command that runs programs of the target on another machine, or empty.
  llvm::StringRef emulator;
  Emulation emulation;
  /// The file extension of the generated source.
  llvm::StringRef sourceExtension = ".cpp";
  /// Whether the source can also be printed as C. All C++ text in this
  /// description must then be text that codegen/kernel/Language.h can convert.
  bool hasC = false;
  ElfIdentity elf;

  /// Whether this machine can run the target's code.
  bool (*runsOnThisHost)() = nullptr;

  /// Returns the bytes of weights that stay in L2 while other data streams
  /// through it.
  int64_t residentBytes() const {
    return static_cast<int64_t>(static_cast<double>(l2Bytes) * residentShare);
  }
  /// Whether `prefetchText` prefetches a whole range of bytes.
  bool fetchesRanges() const {
    return !prefetchText.empty() && prefetchLine == 0;
  }
  /// Whether kernels run on a GPU.
  bool isDevice() const { return device.level != 0; }
  /// Returns the numbers of lanes of vectors of `elementType`, one for each
  /// register width, the widest first. The list ends at two lanes; scalars are
  /// always possible. Empty for types that vectors of the target do not
  /// support.
  llvm::SmallVector<int64_t> lanes(mlir::Type elementType) const;
  /// Whether int8 dot products pay off compared with float products: the target
  /// has instructions for them, is a GPU, or is a microcontroller, whose memory
  /// is scarce.
  bool multipliesInt8() const {
    return coreRegisters || !products.empty() || isDevice();
  }
  /// Whether matrix units multiply 8-bit floats, directly or as f16.
  bool multipliesFloat8() const { return isDevice() && multiplies("f16"); }
  /// Whether vectors multiply at least four times as many 8-bit integers as
  /// floats per cycle. Then it pays off to compute a product of 16-bit integers
  /// as two products of 8-bit integers instead of one of floats.
  bool splitsWords() const;
  /// Whether an int8 depthwise convolution with this many channels pays off
  /// compared with a float one. This requires at least 16 channels, vectors
  /// that multiply unsigned by signed 8-bit integers, and an instruction that
  /// narrows several vectors of sums to one; or vectors that multiply 16-bit
  /// integers lane by lane, and channels that fill whole vectors of them.
  bool filtersInt8(mlir::Type x, mlir::Type w, int64_t channels) const;
  /// Whether each thread block of a GPU computes one group of a grouped
  /// convolution. This requires that the group's inputs at one position
  /// (`inputBytes`) are a multiple of 16 bytes, the size of a vector access,
  /// and that the group has at least as many outputs as an MMA tile has
  /// columns.
  bool multipliesGroups(int64_t inputBytes, int64_t outputs) const {
    constexpr int64_t accessBytes = 16, columns = 8;
    return isDevice() && inputBytes % accessBytes == 0 && outputs >= columns;
  }
  /// Whether there is a dot product of 8-bit integers of these types, in either
  /// order.
  bool hasInt8Dot(mlir::Type a, mlir::Type b) const;
  /// Whether the target has matrix or dot products of this float type: "bf16",
  /// "tf32" or "f16".
  bool multiplies(llvm::StringRef floats) const;
  /// Returns the largest number of lanes of `elementType` in a vector; 1 if
  /// vectors do not hold the type.
  int64_t maxLanes(mlir::Type elementType) const;
  /// Returns the entry of the table of intrinsics for the operation named `op`,
  /// or null. `operand` and `result` are scalars or vectors; `operand` is null
  /// if the operation has none.
  const Intrinsic *intrinsic(llvm::StringRef op, mlir::Type operand,
                             mlir::Type result) const;
  /// Returns the dot product instruction for element types `a` and `b` in this
  /// order, or null.
  const Product *product(llvm::StringRef a, llvm::StringRef b, unsigned group,
                         unsigned lanes) const;
  /// Returns the entry of the table of intrinsics for a load that fills `count`
  /// registers with elements (or vectors) of type `element`; null if there is
  /// none.
  const Intrinsic *loadOfSeveral(mlir::Type element, unsigned count) const;
};

/// Returns the name of a type in the table of intrinsics, such as "f32" or
/// "i16x8"; empty if it has none.
std::string intrinsicTypeName(mlir::Type type);

/// Returns all targets. Targets of the same family are in order, from the least
/// to the most capable.
llvm::ArrayRef<TargetDescription> allTargets();

/// Whether one output can contain the code of both targets and select one of
/// them at run time.
bool canShareOutput(const TargetDescription &a, const TargetDescription &b);

/// Suffixes of target names. "size" makes code small; with "one-thread",
/// programs ignore the threads of the caller.
inline constexpr llvm::StringLiteral smallSuffix = "size",
                                     oneThreadSuffix = "one-thread";

/// Returns the target TARGET:SUFFIX. `suffix` is one of the suffixes above or a
/// core of the target's family; a core replaces the issue rates and cache sizes
/// of the target. Null if there is no such suffix.
const TargetDescription *withSuffix(const TargetDescription &target,
                                    llvm::StringRef suffix);

/// Returns the description with which a program of the target can be built to
/// run on this machine: with the compilers and flags of the emulation, unless
/// this machine has the GPU. Returns `target` unchanged if there is no
/// emulation.
TargetDescription asEmulated(const TargetDescription &target);

/// Returns the target with this name, which may have suffixes, each after a
/// colon. "native" is the most capable target that this machine can run. Null
/// if the name is unknown.
const TargetDescription *lookupTarget(llvm::StringRef name);

} // namespace ingot

#endif // INGOT_TARGETS_TARGETDESCRIPTION_H
