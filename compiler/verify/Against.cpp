#include "compiler/verify/Against.h"

#include "compiler/verify/Tolerances.h"
#include "onnx/onnx_pb.h"

using namespace mlir;

namespace ingot::verify {

/// Whether an output of the model depends on a quantizing operator.
static bool isQuantized(const onnx::ModelProto &model) {
  Tolerances tolerances(model, /*fast=*/"");
  return llvm::any_of(outputNames(model), [&](const std::string &name) {
    return tolerances.isQuantized(name);
  });
}

std::optional<Against> againstModel(const CompileOptions &compile,
                                    const std::string &other,
                                    MLIRContext &context,
                                    Diagnostics &diagnostics) {
  Against against;
  against.options = compile;
  against.options->model = other;
  Compilation reader(compile, context, diagnostics);
  Compilation opened(*against.options, context, diagnostics);
  ModelFile *own = reader.open(), *file = opened.open();
  if (!own || !file)
    return std::nullopt;
  size_t outputs = outputNames(own->model()).size();
  if (outputNames(file->model()).size() != outputs) {
    diagnostics.reportFile(DiagnosticId::BadOption, other,
                           "--against: the model has " +
                               Twine(outputNames(file->model()).size()) +
                               " outputs, not " + Twine(outputs));
    return std::nullopt;
  }
  std::vector<GraphInput> inputs = fedInputs(own->model(), &context);
  std::vector<size_t> places;
  for (const GraphInput &input : fedInputs(file->model(), &context)) {
    auto same = llvm::find_if(inputs, [&](const GraphInput &candidate) {
      return candidate.name == input.name;
    });
    if (same == inputs.end()) {
      diagnostics.reportFile(DiagnosticId::BadOption, other,
                             "--against: only this model has an input `" +
                                 printable(input.name) + "`",
                             "inputs are matched by their names");
      return std::nullopt;
    }
    places.push_back(same - inputs.begin());
  }
  against.arrange = [places](const InputData &data) {
    InputData arranged;
    for (size_t place : places)
      arranged.push_back(data[place]);
    return arranged;
  };
  against.insideMayDiffer =
      isQuantized(own->model()) != isQuantized(file->model());
  return against;
}

} // namespace ingot::verify
