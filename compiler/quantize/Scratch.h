// Stores tensors in a file instead of memory.
//
// A large model and its samples are needed repeatedly, but only one layer and
// one sample at a time.

#ifndef INGOT_COMPILER_QUANTIZE_SCRATCH_H
#define INGOT_COMPILER_QUANTIZE_SCRATCH_H

#include "codegen/objects/TemporaryFolder.h"
#include "compiler/report/Diagnostics.h"
#include "llvm/ADT/ArrayRef.h"

namespace onnx {
class TensorProto;
} // namespace onnx

namespace ingot::quantize {

class Scratch {
public:
  /// Creates a file in a temporary folder; null with a diagnostic on failure.
  static std::unique_ptr<Scratch> create(Diagnostics &diagnostics);
  ~Scratch();

  llvm::StringRef path() const { return filePath; }
  /// Appends bytes to the file; returns their offset.
  uint64_t append(llvm::ArrayRef<char> bytes);
  /// Returns the offset that append() gives to the data that follows `bytes`
  /// bytes at `offset`.
  static uint64_t behind(uint64_t offset, uint64_t bytes);
  /// Overwrites bytes of the file at an offset.
  void replace(uint64_t offset, llvm::ArrayRef<char> bytes);
  void read(uint64_t offset, llvm::MutableArrayRef<char> bytes) const;
  /// Writes `bytes` to the file and makes the tensor refer to them as external
  /// data. If the tensor already refers to as many bytes of the file, these are
  /// overwritten.
  void put(onnx::TensorProto &tensor, llvm::ArrayRef<char> bytes);
  bool has(const onnx::TensorProto &tensor) const;
  /// Moves the data of a tensor back into memory.
  void takeBack(onnx::TensorProto &tensor) const;

  /// False with a diagnostic if a read or write has failed.
  bool check(Diagnostics &diagnostics) const;

private:
  Scratch(TemporaryFolder &&folder, int file);
  TemporaryFolder folder;
  std::string filePath;
  int file;
  uint64_t end = 0;
  /// The error code of the last failed system call; 0 if none has failed.
  mutable int fault = 0;
};

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_SCRATCH_H
