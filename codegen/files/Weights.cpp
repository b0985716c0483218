// Collects the constants of a model, and writes them as a weights file or
// object.

#include "codegen/files/Weights.h"

#include "codegen/objects/ElfObject.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/KernelModule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <array>

using namespace mlir;

namespace ingot {

static constexpr int64_t kLargestSourceBytes = 1 << 20;

/// Returns all bytes of a weight; copies them to `storage` if they are not
/// contiguous.
static StringRef contentsOf(memref::GlobalOp global, std::string &storage) {
  if (isa_and_nonnull<DenseResourceElementsAttr>(
          global.getConstantInitValue())) {
    StringRef contents;
    kernel::forEachChunk(global, [&](ArrayRef<char> chunk) {
      contents = StringRef(chunk.data(), chunk.size());
    });
    return contents;
  }
  kernel::forEachChunk(global, [&](ArrayRef<char> chunk) {
    storage.append(chunk.begin(), chunk.end());
  });
  return storage;
}

/// Whether two weights of different modules can share one array.
static bool isSame(const Weight &a, const Weight &b) {
  memref::GlobalOp first = a.global, second = b.global;
  if (a.bytes != b.bytes || (a.offset < 0) != (b.offset < 0) ||
      first.getType().getElementType() != second.getType().getElementType() ||
      first.getAlignment() != second.getAlignment())
    return false;
  std::string storage[2];
  return contentsOf(first, storage[0]) == contentsOf(second, storage[1]);
}

Weights::Weights(ModuleOp module) {
  for (const Weight &weight : read(module))
    add(weight);
}

Weights::Weights(ArrayRef<Variant> variants) {
  // Finds the weights of the previous modules by a hash of their bytes. Equal
  // weights of the same module are not merged.
  llvm::DenseMap<uint64_t, SmallVector<size_t>> known;
  for (const Variant &variant : variants) {
    SmallVector<std::pair<uint64_t, size_t>> added;
    for (const Weight &weight : read(variant.module)) {
      std::string storage;
      uint64_t hash =
          variants.size() > 1
              ? llvm::xxh3_64bits(contentsOf(weight.global, storage))
              : 0;
      const size_t *same = llvm::find_if(known[hash], [&](size_t other) {
        return isSame(weights[other], weight);
      });
      if (same != known[hash].end()) {
        weights[*same].shared = true;
        indices[weight.global] = *same;
        continue;
      }
      added.push_back({hash, weights.size()});
      add(weight);
    }
    for (auto [hash, index] : added)
      known[hash].push_back(index);
  }
}

std::vector<Weight> Weights::read(ModuleOp module) {
  llvm::StringSet<> tables;
  for (auto function : module.getOps<FunctionOpInterface>())
    if (!isa<kernel::ProgramOp>(function))
      function.walk(
          [&](memref::GetGlobalOp use) { tables.insert(use.getName()); });
  // The names of the weights that kernels read as unsigned integers, and of
  // those that they read as signed integers or floats.
  llvm::StringSet<> readUnsigned, readOtherwise;
  SymbolTable symbols(module);
  module.walk([&](kernel::LaunchOp launch) {
    auto callee = symbols.lookup<kernel::FuncOp>(launch.getCallee());
    for (auto [i, operand] : llvm::enumerate(launch.getOperands()))
      if (auto use =
              kernel::bufferRoot(operand).getDefiningOp<memref::GetGlobalOp>())
        (signOfArgument(callee, i) == Sign::Unsigned ? readUnsigned
                                                     : readOtherwise)
            .insert(use.getName());
  });
  std::vector<Weight> found;
  for (auto global : module.getOps<memref::GlobalOp>()) {
    Weight weight;
    weight.global = global;
    weight.offset = tables.contains(global.getSymName()) ? -1 : 0;
    weight.bytes = kernel::spanBytes(global.getType());
    if (readUnsigned.contains(global.getSymName()) &&
        !readOtherwise.contains(global.getSymName()))
      weight.sign = Sign::Unsigned;
    found.push_back(weight);
  }
  return found;
}

void Weights::add(Weight weight) {
  if (weight.offset == 0) {
    weight.offset = total;
    total += llvm::alignTo(weight.bytes, kWeightAlign);
  }
  indices[weight.global] = weights.size();
  weights.push_back(weight);
}

WeightsMode Weights::resolve(WeightsMode mode) const {
  if (total == 0)
    return WeightsMode::Source;
  if (mode != WeightsMode::Auto)
    return mode;
  return total < kLargestSourceBytes ? WeightsMode::Source
                                     : WeightsMode::Object;
}

void Weights::shareAll() {
  for (Weight &weight : weights)
    weight.shared |= weight.offset >= 0;
}

void Weights::writePayload(llvm::raw_ostream &os) const {
  for (const Weight &weight : weights) {
    if (weight.offset < 0)
      continue;
    kernel::forEachChunk(weight.global, [&](ArrayRef<char> chunk) {
      os.write(chunk.data(), chunk.size());
    });
    os.write_zeros(
        llvm::offsetToAlignment(weight.bytes, llvm::Align(kWeightAlign)));
  }
}

namespace {
/// An output stream that computes the checksum of the payload (the bytes of all
/// weights, except tables) that is written to it, by the same algorithm as the
/// check in generated code. The payload is a multiple of kChains 64-bit words.
class ChecksumStream : public llvm::raw_ostream {
public:
  ~ChecksumStream() override { flush(); }

  uint64_t checksum() {
    flush();
    uint64_t hash = kBasis;
    for (uint64_t chain : chains)
      hash = add(hash, chain);
    return hash;
  }

private:
  static constexpr unsigned kChains = 4;
  static constexpr uint64_t kBasis = 0xcbf29ce484222325u;
  using Block = std::array<char, kChains * sizeof(uint64_t)>;

  static uint64_t add(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x100000001b3u;
    return hash ^ hash >> 32;
  }

  void add(const char *block) {
    for (unsigned i = 0; i < kChains; ++i)
      chains[i] =
          add(chains[i],
              llvm::support::endian::read64le(block + i * sizeof(uint64_t)));
  }

  void write_impl(const char *data, size_t size) override {
    offset += size;
    if (filled > 0) {
      size_t missing = std::min(block.size() - filled, size);
      std::copy_n(data, missing, block.begin() + filled);
      filled += missing, data += missing, size -= missing;
      if (filled < block.size())
        return;
      add(block.data());
    }
    for (; size >= block.size(); data += block.size(), size -= block.size())
      add(data);
    std::copy_n(data, size, block.begin());
    filled = size;
  }
  uint64_t current_pos() const override { return offset; }

  std::array<uint64_t, kChains> chains{kBasis, kBasis, kBasis, kBasis};
  Block block;
  size_t filled = 0;
  uint64_t offset = 0;
};
} // namespace

uint64_t Weights::checksum() const {
  if (!knownChecksum) {
    ChecksumStream stream;
    writePayload(stream);
    knownChecksum = stream.checksum();
  }
  return *knownChecksum;
}

void Weights::writeHeader(llvm::raw_ostream &os) const {
  using llvm::support::endian::write;
  constexpr auto little = llvm::endianness::little;
  os << "INGOTWTS";
  write<uint32_t>(os, kWeightsVersion, little);
  write<uint32_t>(os, kWeightsHeaderBytes, little);
  write<uint64_t>(os, total, little);
  write<uint64_t>(os, checksum(), little);
}

void Weights::writeFile(llvm::raw_ostream &os) const {
  writeHeader(os);
  os.write_zeros(kWeightsHeaderBytes - 32);
  writePayload(os);
}

void Weights::writeObject(llvm::StringRef symbol, const ElfIdentity &elf,
                          llvm::raw_ostream &os) const {
  writeDataObject(symbol, total, elf, os,
                  [&](llvm::raw_ostream &os) { writePayload(os); });
}

} // namespace ingot
