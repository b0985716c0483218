#include "passes/schedule/Plan.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot::schedule {

Plan::Plan(MLIRContext *context,
           ArrayRef<std::pair<StringRef, int64_t>> numbers,
           ArrayRef<std::pair<StringRef, StringRef>> words) {
  Builder b(context);
  SmallVector<NamedAttribute> list;
  for (auto [key, number] : numbers)
    list.push_back(b.getNamedAttr(key, b.getI64IntegerAttr(number)));
  for (auto [key, word] : words)
    list.push_back(b.getNamedAttr(key, b.getStringAttr(word)));
  entries = b.getDictionaryAttr(list);
}

int64_t Plan::number(StringRef key) const {
  return entries.getAs<IntegerAttr>(key).getInt();
}

std::optional<int64_t> Plan::optionalNumber(StringRef key) const {
  auto entry = entries ? entries.getAs<IntegerAttr>(key) : IntegerAttr();
  return entry ? std::make_optional(entry.getInt()) : std::nullopt;
}

StringRef Plan::word(StringRef key) const {
  return entries.getAs<StringAttr>(key).getValue();
}

/// Returns why `entry` is not a valid value of `key`; empty if it is valid.
static std::string checkEntry(Attribute entry, const PlanKey &key) {
  if (!key.words.empty()) {
    auto word = dyn_cast<StringAttr>(entry);
    if (word && llvm::is_contained(key.words, word.getValue()))
      return "";
    return "must be \"" + llvm::join(key.words, "\" or \"") + "\"";
  }
  auto number = dyn_cast<IntegerAttr>(entry);
  if (number && number.getType().isSignlessInteger(64) &&
      number.getInt() >= key.least && number.getInt() <= key.most)
    return "";
  return "must be an integer of 64 bits from " + std::to_string(key.least) +
         " to " + std::to_string(key.most);
}

std::string checkKeys(DictionaryAttr entries, ArrayRef<PlanKey> keys) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!entries &&
      llvm::any_of(keys, [](const PlanKey &key) { return !key.isOptional; }))
    return "the kernel has no plan";
  for (const PlanKey &key : keys) {
    Attribute entry = entries ? entries.get(key.name) : Attribute();
    if (!entry && key.isOptional)
      continue;
    if (!entry)
      return ("the plan has no '" + key.name + "'").str();
    if (std::string rule = checkEntry(entry, key); !rule.empty()) {
      os << "the plan has " << key.name << " = " << entry << ", which " << rule;
      return text;
    }
  }
  for (NamedAttribute entry :
       entries ? entries.getValue() : ArrayRef<NamedAttribute>())
    if (llvm::none_of(keys, [&](const PlanKey &key) {
          return key.name == entry.getName();
        }))
      return "the plan has '" + entry.getName().str() +
             "', which is not a key of the strategy";
  return text;
}

} // namespace ingot::schedule
