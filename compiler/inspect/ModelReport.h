// What `ingot inspect`, `ingot report` and `ingot diff` know about a model, as
// data and as JSON. docs/report.md describes the JSON.

#ifndef INGOT_COMPILER_INSPECT_MODELREPORT_H
#define INGOT_COMPILER_INSPECT_MODELREPORT_H

#include "compiler/import/Summary.h"
#include "compiler/measure/Footprint.h"
#include "compiler/measure/TimedModel.h"
#include "compiler/verify/NodeErrors.h"
#include "compiler/verify/RandomInputs.h"
#include "llvm/Support/JSON.h"

namespace ingot {

/// The version of the JSON. It grows when a key gets another meaning or is
/// removed, not when a key is added.
inline constexpr int64_t reportSchema = 1;

/// A fusion group with its work, as known after stage Decide.
struct GroupRow {
  std::string strategy, result;
  std::vector<std::string> nodes;
  int64_t macs = 0, parameters = 0, bytes = 0;
  /// The predicted cycles of a processor core with all data in its caches, and
  /// the least cycles that the MACs need; 0 for a GPU.
  double cycles = 0, leastCycles = 0;
  /// Whether the group computes floats although the target's vectors hold only
  /// integers.
  bool isScalar = false;
  llvm::json::Object plan;
};

/// A kernel call, with the fusion group that the kernel computes.
struct KernelRow : GroupRow {
  Footprint::Launch launch;
  /// The median of the measured times; nothing if the kernels were not timed.
  std::optional<double> microseconds;
};

/// What is known about a model for one target.
struct ModelReport {
  /// The name of the model's file, without its folder.
  std::string file;
  const TargetDescription *target = nullptr;
  ModelSummary summary;
  /// Whether the model compiles. Otherwise, the members from `rows` to
  /// `unmeasured` are unknown.
  bool isPlanned = false;
  std::vector<KernelRow> rows;
  int64_t macs = 0, parameters = 0;
  Footprint footprint;
  /// Quantized weights that the generated code stores in a wider type: their
  /// bytes in the model and in the generated code, and the name of that type.
  struct {
    int64_t bytes = 0, storedBytes = 0;
    std::string storedAs;
  } quantized;
  /// The reason why the sizes of code and stack are unknown, if they are.
  std::string unmeasured;
  /// The sizes that were chosen for dynamic dimensions without a given size.
  verify::Sizes chosen;
  /// The measured time of a run: the median, and the number of runs.
  std::optional<TimeSummary> measured;
  /// The nodes of the model, the map of the arena (the memory of intermediate
  /// tensors), constants and sources, if they were requested; see
  /// docs/report.md.
  llvm::json::Object details;
  std::vector<Diagnostic> diagnostics;
};

struct DescribeOptions {
  /// Whether to choose sizes for dynamic dimensions that the options do not
  /// fix.
  bool choosesSizes = true;
  /// Whether to collect ModelReport::details.
  bool hasDetails = false;
  /// How long to time the kernels on this machine; 0: not at all.
  double seconds = 0;
  /// The path of a model whose tensors are compared with those of the described
  /// model, for example the float model of a quantized one; empty: none.
  std::string against;
  /// The inputs with which the two models are compared.
  verify::InputChoices inputs;
};

/// Describes the model of the options. A model that does not compile has a
/// report, too, with the diagnostics. Returns false with diagnostics if the
/// model is not an ONNX model, or if details, errors or times cannot be
/// determined.
bool describeModel(const CompileOptions &options, DescribeOptions describe,
                   ModelReport &report, Diagnostics &diagnostics);

/// Collects ModelReport::details of a planned model; false with diagnostics on
/// failure.
bool collectDetails(Compilation &planned, const Footprint &footprint,
                    llvm::json::Object &details);
/// Collects the details that are known even if the model does not compile.
void collectNodes(const onnx::ModelProto &model, llvm::json::Object &details);

/// Adds the errors of tensors to the details of a report: all of them as a
/// list, the lowest signal-to-noise ratio of the outputs, and the error of each
/// quantized tensor.
void addErrors(llvm::ArrayRef<verify::TensorError> errors, ModelReport &report);

/// Prints the members of the JSON object for a report.
void printReport(llvm::json::OStream &json, const ModelReport &report);

/// Predicts the seconds of a run on a GPU, launch overhead included. Kernel
/// calls in different branches of a fork run concurrently.
double predictedSeconds(const ModelReport &report, const Device &device);

inline constexpr llvm::StringLiteral scalarReason =
    "floats are computed one by one: the vectors of this target hold integers "
    "only";

/// Returns an HTML file that shows the reports in `json`; empty if this program
/// was built without the JavaScript libraries of the page.
std::string reportPage(llvm::StringRef json);

} // namespace ingot

#endif // INGOT_COMPILER_INSPECT_MODELREPORT_H
