// Samples of what a model is fed with.

#ifndef INGOT_COMPILER_QUANTIZE_CALIBRATION_H
#define INGOT_COMPILER_QUANTIZE_CALIBRATION_H

#include "compiler/quantize/Graph.h"
#include "compiler/quantize/HostRun.h"

namespace ingot::quantize {

class Calibration {
public:
  /// Reads a folder with test_data_set_*/input_*.pb or with NAME.npy files, an
  /// .npz with an array for each input, or the .npy of an only input. Arrays
  /// have all samples along their first axis. False with diagnostics if
  /// something is wrong with them.
  bool read(llvm::StringRef path, const Graph &graph, Diagnostics &diagnostics);
  /// Puts many or large samples out of memory.
  void park(std::shared_ptr<Scratch> scratch);
  /// Reads an .npy with the class of each sample; after read().
  bool readLabels(llvm::StringRef path, mlir::MLIRContext &context,
                  Diagnostics &diagnostics);

  size_t size() const { return samples.size(); }
  /// Holds until another sample is asked for.
  const Sample &operator[](size_t index) const;
  llvm::ArrayRef<int64_t> labels() const { return classes; }

private:
  struct Input {
    std::string name;
    mlir::Type elementType;
    /// Negative where the model leaves a size open.
    Shape shape;
    bool hasRank = false;
  };
  struct Reading;
  bool readSets(llvm::ArrayRef<std::string> folders, Reading &reading);
  bool cut(std::vector<std::optional<Tensor>> &arrays, Reading &reading);
  bool check(Reading &reading);

  std::vector<Input> inputs;
  std::vector<Sample> samples;
  /// Where the bytes of each sample are once they are out of memory, and the one
  /// that was asked for last.
  std::shared_ptr<Scratch> scratch;
  std::vector<uint64_t> offsets;
  mutable Sample current;
  std::vector<int64_t> classes;
};

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_CALIBRATION_H
