// The parts of the page of `ingot report`, as strings.

#ifndef INGOT_COMPILER_INSPECT_PAGEPARTS_H
#define INGOT_COMPILER_INSPECT_PAGEPARTS_H

#include "llvm/ADT/StringRef.h"

namespace ingot {

extern const llvm::StringRef kPageHtml, kPageStyle, kPageScript, kPageLicenses;
/// The libraries d3 and dagre; empty if they were not installed when this
/// program was built.
extern const llvm::StringRef kD3, kDagre;

} // namespace ingot

#endif // INGOT_COMPILER_INSPECT_PAGEPARTS_H
