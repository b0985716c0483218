// Tests the parts of the onnx C++ library that the importer relies on: schemas
// of all opsets are registered, function operators have bodies, and the
// checker, shape inference, inliner and version converter work.

#include "onnx/checker.h"
#include "onnx/defs/parser.h"
#include "onnx/defs/schema.h"
#include "onnx/inliner/inliner.h"
#include "onnx/shape_inference/implementation.h"
#include "onnx/version_converter/convert.h"
#include <catch2/catch.hpp>

using namespace onnx;

static ModelProto parseModel(const char *text) {
  ModelProto model;
  auto status = OnnxParser::Parse(model, text);
  INFO(status.ErrorMessage());
  REQUIRE(status.IsOK());
  return model;
}

static const char *const reluModel = R"(
  <ir_version: 7, opset_import: ["" : 7]>
  agraph (float[1,3,4] x) => (float[1,3,4] y) {
    t = Relu(x)
    y = Identity(t)
  })";

TEST_CASE("schemas of every opset are registered") {
  for (int version : {7, 13, 21}) {
    const OpSchema *schema = OpSchemaRegistry::Schema("Conv", version, "");
    REQUIRE(schema != nullptr);
    CHECK(schema->Name() == "Conv");
  }
  CHECK(OpSchemaRegistry::Schema("Normalizer", 1, "ai.onnx.ml") != nullptr);
}

TEST_CASE("a function operator has a body") {
  const OpSchema *schema = OpSchemaRegistry::Schema("HardSwish", 14, "");
  REQUIRE(schema != nullptr);
  REQUIRE(schema->HasFunction());
  const FunctionProto *body = schema->GetFunction();
  REQUIRE(body != nullptr);
  CHECK(body->node_size() > 0);
}

TEST_CASE("a context-dependent function operator builds its body") {
  const OpSchema *schema =
      OpSchemaRegistry::Schema("SoftmaxCrossEntropyLoss", 13, "");
  REQUIRE(schema != nullptr);
  CHECK(schema->HasContextDependentFunction());
}

TEST_CASE("the checker accepts a right model and names what is wrong") {
  ModelProto model = parseModel(reluModel);
  CHECK_NOTHROW(checker::check_model(model));
  model.mutable_graph()->mutable_node(0)->set_op_type("NoSuchOperator");
  CHECK_THROWS_WITH(checker::check_model(model),
                    Catch::Contains("NoSuchOperator"));
}

TEST_CASE("shape inference fills in intermediate shapes") {
  ModelProto model = parseModel(reluModel);
  shape_inference::InferShapes(model);
  REQUIRE(model.graph().value_info_size() == 1);
  const auto &shape = model.graph().value_info(0).type().tensor_type().shape();
  REQUIRE(shape.dim_size() == 3);
  CHECK(shape.dim(2).dim_value() == 4);
}

TEST_CASE("the inliner replaces calls of model-local functions") {
  ModelProto model = parseModel(R"(
    <ir_version: 8, opset_import: ["" : 17, "local" : 1]>
    agraph (float[N] x) => (float[N] y) { y = local.twice(x) }
    <domain: "local", opset_import: ["" : 17]>
    twice (a) => (b) { b = Add(a, a) })");
  inliner::InlineLocalFunctions(model);
  REQUIRE(model.graph().node_size() == 1);
  CHECK(model.graph().node(0).op_type() == "Add");
}

TEST_CASE("the version converter raises an old opset") {
  ModelProto model = parseModel(reluModel);
  ModelProto raised = version_conversion::ConvertVersion(model, 13);
  CHECK(raised.opset_import(0).version() == 13);
}
