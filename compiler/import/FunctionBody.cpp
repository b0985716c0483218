#include "compiler/import/FunctionBody.h"

namespace ingot {

AttributeValues callAttributes(const onnx::NodeProto &call,
                               const onnx::FunctionProto &function,
                               const onnx::OpSchema *schema) {
  AttributeValues values;
  for (const auto &attr : function.attribute_proto())
    values[attr.name()] = attr;
  if (schema)
    for (const auto &[name, attr] : schema->attributes())
      if (attr.default_value.has_name())
        values[name] = attr.default_value;
  for (const auto &attr : call.attribute())
    values[attr.name()] = attr;
  return values;
}

bool hasReferences(const onnx::NodeProto &node) {
  auto inGraph = [](const onnx::GraphProto &graph) {
    for (const auto &inner : graph.node())
      if (hasReferences(inner))
        return true;
    return false;
  };
  for (const auto &attr : node.attribute()) {
    if (!attr.ref_attr_name().empty() || (attr.has_g() && inGraph(attr.g())))
      return true;
    for (const auto &graph : attr.graphs())
      if (inGraph(graph))
        return true;
  }
  return false;
}

onnx::NodeProto substitute(const onnx::NodeProto &node,
                           const AttributeValues &values) {
  onnx::NodeProto copy = node;
  copy.clear_attribute();
  auto inGraph = [&](onnx::GraphProto &graph) {
    for (auto &inner : *graph.mutable_node())
      inner = substitute(inner, values);
  };
  for (const auto &attr : node.attribute()) {
    if (!attr.ref_attr_name().empty()) {
      auto it = values.find(attr.ref_attr_name());
      if (it == values.end())
        continue;
      auto *given = copy.add_attribute();
      *given = it->second;
      given->set_name(attr.name());
      continue;
    }
    auto *own = copy.add_attribute();
    *own = attr;
    if (own->has_g())
      inGraph(*own->mutable_g());
    for (auto &graph : *own->mutable_graphs())
      inGraph(graph);
  }
  return copy;
}

} // namespace ingot
