#include "compiler/inspect/ModelReport.h"

#include "codegen/files/NodeNames.h"
#include "compiler/evidence/CodeMap.h"
#include "compiler/import/TensorData.h"
#include "dialects/kernel/KernelModule.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "onnx/onnx_pb.h"
#include "llvm/ADT/MapVector.h"

#include <cmath>
#include <cstring>

using namespace mlir;

namespace ingot {

using llvm::json::Array;
using llvm::json::Object;

static std::string utf8(StringRef text) { return llvm::json::fixUTF8(text); }

template <typename Names> static Array listOf(const Names &names) {
  Array list;
  for (const auto &name : names)
    list.push_back(utf8(name));
  return list;
}

static Object objectOf(const ModelNode &node) {
  Object object{{"name", utf8(node.name)},
                {"operator", utf8(node.op)},
                {"inputs", listOf(node.inputs)},
                {"outputs", listOf(node.outputs)}};
  if (!node.graph.empty())
    object["graph"] = utf8(node.graph);
  return object;
}

//===----------------------------------------------------------------------===//
// Quantization
//===----------------------------------------------------------------------===//

/// Returns the values of a float tensor that is stored in the model file
/// itself; empty for other types and for external data.
static std::vector<float> floatsOf(const onnx::TensorProto &tensor) {
  if (tensor.data_type() != onnx::TensorProto::FLOAT)
    return {};
  std::vector<float> values(tensor.float_data().begin(),
                            tensor.float_data().end());
  if (values.empty() && !tensor.raw_data().empty()) {
    values.resize(tensor.raw_data().size() / sizeof(float));
    std::memcpy(values.data(), tensor.raw_data().data(),
                values.size() * sizeof(float));
  }
  return values;
}

namespace {
/// Lists the quantized tensors of a graph: results of QuantizeLinear, constant
/// operands of DequantizeLinear, and constant weights and results of
/// QLinearConv and QLinearMatMul.
class QuantizedTensors {
public:
  explicit QuantizedTensors(const onnx::GraphProto &graph) : graph(graph) {
    for (const onnx::TensorProto &tensor : graph.initializer())
      constants[tensor.name()] = &tensor;
    for (const onnx::NodeProto &node : graph.node())
      for (const std::string &input : node.input())
        readers.insert({input, &node});
  }

  Array list() {
    for (const onnx::NodeProto &node : graph.node()) {
      StringRef op = node.op_type();
      if (op == "QuantizeLinear")
        add(node, node.output(0), 1, 2);
      else if (op == "DequantizeLinear" && constants.count(node.input(0)))
        add(readerOf(node.output(0), node), node.input(0), node, 1, 2);
      else if ((op == "QLinearConv" || op == "QLinearMatMul") &&
               node.input_size() >= 8) {
        if (constants.count(node.input(3)))
          add(node, node.input(3), 4, 5);
        add(node, node.output(0), 6, 7);
      }
    }
    return std::move(result);
  }

private:
  const onnx::NodeProto &readerOf(const std::string &tensor,
                                  const onnx::NodeProto &otherwise) const {
    auto found = readers.find(tensor);
    return found == readers.end() ? otherwise : *found->second;
  }
  void add(const onnx::NodeProto &node, const std::string &tensor, int scale,
           int zeroPoint) {
    add(node, tensor, node, scale, zeroPoint);
  }
  /// Adds `tensor`, a tensor of the node `layer`. Its scale and zero point are
  /// the inputs of `node` with the indices `scale` and `zeroPoint`.
  void add(const onnx::NodeProto &layer, const std::string &tensor,
           const onnx::NodeProto &node, int scale, int zeroPoint) {
    if (!seen.insert(tensor).second)
      return;
    Object row{
        {"tensor", utf8(tensor)},
        {"node", utf8(layer.name().empty() ? layer.output(0) : layer.name())}};
    const onnx::TensorProto *weights = constants.lookup(tensor);
    row["kind"] = weights ? "weights" : "activations";
    const onnx::TensorProto *zero =
        zeroPoint < node.input_size() ? constants.lookup(node.input(zeroPoint))
                                      : nullptr;
    int type = weights ? weights->data_type()
               : zero  ? zero->data_type()
                       : int(onnx::TensorProto::UINT8);
    row["type"] = dataTypeName(type).str();
    if (weights) {
      int64_t count = 1;
      for (int64_t size : weights->dims())
        count *= size;
      row["elements"] = count;
    }
    if (const onnx::TensorProto *given = constants.lookup(node.input(scale)))
      if (std::vector<float> scales = floatsOf(*given); !scales.empty()) {
        auto [least, most] = std::minmax_element(scales.begin(), scales.end());
        row["scale"] = *most;
        row["least_scale"] = *least;
        row["scales"] = int64_t(scales.size());
        // Rounding changes a value within the range of the type by at most half
        // a quantization step.
        row["rounding_error"] = *most / 2;
      }
    result.push_back(std::move(row));
  }

  const onnx::GraphProto &graph;
  llvm::StringMap<const onnx::TensorProto *> constants;
  std::map<std::string, const onnx::NodeProto *> readers;
  llvm::StringSet<> seen;
  Array result;
};
} // namespace

void collectNodes(const onnx::ModelProto &model, Object &details) {
  Array nodes;
  for (const ModelNode &node : modelNodes(model))
    nodes.push_back(objectOf(node));
  details["nodes"] = std::move(nodes);
  Array tensors = QuantizedTensors(model.graph()).list();
  if (!tensors.empty())
    details["quantization"] = std::move(tensors);
}

void addErrors(ArrayRef<verify::TensorError> errors, ModelReport &report) {
  Object &details = report.details;
  llvm::StringMap<const verify::TensorError *> known;
  Array list;
  double least = std::numeric_limits<double>::infinity();
  // JSON has no infinity. Equal tensors, and those of different types, have no
  // signal-to-noise ratio.
  auto hasDecibels = [](const verify::TensorError &error) {
    return error.relative > 0 && std::isfinite(error.relative) &&
           std::isfinite(error.decibels);
  };
  auto setError = [&](Object &object, const verify::TensorError &error) {
    object["relative_error"] = std::isfinite(error.relative)
                                   ? llvm::json::Value(error.relative)
                                   : llvm::json::Value(nullptr);
    if (hasDecibels(error))
      object["decibels"] = error.decibels;
  };
  for (const verify::TensorError &error : errors) {
    known[utf8(error.name)] = &error;
    Object object{{"tensor", utf8(error.name)}, {"type", error.type}};
    setError(object, error);
    list.push_back(std::move(object));
    bool isOutput =
        llvm::any_of(report.summary.outputs, [&](const auto &output) {
          return output.name == error.name;
        });
    if (isOutput && hasDecibels(error))
      least = std::min(least, error.decibels);
  }
  if (std::isfinite(least))
    details["output_decibels"] = least;
  details["tensor_errors"] = std::move(list);
  Array *tensors = details.getArray("quantization");
  if (!tensors)
    return;
  // Sets the error of each quantized tensor. For the result of a QuantizeLinear
  // node, this is the error of the tensor that the node quantizes; for other
  // tensors, the error of their layer's output.
  llvm::StringMap<const Object *> nodes;
  for (const llvm::json::Value &node : *details.getArray("nodes"))
    nodes.insert({*node.getAsObject()->getString("name"), node.getAsObject()});
  for (llvm::json::Value &value : *tensors) {
    Object &row = *value.getAsObject();
    const Object *node = nodes.lookup(*row.getString("node"));
    if (!node)
      continue;
    bool isInput = node->getString("operator") == StringRef("QuantizeLinear");
    const Array &names = *node->getArray(isInput ? "inputs" : "outputs");
    if (names.empty())
      continue;
    if (const verify::TensorError *error =
            known.lookup(*names.front().getAsString()))
      setError(row, *error);
  }
}

//===----------------------------------------------------------------------===//
// The planned module
//===----------------------------------------------------------------------===//

/// Returns the operation that defines the memory of a value, which may be a
/// view; null for an argument.
static Operation *memoryOf(Value value) {
  while (auto view = value.getDefiningOp<kernel::ViewOp>())
    value = view.getSource();
  return value.getDefiningOp();
}

static std::string typeText(MemRefType type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << type.getElementType() << '[';
  llvm::interleave(type.getShape(), os, ",");
  os << ']';
  return text;
}

/// Returns the buffers that the arena (the memory of intermediate tensors)
/// contains, each with the first and the last kernel call that uses it.
static Array buffersOf(ModuleOp module) {
  struct Range {
    int64_t first, last;
  };
  llvm::MapVector<Operation *, Range> ranges;
  int64_t call = 0;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (auto arena = dyn_cast_if_present<kernel::ArenaOp>(memoryOf(operand));
          arena && !isa<kernel::ViewOp>(op)) {
        auto [range, isNew] = ranges.insert({arena, {call, call}});
        range->second.last = call;
      }
    call += isa<kernel::LaunchOp>(op);
  });
  Array list;
  for (auto &[op, range] : ranges) {
    auto arena = cast<kernel::ArenaOp>(op);
    auto type = cast<MemRefType>(arena.getType());
    Object buffer{
        {"offset", int64_t(arena.getOffset())},
        {"bytes", kernel::spanBytes(type)},
        {"type", typeText(type)},
        {"first", range.first},
        {"last", std::min(range.last, std::max<int64_t>(call - 1, 0))},
        {"nodes", listOf(nodesOf(arena.getLoc()))}};
    if (arena.getSecondMemory())
      buffer["second_memory"] = true;
    list.push_back(std::move(buffer));
  }
  return list;
}

/// Returns the constants, each with the kernel calls that read it.
static Array constantsOf(const CodeMap &code) {
  SymbolTable symbols(code.module);
  llvm::MapVector<Operation *, llvm::SetVector<int64_t>> calls;
  int64_t call = 0;
  ModuleOp(code.module).walk([&](kernel::LaunchOp launch) {
    auto use = [&](memref::GetGlobalOp get) {
      if (get)
        calls[symbols.lookup(get.getName())].insert(call);
    };
    for (Value operand : launch.getOperands())
      use(dyn_cast_if_present<memref::GetGlobalOp>(memoryOf(operand)));
    if (Operation *callee = symbols.lookup(launch.getCallee()))
      callee->walk(use);
    ++call;
  });
  Array list;
  for (auto &[op, readers] : calls) {
    auto global = dyn_cast_if_present<memref::GlobalOp>(op);
    if (!global)
      continue;
    Array readBy;
    for (int64_t reader : readers)
      readBy.push_back(reader);
    list.push_back(
        Object{{"name", utf8(code.map.globals.lookup(global.getSymName()))},
               {"type", typeText(global.getType())},
               {"bytes", kernel::spanBytes(global.getType())},
               {"nodes", listOf(nodesOf(global.getLoc()))},
               {"read_by", std::move(readBy)}});
  }
  return list;
}

/// Returns the text of the lines from `first` to `last`, numbered from 1.
static StringRef linesOf(StringRef text, ArrayRef<size_t> starts, size_t first,
                         size_t last) {
  size_t end = last < starts.size() ? starts[last] : text.size();
  return text.slice(starts[first - 1], end).rtrim('\n');
}

/// Returns the source of each kernel. A kernel of more than `mostLines` lines
/// is cut off: unrolled code may have tens of thousands of lines.
static Array sourcesOf(const CodeMap &code) {
  constexpr size_t mostLines = 400;
  std::vector<size_t> starts{0};
  for (auto [i, c] : llvm::enumerate(code.text))
    if (c == '\n')
      starts.push_back(i + 1);
  Array list;
  for (const auto &function : code.functions) {
    if (!isa<kernel::FuncOp>(function->op) || !function->firstLine)
      continue;
    size_t last =
        std::min(function->lastLine, function->firstLine + mostLines - 1);
    list.push_back(Object{
        {"kernel", SymbolTable::getSymbolName(function->op).str()},
        {"function", function->name},
        {"first_line", int64_t(function->firstLine)},
        {"last_line", int64_t(function->lastLine)},
        {"text", utf8(linesOf(code.text, starts, function->firstLine, last))}});
  }
  return list;
}

bool collectDetails(Compilation &planned, const Footprint &footprint,
                    Object &details) {
  if (!planned.advance(Stage::Legalize))
    return false;
  details["buffers"] = buffersOf(planned.module());
  CodeMap code(planned, "model.cpp");
  if (!code.read())
    return false;
  details["constants"] = constantsOf(code);
  details["sources"] = sourcesOf(code);
  Array nodes;
  for (const Node &node : code.nodes) {
    Object object = objectOf(node.node);
    if (!node.entry.empty())
      object["entry"] = utf8(node.entry);
    llvm::SetVector<StringRef> kernels;
    for (const Function *function : node.functions)
      if (isa<kernel::FuncOp>(function->op))
        kernels.insert(SymbolTable::getSymbolName(function->op).getValue());
    if (!kernels.empty())
      object["kernels"] = listOf(kernels);
    if (!node.reason.empty())
      object["reason"] = node.reason;
    nodes.push_back(std::move(object));
  }
  details["nodes"] = std::move(nodes);
  return true;
}

} // namespace ingot
