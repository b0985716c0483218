//===- Toolchain.cpp - running a target's compiler ------------------------===//

#include "codegen/Toolchain.h"

#include "targets/TargetDescription.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace ingot {

ArrayRef<StringRef> standardCompileFlags() {
  static const StringRef flags[] = {"-std=c++17", "-O2", "-fPIC",
                                    "-fno-exceptions", "-fno-rtti"};
  return flags;
}

std::vector<std::string> installedCommand(StringRef command) {
  SmallVector<StringRef> words;
  command.split(words, ' ', -1, /*KeepEmpty=*/false);
  std::vector<std::string> result(words.begin(), words.end());
  ErrorOr<std::string> path =
      sys::findProgramByName(words.empty() ? StringRef() : words.front());
  if (!path)
    return {};
  result.front() = *path;
  return result;
}

Expected<std::vector<std::string>>
findCompiler(const TargetDescription &target) {
  for (StringRef command : target.compilers)
    if (auto words = installedCommand(command); !words.empty())
      return words;
  return createStringError("no compiler for target '" + target.name +
                           "' is installed; looked for " +
                           join(target.compilers, ", "));
}

Error runProgram(ArrayRef<std::string> command, unsigned seconds) {
  SmallString<128> messages;
  if (std::error_code code =
          sys::fs::createTemporaryFile("ingot", "log", messages))
    return createFileError(messages, code);
  SmallVector<StringRef> words(command.begin(), command.end());
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(messages),
                                          StringRef(messages)};
  std::string problem;
  int status = sys::ExecuteAndWait(words.front(), words, std::nullopt,
                                   redirects, seconds, 0, &problem);
  std::string text;
  if (auto buffer = MemoryBuffer::getFile(messages))
    text = (*buffer)->getBuffer().str();
  (void)sys::fs::remove(messages);
  if (status == 0)
    return Error::success();
  return createStringError("'" + join(command, " ") + "' failed" +
                           (problem.empty() ? "" : ": " + problem) + "\n" +
                           text);
}

Error compileSource(const TargetDescription &target, StringRef source,
                    StringRef object, ArrayRef<StringRef> flags) {
  Expected<std::vector<std::string>> command = findCompiler(target);
  if (!command)
    return command.takeError();
  for (StringRef flag : standardCompileFlags())
    command->push_back(flag.str());
  for (StringRef flag : concat<const StringRef>(target.compilerFlags, flags))
    command->push_back(flag.str());
  command->insert(command->end(), {"-c", source.str(), "-o", object.str()});
  return runProgram(*command);
}

Error mergeObjects(const TargetDescription &target,
                   ArrayRef<std::string> objects, StringRef merged) {
  std::vector<std::string> command = installedCommand(target.linker);
  if (target.linker.empty()) {
    Expected<std::vector<std::string>> compiler = findCompiler(target);
    if (!compiler)
      return compiler.takeError();
    command = std::move(*compiler);
  } else if (command.empty()) {
    return createStringError("the linker '" + target.linker +
                             "' is not installed");
  }
  // They say which of its libraries.
  for (StringRef flag : target.compilerFlags)
    command.push_back(flag.str());
  command.insert(command.end(), {"-r", "-nostdlib"});
  append_range(command, objects);
  command.insert(command.end(), {"-o", merged.str()});
  return runProgram(command);
}

} // namespace ingot
