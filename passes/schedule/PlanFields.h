// Plans whose entries are the fields of a struct, for example of a tile.

#ifndef INGOT_PASSES_SCHEDULE_PLANFIELDS_H
#define INGOT_PASSES_SCHEDULE_PLANFIELDS_H

#include "passes/schedule/Plan.h"

namespace ingot::schedule {

/// The entries of a strategy's plans, each of which sets one field of `Tile`.
template <typename Tile> class PlanFields {
public:
  PlanFields(
      std::initializer_list<std::pair<PlanKey, int64_t Tile::*>> entries) {
    for (const auto &[key, field] : entries) {
      all.push_back(key);
      fields.push_back(field);
    }
  }

  llvm::ArrayRef<PlanKey> keys() const { return all; }

  /// Returns the plans of the first mostPlans elements of `ranked`, which is
  /// sorted from best to worst.
  llvm::SmallVector<Plan> plans(mlir::MLIRContext *context,
                                const std::vector<Tile> &ranked) const {
    return plansOf(ranked, [&](const Tile &tile) {
      llvm::SmallVector<std::pair<llvm::StringRef, int64_t>> numbers;
      for (auto [key, field] : llvm::zip_equal(all, fields))
        numbers.push_back({key.name, tile.*field});
      return Plan(context, numbers);
    });
  }

  /// Returns `tile` with its fields set from the plan. The fields of optional
  /// entries that the plan lacks stay unchanged.
  Tile tileOf(const Plan &plan, Tile tile = {}) const {
    for (auto [key, field] : llvm::zip_equal(all, fields))
      tile.*field = plan.optionalNumber(key.name).value_or(tile.*field);
    return tile;
  }

private:
  llvm::SmallVector<PlanKey, 0> all;
  llvm::SmallVector<int64_t Tile::*, 0> fields;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_PLANFIELDS_H
