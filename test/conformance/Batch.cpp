// The names of all generated texts begin with one mark, which is replaced by a
// number before they are put together:
//
//     #include <stdint.h> ...          what the texts include
//     header of unit3                  one after the other, guards are unique
//     namespace unit3 { source }       the function has C linkage
//
// Where this machine has the target's instructions, they become a library,
// which is loaded; else a program for the target's emulator.

#include "Batch.h"
#include "Runner.h"

#include "codegen/files/Interface.h"
#include "codegen/objects/Toolchain.h"
#include "compiler/Faults.h"
#include "compiler/run/EmulatedProgram.h"
#include "compiler/run/RunTimeSizes.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/xxhash.h"

#include <dlfcn.h>
#include <map>
#include <numeric>

using namespace mlir;

namespace ingot::conformance {

namespace {

constexpr StringLiteral mark = "qunitq", macroMark = "QUNITQ";

/// A generated text and where it is built into.
struct Text {
  std::string header, source;
  /// The file with its weights, if they are not in the source, and the hash of
  /// what is in it; such a text is a library of its own, and optimized.
  std::string object;
  llvm::XXH128_hash_t weights = {};
  std::string error;
  Function function = nullptr;
};

/// What one case's compilations have in common.
struct Prepared {
  int unit;
  int text;
  Signature signature;
};

class Batch {
public:
  Batch(ArrayRef<Unit> units, const Settings &settings, StringRef folder,
        const Listener &listener)
      : units(units), settings(settings), folder(folder), listener(listener),
        context(makeContext()) {}

  void run() {
    for (int unit = 0, e = units.size(); unit < e; ++unit) {
      listener.begin(unit, "compile");
      prepare(unit);
    }
    const TargetDescription &target = *settings.target;
    if (!target.runsOnThisHost || !target.runsOnThisHost())
      return emulate();
    build();
    for (const Prepared &prepared : ready)
      call(prepared);
  }

private:
  std::string path(const Twine &name) const {
    SmallString<256> result(folder);
    llvm::sys::path::append(result, name);
    return result.str().str();
  }
  std::string caseFolder(const Unit &unit) const {
    return settings.suite + "/" + unit.kind + "/" + unit.name;
  }

  Signature atSizesOf(const Prepared &prepared,
                      std::vector<std::vector<char>> &outputs);
  int64_t boundFor(const Unit &unit);
  void prepare(int unit);
  int addText(Compilation &compilation, int unit);
  void build();
  void buildWithWeights(int text);
  std::string nameOf(int text) const;
  std::vector<std::string> writeSource(ArrayRef<int> which, StringRef name);
  bool buildLibrary(ArrayRef<int> which, StringRef name, StringRef level,
                    std::string &error);
  bool readData(const Prepared &prepared, InputData &data, std::string &reason);
  void call(const Prepared &prepared);

  void emulate();
  void emulate(ArrayRef<int> which, StringRef level);
  /// Units of one case with one text: they share a call.
  using Modes = SmallVector<const Prepared *>;
  void runCalls(const EmulatedProgram &program, ArrayRef<Modes> prepared,
                ArrayRef<EmulatedProgram::Call> calls);

  ArrayRef<Unit> units;
  const Settings &settings;
  std::string folder;
  const Listener &listener;
  std::unique_ptr<MLIRContext> context;
  std::vector<Text> texts;
  std::vector<Prepared> ready;
  /// Of the case at hand: imported module to result.
  std::string currentCase;
  std::vector<std::pair<std::string, Prepared>> imported;
};

} // namespace

StringRef statusName(Status status) {
  static constexpr StringLiteral names[] = {"pass", "unsupported", "mismatch",
                                            "error", "crash"};
  return names[static_cast<int>(status)];
}

/// The first complaint, with the operator it is about.
static std::string firstReason(const Diagnostics &diagnostics) {
  const Diagnostic &first = diagnostics.list().front();
  std::string reason = (infoOf(first.id).name + ": ").str();
  if (!first.operatorName.empty())
    reason += first.operatorName + ": ";
  return reason + first.message;
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
  std::string source = path(Twine(unit) + ".cpp");
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

static int64_t sumOf(ArrayRef<int64_t> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), int64_t(0));
}

/// The unit's signature at the sizes of its own data and those that the run has made,
/// which are taken off the end of `outputs`; these are cut to what they hold.
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

/// A bound for all sizes of a case: 64, or more where its inputs need it; less where
/// tensors of so many axes would have more elements than any memory. On a board, whose
/// memory all models of a batch share, what its inputs and outputs need.
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
  // What the model leaves open is known at run time only, within bounds.
  if (isDynamic)
    options.import.dims.insert({"*", SizeRange(0, boundFor(unit))});
  Compilation compilation(options, *context, diagnostics);
  InputData data;
  if (!isDynamic && readInputFolder(compilation, caseFolder(unit), data))
    bindData(compilation, data);
  auto refused = [&] {
    // Without the data, sizes and values may be asked for.
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

/// The symbol of weights in an object cannot be replaced.
std::string Batch::nameOf(int text) const {
  return texts[text].object.empty() ? "unit" + llvm::utostr(text) : mark.str();
}

/// Writes `name`.cpp with the texts, `name`.h with their headers; returns the
/// objects with their weights.
std::vector<std::string> Batch::writeSource(ArrayRef<int> which,
                                            StringRef name) {
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
    headers << renamed(texts[text].header);
    os << renamed(texts[text].header) << "namespace space_" << to << " {\n"
       << renamed(texts[text].source) << "}\n";
    if (!texts[text].object.empty())
      objects.push_back(texts[text].object);
  }
  return objects;
}

bool Batch::buildLibrary(ArrayRef<int> which, StringRef name, StringRef level,
                         std::string &error) {
  std::string source = path(name + ".cpp"), library = path(name + ".so"),
              log = path(name + ".log");
  std::vector<std::string> objects = writeSource(which, name);
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

/// A large network's weights are hundreds of megabytes: the file does not stay
/// beside the library that has them, too.
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
  // Whose fault was it?
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

//===----------------------------------------------------------------------===//
// Under an emulator
//===----------------------------------------------------------------------===//

void Batch::emulate() {
  SmallVector<int> together;
  for (int text = 0, e = texts.size(); text < e; ++text) {
    if (texts[text].object.empty())
      together.push_back(text);
    else
      emulate(text, "-O1");
  }
  if (!together.empty())
    emulate(together, "-O0");
}

/// Builds and runs a program of these texts; in halves if that is too large, or
/// one of them does not compile.
void Batch::emulate(ArrayRef<int> which, StringRef level) {
  listener.begin(-1, "build");
  std::vector<Modes> prepared;
  std::vector<InputData> data;
  for (const Prepared &candidate : ready) {
    if (!llvm::is_contained(which, candidate.text))
      continue;
    if (!prepared.empty() && prepared.back()[0]->text == candidate.text &&
        units[prepared.back()[0]->unit].name == units[candidate.unit].name) {
      prepared.back().push_back(&candidate);
      continue;
    }
    std::string reason;
    InputData read;
    bool isDynamic =
        StringRef(units[candidate.unit].mode).starts_with("dynamic-");
    if (!readData(candidate, read, reason)) {
      // Of what its operators need, a size may have one value within the bounds.
      listener.end(candidate.unit,
                   isDynamic ? Status::Unsupported : Status::Error, reason);
      continue;
    }
    Signature here = candidate.signature;
    if (fixSizes(here, read, reason).size() != here.sizes.size()) {
      listener.end(candidate.unit, Status::Unsupported, equalSizes(reason));
      continue;
    }
    if (int64_t most =
            settings.target->programText.empty() ? 64 << 20 : 2 << 20;
        isDynamic &&
        here.arenaBytes + sumOf(here.inputBytes()) + sumOf(here.outputBytes()) >
            most) {
      listener.end(candidate.unit, Status::Unsupported,
                   "emulated: too large at its bounds");
      continue;
    }
    prepared.push_back({&candidate});
    data.push_back(std::move(read));
  }
  Diagnostics diagnostics;
  EmulatedProgram program(*settings.target, folder);
  // One text may run at several sizes: then each case is a model of its own.
  std::map<std::pair<int, std::vector<int64_t>>, unsigned> models;
  std::vector<unsigned> modelOf;
  for (auto [modes, inputs] : llvm::zip(prepared, data)) {
    Signature s = modes[0]->signature;
    std::string why;
    std::vector<int64_t> values = fixSizes(s, inputs, why);
    auto [known, isNew] = models.try_emplace({modes[0]->text, values}, 0);
    if (isNew) {
      EmulatedProgram::Model model{nameOf(modes[0]->text), s.arenaBytes,
                                   s.arenaAlign, s.inputBytes(),
                                   s.outputBytes()};
      for (auto [size, value] : llvm::zip(s.sizes, values)) {
        model.sizes.push_back(size.isMade ? std::nullopt
                                          : std::optional(value));
        if (size.isMade)
          model.outputBytes.push_back(EmulatedProgram::madeBytes);
      }
      known->second = program.add(std::move(model));
    }
    modelOf.push_back(known->second);
  }
  std::vector<std::string> objects = writeSource(which, "batch");
  if (!program.build(path("batch.cpp"), path("batch.h"), level.str(), objects,
                     diagnostics)) {
    if (which.size() > 1) {
      emulate(which.take_front(which.size() / 2), level);
      return emulate(which.drop_front(which.size() / 2), level);
    }
    for (const Modes &modes : prepared)
      for (const Prepared *one : modes)
        listener.end(one->unit, Status::Error, firstReason(diagnostics));
    return;
  }
  std::vector<EmulatedProgram::Call> calls;
  for (auto [model, inputs] : llvm::zip(modelOf, data)) {
    EmulatedProgram::Call &call = calls.emplace_back();
    call.model = model;
    for (const std::optional<Tensor> &tensor : inputs)
      call.inputs.push_back(tensor->bytes);
  }
  runCalls(program, prepared, calls);
}

void Batch::runCalls(const EmulatedProgram &program, ArrayRef<Modes> prepared,
                     ArrayRef<EmulatedProgram::Call> calls) {
  // A program that dies takes only the call with it that it was at.
  while (!calls.empty()) {
    listener.begin(-1, "run");
    llvm::Error error = llvm::Error::success();
    auto results = program.run(calls, settings.seconds, error);
    std::string died = firstError(llvm::toString(std::move(error)));
    for (auto [modes, result] : llvm::zip(prepared, results)) {
      std::string reason;
      Status status = Status::Error;
      const Unit &unit = units[modes[0]->unit];
      bool isBeyond = result.status == INGOT_ERROR_SHAPE &&
                      StringRef(unit.mode).starts_with("dynamic-");
      if (result.status != INGOT_OK)
        reason = (isBeyond ? "made-size: " : "the function returns: ") +
                 statusText(result.status).str();
      else if (result.overflow)
        reason = "memory beside a buffer was written";
      else if (result.inputWritten)
        reason = "an input was written";
      else {
        Signature signature = atSizesOf(*modes[0], result.outputs);
        status = compareOutputs(std::move(result.outputs), signature, unit,
                                caseFolder(unit), context.get(), reason);
      }
      if (isBeyond)
        status = Status::Unsupported;
      for (const Prepared *one : modes)
        listener.end(one->unit, status, reason);
    }
    prepared = prepared.drop_front(results.size());
    calls = calls.drop_front(results.size());
    if (calls.empty())
      return;
    for (const Prepared *one : prepared.front())
      listener.end(one->unit, Status::Crash, died);
    prepared = prepared.drop_front();
    calls = calls.drop_front();
  }
}

void runBatch(ArrayRef<Unit> units, const Settings &settings, StringRef folder,
              const Listener &listener) {
  Batch(units, settings, folder, listener).run();
}

} // namespace ingot::conformance
