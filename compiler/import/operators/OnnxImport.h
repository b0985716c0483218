// The interface between ONNX nodes and import functions.
//
// Each operator family registers import functions, which build operators of the
// graph dialect from an ONNX node. The importer implements OnnxNode for
// protobuf, so that this folder does not depend on protobuf.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_ONNXIMPORT_H
#define INGOT_COMPILER_IMPORT_OPERATORS_ONNXIMPORT_H

#include "dialects/graph/GraphDialect.h"
#include "llvm/ADT/StringMap.h"

namespace ingot::graph {

using ImportResult = mlir::FailureOr<llvm::SmallVector<mlir::Value>>;

/// One ONNX node during import. Its operands are values that have been imported
/// already.
class OnnxNode {
public:
  virtual ~OnnxNode() = default;

  mlir::OpBuilder &builder;
  mlir::Location loc;
  /// The opset version that applies to the node's domain.
  int64_t opset;

  unsigned numInputs() const { return inputs.size(); }
  unsigned numOutputs() const { return outputCount; }
  /// Returns input `i`; null if it is optional and absent.
  mlir::Value input(unsigned i) const {
    return i < inputs.size() ? inputs[i] : mlir::Value();
  }
  bool hasInput(unsigned i) const { return static_cast<bool>(input(i)); }
  /// Whether output `i` has a name, so that it may be used.
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
  /// Returns attribute `name`: a list of strings, or the elements of a string
  /// tensor.
  virtual llvm::SmallVector<std::string>
  stringsAttr(llvm::StringRef name) const = 0;
  virtual mlir::DenseElementsAttr tensorAttr(llvm::StringRef name) const = 0;
  /// Returns the element type of an ONNX TensorProto.DataType; null if it is
  /// unsupported.
  virtual mlir::Type elementType(int64_t onnxDataType) const = 0;

  /// Returns the value of input `i` if it is known at compile time (constant
  /// subgraphs are evaluated), else null.
  virtual mlir::DenseElementsAttr constantInput(unsigned i) = 0;
  /// requireInts and requireFloats return the elements of input `i`, converted
  /// to integers or floats. They fail if the elements are unknown at compile
  /// time, with a diagnostic that says that `what` (for example "axes") must be
  /// known.
  virtual mlir::FailureOr<llvm::SmallVector<int64_t>>
  requireInts(unsigned i, llvm::StringRef what) = 0;
  /// Returns the elements of integer input `i`, each a number or an expression
  /// of dynamic sizes. Fails with a diagnostic if an element is neither.
  virtual mlir::FailureOr<Dims> requireSizes(unsigned i,
                                             llvm::StringRef what) = 0;
  virtual mlir::FailureOr<llvm::SmallVector<double>>
  requireFloats(unsigned i, llvm::StringRef what) = 0;

  /// Assumes that two sizes, each of which is a symbol (the name of a dynamic
  /// size), are equal: replaces symbols in the types of values, and the
  /// generated code rejects calls in which the sizes differ. Returns false if
  /// the sizes cannot be assumed to be equal.
  virtual bool assumeEqual(const Dim &x, const Dim &y) = 0;
  /// Assumes that two sizes are equal, because the model requires it. Unlike
  /// assumeEqual, this function accepts a number or an expression as one of the
  /// two. Returns false on failure.
  virtual bool takeEqual(const Dim &x, const Dim &y) = 0;
  /// Assumes that two sizes are equal, as takeEqual does; if that is
  /// impossible, fails with a diagnostic that mentions `what`.
  virtual mlir::LogicalResult requireEqual(const Dim &x, const Dim &y,
                                           const llvm::Twine &what) = 0;
  /// Assume that a size is a multiple of `divisor`, at least `least`, or at
  /// most `most`. Return false, without a diagnostic, if that is impossible.
  virtual bool requireMultiple(const Dim &x, int64_t divisor) = 0;
  virtual bool requireAtLeast(const Dim &x, int64_t least) = 0;
  virtual bool requireAtMost(const Dim &x, int64_t most) = 0;
  /// Requires two tensors to have the same rank and equal sizes; fails with a
  /// diagnostic that mentions `what` otherwise.
  mlir::LogicalResult requireAlike(mlir::Value x, mlir::Value y,
                                   const llvm::Twine &what);
  /// Broadcasts the shapes of operands except their last `others` axes, and
  /// returns the sizes of the result. Along each axis, sizes that cannot be 1
  /// are assumed to be equal and determine the result; if all of them may be 1,
  /// the size is determined at run time. An operand that may need to be
  /// expanded at run time is replaced by the expanded value. Returns nullopt if
  /// the shapes do not match.
  std::optional<Dims> broadcast(llvm::MutableArrayRef<mlir::Value> operands,
                                size_t others = 0);
  /// Makes the size of `x` along `axis` equal to the size of `y` along
  /// `otherAxis`: assumes that both are equal or, if that is impossible, gives
  /// `x` the size of `y`, with a check at run time. If the sizes certainly
  /// differ, fails with a diagnostic that mentions `what`.
  mlir::LogicalResult fitAxis(mlir::Value &x, int64_t axis, mlir::Value y,
                              int64_t otherAxis, const llvm::Twine &what);
  /// Returns the broadcast of `sizes`, the sizes of several operands along one
  /// axis.
  Dim wholeSize(llvm::ArrayRef<Dim> sizes);
  /// Expands `x` to `sizes`. Each size of `x` must be equal to the new size, be
  /// 1, or be a dynamic size that may be either (checked at run time). Returns
  /// null, without a diagnostic, if a size of `x` is none of these.
  mlir::Value broadcastTo(mlir::Value x, llvm::ArrayRef<Dim> sizes);

  /// Whether each element of input `i` is a number known at compile time or an
  /// expression of dynamic sizes. To make elements known, this function may
  /// bind inputs of the model to the data that the user gave for them.
  virtual bool isKnown(unsigned i) = 0;
  /// Returns the elements of an integer tensor: numbers, expressions of sizes,
  /// or nullopt for elements that are neither.
  virtual llvm::SmallVector<std::optional<Dim>>
  elementsIn(mlir::Value value) = 0;
  /// Returns a size for each element of `counts` (si64): an expression of known
  /// sizes or, if the element is unknown at compile time, a new data-dependent
  /// size, which the generated program reads from `counts`. The upper bound of
  /// a new size is its entry in `most`; if the entry is nullopt, the bound is
  /// inferred or given by the user. The generated program fails if a size
  /// exceeds its bound.
  virtual mlir::FailureOr<Dims>
  readSizes(mlir::Value counts,
            llvm::ArrayRef<std::optional<int64_t>> most) = 0;
  /// Moves the builder out of the enclosing bodies of Loop and Scan if `size`
  /// is known outside of them, so that operations on the size are executed only
  /// once.
  virtual void leaveBodies(const Dim &size) = 0;
  /// Emits a check that two dynamic sizes are equal; the generated program
  /// fails if they are not.
  virtual void checkEqual(const Dim &x, const Dim &y) = 0;
  /// Emits a check with which the generated program fails unless `size` is 1 or
  /// equals `other`.
  virtual void checkOneOr(const Dim &size, const Dim &other) = 0;
  /// Returns the broadcast of two sizes, each of which may be 1. The generated
  /// program fails if neither size is 1 and they differ.
  virtual Dim wholeOf(const Dim &x, const Dim &y) = 0;

  /// Returns the key (a scalar, ui64) from which the node's random numbers are
  /// computed. The key is derived from `seed` or, if `seed` is nullopt, from
  /// the node's position in the model. It differs for each iteration of a loop.
  virtual mlir::Value randomKey(std::optional<uint64_t> seed) = 0;

  /// Report a diagnostic and return failure, for use as `return
  /// node.unsupported(...)`. The importer adds the node's name, operator and
  /// operand types.
  virtual mlir::LogicalResult unsupported(const llvm::Twine &reason,
                                          const llvm::Twine &hint = "") = 0;
  virtual mlir::LogicalResult invalid(const llvm::Twine &reason) = 0;
  /// Warns that ONNX Runtime interprets the specification differently from
  /// ONNX's own tests. `difference` describes both results, `wayOut` how the
  /// user avoids the difference.
  virtual void warnOfReadings(const llvm::Twine &difference,
                              const llvm::Twine &wayOut) = 0;
  /// Whether all elements of input `i` are numbers that are known at compile
  /// time, as requireInts needs. Returns false if an element is an expression
  /// of dynamic sizes.
  virtual bool isConstant(unsigned i) = 0;

  /// Builds a constant, for example a default operand.
  mlir::Value constant(mlir::DenseElementsAttr value) {
    return ConstantOp::create(builder, loc, value);
  }
  mlir::Value scalarConstant(double value, mlir::Type elementType);
  /// Builds a constant of integers (si64) with the given shape, or a vector.
  mlir::Value integers(llvm::ArrayRef<int64_t> values);
  mlir::Value integers(llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<int64_t> values);
  mlir::Type i64() { return builder.getIntegerType(64, /*isSigned=*/true); }
  mlir::FloatType f32() { return builder.getF32Type(); }
  mlir::FloatType f64() { return builder.getF64Type(); }
  /// Returns the integers 0, 1, ..., count - 1 (si64).
  mlir::Value countTo(const Dim &count);
  /// Returns null if `value` is a constant whose elements are all 0, else
  /// `value`. Used for optional operands that default to zero: adding zeros
  /// changes only the sign of a zero result.
  static mlir::Value unlessZeros(mlir::Value value);
  /// Converts the elements of `value` to another type; returns `value` if it
  /// has this element type already.
  mlir::Value cast(mlir::Value value, mlir::Type elementType);
  /// Returns the type in which an operator that is built from several graph
  /// operators accumulates sums of elements of `type`: float32 for narrower
  /// floats, else `type`.
  mlir::Type sumType(mlir::Type type);
  /// Reshapes `value` to the given sizes; returns `value` if it has this shape
  /// already.
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<Dim> sizes);
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape) {
    return reshape(value, Dims(shape.begin(), shape.end()));
  }
  mlir::Value reshape(mlir::Value value, std::initializer_list<Dim> sizes) {
    return reshape(value, llvm::ArrayRef<Dim>(sizes));
  }
  /// Returns `value`, of any number of axes, as a vector.
  mlir::Value flat(mlir::Value value);
  /// Broadcasts `value`; each of its sizes is 1 or the new size.
  mlir::Value expand(mlir::Value value, llvm::ArrayRef<Dim> sizes);
  mlir::Value expand(mlir::Value value, std::initializer_list<Dim> sizes) {
    return expand(value, llvm::ArrayRef<Dim>(sizes));
  }
  /// Returns `size` elements of `x` along an axis, from `start` on, at distance
  /// `step`; `x` itself if these are all elements.
  mlir::Value slice(mlir::Value x, int64_t axis, int64_t start, const Dim &size,
                    int64_t step = 1);
  /// Returns the first elements of `x` along each axis: as many as `sizes`.
  mlir::Value cut(mlir::Value x, llvm::ArrayRef<Dim> sizes);
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> perm);
  mlir::Value concat(mlir::ValueRange parts, int64_t axis);
  /// Returns `value` reshaped to rank `rank`, so that it broadcasts: its axes
  /// become axes `axis`, `axis` + 1 and so on; all other axes have size 1.
  mlir::Value alignAt(mlir::Value value, int64_t axis, int64_t rank);
  /// Returns attribute `name`, or `otherwise` if it is absent, as a
  /// non-negative axis of a tensor of rank `rank`. Fails if it is out of range.
  mlir::FailureOr<int64_t> axisAttr(llvm::StringRef name, int64_t otherwise,
                                    int64_t rank);
  mlir::FailureOr<int64_t> normalizeAxis(int64_t axis, int64_t rank);

  /// Imports ONNX operator `name`, in its newest opset or in `asOpset`, with
  /// `operands` (null where absent) and the attributes of this node.
  ImportResult buildAs(llvm::StringRef name,
                       llvm::ArrayRef<mlir::Value> operands,
                       int64_t asOpset = INT64_MAX);
  /// Imports ONNX operator `name`, as buildAs does, and returns its first
  /// result; null with a diagnostic on failure.
  mlir::Value valueAs(llvm::StringRef name,
                      llvm::ArrayRef<mlir::Value> operands,
                      int64_t asOpset = INT64_MAX);

  /// Builds the operator `OpT` with the arguments of one of its builders, and
  /// returns its result.
  template <typename OpT, typename... Args> mlir::Value build(Args &&...args) {
    return OpT::create(builder, loc, std::forward<Args>(args)...).getResult();
  }
  /// Builds an elementwise operator. Returns null if an operand is null. If the
  /// shapes do not broadcast, reports a diagnostic and returns a value of an
  /// arbitrary shape.
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
  /// An operand of the functions below: a value, or a number, which becomes a
  /// scalar of the element type of the other operands.
  struct Operand {
    Operand(mlir::Value value) : value(value) {}
    template <typename Number,
              typename = std::enable_if_t<std::is_arithmetic_v<Number>>>
    Operand(Number number)
        : real(number), whole(std::is_integral_v<Number> ? number : 0),
          isWhole(std::is_integral_v<Number>) {}

    mlir::Value value;
    double real = 0;
    int64_t whole = 0;
    bool isWhole = false;
  };
  /// Build elementwise operators, whose operands broadcast, as `elementwise`
  /// does.
  mlir::Value add(const Operand &x, const Operand &y);
  mlir::Value sub(const Operand &x, const Operand &y);
  mlir::Value mul(const Operand &x, const Operand &y);
  mlir::Value div(const Operand &x, const Operand &y);
  mlir::Value pow(const Operand &x, const Operand &y);
  mlir::Value min(const Operand &x, const Operand &y);
  mlir::Value max(const Operand &x, const Operand &y);
  mlir::Value less(const Operand &x, const Operand &y);
  mlir::Value lessOrEqual(const Operand &x, const Operand &y);
  mlir::Value greater(const Operand &x, const Operand &y);
  mlir::Value greaterOrEqual(const Operand &x, const Operand &y);
  mlir::Value equal(const Operand &x, const Operand &y);
  /// Whether both booleans, or one of them, are true; for integers, by bits.
  mlir::Value both(const Operand &x, const Operand &y);
  mlir::Value either(const Operand &x, const Operand &y);
  mlir::Value where(mlir::Value condition, const Operand &x, const Operand &y);
  /// Returns the result type of an elementwise operator; null if an operand is
  /// null. Operands that must be expanded at run time are replaced. If the
  /// shapes do not broadcast, reports a diagnostic and returns a type of an
  /// arbitrary shape.
  mlir::RankedTensorType elementwiseType(
      llvm::MutableArrayRef<mlir::Value> operands,
      llvm::function_ref<mlir::Type(llvm::ArrayRef<mlir::Type>)> element);

private:
  template <typename OpT>
  mlir::Value binary(const Operand &x, const Operand &y);
  mlir::Value valueOf(const Operand &operand, const Operand &other);

protected:
  OnnxNode(mlir::OpBuilder &builder, mlir::Location loc, int64_t opset)
      : builder(builder), loc(loc), opset(opset) {}
  llvm::SmallVector<mlir::Value> inputs;
  unsigned outputCount = 1;
};

/// Returns the value that tells the callers of a function that a diagnostic has
/// been reported: null.
inline mlir::Value noValue(mlir::LogicalResult) { return {}; }

/// Returns a value as the only result of a node; fails if it is null.
inline ImportResult one(mlir::FailureOr<mlir::Value> value) {
  if (failed(value) || !*value)
    return mlir::failure();
  return llvm::SmallVector<mlir::Value>{*value};
}

using ImportFunction = std::function<ImportResult(OnnxNode &)>;

/// An ONNX operator with its import function. `ingot ops` and OPS.md list all
/// of them.
struct OnnxOperator {
  std::string domain, name;
  ImportFunction import;
  /// The operator of the graph dialect to which each node maps one to one;
  /// empty if there is none.
  std::string graphOperator;
  /// Text that says which uses of the operator are unsupported; empty if all
  /// are supported.
  std::string limits;
};

class OnnxRegistry {
public:
  /// Returns the registry with the operators of all families.
  static const OnnxRegistry &get();

  void add(llvm::StringRef name, ImportFunction import,
           llvm::StringRef limits = "", llvm::StringRef domain = "");
  /// Adds an elementwise operator whose operands and attributes are the same in
  /// ONNX and in the graph dialect.
  template <typename OpT>
  void addRegular(llvm::StringRef onnxName = OpT::onnxName) {
    if (!onnxName.empty())
      addRegular(onnxName, OpT::getOperationName(), &importRegular<OpT>);
  }
  const OnnxOperator *lookup(llvm::StringRef domain,
                             llvm::StringRef name) const;
  /// Returns the operators sorted by domain and name.
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
  llvm::StringMap<OnnxOperator> operators; // by "domain.Name"
};

// Declares for each operator family the function that registers its import
// functions. The function is defined in the file with the name of the family.
#define INGOT_FAMILY(NAME) void register##NAME##Imports(OnnxRegistry &registry);
#include "compiler/import/operators/Families.def"
#undef INGOT_FAMILY

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_ONNXIMPORT_H
