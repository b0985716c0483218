// Numbers that are put out of memory, into a file.
//
// A large model and its samples are needed again and again, but a layer and a
// sample at a time.

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
  /// Null with a diagnostic if there is no place for files.
  static std::unique_ptr<Scratch> create(Diagnostics &diagnostics);
  ~Scratch();

  llvm::StringRef path() const { return filePath; }
  /// Writes bytes; returns where they are.
  uint64_t append(llvm::ArrayRef<char> bytes);
  /// Returns where what is appended after those bytes begins.
  static uint64_t behind(uint64_t offset, uint64_t bytes);
  /// Writes bytes over others.
  void replace(uint64_t offset, llvm::ArrayRef<char> bytes);
  void read(uint64_t offset, llvm::MutableArrayRef<char> bytes) const;
  /// Makes a tensor refer to `bytes` in the file, as to external data; at the
  /// place that it refers to already, if it does.
  void put(onnx::TensorProto &tensor, llvm::ArrayRef<char> bytes);
  bool has(const onnx::TensorProto &tensor) const;
  /// Gives a tensor its bytes back.
  void takeBack(onnx::TensorProto &tensor) const;

  /// False with a diagnostic if writing or reading has failed.
  bool check(Diagnostics &diagnostics) const;

private:
  Scratch(TemporaryFolder &&folder, int file);
  TemporaryFolder folder;
  std::string filePath;
  int file;
  uint64_t end = 0;
  /// The last error of the system; 0 if there was none.
  mutable int fault = 0;
};

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_SCRATCH_H
