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

} // namespace ingot
