#include "compiler/run/EmulatedProgram.h"

#include "codegen/files/OutputFiles.h"
#include "codegen/objects/Toolchain.h"
#include "compiler/Faults.h"
#include "compiler/run/BuiltModel.h"
#include "targets/ProgramForm.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace ingot {

/// The least number of bytes with a known pattern before and after each buffer,
/// by which out-of-bounds writes are detected.
constexpr int64_t guard = 64;

/// The part of the program's C++ text that is the same for all models. `places`
/// are the buffers of a model: the arena (memory of intermediate tensors), then
/// its inputs, then its outputs.
constexpr StringLiteral mainText = R"(
struct place { uint32_t offset, bytes; };
struct model {
  ingot_status (*run)(void **io, void *arena);
  const place *places;
  uint32_t inputs, tensors;
};

const unsigned char pattern = 0xa5;

uint64_t hash(const place *places, uint32_t count) {
  uint64_t value = 14695981039346656037u;
  for (uint32_t i = 0; i < count; ++i)
    for (uint32_t j = 0; j < places[i].bytes; ++j)
      value = (value ^ memory[places[i].offset + j]) * 1099511628211u;
  return value;
}

bool intact(const model &m) {
  uint32_t at = 0;
  for (uint32_t i = 0; i <= m.tensors; ++i) {
    for (; at < m.places[i].offset; ++at)
      if (memory[at] != pattern)
        return false;
    at += m.places[i].bytes;
  }
  for (uint32_t i = 0; i < guard; ++i)
    if (memory[at + i] != pattern)
      return false;
  return true;
}

bool call(const model &m, FILE *calls, FILE *results) {
  memset(memory, pattern, sizeof memory);
  void *io[most_tensors];
  for (uint32_t i = 0; i < m.tensors; ++i) {
    const place &p = m.places[1 + i];
    io[i] = memory + p.offset;
    if (i < m.inputs && fread(io[i], 1, p.bytes, calls) != p.bytes)
      return false;
  }
  uint64_t before = hash(m.places + 1, m.inputs);
  uint32_t status[2];
  status[0] = uint32_t(m.run(io, memory + m.places[0].offset));
  status[1] = (intact(m) ? 0u : 1u) |
              (hash(m.places + 1, m.inputs) == before ? 0u : 2u);
  fwrite(status, 1, sizeof status, results);
  for (uint32_t i = m.inputs; i < m.tensors; ++i)
    fwrite(io[i], 1, m.places[1 + i].bytes, results);
  return fflush(results) == 0;
}
)";

unsigned EmulatedProgram::add(Model model) {
  models.push_back(std::move(model));
  return models.size() - 1;
}

std::string EmulatedProgram::path(const Twine &name) const {
  SmallString<128> result(folder);
  sys::path::append(result, name);
  // Makes the path absolute, since the program may run in another working
  // directory.
  (void)sys::fs::make_absolute(result);
  return result.str().str();
}

static std::string quoted(StringRef text) {
  std::string result;
  raw_string_ostream os(result);
  os << '"';
  os.write_escaped(text, /*UseHexEscapes=*/false);
  os << '"';
  return result;
}

/// Returns the C++ text of the second half of the function that runs a model on
/// a GPU: upload, create, run, destroy, release. On an emulated GPU, leaked
/// allocations are an error.
static std::string deviceCall(const std::string &name, bool isEmulated) {
  std::string text = R"(  (void)arena;
  NAME_constants constants;
  NAME_handle handle;
  ingot_status status = NAME_upload(&constants, nullptr);
  if (status != INGOT_OK) return status;
  status = NAME_create(&handle, &constants, nullptr);
  // The second run finds what the first one has recorded.
  for (int i = 0; i < 2 && status == INGOT_OK; ++i)
    status = NAME_run(&handle, tensors_of_run, nullptr);
  NAME_destroy(&handle);
  NAME_release(&constants);
)";
  if (isEmulated)
    text += "  if (status == INGOT_OK && emulated_gpu().objects)\n"
            "    return INGOT_ERROR_CAPACITY;\n";
  text += "  return status;\n}\n";
  for (size_t at; (at = text.find("NAME")) != std::string::npos;)
    text.replace(at, 4, name);
  return text;
}

Expected<std::string>
EmulatedProgram::writeMain(ArrayRef<std::string> headers) const {
  // Declares the offsets of the buffers of each model.
  std::string text;
  raw_string_ostream os(text);
  int64_t most = 0, align = 1;
  size_t mostTensors = 1;
  for (auto [number, model] : enumerate(models)) {
    align = std::max(align, model.arenaAlign);
    int64_t end = 0;
    auto place = [&](int64_t bytes, int64_t alignment) {
      int64_t offset = alignTo(end + guard, alignment);
      end = offset + bytes;
      os << " {" << offset << ", " << bytes << "},";
    };
    os << "const place places_" << number << "[] = {";
    int64_t arenaEnd = alignTo(model.arenaBytes, model.arenaAlign);
    place(model.vtcmBytes ? arenaEnd + model.vtcmBytes : model.arenaBytes,
          std::max<int64_t>(model.arenaAlign, 16));
    for (int64_t bytes : model.inputBytes)
      place(bytes, 16);
    for (int64_t bytes : model.outputBytes)
      place(bytes, 16);
    os << "};\n"
       << "ingot_status run_" << number << "(void **tensors, void *arena) {\n"
       << "  void *io[] = {";
    // The first field of the io struct is the address space of the tensors:
    // host memory (null).
    if (programForm(target).hasHandle)
      os << "nullptr, ";
    size_t made = count(model.sizes, std::nullopt),
           tensors = model.inputBytes.size() + model.outputBytes.size() - made;
    // Passes sizes as pointers too: in the struct, a size is as wide as a
    // pointer.
    size_t at = tensors;
    for (std::optional<int64_t> size : model.sizes)
      if (size)
        os << "reinterpret_cast<void *>(ptrdiff_t(" << *size << ")), ";
      else
        os << "tensors[" << at++ << "], ";
    for (size_t i = 0; i < tensors; ++i)
      os << "tensors[" << i << "], ";
    if (model.vtcmBytes)
      os << "static_cast<unsigned char *>(arena) + " << arenaEnd << ", ";
    os << "nullptr};\n"
       << "  const " << model.name
       << "_io *tensors_of_run = reinterpret_cast<const " << model.name
       << "_io *>(io);\n"
       << (programForm(target).hasHandle
               ? deviceCall(model.name, !target.emulation.headerName.empty())
               : "  return " + model.name +
                     "_run(tensors_of_run, arena, nullptr);\n}\n");
    most = std::max(most, end + guard);
    mostTensors = std::max(mostTensors,
                           model.inputBytes.size() + model.outputBytes.size());
  }
  os << "const model models[] = {\n";
  for (auto [number, model] : enumerate(models))
    os << "  {run_" << number << ", places_" << number << ", "
       << model.inputBytes.size() << ", "
       << model.inputBytes.size() + model.outputBytes.size() << "},\n";
  os << "};\n";

  std::string file = path("main.cpp");
  std::error_code code;
  raw_fd_ostream main(file, code);
  if (code)
    return createFileError(file, code);
  for (const std::string &header : headers)
    main << "#include " << quoted(header) << "\n";
  if (!target.emulation.headerName.empty())
    main << "#include <" << target.emulation.headerName << ">\n";
  StringRef library = "#include <stdint.h>\n#include <stdio.h>\n"
                      "#include <string.h>\n";
  main << (target.libraryText.empty() ? library : target.libraryText)
       << "\nnamespace {\n"
       << "constexpr uint32_t guard = " << guard
       << ", most_tensors = " << mostTensors << ";\n"
       << "alignas(" << std::max<int64_t>(align, 16)
       << ") unsigned char memory[" << most << "];\n"
       << mainText << text << "}\n\nint main() {\n"
       << "  FILE *calls = fopen(" << quoted(path("calls")) << ", \"rb\");\n"
       << "  FILE *results = fopen(" << quoted(path("results"))
       << ", \"wb\");\n"
       << "  if (!calls || !results)\n    return 1;\n"
       << "  uint32_t number;\n"
       << "  while (fread(&number, 1, sizeof number, calls) == sizeof number)\n"
       << "    if (number >= " << models.size()
       << " || !call(models[number], calls, results))\n      return 1;\n"
       << "  fclose(results);\n  return 0;\n}\n"
       << target.programText;
  main.close();
  if (std::error_code failure = main.error()) {
    main.clear_error();
    return createFileError(file, failure);
  }
  return file;
}

Error EmulatedProgram::link(ArrayRef<std::string> objects) const {
  std::vector<std::string> command;
  if (!target.linker.empty()) {
    command = installedCommand(target.linker);
    if (command.empty())
      return make_error<MissingProgram>(("`" + target.linker.split(' ').first +
                                         "`, which links programs for " +
                                         target.name + ", is not installed")
                                            .str());
  } else {
    Expected<std::vector<std::string>> compiler = findCompiler(target);
    if (!compiler)
      return compiler.takeError();
    command = *compiler;
    for (StringRef flag : target.compilerFlags)
      command.push_back(flag.str());
  }
  append_range(command, objects);
  for (StringRef flag : target.linkFlags)
    command.push_back(flag.str());
  command.insert(command.end(), {"-o", program()});
  return runProgram(command);
}

bool EmulatedProgram::build(ArrayRef<std::string> sources,
                            ArrayRef<std::string> headers,
                            ArrayRef<std::string> flags,
                            ArrayRef<std::string> objects,
                            Diagnostics &diagnostics) {
  Expected<std::string> main = writeMain(headers);
  if (!main) {
    reportFault(main.takeError(), diagnostics);
    return false;
  }
  const Emulation &emulation = target.emulation;
  if (!emulation.headerName.empty())
    if (Error error =
            writeFile(path(emulation.headerName),
                      [&](raw_ostream &os) { os << emulation.headerText; })) {
      reportFault(std::move(error), diagnostics);
      return false;
    }
  std::vector<std::string> parts(sources), linked(objects);
  // If the target has a separate linker command, only that command finds the C
  // library that the main function needs, so it also compiles the main
  // function.
  (target.linker.empty() ? parts : linked).push_back(*main);
  for (auto [number, source] : enumerate(parts)) {
    linked.push_back(path("part" + Twine(number) + ".o"));
    std::vector<std::string> arguments(flags);
    if (!emulation.headerName.empty())
      arguments.push_back("-I" + path(""));
    arguments.insert(arguments.end(), {"-c", source, "-o", linked.back()});
    if (!compileGenerated(target, arguments, diagnostics))
      return false;
  }
  Error error = link(linked);
  if (!error)
    return true;
  // A program that does not fit on a board is not an internal error.
  if (error.isA<StringError>())
    diagnostics.report(DiagnosticId::RunFailed,
                       "the program for " + target.name + " does not link: " +
                           firstError(toString(std::move(error))));
  else
    reportFault(std::move(error), diagnostics);
  return false;
}

/// Parses the file of results; returns those of the calls that were finished.
static std::vector<EmulatedProgram::Result>
readResults(StringRef bytes, ArrayRef<EmulatedProgram::Call> calls,
            ArrayRef<EmulatedProgram::Model> models) {
  std::vector<EmulatedProgram::Result> results;
  for (const EmulatedProgram::Call &call : calls) {
    const EmulatedProgram::Model &model = models[call.model];
    EmulatedProgram::Result result;
    uint32_t status[2];
    int64_t needed = sizeof status;
    for (int64_t size : model.outputBytes)
      needed += size;
    if (int64_t(bytes.size()) < needed)
      break;
    std::memcpy(status, bytes.data(), sizeof status);
    bytes = bytes.drop_front(sizeof status);
    result.status = ingot_status(status[0]);
    result.overflow = status[1] & 1;
    result.inputWritten = status[1] & 2;
    for (int64_t size : model.outputBytes) {
      result.outputs.emplace_back(bytes.begin(), bytes.begin() + size);
      bytes = bytes.drop_front(size);
    }
    results.push_back(std::move(result));
  }
  return results;
}

std::vector<EmulatedProgram::Result> EmulatedProgram::run(ArrayRef<Call> calls,
                                                          unsigned seconds,
                                                          Error &error) const {
  ErrorAsOutParameter out(error);
  std::vector<std::string> command = installedCommand(target.emulator);
  if (command.empty()) {
    error = make_error<MissingProgram>(("`" + target.emulator.split(' ').first +
                                        "`, which runs programs for " +
                                        target.name + ", is not installed")
                                           .str());
    return {};
  }
  std::error_code code;
  raw_fd_ostream os(path("calls"), code);
  for (const Call &call : calls) {
    uint32_t number = call.model;
    os.write(reinterpret_cast<const char *>(&number), sizeof number);
    for (ArrayRef<char> input : call.inputs)
      os.write(input.data(), input.size());
  }
  os.close();
  if (os.has_error()) {
    error = createFileError(path("calls"), os.error());
    os.clear_error();
    return {};
  }
  (void)sys::fs::remove(path("results"));
  command.push_back(program());
  error = runProgram(command, seconds);
  auto buffer = MemoryBuffer::getFile(path("results"), /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  return readResults(buffer ? (*buffer)->getBuffer() : "", calls, models);
}

} // namespace ingot
