// Where a model can be quantized: its weights, and its tensors of activations.
//
//     x -> Conv(w, b) -> Relu -> y -> MaxPool -> z -> Gemm(v, c) -> logits
//
// has the weights w and v and the activations x, y and z, of which z has to
// have the scale of y. Logits are the caller's and stay float.

#ifndef INGOT_COMPILER_QUANTIZE_SITES_H
#define INGOT_COMPILER_QUANTIZE_SITES_H

#include "compiler/quantize/Graph.h"

namespace ingot::quantize {

/// A tensor that integer kernels read.
struct Activation {
  std::string tensor;
  /// The activation whose range it has, since only the places of the elements
  /// differ; -1: a range of its own.
  int follows = -1;
  /// Bits that it gets: 8, 16, or 0 for float.
  int bits = 8;
  float scale = 1;
  int zeroPoint = 0;

  int highest() const { return (1 << bits) - 1; }
};

enum class WeightKind { Conv, ConvTranspose, Gemm, MatMul, Recurrent, Table };

/// A constant that an operator multiplies with, seen as a matrix: each of `rows`
/// gives one element of the result from `depth` elements of its operand.
struct Weight {
  std::string tensor;
  WeightKind kind;
  /// The nodes that read it, and which of their operands it is.
  llvm::SmallVector<int, 1> nodes;
  int operand = 1;
  /// The tensors that it is multiplied with; one for each node.
  llvm::SmallVector<std::string, 1> data;
  /// The float constant with a number for each row that is added to its
  /// product; empty if there is none, or if others use it.
  std::string bias;
  /// That of the constant, or with fewer axes.
  Shape shape;
  int64_t rows = 0, depth = 0, groups = 1;
  /// The axis of the rows.
  int axis = 0;

  /// Bits that it gets: 8, 4, or 0 for float.
  int bits = 8;
  /// Numbers that share a scale within a row; 0: the whole row.
  int64_t block = 0;
  std::vector<float> scales;
  /// For blocks only, and as many.
  std::vector<uint8_t> zeroPoints;
  /// By rows, whatever the layout of the constant.
  std::vector<int8_t> values;
  /// What rounding loses of the product: its power over that of the product, as
  /// far as moments say.
  double noise = 0;

  int64_t elements() const { return rows * depth; }
  int64_t blocks() const { return block ? (depth + block - 1) / block : 1; }
  /// Returns where the element of a row is in the constant.
  int64_t place(int64_t row, int64_t column) const;
  /// Returns the numbers of the constant by rows, and the other way.
  std::vector<float> byRows(llvm::ArrayRef<float> constant) const;
  std::vector<float> asConstant(llvm::ArrayRef<float> byRows) const;
  /// Returns what the chosen numbers are in float, by rows.
  std::vector<float> dequantized() const;
};

struct Sites {
  std::vector<Activation> activations;
  std::vector<Weight> weights;

  /// Returns the index of an activation; -1 if the tensor is none.
  int activation(llvm::StringRef tensor) const;
};

/// Finds the places; only weights where `weightsOnly`.
Sites findSites(const Graph &graph, bool weightsOnly);

/// Whether the node reads its operand in integers where it can.
bool takesIntegers(const Graph &graph, int node, int operand);

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_SITES_H
