// Reads NumPy's archives of arrays.

#ifndef INGOT_COMPILER_QUANTIZE_NPZFILE_H
#define INGOT_COMPILER_QUANTIZE_NPZFILE_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace ingot::quantize {

/// An array of an .npz archive: its name without `.npy`, and the bytes of the
/// .npy file.
struct NpzEntry {
  std::string name, bytes;
};

/// Reads an archive written by numpy.savez or numpy.savez_compressed. Returns
/// nothing, with the reason in `error`, if the file is not such an archive.
std::optional<std::vector<NpzEntry>> readNpz(llvm::StringRef path,
                                             std::string &error);

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_NPZFILE_H
