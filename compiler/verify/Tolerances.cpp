#include "compiler/verify/Tolerances.h"

#include "compiler/import/Validate.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

namespace ingot::verify {

/// The number of roundings that is assumed for an operator that sums an unknown
/// number of elements.
static constexpr double sumOfUnknown = 64;

void Roundings::join(const Roundings &other) {
  sums = std::max(sums, other.sums);
  operators = std::max(operators, other.operators);
  contractions = std::max(contractions, other.contractions);
  quantizing = std::max(quantizing, other.quantizing);
  bits = std::min(bits, other.bits);
}

static double roundoffOf(int32_t dataType) {
  switch (dataType) {
  case onnx::TensorProto::FLOAT16:
    return 0x1p-11;
  case onnx::TensorProto::BFLOAT16:
    return 0x1p-8;
  case onnx::TensorProto::FLOAT8E4M3FN:
  case onnx::TensorProto::FLOAT8E4M3FNUZ:
    return 0x1p-4;
  case onnx::TensorProto::FLOAT8E5M2:
  case onnx::TensorProto::FLOAT8E5M2FNUZ:
    return 0x1p-3;
  default:
    return 0;
  }
}

/// Returns the bits of an integer type to which QuantizeLinear quantizes; 8 for
/// types that are not known.
static int bitsOf(int32_t dataType) {
  switch (dataType) {
  case onnx::TensorProto::INT2:
  case onnx::TensorProto::UINT2:
    return 2;
  case onnx::TensorProto::INT4:
  case onnx::TensorProto::UINT4:
    return 4;
  case onnx::TensorProto::INT16:
  case onnx::TensorProto::UINT16:
    return 16;
  default:
    return 8;
  }
}

Tolerances::Tolerances(const onnx::ModelProto &model, llvm::StringRef format) {
  if (!format.empty())
    fast = format == "bf16" ? 0x1p-8 : 0x1p-11;
  for (const onnx::TensorProto &tensor : model.graph().initializer()) {
    shapes[tensor.name()].assign(tensor.dims().begin(), tensor.dims().end());
    types[tensor.name()] = tensor.data_type();
    narrow = std::max(narrow, roundoffOf(tensor.data_type()));
  }
  for (const auto *values : {&model.graph().input(), &model.graph().output()})
    for (const onnx::ValueInfoProto &value : *values)
      narrow =
          std::max(narrow, roundoffOf(value.type().tensor_type().elem_type()));
  for (int index : topologicalOrder(model.graph().node()))
    read(model.graph().node(index));
}

void Tolerances::read(const onnx::NodeProto &node) {
  Roundings path;
  for (const std::string &input : node.input())
    path.join(at(input));
  // The body of a control flow node also reads values of the graph.
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    for (const onnx::NodeProto &inner : attribute.g().node())
      for (const std::string &input : inner.input())
        path.join(at(input));
    if (attribute.name() == "value" && attribute.has_t() &&
        node.output_size()) {
      shapes[node.output(0)].assign(attribute.t().dims().begin(),
                                    attribute.t().dims().end());
      narrow = std::max(narrow, roundoffOf(attribute.t().data_type()));
    }
    if (attribute.name() == "to")
      narrow = std::max(narrow, roundoffOf(attribute.i()));
  }
  llvm::StringRef type = node.op_type();
  auto shapeOf = [&](int input) -> llvm::ArrayRef<int64_t> {
    auto it = input < node.input_size() ? shapes.find(node.input(input))
                                        : shapes.end();
    return it == shapes.end() ? llvm::ArrayRef<int64_t>() : it->second;
  };
  auto product = [](llvm::ArrayRef<int64_t> sizes) {
    double count = 1;
    for (int64_t size : sizes)
      count *= double(std::max<int64_t>(size, 1));
    return count;
  };
  constexpr double unknownContraction = 1024;
  double sums = 1, contractions = 0;
  if (llvm::is_contained(
          {"Conv", "ConvInteger", "QLinearConv", "ConvTranspose", "DeformConv"},
          type)) {
    llvm::ArrayRef<int64_t> weights = shapeOf(type == "QLinearConv" ? 3 : 1);
    contractions = 1;
    sums =
        weights.size() < 2 ? unknownContraction : product(weights.drop_front());
  } else if (llvm::is_contained({"MatMul", "Gemm", "MatMulInteger",
                                 "QLinearMatMul", "Attention", "Einsum"},
                                type)) {
    llvm::ArrayRef<int64_t> weights = shapeOf(type == "QLinearMatMul" ? 3 : 1);
    contractions = 1;
    sums = weights.empty() ? unknownContraction
                           : double(*llvm::max_element(weights));
  } else if (llvm::is_contained({"LSTM", "GRU", "RNN", "Loop", "Scan"}, type)) {
    // In a recurrence, each step adds to the error of the previous step.
    contractions = 64;
    sums = 64 * unknownContraction;
  } else if (type.contains("Norm") || type.starts_with("Reduce") ||
             type.contains("Softmax") || type.ends_with("Pool") ||
             type == "CumSum" || type == "Resize" || type == "Exp") {
    sums = sumOfUnknown;
  } else if (llvm::is_contained({"Reshape", "Transpose", "Identity", "Squeeze",
                                 "Unsqueeze", "Flatten", "Concat", "Split",
                                 "Slice", "Gather", "MaxPool", "Relu", "Expand",
                                 "Pad", "Shape", "Constant"},
                                type)) {
    sums = 0;
  }
  if (type == "QuantizeLinear" || type == "DynamicQuantizeLinear" ||
      type.starts_with("QLinear")) {
    path.quantizing += 1;
    // All of these operators but QuantizeLinear quantize to 8 bits. The result
    // of QuantizeLinear has the type of the zero point, or the type that an
    // attribute names.
    int32_t to = 0;
    if (type == "QuantizeLinear" && node.input_size() > 2)
      to = types.lookup(node.input(2));
    if (type == "QuantizeLinear")
      for (const onnx::AttributeProto &attribute : node.attribute())
        if (attribute.name() == "output_dtype" && attribute.i() != 0)
          to = int32_t(attribute.i());
    path.bits = std::min(path.bits, bitsOf(to));
  }
  path.sums += sums;
  path.operators += sums > 0;
  path.contractions += contractions;
  for (const std::string &output : node.output())
    if (!output.empty())
      before[output] = path;
}

double Tolerances::of(llvm::StringRef tensor) const {
  Roundings path = at(tensor);
  return 16 * 0x1p-24 * std::sqrt(std::max(path.sums, 1.0)) +
         4 * narrow * std::sqrt(path.operators) +
         4 * fast * std::sqrt(path.contractions) +
         2 * std::sqrt(path.quantizing) / double(1 << path.bits);
}

bool Tolerances::isQuantized(llvm::StringRef tensor) const {
  return at(tensor).quantizing > 0;
}

} // namespace ingot::verify
