// Tests the naming rule of codegen/kernel/Names.h, on which users rely.
#include "codegen/kernel/Names.h"

#include <catch2/catch.hpp>

using namespace ingot;

TEST_CASE("ONNX names become identifiers", "[codegen]") {
  CHECK(toIdentifier("Plus214_Output_0") == "Plus214_Output_0");
  CHECK(toIdentifier("/head/conv:0") == "head_conv_0");
  CHECK(toIdentifier("a//b__c") == "a_b_c");
  CHECK(toIdentifier("__x__") == "x");
  CHECK(toIdentifier("0") == "t0");
  CHECK(toIdentifier("") == "t");
  CHECK(toIdentifier("\xe5\x9b\xbe") == "t");
  CHECK(toIdentifier("x;} evil(){") == "x_evil");
  CHECK(toIdentifier(std::string(1000, 'a')).size() == 60);
  CHECK(toIdentifier(std::string("a\0b\n*/", 6)) == "a_b");
}

TEST_CASE("names that C, C++ or headers take get an underscore", "[codegen]") {
  for (const char *name : {"int",
                           "class",
                           "restrict",
                           "NULL",
                           "linux",
                           "I",
                           "f32x16",
                           "u8x16_u",
                           "splat_f32x4",
                           "uint8_t",
                           "size_t",
                           "int_fast16_t",
                           "ingot_status",
                           "typeof",
                           "SIZE_MAX",
                           "INT8_MAX",
                           "UINT_LEAST16_MAX",
                           "INTPTR_MIN",
                           "UINTMAX_C",
                           "INT_FAST64_MIN",
                           "WCHAR_MAX",
                           "INT16_WIDTH"})
    CHECK(toIdentifier(name) == std::string(name) + "_");
  for (const char *name :
       {"input", "f32", "x86", "last_t", "max_pool", "i3x", "splat", "uint8",
        "MAX", "SIZE", "Q_MAX", "INT_X_MAX", "POINT_MAX", "INT8"})
    CHECK(toIdentifier(name) == name);
  CHECK(toIdentifier("__typeof__") == "typeof_");
  CHECK(toIdentifier("SIZE/MAX") == "SIZE_MAX_");
}

TEST_CASE("a scope gives each name once", "[codegen]") {
  NameScope scope;
  CHECK(scope.unique("x:0") == "x_0");
  CHECK(scope.unique("x/0") == "x_0_2");
  CHECK(scope.unique("x.0") == "x_0_3");
  CHECK(scope.unique("x_0_2") == "x_0_2_2");
  CHECK(scope.numbered("t") == "t0");
  scope.reserve("t1");
  CHECK(scope.numbered("t") == "t2");
}

TEST_CASE("any text may stand in a comment", "[codegen]") {
  CHECK(toCommentText("a*/b/*c") == "a* /b/ *c");
  CHECK(toCommentText("end\\\nnext") == "end_\nnext");
  CHECK(toCommentText("what?"
                      "?/") == "what?_/");
  CHECK(toCommentText("\xe2\x80\xae") == "___");
}
