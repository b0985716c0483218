// The command `ingot llm DIR -o OUT`.

#include "codegen/files/OutputFiles.h"
#include "compiler/Faults.h"
#include "compiler/llm/ModelFolder.h"
#include "compiler/llm/RuntimeText.h"
#include "compiler/tools/ingot/Commands.h"
#include "targets/ProgramForm.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace ingot {

/// Sets the options of the network: an entry point for chunks of the prompt and
/// one for a single token, which share weights and cache.
static void chooseOptions(const llm::ModelFolder &model, int64_t chunk,
                          CompileOptions &options, Diagnostics &diagnostics) {
  options.model = model.model;
  options.name = "network";
  options.weights = WeightsMode::File;
  options.states = model.states;
  options.makeModel = [&model, &diagnostics] {
    return model.open(diagnostics);
  };
  auto &dims = options.import.dims;
  if (!model.batchSize.empty())
    dims[model.batchSize] = 1;
  if (!model.totalSize.empty() && model.totalSize != model.sequenceSize)
    dims[model.totalSize] = SizeRange(1, model.context - 1 + chunk);
  EntryPoint prompt{"prompt", "", {}}, token{"token", "", {}};
  prompt.dims = {{model.sequenceSize, SizeRange(1, chunk)},
                 {model.pastSize, SizeRange(0, model.context - 1)}};
  token.dims = {{model.sequenceSize, SizeRange(1)},
                {model.pastSize, SizeRange(1, model.context - 1)}};
  options.entries = {prompt, token};
}

static std::string withVersion(StringRef text) {
  auto [before, after] = text.split("@VERSION@");
  return before.size() == text.size() ? text.str()
                                      : (before + ingotVersion + after).str();
}

int llmCommand(Arguments &arguments, Diagnostics &diagnostics) {
  StringRef folder = StringRef(arguments.positional.front()).rtrim('/');
  std::string output = arguments.output;
  if (output.empty())
    output = (sys::path::filename(folder) + "-chat").str();
  if (!requireOneTarget(arguments, "`ingot llm`", diagnostics))
    return diagnostics.exitCode();
  const TargetDescription *target = arguments.compile.target;
  if (target && (programForm(*target).hasHandle || target->freestanding)) {
    diagnostics.report(DiagnosticId::BadOption,
                       "--target: a chat program runs on a CPU with an "
                       "operating system, not on " +
                           target->name,
                       "`ingot MODEL.onnx` compiles the network alone");
    return diagnostics.exitCode();
  }
  auto model = llm::readModelFolder(folder, arguments.context,
                                    arguments.chatTemplate, diagnostics);
  if (!model)
    return diagnostics.exitCode();
  int64_t chunk = arguments.promptChunk ? arguments.promptChunk : 64;
  chunk = std::min(chunk, model->context);
  CompileOptions &options = arguments.compile;
  chooseOptions(*model, chunk, options, diagnostics);

  if (std::error_code error = sys::fs::create_directories(output)) {
    diagnostics.reportFile(DiagnosticId::CannotWrite, output,
                           "the folder `" + printable(output) +
                               "` cannot be created: " + error.message());
    return diagnostics.exitCode();
  }
  auto path = [&](StringRef file) {
    SmallString<128> result(output);
    sys::path::append(result, file);
    return result.str().str();
  };
  for (StringRef file :
       {"network.cpp", "network.h", "network.weights", "tokenizer.cpp",
        "tokenizer.h", "settings.h", "sampler.h", "chat.cpp", "ingot.h",
        "ingot_thread_pool.h", "Makefile", "CMakeLists.txt"})
    checkReplaceable(arguments, path(file), diagnostics);
  if (!diagnostics.empty())
    return diagnostics.exitCode();

  auto context = makeContext();
  Compilation compilation(options, *context, diagnostics);
  if (!compilation.emit(path("network.cpp")))
    return diagnostics.exitCode();
  auto header = MemoryBuffer::getFile(path("network.h"));
  if (!header) {
    diagnostics.reportFile(DiagnosticId::CannotRead, path("network.h"),
                           "the header of the network cannot be read");
    return diagnostics.exitCode();
  }
  OutputFiles files;
  Error error = Error::success();
  auto write = [&](StringRef file, function_ref<void(raw_ostream &)> content) {
    if (!error)
      error = files.write(path(file), content);
  };
  write("tokenizer.h", [&](raw_ostream &os) {
    llm::printTokenizerHeader(model->tokenizer, "tokenizer", "tokenizer.json",
                              os);
  });
  write("tokenizer.cpp", [&](raw_ostream &os) {
    llm::printTokenizerSource(model->tokenizer, "tokenizer", "tokenizer.json",
                              os);
  });
  write("settings.h", [&](raw_ostream &os) {
    llm::printSettings(*model, chunk, (*header)->getBuffer(), os);
  });
  std::pair<StringRef, StringRef> texts[] = {
      {"sampler.h", llm::kSamplerText},
      {"chat.cpp", llm::kChatText},
      {"ingot_thread_pool.h", llm::kThreadPoolText},
      {"ingot.h", llm::kIngotHeaderText},
      {"Makefile", llm::kMakefileText},
      {"CMakeLists.txt", llm::kCMakeListsText}};
  for (const auto &[file, text] : texts)
    write(file, [&, text = text](raw_ostream &os) { os << withVersion(text); });
  if (!error)
    error = files.commit();
  if (error)
    reportFault(std::move(error), diagnostics);
  else if (arguments.verbose || (!arguments.quiet && errs().is_displayed()))
    errs() << "wrote " << output << ": " << model->form->name
           << " conversations of up to " << model->context
           << " tokens; `make -C " << output << "` builds " << output
           << "/chat\n";
  return diagnostics.exitCode();
}

} // namespace ingot
