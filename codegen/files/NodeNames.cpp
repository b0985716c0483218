#include "codegen/files/NodeNames.h"

using namespace mlir;

namespace ingot {

llvm::SetVector<StringRef> nodesOf(Location location) {
  llvm::SetVector<StringRef> names;
  location->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part))
      names.insert(name.getName().getValue());
    return WalkResult::advance();
  });
  return names;
}

std::string nodesText(Location location) {
  constexpr size_t limit = 200;
  std::string text;
  for (StringRef name : nodesOf(location)) {
    if (text.size() + name.size() > limit)
      return text.empty() ? name.take_front(limit).str() : text + ", ...";
    text += (text.empty() ? "" : ", ") + name.str();
  }
  return text;
}

} // namespace ingot
