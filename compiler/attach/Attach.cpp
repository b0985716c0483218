#include "compiler/attach/Attach.h"

#include "compiler/attach/Heads.h"
#include "compiler/import/TensorData.h"
#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "onnx/checker.h"

using namespace mlir;

namespace ingot::attach {

/// The least opset of the result. From this opset on, Unsqueeze and ReduceSum
/// take their axes as inputs.
static constexpr int64_t leastOpset = 13;

namespace {
/// An input or output of the network.
struct Port {
  std::string name;
  RankedTensorType type;
};

class Attachment {
public:
  Attachment(const CompileOptions &compile, const AttachOptions &options,
             MLIRContext &context, std::string &summary,
             Diagnostics &diagnostics)
      : compile(compile), options(options), context(context), summary(summary),
        diagnostics(diagnostics) {}

  std::unique_ptr<ModelFile> run();

private:
  bool readPorts();
  std::optional<NetworkImage> findImage();
  FrameMap addFrame(quantize::Graph &graph, NodeBuilder &b,
                    const NetworkImage &image);
  void replaceOutput(quantize::Graph &graph, const Head &head,
                     const std::string &boxes, const std::string &count);
  bool check(const onnx::ModelProto &model);
  void summarize(const std::optional<NetworkImage> &image,
                 const std::optional<Head> &head);
  /// Returns the largest number of boxes in the result.
  int64_t outputRows(const Head &head) const {
    return std::min(options.boxes->most, head.boxes);
  }
  std::nullopt_t fail(const Twine &message, const Twine &hint) {
    diagnostics.report(DiagnosticId::NotDetector, message, hint);
    return std::nullopt;
  }

  const CompileOptions &compile;
  const AttachOptions &options;
  MLIRContext &context;
  std::string &summary;
  Diagnostics &diagnostics;
  SmallVector<Port, 1> inputs;
  SmallVector<Port, 4> outputs;
};
} // namespace

/// Imports the model to determine the types of its inputs and outputs: the
/// model need not declare them, and they may depend on --dim. Returns false if
/// the import fails or if a size is dynamic.
bool Attachment::readPorts() {
  Compilation compilation(compile, context, diagnostics);
  if (!compilation.advance(Stage::Import))
    return false;
  auto main = *compilation.module().getOps<func::FuncOp>().begin();
  auto port = [](DictionaryAttr attributes, Type type) {
    auto name = attributes ? attributes.getAs<StringAttr>(kernel::kOnnxNameAttr)
                           : StringAttr();
    return Port{name ? name.str() : "", cast<RankedTensorType>(type)};
  };
  for (auto [i, type] : llvm::enumerate(main.getArgumentTypes()))
    inputs.push_back(port(main.getArgAttrDict(i), type));
  for (auto [i, type] : llvm::enumerate(main.getResultTypes()))
    outputs.push_back(port(main.getResultAttrDict(i), type));
  bool isDynamic = false;
  for (const SmallVectorImpl<Port> *ports :
       {static_cast<SmallVectorImpl<Port> *>(&inputs),
        static_cast<SmallVectorImpl<Port> *>(&outputs)})
    for (const Port &port : *ports)
      if (port.type.getEncoding()) {
        fail("`" + printable(port.name) + "` has a dynamic size",
             "give the network fixed sizes: --dim NAME=SIZE");
        isDynamic = true;
      }
  return !isDynamic;
}

/// Returns the sizes of the image that the network reads; nullopt with a
/// diagnostic if its input is no image.
std::optional<NetworkImage> Attachment::findImage() {
  static constexpr StringLiteral supported =
      "supported: one input, float [1,3,height,width]; or [1,1,height,width] "
      "for --format gray";
  if (inputs.size() != 1)
    return fail("the model has " + Twine(inputs.size()) + " inputs", supported);
  RankedTensorType type = inputs[0].type;
  ArrayRef<int64_t> shape = type.getShape();
  bool isGray = options.frame->format == FrameFormat::Gray;
  if (!(type.getElementType().isF32() || type.getElementType().isF16()) ||
      shape.size() != 4 || shape[0] != 1 || shape[2] < 1 || shape[3] < 1 ||
      !(shape[1] == 3 || (shape[1] == 1 && isGray)))
    return fail("the input `" + printable(inputs[0].name) + "` is " +
                    describe(type),
                supported);
  return NetworkImage{shape[1], shape[2], shape[3]};
}

static void setType(onnx::ValueInfoProto &info, const std::string &name,
                    int32_t dataType, ArrayRef<int64_t> shape) {
  info.Clear();
  info.set_name(name);
  onnx::TypeProto::Tensor &tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(dataType);
  auto &dims = *tensor.mutable_shape();
  for (int64_t size : shape)
    dims.add_dim()->set_dim_value(size);
}

FrameMap Attachment::addFrame(quantize::Graph &graph, NodeBuilder &b,
                              const NetworkImage &image) {
  const FrameOptions &frame = *options.frame;
  std::string name = graph.fresh("frame"), network = inputs[0].name;
  bool isHalf = inputs[0].type.getElementType().isF16();
  std::string result = isHalf ? graph.fresh("image_f32") : network;
  FrameMap map = addLetterbox(b, frame, image, name, result);
  if (isHalf) {
    b.cast(result, onnx::TensorProto::FLOAT16, "image_f16");
    b.writeTo(network);
  }
  onnx::ValueInfoProto &info = *graph.proto().mutable_input(0);
  std::vector<int64_t> shape = frameShape(frame);
  setType(info, name, onnx::TensorProto::UINT8, shape);
  auto &dims = *info.mutable_type()->mutable_tensor_type()->mutable_shape();
  const char *symbols[] = {"frame_height", "frame_width"};
  for (int i = 0; i < 2; ++i)
    if (shape[i] < 0)
      dims.mutable_dim(i)->set_dim_param(symbols[i]);
  return map;
}

/// Replaces the output of the head by the boxes and their number. Declares the
/// fixed shapes of the other outputs, whose sizes may have been symbolic.
void Attachment::replaceOutput(quantize::Graph &graph, const Head &head,
                               const std::string &boxes,
                               const std::string &count) {
  google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> infos;
  setType(*infos.Add(), boxes, onnx::TensorProto::FLOAT,
          {outputRows(head), 6 + head.extras});
  setType(*infos.Add(), count, onnx::TensorProto::INT32, {1});
  for (const Port &port : outputs)
    if (port.name != head.output)
      setType(*infos.Add(), port.name, onnxDataType(port.type.getElementType()),
              port.type.getShape());
  graph.proto().mutable_output()->Swap(&infos);
}

bool Attachment::check(const onnx::ModelProto &model) {
  try {
    onnx::checker::check_model(model);
    return true;
  } catch (const std::exception &error) {
    diagnostics.report(DiagnosticId::Internal,
                       "the model with the added nodes is not valid: " +
                           printable(error.what(), 400));
    return false;
  }
}

/// Describes in `summary` the frame that the new model reads and the boxes that
/// it returns.
void Attachment::summarize(const std::optional<NetworkImage> &image,
                           const std::optional<Head> &head) {
  llvm::raw_string_ostream os(summary);
  if (image) {
    const FrameOptions &frame = *options.frame;
    os << "frame ";
    if (frame.isFixed()) {
      Placement place = Placement::of(frame.height, frame.width, *image);
      os << frame.width << " x " << frame.height << " -> " << place.width
         << " x " << place.height << " at (" << place.left << ", " << place.top
         << ")";
    } else {
      os << "of any size";
    }
    os << " in " << image->width << " x " << image->height;
  }
  if (!head)
    return;
  if (image)
    os << "; ";
  os << head->boxes << " boxes";
  if (head->isSelected)
    os << " selected by the network";
  if (head->classes)
    os << " of " << head->classes << " class"
       << (head->classes == 1 ? "" : "es");
  if (head->keypoints)
    os << " with " << head->keypoints << " keypoints";
  else if (head->extras)
    os << " with " << head->extras << " more numbers";
  os << " -> boxes [" << outputRows(*head) << "," << 6 + head->extras
     << "], count";
}

/// Returns the version of the standard operators (domain ai.onnx); 0 if the
/// model does not import them.
static int64_t opsetOf(const onnx::ModelProto &model) {
  for (const auto &entry : model.opset_import())
    if (entry.domain().empty() || entry.domain() == "ai.onnx")
      return entry.version();
  return 0;
}

std::unique_ptr<ModelFile> Attachment::run() {
  std::unique_ptr<ModelFile> file = ModelFile::open(compile.model, diagnostics);
  if (!file)
    return nullptr;
  quantize::Graph graph(*file, context);
  if (!readPorts() ||
      !graph.raiseOpset(leastOpset, DiagnosticId::NotDetector, diagnostics))
    return nullptr;
  graph.bindDefaults();
  std::optional<NetworkImage> image;
  std::optional<Head> head;
  if (options.frame && !(image = findImage()))
    return nullptr;
  if (options.boxes) {
    SmallVector<NetworkOutput> tensors;
    for (const Port &port : outputs)
      tensors.push_back({port.name,
                         int32_t(onnxDataType(port.type.getElementType())),
                         port.type.getShape().vec()});
    head = findHead(graph.model(), tensors, *options.boxes, diagnostics);
    if (!head)
      return nullptr;
  }
  if (!graph.embedData(diagnostics))
    return nullptr;

  int64_t opset = opsetOf(graph.model());
  quantize::Nodes before, after;
  std::optional<FrameMap> map;
  if (image) {
    NodeBuilder b(graph, before, "letterbox", opset);
    map = addFrame(graph, b, *image);
  }
  if (head) {
    std::string boxes = graph.fresh("boxes"), count = graph.fresh("count");
    NodeBuilder b(graph, after, "boxes", opset);
    addSelection(b, *head, *options.boxes, map, boxes, count);
    replaceOutput(graph, *head, boxes, count);
  }
  auto &nodes = *graph.proto().mutable_node();
  for (onnx::NodeProto &node : nodes)
    before.Add()->Swap(&node);
  for (onnx::NodeProto &node : after)
    before.Add()->Swap(&node);
  nodes.Swap(&before);
  graph.refresh();
  if (!check(file->model()))
    return nullptr;
  summarize(image, head);
  return file;
}

std::unique_ptr<ModelFile> attachTo(const CompileOptions &compile,
                                    const AttachOptions &options,
                                    MLIRContext &context, std::string &summary,
                                    Diagnostics &diagnostics) {
  return Attachment(compile, options, context, summary, diagnostics).run();
}

} // namespace ingot::attach
