#include "codegen/objects/TemporaryFolder.h"

#include "codegen/objects/Interrupts.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstdlib>

using namespace llvm;

namespace ingot {

Expected<TemporaryFolder> TemporaryFolder::create() {
  SignalsHeld held;
  SmallString<128> parent;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, parent);
  SmallString<128> path(parent);
  sys::path::append(path, "ingot-XXXXXX");
  // sys::fs::createUniqueDirectory is not used, since it replaces each `%` of
  // the path, also in the names of folders.
  if (!::mkdtemp(const_cast<char *>(path.c_str())))
    return createFileError(parent, errnoAsErrorCode());
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
