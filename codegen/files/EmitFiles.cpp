// Writes the files of one compilation:
//
//     model.cpp -> model.cpp and model.h; for large constants in the source,
//                  model.constants.inc, which model.cpp includes; for weights
//                  that are not in the source, model.weights.o or model.weights
//     model.o   -> model.o (weights included unless they are a file), model.h
//     model.wasm -> a module with the same content, model.h

#include "codegen/Codegen.h"
#include "codegen/files/OutputFiles.h"
#include "codegen/kernel/Names.h"
#include "codegen/objects/ObjectSizes.h"
#include "codegen/objects/TemporaryFolder.h"
#include "codegen/objects/Toolchain.h"
#include "targets/ModuleForm.h"
#include "targets/ProgramForm.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace ingot {

namespace {
struct Emission {
  ArrayRef<Variant> variants;
  CodegenOptions options;
  Weights weights;
  WeightsMode mode;

  Emission(ArrayRef<Variant> variants, const CodegenOptions &given,
           StringRef output)
      : variants(variants), options(given), weights(variants),
        mode(weights.resolve(given.weights)) {
    llvm::SmallString<128> header(llvm::sys::path::filename(output));
    llvm::sys::path::replace_extension(header, ".h");
    options.headerName = header.str().str();
  }

  /// The most capable target, whose compiler accepts the text of all targets.
  const TargetDescription &target() const { return *variants.back().target; }

  Error writeHeader(OutputFiles &files, StringRef header) const {
    return files.write(header, [&](llvm::raw_ostream &os) {
      printHeader(variants, options, os);
    });
  }

  Error writeSourceAndHeader(OutputFiles &files, StringRef source,
                             StringRef header) const {
    if (Error error = writeHeader(files, header))
      return error;
    std::string constants;
    if (Error error = files.write(source, [&](llvm::raw_ostream &os) {
          printSource(variants, options, os, &constants);
        }))
      return error;
    if (constants.empty())
      return Error::success();
    llvm::SmallString<128> path(source);
    llvm::sys::path::remove_filename(path);
    llvm::sys::path::append(path, options.constantsName);
    return files.write(path, [&](llvm::raw_ostream &os) { os << constants; });
  }

  Error writeWeights(OutputFiles &files, StringRef path) const {
    return files.write(path, [&](llvm::raw_ostream &os) {
      std::string symbol = toIdentifier(options.name) + "_weights";
      const ModuleForm *form = moduleForm(target());
      if (mode == WeightsMode::File)
        weights.writeFile(os);
      else if (form)
        form->writeDataObject(symbol, weights.payloadBytes(), kWeightAlign, os,
                              [&](auto &os) { weights.writePayload(os); });
      else
        weights.writeObject(symbol, target().elf, os);
    });
  }
};
} // namespace

static std::string withExtension(StringRef path, StringRef extension) {
  llvm::SmallString<128> result(path);
  llvm::sys::path::replace_extension(result, extension);
  return result.str().str();
}

static Error emitSource(const Emission &emission, StringRef output) {
  OutputFiles files;
  if (Error error = emission.writeSourceAndHeader(files, output,
                                                  withExtension(output, ".h")))
    return error;
  if (emission.mode != WeightsMode::Source)
    if (Error error = emission.writeWeights(
            files, withExtension(output, emission.mode == WeightsMode::File
                                             ? ".weights"
                                             : ".weights.o")))
      return error;
  return files.commit();
}

static Error emitObject(Emission emission, StringRef output, bool isModule) {
  Expected<TemporaryFolder> folder = TemporaryFolder::create();
  if (!folder)
    return folder.takeError();
  auto inside = [&](StringRef name) { return folder->file(name); };
  TargetDescription target =
      withCompiler(emission.target(), emission.options.compiler);
  std::string source = inside("model" + target.sourceExtension.str()),
              object = inside("model.o");
  std::string weightsObject = inside("weights.o");
  bool separate = emission.mode == WeightsMode::Object;

  OutputFiles scratch;
  if (Error error = emission.writeSourceAndHeader(
          scratch, source, inside(emission.options.headerName)))
    return error;
  if (separate)
    if (Error error = emission.writeWeights(scratch, weightsObject))
      return error;
  if (Error error = scratch.commit())
    return error;
  bool measures = programForm(target).measuresObjects && !moduleForm(target);
  SmallVector<const TargetDescription *> others;
  for (const Variant &variant : emission.variants.drop_back())
    others.push_back(variant.target);
  std::vector<std::string> levels = flagsForLevels(others);
  SmallVector<StringRef> flags(levels.begin(), levels.end());
  if (measures || isModule)
    llvm::append_range(flags, measuringFlags());
  if (isModule)
    flags.push_back("-UINGOT_WITHOUT_MODULE");
  if (Error error = compileSource(target, source, object, flags))
    return error;
  std::vector<std::string> parts = {object};
  if (separate)
    parts.push_back(weightsObject);
  if (measures) {
    Expected<ObjectSizes> sizes =
        measureObjects(target, parts, inside("model.su"), folder->path());
    if (!sizes)
      return sizes.takeError();
    emission.options.measured =
        sizes->measured(toIdentifier(emission.options.name));
  }
  if (isModule) {
    object = inside("model.module");
    Expected<int64_t> frames = readFrameSum(inside("model.su"));
    if (!frames)
      return frames.takeError();
    constexpr int64_t stackAlign = 16, leastStack = 1024;
    int64_t stack = llvm::alignTo(*frames + leastStack, stackAlign);
    if (Error error = linkModule(target, parts, stack, object))
      return error;
    uint64_t bytes = 0;
    (void)llvm::sys::fs::file_size(object, bytes);
    emission.options.measured = {int64_t(bytes), stack};
  } else if (separate) {
    std::string merged = inside("merged.o");
    if (Error error = mergeObjects(target, parts, merged))
      return error;
    object = merged;
  }

  OutputFiles files;
  if (Error error = files.copy(output, object))
    return error;
  // Writes the header again, since the header used for compiling could not
  // state the measured sizes of flash and stack yet.
  if (Error error = emission.writeHeader(files, withExtension(output, ".h")))
    return error;
  if (emission.mode == WeightsMode::File)
    if (Error error =
            emission.writeWeights(files, withExtension(output, ".weights")))
      return error;
  return files.commit();
}

Error emitFiles(ArrayRef<Variant> variants, const CodegenOptions &options,
                StringRef output) {
  Emission emission(variants, options, output);
  StringRef extension = llvm::sys::path::extension(output);
  const ModuleForm *form = moduleForm(emission.target());
  bool isModule = form && extension == form->extension;
  return extension == ".o" || isModule ? emitObject(emission, output, isModule)
                                       : emitSource(emission, output);
}

} // namespace ingot
