// Creates models that are nearly valid.

#ifndef INGOT_TEST_FUZZ_MUTATE_H
#define INGOT_TEST_FUZZ_MUTATE_H

#include "onnx/onnx_pb.h"

#include <random>
#include <string>

namespace ingot::fuzz {

using Random = std::mt19937_64;

/// Returns a number in [0, bound); 0 if the bound is 0.
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

/// Returns a number that is usually between -1 and 3, so that later checks are
/// reached; otherwise one that is likely to expose errors.
int64_t smallInteger(Random &random);

/// Returns the bytes of data that the type and shape of `tensor` require; 0 for
/// strings.
size_t tensorBytes(const onnx::TensorProto &tensor);
/// Replaces the data of `tensor` by small random numbers of its type and shape.
void fillTensor(onnx::TensorProto &tensor, Random &random);

/// Returns a model with one node of any operator, with random inputs, types and
/// attributes.
onnx::ModelProto randomNode(Random &random);
/// Returns an attribute with a random value of the given type.
onnx::AttributeProto randomAttribute(const std::string &name,
                                     onnx::AttributeProto::AttributeType type,
                                     Random &random);
void mutateAttribute(onnx::AttributeProto &attr, Random &random);
/// Changes one property of one node: the shape, type or values of an operand,
/// an attribute, the number of operands, or the operator. The model stays
/// consistent otherwise: a constant has as many elements as its shape requires.
void mutateOperator(onnx::ModelProto &model, Random &random);
/// Turns small inputs of the graph into constants, so that the compiler
/// evaluates the nodes that use these constants.
void makeConstant(onnx::GraphProto &graph, Random &random);
/// Makes a few changes to a model's structure: its shapes, attributes, names,
/// nodes or types.
void mutateModel(onnx::ModelProto &model, Random &random);
/// Makes a few random changes to the bytes of a model file.
void mutateBytes(std::string &bytes, Random &random);

} // namespace ingot::fuzz

#endif // INGOT_TEST_FUZZ_MUTATE_H
