#include "compiler/attach/NodeBuilder.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace ingot::attach {

template <typename T> static StringRef bytesOf(ArrayRef<T> values) {
  return StringRef(reinterpret_cast<const char *>(values.data()),
                   values.size() * sizeof(T));
}

std::string NodeBuilder::add(
    const char *type, ArrayRef<std::string> inputs, StringRef name,
    std::initializer_list<std::pair<const char *, Setting>> settings) {
  std::string output = graph.fresh(prefix + "/" + name);
  onnx::NodeProto &node = quantize::addNode(nodes, type, inputs, output);
  for (const auto &[key, value] : settings) {
    onnx::AttributeProto &attribute = *node.add_attribute();
    attribute.set_name(key);
    if (const auto *number = std::get_if<int64_t>(&value)) {
      attribute.set_type(onnx::AttributeProto::INT);
      attribute.set_i(*number);
    } else if (const auto *text = std::get_if<std::string>(&value)) {
      attribute.set_type(onnx::AttributeProto::STRING);
      attribute.set_s(*text);
    } else {
      attribute.set_type(onnx::AttributeProto::INTS);
      for (int64_t element : std::get<std::vector<int64_t>>(value))
        attribute.add_ints(element);
    }
  }
  return output;
}

void NodeBuilder::writeTo(const std::string &output) {
  nodes[nodes.size() - 1].set_output(0, output);
}

std::string NodeBuilder::secondOutput(StringRef name) {
  std::string output = graph.fresh(prefix + "/" + name);
  nodes[nodes.size() - 1].add_output(output);
  return output;
}

std::string NodeBuilder::ints(ArrayRef<int64_t> values) {
  std::string &name = known[values.vec()];
  if (name.empty()) {
    name = graph.fresh(prefix + "/int_" +
                       join(map_range(values.take_front(8),
                                      [](int64_t x) {
                                        return (x < 0 ? "minus" : "") +
                                               std::to_string(std::abs(x));
                                      }),
                            "_"));
    graph.addConstant(name, onnx::TensorProto::INT64,
                      {static_cast<int64_t>(values.size())}, bytesOf(values));
  }
  return name;
}

std::string NodeBuilder::number(double value, StringRef name) {
  return floats({static_cast<float>(value)}, {}, name);
}

std::string NodeBuilder::floats(ArrayRef<float> values, ArrayRef<int64_t> shape,
                                StringRef name) {
  std::string constant = graph.fresh(prefix + "/" + name);
  graph.addConstant(constant, onnx::TensorProto::FLOAT, shape, bytesOf(values));
  return constant;
}

std::string NodeBuilder::maximum(const std::string &x, int64_t axis,
                                 StringRef name) {
  // Since opset 18, the axes are an input.
  if (opset >= 18)
    return add("ReduceMax", {x, ints({axis})}, name);
  return add("ReduceMax", {x}, name, {{"axes", std::vector<int64_t>{axis}}});
}

} // namespace ingot::attach
