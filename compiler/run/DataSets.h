// Reads data sets and runs models on them.

#ifndef INGOT_COMPILER_RUN_DATASETS_H
#define INGOT_COMPILER_RUN_DATASETS_H

#include "compiler/import/ValueFile.h"
#include "compiler/run/BuiltModel.h"
#include "compiler/run/Compare.h"

namespace ingot {

/// The inputs of one run, in the order of the graph's inputs.
using InputData = std::vector<std::optional<Tensor>>;

/// Returns the path of a file in `folder`.
std::string inFolder(llvm::StringRef folder, const llvm::Twine &name);
/// Returns the test_data_set_<n> and test_data_<n> folders in `folder`, ordered
/// by number. If there are none, returns `folder` itself if it is a data set,
/// else nothing.
std::vector<std::string> dataSetsIn(llvm::StringRef folder);
/// Reads the tolerances rtol and atol from case.json in `folder`; without this
/// file, the tolerance for floats also includes 1e-5 of the range of the
/// expected output. Nothing with a diagnostic if the file is invalid.
std::optional<Tolerance> readTolerance(llvm::StringRef folder,
                                       Diagnostics &diagnostics);
/// Returns the path of output_<index>.pb.
std::string outputFile(llvm::StringRef folder, size_t index);

/// Reads the values of a data set, input_0.pb, input_1.pb, ... of a folder;
/// false with diagnostics on failure.
bool readValues(Compilation &compilation, llvm::StringRef folder,
                std::vector<ModelValue> &values);
/// Reads the values of a data set as the tensors that a caller passes for these
/// values; false with diagnostics on failure.
bool readInputFolder(Compilation &compilation, llvm::StringRef folder,
                     InputData &data);
/// Reads inputs from the files of NAME=FILE pairs; all other inputs stay empty.
/// False with diagnostics on failure.
bool readGivenFiles(Compilation &compilation,
                    llvm::ArrayRef<std::pair<std::string, std::string>> files,
                    InputData &data);
/// Reads inputs like readGivenFiles; all inputs must be given.
bool readInputFiles(Compilation &compilation,
                    llvm::ArrayRef<std::pair<std::string, std::string>> files,
                    InputData &data);

/// Returns the values of the model's outputs. A value consists of one output
/// tensor or, for a sequence for example, of several.
std::vector<ModelValue> joinOutputs(llvm::ArrayRef<InterfaceTensor> tensors,
                                    llvm::ArrayRef<Tensor> outputs);
/// The elements of a sequence input are the rows of one tensor. Pads these rows
/// to the length that the compiled model expects.
void widenRows(llvm::ArrayRef<InterfaceTensor> inputs,
               llvm::ArrayRef<mlir::RankedTensorType> types, InputData &data);

/// Fills a tensor with pseudo-random elements, determined by the seed: floats
/// from 0 to 1, integers and bools of 0 and 1, strings of digits. No float32 is
/// NaN or denormal, which would slow down a network.
void fillWithNumbers(Tensor &tensor, uint64_t seed);

/// Sets the shapes of `data`, and the values that may determine shapes, as
/// import options of the compilation.
void bindData(Compilation &compilation, const InputData &data);

/// Runs a model on data sets. Keeps the compiled model, and recompiles it if
/// the shapes or bound values of new data differ. Reports on standard error
/// which sizes and values were taken from the data (see reportsTaken). If
/// `dynamic`, the model is compiled once, without the data.
class DataRunner {
public:
  DataRunner(CompileOptions options, bool dynamic, mlir::MLIRContext &context,
             Diagnostics &diagnostics);
  /// Returns the compilation of the model for the next run, for reading its
  /// data; nothing is compiled yet.
  Compilation &fresh();
  /// Runs on data that was read with fresh(); false with diagnostics on
  /// failure.
  bool run(InputData data, std::vector<Tensor> &outputs);
  /// Whether run() reports what it takes from the data.
  bool reportsTaken = true;
  /// Returns the output tensors: their names, and which part of an output value
  /// each one is.
  const std::vector<InterfaceTensor> &outputs() const {
    return model->outputs();
  }

private:
  bool fits(const InputData &data) const;
  void noteBound();

  CompileOptions options;
  bool dynamic;
  mlir::MLIRContext &context;
  Diagnostics &diagnostics;
  std::unique_ptr<Compilation> next, current;
  std::unique_ptr<BuiltModel> model;
};

} // namespace ingot

#endif // INGOT_COMPILER_RUN_DATASETS_H
