#include "passes/simplify/Channels.h"

#include "dialects/graph/ops/Movement.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::simplify {

Value perChannel(OpBuilder &builder, Value v, int64_t channels) {
  if (!v.getDefiningOp<ConstantOp>())
    return {};
  int64_t elements = tensorType(v).getNumElements();
  ArrayRef<int64_t> shape = shapeOf(v);
  if (elements != 1 && (elements != channels || shape.back() != channels))
    return {};
  Value flat = buildReshape(builder, v.getLoc(), v, {elements});
  if (elements == channels)
    return flat;
  return ExpandOp::create(builder, v.getLoc(), flat, channels);
}

} // namespace ingot::simplify
