#include "compiler/EntryPoints.h"

#include "compiler/report/Suggest.h"
#include "dialects/graph/ElementsData.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/kernel/KernelModule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot {

void addEntryPoint(ModuleOp module, ModuleOp from, StringRef name) {
  SymbolTable own(from), taken(module);
  auto main = own.lookup<func::FuncOp>(kernel::kMainName);
  // Rename private functions first, so that the name of the entry point is
  // free.
  for (auto function : from.getOps<func::FuncOp>()) {
    StringRef symbol = function.getName();
    if (function != main && (taken.lookup(symbol) || symbol == name))
      (void)own.renameToUnique(function, {&taken});
  }
  if (name != kernel::kMainName)
    (void)own.rename(main, name);
  // A private function of `module` that has the name of the entry point is
  // renamed.
  if (Operation *other = taken.lookup(name))
    (void)taken.renameToUnique(other, {&own});
  for (Operation &op : llvm::make_early_inc_range(*from.getBody()))
    op.moveBefore(module.getBody(), module.getBody()->end());
}

void shareConstants(ModuleOp module) {
  // How many operations use each resource.
  llvm::DenseMap<DialectResourceBlobManager::BlobEntry *, unsigned> uses;
  module.walk([&](Operation *op) {
    op->getAttrDictionary().walk([&](DenseResourceElementsAttr value) {
      ++uses[value.getRawHandle().getResource()];
    });
  });
  // The constants, by the hash of a sample of their bytes.
  llvm::DenseMap<uint64_t, SmallVector<DenseResourceElementsAttr>> known;
  module.walk([&](graph::ConstantOp constant) {
    auto value = dyn_cast<DenseResourceElementsAttr>(constant.getValue());
    if (!value)
      return;
    auto &candidates = known[graph::hashOfSample(value)];
    for (DenseResourceElementsAttr other : candidates)
      if (other.getType() == value.getType() &&
          graph::haveSameBytes(other, value)) {
        if (other == value)
          return;
        constant.setValueAttr(other);
        // Frees a resource at once, before the next one is read.
        auto *resource = value.getRawHandle().getResource();
        if (--uses[resource] == 0)
          resource->setBlob({});
        return;
      }
    candidates.push_back(value);
  });
}

namespace {

/// Marks as states the inputs and outputs that --state names: a state is an
/// input that receives an output of the previous run.
class StateMarker {
public:
  StateMarker(ModuleOp module, Diagnostics &diagnostics)
      : module(module), diagnostics(diagnostics) {}

  /// Marks an input and an output as a state. If no input has the name `input`
  /// and `input` contains one `*`, marks all inputs that match this pattern;
  /// the text that `*` matches replaces the `*` in `output`.
  void mark(const std::string &input, const std::string &output) {
    if (!isPattern(input) || !find(input, /*outputs=*/false).empty())
      return markPair(input, output);
    option = "--state " + printable(input) + "=" + printable(output);
    if (!isPattern(output))
      return report("`" + printable(output) +
                        "` must contain exactly one `*`, as the pattern of the "
                        "inputs does",
                    "the text that `*` matches in the name of an input "
                    "replaces the `*` in the name of its output");
    auto [before, after] = StringRef(input).split('*');
    auto [first, last] = StringRef(output).split('*');
    std::vector<std::string> parts;
    for (auto function : module.getOps<func::FuncOp>())
      if (function.isPublic())
        for (const Tensor &tensor : tensorsOf(function, /*outputs=*/false)) {
          StringRef part = tensor.name;
          // Several entry points may have an input with the same name, so
          // `parts` may contain the part already.
          if (part.consume_front(before) && part.consume_back(after) &&
              !llvm::is_contained(parts, part))
            parts.push_back(part.str());
        }
    if (parts.empty())
      return reportMissing(input, /*outputs=*/false);
    for (const std::string &part : parts)
      markPair((before + part + after).str(), (first + part + last).str());
  }

private:
  static bool isPattern(StringRef name) { return name.count('*') == 1; }

  void markPair(const std::string &input, const std::string &output) {
    SmallVector<Tensor> inputs = find(input, /*outputs=*/false),
                        outputs = find(output, /*outputs=*/true);
    option = "--state " + printable(input) + "=" + printable(output);
    if (inputs.empty() || outputs.empty())
      return reportMissing(inputs.empty() ? input : output, !inputs.empty());
    for (const Tensor &tensor : llvm::concat<const Tensor>(inputs, outputs)) {
      if (isa<kernel::StringType>(tensor.element) || tensor.isPart)
        return report("`" + printable(tensor.name) + "` is " +
                          (tensor.isPart ? "not a tensor" : "a string tensor"),
                      "a state must be a numeric tensor");
      if (tensor.element != inputs.front().element ||
          !fits(tensor.sizes, inputs.front().sizes))
        return report("the input is " + shapeText(inputs.front()) + ", but `" +
                          printable(tensor.name) + "` is " + shapeText(tensor),
                      "the input and the output of a state must have the same "
                      "type and shape");
      if (!tensor.free)
        return report("`" + printable(tensor.name) +
                          "` already belongs to another state",
                      "each tensor can belong to only one state");
    }
    Builder builder(module.getContext());
    for (Tensor &tensor : inputs)
      tensor.function.setArgAttr(tensor.index, kernel::kStateAttr,
                                 builder.getStringAttr(input));
    for (Tensor &tensor : outputs)
      tensor.function.setResultAttr(tensor.index, kernel::kStateAttr,
                                    builder.getStringAttr(input));
  }

  struct Tensor {
    func::FuncOp function;
    unsigned index;
    std::string name;
    Type element;
    kernel::Dims sizes;
    bool isPart, free;
  };

  SmallVector<Tensor> tensorsOf(func::FuncOp function, bool outputs) {
    SmallVector<Tensor> tensors;
    for (auto [i, type] :
         llvm::enumerate(outputs ? function.getResultTypes()
                                 : function.getArgumentTypes())) {
      DictionaryAttr attrs =
          outputs ? function.getResultAttrDict(i) : function.getArgAttrDict(i);
      if (!attrs)
        continue;
      auto ranked = cast<RankedTensorType>(type);
      auto name = attrs.getAs<StringAttr>(kernel::kOnnxNameAttr);
      auto sizes = attrs.getAs<kernel::SizesAttr>(kernel::kSizesAttr);
      tensors.push_back({function, unsigned(i), name ? name.str() : "",
                         ranked.getElementType(),
                         sizes ? kernel::dimsOf(sizes) : kernel::dimsOf(ranked),
                         attrs.contains(kernel::kPartAttr),
                         !attrs.contains(kernel::kStateAttr) &&
                             !attrs.contains(kernel::kBoundAttr)});
    }
    return tensors;
  }

  SmallVector<Tensor> find(StringRef name, bool outputs) {
    SmallVector<Tensor> found;
    for (auto function : module.getOps<func::FuncOp>())
      if (function.isPublic())
        for (Tensor &tensor : tensorsOf(function, outputs))
          if (tensor.name == name)
            found.push_back(std::move(tensor));
    return found;
  }

  /// Whether the shapes of an input and an output can be equal in some run.
  static bool fits(const kernel::Dims &a, const kernel::Dims &b) {
    return a.size() == b.size() &&
           llvm::all_of(llvm::zip(a, b), [](const auto &pair) {
             const auto &[x, y] = pair;
             return !x.known() || !y.known() || x == y;
           });
  }

  static std::string shapeText(const Tensor &tensor) {
    std::string text;
    llvm::raw_string_ostream os(text);
    os << tensor.element << '[';
    llvm::interleave(
        tensor.sizes, os,
        [&](const kernel::Dim &size) {
          size.known() ? os << *size.known()
                       : os << size.least() << ".." << size.most();
        },
        ",");
    os << ']';
    return text;
  }

  void reportMissing(StringRef name, bool outputs) {
    std::vector<std::string> names;
    for (auto function : module.getOps<func::FuncOp>())
      if (function.isPublic())
        for (const Tensor &tensor : tensorsOf(function, outputs))
          names.push_back(tensor.name);
    std::string kind = outputs ? "output" : "input";
    std::string close = didYouMean(name, names);
    report("the model has no " + kind + " `" + printable(name) + "`",
           close.empty() ? kind + "s: " + llvm::join(names, ", ") : close);
  }

  void report(const Twine &what, const std::string &hint) {
    diagnostics.report(DiagnosticId::BadOption, option + ": " + what, hint);
  }

  ModuleOp module;
  Diagnostics &diagnostics;
  std::string option;
};

} // namespace

bool markStates(ModuleOp module,
                ArrayRef<std::pair<std::string, std::string>> states,
                Diagnostics &diagnostics) {
  for (const auto &[input, output] : states)
    StateMarker(module, diagnostics).mark(input, output);
  return diagnostics.empty();
}

bool markStream(ModuleOp module, const StreamedInput &stream,
                Diagnostics &diagnostics) {
  std::string option = "--stream " + std::to_string(stream.axis);
  auto report = [&](const Twine &what, const std::string &hint) {
    diagnostics.report(DiagnosticId::BadOption, option + ": " + what, hint);
    return false;
  };
  struct Input {
    func::FuncOp function;
    unsigned index;
    std::string name;
  };
  SmallVector<Input> inputs;
  std::vector<std::string> names;
  for (auto function : module.getOps<func::FuncOp>())
    for (unsigned i = 0; function.isPublic() && i < function.getNumArguments();
         ++i) {
      DictionaryAttr attrs = function.getArgAttrDict(i);
      if (attrs && (attrs.contains(kernel::kStateAttr) ||
                    attrs.contains(kernel::kBoundAttr)))
        continue;
      auto name =
          attrs ? attrs.getAs<StringAttr>(kernel::kOnnxNameAttr) : StringAttr();
      std::string text = name ? name.str() : "";
      if (!llvm::is_contained(names, text))
        names.push_back(text);
      if (stream.input.empty() || text == stream.input)
        inputs.push_back({function, i, text});
    }
  if (inputs.empty()) {
    std::string close = didYouMean(stream.input, names);
    return report("the model has no input `" + printable(stream.input) + "`",
                  close.empty() ? "inputs: " + llvm::join(names, ", ") : close);
  }
  if (stream.input.empty() && names.size() > 1)
    return report("the model has " + Twine(names.size()) +
                      " inputs: " + llvm::join(names, ", "),
                  "name one of them, for example --stream " + names.front() +
                      ":" + std::to_string(stream.axis));
  for (Input &input : inputs) {
    auto type = cast<RankedTensorType>(
        input.function.getArgument(input.index).getType());
    int64_t rank = type.getRank(),
            axis = stream.axis < 0 ? stream.axis + rank : stream.axis;
    std::string shape;
    llvm::raw_string_ostream os(shape);
    llvm::interleave(type.getShape(), os, ",");
    if (axis < 0 || axis >= rank)
      return report("`" + printable(input.name) + "` is [" + shape +
                        "], which has no axis " + Twine(stream.axis),
                    "axes are numbered from 0");
    int64_t size = type.getDimSize(axis);
    if (size < 2 || stream.columns >= size)
      return report("`" + printable(input.name) + "` is [" + shape +
                        "], with " + Twine(size) + " columns along axis " +
                        Twine(axis),
                    size < 2 ? "choose the axis of the columns, which has "
                               "more than one"
                             : "a call must take fewer columns than that");
    input.function.setArgAttr(
        input.index, kernel::kStreamAttr,
        DenseI64ArrayAttr::get(module.getContext(), {axis, stream.columns}));
  }
  return true;
}

} // namespace ingot
