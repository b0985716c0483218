#ifndef INGOT_COMPILER_REPORT_READJSON_H
#define INGOT_COMPILER_REPORT_READJSON_H

#include "llvm/Support/JSON.h"

namespace ingot {

/// Parses the JSON of a file of the user. LLVM's parser is recursive, so text
/// that nests too deeply is an error.
llvm::Expected<llvm::json::Value> readJson(llvm::StringRef text);

} // namespace ingot

#endif // INGOT_COMPILER_REPORT_READJSON_H
