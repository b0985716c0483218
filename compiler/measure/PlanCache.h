// A file with the fastest plan (loop parameters) of each timed fusion group.
//
//   {"ingot": "0.1.0", "plans": [
//     {"target": "generic", "key": "5f2c...", "group": "conv + relu by ...",
//      "microseconds": 12.3, "plan": {"columns": 32, "rows": 6, ...}}]}
//
// The key is a hash of the group's IR, so that an entry applies to any model
// with the same group. The other fields are informative for people, who may
// also write a plan by hand.

#ifndef INGOT_COMPILER_MEASURE_PLANCACHE_H
#define INGOT_COMPILER_MEASURE_PLANCACHE_H

#include "compiler/report/Diagnostics.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/JSON.h"

#include <optional>

namespace ingot {

/// Convert a plan (loop parameters of a group) to the JSON of plan caches and
/// reports, and back. JSON values other than numbers and strings become entries
/// that are rejected when the plan is used.
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

  /// Reads a plan cache, a file of the fastest loop parameters. Returns an
  /// empty one if the file does not exist; nullopt with diagnostics if the file
  /// is not a plan cache or is one of another version.
  static std::optional<PlanCache> read(llvm::StringRef path,
                                       Diagnostics &diagnostics);
  /// Returns the entry for a target and the key of a group; null if there is
  /// none.
  const Entry *find(llvm::StringRef target, llvm::StringRef key) const;
  const Entry &add(Entry entry);
  /// Writes the file; false with diagnostics on failure.
  bool write(llvm::StringRef path, Diagnostics &diagnostics) const;

private:
  /// The entries in the order of insertion.
  std::vector<std::unique_ptr<Entry>> entries;
};

} // namespace ingot

#endif // INGOT_COMPILER_MEASURE_PLANCACHE_H
