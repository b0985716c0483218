// Writes files completely or not at all.

#ifndef INGOT_CODEGEN_FILES_OUTPUTFILES_H
#define INGOT_CODEGEN_FILES_OUTPUTFILES_H

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace ingot {

/// The files of one compilation. Each file is written under a temporary name in
/// its folder; commit() renames all files to their final names. The destructor
/// (or a signal) removes files that were not committed.
class OutputFiles {
public:
  OutputFiles() = default;
  OutputFiles(const OutputFiles &) = delete;
  OutputFiles &operator=(const OutputFiles &) = delete;
  ~OutputFiles();

  /// Writes a file. Returns an error if, for example, the disk is full or the
  /// folder is missing.
  llvm::Error write(llvm::StringRef path,
                    llvm::function_ref<void(llvm::raw_ostream &)> content);
  /// Copies a file that another program has written.
  llvm::Error copy(llvm::StringRef path, llvm::StringRef from);
  llvm::Error commit();

private:
  struct Pending {
    std::string path, temporary;
  };
  std::vector<Pending> pending;
};

/// Writes one file. Returns an error if, for example, the disk is full or the
/// folder is missing.
llvm::Error writeFile(llvm::StringRef path,
                      llvm::function_ref<void(llvm::raw_ostream &)> content);

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_OUTPUTFILES_H
