#ifndef INGOT_COMPILER_REPORT_READJSON_H
#define INGOT_COMPILER_REPORT_READJSON_H

#include "llvm/Support/JSON.h"

namespace ingot {

/// Parses the JSON of a file of the user. LLVM's parser is recursive, so text
/// that nests deeper than `mostLevels` is an error. The message of an error has
/// no subject: "is not JSON: ...", "nests deeper than 100 levels".
llvm::Expected<llvm::json::Value> readJson(llvm::StringRef text,
                                           int mostLevels = 100);

} // namespace ingot

#endif // INGOT_COMPILER_REPORT_READJSON_H
