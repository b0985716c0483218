// Writes files completely or not at all.

#include "codegen/files/OutputFiles.h"

#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace ingot {

OutputFiles::~OutputFiles() {
  for (Pending &file : pending)
    consumeError(file.file.discard());
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
  // The usual permissions of a new file: read and write for all, minus the
  // umask.
  auto mode = static_cast<sys::fs::perms>(0666);
  Expected<sys::fs::TempFile> temporary =
      sys::fs::TempFile::create(path + ".tmp-%%%%%%%%", mode);
  if (!temporary)
    return createFileError(path, temporary.takeError());
  {
    raw_fd_ostream os(temporary->FD, /*shouldClose=*/false);
    content(os);
    os.flush();
    if (os.has_error()) {
      std::error_code code = os.error();
      os.clear_error();
      consumeError(temporary->discard());
      return createFileError(path, code);
    }
  }
  pending.push_back({path.str(), std::move(*temporary)});
  return Error::success();
}

Error OutputFiles::copy(StringRef path, StringRef from) {
  auto buffer = MemoryBuffer::getFile(from, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createFileError(from, buffer.getError());
  return write(path, [&](raw_ostream &os) { os << (*buffer)->getBuffer(); });
}

Error OutputFiles::commit() {
  for (Pending &file : pending)
    if (Error error = file.file.keep(file.path))
      return createFileError(file.path, std::move(error));
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
