// Mean and covariance of the vectors that a weight is multiplied with.
//
// A row of a weight is multiplied with a vector of `depth` elements: a row of a
// matrix, or the patch under a filter. The effect of a weight error on the
// result depends on the mean and covariance of these vectors.

#ifndef INGOT_COMPILER_QUANTIZE_MOMENTS_H
#define INGOT_COMPILER_QUANTIZE_MOMENTS_H

#include "compiler/quantize/Sites.h"

namespace ingot::quantize {

class Moments {
public:
  /// `samples` is the number of tensors that will be added. The more columns a
  /// part of the weight has, the more vectors are taken from each tensor.
  Moments(const Weight &weight, size_t samples);

  /// Adds vectors from `data`, the tensor that `node` multiplies with the
  /// weight.
  void add(const onnx::NodeProto &node, llvm::ArrayRef<float> data,
           llvm::ArrayRef<int64_t> shape);
  /// Converts sums to covariances; to be called once, after all vectors were
  /// added.
  void finish();

  /// The number of columns of a part. The columns of a weight are divided into
  /// parts if there are very many; covariances between columns of different
  /// parts are ignored.
  int64_t partDepth() const { return part; }
  int64_t parts() const { return (depth + part - 1) / part; }
  /// Returns the covariance matrix of a part within a group.
  llvm::ArrayRef<float> covariance(int64_t group, int64_t part) const;
  /// Returns the number of columns of a part.
  int64_t columns(int64_t index) const {
    return std::min(part, depth - index * part);
  }
  llvm::ArrayRef<double> mean(int64_t group) const {
    return llvm::ArrayRef(means).slice(group * depth, depth);
  }
  bool empty() const { return count == 0; }
  /// Returns the bytes that the covariances for a weight take.
  static int64_t bytes(const Weight &weight);

private:
  void flush();
  const Weight &weight;
  int64_t depth, part, groups, perSample;
  size_t offset = 0;
  std::vector<float> sums, panel;
  /// A vector near the mean, which is subtracted from all vectors: otherwise
  /// the squares of a large mean would hide the variance.
  std::vector<float> origin;
  std::vector<double> means;
  uint64_t count = 0;
  int64_t filled = 0;
};

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_MOMENTS_H
