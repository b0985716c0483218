// Builds graph operators from a model.
//
// Visits the nodes of a validated model in topological order. A node becomes
// the operators that its import function builds or, if the node calls an ONNX
// function, the operators of the function's nodes. If a node fails, its results
// are poisoned and the nodes that depend on them are skipped. A skipped node is
// reported only if its operator is unsupported. So each fault is reported once,
// and one run reports all faults.

#ifndef INGOT_COMPILER_IMPORT_GRAPHIMPORTER_H
#define INGOT_COMPILER_IMPORT_GRAPHIMPORTER_H

#include "compiler/import/ImportOnnx.h"
#include "compiler/import/RunTimeSequence.h"
#include "compiler/import/Schema.h"
#include "compiler/import/Validate.h"
#include "compiler/import/ValueFile.h"
#include "compiler/import/operators/OnnxImport.h"
#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

namespace ingot {

/// The value that an ONNX name is bound to. A sequence is bound to the list of
/// its elements or, if its length is known only at run time, to a
/// RunTimeSequence. An optional value is bound to its content or is Absent. If
/// the generated program decides at run time whether an optional value has an
/// element, `present` is set.
struct Binding {
  enum Kind { Undefined, Poisoned, Absent, Known, Sequence } kind = Undefined;
  mlir::Value value = {};
  std::vector<mlir::Value> elements = {};
  std::optional<RunTimeSequence> list = {};
  /// A boolean (i1) that tells whether an optional value has an element, if the
  /// generated program decides it at run time; otherwise null.
  mlir::Value present = {};

  /// Whether this is a sequence whose length is known at compile time.
  bool isList() const { return kind == Sequence && !list; }
  void forEachValue(llvm::function_ref<void(mlir::Value &)> use);

  static Binding known(mlir::Value value) { return {Known, value, {}}; }
  static Binding poisoned() { return {Poisoned}; }
  static Binding absent() { return {Absent}; }
  static Binding sequence(std::vector<mlir::Value> elements) {
    return {Sequence, {}, std::move(elements)};
  }
  static Binding sequence(RunTimeSequence list) {
    return {Sequence, {}, {}, std::move(list)};
  }
};

/// The bindings of a node's outputs.
using NodeResults = mlir::FailureOr<llvm::SmallVector<Binding>>;

/// The names of one graph or function body. A graph also sees the names of the
/// enclosing graphs. A function body sees the names outside of the call only if
/// the call has a graph attribute, whose nodes may use them.
struct Scope {
  const Scope *outer = nullptr;
  const OpsetImports *opsets = nullptr;
  llvm::StringMap<Binding> bindings = {};
  /// The node that calls the function, if this is the scope of a function body;
  /// used for diagnostics and locations. Otherwise null.
  const onnx::NodeProto *call = nullptr;
  int64_t callIndex = -1, callOpset = 0;
  std::string inside = {};
  /// A hash that identifies the scope within the model; keys of random numbers
  /// are derived from it (RandomKeys.cpp).
  uint64_t place = 0;

  Binding lookup(llvm::StringRef name) const;
};

/// An ONNX node during its import, with its operands and the scope of its
/// names.
struct NodePlace {
  const onnx::NodeProto &node;
  int64_t index;
  int64_t opset;
  Scope &scope;
  const onnx::OpSchema *schema = nullptr;
  llvm::SmallVector<Binding> bindings = {};
  /// The values of `bindings`; null for an operand that is absent or a
  /// sequence.
  llvm::SmallVector<mlir::Value> inputs = {};
  /// The result types that ONNX's type inference returns; may be partial.
  std::vector<onnx::TypeProto> inferred = {};
  /// Whether the node failed because a node in its body failed. The failure has
  /// been reported already.
  bool poisoned = false;
  /// Whether the node was replaced by the body of a function: a function of the
  /// model, or the function by which ONNX defines the node's operator.
  bool isExpanded = false;
};

struct ScanForm;

/// RAII: keeps the number of a loop's iteration in `iterations` while the
/// builder is inside the loop, from the call of `enter` until `leave` is called
/// or the object is destroyed. The keys of random numbers depend on the numbers
/// in `iterations`.
class InIteration {
public:
  explicit InIteration(llvm::SmallVectorImpl<mlir::Value> &iterations,
                       mlir::Value number = {})
      : iterations(iterations), depth(iterations.size()) {
    if (number)
      enter(number);
  }
  ~InIteration() { leave(); }
  InIteration(const InIteration &) = delete;

  void enter(mlir::Value number) { iterations.push_back(number); }
  void leave() { iterations.truncate(depth); }

private:
  llvm::SmallVectorImpl<mlir::Value> &iterations;
  size_t depth;
};

class GraphImporter {
public:
  GraphImporter(ModelFile &file, const ImportOptions &options,
                Diagnostics &diagnostics, mlir::MLIRContext &context);

  mlir::OwningOpRef<mlir::ModuleOp> run();

  /// Returns a diagnostic with the node's location and operand types.
  Diagnostic diagnosticAt(const NodePlace &at);

  // The following functions are public for ProtoNode, the interface by which
  // import functions read a node.
  mlir::DenseElementsAttr constantOf(mlir::Value value);
  /// Returns the elements of an integer tensor as numbers or expressions of
  /// dynamic sizes; nullopt if any element is neither.
  std::optional<graph::Dims> sizesIn(mlir::Value value);
  /// Returns the elements of an integer vector, each a number, an expression of
  /// dynamic sizes, or nullopt.
  llvm::SmallVector<std::optional<graph::Dim>> elementsIn(mlir::Value value);
  /// Replaces `result` by a constant if its value is known at compile time and
  /// `result` is a part of a tensor's shape (an element or a slice), or an
  /// integer converted from a float, which may be computed from a shape.
  void foldPartOfShape(Binding &result);
  /// Returns a size for each element of the integer vector `counts`: an
  /// expression of known sizes or, if the element is unknown at compile time, a
  /// new data-dependent size, which the generated program reads from `counts`.
  /// `most` lists an upper bound, or nullopt, for each element. See
  /// MadeSizes.cpp.
  mlir::FailureOr<graph::Dims>
  readSizes(const NodePlace &at, mlir::Value counts,
            llvm::ArrayRef<std::optional<int64_t>> most);
  /// Returns a new data-dependent size that the node computes from the values
  /// `from`. The name of the size consists of the node's first output and
  /// `suffix`. `most` is the upper bound of the size, if one can be inferred;
  /// otherwise the bound comes from --dim, and a missing bound is reported.
  mlir::FailureOr<graph::Dim> madeSize(const NodePlace &at,
                                       const llvm::Twine &suffix,
                                       std::optional<int64_t> most,
                                       llvm::ArrayRef<mlir::Value> from);
  /// Emits the operation that reads the value of the data-dependent size `size`
  /// from the integer `count` at run time.
  void readSize(const NodePlace &at, mlir::Value count, const graph::Dim &size);
  void checkEqual(const NodePlace &at, const graph::Dim &x,
                  const graph::Dim &y);
  /// Emits a check with which the generated program fails unless `size` is 1 or
  /// equals `other`. If both sizes are known at the start of a run and the
  /// builder is not in a branch of `If`, the check is emitted at the start of
  /// main.
  void checkOneOr(const NodePlace &at, const graph::Dim &size,
                  const graph::Dim &other);
  /// Whether `size` may be equal to `number`: `size` is that number, or a
  /// dynamic size whose range contains it.
  static bool mayBe(const graph::Dim &size, int64_t number);
  /// Returns false, with a diagnostic, if a result of `body` has a
  /// data-dependent size that is computed inside the body. Such a size has no
  /// value outside of the body, since each execution of the body may compute a
  /// different one.
  bool checkStaysInside(const NodePlace &at, mlir::func::FuncOp body,
                        llvm::ArrayRef<mlir::Value> results);
  /// Returns the broadcast of two sizes, each of which may be 1. The generated
  /// program fails if neither size is 1 and they differ.
  graph::Dim wholeOf(NodePlace &at, const graph::Dim &x, const graph::Dim &y);
  /// Moves the builder out of the enclosing bodies of Loop and Scan, to the end
  /// of main, if `size` is known outside of the bodies; a check of the size is
  /// then executed once. The builder stays in a branch of `If`, since a run
  /// that takes the other branch must not execute the check.
  void leaveBodies(const graph::Dim &size);
  /// Acts as leaveBodies above if `values`, except null values, are computed
  /// outside of the bodies.
  void leaveBodies(llvm::ArrayRef<mlir::Value> values);
  /// If `size` is known at the start of a run, moves the builder to the start
  /// of main; otherwise acts as leaveBodies.
  void moveToSize(const graph::Dim &size);
  void buildCheck(const NodePlace &at, const graph::Dim &x,
                  const graph::Dim &y);
  bool isMade(kernel::SymbolAttr symbol) const;
  /// Returns the bounds that the user gave with --dim for a data-dependent
  /// size, either for its name or for all sizes (`*`); nullopt if there are
  /// none.
  std::optional<SizeRange> boundOf(const std::string &name) const;
  /// Whether a result with dynamic sizes has at most maxTensorBytes bytes at
  /// the upper bounds of its sizes; reports a diagnostic if not.
  bool fitsAtBounds(const NodePlace &at, mlir::RankedTensorType type);
  /// If nothing else has been reported, reports the first --dim option whose
  /// name is neither a dimension of an input nor a data-dependent size.
  void checkMadeOptions();
  /// Assumes that two sizes, each of which is a symbol (the name of a dynamic
  /// size), are equal: both become one symbol (EqualSizes.cpp). Returns false
  /// if that is impossible.
  bool assumeEqual(const graph::Dim &x, const graph::Dim &y);
  /// Assumes that two sizes are equal, because the model requires it. Unlike
  /// assumeEqual, this function accepts a number or an expression as one of the
  /// two sizes. Returns false if the sizes cannot be assumed to be equal.
  bool requireEqual(const graph::Dim &x, const graph::Dim &y);
  /// Changes the types of a node's operands: each axis of size `x` gets the
  /// size `y` (or the reverse, if `x` is a number), and the generated program
  /// checks that both sizes are equal. Returns false if no operand has such an
  /// axis or the sizes cannot be equal.
  bool restate(NodePlace &at, graph::Dim x, graph::Dim y);
  /// Assumes that a size is a multiple of `divisor`; returns false if that is
  /// impossible.
  bool requireMultiple(const graph::Dim &x, int64_t divisor);
  /// Assume that a size is at least `least`, or at most `most`; return false if
  /// that is impossible.
  bool requireAtLeast(const graph::Dim &x, int64_t least);
  bool requireAtMost(const graph::Dim &x, int64_t most);
  /// Assumes that the sizes of the tensors are equal along each axis except
  /// `otherAxis`, where this is possible.
  void assumeAlike(llvm::ArrayRef<mlir::Value> tensors,
                   std::optional<int64_t> otherAxis);
  /// Returns the value as a constant; null if it is unknown at compile time. If
  /// the value depends on graph inputs for which the user gave data
  /// (ImportOptions::data), replaces these inputs by the data, so that the
  /// value becomes known.
  mlir::DenseElementsAttr requireConstant(mlir::Value value);
  void report(DiagnosticId id, const llvm::Twine &message, const NodePlace &at,
              std::string supported = "", std::string hint = "");
  /// Reports that the value of input `i`, which the message calls `what`, must
  /// be known at compile time.
  void reportNotConstant(const NodePlace &at, unsigned i, llvm::StringRef what);
  /// Reports that the condition of an If or Loop is known only at run time. If
  /// fixing the values of graph inputs would make it known, the hint names the
  /// option --bind, which does this.
  void reportRuntimeCondition(const NodePlace &at, mlir::Value condition,
                              std::string supported);
  /// Reports `message` about a use of an operator that would be supported if
  /// `values` were known at compile time. If fixing the values of graph inputs
  /// would make them known, the hint names the option --bind, which does this.
  void reportUnlessKnown(const NodePlace &at, const llvm::Twine &message,
                         llvm::ArrayRef<mlir::Value> values);
  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location locationOf(const NodePlace &at);
  /// Returns the key of the node's random numbers, a scalar of type ui64: see
  /// RandomKeys.cpp.
  mlir::Value randomKey(NodePlace &at, std::optional<uint64_t> seed);
  ModelFile &getFile() { return file; }
  /// Returns the description of an operator that the importer resolves without
  /// an import function, such as Identity; nullopt for other operators.
  static std::optional<ResolvedOperator> resolvedOf(llvm::StringRef domain,
                                                    llvm::StringRef name);

private:
  // Import of the inputs and outputs of the main graph.
  bool importInputs(const onnx::GraphProto &graph, Scope &scope);
  mlir::RankedTensorType inputType(const onnx::ValueInfoProto &input);
  bool inputShape(const onnx::ValueInfoProto &input, graph::Dims &shape);
  std::optional<graph::Dim>
  dimension(const onnx::ValueInfoProto &input, int axis,
            const onnx::TensorShapeProto::Dimension &dim);
  void bindDataShapes(const onnx::GraphProto &graph);
  void bindDataSize(const onnx::ValueInfoProto &input, int axis,
                    const onnx::TensorShapeProto::Dimension *dim, int64_t size,
                    const std::string &shown);
  void reportUnknownInput(llvm::StringRef option, llvm::StringRef what,
                          llvm::StringRef name,
                          llvm::ArrayRef<std::string> known);
  bool checkDimOptions(const onnx::GraphProto &graph);
  /// Returns the names of the graph inputs that `value` is computed from. If
  /// the option --bind fixes the values of these inputs, `value` becomes known.
  /// Returns an empty list if --bind cannot make `value` known, for example
  /// because it depends on too many operations.
  std::vector<std::string> bindableInputs(mlir::Value value) const;
  /// Returns a hint such as "give the values with --bind a=VALUES --bind
  /// b=VALUES" for the inputs a and b.
  static std::string bindHint(llvm::ArrayRef<std::string> inputs);
  bool bindInput(mlir::BlockArgument argument, mlir::DenseElementsAttr value);
  void bindOption(const std::string &name, const std::string &text);
  void importInitializers(const onnx::GraphProto &graph, Scope &scope);
  bool importOutputs(const onnx::GraphProto &graph, Scope &scope);
  void checkDeclared(const onnx::ValueInfoProto &output,
                     mlir::RankedTensorType type);
  mlir::NamedAttrList interfaceAttrs(llvm::StringRef name, mlir::Type type,
                                     Part part);
  mlir::Value addInput(llvm::StringRef name, mlir::RankedTensorType type,
                       Part part);
  /// Returns the MLIR type of an ONNX element type. If the type is unsupported,
  /// returns null with a diagnostic, in which `shown` names the value.
  mlir::Type elementTypeOf(const std::string &shown, int64_t dataType);

  // Defined in SequenceInterface.cpp: import of inputs and outputs that are
  // sequences or optional.

  /// Returns the types of the tensors by which a caller of the generated
  /// function passes an input; a sequence or optional value consists of several
  /// tensors. Returns an empty list, with a diagnostic, on failure.
  llvm::SmallVector<mlir::RankedTensorType>
  partTypes(const onnx::ValueInfoProto &input);
  /// The length of a sequence that is an input, and the range of each size of
  /// its elements.
  struct SequenceSizes {
    graph::Dim count;
    llvm::SmallVector<SizeRange> element;
  };
  std::optional<SequenceSizes> sequenceSizes(const onnx::ValueInfoProto &input);
  Binding sequenceOf(const onnx::ValueInfoProto &input, mlir::Value rows,
                     mlir::Value shapes);
  /// Returns the value of an input of the model, given the arguments of main
  /// that represent it: several tensors for a sequence or optional value.
  Binding valueOfParts(const onnx::ValueInfoProto &input,
                       llvm::ArrayRef<mlir::Value> parts);
  /// One of the tensors by which main returns an output of the model. For a
  /// sequence, `element` is the common shape of all elements, if there is one.
  struct OutputPart {
    std::string name;
    Part part;
    mlir::Value value;
    std::optional<graph::Dims> element = std::nullopt;
  };
  bool addOutputParts(const onnx::ValueInfoProto &output, Binding value,
                      Scope &scope, std::vector<OutputPart> &parts);
  bool addSequence(const onnx::ValueInfoProto &output, NodePlace &at,
                   const Binding &value, std::vector<OutputPart> &parts);
  /// Returns a placeholder for an absent value: an empty sequence, or a tensor
  /// of zeros in the smallest shape that the type allows. Returns a poisoned
  /// binding, with a diagnostic, if the element type is not supported.
  Binding zeroValue(NodePlace &at, const onnx::TypeProto &type);

  // Import of nodes.
  void importNodes(const NodeList &nodes, Scope &scope);
  void importNode(const onnx::NodeProto &node, int64_t index, Scope &scope);
  NodeResults buildNode(NodePlace &at);
  void reportUnimplemented(const NodePlace &at);
  /// Reports a node that is skipped because an operand failed, if its operator
  /// is unsupported whatever its operands are.
  void reportIfUnimplemented(const NodePlace &at);
  NodeResults call(const onnx::FunctionProto &function, NodePlace &at,
                   bool isLocal);
  bool checkResults(NodePlace &at, llvm::ArrayRef<Binding> results);

  /// Reports that `what` is unsupported because operands have dynamic sizes;
  /// returns failure.
  NodeResults reportDynamicSize(const NodePlace &at, const llvm::Twine &what);
  /// Whether the node's results are correct for all values of the dynamic sizes
  /// of its operands; reports a diagnostic if not. The operations built for the
  /// node follow the operation `before`.
  bool checkDynamicSizes(const NodePlace &at, llvm::ArrayRef<Binding> results,
                         mlir::Operation *before);
  void assumeFitting(NodePlace &at);
  bool checkTensorAttributes(NodePlace &at);
  /// Rejects string operands of operators that do not support them
  /// (StringNodes.cpp).
  bool checkStrings(const NodePlace &at);
  /// Returns false, with a diagnostic, if a result of `body`, which is executed
  /// several times, contains strings whose characters are written by the body:
  /// each iteration overwrites those of the one before (StringNodes.cpp).
  bool checkLasting(const NodePlace &at, mlir::func::FuncOp body,
                    llvm::ArrayRef<mlir::Value> results);
  void importStrings(const onnx::TensorProto &initializer, Scope &scope);
  /// Rewrites a node of opset 6 or older as a node of opset 7; returns false,
  /// with a diagnostic, if that is impossible.
  bool raiseLegacy(NodePlace &at);
  bool alignSecond(NodePlace &at);
  /// Checks that the inputs of Sum, Min, Max and Mean, which did not broadcast
  /// before opset 8, have equal shapes.
  bool checkEqualShapes(NodePlace &at);

  // Defined in ControlNodes.cpp: import of operators without a counterpart in
  // the graph dialect.
  struct Special {
    NodeResults (GraphImporter::*import)(NodePlace &);
    /// Text, for diagnostics and docs, that says which uses of the operator are
    /// unsupported.
    llvm::StringRef limits = "";
    /// Whether operands may be sequences. With Only, operands or results are
    /// always sequences or optional values, and ONNX's type inference, which
    /// would need their types, is skipped.
    enum { No, May, Only } sequences = No;
    /// The operator of the graph dialect that the node becomes if it must be
    /// evaluated at run time; empty if there is none, and "several operators"
    /// if there are several.
    llvm::StringRef graphOperator = "";
  };
  static const llvm::StringMap<Special> &specials();
  static const Special *lookupSpecial(llvm::StringRef domain,
                                      llvm::StringRef name);
  NodeResults importIdentity(NodePlace &at);
  NodeResults importConstant(NodePlace &at);
  NodeResults importShape(NodePlace &at);
  NodeResults importSize(NodePlace &at);
  NodeResults importIf(NodePlace &at);
  /// Returns the graph in attribute `name`; null, with a diagnostic, if the
  /// node has no such attribute.
  const onnx::GraphProto *bodyOf(NodePlace &at, llvm::StringRef name);
  /// Returns a scope with the initializers of the body `name`. All copies of an
  /// unrolled body share it, so that the initializers are imported once.
  Scope bodyScope(NodePlace &at, llvm::StringRef name,
                  const onnx::GraphProto &body);
  /// Imports the nodes of a body with its inputs bound to `arguments`; returns
  /// the bindings of its outputs. `shared` is the scope of the body's
  /// initializers (see bodyScope).
  NodeResults runBody(NodePlace &at, const Scope &shared,
                      const onnx::GraphProto &body,
                      llvm::ArrayRef<Binding> arguments);

  /// Returns a hash that identifies the scope that a node opens: its body
  /// `name` or, if `name` is empty, the function that it calls.
  static uint64_t placeOf(const NodePlace &at, llvm::StringRef name = "");

  // Defined in BodyFunctions.cpp: import of bodies of If, Loop and Scan as
  // functions.
  struct BodyFunction {
    mlir::func::FuncOp function;
    /// The returned values and their ONNX names. Until closeBodies is called, a
    /// returned value may be defined outside of the function.
    llvm::SmallVector<mlir::Value> results;
    llvm::SmallVector<std::string> names = {};
    /// The results of the body as bindings, before closeResults splits
    /// sequences into tensors.
    llvm::SmallVector<Binding> bindings = {};
  };
  /// Imports the body `name` as a private function whose arguments have
  /// `types`. `bind` returns the bindings of the body's inputs, given the
  /// function's entry block.
  mlir::FailureOr<BodyFunction>
  openBody(NodePlace &at, llvm::StringRef name,
           llvm::ArrayRef<mlir::Type> types,
           llvm::function_ref<llvm::SmallVector<Binding>(mlir::Block &)> bind);
  /// Emits the return of each body, and gives all bodies one argument for every
  /// outer value that at least one of them reads. Returns these outer values.
  llvm::SmallVector<mlir::Value>
  closeBodies(llvm::MutableArrayRef<BodyFunction> bodies);
  /// Erases the function of a body that no operation calls.
  void dropBody(mlir::func::FuncOp function);
  /// Removes from the importer's maps of known constants all values for which
  /// `isGone` returns true, because these values are about to be erased.
  void forget(llvm::function_ref<bool(mlir::Value)> isGone);
  /// Runs `build`. If it fails, erases the functions and operations that it
  /// created and moves its diagnostics to `why` instead of reporting them.
  NodeResults attempt(NodePlace &at, Diagnostics &why,
                      llvm::function_ref<NodeResults()> build);
  NodeResults importRunTimeIf(NodePlace &at);
  bool checkCarried(NodePlace &at, llvm::ArrayRef<Binding> states);

  // Defined in CarriedValues.cpp: conversion of the sequences and optional
  // values that the bodies of If, Loop and Scan take and return.

  /// How a value is represented by tensors when it is passed into or out of a
  /// body. All values of one loop state, or the results of both branches of
  /// `If`, share one form.
  struct CarriedForm {
    /// The form of a sequence; nullopt for a tensor, whose type is `tensor`.
    std::optional<SequenceForm> sequence = {};
    mlir::Type tensor = {};
    /// Whether the value is a tensor of varying shape, which is passed as a
    /// sequence with one element.
    bool isBox = false;
    bool hasPresent = false;
  };
  /// Removes from the start of `values` the tensors by which `form` represents
  /// one value, and returns the value.
  mlir::FailureOr<Binding> takeTensors(NodePlace &at, const CarriedForm &form,
                                       llvm::ArrayRef<mlir::Value> &values);
  /// Returns the form by which a tensor of varying shape is represented as a
  /// sequence with one element. The sizes of the element have the ranges of the
  /// sizes in `type`.
  static CarriedForm boxOf(mlir::Type type);
  /// Returns a data-dependent size in `type` that each execution of `body`
  /// computes anew; null if there is none.
  kernel::SymbolAttr madeIn(mlir::func::FuncOp body, mlir::Type type) const;
  /// Replaces data-dependent sizes of a result, which are computed in the body,
  /// by the sizes that the body declares for the result. The generated program
  /// fails if the computed sizes differ from the declared ones.
  void takeAsDeclared(NodePlace &at, BodyFunction &body, size_t result,
                      const onnx::ValueInfoProto &declared);
  /// Returns the form of a tensor or a sequence, which describes the tensors
  /// that represent it; nullopt for an absent value, and for a list of tensors
  /// without a common form.
  static std::optional<CarriedForm> formOf(const Binding &binding);
  /// Returns the smallest form that can represent the values of form `a` and
  /// those of form `b`; nullopt if there is none.
  static std::optional<CarriedForm> join(const CarriedForm &a,
                                         const CarriedForm &b);
  /// Returns the smallest form that can represent both `a` and `b`, one of
  /// which may be absent; nullopt if there is no such form. A form describes
  /// the tensors that represent a value.
  static std::optional<CarriedForm> formOfEither(const Binding &a,
                                                 const Binding &b);
  /// Appends to `values` the tensors by which `form` represents the value in
  /// `binding`. The form must be large enough for the value. Returns false,
  /// with a diagnostic, on failure.
  bool appendTensors(NodePlace &at, const Binding &binding,
                     const CarriedForm &form,
                     llvm::SmallVectorImpl<mlir::Value> &values);
  /// Replaces the results of a body by the tensors that represent them, as
  /// `forms` describes. Returns false, with a diagnostic, on failure.
  bool closeResults(NodePlace &at, BodyFunction &body,
                    llvm::ArrayRef<CarriedForm> forms);

  // Defined in LoopNodes.cpp: import of the operator Loop.
  NodeResults importLoop(NodePlace &at);
  NodeResults unrollLoop(NodePlace &at);
  NodeResults importSkippedLoop(NodePlace &at, const onnx::GraphProto &body);
  /// Returns the inputs of a loop's body before the states: the number of the
  /// iteration and the condition, in the ranks that the body declares.
  llvm::SmallVector<Binding> iterationInputs(NodePlace &at,
                                             const onnx::GraphProto &body,
                                             mlir::Value number);
  /// The largest number of nodes that unrolling a loop may create.
  static constexpr int64_t maxUnrolledNodes = 20'000;
  /// Whether a loop is so short that unrolling it, which lets iterations fuse,
  /// is better than a body that is compiled once.
  bool isShort(int64_t iterations, const onnx::GraphProto &body) const;
  bool checkUnrolled(NodePlace &at, const onnx::GraphProto &body,
                     int64_t count);
  mlir::Value stack(NodePlace &at, llvm::ArrayRef<mlir::Value> parts,
                    int64_t axis);
  /// Returns a tensor of a type that has an axis of size 0.
  mlir::Value emptyTensor(NodePlace &at, mlir::RankedTensorType type);

  // Defined in RunTimeLoop.cpp: import of Loop as a `graph.loop`.
  class RunTimeLoop;
  NodeResults importRunTimeLoop(NodePlace &at);

  // Defined in ScanNodes.cpp: import of the operator Scan.
  NodeResults importScan(NodePlace &at);
  NodeResults unrollScan(NodePlace &at, const ScanForm &form);
  NodeResults importRunTimeScan(NodePlace &at, ScanForm form);

  // Defined in SequenceNodes.cpp: import of operators on sequences and optional
  // values.
  NodeResults importSequenceConstruct(NodePlace &at);
  NodeResults importSequenceInsert(NodePlace &at);
  NodeResults importSequenceErase(NodePlace &at);
  NodeResults importSequenceAt(NodePlace &at);
  NodeResults importSequenceLength(NodePlace &at);
  NodeResults importSplitToSequence(NodePlace &at);
  NodeResults importConcatFromSequence(NodePlace &at);
  NodeResults importOptional(NodePlace &at);
  NodeResults importOptionalHasElement(NodePlace &at);
  NodeResults importOptionalGetElement(NodePlace &at);

  mlir::Value integers(NodePlace &at, llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<int64_t> values);
  mlir::Value integers(NodePlace &at, llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<graph::Dim> values);
  mlir::Value boolean(NodePlace &at, bool value);
  mlir::Value constant(mlir::ElementsAttr value, mlir::Location loc);
  /// Returns the constant that has replaced a value, or the value itself if no
  /// constant has.
  mlir::Value resolve(mlir::Value value) const;

  ModelFile &file;
  const ImportOptions &options;
  Diagnostics &diagnostics;
  mlir::MLIRContext &context;
  mlir::OpBuilder builder;
  mlir::func::FuncOp main;
  OpsetImports opsets;
  llvm::StringMap<const onnx::FunctionProto *> functions;
  /// The comments that the header of the generated code shows for inputs and
  /// outputs, by name.
  llvm::StringMap<std::string> notes;
  /// The size of each symbol that options or the user's data for inputs
  /// determine.
  std::map<std::string, graph::Dim> symbols;
  /// Maps the name of each symbol that an assumption, such as the equality of
  /// two sizes, has eliminated, to the size that replaces it in the program.
  std::map<std::string, graph::Dim> assumed;
  /// Assumes that the symbol in `size` has the one value for which `size`
  /// equals `number`. Returns false if there is no such value or more than one.
  bool solve(const graph::Dim &size, int64_t number);
  /// Replaces each symbol by the size given for it, also in the types of all
  /// operations that have been built.
  void takeAs(llvm::ArrayRef<std::pair<kernel::SymbolAttr, graph::Dim>> sizes);
  /// Replaces each `graph.sizes` operation whose sizes have all become numbers
  /// by a constant.
  void foldSizes();
  graph::Dim sizeInProgram(kernel::SymbolAttr symbol) const;
  graph::Dim inProgram(const graph::Dim &size) const;
  /// Stores two things as attributes of main: the sizes that a caller of the
  /// generated function passes for an input, if the program uses other sizes
  /// for it, and the sizes that must be equal in a call.
  void describeInputSizes();
  /// For each argument of main: its sizes as a caller of the generated function
  /// passes them, before any sizes were assumed to be equal.
  std::vector<graph::Dims> givenSizes;
  graph::Dim dimOf(llvm::StringRef name, SizeRange range);
  llvm::StringSet<> unbound;
  /// The diagnostic for a dynamic size of an input that no option sets. It is
  /// reported unless the model determines the size.
  struct Question {
    std::string symbol, message, hint;
  };
  std::vector<Question> questions;
  /// Assumes that a symbol whose name is a formula of other symbols, such as
  /// `past_length + length`, equals the value of the formula.
  void followFormulas();
  /// Whether the model determines the size of a symbol that no option sets.
  bool isDetermined(llvm::StringRef symbol) const;
  /// Reports the input sizes that neither options nor the model determine, and
  /// returns whether there are any. If so, also drops the diagnostics that were
  /// reported since `before` was copied and may be consequences of the missing
  /// sizes.
  bool reportUnbound(const Diagnostics &before);
  /// The names of all data-dependent sizes.
  llvm::StringSet<> made;
  /// How often each name of a data-dependent size was requested: repeated names
  /// get a number as suffix.
  llvm::StringMap<unsigned> timesMade;
  /// Returns the name of a new data-dependent size: the node's first output and
  /// `suffix`, and a number if another size has that name.
  std::string nameSize(const NodePlace &at, const llvm::Twine &suffix);
  /// Whether `size` is 1 or equal to `whole` in every run, because `whole` was
  /// created as the broadcast of `size` and other sizes.
  bool isPart(const graph::Dim &size, const graph::Dim &whole) const;
  /// The products (size - 1) * (size - other) for which checkOneOr has already
  /// emitted a check that they are 0.
  graph::Dims checked;
  /// A size created by wholeOf as the broadcast of x and y.
  struct Whole {
    std::string name;
    graph::Dim size, x, y;
    mlir::Block *block;
    /// Whether the size is computed at the start of a run.
    bool isFirst;
  };
  std::vector<Whole> wholes;
  /// Names of the data-dependent sizes that are computed inside the bodies of
  /// If, Loop and Scan.
  llvm::StringSet<> madeInBodies;
  /// The names of main's arguments, in order.
  std::vector<std::string> argumentNames;
  llvm::DenseMap<mlir::Value, mlir::Value> replaced;
  /// Values that depend on inputs of the graph and therefore are not constants.
  llvm::DenseSet<mlir::Value> notConstant;
  static constexpr int64_t maxEvaluatedElements = int64_t(1) << 24;
  /// The calls of model functions in progress, and the depth of all calls,
  /// which includes calls of functions by which ONNX defines operators.
  llvm::SmallVector<const onnx::FunctionProto *> callStack;
  unsigned callDepth = 0;
  /// The iteration numbers of the loops that the builder is in, outermost
  /// first.
  llvm::SmallVector<mlir::Value> iterations;
  /// The number of copies that the unrolled loops around the current node make
  /// of it.
  int64_t copies = 1;
  /// The number of branches of `If` that the builder is in.
  unsigned branchDepth = 0;
  /// The total number of imported nodes, which is limited: nested calls of
  /// functions can multiply nodes.
  size_t importedNodes = 0;
  bool exhausted = false;
};

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_GRAPHIMPORTER_H
