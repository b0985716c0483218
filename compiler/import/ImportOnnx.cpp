//===- ImportOnnx.cpp -----------------------------------------------------===//

#include "compiler/import/ImportOnnx.h"

#include "compiler/import/GraphImporter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace ingot {

ImportedModel importOnnx(StringRef path, const ImportOptions &options,
                         Diagnostics &diagnostics, MLIRContext &context) {
  ImportedModel imported;
  context.loadDialect<func::FuncDialect, graph::GraphDialect>();
  // What MLIR says is about our own mistakes, never about the model.
  ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &fault) {
    if (fault.getSeverity() == DiagnosticSeverity::Error)
      diagnostics.report(DiagnosticId::Internal,
                         "import: " + Twine(fault.str()));
    return success();
  });
  try {
    imported.file = ModelFile::open(path, diagnostics);
    if (!imported.file || !validate(imported.file->model(), diagnostics))
      return imported;
    imported.module =
        GraphImporter(*imported.file, options, diagnostics, context).run();
    if (imported.module && failed(verify(*imported.module)))
      imported.module = nullptr;
  } catch (const std::exception &error) {
    diagnostics.report(DiagnosticId::Internal,
                       "import: " + Twine(printable(error.what())));
  }
  if (!diagnostics.empty())
    imported.module = nullptr;
  return imported;
}

} // namespace ingot
