// The storage of a model's constants.
//
// Constants are module globals (memref.global). They are stored in one of three
// ways:
//   source: as arrays in the .cpp or, if they are large, in a file that the
//           .cpp includes;
//   object: in one ELF object beside the source, with a symbol <name>_weights
//           in .rodata; no compiler has to parse it (100 MB of source take a
//           minute to compile);
//   file:   in one file, described below, which the program maps and passes to
//           the generated code.
// In an object or a file, each weight is aligned to 128 bytes.
//
// A weights file is a header of one page and the payload, the bytes of the
// weights. The header contains, at these byte offsets and in little endian:
//   0 "INGOTWTS"   8 u32 version (2)   12 u32 header bytes (4096)
//   16 u64 payload bytes   24 u64 checksum of the payload
// The generated code also contains the checksum, and rejects a file with
// another checksum. The checksum is made of four chains of hashes, so that a
// processor computes four hashes at a time: the first chain hashes the 64-bit
// words 0, 4, 8, ..., the second the words 1, 5, 9, ..., and so on. The
// checksum is the hash of the results of the four chains.
//
// Several modules (variants of one model for several targets) share their
// weights: weights with equal bytes are stored once.

#ifndef INGOT_CODEGEN_FILES_WEIGHTS_H
#define INGOT_CODEGEN_FILES_WEIGHTS_H

#include "codegen/kernel/CTypes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <vector>

namespace ingot {

struct ElfIdentity;
struct TargetDescription;

enum class WeightsMode { Auto, Source, Object, File };

/// The alignment of weights in bytes: the size of the longest vectors of all
/// targets.
inline constexpr int64_t kWeightAlign = 128;
inline constexpr int64_t kWeightsHeaderBytes = 4096;
inline constexpr uint32_t kWeightsVersion = 2;

/// One variant of a model: its module for `target`, in the form that the
/// `legalize` stage guarantees.
struct Variant {
  mlir::ModuleOp module;
  const TargetDescription *target = nullptr;
};

struct Weight {
  /// The global in the first module that contains the weight.
  mlir::memref::GlobalOp global;
  /// Whether the weight is in several modules.
  bool shared = false;
  /// The offset in the payload, the bytes of all weights together; -1 for a
  /// table that kernels read by name, which is always an array in the source.
  int64_t offset = -1;
  int64_t bytes = 0;
  /// The signedness of the weight's elements in C++.
  Sign sign = Sign::Signed;
};

class Weights {
public:
  explicit Weights(mlir::ModuleOp module);
  explicit Weights(llvm::ArrayRef<Variant> variants);

  const std::vector<Weight> &all() const { return weights; }
  /// Returns the index in all() of a global of any of the modules.
  size_t indexOf(mlir::memref::GlobalOp global) const {
    return indices.lookup(global);
  }
  int64_t payloadBytes() const { return total; }
  /// Returns the mode to use if `mode` was requested: `mode` itself, or for
  /// Auto, source below a megabyte and object above. Always source if the
  /// payload (the bytes of all weights, except tables) is empty.
  WeightsMode resolve(WeightsMode mode) const;
  /// Marks all weights of the payload as shared, so that they are printed once,
  /// before the text of the targets.
  void shareAll();

  /// Returns the checksum of the payload (the bytes of all weights, except
  /// tables); the first call reads all of it.
  uint64_t checksum() const;
  void writePayload(llvm::raw_ostream &os) const;
  /// Writes the first 32 bytes of a weights file.
  void writeHeader(llvm::raw_ostream &os) const;
  void writeFile(llvm::raw_ostream &os) const;
  void writeObject(llvm::StringRef symbol, const ElfIdentity &elf,
                   llvm::raw_ostream &os) const;

private:
  /// Returns the weights of one module. Their `offset` is -1 for tables that
  /// kernels read by name, and 0 for others until add() assigns it.
  static std::vector<Weight> read(mlir::ModuleOp module);
  void add(Weight weight);

  std::vector<Weight> weights;
  llvm::DenseMap<mlir::Operation *, size_t> indices;
  int64_t total = 0;
  mutable std::optional<uint64_t> knownChecksum;
};

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_WEIGHTS_H
