// How ONNX operators become graph operators.
//
// Each operator family registers functions that build graph operators from an
// ONNX node. The importer implements OnnxNode on the protobuf; nothing here
// knows protobuf.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_ONNXIMPORT_H
#define INGOT_COMPILER_IMPORT_OPERATORS_ONNXIMPORT_H

#include "dialects/graph/GraphDialect.h"
#include "llvm/ADT/StringMap.h"

namespace ingot::graph {

using ImportResult = mlir::FailureOr<llvm::SmallVector<mlir::Value>>;

/// One ONNX node during import: operands are values already imported.
class OnnxNode {
public:
  virtual ~OnnxNode() = default;

  mlir::OpBuilder &builder;
  mlir::Location loc;
  /// The opset version in force for the node's domain.
  int64_t opset;

  unsigned numInputs() const { return inputs.size(); }
  unsigned numOutputs() const { return outputCount; }
  /// Null where the optional input is absent.
  mlir::Value input(unsigned i) const {
    return i < inputs.size() ? inputs[i] : mlir::Value();
  }
  bool hasInput(unsigned i) const { return static_cast<bool>(input(i)); }
  /// Whether anyone could read output `i` (it has a name).
  virtual bool wantsOutput(unsigned i) const = 0;

  virtual bool hasAttr(llvm::StringRef name) const = 0;
  virtual int64_t intAttr(llvm::StringRef name, int64_t otherwise) const = 0;
  virtual double floatAttr(llvm::StringRef name, double otherwise) const = 0;
  virtual std::string stringAttr(llvm::StringRef name,
                                 llvm::StringRef otherwise) const = 0;
  virtual llvm::SmallVector<int64_t>
  intsAttr(llvm::StringRef name,
           llvm::ArrayRef<int64_t> otherwise = {}) const = 0;
  virtual llvm::SmallVector<double>
  floatsAttr(llvm::StringRef name,
             llvm::ArrayRef<double> otherwise = {}) const = 0;
  /// A list of strings, or the elements of a tensor of strings.
  virtual llvm::SmallVector<std::string>
  stringsAttr(llvm::StringRef name) const = 0;
  virtual mlir::DenseElementsAttr tensorAttr(llvm::StringRef name) const = 0;
  /// ONNX's TensorProto.DataType as an element type; null if it has none here.
  virtual mlir::Type elementType(int64_t onnxDataType) const = 0;

  /// The value of input `i` if it is known at compile time (constant subgraphs
  /// are evaluated); else null.
  virtual mlir::DenseElementsAttr constantInput(unsigned i) = 0;
  /// The same as integers / floats, any element type; fails with a diagnostic
  /// that says that `what` (e.g. "axes") must be known when compiling.
  virtual mlir::FailureOr<llvm::SmallVector<int64_t>>
  requireInts(unsigned i, llvm::StringRef what) = 0;
  /// As requireInts, with expressions of sizes that are known only at run time.
  virtual mlir::FailureOr<Dims> requireSizes(unsigned i,
                                             llvm::StringRef what) = 0;
  virtual mlir::FailureOr<llvm::SmallVector<double>>
  requireFloats(unsigned i, llvm::StringRef what) = 0;

  /// Takes two symbols of sizes that are known only at run time to be equal: the
  /// generated code refuses other sizes. Types of values change.
  virtual bool assumeEqual(const Dim &x, const Dim &y) = 0;
  /// The same where the sizes cannot be meant to differ: one of them may also have to
  /// be a number or a product.
  virtual bool takeEqual(const Dim &x, const Dim &y) = 0;
  /// The same; fails with a diagnostic that names `what`.
  virtual mlir::LogicalResult requireEqual(const Dim &x, const Dim &y,
                                           const llvm::Twine &what) = 0;
  /// Takes a size to be a multiple of a number, to be at least as large as one, and
  /// to be no larger; fails without a diagnostic.
  virtual bool requireMultiple(const Dim &x, int64_t divisor) = 0;
  virtual bool requireAtLeast(const Dim &x, int64_t least) = 0;
  virtual bool requireAtMost(const Dim &x, int64_t most) = 0;
  /// As requireEqual, for all sizes of two tensors; their ranks are equal too.
  mlir::LogicalResult requireAlike(mlir::Value x, mlir::Value y,
                                   const llvm::Twine &what);
  /// Broadcasts the shapes of operands. Sizes along one axis that cannot be 1 are assumed
  /// to be equal, and are the result's; where each may be 1, the run says which one is.
  /// An operand that may have to grow in a run becomes the one that has. Empty if
  /// the shapes do not fit. The last `others` axes are left out.
  std::optional<Dims> broadcast(llvm::MutableArrayRef<mlir::Value> operands,
                                size_t others = 0);
  /// Has the sizes of two operands along an axis of each be equal: takes them to be, or
  /// gives `x` the size of `y`, which the run checks.
  mlir::LogicalResult fitAxis(mlir::Value &x, int64_t axis, mlir::Value y,
                              int64_t otherAxis, const llvm::Twine &what);
  /// The size that operands with `sizes` have together along an axis.
  Dim wholeSize(llvm::ArrayRef<Dim> sizes);
  /// `x` with the sizes of a result: each of its own is that size, or 1, or may be
  /// either. Null without a diagnostic if it is neither.
  mlir::Value broadcastTo(mlir::Value x, llvm::ArrayRef<Dim> sizes);

  /// Whether the value of input `i` is known when compiling, or follows from sizes.
  /// (Inputs of the model that there are data for may be bound to them.)
  virtual bool isKnown(unsigned i) = 0;
  /// The elements of a tensor of integers: numbers and expressions of sizes, or nothing
  /// for those that are neither.
  virtual llvm::SmallVector<std::optional<Dim>>
  elementsIn(mlir::Value value) = 0;
  /// The sizes that the elements of `counts` (si64) are in a run, each at most what
  /// `most` says; where that is empty, what the user says. A run with others ends with
  /// an error.
  virtual mlir::FailureOr<Dims>
  readSizes(mlir::Value counts,
            llvm::ArrayRef<std::optional<int64_t>> most) = 0;
  /// Moves the builder out of bodies where integers that follow from a size can be read
  /// around them.
  virtual void leaveBodies(const Dim &size) = 0;
  /// Has a run end with an error where two sizes differ that it has read.
  virtual void checkEqual(const Dim &x, const Dim &y) = 0;
  /// The same where a size is neither 1 nor another one.
  virtual void checkOneOr(const Dim &size, const Dim &other) = 0;
  /// The size that two sizes have together of which either may be 1: a run in which
  /// they do not broadcast ends with an error.
  virtual Dim wholeOf(const Dim &x, const Dim &y) = 0;

  /// The key (a scalar, ui64) of the node's random numbers: `seed`, or where in the
  /// model the node is; in a loop another one in each iteration.
  virtual mlir::Value randomKey(std::optional<uint64_t> seed) = 0;

  /// Diagnostics; both return failure, so `return node.unsupported(...)`. The
  /// node's name, operator, operand types are added by the importer.
  virtual mlir::LogicalResult unsupported(const llvm::Twine &reason,
                                          const llvm::Twine &hint = "") = 0;
  virtual mlir::LogicalResult invalid(const llvm::Twine &reason) = 0;
  /// A warning that ONNX Runtime reads the standard otherwise than its own tests.
  virtual void warnOfReadings(const llvm::Twine &difference,
                              const llvm::Twine &wayOut) = 0;
  /// As isKnown, of numbers that are the same in each run: what requireInts takes.
  virtual bool isConstant(unsigned i) = 0;

  /// A constant, e.g. a default operand.
  mlir::Value constant(mlir::DenseElementsAttr value) {
    return ConstantOp::create(builder, loc, value);
  }
  mlir::Value scalarConstant(double value, mlir::Type elementType);
  /// The integers 0, 1, ... below a size, in 64 bits.
  mlir::Value countTo(const Dim &count);
  /// Returns null for a constant whose elements are all 0, else `value`. For
  /// optional operands that ONNX takes to be zeros where they are left out:
  /// adding zeros changes nothing but the sign of a result that is zero.
  static mlir::Value unlessZeros(mlir::Value value);
  /// The elements converted to another type; `value` itself if they have it.
  mlir::Value cast(mlir::Value value, mlir::Type elementType);
  /// The type that sums over elements of `type` are computed in where several operators
  /// share them: float32 of narrower floats, else the type itself.
  mlir::Type sumType(mlir::Type type);
  /// The same elements in another shape; `value` itself if it has that shape.
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<Dim> sizes);
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape) {
    return reshape(value, Dims(shape.begin(), shape.end()));
  }
  mlir::Value reshape(mlir::Value value, std::initializer_list<int64_t> shape) {
    return reshape(value, llvm::ArrayRef<int64_t>(shape));
  }
  /// `value` with axes of size 1 in front and behind, so that its axes begin at
  /// `axis` of a tensor of `rank` (for NumPy's broadcasting).
  mlir::Value alignAt(mlir::Value value, int64_t axis, int64_t rank);
  /// Attribute `name` as an axis of a tensor of `rank`: counted from the front.
  mlir::FailureOr<int64_t> axisAttr(llvm::StringRef name, int64_t otherwise,
                                    int64_t rank);
  mlir::FailureOr<int64_t> normalizeAxis(int64_t axis, int64_t rank);

  /// What the newest form of ONNX's operator `name` makes of `operands` (null where
  /// one is left out) and of this node's attributes; or the form of an older opset.
  ImportResult buildAs(llvm::StringRef name,
                       llvm::ArrayRef<mlir::Value> operands,
                       int64_t asOpset = INT64_MAX);
  /// The same of an operator with one result: null with a diagnostic if it fails.
  mlir::Value valueAs(llvm::StringRef name,
                      llvm::ArrayRef<mlir::Value> operands,
                      int64_t asOpset = INT64_MAX);

  /// Builds `OpT` from what one of its builders takes.
  template <typename OpT, typename... Args> mlir::Value build(Args &&...args) {
    return OpT::create(builder, loc, std::forward<Args>(args)...).getResult();
  }
  /// Elementwise: null with a diagnostic if the shapes do not broadcast.
  template <typename OpT>
  mlir::Value elementwise(mlir::ValueRange given,
                          llvm::ArrayRef<mlir::NamedAttribute> attrs = {}) {
    llvm::SmallVector<mlir::Value> operands(given);
    mlir::RankedTensorType type =
        elementwiseType(operands, &OpT::resultElement);
    if (!type)
      return {};
    return OpT::create(builder, loc, mlir::TypeRange{type}, operands, attrs)
        .getResult();
  }
  /// The type of the result; operands become those that have grown to it.
  mlir::RankedTensorType elementwiseType(
      llvm::MutableArrayRef<mlir::Value> operands,
      llvm::function_ref<mlir::Type(llvm::ArrayRef<mlir::Type>)> element);

protected:
  OnnxNode(mlir::OpBuilder &builder, mlir::Location loc, int64_t opset)
      : builder(builder), loc(loc), opset(opset) {}
  llvm::SmallVector<mlir::Value> inputs;
  unsigned outputCount = 1;
};

/// A value as the one result of a node; fails if there is none.
inline ImportResult one(mlir::FailureOr<mlir::Value> value) {
  if (failed(value) || !*value)
    return mlir::failure();
  return llvm::SmallVector<mlir::Value>{*value};
}

using ImportFunction = std::function<ImportResult(OnnxNode &)>;

/// What is known of an ONNX operator; `ingot ops` and OPS.md print it.
struct OnnxOperator {
  std::string domain, name;
  ImportFunction import;
  /// The graph operator of regular ones; else empty.
  std::string graphOperator;
  /// What of it is not supported, in words; empty if all is.
  std::string limits;
};

class OnnxRegistry {
public:
  /// All operators, from every family.
  static const OnnxRegistry &get();

  void add(llvm::StringRef name, ImportFunction import,
           llvm::StringRef limits = "", llvm::StringRef domain = "");
  /// An elementwise operator whose operands and attributes are ONNX's own.
  template <typename OpT>
  void addRegular(llvm::StringRef onnxName = OpT::onnxName) {
    if (!onnxName.empty())
      addRegular(onnxName, OpT::getOperationName(), &importRegular<OpT>);
  }
  const OnnxOperator *lookup(llvm::StringRef domain,
                             llvm::StringRef name) const;
  /// Sorted by domain and name.
  std::vector<const OnnxOperator *> all() const;

private:
  OnnxRegistry();
  void addRegular(llvm::StringRef onnxName, llvm::StringRef graphName,
                  ImportFunction import);
  template <typename OpT> static ImportResult importRegular(OnnxNode &node) {
    return importRegularNode(node, OpT::getOperationName(),
                             OpT::getAttributeNames(), &OpT::resultElement);
  }
  static ImportResult importRegularNode(
      OnnxNode &node, llvm::StringRef graphName,
      llvm::ArrayRef<llvm::StringRef> attributes,
      llvm::function_ref<mlir::Type(llvm::ArrayRef<mlir::Type>)> element);
  llvm::StringMap<OnnxOperator> operators; // "domain.Name"
};

// One function a family, defined in the file of its name.
#define INGOT_FAMILY(NAME) void register##NAME##Imports(OnnxRegistry &registry);
#include "compiler/import/operators/Families.def"
#undef INGOT_FAMILY

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_ONNXIMPORT_H
