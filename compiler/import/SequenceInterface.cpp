// Imports inputs and outputs that are sequences or optional values.
//
// The tensors that such a value consists of (ValueFile.h) are arguments or
// results of main. If the user gives data for an input, its shapes and presence
// are fixed to those of the data, and a sequence becomes a list of tensors,
// each sliced from the argument.

#include "compiler/import/GraphImporter.h"
#include "compiler/import/ProtoNode.h"
#include "compiler/import/Summary.h"
#include "compiler/import/TensorData.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot {

SmallVector<RankedTensorType>
GraphImporter::partTypes(const onnx::ValueInfoProto &input) {
  SmallVector<Part> parts = partsOf(input.type());
  if (parts.empty() || parts.front() == Part::Whole)
    return {inputType(input)};
  const onnx::TypeProto_Tensor &tensor = *tensorIn(input.type());
  Type element = elementTypeOf("the input `" + printable(input.name()) + "`",
                               tensor.elem_type());
  if (!element)
    return {};
  SmallVector<RankedTensorType> types;
  for (Part part : parts) {
    auto given = options.shapes.find(partName(input.name(), part));
    Type own = part == Part::Present ? Type(builder.getI1Type())
               : part == Part::Shapes
                   ? Type(builder.getIntegerType(64, /*isSigned=*/true))
                   : element;
    if (given != options.shapes.end()) {
      types.push_back(RankedTensorType::get(given->second, own));
    } else if (part == Part::Present) {
      types.push_back(RankedTensorType::get({}, own));
    } else if (part == Part::Whole) {
      onnx::ValueInfoProto whole;
      whole.set_name(input.name());
      *whole.mutable_type()->mutable_tensor_type() = tensor;
      types.push_back(inputType(whole));
    } else {
      auto sizes = sequenceSizes(input);
      if (!sizes)
        return {};
      Dim width = 1;
      for (SizeRange size : sizes->element)
        width *= size.most;
      types.push_back(tensorOf(
          {sizes->count,
           part == Part::Shapes ? Dim(int64_t(sizes->element.size())) : width},
          own));
    }
  }
  return types;
}

std::optional<GraphImporter::SequenceSizes>
GraphImporter::sequenceSizes(const onnx::ValueInfoProto &input) {
  const std::string &name = input.name();
  const onnx::TypeProto_Tensor &tensor = *tensorIn(input.type());
  std::string shown = "the input `" + printable(name) + "`";
  auto rangeOf = [&](ArrayRef<std::string> keys, const Twine &what) {
    for (const std::string &key : keys)
      if (auto own = options.dims.find(key);
          own != options.dims.end() && !key.empty())
        return own->second;
    if (unbound.insert(keys.front()).second)
      diagnostics.report(
          DiagnosticId::UnboundDimension,
          shown + " is a sequence, and no option gives bounds for " + what,
          "set bounds with --dim " + printable(keys.front()) + "=0..16");
    return SizeRange();
  };
  SequenceSizes sizes;
  if (!tensor.has_shape() && !options.dims.count(name + ":0")) {
    diagnostics.report(DiagnosticId::UnboundDimension,
                       shown + " is a sequence of tensors of unknown rank",
                       "set all their sizes: --dim " + printable(name) +
                           ":0=0..16 --dim " + printable(name) + ":1=...");
    return std::nullopt;
  }
  size_t reported = diagnostics.size();
  std::string count = name + "_count";
  sizes.count = dimOf(count, rangeOf({count, "*"}, "its length"));
  for (int axis = 0;; ++axis) {
    std::string place = name + ":" + std::to_string(axis);
    if (tensor.has_shape() ? axis == tensor.shape().dim_size()
                           : !options.dims.count(place))
      break;
    onnx::TensorShapeProto_Dimension dim;
    if (tensor.has_shape())
      dim = tensor.shape().dim(axis);
    if (dim.has_dim_value() && dim.dim_value() >= 0)
      sizes.element.push_back(SizeRange(dim.dim_value()));
    else
      sizes.element.push_back(
          rangeOf({place, dim.dim_param(), "*"},
                  "the size of its elements along axis " + Twine(axis)));
  }
  SmallVector<int64_t> most{sizes.count.most()};
  for (SizeRange size : sizes.element)
    most.push_back(size.most);
  if (diagnostics.size() == reported && !checkedElements(most, 64))
    diagnostics.report(DiagnosticId::UnsupportedForm,
                       shown +
                           " is too large with all sizes at their upper bounds",
                       "reduce the bounds with --dim");
  if (diagnostics.size() != reported)
    return std::nullopt;
  return sizes;
}

/// Returns the elements of a sequence, which are stored in the rows of a
/// matrix, as a list of tensors with the given shapes.
static std::vector<Value> listOf(OpBuilder &builder, Value rows,
                                 ArrayRef<SmallVector<int64_t>> shapes) {
  std::vector<Value> list;
  Location loc = rows.getLoc();
  for (auto [i, shape] : llvm::enumerate(shapes)) {
    int64_t width = 1;
    for (int64_t size : shape)
      width *= size;
    Value row = slice(builder, loc, rows, 0, i, 1);
    list.push_back(buildReshape(builder, loc,
                                slice(builder, loc, row, 1, 0, width), shape));
  }
  return list;
}

Binding GraphImporter::valueOfParts(const onnx::ValueInfoProto &input,
                                    ArrayRef<Value> parts) {
  Binding binding;
  Value present;
  for (auto [part, argument] : llvm::zip(partsOf(input.type()), parts)) {
    Value value = resolve(argument);
    switch (part) {
    case Part::Whole:
      binding = Binding::known(value);
      break;
    case Part::Present:
      present = value;
      break;
    case Part::Elements:
      binding = sequenceOf(input, value, resolve(parts.back()));
      break;
    case Part::Shapes:
      break;
    }
  }
  if (!present)
    return binding;
  if (DenseElementsAttr known = requireConstant(present))
    return known.getSplatValue<bool>() ? binding : Binding::absent();
  binding.present = present;
  return binding;
}

Binding GraphImporter::sequenceOf(const onnx::ValueInfoProto &input, Value rows,
                                  Value shapes) {
  bool hasShapes = shapes != rows;
  Dims sizes = dimsOf(rows);
  auto count = sizes[0].known();
  const auto &declared = tensorIn(input.type())->shape().dim();
  SmallVector<SmallVector<int64_t>> each;
  DenseElementsAttr known =
      hasShapes && count ? requireConstant(shapes) : DenseElementsAttr();
  if (known && *count > 0) {
    int64_t rank = known.getType().getDimSize(1);
    SmallVector<int64_t> numbers(known.getValues<int64_t>());
    for (int64_t i = 0; i < *count; ++i) {
      auto own =
          ArrayRef(numbers).slice(i * rank, rank).take_while([](int64_t size) {
            return size >= 0;
          });
      each.emplace_back(own);
      auto elements = checkedElements(own, 8);
      if (!elements || *elements > sizes[1].most())
        diagnostics.report(DiagnosticId::BadOption,
                           "the shape of element " + Twine(i) + " of `" +
                               printable(input.name()) +
                               "` has more elements than its row");
    }
  } else if (!hasShapes && count) {
    SmallVector<int64_t> own;
    for (const auto &dim : declared)
      own.push_back(dim.dim_value());
    each.assign(*count, own);
  }
  if (!diagnostics.empty())
    return Binding::poisoned();
  constexpr int64_t mostListed = 256;
  if (count && *count <= mostListed && int64_t(each.size()) == *count)
    return Binding::sequence(listOf(builder, rows, each));
  RunTimeSequence list{{}, rows, hasShapes ? shapes : Value()};
  if (!hasShapes)
    for (const auto &dim : declared)
      list.sizes.push_back(SizeRange(dim.dim_value()));
  else if (options.shapes.count(input.name()))
    list.sizes.assign(shapeOf(shapes)[1], SizeRange(0, sizes[1].most()));
  else
    list.sizes = sequenceSizes(input)->element;
  return Binding::sequence(std::move(list));
}

Binding GraphImporter::zeroValue(NodePlace &at, const onnx::TypeProto &type) {
  const onnx::TypeProto_Tensor *tensor = tensorIn(type);
  Type element = tensor ? elementTypeOf("`" + printable(at.node.name()) + "`",
                                        tensor->elem_type())
                        : Type();
  if (!element)
    return Binding::poisoned();
  if (emptyValue(type).isSequence)
    return Binding::sequence(std::vector<Value>());
  SmallVector<int64_t> shape;
  for (const auto &dim : tensor->shape().dim())
    shape.push_back(std::max<int64_t>(dim.dim_value(), 1));
  return Binding::known(SequenceBuilder(*this, at).filled(element, shape));
}

bool GraphImporter::addOutputParts(const onnx::ValueInfoProto &output,
                                   Binding value, Scope &scope,
                                   std::vector<OutputPart> &parts) {
  const onnx::TypeProto &type = output.type();
  // A node that stands for the output, so that the operators built here have a
  // location.
  onnx::NodeProto asNode;
  asNode.set_op_type("output");
  asNode.set_name(output.name());
  asNode.add_output(output.name());
  NodePlace at{asNode, 0, 0, scope};
  bool isOptional = type.has_optional_type() || value.present ||
                    value.kind == Binding::Absent;
  if (isOptional)
    parts.push_back({partName(output.name(), Part::Present), Part::Present,
                     value.present
                         ? value.present
                         : boolean(at, value.kind != Binding::Absent)});
  if (value.kind == Binding::Absent)
    value = zeroValue(at, type);
  if (value.kind == Binding::Poisoned)
    return false;
  if (value.kind == Binding::Sequence)
    return addSequence(output, at, value, parts);
  parts.push_back({output.name(), Part::Whole, value.value});
  if (!isOptional)
    checkDeclared(output, cast<RankedTensorType>(value.value.getType()));
  return true;
}

bool GraphImporter::addSequence(const onnx::ValueInfoProto &output,
                                NodePlace &at, const Binding &value,
                                std::vector<OutputPart> &parts) {
  SequenceBuilder sequences(*this, at);
  std::string shown = "the output `" + printable(output.name()) + "`";
  const onnx::TypeProto_Tensor *declared = tensorIn(output.type());
  if (declared && !emptyValue(output.type()).isSequence) {
    diagnostics.report(DiagnosticId::OutputMismatch,
                       shown + " is declared as " + typeText(output.type()) +
                           ", but is a sequence");
    return false;
  }
  std::optional<SequenceForm> form;
  RunTimeSequence list;
  std::vector<Value> elements = value.elements;
  Dims places;
  int64_t rank = 0;
  if (value.list) {
    list = *value.list;
    form = list.form();
  } else if (elements.empty()) {
    Type element =
        declared ? elementTypeOf(shown, declared->elem_type()) : Type();
    if (!element)
      return false;
    form = SequenceForm{element, {}, 0};
    for (const auto &dim : declared->shape().dim())
      form->sizes.push_back(SizeRange(std::max<int64_t>(dim.dim_value(), 0)));
  } else {
    form = SequenceBuilder::formOf(elements);
  }
  // If the elements have different ranks, they are flattened to vectors, and
  // the table of shapes is padded with -1 for elements of smaller rank.
  bool isMixed = !form;
  for (Value element : elements)
    rank = std::max<int64_t>(rank, shapeOf(element).size());
  for (Value &element : elements) {
    if (!isMixed)
      break;
    Dims sizes = dimsOf(element);
    llvm::append_range(places, sizes);
    places.append(rank - sizes.size(), Dim(-1));
    element = buildReshape(builder, element.getLoc(), element,
                           ArrayRef<Dim>(product(ArrayRef<Dim>(sizes))));
  }
  if (isMixed)
    form = SequenceBuilder::formOf(elements);
  if (!form || (declared && declared->elem_type() &&
                declared->elem_type() != onnxDataType(form->element))) {
    diagnostics.report(
        DiagnosticId::OutputMismatch,
        shown + " is computed as a sequence of tensors of " +
            (form ? "a type other than the declared one" : "different types"));
    return false;
  }
  if (!value.list) {
    auto packed = sequences.pack(elements, *form);
    if (failed(packed))
      return false;
    list = *packed;
  }
  auto count = sequences.size(list);
  if (failed(count))
    return false;
  auto used = [&](Value matrix) -> Value {
    Dims sizes = dimsOf(matrix);
    return sizes[0] == *count
               ? matrix
               : Value(SliceOp::create(
                     builder, matrix.getLoc(), matrix, ArrayRef<int64_t>{0, 0},
                     ArrayRef<int64_t>{1, 1}, ArrayRef<Dim>{*count, sizes[1]}));
  };
  bool isFixed = form->isFixed() && !isMixed;
  parts.push_back({output.name(), Part::Elements, used(list.rows)});
  if (isFixed) {
    Dims own;
    for (SizeRange size : form->sizes)
      own.push_back(Dim(size.most));
    parts.back().element = own;
    return true;
  }
  Value shapes = isMixed
                     ? integers(at, {int64_t(elements.size()), rank}, places)
                     : used(list.shapes);
  parts.push_back(
      {partName(output.name(), Part::Shapes), Part::Shapes, shapes});
  return true;
}

} // namespace ingot
