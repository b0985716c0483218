// Implements OnnxNode, the interface by which import functions read an ONNX
// node, for a node in protobuf.

#ifndef INGOT_COMPILER_IMPORT_PROTONODE_H
#define INGOT_COMPILER_IMPORT_PROTONODE_H

#include "compiler/import/GraphImporter.h"

namespace ingot {

class ProtoNode : public graph::OnnxNode {
public:
  /// If `isRepeatable` is set, requireEqual fails if it replaces inputs: the
  /// caller then calls the import function again, since it may have read the
  /// old inputs before.
  ProtoNode(GraphImporter &importer, NodePlace &at, bool isRepeatable = false);

  /// Whether requireEqual has replaced inputs.
  bool hasNewInputs() const { return isReplaced; }

  bool wantsOutput(unsigned i) const override;
  bool hasAttr(llvm::StringRef name) const override;
  int64_t intAttr(llvm::StringRef name, int64_t otherwise) const override;
  double floatAttr(llvm::StringRef name, double otherwise) const override;
  std::string stringAttr(llvm::StringRef name,
                         llvm::StringRef otherwise) const override;
  llvm::SmallVector<int64_t>
  intsAttr(llvm::StringRef name,
           llvm::ArrayRef<int64_t> otherwise) const override;
  llvm::SmallVector<double>
  floatsAttr(llvm::StringRef name,
             llvm::ArrayRef<double> otherwise) const override;
  llvm::SmallVector<std::string>
  stringsAttr(llvm::StringRef name) const override;
  mlir::DenseElementsAttr tensorAttr(llvm::StringRef name) const override;
  mlir::Type elementType(int64_t onnxDataType) const override;
  mlir::DenseElementsAttr constantInput(unsigned i) override;
  mlir::FailureOr<llvm::SmallVector<int64_t>>
  requireInts(unsigned i, llvm::StringRef what) override;
  mlir::FailureOr<graph::Dims> requireSizes(unsigned i,
                                            llvm::StringRef what) override;
  mlir::FailureOr<llvm::SmallVector<double>>
  requireFloats(unsigned i, llvm::StringRef what) override;
  bool assumeEqual(const graph::Dim &x, const graph::Dim &y) override {
    // Two sizes that cannot be 1 cannot be broadcast, so the model requires
    // them to be equal.
    return importer.assumeEqual(x, y) ||
           (x.least() > 1 && y.least() > 1 && importer.requireEqual(x, y));
  }
  bool takeEqual(const graph::Dim &x, const graph::Dim &y) override {
    return importer.requireEqual(x, y);
  }
  mlir::LogicalResult requireEqual(const graph::Dim &x, const graph::Dim &y,
                                   const llvm::Twine &what) override;
  bool isKnown(unsigned i) override;
  bool isConstant(unsigned i) override;
  llvm::SmallVector<std::optional<graph::Dim>>
  elementsIn(mlir::Value value) override {
    return importer.elementsIn(value);
  }
  mlir::FailureOr<graph::Dims>
  readSizes(mlir::Value counts,
            llvm::ArrayRef<std::optional<int64_t>> most) override;
  void checkEqual(const graph::Dim &x, const graph::Dim &y) override;
  void checkOneOr(const graph::Dim &size, const graph::Dim &other) override {
    importer.checkOneOr(at, size, other);
  }
  void leaveBodies(const graph::Dim &size) override {
    importer.leaveBodies(size);
  }
  graph::Dim wholeOf(const graph::Dim &x, const graph::Dim &y) override {
    return importer.wholeOf(at, x, y);
  }
  mlir::Value randomKey(std::optional<uint64_t> seed) override {
    return importer.randomKey(at, seed);
  }
  bool requireMultiple(const graph::Dim &x, int64_t divisor) override {
    return importer.requireMultiple(x, divisor);
  }
  bool requireAtMost(const graph::Dim &x, int64_t most) override {
    return importer.requireAtMost(x, most);
  }
  bool requireAtLeast(const graph::Dim &x, int64_t least) override {
    return importer.requireAtLeast(x, least);
  }
  mlir::LogicalResult unsupported(const llvm::Twine &reason,
                                  const llvm::Twine &hint = "") override;
  mlir::LogicalResult invalid(const llvm::Twine &reason) override;
  void warnOfReadings(const llvm::Twine &difference,
                      const llvm::Twine &wayOut) override;

private:
  /// Whether the import function will be called again: what it reports until
  /// then does not hold.
  bool isDiscarded() const { return isRepeatable && isReplaced; }
  const onnx::AttributeProto *find(llvm::StringRef name) const;
  mlir::DenseElementsAttr require(unsigned i, llvm::StringRef what);

  GraphImporter &importer;
  NodePlace &at;
  bool isRepeatable, isReplaced = false;
};

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_PROTONODE_H
