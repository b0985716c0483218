// Scratch space that never stays.

#ifndef INGOT_CODEGEN_OBJECTS_TEMPORARYFOLDER_H
#define INGOT_CODEGEN_OBJECTS_TEMPORARYFOLDER_H

#include "llvm/Support/Error.h"

#include <string>

namespace ingot {

/// A folder in TMPDIR, removed with its contents at the end or by a signal.
class TemporaryFolder {
public:
  /// Makes the folder; the error is a FileError that says why there is none.
  static llvm::Expected<TemporaryFolder> create();
  TemporaryFolder(TemporaryFolder &&other);
  TemporaryFolder &operator=(TemporaryFolder &&other) = delete;
  ~TemporaryFolder();

  llvm::StringRef path() const { return folder; }
  /// Returns the path of a file in it.
  std::string file(llvm::StringRef name) const;

private:
  explicit TemporaryFolder(llvm::StringRef folder) : folder(folder.str()) {}
  /// Empty once moved from.
  std::string folder;
};

} // namespace ingot

#endif // INGOT_CODEGEN_OBJECTS_TEMPORARYFOLDER_H
