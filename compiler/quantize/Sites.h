// Finds the weights and activations of a model that can be quantized.
//
//     x -> Conv(w, b) -> Relu -> y -> MaxPool -> z -> Gemm(v, c) -> logits
//
// has the weights w and v and the activations x, y and z; z must have the scale
// of y. The logits are an output of the model and stay float.

#ifndef INGOT_COMPILER_QUANTIZE_SITES_H
#define INGOT_COMPILER_QUANTIZE_SITES_H

#include "compiler/quantize/Graph.h"

namespace ingot::quantize {

/// An activation: a tensor that integer kernels read.
struct Activation {
  std::string tensor;
  /// If this activation's elements are only moved from another activation, so
  /// that both share a range: the index of the other one; -1 if it has a range
  /// of its own.
  int follows = -1;
  /// The chosen bits: 8, 16, or 0 for float.
  int bits = 8;
  float scale = 1;
  int zeroPoint = 0;

  int highest() const { return (1 << bits) - 1; }
};

enum class WeightKind { Conv, ConvTranspose, Gemm, MatMul, Recurrent, Table };

/// A constant that an operator multiplies with its operand, seen as a matrix:
/// each of `rows` rows gives one element of the result from `depth` elements of
/// the operand.
struct Weight {
  std::string tensor;
  WeightKind kind;
  /// The nodes that read the weight, and the index of the weight among their
  /// operands.
  llvm::SmallVector<int, 1> nodes;
  int operand = 1;
  /// The tensors that are multiplied with the weight, one per node.
  llvm::SmallVector<std::string, 1> data;
  /// The float constant, with one element per row, that is added to the
  /// product; empty if there is none, or if it has other readers.
  std::string bias;
  /// The shape of the constant, perhaps with merged axes.
  Shape shape;
  int64_t rows = 0, depth = 0, groups = 1;
  /// The axis of the constant along which the rows follow each other.
  int axis = 0;

  /// The chosen bits: 8, 7, 6, 4, or 0 for float.
  int bits = 8;
  /// The number of elements of a row that share a scale; 0: the whole row.
  int64_t block = 0;
  std::vector<float> scales;
  /// The zero points, one per scale; empty if the weight is an int8.
  std::vector<uint8_t> zeroPoints;
  /// The quantized elements by rows, whatever the layout of the constant.
  std::vector<int8_t> values;
  /// The error of the weight's product that is due to rounding: its power
  /// relative to the power of the product, estimated from the means and
  /// covariances of the operand.
  double noise = 0;

  int64_t elements() const { return rows * depth; }
  /// Whether the quantized elements are int8 without zero points, of which 6 or
  /// 7 bits may be used.
  bool isInt8() const { return bits > 4; }
  int64_t blocks() const { return block ? (depth + block - 1) / block : 1; }
  /// Returns the position of an element (row, column) in the constant.
  int64_t place(int64_t row, int64_t column) const;
  /// Convert the elements from the layout of the constant to rows, and from
  /// rows to the layout of the constant.
  std::vector<float> byRows(llvm::ArrayRef<float> constant) const;
  std::vector<float> asConstant(llvm::ArrayRef<float> byRows) const;
  /// Returns the dequantized elements, by rows.
  std::vector<float> dequantized() const;
};

struct Sites {
  std::vector<Activation> activations;
  std::vector<Weight> weights;

  /// Returns the index of an activation; -1 if the tensor is not an activation.
  int activation(llvm::StringRef tensor) const;
};

/// Finds weights, and activations unless `weightsOnly`.
Sites findSites(const Graph &graph, bool weightsOnly);

/// Whether an integer kernel of the node reads this operand, which then is an
/// activation to quantize: an operand of Conv, ConvTranspose, Gemm or MatMul,
/// or a feature map that an operator such as AveragePool or Add reads. False
/// for constants and for tensors that are not float32.
bool takesIntegers(const Graph &graph, int node, int operand);

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_SITES_H
