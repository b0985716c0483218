// Precompiled header: the headers that every file of this folder needs.
#include "compiler/import/operators/OnnxImport.h"
#include "compiler/report/Diagnostics.h"
#include "onnx/onnx_pb.h"
#include "llvm/ADT/StringExtras.h"
