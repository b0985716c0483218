// A compiled model whose scales and weights can be changed between runs.
//
// To choose ranges and precisions, the model is run hundreds of times with
// different scales and weights. Each activation passes through
//
//     y = clip(round(x / scale), low, high) * scale
//
// with scale, low and high as inputs of the model; constants become inputs,
// too. Therefore, the model need not be compiled again for other scales and
// weights. To leave an activation in float, the scale is set so small that y
// equals x.

#ifndef INGOT_COMPILER_QUANTIZE_PROBE_H
#define INGOT_COMPILER_QUANTIZE_PROBE_H

#include "compiler/quantize/HostRun.h"
#include "compiler/quantize/Sites.h"
#include "runtime_support/ingot_thread_pool.h"

namespace ingot::quantize {

/// A tensor for which a run returns the mean of each channel.
struct Averaged {
  std::string tensor;
  int64_t channels;
  /// Whether the channels are the second axis of the tensor; otherwise they are
  /// the last axis.
  bool isSecond;
};

class Probe {
public:
  /// Besides the outputs, each run returns the tensors `observed` and the means
  /// of `averaged`. If `openWeights`, all constants that are multiplied with
  /// floats or added to them are inputs of the compiled model. Otherwise only
  /// vectors are, such as biases; changing another constant recompiles the
  /// model.
  Probe(Graph &graph, const Sites &sites, llvm::ArrayRef<std::string> observed,
        std::vector<Averaged> averaged, bool openWeights, const Host &host);

  /// Sets the precision of an activation; 0 bits mean float, the default.
  void set(int activation, int bits, float scale, int zeroPoint);
  void set(int activation, const Activation &like) {
    set(activation, like.bits, like.scale, like.zeroPoint);
  }
  void setFloat(int activation) { set(activation, 0, 1, 0); }
  /// Recompiles the model before the next run, since the quantized weights have
  /// changed.
  void rebuild() { model.reset(); }
  /// Stops returning observed tensors, which saves memory, from the next
  /// compilation on.
  void hideObserved() { observedNames.clear(); }
  /// Replaces the values of a constant.
  void setConstant(llvm::StringRef name, llvm::ArrayRef<float> values);

  /// Runs a sample; false with diagnostics if the model cannot be compiled or
  /// run.
  bool run(const Sample &sample);

  /// Returns the float outputs of the last run.
  llvm::ArrayRef<llvm::ArrayRef<float>> outputs() const { return results; }
  llvm::ArrayRef<mlir::RankedTensorType> outputTypes() const {
    return resultTypes;
  }
  /// Returns an observed tensor of the last run.
  llvm::ArrayRef<float> observed(size_t index) const { return seen[index]; }
  mlir::RankedTensorType observedType(size_t index) const {
    return seenTypes[index];
  }

  /// Returns the channel means of an averaged tensor in the last run.
  std::vector<float> means(size_t index) const;
  /// Returns the number of elements of an averaged tensor.
  double averagedElements(size_t index) const { return sizes[index][0]; }

private:
  bool build(const Sample &sample);
  onnx::ModelProto instrumented();

  Graph &graph;
  const Sites &sites;
  std::vector<std::string> observedNames;
  std::vector<Averaged> averaged;
  bool openWeights;
  const Host &host;
  /// The thread pool, created when runs are long enough to benefit from
  /// threads. The results of runs do not depend on it.
  std::unique_ptr<ThreadPool> pool;

  struct Step {
    float scale, low, high;
  };
  std::vector<Step> steps;
  /// The current values of constants that are inputs.
  llvm::StringMap<std::vector<float>> constants;
  /// The current values of the weights that are compiled into the model.
  llvm::StringMap<onnx::TensorProto> rounded;
  std::unique_ptr<HostModel> model;
  /// The addresses of the inputs and outputs of the compiled model.
  std::vector<void *> io;
  std::vector<Tensor> buffers;
  std::vector<int> sampleOf;
  llvm::SmallVector<llvm::ArrayRef<float>> results, seen, sums, sizes;
  llvm::SmallVector<mlir::RankedTensorType> resultTypes, seenTypes;
  /// For each observed tensor: its index among the inputs of the model; -1 if
  /// it is not an input.
  std::vector<int> seenInputs;
  size_t fedCount = 0;
};

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_PROBE_H
