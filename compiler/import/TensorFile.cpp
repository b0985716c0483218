#include "compiler/import/TensorFile.h"

#include "compiler/import/TensorData.h"
#include "compiler/import/ValueFile.h"
#include "dialects/kernel/KernelDialect.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/StringSaver.h"
#include <google/protobuf/stubs/logging.h>

using namespace mlir;

namespace ingot {

const char *intern(StringRef string) {
  static llvm::BumpPtrAllocator memory;
  static llvm::UniqueStringSaver strings(memory);
  return strings.save(string).data();
}

bool Tensor::isOfStrings() const {
  return isa<kernel::StringType>(type.getElementType());
}

static const char *stringAt(const Tensor &tensor, int64_t i) {
  const char *string;
  std::memcpy(&string, tensor.bytes.data() + i * sizeof(string),
              sizeof(string));
  return string;
}

/// Returns the bits of an integer, extended by its sign.
static uint64_t integerBits(const Tensor &tensor, int64_t i) {
  Type element = tensor.type.getElementType();
  unsigned size = elementBytes(element);
  uint64_t bits = 0;
  std::memcpy(&bits, tensor.bytes.data() + i * size, size);
  return element.isSignedInteger() ? llvm::SignExtend64(bits, size * 8) : bits;
}

std::string Tensor::text(int64_t i) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (isOfStrings())
    os << '"' << printable(stringAt(*this, i), 60) << '"';
  else if (isa<FloatType>(type.getElementType()))
    os << llvm::format("%.9g", number(i));
  else if (type.getElementType().isSignedInteger())
    os << static_cast<int64_t>(integerBits(*this, i));
  else
    os << integerBits(*this, i);
  return text;
}

void Tensor::internStrings() {
  for (int64_t i = 0, e = isOfStrings() ? elements() : 0; i < e; ++i) {
    const char *string = stringAt(*this, i);
    string = string ? intern(string) : nullptr;
    std::memcpy(bytes.data() + i * sizeof(string), &string, sizeof(string));
  }
}

double Tensor::number(int64_t i) const {
  Type element = type.getElementType();
  unsigned size = elementBytes(element);
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + i * size, size);
  if (auto floating = dyn_cast<FloatType>(element)) {
    if (element.isF32()) {
      float value;
      std::memcpy(&value, &bits, sizeof(value));
      return value;
    }
    llvm::APFloat value(floating.getFloatSemantics(),
                        APInt(floating.getWidth(), bits, /*isSigned=*/false,
                              /*implicitTrunc=*/true));
    bool losesInfo;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    return value.convertToDouble();
  }
  if (element.isSignedInteger())
    return static_cast<double>(static_cast<int64_t>(integerBits(*this, i)));
  return static_cast<double>(integerBits(*this, i));
}

std::vector<GraphInput> fedInputs(const onnx::ModelProto &model,
                                  MLIRContext *context) {
  llvm::StringSet<> constants;
  for (const auto &tensor : model.graph().initializer())
    constants.insert(tensor.name());
  for (const auto &tensor : model.graph().sparse_initializer())
    constants.insert(tensor.values().name());
  std::vector<GraphInput> inputs;
  size_t value = 0;
  for (const auto &input : model.graph().input()) {
    if (constants.contains(input.name()))
      continue;
    GraphInput fed{input.name(), {},           false,
                   value++,      input.name(), &input.type()};
    SmallVector<Part> parts = partsOf(input.type());
    for (Part part : parts) {
      const onnx::TypeProto_Tensor &type = *tensorIn(input.type());
      fed.name = partName(input.name(), part);
      fed.elementType = part == Part::Shapes
                            ? IntegerType::get(context, 64, IntegerType::Signed)
                        : part == Part::Present
                            ? IntegerType::get(context, 1)
                            : elementType(type.elem_type(), context);
      fed.hasShape = part == Part::Present ||
                     (part == Part::Whole && type.has_shape() &&
                      llvm::all_of(type.shape().dim(), [](const auto &dim) {
                        return dim.has_dim_value();
                      }));
      inputs.push_back(fed);
    }
    if (parts.empty())
      inputs.push_back(fed);
  }
  return inputs;
}

std::vector<std::string> outputNames(const onnx::ModelProto &model) {
  std::vector<std::string> names;
  for (const auto &output : model.graph().output())
    names.push_back(output.name());
  return names;
}

static std::unique_ptr<llvm::MemoryBuffer> readFile(StringRef path,
                                                    std::string &error) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (buffer)
    return std::move(*buffer);
  error = "`" + printable(path) +
          "` cannot be read: " + buffer.getError().message();
  return nullptr;
}

/// Writes a file that consists of `first` followed by `second`. The file is
/// written completely or not at all.
static bool writeFile(StringRef path, StringRef first, StringRef second,
                      std::string &error) {
  auto write = [&](llvm::raw_ostream &os) -> llvm::Error {
    os << first << second;
    os.flush();
    auto &file = static_cast<llvm::raw_fd_ostream &>(os);
    std::error_code code = file.error();
    file.clear_error();
    return llvm::errorCodeToError(code);
  };
  llvm::Error failure = llvm::writeToOutput(path, write);
  if (!failure)
    return true;
  error = "`" + printable(path) + "` cannot be written: ";
  llvm::handleAllErrors(std::move(failure), [&](llvm::ErrorInfoBase &reason) {
    error += reason.convertToErrorCode().message();
  });
  return false;
}

bool parseFile(StringRef path, google::protobuf::MessageLite &proto,
               std::string &error) {
  error.clear();
  auto buffer = readFile(path, error);
  if (!buffer)
    return false;
  google::protobuf::LogSilencer silence;
  return buffer->getBufferSize() <= INT32_MAX &&
         proto.ParseFromArray(buffer->getBufferStart(),
                              buffer->getBufferSize());
}

bool writeProto(StringRef path, const google::protobuf::MessageLite &proto,
                std::string &error) {
  return writeFile(path, proto.SerializeAsString(), "", error);
}

std::optional<Tensor> tensorFrom(const onnx::TensorProto &proto,
                                 MLIRContext *context, std::string &error) {
  if (proto.data_type() == onnx::TensorProto::STRING) {
    auto strings = stringsOf(proto, context, error);
    if (!strings)
      return std::nullopt;
    Tensor tensor{
        RankedTensorType::get(strings->shape, kernel::StringType::get(context)),
        {}};
    for (const std::string &value : strings->values) {
      const char *string = intern(value);
      const char *bytes = reinterpret_cast<const char *>(&string);
      tensor.bytes.insert(tensor.bytes.end(), bytes, bytes + sizeof(string));
    }
    return tensor;
  }
  auto value = denseTensorAttr(proto, nullptr, context, error);
  if (failed(value))
    return std::nullopt;
  return Tensor{cast<RankedTensorType>(value->getType()), bytesOf(*value)};
}

std::optional<Tensor> readTensorProto(StringRef path, MLIRContext *context,
                                      std::string &error) {
  onnx::TensorProto proto;
  if (!parseFile(path, proto, error)) {
    if (error.empty())
      error = "`" + printable(path) + "` is not a serialized tensor";
    return std::nullopt;
  }
  auto tensor = tensorFrom(proto, context, error);
  if (!tensor)
    error = "the tensor in `" + printable(path) + "` " + error;
  return tensor;
}

/// Packs elements of `bits` < 8 bits, which are stored in whole bytes, to a bit
/// stream, least significant bits first.
static std::string packed(const Tensor &tensor, unsigned bits) {
  std::string out(llvm::divideCeil(tensor.elements() * bits, 8), '\0');
  for (auto [i, c] : llvm::enumerate(tensor.bytes)) {
    unsigned value = static_cast<uint8_t>(c) & ((1u << bits) - 1);
    out[i * bits / 8] |= static_cast<char>(value << (i * bits % 8));
  }
  return out;
}

onnx::TensorProto protoOf(StringRef name, const Tensor &tensor) {
  onnx::TensorProto proto;
  int64_t dataType = onnxDataType(tensor.type.getElementType());
  proto.set_name(name.str());
  proto.set_data_type(static_cast<int32_t>(dataType));
  for (int64_t size : tensor.type.getShape())
    proto.add_dims(size);
  if (tensor.isOfStrings())
    for (int64_t i = 0; i < tensor.elements(); ++i)
      proto.add_string_data(stringAt(tensor, i));
  else if (unsigned bits = dataTypeBits(dataType); bits < 8)
    proto.set_raw_data(packed(tensor, bits));
  else
    proto.set_raw_data(tensor.bytes.data(), tensor.bytes.size());
  return proto;
}

bool writeTensorProto(StringRef path, StringRef name, const Tensor &tensor,
                      std::string &error) {
  return writeProto(path, protoOf(name, tensor), error);
}

//===----------------------------------------------------------------------===//
// NumPy
//===----------------------------------------------------------------------===//

/// Returns NumPy's name of an element type, which consists of a letter and the
/// size in bytes: "f4" for float32.
static std::string npyType(Type element) {
  char kind = isa<FloatType>(element)     ? 'f'
              : element.isInteger(1)      ? 'b'
              : element.isSignedInteger() ? 'i'
                                          : 'u';
  // Types that NumPy lacks are written as unsigned integers with the same bits.
  if (kind == 'f' && !isa<Float16Type, Float32Type, Float64Type>(element))
    kind = 'u';
  return kind + std::to_string(elementBytes(element));
}

/// Returns the name of a NumPy type in words: "float64" for "f8", which could
/// be mistaken for an 8-bit type of ONNX.
static std::string npyTypeName(StringRef descr) {
  static constexpr std::pair<char, StringLiteral> kinds[] = {
      {'f', "float"}, {'i', "int"}, {'u', "uint"}, {'c', "complex"}};
  unsigned bytes;
  if (descr == "b1")
    return "bool";
  for (auto [kind, name] : kinds)
    if (descr.starts_with(StringRef(&kind, 1)) &&
        !descr.drop_front().getAsInteger(10, bytes) && bytes <= 32)
      return name.str() + std::to_string(bytes * 8);
  return "`" + printable(descr, 60) + "`";
}

/// Returns the text of the value of `key` in the header of a .npy file, which
/// is a Python dictionary; empty if the header lacks `key`.
static StringRef headerField(StringRef header, StringRef key) {
  size_t at = header.find(("'" + key + "'").str());
  if (at == StringRef::npos)
    return "";
  StringRef rest = header.drop_front(at).split(':').second.ltrim();
  if (rest.starts_with("("))
    return rest.drop_front().split(')').first;
  return rest.split(',').first.trim(" '}\n");
}

std::optional<Tensor> readNpy(StringRef path, Type element,
                              std::string &error) {
  auto buffer = readFile(path, error);
  if (!buffer)
    return std::nullopt;
  return parseNpy(buffer->getBuffer(), "`" + printable(path) + "`", element,
                  error);
}

std::optional<Tensor> parseNpy(StringRef data, StringRef what, Type element,
                               std::string &error) {
  auto fail = [&](const Twine &fault) -> std::optional<Tensor> {
    error = (what + " " + fault).str();
    return std::nullopt;
  };
  if (isa<kernel::StringType>(element))
    return fail("cannot contain strings of variable length (use folders of "
                ".pb files)");
  if (data.size() < 12 || !data.consume_front("\x93NUMPY"))
    return fail("is not an .npy file");
  auto byte = [&](size_t i) { return uint64_t(uint8_t(data[i])); };
  bool isOld = data[0] == 1;
  uint64_t length = byte(2) | byte(3) << 8;
  if (!isOld)
    length |= byte(4) << 16 | byte(5) << 24;
  size_t start = isOld ? 4 : 6;
  if (length > data.size() - start)
    return fail("is truncated");
  StringRef header = data.substr(start, length);
  data = data.drop_front(start + length);

  StringRef descr = headerField(header, "descr");
  bool isBigEndian = descr.consume_front(">");
  descr = descr.trim("<|=");
  std::string wanted = npyType(element);
  bool rawBits = descr == "V" + std::to_string(elementBytes(element)) ||
                 descr == "u" + std::to_string(elementBytes(element));
  bool isExtra = isa<FloatType>(element) && wanted[0] == 'u';
  if (descr != wanted && !(isExtra && rawBits)) {
    std::string name = dataTypeName(onnxDataType(element)).str();
    return fail(
        "holds " + npyTypeName(descr) + ", but the input takes " + name +
        (isExtra ? " (save its bits as " : " (convert it with astype(\"") +
        npyTypeName(wanted) + (isExtra ? ")" : "\"))"));
  }
  SmallVector<int64_t> shape;
  SmallVector<StringRef> sizes;
  headerField(header, "shape").split(sizes, ',', -1, /*KeepEmpty=*/false);
  for (StringRef size : sizes) {
    size = size.trim();
    if (size.empty())
      continue;
    if (size.getAsInteger(10, shape.emplace_back()))
      return fail("has no valid shape in its header");
  }
  if (headerField(header, "fortran_order") == "True" && shape.size() > 1)
    return fail("is in Fortran order; save it with numpy.ascontiguousarray");
  auto count = checkedElements(shape, element.getIntOrFloatBitWidth());
  if (!count || uint64_t(*count) * elementBytes(element) != data.size())
    return fail("has " + Twine(data.size()) +
                " bytes of data, which does not match its shape");
  Tensor tensor{RankedTensorType::get(shape, element),
                std::vector<char>(data.begin(), data.end())};
  unsigned size = elementBytes(element);
  for (size_t i = 0; isBigEndian && i < tensor.bytes.size(); i += size)
    std::reverse(&tensor.bytes[i], &tensor.bytes[i] + size);
  if (element.isInteger(1))
    for (char &c : tensor.bytes)
      c = c != 0;
  return tensor;
}

bool writeNpy(StringRef path, const Tensor &tensor, std::string &error) {
  if (tensor.isOfStrings()) {
    error =
        "`" + printable(path) +
        "` cannot contain strings of variable length: use folders of .pb files";
    return false;
  }
  std::string header = "{'descr': '<" + npyType(tensor.type.getElementType()) +
                       "', 'fortran_order': False, 'shape': (";
  for (int64_t size : tensor.type.getShape())
    header += std::to_string(size) + ",";
  header += "), }";
  // Pads the header with spaces, so that the data begin at a multiple of 64
  // bytes.
  header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  std::string head("\x93NUMPY\x01\0", 8);
  head += static_cast<char>(header.size() & 255);
  head += static_cast<char>(header.size() >> 8);
  return writeFile(path, head + header,
                   StringRef(tensor.bytes.data(), tensor.bytes.size()), error);
}

} // namespace ingot
