#include "compiler/import/FreeTensors.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

using namespace mlir;

namespace ingot {

void freeTensors(MLIRContext &context) {
  auto &manager = DenseResourceElementsHandle::getManagerInterface(&context)
                      .getBlobManager();
  std::vector<std::string> names;
  manager.getBlobMap([&](const auto &entries) {
    for (const auto &entry : entries)
      names.push_back(entry.getKey().str());
  });
  for (const std::string &name : names)
    manager.update(name, {});
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

} // namespace ingot
