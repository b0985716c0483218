// Lists the operators that support strings; imports initializers of strings.
//
// ONNX allows strings in many operators that only move elements. Operators that
// are not in this list reject strings with a diagnostic.

#include "compiler/import/GraphImporter.h"
#include "compiler/import/TensorData.h"
#include "dialects/graph/ops/Strings.h"

using namespace mlir;

namespace ingot {

static constexpr StringLiteral takingStrings[] = {"CallExternal",
                                                  "Cast",
                                                  "CastLike",
                                                  "CategoryMapper",
                                                  "Compress",
                                                  "Concat",
                                                  "Equal",
                                                  "Expand",
                                                  "Flatten",
                                                  "Gather",
                                                  "GatherElements",
                                                  "GatherND",
                                                  "Identity",
                                                  "LabelEncoder",
                                                  "Loop",
                                                  "OneHotEncoder",
                                                  "Optional",
                                                  "OptionalGetElement",
                                                  "OptionalHasElement",
                                                  "RegexFullMatch",
                                                  "Reshape",
                                                  "Scan",
                                                  "SequenceConstruct",
                                                  "SequenceInsert",
                                                  "Shape",
                                                  "Size",
                                                  "Slice",
                                                  "Split",
                                                  "SplitToSequence",
                                                  "Squeeze",
                                                  "StringConcat",
                                                  "StringNormalizer",
                                                  "StringSplit",
                                                  "TfIdfVectorizer",
                                                  "Tile",
                                                  "Tokenizer",
                                                  "Transpose",
                                                  "Unsqueeze",
                                                  "Where",
                                                  "ArrayFeatureExtractor"};

static bool isOfStrings(Value value) {
  auto type =
      value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  return type && isa<kernel::StringType>(type.getElementType());
}

/// Whether ONNX allows an operand of an operator to be a tensor of strings.
static bool takesStrings(const onnx::OpSchema::FormalParameter &operand) {
  return llvm::any_of(operand.GetTypes(), [](const std::string *type) {
    return *type == "tensor(string)";
  });
}

bool GraphImporter::checkStrings(const NodePlace &at) {
  // A call of a model-local function is not checked here: the nodes of its body
  // are checked when they are imported.
  if (llvm::none_of(at.inputs, isOfStrings) ||
      llvm::is_contained(takingStrings, StringRef(at.node.op_type())) ||
      functions.count(
          functionKey(at.node.domain(), at.node.op_type(), at.node.overload())))
    return true;
  bool isAllowed = at.schema && llvm::any_of(at.schema->inputs(), takesStrings);
  report(DiagnosticId::UnsupportedType,
         "`" + printable(at.node.op_type()) +
             "` cannot take strings: an input is a string tensor",
         at, "",
         isAllowed ? "map the strings to integers first, for example by "
                     "LabelEncoder, or compute the node outside the network"
                   : "ONNX allows only numbers here: the model is invalid");
  return false;
}

bool GraphImporter::checkLasting(const NodePlace &at, func::FuncOp body,
                                 ArrayRef<Value> results) {
  SmallVector<Value> path(results);
  llvm::DenseSet<Value> seen;
  llvm::SmallPtrSet<Region *, 4> inside{&body.getBody()};
  while (!path.empty()) {
    Value value = path.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || !isOfStrings(value) || !inside.contains(op->getParentRegion()) ||
        !seen.insert(value).second)
      continue;
    if (graph::writesCharacters(op)) {
      report(DiagnosticId::UnsupportedForm,
             "`" + printable(at.node.op_type()) +
                 "`: its body returns strings that it makes, whose characters "
                 "the next iteration overwrites",
             at, "",
             "make the strings before or after the node, or fix the number of "
             "iterations, so that a few iterations can be unrolled");
      return false;
    }
    if (auto choice = dyn_cast<graph::IfOp>(op))
      for (StringRef name : {choice.getThenBody(), choice.getElseBody()}) {
        auto branch = cast<ModuleOp>(main->getParentOp())
                          .lookupSymbol<func::FuncOp>(name);
        inside.insert(&branch.getBody());
        path.push_back(branch.getBody().front().getTerminator()->getOperand(
            cast<OpResult>(value).getResultNumber()));
      }
    llvm::append_range(path, op->getOperands());
  }
  return true;
}

void GraphImporter::importStrings(const onnx::TensorProto &initializer,
                                  Scope &scope) {
  const std::string &name = initializer.name();
  std::string error;
  if (auto strings = stringsOf(initializer, &context, error)) {
    Location loc = NameLoc::get(builder.getStringAttr(printable(name)));
    scope.bindings[name] = Binding::known(
        graph::buildStrings(builder, loc, strings->shape, strings->values));
    return;
  }
  diagnostics.report(DiagnosticId::InvalidTensor,
                     "the initializer `" + printable(name) + "` " + error);
  scope.bindings[name] = Binding::poisoned();
}

} // namespace ingot
