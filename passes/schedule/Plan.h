// By which numbers a strategy builds a kernel.
//
//   graph.group "convolution"(%x, %w)
//       {plan = {columns = 32, order = "tiles", rows = 6, splits = 1}} ...
//
// The strategy makes the plan in `decide`, or somebody writes it by hand;
// `schedule` builds what the plan says and chooses nothing again.

#ifndef INGOT_PASSES_SCHEDULE_PLAN_H
#define INGOT_PASSES_SCHEDULE_PLAN_H

#include "mlir/IR/BuiltinAttributes.h"

namespace ingot::schedule {

/// One entry of a strategy's plans: a number between two bounds, or one of some
/// words. What is optional may be missing.
struct PlanKey {
  llvm::StringLiteral name;
  int64_t least = 0, most = 0;
  llvm::ArrayRef<llvm::StringLiteral> words = {};
  bool isOptional = false;
};

/// How many plans strategies offer for a group at most.
inline constexpr size_t mostPlans = 6;

/// The entries of a plan. They are read without checks: whether a plan has what
/// its strategy reads is Strategy::refusal's to say.
class Plan {
public:
  Plan() = default;
  explicit Plan(mlir::DictionaryAttr entries) : entries(entries) {}
  Plan(mlir::MLIRContext *context,
       llvm::ArrayRef<std::pair<llvm::StringRef, int64_t>> numbers,
       llvm::ArrayRef<std::pair<llvm::StringRef, llvm::StringRef>> words = {});

  bool operator==(const Plan &other) const { return entries == other.entries; }
  int64_t number(llvm::StringRef key) const;
  /// The number of an optional entry; nothing if the plan has none.
  std::optional<int64_t> optionalNumber(llvm::StringRef key) const;
  llvm::StringRef word(llvm::StringRef key) const;
  /// Null where there is nothing to choose.
  mlir::DictionaryAttr attribute() const { return entries; }

private:
  mlir::DictionaryAttr entries;
};

/// The plans that `planOf` makes of the first of some choices.
template <typename Choices, typename PlanOf>
llvm::SmallVector<Plan> plansOf(const Choices &ranked, PlanOf planOf) {
  llvm::SmallVector<Plan> plans;
  for (const auto &choice : llvm::ArrayRef(ranked).take_front(mostPlans))
    plans.push_back(planOf(choice));
  return plans;
}

/// Says why `entries` (or null) is not a plan with these keys; empty if it is one.
std::string checkKeys(mlir::DictionaryAttr entries,
                      llvm::ArrayRef<PlanKey> keys);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_PLAN_H
