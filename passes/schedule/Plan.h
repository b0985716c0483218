// The parameters by which a strategy builds a kernel.
//
//   graph.group "convolution"(%x, %w)
//       {plan = {columns = 32, order = "tiles", rows = 6, splits = 1}} ...
//
// The strategy chooses the plan in stage `decide`, or a user writes it by hand;
// stage `schedule` follows the plan and makes no further choices.

#ifndef INGOT_PASSES_SCHEDULE_PLAN_H
#define INGOT_PASSES_SCHEDULE_PLAN_H

#include "mlir/IR/BuiltinAttributes.h"

namespace ingot::schedule {

/// Describes an entry of a strategy's plans: an integer between two bounds, or
/// one of several words. Optional entries may be missing.
struct PlanKey {
  llvm::StringLiteral name;
  int64_t least = 0, most = 0;
  llvm::ArrayRef<llvm::StringLiteral> words = {};
  bool isOptional = false;
};

/// The most plans that a strategy offers for a group.
inline constexpr size_t mostPlans = 6;

/// The entries of a plan. Reads are unchecked: Strategy::refuse and checkKeys
/// validate the plan first.
class Plan {
public:
  Plan() = default;
  explicit Plan(mlir::DictionaryAttr entries) : entries(entries) {}
  Plan(mlir::MLIRContext *context,
       llvm::ArrayRef<std::pair<llvm::StringRef, int64_t>> numbers,
       llvm::ArrayRef<std::pair<llvm::StringRef, llvm::StringRef>> words = {});

  bool operator==(const Plan &other) const { return entries == other.entries; }
  int64_t number(llvm::StringRef key) const;
  /// Returns the number of an optional entry; nothing if the plan lacks it.
  std::optional<int64_t> optionalNumber(llvm::StringRef key) const;
  llvm::StringRef word(llvm::StringRef key) const;
  /// Returns the plan as an attribute of a group; null if the strategy has
  /// nothing to choose.
  mlir::DictionaryAttr attribute() const { return entries; }

private:
  mlir::DictionaryAttr entries;
};

/// Returns the plans that `planOf` makes of the first mostPlans elements of
/// `ranked`, which is sorted from best to worst.
template <typename Choices, typename PlanOf>
llvm::SmallVector<Plan> plansOf(const Choices &ranked, PlanOf planOf) {
  llvm::SmallVector<Plan> plans;
  for (const auto &choice : llvm::ArrayRef(ranked).take_front(mostPlans))
    plans.push_back(planOf(choice));
  return plans;
}

/// Returns why `entries` (may be null) is not a plan with these keys; empty if
/// it is valid.
std::string checkKeys(mlir::DictionaryAttr entries,
                      llvm::ArrayRef<PlanKey> keys);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_PLAN_H
