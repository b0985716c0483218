#include "compiler/measure/PlanCache.h"
#include "compiler/report/ReadJson.h"

#include "codegen/files/OutputFiles.h"
#include "compiler/Compile.h"
#include "compiler/Faults.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace ingot {

json::Object planAsJson(mlir::DictionaryAttr plan) {
  json::Object object;
  for (mlir::NamedAttribute part : plan)
    if (auto number = dyn_cast<mlir::IntegerAttr>(part.getValue()))
      object[part.getName().getValue()] = number.getInt();
    else
      object[part.getName().getValue()] =
          cast<mlir::StringAttr>(part.getValue()).getValue();
  return object;
}

mlir::DictionaryAttr planOfJson(const json::Object &plan,
                                mlir::MLIRContext &context) {
  mlir::Builder b(&context);
  SmallVector<mlir::NamedAttribute> parts;
  for (const auto &[name, value] : plan) {
    mlir::Attribute part = b.getUnitAttr();
    if (auto number = value.getAsInteger())
      part = b.getI64IntegerAttr(*number);
    else if (auto word = value.getAsString())
      part = b.getStringAttr(*word);
    parts.push_back(b.getNamedAttr(name.str(), part));
  }
  return b.getDictionaryAttr(parts);
}

/// Parses the content of a plan cache (a file with the fastest loop parameters
/// of fusion groups) and calls `add` for each entry. Returns why the text is
/// not a plan cache, or an empty string.
static std::string parse(StringRef text,
                         function_ref<void(PlanCache::Entry)> add) {
  constexpr size_t mostBytes = 64 << 20;
  if (text.size() > mostBytes)
    return "it has more than " + std::to_string(mostBytes) + " bytes";
  Expected<json::Value> root = readJson(text, /*mostLevels=*/16);
  if (!root)
    return "it " + toString(root.takeError());
  json::Object *object = root->getAsObject();
  std::optional<StringRef> version =
      object ? object->getString("ingot") : std::nullopt;
  json::Array *plans = object ? object->getArray("plans") : nullptr;
  if (!version || !plans)
    return "the version `ingot` or the list `plans` is missing";
  if (*version != ingotVersion)
    return ("ingot " + printable(*version) + " wrote it, and this is ingot " +
            ingotVersion)
        .str();
  for (auto [i, value] : enumerate(*plans)) {
    json::Object *entry = value.getAsObject();
    auto text = [&](StringRef name) {
      return entry ? entry->getString(name) : std::nullopt;
    };
    json::Object *plan = entry ? entry->getObject("plan") : nullptr;
    if (!text("target") || !text("key") || !plan)
      return "entry " + std::to_string(i) +
             " of `plans` needs the strings `target` and `key`, and a `plan`";
    add({text("target")->str(), text("key")->str(),
         text("group").value_or("").str(),
         entry->getNumber("microseconds").value_or(0), std::move(*plan)});
  }
  return "";
}

std::optional<PlanCache> PlanCache::read(StringRef path,
                                         Diagnostics &diagnostics) {
  PlanCache cache;
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer && buffer.getError() == std::errc::no_such_file_or_directory)
    return cache;
  std::string why =
      buffer ? parse((*buffer)->getBuffer(),
                     [&](Entry entry) { cache.add(std::move(entry)); })
             : buffer.getError().message();
  if (why.empty())
    return cache;
  diagnostics.reportFile(DiagnosticId::CannotRead, path,
                         "the plans in `" + printable(path) +
                             "` cannot be read: " + printable(why, 400),
                         "delete the file: --tune then creates a new one");
  return std::nullopt;
}

const PlanCache::Entry *PlanCache::find(StringRef target, StringRef key) const {
  for (const auto &entry : entries)
    if (entry->key == key && entry->target == target)
      return entry.get();
  return nullptr;
}

const PlanCache::Entry &PlanCache::add(Entry entry) {
  return *entries.emplace_back(std::make_unique<Entry>(std::move(entry)));
}

bool PlanCache::write(StringRef path, Diagnostics &diagnostics) const {
  auto print = [&](raw_ostream &os) {
    json::OStream json(os, /*IndentSize=*/2);
    json.object([&] {
      json.attribute("ingot", ingotVersion);
      json.attributeArray("plans", [&] {
        for (const auto &entry : entries)
          json.object([&] {
            json.attribute("group", entry->group);
            json.attribute("target", entry->target);
            json.attribute("key", entry->key);
            json.attribute("microseconds",
                           std::round(entry->microseconds * 1000) / 1000);
            json.attribute("plan", json::Object(entry->plan));
          });
      });
    });
    os << "\n";
  };
  if (Error error = writeFile(path, print))
    reportFault(std::move(error), diagnostics);
  return diagnostics.empty();
}

} // namespace ingot
