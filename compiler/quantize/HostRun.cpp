#include "compiler/quantize/HostRun.h"

#include "compiler/import/FreeTensors.h"
#include "compiler/quantize/Graph.h"

using namespace mlir;

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace ingot::quantize {

Host::Host(const CompileOptions &options, MLIRContext &context,
           Diagnostics &diagnostics)
    : options(options), context(context), diagnostics(diagnostics),
      scratch(Scratch::create(diagnostics)) {
#ifdef __GLIBC__
  // Allocated blocks larger than this number of bytes are returned to the
  // system as soon as they are freed.
  mallopt(M_MMAP_THRESHOLD, 1 << 18);
#endif
}

std::unique_ptr<HostModel> Host::build(onnx::ModelProto &&model,
                                       const Sample &sample) const {
  CompileOptions copy = options;
  copy.target = lookupTarget("native");
  copy.fallbacks.clear();
  copy.maxRam.reset();
  copy.maxFlash.reset();
  copy.vtcmBytes.reset();
  copy.tune.clear();
  copy.trace = false;
  copy.weights = WeightsMode::Auto;
  copy.compiler.clear();
  copy.arenaSection.clear();
  // The samples define all sizes, including dynamic ones. There is no sample if
  // the model only computes folded constants and so has no inputs.
  copy.import.dims.clear();
  if (sample.empty()) {
    copy.import.shapes.clear();
    copy.import.bind.clear();
    copy.import.data.clear();
  }
  copy.entries.clear();
  copy.states.clear();
  copy.makeModel = [&] {
    auto file = ModelFile::of(std::move(model), options.model);
    file->setScratch(scratch->path());
    return file;
  };
  Compilation compilation(copy, context, diagnostics);
  InputData data(sample.begin(), sample.end());
  size_t inputs = fedInputs(compilation.open()->model(), &context).size();
  // The inputs after those of the sample, which are parameters of the
  // quantizer, have no data.
  data.resize(inputs);
  if (!sample.empty())
    bindData(compilation, data);
  auto built = HostModel::build(compilation, {"-O2"});
  freeTensors(context);
  return built;
}

} // namespace ingot::quantize
