// The command `ingot quantize MODEL --calibrate DATA -o FILE`.
//
// With --plot, draws the accuracy against the size of the model.

#include "codegen/files/OutputFiles.h"
#include "compiler/Faults.h"
#include "compiler/inspect/Chart.h"
#include "compiler/quantize/Quantize.h"
#include "compiler/tools/ingot/Commands.h"
#include "onnx/onnx_pb.h"

#include <cmath>

using namespace mlir;

namespace ingot {

/// Returns the chart of accuracy against size: each point quantizes one more
/// layer. Points without loss, whose decibels are infinite, are left out.
static Chart chartOf(const Arguments &arguments,
                     const quantize::QuantizeReport &report) {
  Chart chart;
  chart.kind = Chart::Line;
  chart.title =
      nameOfModel(arguments.compile.model) + ": accuracy against size";
  chart.note = "each point quantizes one more layer, from the input to the "
               "output of the model";
  chart.atTitle = "bytes of weights";
  chart.valueTitle = "signal-to-noise ratio of the outputs, dB";
  int64_t bytes = 0;
  for (const quantize::LayerReport &layer : report.layers)
    bytes += layer.bytesBefore;
  for (const quantize::LayerReport &layer : report.layers) {
    bytes += layer.bytesAfter - layer.bytesBefore;
    if (std::isfinite(layer.accumulated))
      chart.points.push_back({layer.node, double(bytes), layer.accumulated});
  }
  return chart;
}

int quantizeCommand(Arguments &arguments, Diagnostics &diagnostics) {
  arguments.compile.model = arguments.positional.front();
  auto context = makeContext();
  quantize::QuantizeReport report;
  if (!checkPlot(arguments, diagnostics))
    return diagnostics.exitCode();
  if (!arguments.output.empty() &&
      (!checkWritable(arguments.output, diagnostics) ||
       !checkReplaceable(arguments, arguments.output, diagnostics)))
    return diagnostics.exitCode();
  std::unique_ptr<ModelFile> model = quantize::quantizeModel(
      arguments.compile, arguments.quantize, *context, report, diagnostics);
  if (!model)
    return diagnostics.exitCode();
  if (!arguments.plot.empty()) {
    Chart chart = chartOf(arguments, report);
    if (chart.points.empty())
      diagnostics.report(DiagnosticId::BadOption,
                         "--plot: the loss of no layer was measured",
                         "give samples by --calibrate");
    else if (!writePlot(arguments, chart, diagnostics))
      return diagnostics.exitCode();
  }
  arguments.json ? report.printJson(llvm::outs()) : report.print(llvm::outs());
  if (arguments.output.empty()) {
    if (!arguments.json && !arguments.quiet)
      llvm::outs() << "nothing written; name a file with -o\n";
    return diagnostics.exitCode();
  }
  // Ingot may replace a file that it has written itself, which it recognizes by
  // the producer.
  model->model().set_producer_name("ingot");
  model->model().set_producer_version(ingotVersion.str());
  std::string bytes;
  model->model().SerializeToString(&bytes);
  if (llvm::Error error = writeFile(
          arguments.output, [&](llvm::raw_ostream &os) { os << bytes; }))
    reportFault(std::move(error), diagnostics);
  return diagnostics.exitCode();
}

} // namespace ingot
