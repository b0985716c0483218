// The import functions of Resize and Upsample.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_RESIZE_H
#define INGOT_COMPILER_IMPORT_OPERATORS_RESIZE_H

#include "compiler/import/operators/OnnxImport.h"

namespace ingot::graph {

ImportResult importResize(OnnxNode &node);
ImportResult importUpsample(OnnxNode &node);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_RESIZE_H
