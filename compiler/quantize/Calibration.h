// Calibration samples: representative inputs of a model.

#ifndef INGOT_COMPILER_QUANTIZE_CALIBRATION_H
#define INGOT_COMPILER_QUANTIZE_CALIBRATION_H

#include "compiler/quantize/Graph.h"
#include "compiler/quantize/HostRun.h"

namespace ingot::quantize {

class Calibration {
public:
  /// Reads a folder with test_data_set_*/input_*.pb or with NAME.npy files, an
  /// .npz with an array for each input, or a single .npy if the model has one
  /// input. Arrays hold all samples along their first axis; an array with one
  /// sample serves for all samples of the other inputs. False with diagnostics
  /// if the data is invalid.
  bool read(llvm::StringRef path, const Graph &graph, Diagnostics &diagnostics);
  /// Moves the samples from memory to a file if they have at least 16 MB in
  /// total.
  void park(std::shared_ptr<Scratch> scratch);
  /// Reads an .npy file with the class of each sample; to be called after
  /// read().
  bool readLabels(llvm::StringRef path, mlir::MLIRContext &context,
                  Diagnostics &diagnostics);

  size_t size() const { return samples.size(); }
  /// Returns a sample; the reference is valid until another sample is
  /// requested.
  const Sample &operator[](size_t index) const;
  llvm::ArrayRef<int64_t> labels() const { return classes; }

private:
  struct Input {
    std::string name;
    mlir::Type elementType;
    /// The shape of the input in the model; dynamic sizes are negative.
    Shape shape;
    bool hasRank = false;
  };
  struct Reading;
  bool readSets(llvm::ArrayRef<std::string> folders, Reading &reading);
  bool cut(std::vector<std::optional<Tensor>> &arrays, Reading &reading);
  bool check(Reading &reading);

  std::vector<Input> inputs;
  std::vector<Sample> samples;
  /// Once the samples are in a file: the file, the offset of each sample, and
  /// the sample that was requested last.
  std::shared_ptr<Scratch> scratch;
  std::vector<uint64_t> offsets;
  mutable Sample current;
  std::vector<int64_t> classes;
};

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_CALIBRATION_H
