// Random inputs that fit a model.
//
// Derives from the graph which numbers an input may have: indices within the
// bounds of the indexed axis, masks, positions, images, or numbers in the range
// to which an input is quantized.

#ifndef INGOT_COMPILER_VERIFY_RANDOMINPUTS_H
#define INGOT_COMPILER_VERIFY_RANDOMINPUTS_H

#include "compiler/run/DataSets.h"

namespace ingot::verify {

/// The least and the largest number of an input.
struct NumberRange {
  double least = 0, most = 1;
};

struct InputChoices {
  uint64_t seed = 1;
  /// The ranges given by --range, by the name of the input.
  std::map<std::string, NumberRange> ranges;
  /// The files given by --input, for inputs that are not random.
  std::vector<std::pair<std::string, std::string>> files;
};

/// The sizes of one run: a value for each dimension without a size in the
/// model, by its key in ImportOptions::dims.
using Sizes = std::map<std::string, int64_t>;

/// Returns one or more sets of sizes with which to run the model. Sizes that
/// --dim or the data in `given` fix are kept; for a range of --dim, the sets
/// contain its least size, a larger one and one in between.
std::vector<Sizes> sizesToRun(const onnx::ModelProto &model,
                              const ImportOptions &import,
                              const InputData &given,
                              mlir::MLIRContext &context);

/// Reads the inputs of InputChoices::files and fills in the others. Values of
/// --bind are kept. Adds a description of each input to `notes`, for the user.
/// Returns false with diagnostics, for example if an input determines a shape.
bool makeInputs(Compilation &compilation, const InputChoices &choices,
                const Sizes &sizes, InputData &data,
                std::vector<std::string> &notes);

} // namespace ingot::verify

#endif // INGOT_COMPILER_VERIFY_RANDOMINPUTS_H
