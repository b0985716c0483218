#include "compiler/import/TensorData.h"

#include "compiler/import/ModelFile.h"
#include "dialects/graph/MappedData.h"
#include "dialects/kernel/KernelDialect.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace ingot {

namespace {
/// The name, width and MLIR type of an ONNX element type. The table of these
/// entries is indexed by the number of the type in TensorProto.DataType.
struct DataTypeRow {
  StringLiteral name;
  unsigned bits;
  /// Returns the MLIR element type; null if it is unsupported.
  Type (*type)(MLIRContext *context);
};
} // namespace

template <typename FloatT> static Type floating(MLIRContext *context) {
  return FloatT::get(context);
}
template <unsigned bits> static Type signedInteger(MLIRContext *context) {
  return IntegerType::get(context, bits, IntegerType::Signed);
}
template <unsigned bits> static Type unsignedInteger(MLIRContext *context) {
  return IntegerType::get(context, bits, IntegerType::Unsigned);
}
static Type boolean(MLIRContext *context) {
  return IntegerType::get(context, 1);
}

static Type string(MLIRContext *context) {
  // Unlike MLIR's builtin types, the type of strings belongs to a dialect that
  // may not be loaded yet.
  context->getOrLoadDialect<kernel::KernelDialect>();
  return kernel::StringType::get(context);
}

static constexpr DataTypeRow dataTypes[] = {
    {"", 0, nullptr},
    {"float32", 32, floating<Float32Type>},
    {"uint8", 8, unsignedInteger<8>},
    {"int8", 8, signedInteger<8>},
    {"uint16", 16, unsignedInteger<16>},
    {"int16", 16, signedInteger<16>},
    {"int32", 32, signedInteger<32>},
    {"int64", 64, signedInteger<64>},
    {"string", 0, string},
    {"bool", 8, boolean},
    {"float16", 16, floating<Float16Type>},
    {"float64", 64, floating<Float64Type>},
    {"uint32", 32, unsignedInteger<32>},
    {"uint64", 64, unsignedInteger<64>},
    {"complex64", 64, nullptr},
    {"complex128", 128, nullptr},
    {"bfloat16", 16, floating<BFloat16Type>},
    {"float8e4m3fn", 8, floating<Float8E4M3FNType>},
    {"float8e4m3fnuz", 8, floating<Float8E4M3FNUZType>},
    {"float8e5m2", 8, floating<Float8E5M2Type>},
    {"float8e5m2fnuz", 8, floating<Float8E5M2FNUZType>},
    {"uint4", 4, unsignedInteger<4>},
    {"int4", 4, signedInteger<4>},
    {"float4e2m1", 4, floating<Float4E2M1FNType>},
    {"float8e8m0", 8, floating<Float8E8M0FNUType>},
    {"uint2", 2, unsignedInteger<2>},
    {"int2", 2, signedInteger<2>},
    {"float6e2m3", 6, nullptr},
    {"float6e3m2", 6, nullptr},
};

static const DataTypeRow &rowOf(int64_t dataType) {
  return dataTypes[dataType > 0 && dataType < int64_t(std::size(dataTypes))
                       ? dataType
                       : 0];
}

StringRef dataTypeName(int64_t dataType) { return rowOf(dataType).name; }
unsigned dataTypeBits(int64_t dataType) { return rowOf(dataType).bits; }

Type elementType(int64_t dataType, MLIRContext *context) {
  auto *type = rowOf(dataType).type;
  return type ? type(context) : Type();
}

int64_t onnxDataType(Type type) {
  for (int64_t dataType = 1; dataType < int64_t(std::size(dataTypes));
       ++dataType)
    if (elementType(dataType, type.getContext()) == type)
      return dataType;
  return 0;
}

std::string describe(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  Type element = tensor ? tensor.getElementType() : type;
  std::string text;
  llvm::raw_string_ostream os(text);
  if (element.isInteger(1))
    os << "bool";
  else if (element.isUnsignedInteger())
    os << "u" << element.getIntOrFloatBitWidth();
  else if (element.isInteger())
    os << "i" << element.getIntOrFloatBitWidth();
  else if (isa<Float32Type, Float64Type, Float16Type, BFloat16Type>(element))
    os << element;
  else
    os << dataTypeName(onnxDataType(element));
  if (tensor) {
    os << "[";
    // A dynamic size is shown as its lower and upper bound.
    llvm::interleave(
        kernel::dimsOf(tensor), os,
        [&](const kernel::Dim &size) {
          if (!size.known())
            os << size.least() << "..";
          os << size.most();
        },
        ",");
    os << "]";
  }
  return text;
}

std::optional<int64_t> checkedElements(ArrayRef<int64_t> shape, unsigned bits) {
  // If an axis has size 0, the tensor has no bytes, but a slice without this
  // axis may have too many. So the bytes are counted as if the size were 1.
  int64_t bytes = std::max(1u, bits / 8), elements = 1;
  for (int64_t size : shape) {
    if (size < 0 || (size > 0 && bytes > maxTensorBytes / size))
      return std::nullopt;
    bytes *= std::max<int64_t>(size, 1);
    elements *= size;
  }
  return elements;
}

unsigned elementBytes(Type type) {
  return static_cast<unsigned>(kernel::elementBytes(type));
}

static bool isSmallSigned(Type type) {
  return type.isSignedInteger() && type.getIntOrFloatBitWidth() < 8;
}

DenseElementsAttr denseFromBytes(RankedTensorType type, ArrayRef<char> bytes) {
  Type element = type.getElementType();
  unsigned bits = element.getIntOrFloatBitWidth();
  if (bits == 1) {
    SmallVector<bool> values(bytes.begin(), bytes.end());
    return DenseElementsAttr::get(type, values);
  }
  if (bits >= 8)
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  SmallVector<char> masked(bytes);
  for (char &c : masked)
    c &= (1 << bits) - 1;
  return DenseElementsAttr::getFromRawBuffer(type, masked);
}

std::vector<char> bytesOf(DenseElementsAttr attr) {
  Type element = attr.getElementType();
  std::vector<char> bytes;
  if (element.isInteger(1)) {
    for (bool value : attr.getValues<bool>())
      bytes.push_back(value);
    return bytes;
  }
  ArrayRef<char> raw = attr.getRawData();
  size_t total = attr.getNumElements() * elementBytes(element);
  bytes.reserve(total);
  while (bytes.size() < total)
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  bytes.resize(total);
  if (isSmallSigned(element))
    for (char &c : bytes)
      c = llvm::SignExtend32(c, element.getIntOrFloatBitWidth());
  return bytes;
}

DenseElementsAttr toDense(ElementsAttr attr) {
  if (auto dense = dyn_cast<DenseElementsAttr>(attr))
    return dense;
  auto resource = dyn_cast<DenseResourceElementsAttr>(attr);
  if (!resource || !resource.getRawHandle().getBlob())
    return {};
  return denseFromBytes(cast<RankedTensorType>(resource.getType()),
                        resource.getRawHandle().getBlob()->getData());
}

/// The bytes of a tensor's elements, either in their original storage or copied
/// to `own`.
namespace {
struct Elements {
  ArrayRef<char> bytes;
  /// Keeps the storage alive; null if the storage outlives the attribute
  /// anyway.
  std::shared_ptr<void> owner;
  std::vector<char> own;
  bool isOwn = false;
};
} // namespace

/// Unpacks elements of fewer than 8 bits from a bit stream, least significant
/// bits first.
static void unpack(StringRef stream, unsigned bits, bool isSigned,
                   std::vector<char> &out) {
  for (size_t i = 0; i < out.size(); ++i) {
    size_t bit = i * bits;
    unsigned two = static_cast<uint8_t>(stream[bit / 8]);
    if (bit % 8 + bits > 8)
      two |= static_cast<uint8_t>(stream[bit / 8 + 1]) << 8;
    unsigned value = (two >> (bit % 8)) & ((1u << bits) - 1);
    out[i] =
        static_cast<char>(isSigned ? llvm::SignExtend32(value, bits) : value);
  }
}

template <typename To, typename Field>
static void narrow(const Field &field, std::vector<char> &out) {
  for (int i = 0; i < field.size(); ++i) {
    To value = static_cast<To>(field.Get(i));
    std::memcpy(out.data() + i * sizeof(To), &value, sizeof(To));
  }
}

static std::string countError(int64_t has, StringRef what, int64_t needs) {
  return "has " + std::to_string(has) + " " + what.str() +
         ", but its shape and type need " + std::to_string(needs);
}

static bool readStream(StringRef raw, unsigned bits, Type type, int64_t count,
                       Elements &elements, std::string &error) {
  int64_t needed = llvm::divideCeil(count * bits, 8);
  if (int64_t(raw.size()) != needed) {
    error = countError(raw.size(), "bytes of data", needed);
    return false;
  }
  if (bits < 8) {
    elements.own.resize(count);
    elements.isOwn = true;
    unpack(raw, bits, type.isSignedInteger(), elements.own);
  } else {
    elements.bytes = ArrayRef<char>(raw.data(), raw.size());
    // C++ compilers assume that a bool is stored as 0 or 1, so other bytes are
    // replaced by 1.
    if (type.isInteger(1) &&
        llvm::any_of(elements.bytes, [](char c) { return c & ~1; })) {
      elements.isOwn = true;
      elements.own.assign(raw.begin(), raw.end());
      for (char &c : elements.own)
        c = c != 0;
    }
  }
  return true;
}

/// Reads the elements of a tensor from the typed field that ONNX uses for its
/// element type, such as int32_data. Depending on the type, the entries of the
/// field are used unchanged, truncated to the width of the element type, or
/// unpacked as a bit stream.
static bool readTyped(const onnx::TensorProto &tensor, Type type, int64_t count,
                      Elements &elements, std::string &error) {
  auto hasCount = [&](const auto &field) {
    if (field.size() != count)
      error = countError(field.size(), "values", count);
    return field.size() == count;
  };
  auto view = [&](const auto &field) {
    elements.bytes =
        ArrayRef<char>(reinterpret_cast<const char *>(field.data()),
                       field.size() * sizeof(*field.data()));
    return hasCount(field);
  };
  auto cut = [&](auto width, const auto &field) {
    if (!hasCount(field))
      return false;
    elements.own.resize(count * sizeof(width));
    elements.isOwn = true;
    narrow<decltype(width)>(field, elements.own);
    return true;
  };
  const auto &ints = tensor.int32_data();
  switch (tensor.data_type()) {
  case onnx::TensorProto::FLOAT:
    return view(tensor.float_data());
  case onnx::TensorProto::DOUBLE:
    return view(tensor.double_data());
  case onnx::TensorProto::INT64:
    return view(tensor.int64_data());
  case onnx::TensorProto::UINT64:
    return view(tensor.uint64_data());
  case onnx::TensorProto::UINT32:
    return cut(uint32_t(), tensor.uint64_data());
  case onnx::TensorProto::INT32:
    return view(ints);
  case onnx::TensorProto::BOOL:
    if (!cut(uint8_t(), ints))
      return false;
    llvm::transform(ints, elements.own.begin(),
                    [](int32_t value) { return value != 0; });
    return true;
  default:
    break;
  }
  unsigned bits = dataTypeBits(tensor.data_type());
  if (bits >= 8)
    return bits == 16 ? cut(uint16_t(), ints) : cut(uint8_t(), ints);
  // Each entry of int32_data contains one byte of the packed elements.
  std::string stream(ints.begin(), ints.end());
  return readStream(stream, bits, type, count, elements, error);
}

/// Returns the MLIR type of an ONNX tensor; null with the reason in `error` if
/// it is invalid or unsupported.
static RankedTensorType typeOf(const onnx::TensorProto &tensor,
                               MLIRContext *context, std::string &error) {
  Type element = elementType(tensor.data_type(), context);
  SmallVector<int64_t> shape(tensor.dims().begin(), tensor.dims().end());
  if (!element)
    error = dataTypeName(tensor.data_type()).empty()
                ? "has no known data type (" +
                      std::to_string(tensor.data_type()) + ")"
                : "has the data type " + dataTypeName(tensor.data_type()).str();
  else if (!checkedElements(shape, 8 * elementBytes(element)))
    error = "has the invalid shape [" +
            llvm::join(llvm::map_range(
                           shape, [](int64_t d) { return std::to_string(d); }),
                       ",") +
            "]";
  return error.empty() ? RankedTensorType::get(shape, element)
                       : RankedTensorType();
}

static RankedTensorType read(const onnx::TensorProto &tensor, ModelFile *file,
                             MLIRContext *context, Elements &elements,
                             std::string &error) {
  RankedTensorType type = typeOf(tensor, context, error);
  if (!type)
    return {};
  if (tensor.data_type() == onnx::TensorProto::STRING) {
    error = "has strings where numbers are needed";
    return {};
  }
  unsigned bits = dataTypeBits(tensor.data_type());
  int64_t count = type.getNumElements();
  bool done;
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
    if (!file) {
      error = "has external data, which is not allowed here";
      return {};
    }
    std::shared_ptr<llvm::MemoryBuffer> data =
        file->externalData(tensor, error);
    done = data && readStream(data->getBuffer(), bits, type.getElementType(),
                              count, elements, error);
    if (data)
      graph::MappedData::of(context).add(data);
    elements.owner = data;
  } else if (tensor.has_raw_data()) {
    done = readStream(tensor.raw_data(), bits, type.getElementType(), count,
                      elements, error);
  } else {
    done = readTyped(tensor, type.getElementType(), count, elements, error);
  }
  if (!done)
    return {};
  if (elements.isOwn)
    elements.bytes = elements.own;
  return type;
}

static ElementsAttr resource(RankedTensorType type, StringRef name,
                             Elements &&elements) {
  size_t alignment = elementBytes(type.getElementType());
  // Protobuf strings may be insufficiently aligned for the element type.
  bool aligned =
      reinterpret_cast<uintptr_t>(elements.bytes.data()) % alignment == 0;
  AsmResourceBlob blob =
      elements.isOwn || !aligned
          ? HeapAsmResourceBlob::allocateAndCopyWithAlign(elements.bytes, 64)
          : AsmResourceBlob(
                elements.bytes, alignment,
                [owner = elements.owner](void *, size_t, size_t) {},
                /*dataIsMutable=*/false);
  return DenseResourceElementsAttr::get(type, name, std::move(blob));
}

/// Converts a tensor to an attribute: a dense attribute for up to
/// `inlineElements` elements, else the result of `makeLarge`.
static FailureOr<ElementsAttr>
attrOf(const onnx::TensorProto &tensor, ModelFile *file, MLIRContext *context,
       std::string &error, int64_t inlineElements,
       function_ref<ElementsAttr(RankedTensorType, Elements)> makeLarge) {
  Elements elements;
  RankedTensorType type = read(tensor, file, context, elements, error);
  if (!type)
    return failure();
  if (type.getNumElements() <= inlineElements)
    return ElementsAttr(denseFromBytes(type, elements.bytes));
  return makeLarge(type, std::move(elements));
}

FailureOr<ElementsAttr> tensorAttr(const onnx::TensorProto &tensor,
                                   StringRef name, ModelFile *file,
                                   MLIRContext *context, std::string &error,
                                   int64_t inlineElements) {
  return attrOf(tensor, file, context, error, inlineElements,
                [&](RankedTensorType type, Elements elements) {
                  return resource(type, name, std::move(elements));
                });
}

FailureOr<ElementsAttr> takeTensorAttr(onnx::TensorProto &tensor,
                                       StringRef name, ModelFile *file,
                                       MLIRContext *context, std::string &error,
                                       int64_t inlineElements) {
  return attrOf(tensor, file, context, error, inlineElements,
                [&](RankedTensorType type, Elements elements) {
                  // Swap moves the message without copying its data.
                  auto given = std::make_shared<onnx::TensorProto>();
                  given->Swap(&tensor);
                  tensor.set_name(given->name());
                  tensor.set_data_type(given->data_type());
                  *tensor.mutable_dims() = given->dims();
                  if (!elements.owner)
                    elements.owner = std::move(given);
                  return resource(type, name, std::move(elements));
                });
}

std::optional<StringTensor> stringsOf(const onnx::TensorProto &tensor,
                                      MLIRContext *context,
                                      std::string &error) {
  RankedTensorType type = typeOf(tensor, context, error);
  if (!type)
    return std::nullopt;
  StringTensor strings{
      llvm::to_vector(type.getShape()),
      {tensor.string_data().begin(), tensor.string_data().end()}};
  if (int64_t(strings.values.size()) != type.getNumElements())
    error = countError(strings.values.size(), "strings", type.getNumElements());
  for (const std::string &value : strings.values)
    if (StringRef(value).contains('\0'))
      error =
          "has a string that contains a zero byte, which would end the string";
  if (!error.empty())
    return std::nullopt;
  return strings;
}

FailureOr<DenseElementsAttr> denseTensorAttr(const onnx::TensorProto &tensor,
                                             ModelFile *file,
                                             MLIRContext *context,
                                             std::string &error) {
  Elements elements;
  RankedTensorType type = read(tensor, file, context, elements, error);
  if (!type)
    return failure();
  return denseFromBytes(type, elements.bytes);
}

std::optional<std::vector<char>> tensorBytes(const onnx::TensorProto &tensor,
                                             ModelFile *file,
                                             MLIRContext *context,
                                             std::string &error) {
  Elements elements;
  if (!read(tensor, file, context, elements, error))
    return std::nullopt;
  return std::vector<char>(elements.bytes.begin(), elements.bytes.end());
}

FailureOr<ElementsAttr> sparseTensorAttr(const onnx::SparseTensorProto &sparse,
                                         ModelFile *file, MLIRContext *context,
                                         std::string &error) {
  SmallVector<int64_t> shape(sparse.dims().begin(), sparse.dims().end());
  auto values = denseTensorAttr(sparse.values(), file, context, error);
  if (failed(values))
    return failure();
  auto indices = denseTensorAttr(sparse.indices(), file, context, error);
  if (failed(indices))
    return failure();
  Type element = values->getElementType();
  std::optional<int64_t> count =
      checkedElements(shape, element.getIntOrFloatBitWidth());
  // The dense form of a sparse tensor must fit into memory.
  if (!count || *count > (int64_t(1) << 30) || shape.empty()) {
    error = "is a sparse tensor whose dense form is too large";
    return failure();
  }
  int64_t entries = values->getNumElements(), rank = shape.size();
  bool linear = indices->getType().getRank() == 1;
  if (!indices->getElementType().isSignedInteger(64) ||
      indices->getNumElements() != entries * (linear ? 1 : rank)) {
    error = "is a sparse tensor whose indices do not match its values";
    return failure();
  }
  std::vector<char> from = bytesOf(*values), positions = bytesOf(*indices);
  unsigned size = elementBytes(element);
  Elements elements;
  elements.own.resize(*count * size);
  elements.isOwn = true;
  for (int64_t i = 0; i < entries; ++i) {
    int64_t position = 0;
    for (int64_t axis = 0; axis < (linear ? 1 : rank); ++axis) {
      int64_t index, bound = linear ? *count : shape[axis];
      std::memcpy(&index,
                  positions.data() + (i * (linear ? 1 : rank) + axis) * 8, 8);
      if (index < 0 || index >= bound) {
        error = "has the sparse index " + std::to_string(index) +
                ", which is out of range for its shape";
        return failure();
      }
      position = position * bound + index;
    }
    std::memcpy(elements.own.data() + position * size, from.data() + i * size,
                size);
  }
  elements.bytes = elements.own;
  auto type = RankedTensorType::get(shape, element);
  if (*count <= 64)
    return ElementsAttr(denseFromBytes(type, elements.bytes));
  return resource(type,
                  sparse.values().name().empty()
                      ? StringRef("sparse")
                      : StringRef(sparse.values().name()),
                  std::move(elements));
}

} // namespace ingot
