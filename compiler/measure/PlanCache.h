// The plans that were found fastest, in a file.
//
//   {"ingot": "0.1.0", "plans": [
//     {"target": "generic", "key": "5f2c...", "group": "conv + relu by ...",
//      "microseconds": 12.3, "plan": {"columns": 32, "rows": 6, ...}}]}
//
// The key is a hash of the group's text, so that it holds for any model with such a
// group; the rest is for people, who may also write a plan by hand.

#ifndef INGOT_COMPILER_MEASURE_PLANCACHE_H
#define INGOT_COMPILER_MEASURE_PLANCACHE_H

#include "compiler/report/Diagnostics.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/JSON.h"

#include <optional>

namespace ingot {

/// A plan as the file and reports have it, and back: what JSON has beyond numbers and
/// words becomes an entry that no strategy takes.
llvm::json::Object planAsJson(mlir::DictionaryAttr plan);
mlir::DictionaryAttr planOfJson(const llvm::json::Object &plan,
                                mlir::MLIRContext &context);

class PlanCache {
public:
  struct Entry {
    std::string target, key, group;
    double microseconds = 0;
    llvm::json::Object plan;
  };

  /// Reads a file, which may be missing; nothing with diagnostics if it is not such
  /// a cache or one of another version.
  static std::optional<PlanCache> read(llvm::StringRef path,
                                       Diagnostics &diagnostics);
  /// Null if there is none.
  const Entry *find(llvm::StringRef target, llvm::StringRef key) const;
  const Entry &add(Entry entry);
  /// False with diagnostics.
  bool write(llvm::StringRef path, Diagnostics &diagnostics) const;

private:
  /// In the order in which they were added.
  std::vector<std::unique_ptr<Entry>> entries;
};

} // namespace ingot

#endif // INGOT_COMPILER_MEASURE_PLANCACHE_H
