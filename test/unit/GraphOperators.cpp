// Checks that valid code is built from the definition (the rule that computes
// one element) of every elementwise operator, reduction and normalization, for
// each element type that it supports, as scalar and as vector code.

#include "test/unit/Definition.h"

TEST_CASE_METHOD(Definition, "functions of one number build on floats") {
  for (const char *op :
       {"graph.abs",        "graph.neg",
        "graph.sign",       "graph.reciprocal",
        "graph.floor",      "graph.ceil",
        "graph.round",      "graph.sqrt",
        "graph.exp",        "graph.log",
        "graph.erf",        "graph.sin",
        "graph.cos",        "graph.tan",
        "graph.asin",       "graph.acos",
        "graph.atan",       "graph.sinh",
        "graph.cosh",       "graph.tanh",
        "graph.asinh",      "graph.acosh",
        "graph.atanh",      "graph.relu",
        "graph.leaky_relu", "graph.thresholded_relu",
        "graph.sigmoid",    "graph.hard_sigmoid",
        "graph.hard_swish", "graph.swish",
        "graph.elu",        "graph.celu",
        "graph.selu",       "graph.softplus",
        "graph.softsign",   "graph.mish",
        "graph.gelu",       "graph.gelu {approximate = \"tanh\"}",
        "graph.shrink"}) {
    for (const char *type : {"f32", "f64", "f16", "bf16"}) {
      INFO(op << " on " << type);
      CHECK(builds(module(op, {tensor(type)}, tensor(type))));
    }
  }
}

TEST_CASE_METHOD(Definition, "functions of floats build on integers") {
  for (const char *type : {"si8", "ui16", "si32", "ui64"})
    CHECK(builds(module("graph.erf", {tensor(type)}, tensor(type))));
}

TEST_CASE_METHOD(Definition, "arithmetic builds on every numeric type") {
  for (const char *op : {"graph.add", "graph.sub", "graph.mul", "graph.div",
                         "graph.mod", "graph.mod {fmod = 1 : i64}", "graph.pow",
                         "graph.maximum", "graph.minimum", "graph.prelu"}) {
    for (const char *type : {"f32", "f64", "f16", "bf16", "si8", "si16", "si32",
                             "si64", "ui8", "ui16", "ui32", "ui64"}) {
      INFO(op << " on " << type);
      CHECK(builds(module(op, {tensor(type), tensor(type)}, tensor(type))));
      CHECK(builds(
          module(op, {tensor(type), std::string("tensor<2x1x") + type + ">"},
                 tensor(type))));
      CHECK(
          builds(module(op, {std::string("tensor<") + type + ">", tensor(type)},
                        tensor(type))));
    }
  }
  CHECK(builds(
      module("graph.pow", {tensor("si32"), tensor("f32")}, tensor("si32"))));
  CHECK(builds(
      module("graph.pow", {tensor("f16"), tensor("si64")}, tensor("f16"))));
}

TEST_CASE_METHOD(Definition, "comparisons, logic and bits build") {
  for (const char *op : {"graph.equal", "graph.less", "graph.less_or_equal",
                         "graph.greater", "graph.greater_or_equal"})
    for (const char *type :
         {"f32", "f64", "f16", "si8", "si64", "ui8", "ui64", "i1"})
      CHECK(builds(module(op, {tensor(type), tensor(type)}, tensor("i1"))));
  for (const char *op : {"graph.and", "graph.or", "graph.xor"})
    for (const char *type : {"i1", "si8", "ui64"})
      CHECK(builds(module(op, {tensor(type), tensor(type)}, tensor(type))));
  for (const char *op :
       {"graph.is_nan", "graph.is_inf",
        "graph.is_inf {detect_negative = 0 : i64}",
        "graph.is_inf {detect_negative = 0 : i64, detect_positive = 0 : i64}"})
    CHECK(builds(module(op, {tensor("f16")}, tensor("i1"))));
  for (const char *type : {"si8", "si64", "ui16"}) {
    CHECK(builds(
        module("graph.bit_shift", {tensor(type), tensor(type)}, tensor(type))));
    CHECK(builds(module("graph.bit_shift {direction = \"RIGHT\"}",
                        {tensor(type), tensor(type)}, tensor(type))));
  }
  CHECK(builds(module("graph.mul_high", {tensor("si32"), tensor("si32")},
                      tensor("si32"))));
  CHECK(builds(module("graph.not", {tensor("i1")}, tensor("i1"))));
  CHECK(builds(module("graph.where",
                      {"tensor<1x8xi1>", tensor("f16"), "tensor<f16>"},
                      tensor("f16"))));
}

TEST_CASE_METHOD(Definition, "conversions build between all types") {
  const std::vector<std::string> types{
      "f64",    "f32",        "f16",       "bf16",     "f8E4M3FN", "f8E4M3FNUZ",
      "f8E5M2", "f8E5M2FNUZ", "f8E8M0FNU", "f4E2M1FN", "si64",     "si32",
      "si16",   "si8",        "si4",       "si2",      "ui64",     "ui32",
      "ui16",   "ui8",        "ui4",       "ui2",      "i1"};
  for (const std::string &from : types)
    for (const std::string &to : types) {
      INFO(from << " to " << to);
      CHECK(builds(module("graph.cast", {tensor(from)}, tensor(to))));
    }
  CHECK(
      builds(module("graph.cast {round_mode = \"nearest\", saturate = 0 : i64}",
                    {tensor("f32")}, tensor("f8E8M0FNU"))));
  CHECK(builds(module("graph.bit_cast", {tensor("f16")}, tensor("si16"))));
  CHECK(builds(module("graph.bit_cast", {tensor("ui64")}, tensor("f64"))));
  for (const char *type : {"si8", "ui8", "si16", "f8E4M3FN", "si4"}) {
    CHECK(builds(module(
        "graph.quantize",
        {tensor("f32"), "tensor<f32>", std::string("tensor<") + type + ">"},
        tensor(type))));
    CHECK(builds(module("graph.dequantize",
                        {tensor(type), "tensor<2x1xf16>",
                         std::string("tensor<2x1x") + type + ">"},
                        tensor("f16"))));
  }
}

TEST_CASE_METHOD(Definition, "reductions build along any axes") {
  for (const char *op :
       {"reduce_sum", "reduce_mean", "reduce_prod", "reduce_max", "reduce_min",
        "reduce_l1", "reduce_l2", "reduce_sum_square", "reduce_log_sum"})
    for (std::string type : {"f32", "f64", "f16", "si32", "ui64"}) {
      INFO(op << " on " << type);
      auto reduce = [&](const char *axes) {
        return std::string("graph.") + op + " {axes = array<i64" + axes + ">}";
      };
      CHECK(builds(module(reduce(": 0"), {"tensor<3x8x" + type + ">"},
                          "tensor<1x8x" + type + ">")));
      CHECK(builds(module(reduce(": 1"), {"tensor<3x8x" + type + ">"},
                          "tensor<3x1x" + type + ">"),
                   1));
      CHECK(builds(module(reduce(": 0, 1"), {"tensor<0x8x" + type + ">"},
                          "tensor<1x1x" + type + ">"),
                   1));
      CHECK(builds(module(reduce(""), {"tensor<3x8x" + type + ">"},
                          "tensor<3x8x" + type + ">")));
    }
  CHECK(builds(module("graph.reduce_max {axes = array<i64: 1>}",
                      {"tensor<3x8xi1>"}, "tensor<3x1xi1>"),
               1));
  for (const char *op : {"graph.arg_max {axis = 0 : i64, last = false}",
                         "graph.arg_min {axis = 0 : i64, last = true}"})
    for (std::string type : {"f32", "f16", "si8", "ui64"})
      CHECK(
          builds(module(op, {"tensor<3x8x" + type + ">"}, "tensor<1x8xsi64>")));
  CHECK(builds(
      module("graph.cum_sum {axis = 0 : i64, exclusive = true, reverse = true}",
             {tensor("f16")}, tensor("f16"))));
  CHECK(builds(module(
      "graph.cum_prod {axis = 1 : i64, exclusive = false, reverse = false}",
      {tensor("si32")}, tensor("si32"))));
}

TEST_CASE_METHOD(Definition,
                 "softmax and normalizations build along any axis") {
  for (std::string type : {"f32", "f64", "f16", "bf16"})
    for (const char *op :
         {"graph.softmax {axis = 0 : i64}", "graph.softmax {axis = 1 : i64}",
          "graph.log_softmax {axis = 0 : i64}",
          "graph.log_softmax {axis = 1 : i64}",
          "graph.lrn {axis = 0 : i64, size = 3 : i64, alpha = 1.0 : f32, beta "
          "= 0.75 : f32, bias = 1.0 : f32}",
          "graph.layer_norm {epsilon = 1.0e-5 : f32, center = true}",
          "graph.layer_norm {epsilon = 1.0e-5 : f32, center = false}"}) {
      INFO(op << " on " << type);
      CHECK(builds(module(op, {"tensor<3x11x" + type + ">"},
                          "tensor<3x11x" + type + ">")));
    }
  CHECK(
      builds(module("graph.layer_norm {epsilon = 1.0e-5 : f32, center = true}",
                    {"tensor<3x11xf16>", "tensor<11xf16>", "tensor<11xf16>"},
                    "tensor<3x11xf16>")));
}
