#ifndef INGOT_COMPILER_REPORT_READJSON_H
#define INGOT_COMPILER_REPORT_READJSON_H

#include "llvm/Support/JSON.h"

namespace ingot {

/// Parses JSON from a user's file. LLVM's parser is recursive, so text with
/// more than `mostLevels` nested arrays and objects is an error. Error messages
/// have no subject, so that the caller can put the file name before them: "is
/// not JSON: ...", "nests deeper than 100 levels".
llvm::Expected<llvm::json::Value> readJson(llvm::StringRef text,
                                           int mostLevels = 100);

} // namespace ingot

#endif // INGOT_COMPILER_REPORT_READJSON_H
