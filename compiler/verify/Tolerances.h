// Derives from a model how large rounding errors may be.
//
// The error of a tensor is measured in units of its range. Let u be the unit
// roundoff of float32 (2^-24), and R the largest number of roundings on a path
// to the tensor: a contraction over K products counts K, an operator that sums
// an unknown number of elements counts 64, and any other operator 1. Rounding
// errors are assumed to be independent, so they add up like a random walk:
//
//   16 u sqrt(R)                     float32 and wider
//   + 4 v sqrt(N)                    if tensors are float16 or bfloat16, with
//                                    the roundoff v; N operators on the path
//   + 4 w sqrt(C)                    if --fast rounds the operands of C
//                                    contractions on the path, with roundoff w
//   + 2 sqrt(Q) / 2^b                if Q operators on the path quantize to b
//                                    bits: an error of one step in each of
//                                    them is accepted
//
// A model may be more sensitive than this rule assumes. So twice the change
// that the reference shows for slightly changed inputs is allowed in any case.

#ifndef INGOT_COMPILER_VERIFY_TOLERANCES_H
#define INGOT_COMPILER_VERIFY_TOLERANCES_H

#include "onnx/onnx_pb.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

namespace ingot::verify {

/// For each kind of rounding, the largest number of such roundings on any path
/// through the graph to a tensor.
struct Roundings {
  double sums = 0, operators = 0, contractions = 0;
  /// The largest number of quantizing operators on a path, and the smallest
  /// number of bits to which one of them quantizes.
  double quantizing = 0;
  int bits = 16;

  /// Takes the maximum with the roundings of another path, for each kind
  /// separately.
  void join(const Roundings &other);
};

class Tolerances {
public:
  /// `fast` is the format of --fast; empty: none.
  Tolerances(const onnx::ModelProto &model, llvm::StringRef fast);

  /// Returns the tolerance of a tensor in units of its range.
  double of(llvm::StringRef tensor) const;
  /// Whether the tensor depends on the result of a quantizing operator.
  bool isQuantized(llvm::StringRef tensor) const;

private:
  void read(const onnx::NodeProto &node);
  Roundings at(llvm::StringRef tensor) const { return before.lookup(tensor); }

  llvm::StringMap<Roundings> before;
  /// The shapes of constants, and the ONNX data types of initializers.
  llvm::StringMap<llvm::SmallVector<int64_t>> shapes;
  llvm::StringMap<int32_t> types;
  /// The unit roundoff of the narrowest float type of the model's tensors, and
  /// of --fast; 0: none.
  double narrow = 0, fast = 0;
};

} // namespace ingot::verify

#endif // INGOT_COMPILER_VERIFY_TOLERANCES_H
