// Writes files completely or not at all.

#include "codegen/files/OutputFiles.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"

using namespace llvm;

namespace ingot {

OutputFiles::~OutputFiles() {
  for (Pending &file : pending) {
    (void)sys::fs::remove(file.temporary);
    sys::DontRemoveFileOnSignal(file.temporary);
  }
}

/// Creates a file beside `path`, whose name is stored in `temporary`.
/// sys::fs::TempFile is not used, since it replaces each `%` of the path, also
/// in the names of folders.
static std::error_code createBeside(StringRef path, std::string &temporary,
                                    int &descriptor) {
  // The usual permissions of a new file: read and write for all, minus the
  // umask.
  constexpr unsigned mode = 0666;
  std::error_code code;
  do {
    temporary =
        (path + ".tmp-" + utohexstr(sys::Process::GetRandomNumber())).str();
    code = sys::fs::openFileForReadWrite(
        temporary, descriptor, sys::fs::CD_CreateNew, sys::fs::OF_None, mode);
  } while (code == std::errc::file_exists);
  return code;
}

Error OutputFiles::write(StringRef path,
                         function_ref<void(raw_ostream &)> content) {
  // A device or a pipe, such as /dev/stdout, is written in place: renaming a
  // temporary file would replace it.
  sys::fs::file_status status;
  if (!sys::fs::status(path, status) && sys::fs::exists(status) &&
      status.type() != sys::fs::file_type::regular_file &&
      status.type() != sys::fs::file_type::directory_file) {
    std::error_code code;
    raw_fd_ostream os(path, code, sys::fs::CD_OpenExisting);
    if (!code) {
      content(os);
      os.close();
      code = os.error();
      os.clear_error();
    }
    return code ? createFileError(path, code) : Error::success();
  }
  std::string temporary;
  int descriptor;
  if (std::error_code code = createBeside(path, temporary, descriptor))
    return createFileError(path, code);
  sys::RemoveFileOnSignal(temporary);
  pending.push_back({path.str(), temporary});
  raw_fd_ostream os(descriptor, /*shouldClose=*/true);
  content(os);
  os.close();
  std::error_code code = os.error();
  os.clear_error();
  return code ? createFileError(path, code) : Error::success();
}

Error OutputFiles::copy(StringRef path, StringRef from) {
  auto buffer = MemoryBuffer::getFile(from, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createFileError(from, buffer.getError());
  return write(path, [&](raw_ostream &os) { os << (*buffer)->getBuffer(); });
}

Error OutputFiles::commit() {
  for (Pending &file : pending) {
    if (std::error_code code = sys::fs::rename(file.temporary, file.path))
      return createFileError(file.path, code);
    sys::DontRemoveFileOnSignal(file.temporary);
  }
  pending.clear();
  return Error::success();
}

Error writeFile(StringRef path, function_ref<void(raw_ostream &)> content) {
  OutputFiles files;
  if (Error error = files.write(path, content))
    return error;
  return files.commit();
}

} // namespace ingot
