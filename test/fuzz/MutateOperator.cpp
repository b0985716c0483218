// Changes one node of a model.

#include "Mutate.h"

#include "onnx/defs/schema.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace ingot::fuzz {

/// Returns the bits of an element of an ONNX data type; 0 for strings and
/// invalid types.
static unsigned bitsOf(int32_t type) {
  switch (type) {
  case onnx::TensorProto::DOUBLE:
  case onnx::TensorProto::INT64:
  case onnx::TensorProto::UINT64:
  case onnx::TensorProto::COMPLEX64:
    return 64;
  case onnx::TensorProto::COMPLEX128:
    return 128;
  case onnx::TensorProto::FLOAT:
  case onnx::TensorProto::INT32:
  case onnx::TensorProto::UINT32:
    return 32;
  case onnx::TensorProto::FLOAT16:
  case onnx::TensorProto::BFLOAT16:
  case onnx::TensorProto::INT16:
  case onnx::TensorProto::UINT16:
    return 16;
  case onnx::TensorProto::INT4:
  case onnx::TensorProto::UINT4:
  case onnx::TensorProto::FLOAT4E2M1:
    return 4;
  case onnx::TensorProto::STRING:
  case onnx::TensorProto::UNDEFINED:
    return 0;
  default:
    return 8;
  }
}

size_t tensorBytes(const onnx::TensorProto &tensor) {
  size_t elements = 1;
  for (int64_t size : tensor.dims())
    elements *= std::clamp<int64_t>(size, 0, 1 << 20);
  return (elements * bitsOf(tensor.data_type()) + 7) / 8;
}

void fillTensor(onnx::TensorProto &tensor, Random &random) {
  size_t bytes = tensorBytes(tensor);
  tensor.clear_float_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_double_data();
  tensor.clear_uint64_data();
  tensor.clear_string_data();
  tensor.clear_external_data();
  tensor.clear_data_location();
  std::string data(bytes, '\0');
  if (tensor.data_type() == onnx::TensorProto::FLOAT) {
    for (size_t at = 0; at + 4 <= bytes; at += 4) {
      float value = static_cast<float>(random() % 256) / 256.0f - 0.5f;
      std::memcpy(&data[at], &value, 4);
    }
  } else if (size_t width = bitsOf(tensor.data_type()) / 8) {
    // Only the first byte of an element is not zero: integers become 0 to 3,
    // floats other than float32 become tiny.
    for (size_t at = 0; at + width <= bytes; at += width)
      data[at] = static_cast<char>(random() % 4);
  }
  tensor.set_raw_data(data);
}

/// Returns `shape` with one random change, such as an added axis or another
/// size.
static std::vector<int64_t> mutatedShape(std::vector<int64_t> shape,
                                         Random &random) {
  auto size = [&]() -> int64_t { return below(random, 6); };
  size_t at = below(random, shape.size());
  switch (below(random, 7)) {
  case 0:
    shape.insert(shape.begin() + at, 1);
    break;
  case 1:
    shape.insert(shape.begin() + at, size());
    break;
  case 2:
    if (!shape.empty())
      shape.erase(shape.begin() + at);
    break;
  case 3:
    if (!shape.empty())
      std::swap(shape[at], shape[below(random, shape.size())]);
    break;
  case 4:
    if (below(random, 4) == 0)
      shape.clear();
    else if (!shape.empty())
      shape[at] = 1;
    break;
  case 5:
    if (!shape.empty())
      shape[at] = std::max<int64_t>(
          shape[at] + static_cast<int64_t>(below(random, 3)) - 1, 0);
    break;
  default:
    if (!shape.empty())
      shape[at] = size();
  }
  return shape;
}

static int32_t randomType(Random &random) {
  static const int32_t usual[] = {1, 1, 7, 6, 9, 10, 11, 2, 3, 16};
  return below(random, 3) ? usual[below(random, std::size(usual))]
                          : static_cast<int32_t>(1 + below(random, 25));
}

static void mutateInput(onnx::ValueInfoProto &value, Random &random) {
  if (!value.type().has_tensor_type())
    return;
  auto &type = *value.mutable_type()->mutable_tensor_type();
  if (below(random, 4) == 0)
    return type.set_elem_type(randomType(random));
  std::vector<int64_t> shape;
  for (const auto &dim : type.shape().dim())
    shape.push_back(dim.dim_value());
  type.mutable_shape()->clear_dim();
  for (int64_t size : mutatedShape(shape, random))
    type.mutable_shape()->add_dim()->set_dim_value(size);
}

static void mutateConstant(onnx::GraphProto &graph, int index, Random &random) {
  onnx::TensorProto &tensor = *graph.mutable_initializer(index);
  bool isIndex = tensor.data_type() == onnx::TensorProto::INT64;
  switch (below(random, 6)) {
  case 0:
    tensor.set_data_type(randomType(random));
    break;
  case 1: {
    // The constant becomes an input.
    auto &input = *graph.add_input();
    input.set_name(tensor.name());
    auto &type = *input.mutable_type()->mutable_tensor_type();
    type.set_elem_type(tensor.data_type());
    type.mutable_shape();
    for (int64_t size : tensor.dims())
      type.mutable_shape()->add_dim()->set_dim_value(size);
    graph.mutable_initializer()->DeleteSubrange(index, 1);
    return;
  }
  case 2:
  case 3:
    if (isIndex)
      break;
    [[fallthrough]];
  default: {
    std::vector<int64_t> shape(tensor.dims().begin(), tensor.dims().end());
    tensor.clear_dims();
    for (int64_t size : mutatedShape(shape, random))
      tensor.add_dims(size);
  }
  }
  fillTensor(tensor, random);
  if (isIndex && tensor.data_type() == onnx::TensorProto::INT64) {
    size_t count = tensorBytes(tensor) / 8;
    tensor.clear_raw_data();
    for (size_t i = 0; i < count; ++i)
      tensor.add_int64_data(smallInteger(random));
  }
}

static void mutateOperand(onnx::GraphProto &graph, const std::string &name,
                          Random &random) {
  for (auto &input : *graph.mutable_input())
    if (input.name() == name)
      return mutateInput(input, random);
  for (int i = 0; i < graph.initializer_size(); ++i)
    if (graph.initializer(i).name() == name)
      return mutateConstant(graph, i, random);
}

static void mutateAttributes(onnx::NodeProto &node,
                             const onnx::OpSchema *schema, Random &random) {
  size_t kind = below(random, 3);
  if (kind == 0 && node.attribute_size())
    return mutateAttribute(pick(*node.mutable_attribute(), random), random);
  if (kind == 1 && node.attribute_size()) {
    int at = static_cast<int>(below(random, node.attribute_size()));
    return node.mutable_attribute()->DeleteSubrange(at, 1);
  }
  if (!schema || schema->attributes().empty())
    return;
  // The attributes are sorted by name, so that a seed chooses the same one on
  // every machine.
  std::vector<std::string> names;
  for (const auto &[name, attr] : schema->attributes())
    names.push_back(name);
  std::sort(names.begin(), names.end());
  const std::string &name = names[below(random, names.size())];
  for (int i = 0; i < node.attribute_size(); ++i)
    if (node.attribute(i).name() == name)
      return mutateAttribute(*node.mutable_attribute(i), random);
  *node.add_attribute() =
      randomAttribute(name, schema->attributes().at(name).type, random);
}

static void mutateArity(onnx::NodeProto &node, onnx::GraphProto &graph,
                        Random &random) {
  switch (below(random, 6)) {
  case 0:
    dropLast(*node.mutable_input());
    break;
  case 1:
    if (node.input_size())
      node.add_input(
          node.input(static_cast<int>(below(random, node.input_size()))));
    break;
  case 2:
    if (node.input_size())
      pick(*node.mutable_input(), random).clear();
    break;
  case 3:
    if (node.input_size() > 1)
      std::swap(pick(*node.mutable_input(), random),
                pick(*node.mutable_input(), random));
    break;
  case 4: {
    std::string name = "extra" + std::to_string(random());
    node.add_output(name);
    graph.add_output()->set_name(name);
    break;
  }
  default:
    if (node.output_size() > 1) {
      std::string &name = pick(*node.mutable_output(), random);
      for (int i = 0; i < graph.output_size(); ++i)
        if (graph.output(i).name() == name)
          graph.mutable_output()->DeleteSubrange(i--, 1);
      name.clear();
    }
  }
}

void makeConstant(onnx::GraphProto &graph, Random &random) {
  for (int i = graph.input_size() - 1; i >= 0; --i) {
    const auto &type = graph.input(i).type().tensor_type();
    onnx::TensorProto tensor;
    tensor.set_name(graph.input(i).name());
    tensor.set_data_type(type.elem_type());
    bool isStatic = graph.input(i).type().has_tensor_type();
    for (const auto &dim : type.shape().dim()) {
      tensor.add_dims(dim.dim_value());
      isStatic &= dim.has_dim_value();
    }
    if (!isStatic || tensorBytes(tensor) > (1 << 16))
      continue;
    fillTensor(tensor, random);
    *graph.add_initializer() = std::move(tensor);
    graph.mutable_input()->DeleteSubrange(i, 1);
  }
}

void mutateOperator(onnx::ModelProto &model, Random &random) {
  onnx::GraphProto &graph = *model.mutable_graph();
  if (!graph.node_size())
    return;
  onnx::NodeProto &node = pick(*graph.mutable_node(), random);
  int version = 0;
  for (const auto &opset : model.opset_import())
    if (opset.domain() == node.domain() ||
        (opset.domain() == "ai.onnx" && node.domain().empty()))
      version = static_cast<int>(opset.version());
  const onnx::OpSchema *schema =
      onnx::OpSchemaRegistry::Schema(node.op_type(), version, node.domain());
  size_t kind = below(random, 16);
  if (kind < 8 && node.input_size())
    return mutateOperand(
        graph, node.input(static_cast<int>(below(random, node.input_size()))),
        random);
  if (kind < 12)
    return mutateAttributes(node, schema, random);
  if (kind < 14)
    return mutateArity(node, graph, random);
  if (kind == 14) {
    for (auto &opset : *model.mutable_opset_import())
      if (opset.domain() == node.domain())
        opset.set_version(1 + below(random, 26));
    return;
  }
  // Replaces the operator by one with the same number of operands.
  static const std::vector<onnx::OpSchema> schemas =
      onnx::OpSchemaRegistry::get_all_schemas();
  for (int attempt = 0; attempt < 100; ++attempt) {
    const onnx::OpSchema &other = schemas[below(random, schemas.size())];
    if (other.domain() != node.domain() || other.Deprecated() ||
        other.since_version() > version ||
        node.input_size() < other.min_input() ||
        node.input_size() > other.max_input())
      continue;
    node.set_op_type(other.Name());
    for (int i = node.attribute_size() - 1; i >= 0; --i)
      if (!other.attributes().count(node.attribute(i).name()))
        node.mutable_attribute()->DeleteSubrange(i, 1);
    return;
  }
}

} // namespace ingot::fuzz
