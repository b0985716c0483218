// Precompiled: what most files of this folder need.
#include "compiler/Compile.h"
#include "compiler/run/DataSets.h"
#include "onnx/onnx_pb.h"
#include "llvm/ADT/StringSet.h"
