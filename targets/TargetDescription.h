// What the compiler knows of a target.
//
// A target is data: the facts that strategies choose by (widths, registers,
// caches), the text that opens and closes its instruction set in a source file,
// and a table from abstract operation to C spelling for what C cannot say.
// Common code asks for these and never for a name.
//
// A new target is a folder with one such description and one line in
// Targets.def.

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

/// One row: `op` (an operation's name, as "math.sqrt") from `operand` to
/// `result` is spelled `spelling`, {0} and {1} being the operands. Types are
/// element types with lanes: f32, f32x8, i16x16; integers are signless, and the
/// spelling casts where the intrinsic wants its own types. Without an operand its
/// type is empty.
struct Intrinsic {
  llvm::StringRef op, operand, result, spelling;
  /// Subnormal numbers count as zeros, which --strict does not allow.
  bool flushes = false;
};

/// One row: how the target computes a `kernel.dot`. `spelling` is a C expression
/// as in intrinsics: {0} and {1} are the vectors of narrow numbers, {2} is the
/// accumulator.
struct Product {
  /// Elements with their sign: "ui8", "si8", "si16"; or "bf16", summed in f32; or "f16",
  /// summed in f16.
  llvm::StringRef a, b;
  /// Neighbouring products that are summed into each lane of the accumulator, and
  /// how many lanes it has, of 32 bits but for f16.
  unsigned group, lanes;
  /// How many such expressions a processor of the level begins per cycle.
  double perCycle;
  llvm::StringRef spelling;
  /// The same where {1} is one group for all lanes, as an integer in a scalar
  /// register; empty where the target has no such form.
  llvm::StringRef wordSpelling = {};
  double wordsPerCycle = 0;
  /// Instructions that prepare an operand, once for all products that it is in.
  unsigned preparation = 0;
};

/// The ELF identity of objects written beside the code (weights).
struct ElfIdentity {
  unsigned machine = 0;
  unsigned flags = 0;
  bool is64Bit = true;
};

/// Issue cycles of an f32 instruction; the whole of what strategies weigh on a
/// core that finishes one after the other. `loadNext` is each further element
/// of a load of several.
struct InstructionCosts {
  unsigned multiplyAdd = 1, multiply = 1, add = 1;
  unsigned load = 1, loadNext = 1, store = 1;
  unsigned takenBranch = 1;
};

/// What a core that begins several instructions in a cycle does of each kind; the
/// whole of what strategies weigh where code need not be small. The defaults are
/// those of x86 cores from Skylake and Zen 2 on (uops.info: vfmadd231ps has a
/// latency of 4 and begins twice a cycle, as do loads; vpdpbusd takes 5 cycles on
/// Intel's cores), which Arm's Cortex-A76 and later come close to.
struct IssueRates {
  /// Cycles from a multiply-add to the next one that takes its sum: of floats, and
  /// of groups of narrow integers.
  double multiplyAddLatency = 4, dotLatency = 5;
  /// Vector multiply-adds, loads, and instructions of any kind per cycle.
  double multiplyAdds = 2, loads = 2, instructions = 4;
  /// Bytes per cycle that one core reads from behind its second cache: from the next
  /// one, and from memory (102 to 126 and 31 to 45 GB/s on Zen 5 at 4 GHz, by
  /// the project's ceilings program, November 2026).
  double cacheBytes = 25, memoryBytes = 8;
  /// Cycles that a load takes beside others in flight where its line has left the first
  /// cache for the second one (14 rows of 4096 bytes on Zen 4: 8.5 cycles for a step).
  double missedLoad = 0.6;
};

/// A device beside the host that runs a kernel as blocks of threads; the whole of what
/// strategies weigh on it. The figures of a second are those of one product of the
/// level, which its description names.
struct Device {
  /// Compute capability as one number, 80 for 8.0; 0: kernels run on the host itself.
  unsigned level = 0;
  /// Threads that run in step and can exchange registers.
  unsigned warp = 32;
  /// Threads of a block where a kernel has no reason for another number.
  unsigned blockThreads = 128;
  /// Bytes that the threads of one block can share, and registers of a processor.
  int64_t sharedBytes = 0, registers = 65536;
  /// The shared memory that a kernel may declare; for more it has to ask the driver.
  int64_t declaredSharedBytes = 48 << 10;
  /// Processors that run blocks, and threads that each of them holds at a time.
  unsigned processors = 0, residentThreads = 0;
  /// Threads that a processor has to hold to begin an instruction in each cycle, though the
  /// next one of a thread waits for it; and those that keep its matrix units busy, where no
  /// product waits for another.
  unsigned busyThreads = 0, busyMatrixThreads = 0;
  /// Of its memory, and of multiply-adds of f32 outside of matrix units, per second.
  double bytesPerSecond = 0, multiplyAddsPerSecond = 0;
  /// Of multiply-adds of f16 that are summed in f32 by matrix units; of bytes twice that.
  double matrixMultiplyAddsPerSecond = 0;
  /// The part of that which products of single warps reach, where there are also products
  /// of warpgroups; and what processors read from the second cache per second, also where
  /// many whole tiles are copied, 0 where nothing was found.
  double ofWarps = 1, cacheBytesPerSecond = 0, tileBytesPerSecond = 0;
  /// What another branch of a graph costs where it begins and ends; 0: launches follow each
  /// other in any case.
  double branchSeconds = 0;
  /// The structures of its driver that streams and graphs are pointers to.
  llvm::StringRef stream, graph;

  /// Whether matrix units multiply bf16 and tf32, and whether there are copies that
  /// arrive while a thread computes.
  bool multipliesBFloats() const { return level >= 80; }
  bool copiesAhead() const { return level >= 80; }
  /// Whether they multiply floats of 8 bits (e4m3 and e5m2).
  bool multipliesBytesOfFloats() const { return level >= 89; }
  /// Whether four warps multiply tiles in shared memory together (Hopper alone), and
  /// whether whole tiles are copied there by maps of tensors.
  bool multipliesByWarpgroups() const { return level == 90; }
};

/// Registers that hold small matrices and multiply them (kernel.multiply_tiles in the
/// table); the whole of what strategies weigh on these.
struct TileRegisters {
  /// How many there are; 0: none. Their rows at most, and bytes of a row.
  unsigned count = 0, rows = 0, bytes = 0;
  /// Cycles between the beginnings of two products, from one to the next that takes its
  /// sums, between loads from the first cache, and between stores.
  double productCycles = 0, productLatency = 0, loadCycles = 0, storeCycles = 0;
  /// Cycles of giving all tiles their shapes.
  double shapeCycles = 0;
};

/// A program that emulates the target's device within itself, as ordinary C++.
struct Emulation {
  /// Compilers of the host, most wanted first, and flags; none: no such emulation.
  llvm::SmallVector<llvm::StringRef, 2> compilers, flags;
  /// The header that takes the place of the one with the device's functions.
  llvm::StringRef headerName, headerText;
};

struct TargetDescription {
  llvm::StringRef name;
  llvm::StringRef summary;

  /// Widths of a vector register, in bytes, widest first; empty: scalar only.
  llvm::SmallVector<unsigned, 4> vectorBytes;
  unsigned vectorRegisters = 0;
  /// Registers for integers and addresses, of cores that multiply bytes in them: alone
  /// or by products of one lane; 0 where others are not worth it.
  unsigned coreRegisters = 0;
  /// Registers for factors of products that take a word, and for their addresses.
  unsigned scalarRegisters = 16;
  /// What vectors hold: floats, and integers of so many bits at most.
  bool vectorFloats = true;
  unsigned vectorIntegerBits = 64;
  /// Parts of a register are slow to load and store: where narrow elements fill
  /// one, wide elements take several.
  bool wholeRegisters = false;
  /// Vectors and words in memory are read faster where the compiler knows them to
  /// be at a multiple of their size.
  bool alignedAccess = false;
  /// Scales between integers are products of 32-bit integers whose upper halves are
  /// taken: cheaper than conversions to floats, a product, a rounding and back.
  bool scalesIntegers = false;
  /// A multiply-add is one instruction, for f32 and f64.
  bool fma = false;
  /// A multiply-add takes one lane of a vector register as its factor.
  bool multiplyByLane = false;
  InstructionCosts costs;
  IssueRates rates;
  /// Memory is scarcer than time: code is kept small where that costs little.
  bool smallCode = false;
  /// Memory is all that counts: code is kept small at any cost.
  bool smallestCode = false;
  /// Scalar registers that a load of several consecutive f32 goes to
  /// (kernel.load_next in the table), the first ones of those named so ("s":
  /// s0, s1, ...); none if there is no such load.
  llvm::StringRef loadRegisters;
  unsigned loadRegisterCount = 0;
  /// No operating system: programs bring their own start-up code.
  bool freestanding = false;
  /// Alignment of the arena and of constants, in bytes; and of the tensors that the
  /// caller passes, where their elements need less.
  unsigned bufferAlign = 64, tensorAlign = 1;
  /// The memory beside caches and DRAM that vectors read fastest, and that the caller
  /// lends to each run: what the option of its size and the field of the io struct are
  /// called. Empty: there is none.
  llvm::StringRef nearMemory;
  int64_t l1Bytes = 0, l2Bytes = 0;
  /// Addresses that are a multiple of this apart are in one set of the first cache,
  /// which keeps l1Bytes / l1WayBytes lines of a set; 0: unknown.
  int64_t l1WayBytes = 0;
  /// The part of the second cache in which weights stay while a layer's input and
  /// result pass through it.
  double residentShare = 0.5;
  /// Cycles that starting and ending parts on another core takes: 0.25 us with
  /// runtime_support/ingot_thread_pool.h where both spin, and as long again because
  /// the parts do not end together (Zen 5 at 4.5 GHz, November 2026).
  int64_t forkCycles = 3000;
  unsigned pointerBytes = 8;
  Device device;
  TileRegisters tiles;

  std::vector<Intrinsic> intrinsics;
  /// Products of narrow numbers; without a row they are widened and multiplied alone.
  std::vector<Product> products;

  /// A statement that has bytes brought to the caches in the background: {0} is a pointer,
  /// {1} their number. Empty: caches see by themselves what is streamed.
  llvm::StringRef prefetchText;
  /// What the statement fetches where that is a line of so many bytes; 0: a whole range.
  int64_t prefetchLine = 0;

  /// Headers to include, and the text that enables the instruction set for the
  /// functions between open and close, so that no compiler flag is needed.
  llvm::SmallVector<llvm::StringRef, 2> includes;
  llvm::StringRef openText, closeText;

  /// Targets of one family can be in one output, which picks the ablest of
  /// them that the machine runs. It decides by `selectCondition`, an expression
  /// of C++ that may use the functions of `selectText` (one text for all of the
  /// family). Without a family: always runs, goes with all families.
  llvm::StringRef family, selectText, selectCondition;
  /// Functions that `selectCondition` of this target uses besides, to ask the operating
  /// system for registers that a process may not use otherwise. An output of this target
  /// alone asks, too. Empty: there are none.
  llvm::StringRef permissionText;

  /// Commands of compilers that take the text, most wanted first, and further
  /// flags.
  llvm::SmallVector<llvm::StringRef, 2> compilers;
  llvm::SmallVector<llvm::StringRef, 4> compilerFlags;
  /// What links a program that the emulator runs, if not the compiler, and its
  /// flags.
  llvm::StringRef linker;
  llvm::SmallVector<llvm::StringRef, 4> linkFlags;
  /// C++ that such a program needs besides (start-up code), or empty.
  llvm::StringRef programText;
  /// C++ that such a program has in place of the C library's headers, where there
  /// is no C library: what it uses of <stdio.h> and <string.h>.
  llvm::StringRef libraryText;
  /// Runs its programs on another host: a command, or empty.
  llvm::StringRef emulator;
  Emulation emulation;
  /// What the name of its source ends in.
  llvm::StringRef sourceExtension = ".cpp";
  ElfIdentity elf;

  /// Whether this very machine can run it.
  bool (*runsOnThisHost)() = nullptr;

  /// Bytes of weights that stay in the second cache beside what passes through it.
  int64_t residentBytes() const {
    return static_cast<int64_t>(static_cast<double>(l2Bytes) * residentShare);
  }
  /// Whether caches are told whole ranges to fetch.
  bool fetchesRanges() const {
    return !prefetchText.empty() && prefetchLine == 0;
  }
  /// Whether kernels run on a device beside the host.
  bool isDevice() const { return device.level != 0; }
  /// Lanes of `elementType` in a register of each width, widest first, down to
  /// two; a scalar is always possible and not listed. None for types that the
  /// target's vectors do not hold.
  llvm::SmallVector<int64_t> lanes(mlir::Type elementType) const;
  /// Whether products of bytes are worth more than products of floats: there are
  /// instructions for them, or memory counts.
  bool multipliesBytes() const {
    return coreRegisters || !products.empty() || isDevice();
  }
  /// Whether matrix units multiply floats of 8 bits, as they are or as f16.
  bool multipliesBytesOfFloats() const {
    return isDevice() && multiplies("f16");
  }
  /// Whether vectors multiply four times as many bytes as floats: two products of bytes are
  /// worth more than one of floats.
  bool splitsWords() const;
  /// Whether filters of bytes, one for each of so many channels, are worth more than
  /// filters of floats: unsigned bytes are multiplied by signed ones in vectors, and
  /// sums are narrowed several at a time.
  bool filtersBytes(mlir::Type x, mlir::Type w, int64_t channels) const;
  /// Whether blocks of a device multiply by the weights of one group of a convolution each:
  /// its inputs are whole pieces of 16 bytes, its outputs fill the columns of a product.
  bool multipliesGroups(int64_t inputBytes, int64_t outputs) const {
    constexpr int64_t piece = 16, columns = 8;
    return isDevice() && inputBytes % piece == 0 && outputs >= columns;
  }
  /// Whether there is a product of bytes of these types, in either order.
  bool multipliesSigns(mlir::Type a, mlir::Type b) const;
  /// Whether there are instructions for products of such floats: "bf16", "tf32" or "f16".
  bool multiplies(llvm::StringRef floats) const;
  /// The widest of these, 1 if there is none.
  int64_t maxLanes(mlir::Type elementType) const;
  /// The row for an operation, or null; types are scalars or vectors, `operand` is
  /// null where there is none.
  const Intrinsic *intrinsic(llvm::StringRef op, mlir::Type operand,
                             mlir::Type result) const;
  /// The row for a product of these elements in this order, or null.
  const Product *product(llvm::StringRef a, llvm::StringRef b, unsigned group,
                         unsigned lanes) const;
  /// The row that loads `count` elements, or vectors of them, into registers at once, or
  /// null.
  const Intrinsic *loadOfSeveral(mlir::Type element, unsigned count) const;
};

/// The name of a type in intrinsics tables: "f32", "i16x8"; empty if it has
/// none there.
std::string intrinsicTypeName(mlir::Type type);

/// All targets, each kind from least to most able.
llvm::ArrayRef<TargetDescription> allTargets();

/// Whether the code of both may be in one output, which picks one when it runs.
bool canShareOutput(const TargetDescription &a, const TargetDescription &b);

/// Behind a target's name: the same machine, code as small as it can be.
inline constexpr llvm::StringLiteral littleCodeSuffix = ":size";

/// The target as a program sees it that emulates its device: the same, with the
/// emulation's compilers and flags. As it is without an emulation.
TargetDescription asEmulated(const TargetDescription &target);

/// By name; "native" is the ablest that this machine runs. Null if unknown.
const TargetDescription *lookupTarget(llvm::StringRef name);

} // namespace ingot

#endif // INGOT_TARGETS_TARGETDESCRIPTION_H
