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

Expected<std::string> findCompiler(const TargetDescription &target) {
  for (StringRef name : target.compilers)
    if (ErrorOr<std::string> path = sys::findProgramByName(name))
      return *path;
  return createStringError("no compiler for target '" + target.name +
                           "' is installed; looked for " +
                           join(target.compilers, ", "));
}

Error runProgram(StringRef program, ArrayRef<StringRef> arguments) {
  SmallString<128> messages;
  if (std::error_code code =
          sys::fs::createTemporaryFile("ingot", "log", messages))
    return createFileError(messages, code);
  SmallVector<StringRef> command = {program};
  command.append(arguments.begin(), arguments.end());
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(messages),
                                          StringRef(messages)};
  std::string problem;
  int status = sys::ExecuteAndWait(program, command, std::nullopt, redirects, 0,
                                   0, &problem);
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
                    StringRef object) {
  Expected<std::string> compiler = findCompiler(target);
  if (!compiler)
    return compiler.takeError();
  SmallVector<StringRef> arguments(standardCompileFlags());
  arguments.append(target.compilerFlags.begin(), target.compilerFlags.end());
  arguments.append({"-c", source, "-o", object});
  return runProgram(*compiler, arguments);
}

Error mergeObjects(const TargetDescription &target,
                   ArrayRef<std::string> objects, StringRef merged) {
  Expected<std::string> compiler = findCompiler(target);
  if (!compiler)
    return compiler.takeError();
  SmallVector<StringRef> arguments = {"-r", "-nostdlib"};
  arguments.append(objects.begin(), objects.end());
  arguments.append({"-o", merged});
  return runProgram(*compiler, arguments);
}

} // namespace ingot
