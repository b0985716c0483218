// Temporary folders that are always removed.

#ifndef INGOT_CODEGEN_OBJECTS_TEMPORARYFOLDER_H
#define INGOT_CODEGEN_OBJECTS_TEMPORARYFOLDER_H

#include "llvm/Support/Error.h"

#include <string>

namespace ingot {

/// A folder in TMPDIR, removed with its contents by the destructor or by a
/// signal.
class TemporaryFolder {
public:
  /// Creates the folder, or returns a FileError.
  static llvm::Expected<TemporaryFolder> create();
  TemporaryFolder(TemporaryFolder &&other);
  TemporaryFolder &operator=(TemporaryFolder &&other) = delete;
  ~TemporaryFolder();

  llvm::StringRef path() const { return folder; }
  /// Returns the path of a file in the folder.
  std::string file(llvm::StringRef name) const;

private:
  explicit TemporaryFolder(llvm::StringRef folder) : folder(folder.str()) {}
  /// The path of the folder; empty after the object was moved from.
  std::string folder;
};

} // namespace ingot

#endif // INGOT_CODEGEN_OBJECTS_TEMPORARYFOLDER_H
