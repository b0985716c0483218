// Where a model's constants lie.
//
// Constants are module globals (memref.global). They go to one of
//   source: arrays in the .cpp;
//   object: one ELF object beside it, a symbol <name>_weights in .rodata, which
//           no compiler has to read (100 MB of source is a minute of
//           compiling);
//   file:   one file that the program maps and passes in; see below.
// In an object or a file each weight stands at a multiple of 64 bytes.
//
// A weights file is a header of one page and the payload:
//   0 "INGOTWTS"   8 u32 version (2)   12 u32 header bytes (4096)
//   16 u64 payload bytes   24 u64 checksum of the payload
// all little-endian. The checksum is also in the generated code, which refuses
// a file with another one. It hashes each fourth 64-bit word in a chain of its
// own, so that a processor computes four at a time, and then the four results.
//
// Several modules (versions of one model for several targets) have their
// weights together; those that are equal to the byte are there once.

#ifndef INGOT_CODEGEN_FILES_WEIGHTS_H
#define INGOT_CODEGEN_FILES_WEIGHTS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <vector>

namespace ingot {

struct ElfIdentity;
struct TargetDescription;

enum class WeightsMode { Auto, Source, Object, File };

/// Whole vectors of the target with the longest ones.
inline constexpr int64_t kWeightAlign = 128;
inline constexpr int64_t kWeightsHeaderBytes = 4096;
inline constexpr uint32_t kWeightsVersion = 2;

/// One version of a model: its planned module, for `target`.
struct Variant {
  mlir::ModuleOp module;
  const TargetDescription *target = nullptr;
};

struct Weight {
  /// In the first module that has it.
  mlir::memref::GlobalOp global;
  /// Whether several modules have it.
  bool shared = false;
  /// In the payload; -1 for a table that kernels read by name, which is always
  /// an array in the source.
  int64_t offset = -1;
  int64_t bytes = 0;
};

class Weights {
public:
  explicit Weights(mlir::ModuleOp module);
  explicit Weights(llvm::ArrayRef<Variant> variants);

  const std::vector<Weight> &all() const { return weights; }
  /// The position in all() of a global of any of the modules.
  size_t indexOf(mlir::memref::GlobalOp global) const {
    return indices.lookup(global);
  }
  int64_t payloadBytes() const { return total; }
  /// The mode that Auto stands for: source below a megabyte, else object.
  WeightsMode resolve(WeightsMode mode) const;

  /// Of the payload; reads all of it when first asked for.
  uint64_t checksum() const;
  void writePayload(llvm::raw_ostream &os) const;
  /// The first 32 bytes of a weights file.
  void writeHeader(llvm::raw_ostream &os) const;
  void writeFile(llvm::raw_ostream &os) const;
  void writeObject(llvm::StringRef symbol, const ElfIdentity &elf,
                   llvm::raw_ostream &os) const;

private:
  /// Those of one module, tables with the offset -1, the others with 0.
  static std::vector<Weight> read(mlir::ModuleOp module);
  void add(Weight weight);

  std::vector<Weight> weights;
  llvm::DenseMap<mlir::Operation *, size_t> indices;
  int64_t total = 0;
  mutable std::optional<uint64_t> knownChecksum;
};

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_WEIGHTS_H
