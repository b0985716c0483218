// Describes a group in words, for readers of the generated code.

#ifndef INGOT_PASSES_LOWER_DESCRIBEGROUP_H
#define INGOT_PASSES_LOWER_DESCRIBEGROUP_H

#include "dialects/graph/GraphDialect.h"

namespace ingot::lower {

/// Returns a description such as "conv + relu by convolution, f32[1,28,28,1] ->
/// f32[1,14,14,8]".
std::string describe(graph::GroupOp group);

} // namespace ingot::lower

#endif // INGOT_PASSES_LOWER_DESCRIBEGROUP_H
