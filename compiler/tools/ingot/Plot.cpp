// The option --plot: writes a chart as an SVG file.

#include "codegen/files/OutputFiles.h"
#include "compiler/Faults.h"
#include "compiler/inspect/Chart.h"
#include "compiler/tools/ingot/Commands.h"

namespace ingot {

bool checkPlot(const Arguments &arguments, Diagnostics &diagnostics) {
  llvm::StringRef path = arguments.plot;
  if (path.empty())
    return true;
  if (!path.ends_with_insensitive(".svg")) {
    diagnostics.report(DiagnosticId::BadOption,
                       "--plot: the name `" + printable(path) +
                           "` does not end with .svg",
                       "charts are written as SVG, which every browser shows");
    return false;
  }
  return checkWritable(path, diagnostics) &&
         checkReplaceable(arguments, path, diagnostics);
}

bool writePlot(const Arguments &arguments, const Chart &chart,
               Diagnostics &diagnostics) {
  llvm::Error error = writeFile(
      arguments.plot, [&](llvm::raw_ostream &os) { printSvg(chart, os); });
  if (!error)
    return true;
  reportFault(std::move(error), diagnostics);
  return false;
}

} // namespace ingot
