#include "passes/schedule/gpu/Neighbours.h"

#include "dialects/kernel/KernelModule.h"

#include <numeric>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

static constexpr llvm::StringLiteral elementsName = "elements";

ArrayRef<PlanKey> elementsKey() {
  static const PlanKey keys[] = {{elementsName, 2, 16, {}, true}};
  return keys;
}

int64_t elementsOfThread(const Plan &plan) {
  return plan.optionalNumber(elementsName).value_or(1);
}

int64_t lanesOfAccess(GroupView group) {
  constexpr int64_t access = 16;
  auto bytes = [](Value v) {
    return kernel::elementBytes(storageType(elementOf(v)));
  };
  int64_t lanes = access / bytes(group.results()[0]);
  for (Value input : group.block->getArguments())
    if (tensorType(input).getNumElements() > 1)
      lanes = std::min(lanes, 2 * access / bytes(input));
  return std::max<int64_t>(lanes, 1);
}

/// Whether all that a group computes are numbers, which lanes can have.
static bool areNumbers(GroupView group) {
  auto isNumber = [](Value v) { return elementOf(v).isIntOrFloat(); };
  return llvm::all_of(group.block->getArguments(), isNumber) &&
         llvm::all_of(group.block->without_terminator(), [&](Operation &op) {
           return llvm::all_of(op.getResults(), isNumber);
         });
}

SmallVector<Plan> plansByElements(GroupView group, ArrayRef<Dim> trips,
                                  int64_t enough,
                                  const TargetDescription &target) {
  if (!target.isDevice() || trips.empty() || !trips.back().known() ||
      !areNumbers(group))
    return {Plan()};
  int64_t elements = lanesOfAccess(group), count = product(trips).most(),
          threads = enough * int64_t(target.device.processors);
  while (elements > 1 &&
         (*trips.back().known() % elements || count / elements < threads))
    elements /= 2;
  SmallVector<Plan> plans;
  MLIRContext *context = group.block->getParentOp()->getContext();
  for (; elements > 1; elements /= 2)
    plans.push_back(Plan(context, {{elementsName, elements}}));
  plans.push_back(Plan());
  return plans;
}

void forNeighbours(KernelBuilder &b, ArrayRef<Dim> trips, int64_t elements,
                   llvm::function_ref<void(ArrayRef<Expr>)> body) {
  elements =
      trips.empty() ? 1 : std::gcd(elements, trips.back().known().value_or(1));
  if (elements == 1)
    return b.forIndependent(trips, body);
  Dims places(trips);
  places.back() = places.back().floorDiv(elements);
  b.forIndependent(places, [&](ArrayRef<Expr> place) {
    Exprs at(place);
    at.back() = at.back() * double(elements);
    b.withLanes(elements, [&]() -> Expr {
      body(at);
      return {};
    });
    named(at.back(), axisName(at.size() - 1, at.size()));
    named(place.back(), "part");
  });
}

} // namespace ingot::schedule
