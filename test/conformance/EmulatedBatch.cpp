// Runs the C++ that a batch generates as programs under an emulator of the
// target.

#include "UnitBatch.h"

#include "compiler/Faults.h"
#include "compiler/run/DynamicSizes.h"

#include <map>
#include <numeric>

using namespace mlir;

namespace ingot::conformance {

static int64_t sumOf(ArrayRef<int64_t> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), int64_t(0));
}

void Batch::emulate() {
  SmallVector<int> together;
  for (int text = 0, e = texts.size(); text < e; ++text) {
    if (texts[text].object.empty())
      together.push_back(text);
    else
      emulate(text, "-O1");
  }
  if (!together.empty())
    emulate(together, "-O0");
}

/// Builds and runs a program with those generated sources (`texts`) whose
/// indices are `which`. Splits it into two programs if it is too large or one
/// of the sources does not compile.
void Batch::emulate(ArrayRef<int> which, StringRef level) {
  listener.begin(-1, "build");
  std::vector<Modes> prepared;
  std::vector<InputData> data;
  for (const Prepared &candidate : ready) {
    if (!llvm::is_contained(which, candidate.text))
      continue;
    if (!prepared.empty() && prepared.back()[0]->text == candidate.text &&
        units[prepared.back()[0]->unit].name == units[candidate.unit].name) {
      prepared.back().push_back(&candidate);
      continue;
    }
    std::string reason;
    InputData read;
    bool isDynamic =
        StringRef(units[candidate.unit].mode).starts_with("dynamic-");
    if (!readData(candidate, read, reason)) {
      // The operators of the model may force a dynamic size to a value that the
      // data of the case do not have.
      listener.end(candidate.unit,
                   isDynamic ? Status::Unsupported : Status::Error, reason);
      continue;
    }
    Signature here = candidate.signature;
    if (fixSizes(here, read, reason).size() != here.sizes.size()) {
      listener.end(candidate.unit, Status::Unsupported, equalSizes(reason));
      continue;
    }
    if (int64_t most =
            settings.target->programText.empty() ? 64 << 20 : 2 << 20;
        isDynamic &&
        here.arenaBytes + sumOf(here.inputBytes()) + sumOf(here.outputBytes()) >
            most) {
      listener.end(candidate.unit, Status::Unsupported,
                   "emulated: too large at its bounds");
      continue;
    }
    prepared.push_back({&candidate});
    data.push_back(std::move(read));
  }
  Diagnostics diagnostics;
  EmulatedProgram program(*settings.target, folder);
  // Cases with the same generated code may run it at different sizes; each
  // combination of code and sizes is one model of the program.
  std::map<std::pair<int, std::vector<int64_t>>, unsigned> models;
  std::vector<unsigned> modelOf;
  for (auto [modes, inputs] : llvm::zip(prepared, data)) {
    Signature s = modes[0]->signature;
    std::string why;
    std::vector<int64_t> values = fixSizes(s, inputs, why);
    auto [known, isNew] = models.try_emplace({modes[0]->text, values}, 0);
    if (isNew) {
      EmulatedProgram::Model model{nameOf(modes[0]->text), s.arenaBytes,
                                   s.arenaAlign, s.inputBytes(),
                                   s.outputBytes()};
      for (auto [size, value] : llvm::zip(s.sizes, values)) {
        model.sizes.push_back(size.isMade ? std::nullopt
                                          : std::optional(value));
        if (size.isMade)
          model.outputBytes.push_back(EmulatedProgram::madeBytes);
      }
      known->second = program.add(std::move(model));
    }
    modelOf.push_back(known->second);
  }
  std::string error;
  std::vector<std::string> objects = writeSource(which, "batch", error);
  if (!error.empty())
    diagnostics.report(DiagnosticId::RunFailed, error);
  if (!error.empty() || !program.build(path("batch.cpp"), path("batch.h"),
                                       level.str(), objects, diagnostics)) {
    if (which.size() > 1) {
      emulate(which.take_front(which.size() / 2), level);
      return emulate(which.drop_front(which.size() / 2), level);
    }
    for (const Modes &modes : prepared)
      for (const Prepared *one : modes)
        listener.end(one->unit, Status::Error, firstReason(diagnostics));
    return;
  }
  std::vector<EmulatedProgram::Call> calls;
  for (auto [model, inputs] : llvm::zip(modelOf, data)) {
    EmulatedProgram::Call &call = calls.emplace_back();
    call.model = model;
    for (const std::optional<Tensor> &tensor : inputs)
      call.inputs.push_back(tensor->bytes);
  }
  runCalls(program, prepared, calls);
}

void Batch::runCalls(const EmulatedProgram &program, ArrayRef<Modes> prepared,
                     ArrayRef<EmulatedProgram::Call> calls) {
  // If the program crashes, the call that was running counts as a crash, and
  // the program runs again with the calls after it.
  while (!calls.empty()) {
    listener.begin(-1, "run");
    llvm::Error error = llvm::Error::success();
    auto results = program.run(calls, settings.seconds, error);
    std::string died = firstError(llvm::toString(std::move(error)));
    for (auto [modes, result] : llvm::zip(prepared, results)) {
      std::string reason;
      Status status = Status::Error;
      const Unit &unit = units[modes[0]->unit];
      bool isBeyond = result.status == INGOT_ERROR_SHAPE &&
                      StringRef(unit.mode).starts_with("dynamic-");
      if (result.status != INGOT_OK)
        reason = (isBeyond ? "made-size: " : "the function returns: ") +
                 statusText(result.status).str();
      else if (result.overflow)
        reason = "memory beside a buffer was written";
      else if (result.inputWritten)
        reason = "an input was written";
      else {
        Signature signature = atSizesOf(*modes[0], result.outputs);
        status = compareOutputs(std::move(result.outputs), signature, unit,
                                caseFolder(unit), context.get(), reason);
      }
      if (isBeyond)
        status = Status::Unsupported;
      for (const Prepared *one : modes)
        listener.end(one->unit, status, reason);
    }
    prepared = prepared.drop_front(results.size());
    calls = calls.drop_front(results.size());
    if (calls.empty())
      return;
    for (const Prepared *one : prepared.front())
      listener.end(one->unit, Status::Crash, died);
    prepared = prepared.drop_front();
    calls = calls.drop_front();
  }
}

} // namespace ingot::conformance
