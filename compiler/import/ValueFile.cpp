#include "compiler/import/ValueFile.h"

#include "compiler/import/TensorData.h"
#include "dialects/kernel/KernelDialect.h"
#include "onnx/onnx-data.pb.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace ingot {

std::string partName(StringRef name, Part part) {
  switch (part) {
  case Part::Shapes:
    return (name + "_shapes").str();
  case Part::Present:
    return (name + "_present").str();
  default:
    return name.str();
  }
}

/// Returns the shape of all tensors of a type; nullopt if the type does not fix
/// all sizes.
static std::optional<SmallVector<int64_t>>
fixedShape(const onnx::TypeProto_Tensor &type) {
  SmallVector<int64_t> shape;
  if (!type.has_shape())
    return std::nullopt;
  for (const auto &dim : type.shape().dim()) {
    if (!dim.has_dim_value() || dim.dim_value() < 0)
      return std::nullopt;
    shape.push_back(dim.dim_value());
  }
  return shape;
}

SmallVector<Part> partsOf(const onnx::TypeProto &type) {
  if (type.has_tensor_type())
    return {Part::Whole};
  if (type.has_sequence_type()) {
    const onnx::TypeProto &element = type.sequence_type().elem_type();
    if (!element.has_tensor_type())
      return {};
    return fixedShape(element.tensor_type())
               ? SmallVector<Part>{Part::Elements}
               : SmallVector<Part>{Part::Elements, Part::Shapes};
  }
  if (!type.has_optional_type() ||
      type.optional_type().elem_type().has_optional_type())
    return {};
  SmallVector<Part> parts = partsOf(type.optional_type().elem_type());
  if (!parts.empty())
    parts.insert(parts.begin(), Part::Present);
  return parts;
}

const onnx::TypeProto_Tensor *tensorIn(const onnx::TypeProto &type) {
  if (type.has_sequence_type())
    return tensorIn(type.sequence_type().elem_type());
  if (type.has_optional_type())
    return tensorIn(type.optional_type().elem_type());
  return type.has_tensor_type() ? &type.tensor_type() : nullptr;
}

ModelValue emptyValue(const onnx::TypeProto &type) {
  ModelValue value;
  if (type.has_optional_type()) {
    value = emptyValue(type.optional_type().elem_type());
    value.isOptional = true;
  }
  value.isSequence |= type.has_sequence_type();
  return value;
}

static bool readTensors(const onnx::SequenceProto &proto, ModelValue &value,
                        MLIRContext *context, std::string &error) {
  value.isSequence = true;
  for (const onnx::TensorProto &element : proto.tensor_values()) {
    auto tensor = tensorFrom(element, context, error);
    if (!tensor)
      return false;
    value.tensors.push_back(std::move(*tensor));
  }
  return true;
}

std::optional<ModelValue> readValue(StringRef path, const ModelValue &like,
                                    MLIRContext *context, std::string &error) {
  ModelValue value;
  value.isOptional = like.isOptional;
  value.isSequence = like.isSequence;
  if (!like.isOptional && !like.isSequence) {
    auto tensor = readTensorProto(path, context, error);
    if (!tensor)
      return std::nullopt;
    value.tensors.push_back(std::move(*tensor));
    return value;
  }
  auto fail = [&](const Twine &what) {
    error = ("`" + Twine(printable(path)) + "` " + what).str();
    return std::nullopt;
  };
  if (!like.isOptional) {
    onnx::SequenceProto proto;
    if (!parseFile(path, proto, error))
      return error.empty() ? fail("is not a serialized sequence")
                           : std::nullopt;
    if (proto.elem_type() != onnx::SequenceProto::TENSOR &&
        (proto.elem_type() != 0 || proto.tensor_values_size()))
      return fail("is a sequence whose elements are not tensors");
    if (!readTensors(proto, value, context, error))
      return fail("has an element that " + error);
    return value;
  }
  onnx::OptionalProto proto;
  if (!parseFile(path, proto, error))
    return error.empty() ? fail("is not a serialized optional value")
                         : std::nullopt;
  if (proto.has_sequence_value()) {
    if (!readTensors(proto.sequence_value(), value, context, error))
      return fail("has an element that " + error);
  } else if (proto.has_tensor_value()) {
    auto tensor = tensorFrom(proto.tensor_value(), context, error);
    if (!tensor)
      return fail("has a tensor that " + error);
    value.isSequence = false;
    value.tensors.push_back(std::move(*tensor));
  } else {
    value.isPresent = false;
  }
  return value;
}

bool writeValue(StringRef path, StringRef name, const ModelValue &value,
                std::string &error) {
  if (!value.isOptional && !value.isSequence)
    return writeTensorProto(path, name, value.tensors.front(), error);
  onnx::OptionalProto optional;
  onnx::SequenceProto own,
      &sequence = value.isOptional && value.isSequence && value.isPresent
                      ? *optional.mutable_sequence_value()
                      : own;
  sequence.set_elem_type(onnx::SequenceProto::TENSOR);
  if (value.isSequence)
    for (const Tensor &tensor : value.tensors)
      *sequence.add_tensor_values() = protoOf("", tensor);
  if (!value.isOptional) {
    own.set_name(name.str());
    return writeProto(path, own, error);
  }
  optional.set_name(name.str());
  if (value.isPresent && !value.isSequence)
    *optional.mutable_tensor_value() = protoOf(name, value.tensors.front());
  if (value.isPresent)
    optional.set_elem_type(value.isSequence ? onnx::OptionalProto::SEQUENCE
                                            : onnx::OptionalProto::TENSOR);
  return writeProto(path, optional, error);
}

static Tensor zeros(ArrayRef<int64_t> shape, Type element) {
  Tensor tensor{RankedTensorType::get(shape, element), {}};
  tensor.bytes.resize(tensor.elements() * elementBytes(element));
  // The elements of a string tensor are never null pointers, so they are
  // initialized to the empty string.
  const char *none = intern("");
  for (size_t at = 0; tensor.isOfStrings() && at < tensor.bytes.size();
       at += sizeof(none))
    std::memcpy(tensor.bytes.data() + at, &none, sizeof(none));
  return tensor;
}

static Tensor integers(ArrayRef<int64_t> shape, ArrayRef<int64_t> values,
                       MLIRContext *context) {
  Tensor tensor =
      zeros(shape, IntegerType::get(context, 64, IntegerType::Signed));
  if (!values.empty())
    std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

/// Appends to `parts` the tensors of a sequence: a matrix with a row per
/// element and, unless the shape of elements is fixed, the table of their
/// shapes. If an element does not have the declared type, returns false with
/// the reason in `error`.
static bool splitSequence(ArrayRef<Tensor> elements, Type type,
                          const onnx::TypeProto_Tensor &declared,
                          MLIRContext *context, std::vector<Tensor> &parts,
                          std::string &error) {
  auto fixed = fixedShape(declared);
  int64_t rank = declared.shape().dim_size(), width = 0;
  if (fixed)
    width = *checkedElements(*fixed, 8);
  for (auto [i, element] : llvm::enumerate(elements)) {
    if (element.type.getElementType() != type ||
        (fixed && element.type.getShape() != ArrayRef(*fixed))) {
      error = "has the element " + std::to_string(i) + ", which is " +
              describe(element.type) + ", in a sequence of " +
              (fixed ? describe(RankedTensorType::get(*fixed, type))
                     : describe(type));
      return false;
    }
    width = std::max(width, element.elements());
    rank = std::max(rank, element.type.getRank());
  }
  int64_t count = elements.size(), bytes = elementBytes(type);
  Tensor rows = zeros({count, width}, type);
  SmallVector<int64_t> shapes;
  for (auto [i, element] : llvm::enumerate(elements)) {
    llvm::copy(element.bytes, rows.bytes.begin() + i * width * bytes);
    llvm::append_range(shapes, element.type.getShape());
    // Pads the row of the table with -1 if the element has fewer axes than the
    // table has columns.
    shapes.resize((i + 1) * rank, -1);
  }
  parts.push_back(std::move(rows));
  if (!fixed)
    parts.push_back(integers({count, rank}, shapes, context));
  return true;
}

std::optional<std::vector<Tensor>> splitValue(const ModelValue &value,
                                              const onnx::TypeProto &type,
                                              MLIRContext *context,
                                              std::string &error) {
  const onnx::TypeProto_Tensor *declared = tensorIn(type);
  Type element =
      declared ? elementType(declared->elem_type(), context) : Type();
  ModelValue like = emptyValue(type);
  if (!element || (value.isPresent && value.isSequence != like.isSequence)) {
    error = "contains another kind of value (tensor, sequence or optional) "
            "than the model takes";
    return std::nullopt;
  }
  std::vector<Tensor> parts;
  if (like.isOptional) {
    parts.push_back(zeros({}, IntegerType::get(context, 1)));
    parts.back().bytes[0] = value.isPresent;
  }
  if (like.isSequence) {
    if (!splitSequence(value.tensors, element, *declared, context, parts,
                       error))
      return std::nullopt;
  } else if (value.isPresent) {
    parts.push_back(value.tensors.front());
  } else {
    SmallVector<int64_t> shape;
    for (const auto &dim : declared->shape().dim())
      shape.push_back(dim.dim_value() > 0 ? dim.dim_value() : 1);
    parts.push_back(zeros(shape, element));
  }
  return parts;
}

std::optional<std::vector<Tensor>> readParts(StringRef path,
                                             const onnx::TypeProto &type,
                                             MLIRContext *context,
                                             std::string &error) {
  auto value = readValue(path, emptyValue(type), context, error);
  if (!value || type.has_tensor_type())
    return value ? std::optional(std::move(value->tensors)) : std::nullopt;
  std::string why;
  auto parts = splitValue(*value, type, context, why);
  if (!parts)
    error = "`" + printable(path) + "` " + why;
  return parts;
}

ModelValue joinSequence(const Tensor &rows,
                        std::optional<ArrayRef<int64_t>> shape,
                        const Tensor *shapes) {
  ModelValue value;
  value.isSequence = true;
  Type element = rows.type.getElementType();
  int64_t count = rows.type.getDimSize(0),
          bytes = rows.type.getDimSize(1) * elementBytes(element);
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<int64_t> own;
    if (shape)
      own.assign(shape->begin(), shape->end());
    for (int64_t k = 0, rank = shapes ? shapes->type.getDimSize(1) : 0;
         k < rank; ++k) {
      int64_t size;
      std::memcpy(&size, shapes->bytes.data() + (i * rank + k) * sizeof(size),
                  sizeof(size));
      if (size < 0)
        break;
      own.push_back(size);
    }
    Tensor &tensor = value.tensors.emplace_back();
    tensor.type = RankedTensorType::get(own, element);
    auto begin = rows.bytes.begin() + i * bytes;
    tensor.bytes.assign(
        begin, begin + std::min(bytes, tensor.elements() *
                                           int64_t(elementBytes(element))));
  }
  return value;
}

Tensor withRowsOf(const Tensor &rows, int64_t width) {
  Type element = rows.type.getElementType();
  int64_t count = rows.type.getDimSize(0), own = rows.type.getDimSize(1),
          bytes = elementBytes(element);
  Tensor wide = zeros({count, width}, element);
  for (int64_t i = 0; i < count; ++i)
    std::copy_n(rows.bytes.begin() + i * own * bytes, own * bytes,
                wide.bytes.begin() + i * width * bytes);
  return wide;
}

} // namespace ingot
