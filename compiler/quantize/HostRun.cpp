#include "compiler/quantize/HostRun.h"

#include "compiler/quantize/Graph.h"

using namespace mlir;

namespace ingot::quantize {

std::unique_ptr<HostModel> Host::build(onnx::ModelProto &&model,
                                       const Sample &sample) const {
  CompileOptions copy = options;
  copy.target = lookupTarget("native");
  copy.fallbacks.clear();
  copy.maxRam.reset();
  copy.maxFlash.reset();
  copy.tune.clear();
  copy.trace = false;
  copy.weights = WeightsMode::Auto;
  copy.compiler.clear();
  copy.arenaSection.clear();
  // The samples say all sizes; those that the user leaves to run time, too.
  if (!sample.empty())
    copy.import.dims.clear();
  copy.makeModel = [&] {
    return ModelFile::of(std::move(model), options.model);
  };
  Compilation compilation(copy, context, diagnostics);
  InputData data(sample.begin(), sample.end());
  size_t inputs = fedInputs(compilation.open()->model(), &context).size();
  // Parameters of the quantizer come after the inputs of the model.
  data.resize(inputs);
  if (!sample.empty())
    bindData(compilation, data);
  return HostModel::build(compilation, {"-O2"});
}

} // namespace ingot::quantize
