#include "passes/schedule/gpu/Neighbours.h"

#include "dialects/kernel/KernelModule.h"
#include "passes/schedule/ExecutionModel.h"

#include <numeric>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

static constexpr llvm::StringLiteral elementsName = "elements";

ArrayRef<PlanKey> elementsKey() {
  static const PlanKey keys[] = {{elementsName, 2, 32, {}, true}};
  return keys;
}

int64_t elementsOfThread(const Plan &plan) {
  return plan.optionalNumber(elementsName).value_or(1);
}

constexpr int64_t access = 16;

static int64_t bytesOfElement(Value v) {
  return kernel::elementBytes(storageType(elementOf(v)));
}

int64_t elementsOfAccess(GroupView group, int64_t accesses) {
  int64_t elements = accesses * access;
  for (Value input : group.block->getArguments())
    if (tensorType(input).getNumElements() > 1)
      elements = std::min(elements, accesses * access / bytesOfElement(input));
  return std::max<int64_t>(elements, 1);
}

int64_t lanesOfAccess(GroupView group) {
  return std::max<int64_t>(std::min(access / bytesOfElement(group.results()[0]),
                                    elementsOfAccess(group, 2)),
                           1);
}

/// Whether all tensors of the group have elements that vectors can hold:
/// integers or floats.
static bool areNumbers(GroupView group) {
  auto isNumber = [](Value v) { return elementOf(v).isIntOrFloat(); };
  return llvm::all_of(group.block->getArguments(), isNumber) &&
         llvm::all_of(group.block->without_terminator(), [&](Operation &op) {
           return llvm::all_of(op.getResults(), isNumber);
         });
}

/// Returns a plan for each number of elements per thread among `most`, `most` /
/// 2, ... that is greater than `least` and satisfies `fits`, and finally a plan
/// without entries.
static SmallVector<Plan> plansOfSizes(GroupView group, int64_t least,
                                      int64_t most,
                                      llvm::function_ref<bool(int64_t)> fits) {
  MLIRContext *context = group.block->getParentOp()->getContext();
  SmallVector<Plan> plans;
  for (int64_t elements = most; elements > least; elements /= 2)
    if (fits(elements))
      plans.push_back(Plan(context, {{elementsName, elements}}));
  plans.push_back(Plan());
  return plans;
}

SmallVector<Plan> plansByElements(GroupOnTarget group, ArrayRef<Dim> trips,
                                  const Dim &run, int64_t enough) {
  if (!modelOf(group.target).accessBytes || trips.empty() || !run.known() ||
      !areNumbers(group))
    return {Plan()};
  int64_t count = product(trips).most(),
          threads = enough * int64_t(group.target.device.multiprocessors);
  return plansOfSizes(group, 1, lanesOfAccess(group), [&](int64_t elements) {
    return *run.known() % elements == 0 && count / elements >= threads;
  });
}

SmallVector<Plan> plansByRows(GroupOnTarget group, ArrayRef<Dim> trips,
                              int64_t enough) {
  constexpr int64_t mostColumns = 4;
  if (!modelOf(group.target).accessBytes || trips.size() < 2 ||
      !trips.back().known() || *trips.back().known() > mostColumns ||
      !trips[trips.size() - 2].known() || !areNumbers(group))
    return {};
  int64_t columns = *trips.back().known(), size = elementsOfAccess(group);
  int64_t count = product(trips).most(),
          threads = enough * int64_t(group.target.device.multiprocessors);
  return plansOfSizes(
      group, columns, columns * std::min<int64_t>(size, 8),
      [&](int64_t elements) {
        return *trips[trips.size() - 2].known() % (elements / columns) == 0 &&
               count / elements >= threads;
      });
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

bool forNeighbourRows(KernelBuilder &b, ArrayRef<Dim> trips, int64_t elements,
                      llvm::function_ref<Expr(ArrayRef<Expr>)> element,
                      llvm::function_ref<void(Expr, ArrayRef<Expr>)> store) {
  if (trips.size() < 2 || !trips.back().known())
    return false;
  int64_t columns = *trips.back().known(), rows = elements / columns;
  const Dim &outer = trips[trips.size() - 2];
  if (columns == 0 || elements % columns || rows < 2 || !outer.known() ||
      *outer.known() % rows)
    return false;
  Dims places(trips);
  places.back() = 1;
  places[places.size() - 2] = outer.floorDiv(rows);
  b.forIndependent(places, [&](ArrayRef<Expr> place) {
    SmallVector<std::pair<Expr, Exprs>> all;
    size_t rowAxis = place.size() - 2;
    Expr first =
        named(place[rowAxis] * double(rows), axisName(rowAxis, place.size()));
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column) {
        Exprs at(place);
        at[rowAxis] = first + double(row);
        at.back() = b.index(column);
        all.push_back({element(at), at});
      }
    for (auto &[value, at] : all)
      store(value, at);
    named(place[rowAxis], "part");
  });
  return true;
}

} // namespace ingot::schedule
