// The model that another model is compared with (`ingot verify --against`).

#ifndef INGOT_COMPILER_VERIFY_AGAINST_H
#define INGOT_COMPILER_VERIFY_AGAINST_H

#include "compiler/run/DataSets.h"

namespace ingot::verify {

/// The model that another model is compared with; no options if there is none.
struct Against {
  std::optional<CompileOptions> options;
  /// Reorders `data`, the inputs of the verified model, to the order of the
  /// inputs of the model that `options` compile.
  std::function<InputData(const InputData &)> arrange;
  /// Whether one of the two models is quantized and the other is not. A
  /// quantizer may divide the channels of one layer by numbers and multiply
  /// those of the next layer by them, so that the tensors between the two
  /// differ although both models are right.
  bool insideMayDiffer = false;
};

/// Returns the model in the file `other`, which is to be compared with the model
/// of `compile` and is compiled with the same options. Inputs are matched by
/// name, outputs by order. Nothing, with diagnostics, if the models do not fit
/// together.
std::optional<Against> againstModel(const CompileOptions &compile,
                                    const std::string &other,
                                    mlir::MLIRContext &context,
                                    Diagnostics &diagnostics);

} // namespace ingot::verify

#endif // INGOT_COMPILER_VERIFY_AGAINST_H
