// Summarizes a model file, also one that cannot be compiled.

#ifndef INGOT_COMPILER_IMPORT_SUMMARY_H
#define INGOT_COMPILER_IMPORT_SUMMARY_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace onnx {
class ModelProto;
class TypeProto;
} // namespace onnx

namespace ingot {

struct ModelSummary {
  struct Value {
    std::string name;
    /// The type as text, such as "float32[batch,3,224,224]".
    std::string type;
  };
  std::string producer;
  int64_t irVersion = 0;
  std::map<std::string, int64_t> opsets;
  std::vector<Value> inputs, outputs;
  int64_t nodes = 0, functions = 0;
  /// The number of occurrences of each operator, including subgraphs and
  /// functions.
  std::map<std::string, int64_t> operators;
  int64_t initializers = 0, initializerBytes = 0;
};

/// Returns a type as text, such as "float32[1,?]" or "sequence of float32[n]".
std::string typeText(const onnx::TypeProto &type);

ModelSummary summarize(const onnx::ModelProto &model);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_SUMMARY_H
