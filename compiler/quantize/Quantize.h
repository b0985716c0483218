// Quantizes a float model to 8-, 16- or 4-bit integers.
//
// The result is an ONNX model: constants are integers with DequantizeLinear,
// activations pass through QuantizeLinear and DequantizeLinear. ONNX Runtime
// computes the same results, and Ingot generates integer kernels from it.

#ifndef INGOT_COMPILER_QUANTIZE_QUANTIZE_H
#define INGOT_COMPILER_QUANTIZE_QUANTIZE_H

#include "compiler/Compile.h"

namespace ingot::quantize {

/// What is quantized, and to which type: weights and activations, or only
/// weights.
enum class Kind { Int8, Int8Weights, Int4Weights };

/// The allowed loss: the least signal-to-noise ratio of the outputs in
/// decibels; or, in percent, the largest share of samples whose class changes
/// or, with labels, the largest loss of accuracy.
struct Budget {
  double value = 0;
  bool isPercent = false;
};

struct QuantizeOptions {
  Kind kind = Kind::Int8;
  /// The bits of weights that are multiplied with 8-bit activations: 6 to 8.
  /// Fewer than 8 take as many bytes, but their products can be summed in 16
  /// bits (dialects/graph/ShortSums.h).
  int weightBits = 8;
  /// The calibration samples: a folder, .npz or .npy; empty: the model is
  /// quantized without data.
  std::string calibrate;
  /// An .npy file with the class of each sample; empty: the classes are
  /// unknown.
  std::string labels;
  std::optional<Budget> budget;
};

/// What the report says about one layer of the model.
struct LayerReport {
  std::string node, type, precision, reason;
  int64_t bytesBefore = 0, bytesAfter = 0;
  /// Signal-to-noise ratios of the outputs in decibels. `alone` counts only the
  /// noise that this layer adds when all others are quantized; `accumulated`
  /// counts all noise when only the layers up to this one are quantized.
  /// Infinite if nothing is lost or nothing was measured.
  double alone = 0, accumulated = 0;
};

struct QuantizeReport {
  std::vector<LayerReport> layers;
  int64_t bytesBefore = 0, bytesAfter = 0;
  size_t samples = 0;
  double decibels = 0, changed = 0;
  size_t activations = 0, wideActivations = 0, floatActivations = 0;
  std::optional<double> correctBefore, correctAfter;
  void print(llvm::raw_ostream &os) const;
  void printJson(llvm::raw_ostream &os) const;
};

/// Quantizes the model `compile.model` and fills in `report`; null with
/// diagnostics on failure.
std::unique_ptr<ModelFile> quantizeModel(const CompileOptions &compile,
                                         const QuantizeOptions &options,
                                         mlir::MLIRContext &context,
                                         QuantizeReport &report,
                                         Diagnostics &diagnostics);

/// Returns a function for CompileOptions::makeModel that returns the quantized
/// model; it may be called several times. Null with diagnostics on failure.
std::function<std::unique_ptr<ModelFile>()>
quantizedModel(const CompileOptions &compile, const QuantizeOptions &options,
               mlir::MLIRContext &context, QuantizeReport &report,
               Diagnostics &diagnostics);

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_QUANTIZE_H
