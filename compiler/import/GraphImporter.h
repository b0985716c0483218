// Builds graph operators from a model.
//
// Walks a validated model in topological order. A node becomes what its
// operator's import function builds, or the body of its function. A node that
// fails poisons its results: what depends on them is skipped, in silence unless
// its operator is unknown to us, so that each fault is reported once and all in
// one run.

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

/// What a name stands for. Of a sequence the importer keeps the elements, or, if how
/// many there are is known only at run time, what it is then. An optional value is what
/// it holds, or absent; or the run says whether it is there.
struct Binding {
  enum Kind { Undefined, Poisoned, Absent, Known, Sequence } kind = Undefined;
  mlir::Value value = {};
  std::vector<mlir::Value> elements = {};
  std::optional<RunTimeSequence> list = {};
  /// A truth value; null where the value is there.
  mlir::Value present = {};

  /// A sequence whose length the importer knows.
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

/// What a node's outputs are bound to.
using NodeResults = mlir::FailureOr<llvm::SmallVector<Binding>>;

/// The names of one graph or function body. Graphs see the names around them,
/// function bodies do not.
struct Scope {
  const Scope *outer = nullptr;
  const OpsetImports *opsets = nullptr;
  llvm::StringMap<Binding> bindings = {};
  /// Set in function bodies: the call, for diagnostics and locations.
  const onnx::NodeProto *call = nullptr;
  int64_t callIndex = -1, callOpset = 0;
  std::string inside = {};
  /// A number that no other scope of the model has: see RandomKeys.cpp.
  uint64_t place = 0;

  Binding lookup(llvm::StringRef name) const;
};

/// A node and where it stands.
struct NodePlace {
  const onnx::NodeProto &node;
  int64_t index;
  int64_t opset;
  Scope &scope;
  const onnx::OpSchema *schema = nullptr;
  llvm::SmallVector<Binding> bindings = {};
  /// The values of `bindings`, null where there is none.
  llvm::SmallVector<mlir::Value> inputs = {};
  /// What ONNX's own rules infer; may be partial.
  std::vector<onnx::TypeProto> inferred = {};
  /// It failed because of an inner node, which has been reported.
  bool poisoned = false;
  /// It was built from the body that ONNX defines the operator by.
  bool isExpanded = false;
};

struct ScanForm;

/// While it lives, or until it is left, the builder is in an iteration of a loop.
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

  /// Where a node is, and what its operands are.
  Diagnostic diagnosticAt(const NodePlace &at);

  // For ProtoNode.
  mlir::DenseElementsAttr constantOf(mlir::Value value);
  /// The elements of a tensor of integers as numbers and expressions of sizes that
  /// are known only at run time; empty where some element is neither.
  std::optional<graph::Dims> sizesIn(mlir::Value value);
  /// The elements of a vector that are such.
  llvm::SmallVector<std::optional<graph::Dim>> elementsIn(mlir::Value value);
  /// Makes a constant of a part of a shape that is the same in each run.
  void foldPartOfShape(Binding &result);
  /// The sizes that integers of the run are: see MadeSizes.cpp.
  mlir::FailureOr<graph::Dims>
  readSizes(const NodePlace &at, mlir::Value counts,
            llvm::ArrayRef<std::optional<int64_t>> most);
  /// A size that the node makes of values of the run, at most `most` where that follows.
  mlir::FailureOr<graph::Dim> madeSize(const NodePlace &at,
                                       const llvm::Twine &suffix,
                                       std::optional<int64_t> most,
                                       llvm::ArrayRef<mlir::Value> from);
  /// Has the run read such a size.
  void readSize(const NodePlace &at, mlir::Value count, const graph::Dim &size);
  void checkEqual(const NodePlace &at, const graph::Dim &x,
                  const graph::Dim &y);
  /// Has a run end with an error where a size is neither 1 nor another one: at its
  /// beginning, if both are known there.
  void checkOneOr(const NodePlace &at, const graph::Dim &size,
                  const graph::Dim &other);
  /// Whether a size is a number, or may be when the program runs.
  static bool mayBe(const graph::Dim &size, int64_t number);
  /// Refuses a result of a body that has a size which each run of the body makes.
  bool checkStaysInside(const NodePlace &at, mlir::func::FuncOp body,
                        llvm::ArrayRef<mlir::Value> results);
  /// The size that two sizes have together of which either may be 1. A run ends with an
  /// error if neither is 1 and they differ.
  graph::Dim wholeOf(NodePlace &at, const graph::Dim &x, const graph::Dim &y);
  /// Moves the builder out of the bodies that it is in, if a size is known around them.
  /// What branches ask of sizes, a run of the other branch does not need: not out of these.
  void leaveBodies(const graph::Dim &size);
  /// Moves the builder to the first place in main where a size is known.
  void moveToSize(const graph::Dim &size);
  void buildCheck(const NodePlace &at, const graph::Dim &x,
                  const graph::Dim &y);
  bool isMade(kernel::SymbolAttr symbol) const;
  /// What the user says of a size that the run makes, or of all sizes.
  std::optional<SizeRange> boundOf(const std::string &name) const;
  /// Refuses a result that is too large at the bounds of its sizes.
  bool fitsAtBounds(const NodePlace &at, mlir::RankedTensorType type);
  /// Refuses --dim of sizes that the run does not make.
  void checkMadeOptions();
  /// Takes two sizes to be equal that differ in one symbol: see EqualSizes.cpp.
  bool assumeEqual(const graph::Dim &x, const graph::Dim &y);
  /// The same where the sizes cannot be meant to differ: one of them may also have to
  /// be a number or a product.
  bool requireEqual(const graph::Dim &x, const graph::Dim &y);
  /// Gives the operands of a node that have the size x along an axis the size y, which a
  /// run checks x to be. Returns whether there is one, and the sizes may be equal.
  bool restate(NodePlace &at, graph::Dim x, graph::Dim y);
  /// Takes a size to be a multiple of a number.
  bool requireMultiple(const graph::Dim &x, int64_t divisor);
  /// Takes a size to be at least a number.
  bool requireAtLeast(const graph::Dim &x, int64_t least);
  bool requireAtMost(const graph::Dim &x, int64_t most);
  /// Does so with the sizes of tensors along each axis but one.
  void assumeAlike(llvm::ArrayRef<mlir::Value> tensors,
                   std::optional<int64_t> otherAxis);
  /// constantOf, binding inputs of the graph to their data if that helps.
  mlir::DenseElementsAttr requireConstant(mlir::Value value);
  void report(DiagnosticId id, const llvm::Twine &message, const NodePlace &at,
              std::string supported = "", std::string hint = "");
  /// Reports that the value of input `i` must be known.
  void reportNotConstant(const NodePlace &at, unsigned i, llvm::StringRef what);
  /// Reports that a node's condition is only known at run time; with --bind as
  /// the way out where that is one.
  void reportRuntimeCondition(const NodePlace &at, mlir::Value condition,
                              std::string supported);
  /// Reports `message`, a form that would do if `values`, which are only known at run
  /// time, were known; with --bind as the way out where that is one.
  void reportUnlessKnown(const NodePlace &at, const llvm::Twine &message,
                         llvm::ArrayRef<mlir::Value> values);
  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location locationOf(const NodePlace &at);
  /// As OnnxNode::randomKey.
  mlir::Value randomKey(NodePlace &at, std::optional<uint64_t> seed);
  ModelFile &getFile() { return file; }
  /// The limits of an operator that is resolved here; none of any other.
  static std::optional<ResolvedOperator> resolvedOf(llvm::StringRef domain,
                                                    llvm::StringRef name);

private:
  // Inputs and outputs.
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
  /// Returns the inputs whose values decide `value`; none where it depends on
  /// too much to be bound.
  std::vector<std::string> bindableInputs(mlir::Value value) const;
  /// "give the values with --bind a=VALUES --bind b=VALUES".
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
  /// ONNX's element type as ours; null with a diagnostic about `shown`.
  mlir::Type elementTypeOf(const std::string &shown, int64_t dataType);

  // SequenceInterface.cpp: inputs and outputs that are sequences or optional.
  /// The types of the tensors that an input is passed as; none with a diagnostic.
  llvm::SmallVector<mlir::RankedTensorType>
  partTypes(const onnx::ValueInfoProto &input);
  /// How many elements a sequence has, and of what sizes; none with a diagnostic.
  struct SequenceSizes {
    graph::Dim count;
    llvm::SmallVector<SizeRange> element;
  };
  std::optional<SequenceSizes> sequenceSizes(const onnx::ValueInfoProto &input);
  Binding sequenceOf(const onnx::ValueInfoProto &input, mlir::Value rows,
                     mlir::Value shapes);
  /// What an input is, given its parts.
  Binding valueOfParts(const onnx::ValueInfoProto &input,
                       llvm::ArrayRef<mlir::Value> parts);
  /// A tensor that an output is passed as; of a sequence the shape of all elements.
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
  /// A value as small as the type allows, for one that is not there.
  Binding zeroValue(NodePlace &at, const onnx::TypeProto &type);

  // Nodes.
  void importNodes(const NodeList &nodes, Scope &scope);
  void importNode(const onnx::NodeProto &node, int64_t index, Scope &scope);
  NodeResults buildNode(NodePlace &at);
  void reportUnimplemented(const NodePlace &at);
  /// For a node that is skipped because an operand of it failed: what can be
  /// said without operands.
  void reportIfUnimplemented(const NodePlace &at);
  NodeResults call(const onnx::FunctionProto &function, NodePlace &at,
                   bool isLocal);
  bool checkResults(NodePlace &at, llvm::ArrayRef<Binding> results);

  /// Whether all that a node has become, behind `before`, holds for sizes that
  /// are known only at run time; false with a diagnostic.
  /// Reports `what` as not supported at the sizes that a node's operands have
  /// only at run time; fails.
  NodeResults reportRunTimeSize(const NodePlace &at, const llvm::Twine &what);
  bool checkRunTimeSizes(const NodePlace &at, llvm::ArrayRef<Binding> results,
                         mlir::Operation *before);
  void assumeFitting(NodePlace &at);
  bool checkTensorAttributes(NodePlace &at);
  /// Refuses strings where an operator does not take them (StringNodes.cpp).
  bool checkStrings(const NodePlace &at);
  void importStrings(const onnx::TensorProto &initializer, Scope &scope);
  /// Makes a node of opset 6 one of opset 7; false if that cannot be done.
  bool raiseLegacy(NodePlace &at);
  bool alignSecond(NodePlace &at);
  /// Sums and the like did not broadcast before opset 8.
  bool checkEqualShapes(NodePlace &at);

  // ControlNodes.cpp: operators without a counterpart in the graph dialect.
  struct Special {
    NodeResults (GraphImporter::*import)(NodePlace &);
    /// What of the operator is not supported, in words.
    llvm::StringRef limits = "";
    /// Whether operands may be sequences; Only: ONNX's type rules, which would
    /// have to be told of those, are not asked.
    enum { No, May, Only } sequences = No;
    /// The operator of the graph dialect that it is where the run decides, or that it
    /// is several.
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
  /// The graph that is the attribute `name`; null with a diagnostic.
  const onnx::GraphProto *bodyOf(NodePlace &at, llvm::StringRef name);
  /// The scope of a body's initializers, which all its runs share.
  Scope bodyScope(NodePlace &at, llvm::StringRef name,
                  const onnx::GraphProto &body);
  /// The outputs of a body for these arguments.
  NodeResults runBody(NodePlace &at, const Scope &shared,
                      const onnx::GraphProto &body,
                      llvm::ArrayRef<Binding> arguments);

  /// The number of a scope that a node opens: of its body `name`, or of a call of it.
  static uint64_t placeOf(const NodePlace &at, llvm::StringRef name = "");

  // BodyFunctions.cpp: bodies that become functions of their own.
  struct BodyFunction {
    mlir::func::FuncOp function;
    /// In the function or, until it is closed, around it; with the model's names.
    llvm::SmallVector<mlir::Value> results;
    llvm::SmallVector<std::string> names = {};
    /// The results as the body has them.
    llvm::SmallVector<Binding> bindings = {};
  };
  /// Imports the body `name` as a private function. `bind` says what its inputs are,
  /// given the function's arguments, which have these types.
  mlir::FailureOr<BodyFunction>
  openBody(NodePlace &at, llvm::StringRef name,
           llvm::ArrayRef<mlir::Type> types,
           llvm::function_ref<llvm::SmallVector<Binding>(mlir::Block &)> bind);
  /// Returns the results of bodies, and gives each body an argument for every value
  /// around the bodies that one of them reads. Returns these values.
  llvm::SmallVector<mlir::Value>
  closeBodies(llvm::MutableArrayRef<BodyFunction> bodies);
  /// Removes a function that is not needed after all.
  void dropBody(mlir::func::FuncOp function);
  /// Drops what is known of values that are to be erased.
  void forget(llvm::function_ref<bool(mlir::Value)> isGone);
  /// Runs `build`. If that fails, the functions that it has made are gone, nothing
  /// is reported, and `why` has what was.
  NodeResults attempt(NodePlace &at, Diagnostics &why,
                      llvm::function_ref<NodeResults()> build);
  NodeResults importRunTimeIf(NodePlace &at);
  bool checkCarried(NodePlace &at, llvm::ArrayRef<Binding> states);

  // CarriedValues.cpp: sequences and optional values that bodies take and result in.
  /// What stands for values of one form, a few tensors.
  struct CarriedForm {
    /// Of a sequence; of a tensor its type.
    std::optional<SequenceForm> sequence = {};
    mlir::Type tensor = {};
    /// It is a tensor whose sizes are not always the same: a sequence of one.
    bool isBox = false;
    bool hasPresent = false;
  };
  /// The value whose tensors these are; takes them off the front.
  mlir::FailureOr<Binding> takeTensors(NodePlace &at, const CarriedForm &form,
                                       llvm::ArrayRef<mlir::Value> &values);
  /// The form of a tensor whose sizes are not always those of `type`.
  static CarriedForm boxOf(mlir::Type type);
  /// A size of the type that each run of the body makes; null if there is none.
  kernel::SymbolAttr madeIn(mlir::func::FuncOp body, mlir::Type type) const;
  /// Gives a result of a body the sizes that the body declares for it, in place of those
  /// that each run of the body makes; a run that makes others ends with an error.
  void takeAsDeclared(NodePlace &at, BodyFunction &body, size_t result,
                      const onnx::ValueInfoProto &declared);
  /// None if a value has no such form.
  static std::optional<CarriedForm> formOf(const Binding &binding);
  /// The form that has room for both; none if there is none.
  static std::optional<CarriedForm> join(const CarriedForm &a,
                                         const CarriedForm &b);
  /// The same of values of which one may not be there.
  static std::optional<CarriedForm> formOfEither(const Binding &a,
                                                 const Binding &b);
  /// How large something can get in a loop that makes it larger by `more` each time.
  std::optional<int64_t> mostAfter(const NodePlace &at,
                                   const std::optional<graph::Dim> &count,
                                   int64_t first, int64_t more,
                                   const std::string &name);
  /// Appends the tensors of a value in a form with room for it.
  bool appendTensors(NodePlace &at, const Binding &binding,
                     const CarriedForm &form,
                     llvm::SmallVectorImpl<mlir::Value> &values);
  /// Makes the results of a body their tensors.
  bool closeResults(NodePlace &at, BodyFunction &body,
                    llvm::ArrayRef<CarriedForm> forms);

  // LoopNodes.cpp.
  NodeResults importLoop(NodePlace &at);
  NodeResults unrollLoop(NodePlace &at);
  NodeResults importRunTimeLoop(NodePlace &at);
  NodeResults importSkippedLoop(NodePlace &at, const onnx::GraphProto &body);
  using CarriedForms = llvm::SmallVector<std::optional<CarriedForm>>;
  /// Fails and sets `grown` if a state needs a larger form than `forms` says; then
  /// `forms` says that.
  NodeResults buildLoop(NodePlace &at, CarriedForms &forms, bool &grown);
  /// Widens the forms of states to what an iteration makes of them.
  bool growForms(NodePlace &at, llvm::ArrayRef<Binding> states,
                 llvm::ArrayRef<Binding> results,
                 const std::optional<graph::Dim> &count, CarriedForms &forms,
                 bool &grown);
  /// Whether a loop is so short that iterations which fuse are worth more than a
  /// body that is compiled once.
  static constexpr int64_t maxUnrolledNodes = 20'000;
  static bool isShort(int64_t iterations, const onnx::GraphProto &body);
  bool checkUnrolled(NodePlace &at, const onnx::GraphProto &body,
                     int64_t count);
  mlir::Value stack(NodePlace &at, llvm::ArrayRef<mlir::Value> parts,
                    int64_t axis);

  // ScanNodes.cpp.
  NodeResults importScan(NodePlace &at);
  NodeResults unrollScan(NodePlace &at, const ScanForm &form);
  NodeResults importRunTimeScan(NodePlace &at, ScanForm form);

  // SequenceNodes.cpp.
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
  /// The constant that has replaced a value, or the value.
  mlir::Value resolve(mlir::Value value) const;

  ModelFile &file;
  const ImportOptions &options;
  Diagnostics &diagnostics;
  mlir::MLIRContext &context;
  mlir::OpBuilder builder;
  mlir::func::FuncOp main;
  OpsetImports opsets;
  llvm::StringMap<const onnx::FunctionProto *> functions;
  /// Sizes of symbols, from options and data.
  std::map<std::string, graph::Dim> symbols;
  /// What symbols are in the program, where that is assumed.
  std::map<std::string, graph::Dim> assumed;
  /// Takes the symbol of a size to be the one value for which the size is a number.
  bool solve(const graph::Dim &size, int64_t number);
  /// Takes symbols to be these sizes, in all that has been built.
  void takeAs(llvm::ArrayRef<std::pair<kernel::SymbolAttr, graph::Dim>> sizes);
  /// Makes constants of sizes that are numbers by now.
  void foldSizes();
  graph::Dim sizeInProgram(kernel::SymbolAttr symbol) const;
  graph::Dim inProgram(const graph::Dim &size) const;
  /// States the sizes of inputs where types in the program have others, and which
  /// sizes have to be equal.
  void describeInputSizes();
  /// The sizes of inputs as they were before any were assumed to be equal.
  std::vector<graph::Dims> givenSizes;
  graph::Dim dimOf(llvm::StringRef name, SizeRange range);
  llvm::StringSet<> unbound;
  /// What is said of sizes of inputs that no option sets, unless the model determines them.
  struct Question {
    std::string symbol, message, hint;
  };
  std::vector<Question> questions;
  /// Takes symbols whose names are formulas of others to be what they say.
  void followFormulas();
  /// Whether the model determines the size of a symbol that no option sets.
  bool isDetermined(llvm::StringRef symbol) const;
  /// Reports the sizes that neither options nor the model determine, instead of what
  /// follows from them; returns whether there are any.
  bool reportUnbound(const Diagnostics &before);
  /// Names of the sizes that runs make.
  llvm::StringSet<> made;
  /// How often a name was asked for again: the next of that name ends with a number.
  llvm::StringMap<unsigned> timesMade;
  /// Returns a name that no size has yet.
  std::string nameSize(const NodePlace &at, const llvm::Twine &suffix);
  /// Whether a size is 1 or `whole` in every run since `whole` was made of it.
  bool isPart(const graph::Dim &size, const graph::Dim &whole) const;
  /// What checkOneOr has a check of.
  graph::Dims checked;
  /// What wholeOf has made, of what.
  struct Whole {
    std::string name;
    graph::Dim size, x, y;
    mlir::Block *block;
    /// It is made where a run begins.
    bool isFirst;
  };
  std::vector<Whole> wholes;
  /// Names of the sizes that runs of bodies make.
  llvm::StringSet<> madeInBodies;
  /// Names of main's arguments.
  std::vector<std::string> argumentNames;
  llvm::DenseMap<mlir::Value, mlir::Value> replaced;
  /// Values known to depend on inputs.
  llvm::DenseSet<mlir::Value> notConstant;
  static constexpr int64_t maxEvaluatedElements = int64_t(1) << 24;
  /// Function calls in progress, and nodes imported in all: functions may
  /// multiply.
  llvm::SmallVector<const onnx::FunctionProto *> callStack;
  unsigned callDepth = 0;
  /// The numbers of the iterations that the builder is in, outermost first.
  llvm::SmallVector<mlir::Value> iterations;
  /// How many branches of `If` the builder is in.
  unsigned branchDepth = 0;
  size_t importedNodes = 0;
  bool exhausted = false;
};

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_GRAPHIMPORTER_H
