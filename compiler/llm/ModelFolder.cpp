#include "compiler/llm/ModelFolder.h"
#include "compiler/report/ReadJson.h"

#include "onnx/onnx_pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace ingot::llm {

static const ChatTemplate kTemplates[] = {
    {"chatml",
     "<|im_start|>",
     "",
     "<|im_start|>system\n",
     "<|im_end|>\n",
     "<|im_start|>user\n",
     "<|im_end|>\n<|im_start|>assistant\n",
     "\n",
     {"<|im_start|>", "<|im_end|>"}},
    {"llama3",
     "<|start_header_id|>",
     "<|begin_of_text|>",
     "<|start_header_id|>system<|end_header_id|>\n\n",
     "<|eot_id|>",
     "<|start_header_id|>user<|end_header_id|>\n\n",
     "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
     "",
     {"<|begin_of_text|>", "<|start_header_id|>", "<|eot_id|>"}},
    {"phi3",
     "<|end|>",
     "",
     "<|system|>\n",
     "<|end|>\n",
     "<|user|>\n",
     "<|end|>\n<|assistant|>\n",
     "\n",
     {"<|user|>", "<|assistant|>", "<|end|>"}},
    {"gemma",
     "<start_of_turn>",
     "<bos>",
     "",
     "",
     "<start_of_turn>user\n",
     "<end_of_turn>\n<start_of_turn>model\n",
     "\n",
     {"<bos>", "<start_of_turn>", "<end_of_turn>"}},
    {"llama2",
     "[INST]",
     "<s>",
     "[INST] <<SYS>>\n",
     "\n<</SYS>>\n\n",
     "[INST] ",
     " [/INST]",
     "<s>",
     {"<s>", "</s>"}},
    {"plain", "", "", "", "", "", "", "", {}}};

static std::string inFolder(StringRef folder, StringRef file) {
  SmallString<128> path(folder);
  sys::path::append(path, file);
  return path.str().str();
}

/// Inserts a Slice before the MatMul or MatMulNBits that computes `logits`, so
/// that this product gives the logits of the last position only. Returns false
/// without a change if `logits` is not the product of activations and constant
/// weights.
static bool keepLastLogits(onnx::GraphProto &graph, StringRef logits) {
  int position = -1;
  for (int i = 0; i < graph.node_size(); ++i)
    if (graph.node(i).output_size() == 1 && graph.node(i).output(0) == logits)
      position = i;
  if (position < 0)
    return false;
  const onnx::NodeProto &last = graph.node(position);
  if ((last.op_type() != "MatMul" && last.op_type() != "MatMulNBits") ||
      last.input_size() < 2)
    return false;
  // The first operand must be the activations, the second one a constant.
  bool isConstant = any_of(graph.initializer(), [&](const auto &tensor) {
    return tensor.name() == last.input(1);
  });
  for (const onnx::NodeProto &node : graph.node())
    isConstant |=
        last.op_type() == "MatMul" && node.output_size() == 1 &&
        node.output(0) == last.input(1) &&
        (node.op_type() == "DequantizeLinear" ||
         node.op_type() == "Transpose" || node.op_type() == "Constant");
  if (!isConstant)
    return false;
  auto constant = [&](StringRef name, int64_t value) {
    onnx::TensorProto *tensor = graph.add_initializer();
    tensor->set_name(name.str());
    tensor->set_data_type(onnx::TensorProto::INT64);
    tensor->add_dims(1);
    tensor->add_int64_data(value);
  };
  constant("ingot_last_start", -1);
  constant("ingot_last_end", INT64_MAX);
  constant("ingot_last_axis", 1);
  onnx::NodeProto slice;
  slice.set_name("ingot_last_position");
  slice.set_op_type("Slice");
  for (StringRef input :
       {StringRef(last.input(0)), StringRef("ingot_last_start"),
        StringRef("ingot_last_end"), StringRef("ingot_last_axis")})
    slice.add_input(input.str());
  slice.add_output("ingot_last_hidden");
  graph.mutable_node(position)->set_input(0, "ingot_last_hidden");
  *graph.add_node() = slice;
  // Moves the Slice before its reader: nodes must be in an order in which
  // values are defined before they are used.
  for (int i = graph.node_size() - 1; i > position; --i)
    graph.mutable_node()->SwapElements(i, i - 1);
  for (onnx::ValueInfoProto &output : *graph.mutable_output()) {
    if (output.name() != logits)
      continue;
    auto *shape = output.mutable_type()->mutable_tensor_type()->mutable_shape();
    if (shape->dim_size() == 3)
      shape->mutable_dim(1)->set_dim_value(1);
  }
  for (int i = 0; i < graph.value_info_size(); ++i)
    if (graph.value_info(i).name() == logits)
      graph.mutable_value_info()->DeleteSubrange(i--, 1);
  return true;
}

std::unique_ptr<ModelFile> ModelFolder::open(Diagnostics &diagnostics) const {
  std::unique_ptr<ModelFile> file = ModelFile::open(model, diagnostics);
  if (file && hasLastLogits)
    keepLastLogits(*file->model().mutable_graph(), logits);
  return file;
}

namespace {
class FolderReader {
public:
  FolderReader(StringRef folder, int64_t context, StringRef form,
               Diagnostics &diagnostics)
      : context(context), form(form), diagnostics(diagnostics) {
    result.folder = folder.str();
  }

  std::optional<ModelFolder> run() {
    if (!sys::fs::is_directory(result.folder)) {
      fault(result.folder, "`" + printable(result.folder) + "` is not a folder",
            "name the folder that contains model.onnx and tokenizer.json");
      return std::nullopt;
    }
    readConfiguration();
    if (!diagnostics.empty())
      return std::nullopt;
    if (!sys::fs::exists(result.model)) {
      fault(result.model,
            "the network `" + printable(result.model) + "` does not exist" +
                (hasGenai ? ", but genai_config.json names it" : ""),
            "export the model with the model builder of ONNX Runtime GenAI "
            "or with Optimum");
      return std::nullopt;
    }
    result.tokenizerPath = inFolder(result.folder, "tokenizer.json");
    auto tokenizer = readTokenizer(result.tokenizerPath, diagnostics);
    if (!tokenizer)
      return std::nullopt;
    result.tokenizer = std::move(*tokenizer);
    readGraph();
    if (!diagnostics.empty())
      return std::nullopt;
    if (!checkSizes())
      return std::nullopt;
    chooseTemplate();
    if (!diagnostics.empty())
      return std::nullopt;
    return std::move(result);
  }

private:
  int64_t context;
  std::string form;
  Diagnostics &diagnostics;
  ModelFolder result;
  bool hasGenai = false;
  int64_t statedContext = 0, statedVocabulary = 0;
  std::string idsName = "input_ids", maskName = "attention_mask",
              positionsName = "position_ids", logitsName = "logits";
  std::vector<std::pair<std::string, std::string>> caches{
      {"past_key_values.*", "present.*"}};

  void fault(StringRef file, const Twine &message, const Twine &hint = "") {
    diagnostics.reportFile(DiagnosticId::CannotRead, file, message, hint);
  }
  void unsupported(const Twine &message, const Twine &hint = "") {
    diagnostics.reportFile(DiagnosticId::UnsupportedForm, result.model, message,
                           hint);
  }

  /// Reads a JSON object from a file of the folder. Returns nothing if the file
  /// does not exist, and nothing with a diagnostic if it is unreadable or
  /// invalid.
  std::optional<json::Object> readJson(StringRef file) {
    std::string path = inFolder(result.folder, file);
    if (!sys::fs::exists(path))
      return std::nullopt;
    auto buffer = MemoryBuffer::getFile(path);
    if (!buffer) {
      fault(path, "`" + printable(path) +
                      "` cannot be read: " + buffer.getError().message());
      return std::nullopt;
    }
    Expected<json::Value> value = ingot::readJson((*buffer)->getBuffer());
    if (!value) {
      fault(path, "the file " + toString(value.takeError()));
      return std::nullopt;
    }
    if (json::Object *object = value->getAsObject())
      return std::move(*object);
    fault(path, "the file is not a JSON object");
    return std::nullopt;
  }

  void addStops(const json::Object &object, StringRef key) {
    if (auto one = object.getInteger(key))
      result.stopTokens.push_back(*one);
    if (const json::Array *list = object.getArray(key))
      for (const json::Value &value : *list)
        if (auto one = value.getAsInteger())
          result.stopTokens.push_back(*one);
  }

  void readSearch(const json::Object &search) {
    if (search.getBoolean("do_sample").value_or(false)) {
      result.temperature = search.getNumber("temperature").value_or(1);
      result.topK = search.getInteger("top_k").value_or(50);
      result.topP = search.getNumber("top_p").value_or(1);
    }
    result.repetitionPenalty =
        search.getNumber("repetition_penalty").value_or(1);
    if (!(result.temperature >= 0) || result.topK < 0 || !(result.topP > 0) ||
        !(result.repetitionPenalty > 0))
      fault(result.folder, "the model's sampling has a negative number");
  }

  static std::string text(const json::Object *object, StringRef key,
                          const std::string &byDefault) {
    if (object)
      if (auto value = object->getString(key))
        return value->str();
    return byDefault;
  }

  void readConfiguration() {
    result.model = inFolder(result.folder, "model.onnx");
    if (auto genai = readJson("genai_config.json")) {
      hasGenai = true;
      return readGenai(*genai);
    }
    if (!diagnostics.empty())
      return;
    auto config = readJson("config.json");
    if (!config) {
      if (diagnostics.empty())
        fault(result.folder,
              "the folder has neither genai_config.json nor config.json",
              "name the folder that the model builder of ONNX Runtime GenAI "
              "or Optimum has written");
      return;
    }
    statedContext = config->getInteger("max_position_embeddings").value_or(0);
    statedVocabulary = config->getInteger("vocab_size").value_or(0);
    result.beginToken = config->getInteger("bos_token_id").value_or(-1);
    addStops(*config, "eos_token_id");
    if (auto generation = readJson("generation_config.json")) {
      addStops(*generation, "eos_token_id");
      readSearch(*generation);
    }
  }

  void readGenai(const json::Object &genai) {
    std::string path = inFolder(result.folder, "genai_config.json");
    const json::Object *model = genai.getObject("model");
    const json::Object *decoder = model ? model->getObject("decoder") : nullptr;
    if (!decoder)
      return fault(path, "the file has no object model.decoder");
    for (StringRef part : {"encoder", "vision", "speech", "embedding"})
      if (model->getObject(part))
        return unsupported("genai_config.json names the network model." + part +
                               "; only models with a single decoder are "
                               "supported",
                           "export a text-only language model");
    if (decoder->get("pipeline"))
      return unsupported("genai_config.json divides the decoder into a "
                         "pipeline of networks");
    std::string file = text(decoder, "filename", "model.onnx");
    if (sys::path::is_absolute(file) || StringRef(file).contains(".."))
      return fault(path, "model.decoder.filename `" + printable(file) +
                             "` is outside of the folder");
    result.model = inFolder(result.folder, file);
    statedContext = model->getInteger("context_length").value_or(0);
    statedVocabulary = model->getInteger("vocab_size").value_or(0);
    result.beginToken = model->getInteger("bos_token_id").value_or(-1);
    addStops(*model, "eos_token_id");
    const json::Object *inputs = decoder->getObject("inputs"),
                       *outputs = decoder->getObject("outputs");
    idsName = text(inputs, "input_ids", idsName);
    maskName = text(inputs, "attention_mask", maskName);
    positionsName = text(inputs, "position_ids", positionsName);
    logitsName = text(outputs, "logits", logitsName);
    auto starred = [](std::string name) {
      size_t at = name.find("%d");
      return at == std::string::npos ? name : name.replace(at, 2, "*");
    };
    caches.clear();
    for (StringRef kind : {"key", "value"})
      caches.push_back(
          {starred(text(inputs, ("past_" + kind + "_names").str(),
                        ("past_key_values.%d." + kind).str())),
           starred(text(outputs, ("present_" + kind + "_names").str(),
                        ("present.%d." + kind).str()))});
    if (const json::Object *search = genai.getObject("search"))
      readSearch(*search);
  }

  /// Returns the symbolic name of a dimension; empty if it has none.
  static std::string symbol(const onnx::ValueInfoProto &value, int axis) {
    const auto &shape = value.type().tensor_type().shape();
    return axis < shape.dim_size() ? shape.dim(axis).dim_param() : "";
  }

  bool isCache(StringRef name) const {
    return any_of(caches, [&](const auto &cache) {
      auto [head, tail] = StringRef(cache.first).split('*');
      return name.starts_with(head) && name.ends_with(tail);
    });
  }

  void readGraph() {
    std::unique_ptr<ModelFile> file =
        ModelFile::open(result.model, diagnostics);
    if (!file)
      return;
    onnx::GraphProto &graph = *file->model().mutable_graph();
    bool hasCache = false;
    for (const onnx::ValueInfoProto &input : graph.input()) {
      StringRef name = input.name();
      if (any_of(graph.initializer(),
                 [&](const auto &tensor) { return tensor.name() == name; }))
        continue;
      int32_t type = input.type().tensor_type().elem_type();
      if (name == idsName) {
        result.ids = name.str();
        result.batchSize = symbol(input, 0);
        result.sequenceSize = symbol(input, 1);
        result.hasNarrowIds = type == onnx::TensorProto::INT32;
      } else if (name == maskName) {
        result.mask = name.str();
        result.totalSize = symbol(input, 1);
      } else if (name == positionsName) {
        result.positions = name.str();
      } else if (isCache(name)) {
        hasCache = true;
        std::string size = symbol(input, 2);
        if (size.empty() ||
            (!result.pastSize.empty() && size != result.pastSize))
          return unsupported("the cache `" + printable(name) +
                             "` has no symbol for the number of past tokens at "
                             "axis 2, or another one than the other caches");
        result.pastSize = size;
      } else {
        return unsupported("the network has the input `" + printable(name) +
                               "`, which a chat program does not have",
                           "inputs that are supported: " + idsName + ", " +
                               maskName + ", " + positionsName +
                               " and the caches");
      }
    }
    if (result.ids.empty() || result.sequenceSize.empty() || !hasCache)
      return unsupported("the network has no input `" + printable(idsName) +
                             "` with a dynamic length, or no caches",
                         "export it with a cache (`text-generation-with-past` "
                         "in Optimum)");
    for (const onnx::ValueInfoProto &output : graph.output())
      if (output.name() == logitsName) {
        result.logits = logitsName;
        const auto &type = output.type().tensor_type();
        if (type.elem_type() != onnx::TensorProto::FLOAT)
          return unsupported("the logits are not float32",
                             "export the model with float32 logits (precision "
                             "int4 or fp32 for the CPU)");
        if (type.shape().dim_size() == 3 && type.shape().dim(2).dim_value() > 0)
          result.vocabulary = type.shape().dim(2).dim_value();
      }
    if (result.logits.empty())
      return unsupported("the network has no output `" + printable(logitsName) +
                         "`");
    if (!result.vocabulary)
      result.vocabulary = statedVocabulary;
    result.states = caches;
    result.hasLastLogits = keepLastLogits(graph, logitsName);
  }

  bool checkSizes() {
    if (result.vocabulary <= 0 || result.vocabulary > (1 << 24)) {
      fault(result.model, "the size of the vocabulary is not stated");
      return false;
    }
    for (auto [token, isDefined] : enumerate(result.tokenizer.isDefined))
      if (isDefined && token >= size_t(result.vocabulary)) {
        fault(result.tokenizerPath,
              "the tokenizer does not fit the network: the token `" +
                  printable(result.tokenizer.texts[token]) +
                  "` has the number " + Twine(token) +
                  ", but the network has logits for " +
                  Twine(result.vocabulary) + " tokens",
              "use the tokenizer.json of the model");
        return false;
      }
    result.context = context ? context : statedContext;
    if (result.context < 2 || result.context > (1 << 24)) {
      diagnostics.report(DiagnosticId::BadOption,
                         "the context length is " + Twine(result.context) +
                             "; it must be from 2 to 16777216",
                         "state it with --context N");
      return false;
    }
    if (statedContext && result.context > statedContext) {
      diagnostics.report(DiagnosticId::BadOption,
                         "--context " + Twine(result.context) +
                             ": the model was trained for " +
                             Twine(statedContext) + " tokens");
      return false;
    }
    return true;
  }

  /// Returns the Jinja source of the chat template in the files of the model;
  /// empty if there is none.
  std::string readTemplate() {
    if (auto buffer = MemoryBuffer::getFile(
            inFolder(result.folder, "chat_template.jinja")))
      return (*buffer)->getBuffer().str();
    auto config = readJson("tokenizer_config.json");
    return config ? text(&*config, "chat_template", "") : "";
  }

  void chooseTemplate() {
    std::string found = form.empty() ? readTemplate() : "";
    for (const ChatTemplate &candidate : kTemplates) {
      bool isChosen = form.empty()
                          ? (candidate.mark.empty()
                                 ? found.empty()
                                 : StringRef(found).contains(candidate.mark))
                          : form == candidate.name;
      if (isChosen && !result.form)
        result.form = &candidate;
    }
    if (!result.form) {
      if (form.empty())
        diagnostics.reportFile(DiagnosticId::UnsupportedForm, result.folder,
                               "the chat template of the model has none of "
                               "the known forms",
                               "choose one with --chat-template (plain: no "
                               "turns)");
      else
        diagnostics.report(DiagnosticId::BadOption,
                           "--chat-template: unknown value `" +
                               printable(form) +
                               "` (choose chatml, llama2, llama3, phi3, gemma "
                               "or plain)");
      return;
    }
    std::map<std::string, int32_t> tokens;
    for (const AddedToken &added : result.tokenizer.added)
      tokens[added.text] = added.token;
    for (StringRef name : result.form->tokens)
      if (!tokens.count(name.str()))
        diagnostics.reportFile(DiagnosticId::CannotRead, result.tokenizerPath,
                               "the chat template `" + result.form->name +
                                   "` needs the token `" + name +
                                   "`, which the tokenizer does not have",
                               "choose another form with --chat-template");
      else if (name == result.form->tokens.back())
        result.stopTokens.push_back(tokens[name.str()]);
    llvm::sort(result.stopTokens);
    result.stopTokens.erase(llvm::unique(result.stopTokens),
                            result.stopTokens.end());
  }
};
} // namespace

std::optional<ModelFolder> readModelFolder(StringRef folder, int64_t context,
                                           StringRef form,
                                           Diagnostics &diagnostics) {
  return FolderReader(folder, context, form, diagnostics).run();
}

/// Returns the names of the dynamic sizes in the io struct `name` (a network's
/// inputs and outputs), as declared in the text of the generated header.
static std::vector<std::string> sizesOf(StringRef header, StringRef name) {
  std::vector<std::string> sizes;
  StringRef body = header.split(("typedef struct " + name + " {").str()).second;
  body = body.split("}").first;
  while (!body.empty()) {
    StringRef line;
    std::tie(line, body) = body.split('\n');
    line = line.trim();
    if (line.consume_front("ptrdiff_t "))
      sizes.push_back(line.split(';').first.trim().str());
  }
  return sizes;
}

/// Returns the name that a tensor or a dynamic size has as a member of an io
/// struct, the generated struct of inputs and outputs.
static std::string memberOf(StringRef name) {
  std::string result;
  for (char c : name)
    result += isAlnum(c) ? c : '_';
  return result;
}

static void printCall(const ModelFolder &model, StringRef function,
                      StringRef header, raw_ostream &os) {
  std::string io = ("network_" + function + "_io").str();
  os << "\ninline ingot_status run_" << function << "(const Call &call) {\n  "
     << io << " io = {};\n";
  for (const std::string &size : sizesOf(header, io)) {
    os << "  io." << size << " = ptrdiff_t(";
    if (size == memberOf(model.pastSize))
      os << "call.past";
    else if (size == memberOf(model.sequenceSize))
      os << "call.count";
    else
      os << "call.past + call.count";
    os << ");\n";
  }
  os << "  io." << memberOf(model.ids) << " = call.ids;\n";
  if (!model.mask.empty())
    os << "  io." << memberOf(model.mask) << " = call.mask;\n";
  if (!model.positions.empty())
    os << "  io." << memberOf(model.positions) << " = call.positions;\n";
  os << "  io." << memberOf(model.logits)
     << " = call.logits;\n  io.state = call.state;\n  io.weights = "
        "call.weights;\n  return network_"
     << function << "_run(&io, call.arena, call.context);\n}\n";
}

void printSettings(const ModelFolder &model, int64_t promptChunk,
                   StringRef header, raw_ostream &os) {
  const ChatTemplate &form = *model.form;
  os << "// settings.h - what the chat program depends on; written by ingot "
     << ingotVersion
     << "\n// SPDX-License-Identifier: MIT-0\n#ifndef CHAT_SETTINGS_H\n#define "
        "CHAT_SETTINGS_H\n\n#include \"network.h\"\n#include "
        "\"sampler.h\"\n#include \"tokenizer.h\"\n\nnamespace settings {\n\n"
     << "/// The most tokens of a conversation, and of a part of a prompt that "
        "is computed at a time.\ninline constexpr size_t context = "
     << model.context << ", prompt_chunk = " << promptChunk
     << ", vocabulary = " << model.vocabulary
     << ";\n/// The positions that the network computes logits for.\n"
        "inline constexpr size_t logits_rows = "
     << (model.hasLastLogits ? 1 : promptChunk)
     << ";\ninline constexpr size_t weights_bytes = NETWORK_WEIGHTS_BYTES, "
        "weights_align = NETWORK_WEIGHTS_ALIGN;\ninline constexpr size_t "
        "state_bytes = NETWORK_STATE_BYTES, state_align = "
        "NETWORK_STATE_ALIGN;\ninline constexpr size_t arena_bytes = "
        "NETWORK_ARENA_BYTES, arena_align = NETWORK_ARENA_ALIGN;\n\n"
        "/// The tokens that end an answer (the last entry is unused), and the "
        "one that begins a text.\ninline constexpr int32_t stop_tokens[] = {";
  for (int64_t token : model.stopTokens)
    os << token << ", ";
  os << "-1};\ninline constexpr int32_t begin_token = " << model.beginToken
     << ";\n\n/// What the model states: temperature, top-k, top-p, repetition "
        "penalty, seed.\ninline const chat::Sampling sampling = {"
     << format("%g, ", model.temperature) << model.topK
     << format(", %g, %g, 1};\n\n", model.topP, model.repetitionPenalty)
     << "/// The form of a conversation: " << form.name
     << ".\ninline constexpr bool has_turns = "
     << (form.name == "plain" ? "false" : "true") << ";\n";
  std::pair<StringRef, StringRef> texts[] = {
      {"conversation_start", form.start}, {"before_system", form.beforeSystem},
      {"after_system", form.afterSystem}, {"before_user", form.beforeUser},
      {"after_user", form.afterUser},     {"after_answer", form.afterAnswer}};
  for (const auto &[name, text] : texts)
    os << "inline constexpr const char *" << name << " = " << cLiteral(text)
       << ";\n";
  StringRef type = model.hasNarrowIds ? "int32_t" : "int64_t";
  os << "\n/// A call of the network: `count` tokens after `past` tokens.\n"
        "using Id = "
     << type
     << ";\nstruct Call {\n  const Id *ids, *mask, *positions;\n  size_t "
        "count, past;\n  float *logits;\n  void *state;\n  const void "
        "*weights;\n  void *arena;\n  const ingot_context *context;\n};\n";
  printCall(model, "prompt", header, os);
  printCall(model, "token", header, os);
  os << "\n} // namespace settings\n\n#endif // CHAT_SETTINGS_H\n";
}

} // namespace ingot::llm
