// Sequences whose length, or whose element shapes, are known only at run time.
//
// A sequence whose length is known at compile time is just a list of values in
// the importer. Any other sequence is represented by a few tensors, and
// operators on it become operators on these tensors:
//
//   rows    [capacity, width]  element i at the start of row i, row-major
//   shapes  [capacity, rank]   si64; absent if all elements have one shape,
//                              which is known at compile time
//   count   []                 si64; absent if the length is the capacity
//
// The rest of a row after its element, and rows after the last element, are
// undefined. All elements have the same rank.

#ifndef INGOT_COMPILER_IMPORT_RUNTIMESEQUENCE_H
#define INGOT_COMPILER_IMPORT_RUNTIMESEQUENCE_H

#include "compiler/import/ImportOnnx.h"
#include "dialects/graph/GraphDialect.h"

namespace ingot {

class GraphImporter;
class ProtoNode;
struct NodePlace;

/// Describes the sequences that a value may hold, for example in all iterations
/// of a loop: the element type, the ranges of the elements' sizes, and the
/// capacity (the largest number of elements).
struct SequenceForm {
  mlir::Type element;
  /// For each axis of an element: the range of its size.
  llvm::SmallVector<SizeRange> sizes;
  int64_t capacity = 0;

  bool isFixed() const;
  /// Returns the width of a row, which has room for an element of the sequence
  /// with all sizes at their upper bounds.
  int64_t width() const;
  /// Returns the smallest form that can represent the sequences of form `a` and
  /// those of form `b`; nullopt if the elements differ in type or rank.
  static std::optional<SequenceForm> join(const SequenceForm &a,
                                          const SequenceForm &b);
  bool operator==(const SequenceForm &other) const;
  /// Returns the types of the tensors that represent a sequence of this form:
  /// `rows`, `shapes` (unless all sizes are fixed) and `count`.
  llvm::SmallVector<mlir::Type> types() const;
};

struct RunTimeSequence {
  llvm::SmallVector<SizeRange> sizes;
  mlir::Value rows, shapes = {}, count = {};

  SequenceForm form() const;
};

/// Builds the operators for one ONNX node on sequences that are represented by
/// tensors. Functions that fail return null or failure, with a diagnostic.
class SequenceBuilder {
public:
  SequenceBuilder(GraphImporter &importer, NodePlace &at);
  ~SequenceBuilder();

  /// Returns the form (element type, ranges of sizes, capacity) of a sequence
  /// of the tensors `elements`; nullopt if the list is empty or the tensors
  /// differ in type or rank.
  static std::optional<SequenceForm>
  formOf(llvm::ArrayRef<mlir::Value> elements);
  /// Converts a list of tensors to a sequence of the given form (element type,
  /// ranges of sizes, capacity), which must be large enough for all of them.
  mlir::FailureOr<RunTimeSequence> pack(llvm::ArrayRef<mlir::Value> elements,
                                        const SequenceForm &form);
  /// Converts a sequence to another form, for example with a larger capacity.
  /// The generated program fails if the length of the sequence exceeds the
  /// capacity of the form.
  RunTimeSequence fit(const RunTimeSequence &sequence,
                      const SequenceForm &form);

  mlir::Value length(const RunTimeSequence &sequence);
  /// Returns the length of a sequence as a size that can occur in shapes.
  mlir::FailureOr<graph::Dim> size(const RunTimeSequence &sequence);
  mlir::FailureOr<mlir::Value> elementAt(const RunTimeSequence &sequence,
                                         mlir::Value position);
  /// Returns the only element of a sequence of length 1.
  mlir::FailureOr<mlir::Value> single(const RunTimeSequence &sequence);
  /// Inserts the tensor `x` into a sequence at `position`, or at the end if
  /// `position` is null.
  mlir::FailureOr<RunTimeSequence> insert(const RunTimeSequence &sequence,
                                          mlir::Value x, mlir::Value position);
  mlir::FailureOr<RunTimeSequence> erase(const RunTimeSequence &sequence,
                                         mlir::Value position);
  mlir::FailureOr<mlir::Value> concat(const RunTimeSequence &sequence,
                                      int64_t axis, bool isNewAxis);
  /// Splits the tensor `x` along an axis into a sequence of parts of length
  /// `part`; the last part may be shorter.
  mlir::FailureOr<RunTimeSequence> split(mlir::Value x, int64_t axis,
                                         mlir::Value part);
  /// Removes an axis from the elements of a sequence. The axis must have size 1
  /// in every element.
  void dropAxis(RunTimeSequence &sequence, int64_t axis);
  /// Emits a check with which the generated program fails unless all elements
  /// of a boolean tensor are true.
  void require(mlir::Value truths);
  /// Returns a constant tensor of zeros or empty strings.
  mlir::Value filled(mlir::Type element, llvm::ArrayRef<int64_t> shape);

private:
  /// Returns `position` or, if it is negative, `position` + `count`. The
  /// generated program fails if the result is not in [0, end).
  mlir::Value wrapped(mlir::Value position, mlir::Value count, mlir::Value end);
  mlir::Value shapesOf(const RunTimeSequence &sequence);
  mlir::Value withRows(mlir::Value matrix, int64_t count);
  /// Returns a row of `width` elements that starts with the elements of the
  /// vector `flat`. The rest is undefined, except that booleans are false and
  /// strings are empty.
  mlir::Value inRoom(mlir::Value flat, int64_t width);
  mlir::Value withColumns(mlir::Value matrix, int64_t width);
  mlir::FailureOr<mlir::Value> row(const RunTimeSequence &sequence,
                                   mlir::Value position);
  mlir::FailureOr<graph::Dims> sizesIn(const RunTimeSequence &sequence,
                                       mlir::Value position);
  /// Emits a check that all elements of a sequence have equal sizes along each
  /// axis except `otherAxis`.
  void requireAlike(const RunTimeSequence &sequence,
                    std::optional<int64_t> otherAxis);

  std::unique_ptr<ProtoNode> node;
};

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_RUNTIMESEQUENCE_H
