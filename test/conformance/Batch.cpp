//===- Batch.cpp ----------------------------------------------------------===//
//
// The names of all generated texts begin with one mark, which is replaced by a
// number before they are put together:
//
//     #include <stdint.h> ...          what the texts include
//     header of unit3                  one after the other, guards are unique
//     namespace unit3 { source }       the function has C linkage
//
//===----------------------------------------------------------------------===//

#include "Batch.h"
#include "Runner.h"

#include "codegen/Interface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <dlfcn.h>

using namespace mlir;

namespace ingot::conformance {

namespace {

constexpr StringLiteral mark = "qunitq", macroMark = "QUNITQ";

/// A generated text and where it is built into.
struct Text {
  std::string header, source;
  /// The file with its weights, if they are not in the source; such a text is
  /// a library of its own, and optimized.
  std::string object;
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

  void prepare(int unit);
  int addText(Compilation &compilation, int unit);
  void build();
  bool buildLibrary(ArrayRef<int> which, StringRef name, StringRef level,
                    std::string &error);
  void call(const Prepared &prepared);

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
  if (llvm::sys::fs::exists(object))
    text.object = object;
  auto same = llvm::find_if(texts, [&](const Text &other) {
    return text.object.empty() && other.object.empty() &&
           other.source == text.source && other.header == text.header;
  });
  if (same != texts.end())
    return same - texts.begin();
  texts.push_back(std::move(text));
  return texts.size() - 1;
}

void Batch::prepare(int number) {
  const Unit &unit = units[number];
  Diagnostics diagnostics;
  CompileOptions options;
  options.model = caseFolder(unit) + "/" + unit.mode + "/model.onnx";
  options.target = settings.target;
  options.name = mark.str();
  Compilation compilation(options, *context, diagnostics);
  InputData data;
  if (readInputFolder(compilation, caseFolder(unit), data))
    bindData(compilation, data);
  auto refused = [&] {
    bool isUnsupported = diagnostics.exitCode() == Unsupported;
    listener.end(number, isUnsupported ? Status::Unsupported : Status::Error,
                 firstReason(diagnostics));
  };
  if (!compilation.advance(Stage::Import))
    return refused();
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
  for (Type type : main.getArgumentTypes())
    prepared.signature.inputs.push_back(cast<RankedTensorType>(type));
  for (Type type : main.getResultTypes())
    prepared.signature.outputs.push_back(cast<RankedTensorType>(type));
  prepared.text = addText(compilation, number);
  if (prepared.text < 0)
    return refused();
  Interface interface(compilation.module(), compilation.codegenOptions(""));
  prepared.signature.arenaBytes = interface.arenaBytes;
  prepared.signature.arenaAlign = interface.arenaAlign;
  ready.push_back(prepared);
  imported.push_back({text, prepared});
}

bool Batch::buildLibrary(ArrayRef<int> which, StringRef name, StringRef level,
                         std::string &error) {
  std::string source = path(name + ".cpp"), library = path(name + ".so"),
              log = path(name + ".log");
  std::error_code code;
  llvm::raw_fd_ostream os(source, code);
  os << "#include <stddef.h>\n#include <stdint.h>\n"
     << "#if defined(__x86_64__)\n#include <immintrin.h>\n#endif\n";
  std::vector<std::string> objects;
  auto nameOf = [&](int text) {
    // The symbol of weights in an object cannot be replaced.
    return texts[text].object.empty() ? "unit" + llvm::utostr(text)
                                      : mark.str();
  };
  for (int text : which) {
    std::string to = nameOf(text), macro = StringRef(to).upper();
    auto renamed = [&](const std::string &text) {
      return replaced(replaced(text, mark, to), macroMark, macro);
    };
    os << renamed(texts[text].header) << "namespace space_" << to << " {\n"
       << renamed(texts[text].source) << "}\n";
    if (!texts[text].object.empty())
      objects.push_back(texts[text].object);
  }
  os.close();
  std::string compiler;
  for (StringRef candidate : settings.target->compilers)
    if (auto found = llvm::sys::findProgramByName(candidate);
        found && compiler.empty())
      compiler = *found;
  std::vector<std::string> command{
      compiler,    "-std=c++17", "-shared",         "-fPIC",    "-w",
      "-fno-rtti", "-g0",        "-fno-exceptions", level.str()};
  for (StringRef flag : settings.target->compilerFlags)
    command.push_back(flag.str());
  command.push_back(source);
  command.insert(command.end(), objects.begin(), objects.end());
  command.insert(command.end(), {"-o", library});
  SmallVector<StringRef> argv(command.begin(), command.end());
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log),
                                          StringRef(log)};
  if (llvm::sys::ExecuteAndWait(compiler, argv, std::nullopt, redirects)) {
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

void Batch::build() {
  SmallVector<int> together;
  std::string error;
  for (int text = 0, e = texts.size(); text < e; ++text) {
    if (texts[text].object.empty())
      together.push_back(text);
    else
      buildLibrary(text, "weights" + llvm::utostr(text), "-O1",
                   texts[text].error);
  }
  listener.begin(-1, "build");
  if (together.empty() || buildLibrary(together, "batch", "-O0", error))
    return;
  // Whose fault was it?
  for (int text : together)
    buildLibrary(text, "single" + llvm::utostr(text), "-O0", texts[text].error);
}

void Batch::call(const Prepared &prepared) {
  const Unit &unit = units[prepared.unit];
  listener.begin(prepared.unit, "run");
  const Text &text = texts[prepared.text];
  if (!text.function)
    return listener.end(prepared.unit, Status::Error, text.error);
  Diagnostics diagnostics;
  CompileOptions options;
  options.model = caseFolder(unit) + "/declared/model.onnx";
  options.target = settings.target;
  Compilation compilation(options, *context, diagnostics);
  InputData data;
  std::string reason;
  Status status = Status::Error;
  if (readInputFolder(compilation, caseFolder(unit), data))
    status = runFunction(text.function, prepared.signature, data, unit,
                         caseFolder(unit), context.get(), reason);
  else
    reason = firstReason(diagnostics);
  listener.end(prepared.unit, status, reason);
}

void runBatch(ArrayRef<Unit> units, const Settings &settings, StringRef folder,
              const Listener &listener) {
  Batch(units, settings, folder, listener).run();
}

} // namespace ingot::conformance
