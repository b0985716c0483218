// A model whose numbers can be changed between runs.
//
// To choose ranges and precisions, the same model is run hundreds of times with
// other scales and other weights. Each activation passes through
//
//     y = clip(round(x / scale), low, high) * scale
//
// with scale, low and high as inputs, and constants become inputs too; so the
// model is compiled once. In float, the scale is so small that y is x.

#ifndef INGOT_COMPILER_QUANTIZE_PROBE_H
#define INGOT_COMPILER_QUANTIZE_PROBE_H

#include "compiler/quantize/HostRun.h"
#include "compiler/quantize/Sites.h"
#include "runtime_support/ingot_thread_pool.h"

namespace ingot::quantize {

/// A tensor of which a run shows the mean of each channel.
struct Averaged {
  std::string tensor;
  int64_t channels;
  /// The channels are the second axis; else the last.
  bool isSecond;
};

class Probe {
public:
  /// `observed` are tensors that each run shows beside the outputs, as well as
  /// the means of `averaged`. Where `openWeights`, all constants that floats are
  /// multiplied with or added to are inputs; else changing one compiles the
  /// model again.
  Probe(Graph &graph, const Sites &sites, llvm::ArrayRef<std::string> observed,
        std::vector<Averaged> averaged, bool openWeights, const Host &host);

  /// Gives an activation a precision; float until this is called.
  void set(int activation, int bits, float scale, int zeroPoint);
  void set(int activation, const Activation &like) {
    set(activation, like.bits, like.scale, like.zeroPoint);
  }
  void setFloat(int activation) { set(activation, 0, 1, 0); }
  /// Compiles the model again before the next run, since what its weights are
  /// quantized to has changed.
  void rebuild() { model.reset(); }
  /// Shows no tensors any more, which takes memory, once the model is compiled
  /// again.
  void hideObserved() { observedNames.clear(); }
  /// Gives a constant other values.
  void setConstant(llvm::StringRef name, llvm::ArrayRef<float> values);

  /// False with diagnostics if the model cannot be compiled or run.
  bool run(const Sample &sample);

  /// The outputs of the model in the last run, those that are no floats left out.
  llvm::ArrayRef<llvm::ArrayRef<float>> outputs() const { return results; }
  llvm::ArrayRef<mlir::RankedTensorType> outputTypes() const {
    return resultTypes;
  }
  /// What an observed tensor was in the last run.
  llvm::ArrayRef<float> observed(size_t index) const { return seen[index]; }
  mlir::RankedTensorType observedType(size_t index) const {
    return seenTypes[index];
  }

  /// The means of the channels of an averaged tensor in the last run.
  std::vector<float> means(size_t index) const;
  /// How many elements it has.
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
  /// Made when a run takes long enough for threads to be of use; results are the
  /// same without.
  std::unique_ptr<ThreadPool> pool;

  struct Step {
    float scale, low, high;
  };
  std::vector<Step> steps;
  /// Values that constants were given.
  llvm::StringMap<std::vector<float>> constants;
  /// Where the last values of weights that are no inputs are.
  llvm::StringMap<onnx::TensorProto> rounded;
  std::unique_ptr<HostModel> model;
  /// What the inputs and outputs of the compiled model are.
  std::vector<void *> io;
  std::vector<Tensor> buffers;
  std::vector<int> sampleOf;
  llvm::SmallVector<llvm::ArrayRef<float>> results, seen, sums, sizes;
  llvm::SmallVector<mlir::RankedTensorType> resultTypes, seenTypes;
  /// For each observed tensor: an input of the model, or -1.
  std::vector<int> seenInputs;
  size_t fedCount = 0;
};

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_PROBE_H
