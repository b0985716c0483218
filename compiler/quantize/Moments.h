// How the operands of a weight vary together.
//
// A row of a weight is multiplied with a vector of `depth` numbers: a row of a
// matrix, or the patch under a filter. What an error of the weights does to the
// result depends on the mean and the covariance of these vectors.

#ifndef INGOT_COMPILER_QUANTIZE_MOMENTS_H
#define INGOT_COMPILER_QUANTIZE_MOMENTS_H

#include "compiler/quantize/Sites.h"

namespace ingot::quantize {

class Moments {
public:
  /// `samples` is how many tensors will be added; of each, only so many vectors
  /// are taken as `depth` needs.
  Moments(const Weight &weight, size_t samples);

  /// Adds vectors from the tensor that the reader `node` multiplies the weight
  /// with.
  void add(const onnx::NodeProto &node, llvm::ArrayRef<float> data,
           llvm::ArrayRef<int64_t> shape);
  /// Makes covariances of sums: to be called once, after all were added.
  void finish();

  /// Columns of the weight that are looked at together: covariances between
  /// different parts of very deep weights are left out.
  int64_t partDepth() const { return part; }
  int64_t parts() const { return (depth + part - 1) / part; }
  /// Returns the covariance of a part within a group: a square matrix.
  llvm::ArrayRef<float> covariance(int64_t group, int64_t part) const;
  /// Returns how many columns a part has.
  int64_t columns(int64_t index) const {
    return std::min(part, depth - index * part);
  }
  llvm::ArrayRef<double> mean(int64_t group) const {
    return llvm::ArrayRef(means).slice(group * depth, depth);
  }
  bool empty() const { return count == 0; }
  /// Returns the bytes that the moments of a weight take.
  static int64_t bytes(const Weight &weight);

private:
  void flush();
  const Weight &weight;
  int64_t depth, part, groups, perSample;
  size_t offset = 0;
  std::vector<float> sums, panel;
  /// A vector near the mean, from which all are counted: the squares of large
  /// means would leave no digits for what varies about them.
  std::vector<float> origin;
  std::vector<double> means;
  uint64_t count = 0;
  int64_t filled = 0;
};

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_MOMENTS_H
