#include "compiler/quantize/Quantize.h"

#include "compiler/import/custom/CustomOperators.h"
#include "compiler/quantize/Fold.h"
#include "compiler/quantize/Session.h"
#include "compiler/report/Progress.h"

#include <cmath>

namespace ingot::quantize {

/// Rejects models that are quantized already.
static bool check(const Graph &graph, Diagnostics &diagnostics) {
  for (const onnx::NodeProto &node : graph.proto().node())
    for (llvm::StringRef type :
         {"QuantizeLinear", "QLinearConv", "QLinearMatMul", "ConvInteger",
          "MatMulInteger", "DynamicQuantizeLinear"})
      if (node.op_type() == type) {
        diagnostics.report(DiagnosticId::NotQuantized,
                           "the model is quantized already: it has the node `" +
                               printable(node.name()) + "` (" + type + ")",
                           "give the float model");
        return false;
      }
  return true;
}

static bool quantize(Session &session) {
  if (session.samples.size() == 0)
    return roundWeights(session);
  auto step = [&](llvm::StringRef what, bool (*run)(Session &)) {
    Progress progress("quantizing: " + what.str());
    return run(session);
  };
  if (!step("sharing out ranges of channels", equalize) ||
      !step("observing activations", observe) ||
      !step("rounding weights", roundWeights))
    return false;
  chooseRanges(session);
  return step("trying ranges", refineRanges) &&
         step("correcting biases",
              [](Session &session) { return correctBiases(session); }) &&
         step("choosing precisions", searchPrecisions);
}

std::function<std::unique_ptr<ModelFile>()>
quantizedModel(const CompileOptions &compile, const QuantizeOptions &options,
               mlir::MLIRContext &context, QuantizeReport &report,
               Diagnostics &diagnostics) {
  std::unique_ptr<ModelFile> model =
      quantizeModel(compile, options, context, report, diagnostics);
  if (!model)
    return nullptr;
  auto bytes =
      std::make_shared<std::string>(model->model().SerializeAsString());
  return [bytes, path = compile.model] {
    onnx::ModelProto proto;
    proto.ParseFromString(*bytes);
    return ModelFile::of(std::move(proto), path);
  };
}

std::unique_ptr<ModelFile> quantizeModel(const CompileOptions &compile,
                                         const QuantizeOptions &options,
                                         mlir::MLIRContext &context,
                                         QuantizeReport &report,
                                         Diagnostics &diagnostics) {
  std::unique_ptr<ModelFile> file = ModelFile::open(compile.model, diagnostics);
  if (!file)
    return nullptr;
  if (compile.import.custom)
    compile.import.custom->addTo(file->model());
  Graph graph(*file, context);
  Host host(compile, context, diagnostics);
  if (!host.scratch)
    return nullptr;
  Calibration samples;
  // The first opset with all operators that the probe (the model with nodes
  // that quantize tensors by adjustable scales) contains: Round, Clip with
  // bounds as inputs, and DequantizeLinear with an axis.
  constexpr int neededOpset = 13;
  if (!check(graph, diagnostics) ||
      !graph.raiseOpset(neededOpset, DiagnosticId::NotQuantized, diagnostics))
    return nullptr;
  graph.bindDefaults();
  if ((!options.calibrate.empty() &&
       !samples.read(options.calibrate, graph, diagnostics)) ||
      (!options.labels.empty() &&
       !samples.readLabels(options.labels, context, diagnostics)) ||
      !fold(graph, host))
    return nullptr;
  samples.park(host.scratch);
  Sites sites =
      findSites(graph, options.kind != Kind::Int8 || options.calibrate.empty());
  if (sites.weights.empty() && sites.activations.empty()) {
    diagnostics.report(
        DiagnosticId::NotQuantized,
        "nothing can be quantized: no Conv, ConvTranspose, Gemm, MatMul, "
        "recurrent layer or Gather has constant weights of float32",
        "compile the model as it is");
    return nullptr;
  }
  Session session(graph, std::move(sites), samples, options, host);
  report.bytesBefore = graph.model().ByteSizeLong();
  for (const onnx::TensorProto &tensor : graph.proto().initializer())
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL)
      report.bytesBefore += int64_t(storedBytes(tensor));
  if (!session.isOpen())
    graph.park(*host.scratch);
  Loss loss;
  bool hasSamples = samples.size() > 0;
  if (!quantize(session) ||
      (hasSamples && !session.measure(samples.size(), loss)) ||
      !describeLayers(session, report) || !insertQdq(session))
    return nullptr;
  removeUnused(graph);
  graph.unpark();
  if (!host.scratch->check(diagnostics) || !graph.embedData(diagnostics))
    return nullptr;
  report.bytesAfter = graph.model().ByteSizeLong();
  report.samples = samples.size();
  report.decibels = loss.decibels();
  report.changed = loss.changed;
  if (!samples.labels().empty()) {
    report.correctBefore = session.correctBefore;
    report.correctAfter = loss.correct;
  }
  return file;
}

} // namespace ingot::quantize
