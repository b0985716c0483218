// All identifiers of the generated sources and headers (a "text" is a source
// and its header) begin with the same placeholder. It is replaced by the number
// of the text before the texts are concatenated:
//
//     #include <stdint.h> ...          the headers that the texts include
//     header of unit3                  all headers; their guards are unique
//     leading directives of unit3      outside of the namespace
//     namespace unit3 { source }       the entry function has C linkage
//
// If this machine can execute the target's code, the result is a shared library
// that is loaded; otherwise a program for the target's emulator
// (EmulatedBatch.cpp).

#include "UnitBatch.h"

#include "codegen/files/Interface.h"
#include "codegen/objects/Toolchain.h"
#include "compiler/Faults.h"
#include "compiler/run/DynamicSizes.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

#include <dlfcn.h>
#include <map>
#include <numeric>

using namespace mlir;

namespace ingot::conformance {

static constexpr StringLiteral mark = "qunitq", macroMark = "QUNITQ";

std::string firstReason(const Diagnostics &diagnostics) {
  const Diagnostic &first = diagnostics.list().front();
  std::string reason = (infoOf(first.id).name + ": ").str();
  if (!first.operatorName.empty())
    reason += first.operatorName + ": ";
  return reason + first.message;
}

StringRef statusName(Status status) {
  static constexpr StringLiteral names[] = {"pass", "unsupported", "mismatch",
                                            "error", "crash"};
  return names[static_cast<int>(status)];
}

static std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, OpPrintingFlags()
                       .elideLargeElementsAttrs(1024)
                       .elideLargeResourceString(1024)
                       .useLocalScope());
  return text;
}

static std::string contents(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

static std::string replaced(std::string text, StringRef from, StringRef to) {
  for (size_t at = 0; (at = text.find(from.str(), at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to.str());
  return text;
}

int Batch::addText(Compilation &compilation, int unit) {
  std::string source = path(Twine(unit) + (settings.isC ? ".c" : ".cpp"));
  if (!compilation.emit(source))
    return -1;
  Text text;
  text.header = contents(path(Twine(unit) + ".h"));
  std::string include = ("#include \"" + Twine(unit) + ".h\"").str();
  text.source = replaced(contents(source), include, "");
  std::string object = path(Twine(unit) + ".weights.o");
  if (auto weights = llvm::MemoryBuffer::getFile(object)) {
    text.object = object;
    text.weights = llvm::xxh3_128bits(
        llvm::arrayRefFromStringRef((*weights)->getBuffer()));
  }
  auto same = llvm::find_if(texts, [&](const Text &other) {
    return other.source == text.source && other.header == text.header &&
           other.weights == text.weights;
  });
  if (same != texts.end()) {
    llvm::sys::fs::remove(object);
    return same - texts.begin();
  }
  texts.push_back(std::move(text));
  return texts.size() - 1;
}

/// Returns the signature of a unit (a conformance case in one mode) with the
/// actual sizes: those of its data, and the data-dependent ones, which are
/// removed from the end of `outputs`. The remaining outputs are cut to their
/// actual sizes.
Signature Batch::atSizesOf(const Prepared &prepared,
                           std::vector<std::vector<char>> &outputs) {
  Signature signature = prepared.signature;
  InputData data;
  std::string reason;
  if (!readData(prepared, data, reason))
    return signature;
  std::vector<int64_t> values = fixSizes(signature, data, reason);
  for (size_t i = values.size(); i-- > 0;) {
    if (!signature.sizes[i].isMade)
      continue;
    values[i] = llvm::support::endian::read32le(outputs.back().data());
    outputs.pop_back();
  }
  signature.outputs = prepared.signature.outputs;
  for (RankedTensorType &type : signature.outputs)
    type = typeAt(type, signature.sizes, values);
  for (auto [bytes, own] : llvm::zip(outputs, signature.outputBytes()))
    bytes.resize(own);
  return signature;
}

/// Returns an upper bound for all dynamic sizes of a case: 64, more if the
/// case's inputs need more, or less if tensors of its rank would exceed any
/// memory. On a board, whose memory is shared by all models of a batch, returns
/// the largest size in the case's inputs and outputs.
int64_t Batch::boundFor(const Unit &unit) {
  Diagnostics diagnostics;
  CompileOptions options;
  options.model = caseFolder(unit) + "/declared/model.onnx";
  options.target = settings.target;
  options.fast = settings.fast;
  Compilation compilation(options, *context, diagnostics);
  std::vector<ModelValue> values;
  bool isBoard = !settings.target->programText.empty();
  int64_t ofInputs = 1, needed = 1, rank = 0;
  auto widen = [&](const ModelValue &value) {
    needed = std::max<int64_t>(needed, value.tensors.size());
    for (const Tensor &tensor : value.tensors) {
      rank = std::max(rank, tensor.type.getRank() + value.isSequence);
      for (int64_t size : tensor.type.getShape())
        needed = std::max(needed, size);
    }
  };
  if (readValues(compilation, caseFolder(unit), values))
    llvm::for_each(values, widen);
  ofInputs = needed;
  for (size_t i = 0; i < unit.outputs.size(); ++i) {
    ModelValue like;
    like.isSequence = unit.outputs[i] == 's';
    like.isOptional = unit.outputs[i] == 'o';
    std::string error;
    if (auto value =
            readValue(caseFolder(unit) + "/output_" + llvm::utostr(i) + ".pb",
                      like, context.get(), error))
      widen(*value);
  }
  if (isBoard)
    return needed;
  int64_t bound = std::max<int64_t>(64, ofInputs);
  constexpr double mostElements = 1U << 31;
  while (std::pow(bound, rank) > mostElements && bound / 2 >= needed)
    bound /= 2;
  return bound;
}

void Batch::prepare(int number) {
  const Unit &unit = units[number];
  Diagnostics diagnostics;
  CompileOptions options;
  StringRef form = unit.mode;
  bool isDynamic = form.consume_front("dynamic-");
  options.model = caseFolder(unit) + "/" + form.str() + "/model.onnx";
  options.target = settings.target;
  options.fast = settings.fast;
  options.name = mark.str();
  options.verifyEach = true;
  // Sizes that the model does not fix remain dynamic, within bounds.
  if (isDynamic)
    options.import.dims.insert({"*", SizeRange(0, boundFor(unit))});
  Compilation compilation(options, *context, diagnostics);
  InputData data;
  if (!isDynamic && readInputFolder(compilation, caseFolder(unit), data))
    bindData(compilation, data);
  auto refused = [&] {
    // At its bounds, a model may need more memory than a 32-bit target has.
    if (isDynamic && diagnostics.list().front().id == DiagnosticId::OverBudget)
      return listener.end(number, Status::Unsupported,
                          "emulated: too large at its bounds");
    // Without data, a diagnostic that asks for a size or a value counts as
    // unsupported.
    bool isUnsupported =
        llvm::all_of(diagnostics.list(), [&](const Diagnostic &diagnostic) {
          return infoOf(diagnostic.id).kind == DiagnosticClass::Unsupported ||
                 (isDynamic &&
                  (diagnostic.id == DiagnosticId::UnboundDimension ||
                   diagnostic.id == DiagnosticId::UnboundValue));
        });
    listener.end(number, isUnsupported ? Status::Unsupported : Status::Error,
                 firstReason(diagnostics));
  };
  if (!compilation.advance(Stage::Import))
    return refused();
  bool isHost =
      settings.target->runsOnThisHost && settings.target->runsOnThisHost();
  if (!isHost && compilation.usesStrings())
    return listener.end(number, Status::Unsupported,
                        "emulated-strings: strings are addresses here");
  if (unit.name != currentCase)
    imported.clear();
  currentCase = unit.name;
  std::string text = textOf(compilation.module());
  for (auto &[other, prepared] : imported)
    if (other == text) {
      ready.push_back(prepared);
      ready.back().unit = number;
      return;
    }
  Prepared prepared{number, -1, {}};
  auto main = compilation.module().lookupSymbol<func::FuncOp>("main");
  llvm::append_range(prepared.signature.inputs, inputTypesOf(main));
  llvm::append_range(prepared.signature.outputs, outputTypesOf(main));
  compilation.module().walk(
      [&](graph::RandomBitsOp) { prepared.signature.isRandom = true; });
  prepared.text = addText(compilation, number);
  if (prepared.text < 0)
    return refused();
  Interface interface(compilation.module(), compilation.codegenOptions(""));
  prepared.signature.arenaBytes = interface.arenaBytes;
  prepared.signature.arenaAlign = interface.arenaAlign;
  prepared.signature.sizes = interface.sizes;
  for (const InterfaceTensor &tensor : interface.tensors)
    (tensor.isOutput ? prepared.signature.outputTensors
                     : prepared.signature.inputTensors)
        .push_back(tensor);
  ready.push_back(prepared);
  imported.push_back({text, prepared});
}

/// Returns the prefix of the identifiers in a text (a generated source and its
/// header). If the weights are in an object file, the prefix stays the
/// placeholder that the text was generated with, since the symbol of the
/// weights cannot be renamed.
std::string Batch::nameOf(int text) const {
  return texts[text].object.empty() ? "unit" + llvm::utostr(text) : mark.str();
}

/// Returns the number of leading bytes of a source that contain only comments
/// and complete preprocessor directives.
static size_t bytesOfDirectives(StringRef source) {
  size_t end = 0;
  int depth = 0;
  bool continues = false;
  for (StringRef rest = source; !rest.empty();) {
    auto [line, after] = rest.split('\n');
    if (!continues && !line.empty() && !line.starts_with("#") &&
        !line.starts_with("//"))
      break;
    depth += line.starts_with("#if");
    depth -= line.starts_with("#endif");
    continues = line.ends_with("\\");
    rest = after;
    if (depth == 0 && !continues)
      end = source.size() - rest.size();
  }
  return end;
}

/// Writes the sources of the texts (pairs of a generated source and its header)
/// to `name`.cpp and the headers to `name`.h; returns the object files with the
/// weights of the texts. C has no namespaces: each source in C becomes an
/// object file of its own, compiled without warnings.
std::vector<std::string> Batch::writeSource(ArrayRef<int> which, StringRef name,
                                            std::string &error) {
  std::error_code code;
  llvm::raw_fd_ostream os(path(name + ".cpp"), code);
  llvm::raw_fd_ostream headers(path(name + ".h"), code);
  os << "#include <stddef.h>\n#include <stdint.h>\n";
  for (StringRef include : settings.target->includes)
    os << "#include <" << include << ">\n";
  std::vector<std::string> objects;
  for (int text : which) {
    std::string to = nameOf(text), macro = StringRef(to).upper();
    auto renamed = [&](const std::string &text) {
      return replaced(replaced(text, mark, to), macroMark, macro);
    };
    std::string header = renamed(texts[text].header),
                source = renamed(texts[text].source);
    size_t directives = bytesOfDirectives(source);
    headers << header;
    if (!texts[text].object.empty())
      objects.push_back(texts[text].object);
    if (settings.isC) {
      std::string file = path(to + ".c");
      objects.push_back(path(to + ".o"));
      llvm::raw_fd_ostream(file, code) << header << source;
      if (llvm::Error fault = compileSource(
              *settings.target, file, objects.back(),
              {"-x", "c", "-std=c11", "-O1", "-Wall", "-Wextra", "-Wpedantic",
               "-Wstrict-prototypes", "-Wmissing-prototypes", "-Werror"}))
        error = llvm::toString(std::move(fault));
      continue;
    }
    os << header << source.substr(0, directives) << "namespace space_" << to
       << " {\n"
       << source.substr(directives) << "}\n";
  }
  return objects;
}

bool Batch::buildLibrary(ArrayRef<int> which, StringRef name, StringRef level,
                         std::string &error) {
  std::string source = path(name + ".cpp"), library = path(name + ".so"),
              log = path(name + ".log");
  std::vector<std::string> objects = writeSource(which, name, error);
  if (!error.empty())
    return false;
  llvm::Expected<std::vector<std::string>> command =
      findCompiler(*settings.target);
  if (!command) {
    error = llvm::toString(command.takeError());
    return false;
  }
  command->insert(command->end(),
                  {"-std=c++17", "-shared", "-fPIC", "-w", "-fno-rtti", "-g0",
                   "-fno-exceptions", level.str()});
  for (StringRef flag : settings.target->compilerFlags)
    command->push_back(flag.str());
  command->push_back(source);
  command->insert(command->end(), objects.begin(), objects.end());
  command->insert(command->end(), {"-o", library});
  SmallVector<StringRef> argv(command->begin(), command->end());
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log),
                                          StringRef(log)};
  if (llvm::sys::ExecuteAndWait(argv[0], argv, std::nullopt, redirects)) {
    std::string said = contents(log);
    SmallVector<StringRef> lines;
    StringRef(said).split(lines, '\n');
    auto line = llvm::find_if(
        lines, [](StringRef line) { return line.contains("error"); });
    error = "the generated C++ does not compile: " +
            (line == lines.end() ? said : line->split("error").second.str());
    return false;
  }
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  for (int text : which)
    if (handle)
      texts[text].function = reinterpret_cast<Function>(
          dlsym(handle, (nameOf(text) + "_run").c_str()));
  if (!handle)
    error = std::string("the library does not load: ") + dlerror();
  return handle;
}

/// Builds a text (a generated source and its header) with weights in an object
/// file into a library, and then deletes the object file: a large network has
/// hundreds of megabytes of weights, which the library now contains.
void Batch::buildWithWeights(int text) {
  buildLibrary(text, "weights" + llvm::utostr(text), "-O1", texts[text].error);
  llvm::sys::fs::remove(texts[text].object);
}

void Batch::build() {
  SmallVector<int> together;
  std::string error;
  for (int text = 0, e = texts.size(); text < e; ++text) {
    if (texts[text].object.empty())
      together.push_back(text);
    else
      buildWithWeights(text);
  }
  listener.begin(-1, "build");
  if (together.empty() || buildLibrary(together, "batch", "-O0", error))
    return;
  // The generated sources do not compile together: builds each one separately
  // to find the one that fails.
  for (int text : together)
    buildLibrary(text, "single" + llvm::utostr(text), "-O0", texts[text].error);
}

bool Batch::readData(const Prepared &prepared, InputData &data,
                     std::string &reason) {
  const Unit &unit = units[prepared.unit];
  Diagnostics diagnostics;
  CompileOptions options;
  StringRef form = unit.mode;
  form.consume_front("dynamic-");
  options.model = caseFolder(unit) + "/" + form.str() + "/model.onnx";
  options.target = settings.target;
  options.fast = settings.fast;
  Compilation compilation(options, *context, diagnostics);
  if (readInputFolder(compilation, caseFolder(unit), data)) {
    widenRows(prepared.signature.inputTensors, prepared.signature.inputs, data);
    return fitsInputs(prepared.signature, data, reason);
  }
  reason = firstReason(diagnostics);
  return false;
}

void Batch::call(const Prepared &prepared) {
  const Unit &unit = units[prepared.unit];
  listener.begin(prepared.unit, "run");
  const Text &text = texts[prepared.text];
  if (!text.function)
    return listener.end(prepared.unit, Status::Error, text.error);
  InputData data;
  std::string reason;
  Status status = Status::Error;
  if (readData(prepared, data, reason))
    status = runFunction(text.function, prepared.signature, data, unit,
                         caseFolder(unit), context.get(), reason);
  listener.end(prepared.unit, status, reason);
}

void runBatch(ArrayRef<Unit> units, const Settings &settings, StringRef folder,
              const Listener &listener) {
  Batch(units, settings, folder, listener).run();
}

} // namespace ingot::conformance
