// Data to run models on.

#ifndef INGOT_COMPILER_RUN_DATASETS_H
#define INGOT_COMPILER_RUN_DATASETS_H

#include "compiler/import/ValueFile.h"
#include "compiler/run/BuiltModel.h"
#include "compiler/run/Compare.h"

namespace ingot {

/// The inputs of one run, in the order of the graph's inputs.
using InputData = std::vector<std::optional<Tensor>>;

/// The path of a file in `folder`.
std::string inFolder(llvm::StringRef folder, const llvm::Twine &name);
/// The test_data_set_<n> folders in `folder`, by number; the folder itself if
/// it is one.
std::vector<std::string> dataSetsIn(llvm::StringRef folder);
/// rtol and atol of the case.json in `folder`; without one, floats may also be off by 1e-5
/// of their range.
Tolerance readTolerance(llvm::StringRef folder);
/// The path of output_<index>.pb.
std::string outputFile(llvm::StringRef folder, size_t index);

/// The values of a data set: input_0.pb, input_1.pb, ... of a folder.
bool readValues(Compilation &compilation, llvm::StringRef folder,
                std::vector<ModelValue> &values);
/// The tensors that they are passed as.
bool readInputFolder(Compilation &compilation, llvm::StringRef folder,
                     InputData &data);
/// NAME=FILE pairs; all inputs must be given.
bool readInputFiles(Compilation &compilation,
                    llvm::ArrayRef<std::pair<std::string, std::string>> files,
                    InputData &data);

/// Outputs of the model, from the tensors that they are returned as.
std::vector<ModelValue> joinOutputs(llvm::ArrayRef<InterfaceTensor> tensors,
                                    llvm::ArrayRef<Tensor> outputs);
/// Gives the rows of sequences the length that the compiled model takes.
void widenRows(llvm::ArrayRef<InterfaceTensor> inputs,
               llvm::ArrayRef<mlir::RankedTensorType> types, InputData &data);

/// Fills a tensor with numbers between 0 and 1 (small integers, false and true), the
/// same ones for the same seed: no denormals or NaN that would slow a network down.
void fillWithNumbers(Tensor &tensor, uint64_t seed);

/// The shapes, and the values that may decide shapes, of `data` as options of
/// the compilation's import.
void bindData(Compilation &compilation, const InputData &data);

/// Keeps the last compiled model and compiles again where the shapes or bound
/// values of new data are others. What is taken from the data is said on
/// standard error. If `dynamic`, the model is compiled once, without the data.
class DataRunner {
public:
  DataRunner(CompileOptions options, bool dynamic, mlir::MLIRContext &context,
             Diagnostics &diagnostics);
  /// For reading the data; not compiled yet.
  Compilation &fresh();
  /// Runs on data that was read with fresh().
  bool run(InputData data, std::vector<Tensor> &outputs);
  /// What the outputs of a run are called, and which parts of values they are.
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
