#include "Mutate.h"

namespace ingot::fuzz {

/// Returns a number that is likely to expose errors in checks and arithmetic.
static int64_t oddInteger(Random &random) {
  static const int64_t numbers[] = {
      0,  1,         -1,        2,         3,       -2,   7,
      64, INT32_MAX, INT64_MAX, INT64_MIN, 1 << 20, -100, int64_t(1) << 40};
  return numbers[below(random, std::size(numbers))];
}

int64_t smallInteger(Random &random) {
  return below(random, 12) ? int64_t(below(random, 5)) - 1 : oddInteger(random);
}

void mutateAttribute(onnx::AttributeProto &attr, Random &random) {
  switch (attr.type()) {
  case onnx::AttributeProto::INT:
    attr.set_i(smallInteger(random));
    break;
  case onnx::AttributeProto::INTS:
    if (attr.ints_size() && below(random, 3))
      attr.set_ints(static_cast<int>(below(random, attr.ints_size())),
                    smallInteger(random));
    else if (below(random, 2))
      attr.add_ints(smallInteger(random));
    else
      attr.clear_ints();
    break;
  case onnx::AttributeProto::FLOAT: {
    static const float numbers[] = {0,
                                    -1,
                                    1e30f,
                                    1e-40f,
                                    std::numeric_limits<float>::infinity(),
                                    std::numeric_limits<float>::quiet_NaN()};
    attr.set_f(numbers[below(random, std::size(numbers))]);
    break;
  }
  case onnx::AttributeProto::STRING: {
    static const char *const words[] = {"",        "SAME_UPPER", "linear",
                                        "cubic",   "NOTSET",     "VALID",
                                        "nearest", "\xff\x01",   "floor"};
    attr.set_s(words[below(random, std::size(words))]);
    break;
  }
  case onnx::AttributeProto::TENSOR:
    attr.mutable_t()->add_dims(smallInteger(random));
    break;
  default:
    attr.clear_g();
  }
}

static void mutateType(onnx::ValueInfoProto &value, Random &random) {
  auto &tensor = *value.mutable_type()->mutable_tensor_type();
  auto &shape = *tensor.mutable_shape();
  switch (below(random, 5)) {
  case 0:
    tensor.set_elem_type(static_cast<int>(below(random, 30)));
    break;
  case 1:
    shape.add_dim()->set_dim_value(smallInteger(random));
    break;
  case 2:
    dropLast(*shape.mutable_dim());
    break;
  case 3:
    if (shape.dim_size())
      pick(*shape.mutable_dim(), random).set_dim_param("N");
    break;
  default:
    if (shape.dim_size())
      pick(*shape.mutable_dim(), random).set_dim_value(smallInteger(random));
  }
}

static void mutateTensor(onnx::TensorProto &tensor, Random &random) {
  switch (below(random, 5)) {
  case 0:
    tensor.add_dims(smallInteger(random));
    break;
  case 1:
    if (tensor.dims_size())
      tensor.set_dims(static_cast<int>(below(random, tensor.dims_size())),
                      smallInteger(random));
    break;
  case 2:
    tensor.set_data_type(static_cast<int>(below(random, 30)));
    break;
  case 3:
    if (!tensor.raw_data().empty())
      (*tensor.mutable_raw_data())[below(random, tensor.raw_data().size())] ^=
          1 << below(random, 8);
    break;
  default: {
    auto &location = *tensor.add_external_data();
    location.set_key("location");
    location.set_value("../x");
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  }
  }
}

static void mutateNode(onnx::NodeProto &node, onnx::GraphProto &graph,
                       Random &random) {
  static const char *const operators[] = {
      "Add",       "Conv",   "MatMul",    "Reshape", "Concat",  "Slice",
      "Gather",    "Resize", "Transpose", "Softmax", "MaxPool", "Squeeze",
      "Split",     "Pad",    "Expand",    "TopK",    "Cast",    "Where",
      "ReduceSum", "Loop",   "ScatterND", "Einsum",  "Range",   "Flatten",
      "OneHot",    "GRU",    "CumSum",    "Tile",    "Shape",   "If"};
  switch (below(random, 8)) {
  case 0:
    node.set_op_type(operators[below(random, std::size(operators))]);
    break;
  case 1:
    if (node.input_size() && graph.node_size()) {
      auto &other = pick(*graph.mutable_node(), random);
      if (other.output_size())
        pick(*node.mutable_input(), random) = other.output(0);
    }
    break;
  case 2:
    if (node.input_size() && graph.initializer_size())
      pick(*node.mutable_input(), random) =
          pick(*graph.mutable_initializer(), random).name();
    break;
  case 3:
    dropLast(*node.mutable_input());
    break;
  case 4:
    node.add_input(node.input_size() ? node.input(0) : "");
    break;
  case 5:
    if (node.output_size())
      node.add_output("extra" + std::to_string(random()));
    break;
  default:
    if (node.attribute_size())
      mutateAttribute(pick(*node.mutable_attribute(), random), random);
  }
}

void mutateModel(onnx::ModelProto &model, Random &random) {
  onnx::GraphProto &graph = *model.mutable_graph();
  for (size_t changes = 1 + below(random, 3); changes; --changes) {
    switch (below(random, 10)) {
    case 0:
      if (graph.input_size())
        mutateType(pick(*graph.mutable_input(), random), random);
      break;
    case 1:
      if (graph.output_size())
        mutateType(pick(*graph.mutable_output(), random), random);
      break;
    case 2:
    case 3:
      if (graph.initializer_size())
        mutateTensor(pick(*graph.mutable_initializer(), random), random);
      break;
    case 4:
      if (model.opset_import_size())
        pick(*model.mutable_opset_import(), random)
            .set_version(below(random, 30));
      break;
    default:
      if (graph.node_size())
        mutateNode(pick(*graph.mutable_node(), random), graph, random);
    }
  }
}

void mutateBytes(std::string &bytes, Random &random) {
  for (size_t changes = 1 + below(random, 8); changes && !bytes.empty();
       --changes) {
    size_t at = below(random, bytes.size());
    switch (below(random, 5)) {
    case 0:
      bytes[at] ^= 1 << below(random, 8);
      break;
    case 1:
      bytes[at] = static_cast<char>(random());
      break;
    case 2:
      bytes.erase(at, 1 + below(random, 16));
      break;
    case 3:
      bytes.insert(
          at, bytes.substr(below(random, bytes.size()), below(random, 64)));
      break;
    default:
      bytes.resize(at);
    }
  }
}

} // namespace ingot::fuzz
