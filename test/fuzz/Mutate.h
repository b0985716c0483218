// Models that are nearly right.

#ifndef INGOT_TEST_FUZZ_MUTATE_H
#define INGOT_TEST_FUZZ_MUTATE_H

#include "onnx/onnx_pb.h"

#include <random>
#include <string>

namespace ingot::fuzz {

using Random = std::mt19937_64;

/// A number in [0, bound); 0 if the bound is 0.
inline size_t below(Random &random, size_t bound) {
  return bound ? random() % bound : 0;
}

template <typename List> auto &pick(List &list, Random &random) {
  return *list.Mutable(static_cast<int>(below(random, list.size())));
}

template <typename List> void dropLast(List &list) {
  if (list.size())
    list.RemoveLast();
}

/// Mostly from -1 to 3, so that what comes behind is reached; else one of the
/// numbers at which code goes wrong.
int64_t smallInteger(Random &random);

/// Bytes of the data that the type and the shape ask for; none of strings.
size_t tensorBytes(const onnx::TensorProto &tensor);
/// Replaces the data by small random numbers that fit type and shape.
void fillTensor(onnx::TensorProto &tensor, Random &random);

/// Models that reach every operator: one node with random inputs, types and
/// attributes.
onnx::ModelProto randomNode(Random &random);
/// A value for an attribute that fits its declared type.
onnx::AttributeProto randomAttribute(const std::string &name,
                                     onnx::AttributeProto::AttributeType type,
                                     Random &random);
void mutateAttribute(onnx::AttributeProto &attr, Random &random);
/// Changes one thing about one node: the shape, the type or the values of an
/// operand, an attribute, the number of operands, the operator. All else stays
/// consistent: a constant has as many elements as its shape says.
void mutateOperator(onnx::ModelProto &model, Random &random);
/// Gives small inputs values, so that what reads them is computed by the
/// compiler.
void makeConstant(onnx::GraphProto &graph, Random &random);
/// A few changes to the structure: shapes, attributes, names, nodes, types.
void mutateModel(onnx::ModelProto &model, Random &random);
/// A few changes to the bytes.
void mutateBytes(std::string &bytes, Random &random);

} // namespace ingot::fuzz

#endif // INGOT_TEST_FUZZ_MUTATE_H
