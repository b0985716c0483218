// The description of a target.
//
// A target is data: the facts by which strategies decide (vector widths,
// registers, caches), the text around functions that enables the instruction
// set in a source file, and a table from abstract operations to C++ spellings
// for operations that C++ cannot express. Common code uses these facts and
// never a target's name.
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

/// An entry of the table of intrinsics: `op` (an operation's name, such as
/// "math.sqrt") from type `operand` to type `result` is spelled `spelling`, in
/// which {0} and {1} are the operands. Types are element types with lanes: f32,
/// f32x8, i16x16; integers are signless, and the spelling casts to the types of
/// the intrinsic. `operand` is empty if there is none.
struct Intrinsic {
  llvm::StringRef op, operand, result, spelling;
  /// Whether the operation flushes subnormal numbers to zero, which --strict
  /// does not allow.
  bool flushes = false;
};

/// A dot product instruction: how the target computes a `kernel.dot`.
/// `spelling` is a C++ expression as in intrinsics: {0} and {1} are the vectors
/// of narrow elements, {2} is the accumulator.
struct Product {
  /// Element types with signedness: "ui8", "si8", "si16"; or "bf16",
  /// accumulated in f32; or "f16", accumulated in f16.
  llvm::StringRef a, b;
  /// The number of adjacent products that are summed into each lane of the
  /// accumulator, and the number of lanes, which have 32 bits (16 for f16).
  unsigned group, lanes;
  /// How many of these instructions a processor of this level issues per cycle.
  double perCycle;
  llvm::StringRef spelling;
  /// The spelling of the variant in which {1} is the same group for all lanes,
  /// as an integer in a scalar register; empty if the target has none.
  /// `wordsPerCycle` is the number of such instructions per cycle.
  llvm::StringRef wordSpelling = {};
  double wordsPerCycle = 0;
  /// The number of instructions that prepare an operand, once for all dot
  /// products that use it.
  unsigned preparation = 0;
};

/// The ELF identity of object files written beside the code (for weights).
struct ElfIdentity {
  unsigned machine = 0;
  unsigned flags = 0;
  bool is64Bit = true;
};

/// Issue cycles of f32 instructions: the cost model for in-order cores without
/// superscalar issue. `loadNext` is the cost of each element after the first
/// one in a multi-register load.
struct InstructionCosts {
  unsigned multiplyAdd = 1, multiply = 1, add = 1;
  unsigned load = 1, loadNext = 1, store = 1;
  unsigned takenBranch = 1;
};

/// Throughputs and latencies of a superscalar core: the cost model for targets
/// where code size is secondary. The defaults are those of x86 cores since
/// Skylake and Zen 2 (uops.info: vfmadd231ps has a latency of 4 and issues
/// twice per cycle, as do loads; vpdpbusd has a latency of 5 on Intel cores),
/// which Arm's Cortex-A76 and later cores approximate.
struct IssueRates {
  /// Latency, in cycles, from a multiply-add to the next one that uses its
  /// accumulator: for floats, and for dot products of narrow integers.
  double multiplyAddLatency = 4, dotLatency = 5;
  /// Vector multiply-adds, loads, and instructions of any kind per cycle.
  double multiplyAdds = 2, loads = 2, instructions = 4;
  /// Bytes per cycle that one core reads from the next cache after L2, and from
  /// memory (102 to 126 and 31 to 45 GB/s on Zen 5 at 4 GHz, by the project's
  /// ceilings program, November 2026).
  double cacheBytes = 25, memoryBytes = 8;
  /// Cycles per load whose line has been evicted from L1 to L2, with other
  /// loads in flight (14 rows of 4096 bytes on Zen 4: 8.5 cycles per step).
  double missedLoad = 0.6;
};

/// A GPU that runs a kernel as blocks of threads: the cost model of strategies
/// for it. Rates per second are those of one GPU of this level, which
/// targets/cuda/Cuda.cpp names.
struct Device {
  /// Compute capability as one number, 80 for 8.0; 0: the target has no GPU.
  unsigned level = 0;
  /// Threads that execute in lockstep and can exchange registers.
  unsigned warp = 32;
  /// Threads per block, if a kernel has no reason for another number.
  unsigned blockThreads = 128;
  /// Bytes of shared memory per block, and registers per multiprocessor.
  int64_t sharedBytes = 0, registers = 65536;
  /// Bytes of static shared memory that a kernel may declare; more has to be
  /// requested from the driver.
  int64_t declaredSharedBytes = 48 << 10;
  /// The number of multiprocessors, and the maximum number of threads resident
  /// on each.
  unsigned multiprocessors = 0, residentThreads = 0;
  /// Threads that a multiprocessor needs to issue an instruction in every
  /// cycle, although the next instruction of a thread waits for it; and threads
  /// that keep its matrix units busy, if products do not depend on each other.
  unsigned busyThreads = 0, busyMatrixThreads = 0;
  /// Per second: bytes of global memory, and f32 multiply-adds outside of
  /// matrix units.
  double bytesPerSecond = 0, multiplyAddsPerSecond = 0;
  /// f16 multiply-adds per second with f32 accumulation in matrix units; twice
  /// that for int8.
  double matrixMultiplyAddsPerSecond = 0;
  /// The fraction of matrixMultiplyAddsPerSecond that matrix products of single
  /// warps reach on a GPU that also has warpgroup products; and bytes per
  /// second that multiprocessors read from the L2 cache, in general and with
  /// copies of many whole tiles, 0 if unknown.
  double ofWarps = 1, l2BytesPerSecond = 0, tileBytesPerSecond = 0;
  /// Seconds that each fork and each join of a branch costs in a graph of
  /// launches; 0: launches are always sequential.
  double branchSeconds = 0;
  /// The C++ types of the structures to which stream and graph pointers of the
  /// driver point.
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

/// Matrix tile registers (AMX; kernel.multiply_tiles in the table of
/// intrinsics): the cost model of strategies for them.
struct TileRegisters {
  /// The number of tile registers (0: none), their maximum number of rows, and
  /// the bytes per row.
  unsigned count = 0, rows = 0, bytes = 0;
  /// Cycles between the starts of two products, from a product to the next one
  /// that uses its accumulator, between loads from L1, and between stores.
  double productCycles = 0, productLatency = 0, loadCycles = 0, storeCycles = 0;
  /// Cycles for configuring the shapes of all tiles.
  double shapeCycles = 0;
};

/// How a program emulates the GPU of the target within itself, as ordinary C++.
struct Emulation {
  /// Commands of compilers for this machine, in order of preference, and the
  /// flags that each gets; empty if there is no emulation.
  llvm::SmallVector<llvm::StringRef, 2> compilers, flags;
  /// The name and the text of the header that replaces the header of the GPU
  /// runtime.
  llvm::StringRef headerName, headerText;
};

struct TargetDescription {
  llvm::StringRef name;
  llvm::StringRef summary;

  /// Widths of vector registers in bytes, widest first; empty if there are no
  /// vectors.
  llvm::SmallVector<unsigned, 4> vectorBytes;
  unsigned vectorRegisters = 0;
  /// The number of core registers, on cores that multiply 8-bit integers in
  /// them (alone, or by dot products with a one-lane accumulator); 0 for other
  /// targets.
  unsigned coreRegisters = 0;
  /// The number of scalar registers, for addresses and for the words of dot
  /// products by a word (see Product::wordSpelling).
  unsigned scalarRegisters = 16;
  /// The element types of vectors: whether floats, and the maximum width of
  /// integers.
  bool vectorFloats = true;
  unsigned vectorIntegerBits = 64;
  /// Whether loads and stores of partial registers are slow: vectors are then
  /// sized such that narrow elements fill one register, and wider elements take
  /// several.
  bool wholeRegisters = false;
  /// Whether vector and word accesses are faster if the compiler knows that
  /// they are aligned.
  bool alignedAccess = false;
  /// Whether scaling integers by the upper half of a 32-bit product is cheaper
  /// than converting to float, multiplying, rounding and converting back.
  bool scalesIntegers = false;
  /// Whether a multiply-add is one instruction, for f32 and f64.
  bool fma = false;
  /// Whether a multiply-add can take one lane of a vector register as its
  /// factor.
  bool multiplyByLane = false;
  InstructionCosts costs;
  IssueRates rates;
  /// Whether memory is scarcer than time: code is kept small if that costs
  /// little time.
  bool smallCode = false;
  /// Whether only memory counts: code is kept small at any cost.
  bool smallestCode = false;
  /// The scalar registers that a multi-register load of consecutive f32 fills
  /// (kernel.load_next in the table), as a name prefix ("s": s0, s1, ...) and
  /// their number; none if there is no such load.
  llvm::StringRef loadRegisters;
  unsigned loadRegisterCount = 0;
  /// Whether there is no operating system: programs include their own start-up
  /// code.
  bool freestanding = false;
  /// Required alignment in bytes of the arena and of constants; and of the
  /// tensors that the caller passes, if more than that of their elements.
  unsigned bufferAlign = 64, tensorAlign = 1;
  /// The name of the memory, other than caches and DRAM, that vectors read
  /// fastest and that the caller provides for each run (such as "vtcm"): in the
  /// option for its size and in the io struct. Empty if there is none.
  llvm::StringRef tcmName;
  int64_t l1Bytes = 0, l2Bytes = 0;
  /// The bytes of one way of the L1 cache: addresses that differ by a multiple
  /// of this number map to the same L1 set, which holds l1Bytes / l1WayBytes
  /// lines. 0: unknown.
  int64_t l1WayBytes = 0;
  /// The fraction of the L2 cache in which weights stay resident while a
  /// layer's input and result stream through it.
  double residentShare = 0.5;
  /// Cycles for starting and ending work on another core: 0.25 us with
  /// runtime_support/ingot_thread_pool.h while both threads spin, and as long
  /// again because workers do not finish together (Zen 5 at 4.5 GHz, November
  /// 2026).
  int64_t forkCycles = 3000;
  /// The clock rate by which generated programs convert predicted cycles to
  /// time.
  double gigahertz = 3;
  /// Whether programs may divide their work among threads of the caller.
  bool hasThreads = true;
  unsigned pointerBytes = 8;
  Device device;
  TileRegisters tiles;

  std::vector<Intrinsic> intrinsics;
  /// Dot product instructions; without an entry, narrow elements are widened
  /// and multiplied.
  std::vector<Product> products;

  /// A statement that prefetches bytes into the caches: {0} is a pointer, {1}
  /// their number. Empty: hardware prefetching of streams suffices.
  llvm::StringRef prefetchText;
  /// Bytes that `prefetchText` prefetches if it prefetches a single cache line;
  /// 0 if it prefetches a whole range.
  int64_t prefetchLine = 0;

  /// Headers to include, and the text before and after functions that enables
  /// the instruction set, so that no compiler flag is needed.
  llvm::SmallVector<llvm::StringRef, 2> includes;
  llvm::StringRef openText, closeText;

  /// Targets of one family can be combined in one output, which selects the
  /// most capable one that the machine supports, by `selectCondition`, a C++
  /// expression that may use the functions of `selectText` (one text for the
  /// whole family). A target without a family runs anywhere and can be combined
  /// with all families.
  llvm::StringRef family, selectText, selectCondition;
  /// C++ functions, in addition to `selectText`, that `selectCondition` of this
  /// target uses to request permission from the operating system for registers
  /// that processes may not use otherwise. An output for this target alone uses
  /// them as well. Empty if none are needed.
  llvm::StringRef permissionText;

  /// Commands of compilers that accept the generated source, in order of
  /// preference, and the flags that each needs.
  llvm::SmallVector<llvm::StringRef, 2> compilers;
  llvm::SmallVector<llvm::StringRef, 4> compilerFlags;
  /// The linker for programs that the emulator runs, if not the compiler, and
  /// its flags.
  llvm::StringRef linker;
  llvm::SmallVector<llvm::StringRef, 4> linkFlags;
  /// C++ text (start-up code) that a program for the emulator needs in addition
  /// to the generated source, or empty.
  llvm::StringRef programText;
  /// C++ text that replaces the headers of the C library in a program for the
  /// emulator if there is no C library: the used parts of <stdio.h> and
  /// <string.h>.
  llvm::StringRef libraryText;
  /// The command that runs the target's programs on another host, or empty.
  llvm::StringRef emulator;
  Emulation emulation;
  /// The file extension of the generated source.
  llvm::StringRef sourceExtension = ".cpp";
  /// Whether the source can also be C: the texts of this description then need
  /// no C++ beyond what codegen/kernel/Language.h converts.
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
  /// Returns the number of lanes of `elementType` in a register of each width,
  /// widest first, down to two lanes; scalars are always possible and not
  /// listed. Empty for types that the vectors of the target do not hold.
  llvm::SmallVector<int64_t> lanes(mlir::Type elementType) const;
  /// Whether int8 dot products pay off against float products: the target has
  /// instructions for them, or its memory is scarce.
  bool multipliesInt8() const {
    return coreRegisters || !products.empty() || isDevice();
  }
  /// Whether matrix units multiply 8-bit floats, directly or as f16.
  bool multipliesFloat8() const { return isDevice() && multiplies("f16"); }
  /// Whether vectors multiply four times as many 8-bit integers as floats, so
  /// that two int8 products pay off against one of floats.
  bool splitsWords() const;
  /// Whether int8 depthwise convolutions with this many channels pay off
  /// against float ones: vectors multiply unsigned by signed 8-bit integers,
  /// and sums are narrowed several at a time.
  bool filtersInt8(mlir::Type x, mlir::Type w, int64_t channels) const;
  /// Whether blocks of a GPU compute one group of a grouped convolution each:
  /// its inputs are whole 16-byte vector accesses, and its outputs fill the
  /// columns of an MMA tile.
  bool multipliesGroups(int64_t inputBytes, int64_t outputs) const {
    constexpr int64_t accessBytes = 16, columns = 8;
    return isDevice() && inputBytes % accessBytes == 0 && outputs >= columns;
  }
  /// Whether there is a dot product of 8-bit integers of these types, in either
  /// order.
  bool hasInt8Dot(mlir::Type a, mlir::Type b) const;
  /// Whether there are instructions for products of these floats: "bf16",
  /// "tf32" or "f16".
  bool multiplies(llvm::StringRef floats) const;
  /// Returns the largest number of lanes of `elementType` in a vector; 1 if
  /// vectors do not hold the type.
  int64_t maxLanes(mlir::Type elementType) const;
  /// Returns the entry of the intrinsics table for the operation `op`, or null.
  /// Both types are scalars or vectors; `operand` is null if there is none.
  const Intrinsic *intrinsic(llvm::StringRef op, mlir::Type operand,
                             mlir::Type result) const;
  /// Returns the entry for a dot product of these element types in this order,
  /// or null.
  const Product *product(llvm::StringRef a, llvm::StringRef b, unsigned group,
                         unsigned lanes) const;
  /// Returns the entry of the intrinsics table that loads `count` elements, or
  /// vectors of them, into several registers at once, or null.
  const Intrinsic *loadOfSeveral(mlir::Type element, unsigned count) const;
};

/// Returns the name of a type in tables of intrinsics: "f32", "i16x8"; empty if
/// it has none.
std::string intrinsicTypeName(mlir::Type type);

/// Returns all targets, those of a family from the least to the most capable.
llvm::ArrayRef<TargetDescription> allTargets();

/// Whether one output can contain the code of both targets and select one of
/// them at run time.
bool canShareOutput(const TargetDescription &a, const TargetDescription &b);

/// Suffixes of the names of targets: code of small size, and programs that
/// ignore the threads of the caller.
inline constexpr llvm::StringLiteral smallSuffix = "size",
                                     oneThreadSuffix = "one-thread";

/// Returns `target` with the suffix, which `lookupTarget` finds as
/// TARGET:SUFFIX: one of the above, or a core of the target's family, whose
/// costs replace those of the target. Null if there is no such suffix.
const TargetDescription *withSuffix(const TargetDescription &target,
                                    llvm::StringRef suffix);

/// Returns `target` for a program that runs on this machine: with the compilers
/// and flags of the emulation, unless this machine has the GPU. Unchanged if
/// there is no emulation.
TargetDescription asEmulated(const TargetDescription &target);

/// Returns the target of this name, which may have suffixes, each after a colon;
/// "native" is the most capable target that this machine runs. Null if unknown.
const TargetDescription *lookupTarget(llvm::StringRef name);

} // namespace ingot

#endif // INGOT_TARGETS_TARGETDESCRIPTION_H
