// Precompiled header: the headers outside this folder that most of its files
// include.
#include "compiler/Compile.h"
#include "compiler/run/DataSets.h"
#include "onnx/onnx_pb.h"
#include "llvm/ADT/StringSet.h"
