//===- Mutate.h - models that are nearly right ------------------*- C++ -*-===//

#ifndef INGOT_TEST_FUZZ_MUTATE_H
#define INGOT_TEST_FUZZ_MUTATE_H

#include "onnx/onnx_pb.h"

#include <random>
#include <string>

namespace ingot::fuzz {

using Random = std::mt19937_64;

/// Models that reach every operator: one node with random inputs, types and
/// attributes.
onnx::ModelProto randomNode(Random &random);
/// A few changes to the structure: shapes, attributes, names, nodes, types.
void mutateModel(onnx::ModelProto &model, Random &random);
/// A few changes to the bytes.
void mutateBytes(std::string &bytes, Random &random);

} // namespace ingot::fuzz

#endif // INGOT_TEST_FUZZ_MUTATE_H
