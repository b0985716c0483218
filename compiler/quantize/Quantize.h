// A float model becomes one of small integers.
//
// The result is ONNX again: constants as integers with DequantizeLinear, and
// activations through QuantizeLinear and DequantizeLinear, so that ONNX Runtime
// computes the same with it, and Ingot forms integer kernels from it.

#ifndef INGOT_COMPILER_QUANTIZE_QUANTIZE_H
#define INGOT_COMPILER_QUANTIZE_QUANTIZE_H

#include "compiler/Compile.h"

namespace ingot::quantize {

/// What is to be quantized, to which integers.
enum class Kind { Int8, Int8Weights, Int4Weights };

/// What may be lost: decibels of noise, or a share of the samples in percent.
struct Budget {
  double value = 0;
  bool isPercent = false;
};

struct QuantizeOptions {
  Kind kind = Kind::Int8;
  /// A folder, .npz or .npy; empty: without data.
  std::string calibrate;
  /// An .npy with the class of each sample; empty: none.
  std::string labels;
  std::optional<Budget> budget;
};

/// One layer of the report.
struct LayerReport {
  std::string node, type, precision, reason;
  int64_t bytesBefore = 0, bytesAfter = 0;
  /// Decibels of what this layer alone costs, and with all up to this one
  /// quantized; infinite where nothing is lost or nothing was measured.
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

/// Quantizes the model of `options.model`; null with diagnostics if that fails.
std::unique_ptr<ModelFile> quantizeModel(const CompileOptions &compile,
                                         const QuantizeOptions &options,
                                         mlir::MLIRContext &context,
                                         QuantizeReport &report,
                                         Diagnostics &diagnostics);

/// The same for CompileOptions::makeModel, which may be called several times.
std::function<std::unique_ptr<ModelFile>()>
quantizedModel(const CompileOptions &compile, const QuantizeOptions &options,
               mlir::MLIRContext &context, QuantizeReport &report,
               Diagnostics &diagnostics);

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_QUANTIZE_H
