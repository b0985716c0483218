// Checks that valid code is built from the definitions (rules that compute one
// element) of operators that move elements, as scalar and as vector code.

#include "test/unit/Definition.h"

TEST_CASE_METHOD(Definition, "movers build") {
  for (std::string type : {"f32", "f16", "si8", "i1"}) {
    INFO(type);
    auto t = [&](const char *shape) {
      return std::string("tensor<") + shape + "x" + type + ">";
    };
    CHECK(builds(module("graph.transpose {perm = array<i64: 1, 0, 2>}",
                        {t("2x3x8")}, t("3x2x8"))));
    CHECK(builds(module("graph.transpose {perm = array<i64: 2, 0, 1>}",
                        {t("2x3x8")}, t("8x2x3")),
                 1));
    CHECK(builds(module("graph.reshape", {t("6x8")}, t("2x3x1x8"))));
    CHECK(builds(module("graph.reshape", {t("6x16")}, t("2x3x2x8"))));
    CHECK(builds(module("graph.reshape", {t("2x3x2x8")}, t("6x16"))));
    CHECK(builds(module("graph.slice {starts = array<i64: 4, 1>, steps = "
                        "array<i64: -2, 1>}",
                        {t("5x12")}, t("3x8"))));
    CHECK(builds(module("graph.concat {axis = 0 : i64}",
                        {t("1x8"), t("2x8"), t("3x8")}, t("6x8"))));
    CHECK(builds(module("graph.concat {axis = 1 : i64}", {t("2x3"), t("2x5")},
                        t("2x8"))));
    CHECK(builds(module("graph.expand", {t("3x1")}, t("2x3x8"))));
    CHECK(builds(module("graph.expand", {t("8")}, t("2x3x8"))));
    CHECK(builds(module("graph.tile", {t("2x4")}, t("4x8"))));
    CHECK(builds(module("graph.tile", {t("2x1")}, t("4x8"))));
    CHECK(builds(module("graph.gather {axis = 0 : i64}",
                        {t("5x8"), "tensor<2x3xsi32>"}, t("2x3x8"))));
    CHECK(builds(module("graph.gather {axis = 1 : i64, in_range}",
                        {t("5x8"), "tensor<8xui8>"}, t("5x8"))));
    for (const char *mode : {"constant", "reflect", "edge", "wrap"}) {
      std::string pad = std::string("graph.pad {mode = \"") + mode + "\", low";
      std::string scalar = "tensor<" + type + ">";
      CHECK(builds(
          module(pad + " = array<i64: 1, 0>}", {t("5x8"), scalar}, t("9x8"))));
      CHECK(builds(
          module(pad + " = array<i64: 9, 3>}", {t("5x2"), scalar}, t("22x8"))));
    }
  }
}

TEST_CASE_METHOD(Definition, "movers with indices build") {
  for (std::string type : {"f32", "bf16", "si64", "ui8"}) {
    INFO(type);
    auto t = [&](const char *shape) {
      return std::string("tensor<") + shape + "x" + type + ">";
    };
    CHECK(builds(module("graph.gather_elements {axis = 0 : i64}",
                        {t("5x8"), "tensor<3x8xsi64>"}, t("3x8"))));
    CHECK(builds(module("graph.gather_nd {batch_dims = 1 : i64}",
                        {t("2x5x8"), "tensor<2x3x1xsi64>"}, t("2x3x8"))));
    CHECK(builds(module(
        "graph.reverse_sequence {batch_axis = 0 : i64, time_axis = 1 : i64}",
        {t("2x5x8"), "tensor<2xsi64>"}, t("2x5x8"))));
    for (const char *circular : {"", ", circular"})
      CHECK(builds(module(
          std::string("graph.tensor_scatter {axis = 1 : i64") + circular + "}",
          {t("2x5x8"), t("2x3x8"), "tensor<2xsi64>"}, t("2x5x8"))));
    CHECK(builds(module("graph.one_hot {axis = 1 : i64}",
                        {"tensor<3xf32>", t("2")}, t("3x8"))));
    CHECK(builds(
        module("graph.trilu {k = -1 : i64, upper}", {t("2x8")}, t("2x8"))));
    for (const char *reduction : {"none", "add", "mul", "max", "min"}) {
      std::string attr = std::string("reduction = \"") + reduction + "\"";
      CHECK(
          builds(module("graph.scatter_elements {axis = 0 : i64, " + attr + "}",
                        {t("5x8"), "tensor<3x8xsi64>", t("3x8")}, t("5x8"))));
      CHECK(builds(module("graph.scatter_nd {" + attr + "}",
                          {t("5x8"), "tensor<3x1xsi32>", t("3x8")}, t("5x8"))));
    }
    CHECK(builds(module(
        "graph.col2im {block = array<i64: 2, 2>, counts = array<i64: 2, 2>, "
        "strides = array<i64: 2, 3>, dilations = array<i64: 1, 2>, low = "
        "array<i64: 0, 1>}",
        {t("1x4x4")}, t("1x1x4x8"))));
  }
}

TEST_CASE_METHOD(Definition, "interpolation builds") {
  for (std::string type : {"f32", "f64", "f16"}) {
    INFO(type);
    auto t = [&](const char *shape) {
      return std::string("tensor<") + shape + "x" + type + ">";
    };
    std::string weights = type == "f64" ? "f64" : "f32";
    CHECK(builds(
        module("graph.resample {axes = array<i64: 0, 1>, operandSegmentSizes = "
               "array<i32: 1, 2, 2>}",
               {t("2x3x8"), "tensor<4x2xsi32>", "tensor<5x6xsi32>",
                "tensor<4x2x" + weights + ">", "tensor<5x6x" + weights + ">"},
               t("4x5x8"))));
    for (const char *mode : {"nearest", "linear", "cubic"})
      for (const char *padding : {"zeros", "border", "reflection"})
        for (const char *corners : {"", ", align_corners"})
          CHECK(builds(module(
              std::string("graph.grid_sample {mode = \"") + mode +
                  "\", padding_mode = \"" + padding + "\"" + corners + "}",
              {t("1x3x4x8"), "tensor<1x2x2x2xf32>"}, t("1x2x2x8"))));
    for (const char *more : {"", ", maximum"})
      for (const char *samples : {"0", "2"})
        CHECK(builds(module(
            std::string("graph.roi_align {scale = 0.5 : f64, offset = 0.5 : "
                        "f64, samples = ") +
                samples + " : i64" + more + "}",
            {t("2x5x6x8"), t("3x4"), "tensor<3xsi64>"}, t("3x2x2x8"))));
  }
}

TEST_CASE_METHOD(Definition, "the k best build") {
  for (const char *largest : {"", ", largest"})
    for (std::string type : {"f32", "f16", "si64", "ui8"}) {
      std::string in = "tensor<3x9x" + type + ">",
                  out = "tensor<3x4x" + type + ">";
      CHECK(builds("func.func @f(%0: " + in + ") -> " + out +
                   " { %r:2 = graph.topk %0 {axis = 1 : i64" + largest +
                   "} : (" + in + ") -> (" + out +
                   ", tensor<3x4xsi64>) return %r#0 : " + out + " }"));
    }
}

TEST_CASE_METHOD(Definition, "determinants build") {
  for (std::string type : {"f32", "f16"})
    CHECK(builds("func.func @f(%0: tensor<2x4x4x" + type + ">) -> tensor<2x" +
                 type + "> { %r:2 = graph.det %0 : (tensor<2x4x4x" + type +
                 ">) -> (tensor<2x" + type +
                 ">, tensor<4x4xf32>) return %r#0 : tensor<2x" + type + "> }"));
}
