#include "Seeds.h"

#include "onnx/shape_inference/implementation.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <set>

namespace ingot::fuzz {

namespace fs = std::filesystem;

/// Limits on the bytes of all weights of a model, of one constant in a part,
/// and of any value in a model, so that a compilation takes a second or two.
static constexpr size_t mostWeights = 1 << 21, mostOfConstant = 1 << 19,
                        mostOfValue = 1 << 24;

bool Seeds::add(const fs::path &path) {
  if (!fs::is_directory(path)) {
    if (!fs::is_regular_file(path))
      return false;
    unsigned size = 0;
    for (size_t bytes = fs::file_size(path); bytes >>= 2;)
      ++size;
    auto seed = std::make_unique<Seed>();
    seed->path = path;
    bySize[size].push_back(std::move(seed));
    return true;
  }
  // The files are sorted, so that a random seed draws the same models on every
  // machine.
  std::vector<fs::path> files;
  for (const auto &entry : fs::recursive_directory_iterator(path))
    if (entry.path().extension() == ".onnx")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const fs::path &file : files)
    add(file);
  return !files.empty();
}

/// Calls `visit` for each name of a value that a node or its subgraphs read and
/// do not define.
template <typename Visit>
static void forEachRead(const onnx::NodeProto &node, Visit visit) {
  for (const std::string &input : node.input())
    if (!input.empty())
      visit(input);
  for (const auto &attr : node.attribute()) {
    if (!attr.has_g())
      continue;
    std::set<std::string> own;
    for (const auto &value : attr.g().input())
      own.insert(value.name());
    for (const auto &tensor : attr.g().initializer())
      own.insert(tensor.name());
    for (const auto &inner : attr.g().node())
      own.insert(inner.output().begin(), inner.output().end());
    auto outer = [&](const std::string &name) {
      if (!own.count(name))
        visit(name);
    };
    for (const auto &inner : attr.g().node())
      forEachRead(inner, std::function<void(const std::string &)>(outer));
    for (const auto &output : attr.g().output())
      outer(output.name());
  }
}

/// Replaces unknown sizes of an input by numbers: 1 for the first axis (a
/// batch), and 16, which most windows fit into, for other axes.
static void bindSizes(onnx::ValueInfoProto &input) {
  if (!input.type().has_tensor_type() ||
      !input.type().tensor_type().has_shape())
    return;
  auto &shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (int axis = 0; axis < shape.dim_size(); ++axis)
    if (!shape.dim(axis).has_dim_value())
      shape.mutable_dim(axis)->set_dim_value(axis == 0 ? 1 : 16);
}

void Seeds::read(Seed &seed) {
  seed.isRead = true;
  std::ifstream in(seed.path, std::ios::binary);
  if (!seed.model.ParseFromIstream(&in))
    return;
  onnx::ModelProto known = seed.model;
  for (auto &input : *known.mutable_graph()->mutable_input())
    bindSizes(input);
  try {
    onnx::shape_inference::InferShapes(
        known, onnx::OpSchemaRegistry::Instance(),
        onnx::ShapeInferenceOptions(/*check_type=*/false, /*error_mode=*/0,
                                    /*data_prop=*/true));
  } catch (const std::exception &) {
    // Without a complete shape inference, parts of the model can only start at
    // values whose types are known.
  }
  for (const auto *values : {&known.graph().input(), &known.graph().output(),
                             &known.graph().value_info()})
    for (const auto &value : *values)
      if (value.has_type())
        seed.types[value.name()] = value.type();
  const onnx::GraphProto &graph = seed.model.graph();
  for (const auto &tensor : graph.initializer())
    seed.constants[tensor.name()] = &tensor;
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const std::string &output : graph.node(i).output())
      seed.producer[output] = i;
    forEachRead(graph.node(i), [&](const std::string &name) {
      seed.readers[name].push_back(i);
    });
  }
}

Seeds::Seed &Seeds::draw(Random &random) {
  auto group = bySize.begin();
  std::advance(group, below(random, bySize.size()));
  Seed &seed = *group->second[below(random, group->second.size())];
  if (!seed.isRead)
    read(seed);
  return seed;
}

std::optional<onnx::ModelProto> Seeds::whole(Random &random) {
  const Seed &seed = draw(random);
  size_t bytes = 0;
  for (const auto &tensor : seed.model.graph().initializer())
    bytes += tensorBytes(tensor);
  if (bytes > mostWeights || seed.model.graph().node_size() > 250)
    return std::nullopt;
  // Computed values can also be too large, not only weights.
  for (const auto &[name, type] : seed.types) {
    onnx::TensorProto value;
    value.set_data_type(type.tensor_type().elem_type());
    for (const auto &dim : type.tensor_type().shape().dim())
      value.add_dims(dim.dim_value());
    if (tensorBytes(value) > mostOfValue)
      return std::nullopt;
  }
  onnx::ModelProto model = seed.model;
  for (auto &tensor : *model.mutable_graph()->mutable_initializer())
    if (tensor.external_data_size())
      fillTensor(tensor, random);
  return model;
}

std::vector<int> Seeds::chooseNodes(const Seed &seed, Random &random) {
  const onnx::GraphProto &graph = seed.model.graph();
  std::set<int> chosen{static_cast<int>(below(random, graph.node_size()))};
  size_t wanted = below(random, 2) ? 1 : 2 + below(random, 5);
  for (size_t attempt = 0; attempt < 20 && chosen.size() < wanted; ++attempt) {
    auto from = chosen.begin();
    std::advance(from, below(random, chosen.size()));
    const onnx::NodeProto &node = graph.node(*from);
    if (below(random, 2) && node.input_size()) {
      auto it = seed.producer.find(
          node.input(static_cast<int>(below(random, node.input_size()))));
      if (it != seed.producer.end())
        chosen.insert(it->second);
    } else if (node.output_size()) {
      auto it = seed.readers.find(
          node.output(static_cast<int>(below(random, node.output_size()))));
      if (it != seed.readers.end())
        chosen.insert(it->second[below(random, it->second.size())]);
    }
  }
  return {chosen.begin(), chosen.end()};
}

std::optional<onnx::ModelProto> Seeds::part(Random &random) {
  const Seed &seed = draw(random);
  if (!seed.model.graph().node_size())
    return std::nullopt;
  onnx::ModelProto model;
  model.set_ir_version(seed.model.ir_version());
  *model.mutable_opset_import() = seed.model.opset_import();
  *model.mutable_functions() = seed.model.functions();
  onnx::GraphProto &graph = *model.mutable_graph();
  graph.set_name("part");

  std::vector<int> nodes = chooseNodes(seed, random);
  std::set<std::string> made, read;
  for (int i : nodes) {
    *graph.add_node() = seed.model.graph().node(i);
    made.insert(seed.model.graph().node(i).output().begin(),
                seed.model.graph().node(i).output().end());
  }
  for (int i : nodes)
    forEachRead(seed.model.graph().node(i), [&](const std::string &name) {
      if (!made.count(name))
        read.insert(name);
    });
  for (const std::string &name : read) {
    auto constant = seed.constants.find(name);
    if (constant != seed.constants.end() &&
        tensorBytes(*constant->second) <= mostOfConstant) {
      *graph.add_initializer() = *constant->second;
      if (constant->second->external_data_size())
        fillTensor(*graph.mutable_initializer()->rbegin(), random);
      continue;
    }
    auto producer = seed.producer.find(name);
    if (producer != seed.producer.end() &&
        seed.model.graph().node(producer->second).op_type() == "Constant") {
      onnx::NodeProto node = seed.model.graph().node(producer->second);
      graph.mutable_node()->Add(std::move(node));
      continue;
    }
    auto &input = *graph.add_input();
    input.set_name(name);
    if (constant != seed.constants.end()) {
      auto &type = *input.mutable_type()->mutable_tensor_type();
      type.set_elem_type(constant->second->data_type());
      for (int64_t size : constant->second->dims())
        type.mutable_shape()->add_dim()->set_dim_value(size);
      continue;
    }
    auto type = seed.types.find(name);
    if (type == seed.types.end())
      return std::nullopt;
    *input.mutable_type() = type->second;
    bindSizes(input);
  }
  for (int i : nodes)
    for (const std::string &output : seed.model.graph().node(i).output())
      if (!output.empty())
        graph.add_output()->set_name(output);
  return model;
}

} // namespace ingot::fuzz
