// Sequences of which the length, or the shapes of the elements, are known only at run
// time.
//
// All that the importer keeps of a list whose length it knows is its values. Any other
// is a few tensors, and operators on it are operators on these:
//
//     rows    [capacity, width]  element i at the beginning of row i, row-major
//     shapes  [capacity, rank]   si64; none where the form says all sizes
//     count   []                 si64; none where there are as many as rows
//
// What lies behind the elements, and in rows behind the last, is of no meaning. Elements
// have one rank.

#ifndef INGOT_COMPILER_IMPORT_RUNTIMESEQUENCE_H
#define INGOT_COMPILER_IMPORT_RUNTIMESEQUENCE_H

#include "compiler/import/ImportOnnx.h"
#include "dialects/graph/GraphDialect.h"

namespace ingot {

class GraphImporter;
class ProtoNode;
struct NodePlace;

/// What all values that a sequence can be have in common.
struct SequenceForm {
  mlir::Type element;
  /// Of an element, each within its range.
  llvm::SmallVector<SizeRange> sizes;
  int64_t capacity = 0;

  bool isFixed() const;
  /// Elements of a row.
  int64_t width() const;
  /// The form that has room for both; none if their elements differ in type or rank.
  static std::optional<SequenceForm> join(const SequenceForm &a,
                                          const SequenceForm &b);
  bool operator==(const SequenceForm &other) const;
  /// Of rows, shapes (unless fixed) and count.
  llvm::SmallVector<mlir::Type> types() const;
};

struct RunTimeSequence {
  llvm::SmallVector<SizeRange> sizes;
  mlir::Value rows, shapes = {}, count = {};

  SequenceForm form() const;
};

/// Builds operators on sequences for one node. Each returns null or failure with a
/// diagnostic.
class SequenceBuilder {
public:
  SequenceBuilder(GraphImporter &importer, NodePlace &at);
  ~SequenceBuilder();

  /// The form of a list; none if there is no common one, or the list is empty.
  static std::optional<SequenceForm>
  formOf(llvm::ArrayRef<mlir::Value> elements);
  /// A list in a form with room for it.
  mlir::FailureOr<RunTimeSequence> pack(llvm::ArrayRef<mlir::Value> elements,
                                        const SequenceForm &form);
  /// The same sequence in a form with room for its elements; the run ends with an error
  /// where there are more than the capacity.
  RunTimeSequence fit(const RunTimeSequence &sequence,
                      const SequenceForm &form);

  mlir::Value length(const RunTimeSequence &sequence);
  /// The length as a size that other shapes can have.
  mlir::FailureOr<graph::Dim> size(const RunTimeSequence &sequence);
  mlir::FailureOr<mlir::Value> elementAt(const RunTimeSequence &sequence,
                                         mlir::Value position);
  /// The element of a sequence of one.
  mlir::FailureOr<mlir::Value> single(const RunTimeSequence &sequence);
  /// At the end without a position.
  mlir::FailureOr<RunTimeSequence> insert(const RunTimeSequence &sequence,
                                          mlir::Value x, mlir::Value position);
  mlir::FailureOr<RunTimeSequence> erase(const RunTimeSequence &sequence,
                                         mlir::Value position);
  mlir::FailureOr<mlir::Value> concat(const RunTimeSequence &sequence,
                                      int64_t axis, bool isNewAxis);
  /// Parts of `x` along an axis, each `part` long but the last.
  mlir::FailureOr<RunTimeSequence> split(mlir::Value x, int64_t axis,
                                         mlir::Value part);
  /// Takes an axis off the elements that is 1 long in each.
  void dropAxis(RunTimeSequence &sequence, int64_t axis);
  /// Ends the run with an error unless all of a tensor of truth values hold.
  void require(mlir::Value truths);
  /// Zeros, or empty strings.
  mlir::Value filled(mlir::Type element, llvm::ArrayRef<int64_t> shape);

private:
  /// A position counted from the front; an error of the run unless it is below `end`.
  mlir::Value wrapped(mlir::Value position, mlir::Value count, mlir::Value end);
  mlir::Value shapesOf(const RunTimeSequence &sequence);
  mlir::Value withRows(mlir::Value matrix, int64_t count);
  /// A row of `width` elements that begins with those of `flat`; what is behind them
  /// has no meaning.
  mlir::Value inRoom(mlir::Value flat, int64_t width);
  mlir::Value withColumns(mlir::Value matrix, int64_t width);
  mlir::FailureOr<mlir::Value> row(const RunTimeSequence &sequence,
                                   mlir::Value position);
  mlir::FailureOr<graph::Dims> sizesIn(const RunTimeSequence &sequence,
                                       mlir::Value position);
  /// Ends the run with an error unless all elements have one size along these axes.
  void requireAlike(const RunTimeSequence &sequence,
                    std::optional<int64_t> otherAxis);

  std::unique_ptr<ProtoNode> node;
};

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_RUNTIMESEQUENCE_H
