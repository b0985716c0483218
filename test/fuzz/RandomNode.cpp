#include "Mutate.h"

#include "compiler/import/FurtherSchemas.h"
#include "onnx/defs/schema.h"

namespace ingot::fuzz {

onnx::AttributeProto randomAttribute(const std::string &name,
                                     onnx::AttributeProto::AttributeType type,
                                     Random &random) {
  onnx::AttributeProto attr;
  attr.set_name(name);
  attr.set_type(type);
  size_t count = below(random, 4);
  for (size_t i = 0; type == onnx::AttributeProto::INTS && i < count; ++i)
    attr.add_ints(smallInteger(random));
  if (type == onnx::AttributeProto::FLOATS)
    for (size_t i = 0; i < count; ++i)
      attr.add_floats(0.5f);
  if (type != onnx::AttributeProto::INTS &&
      type != onnx::AttributeProto::FLOATS)
    mutateAttribute(attr, random);
  return attr;
}

onnx::ModelProto randomNode(Random &random) {
  registerFurtherSchemas();
  static const std::vector<onnx::OpSchema> schemas =
      onnx::OpSchemaRegistry::get_all_schemas();
  const onnx::OpSchema *schema = nullptr;
  do
    schema = &schemas[below(random, schemas.size())];
  while (schema->Deprecated());

  onnx::ModelProto model;
  model.set_ir_version(10);
  auto &import = *model.add_opset_import();
  import.set_domain(schema->domain());
  import.set_version(schema->SinceVersion());
  onnx::GraphProto &graph = *model.mutable_graph();
  onnx::NodeProto &node = *graph.add_node();
  node.set_op_type(schema->Name());
  node.set_domain(schema->domain());
  node.set_name("the_node");
  // All float operands have one common shape, which most operators accept.
  std::vector<int64_t> common;
  for (size_t rank = below(random, 5); rank; --rank)
    common.push_back(1 + below(random, 4));
  size_t inputs =
      schema->min_input() +
      below(random,
            1 + std::min<size_t>(4, schema->max_input() - schema->min_input()));
  for (size_t i = 0; i < inputs; ++i) {
    std::string name = "x" + std::to_string(i);
    node.add_input(below(random, 12) ? name : "");
    if (below(random, 2)) {
      // Operands that are constants, such as shapes, axes and weights.
      auto &tensor = *graph.add_initializer();
      tensor.set_name(name);
      bool isIndex = below(random, 2);
      tensor.set_data_type(isIndex ? onnx::TensorProto::INT64
                                   : onnx::TensorProto::FLOAT);
      size_t count = 1;
      if (isIndex) {
        count = below(random, 5);
        tensor.add_dims(count);
      } else {
        for (int64_t size : common) {
          tensor.add_dims(size);
          count *= size;
        }
      }
      for (size_t k = 0; k < count; ++k) {
        if (isIndex)
          tensor.add_int64_data(smallInteger(random));
        else
          tensor.add_float_data(1.5f);
      }
      continue;
    }
    auto &value = *graph.add_input();
    value.set_name(name);
    auto &type = *value.mutable_type()->mutable_tensor_type();
    static const int types[] = {1, 1, 1, 1, 7, 6, 9, 10, 2, 3, 11, 16};
    type.set_elem_type(types[below(random, std::size(types))]);
    type.mutable_shape();
    for (int64_t size : common)
      type.mutable_shape()->add_dim()->set_dim_value(
          below(random, 6) ? size : smallInteger(random));
  }
  for (const auto &[name, attr] : schema->attributes())
    if (attr.required || below(random, 3) == 0)
      *node.add_attribute() = randomAttribute(name, attr.type, random);
  for (int i = 0; i < std::max(1, std::min(schema->min_output() + 1,
                                           schema->max_output()));
       ++i) {
    std::string name = "y" + std::to_string(i);
    node.add_output(name);
    graph.add_output()->set_name(name);
  }
  return model;
}

} // namespace ingot::fuzz
