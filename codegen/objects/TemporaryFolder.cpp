#include "codegen/objects/TemporaryFolder.h"

#include "codegen/objects/Interrupts.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace ingot {

Expected<TemporaryFolder> TemporaryFolder::create() {
  SignalsHeld held;
  SmallString<128> path;
  if (std::error_code code = sys::fs::createUniqueDirectory("ingot", path)) {
    sys::path::system_temp_directory(/*ErasedOnReboot=*/true, path);
    return createFileError(path, code);
  }
  removeFolderOnSignal(path);
  return TemporaryFolder(path);
}

TemporaryFolder::TemporaryFolder(TemporaryFolder &&other)
    : folder(std::move(other.folder)) {
  other.folder.clear();
}

TemporaryFolder::~TemporaryFolder() {
  if (folder.empty())
    return;
  (void)sys::fs::remove_directories(folder);
  forgetFolder(folder);
}

std::string TemporaryFolder::file(StringRef name) const {
  SmallString<128> path(folder);
  sys::path::append(path, name);
  return path.str().str();
}

} // namespace ingot
