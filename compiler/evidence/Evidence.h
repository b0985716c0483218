// The option --evidence of `ingot MODEL -o FILE`: writes tables about the
// generated code for those who assess it, for example the lines that compute
// each node of the model, and the bounds of each loop.

#ifndef INGOT_COMPILER_EVIDENCE_EVIDENCE_H
#define INGOT_COMPILER_EVIDENCE_EVIDENCE_H

#include "compiler/measure/Footprint.h"

namespace ingot {

/// The text of deviations.csv: rules of coding standards that generated code
/// deviates from, with reasons.
extern const llvm::StringRef kDeviationsText;

/// Prints the list of deviations as Markdown: a table for each standard, under
/// a heading that begins with `heading`, for example "##".
void printDeviations(llvm::StringRef heading, llvm::raw_ostream &os);

/// Returns the names of the files that writeEvidence writes.
llvm::ArrayRef<llvm::StringRef> evidenceFiles();

/// Writes tables about the code that `compilation` has written to `output`, as
/// files in `folder`. `footprint` is that of the same compilation. On failure,
/// writes none of the files and returns false with diagnostics.
bool writeEvidence(Compilation &compilation, const Footprint &footprint,
                   llvm::StringRef output, llvm::StringRef folder);

} // namespace ingot

#endif // INGOT_COMPILER_EVIDENCE_EVIDENCE_H
