// Whether operator definitions must use the operations of ONNX (--strict).

#ifndef INGOT_GRAPH_STRICT_H
#define INGOT_GRAPH_STRICT_H

#include "dialects/graph/ElementBuilder.h"

namespace ingot::graph {

/// Whether the module that `b` builds code in is strict: a division must not
/// become a multiplication by the reciprocal, which rounds twice.
bool isStrict(const ElementBuilder &b);

} // namespace ingot::graph

#endif // INGOT_GRAPH_STRICT_H
