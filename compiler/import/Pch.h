// Precompiled: what every file of this folder needs.
#include "compiler/report/Diagnostics.h"
#include "dialects/graph/OnnxImport.h"
#include "onnx/onnx_pb.h"
#include "llvm/ADT/StringExtras.h"
