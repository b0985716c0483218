// Precompiled header: the includes that every file of this folder needs.
#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
