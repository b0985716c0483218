// Reads NumPy's archives of arrays.

#ifndef INGOT_COMPILER_QUANTIZE_NPZFILE_H
#define INGOT_COMPILER_QUANTIZE_NPZFILE_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace ingot::quantize {

/// An array of the archive: its name without `.npy`, and the content of that
/// file.
struct NpzEntry {
  std::string name, bytes;
};

/// Reads archives written by numpy.savez and numpy.savez_compressed. Nothing,
/// with the reason in `error`, if the file is not such an archive.
std::optional<std::vector<NpzEntry>> readNpz(llvm::StringRef path,
                                             std::string &error);

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_NPZFILE_H
