// Tests parts of the importer: tensors, names, order, scopes, functions,
// dimensions.

#include "compiler/import/ImportOnnx.h"
#include "compiler/import/Schema.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/TensorFile.h"
#include "compiler/import/Validate.h"
#include "compiler/report/Suggest.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "onnx/defs/parser.h"
#include "llvm/Support/FileSystem.h"
#include <catch2/catch.hpp>
#include <fstream>

using namespace mlir;
using namespace ingot;

namespace {

/// A model file that is deleted by the destructor.
struct TemporaryModel {
  explicit TemporaryModel(const onnx::ModelProto &model) {
    llvm::SmallString<128> name;
    REQUIRE(!llvm::sys::fs::createTemporaryFile("ingot-test", "onnx", name));
    path = name.str().str();
    std::ofstream(path) << model.SerializeAsString();
  }
  ~TemporaryModel() { llvm::sys::fs::remove(path); }
  std::string path;
};

onnx::ModelProto parse(const std::string &text) {
  onnx::ModelProto model;
  auto status = onnx::OnnxParser::Parse(model, text.c_str());
  INFO(status.ErrorMessage());
  REQUIRE(status.IsOK());
  return model;
}

struct Imported {
  explicit Imported(const onnx::ModelProto &model,
                    const ImportOptions &options = {})
      : temporary(model) {
    file = ModelFile::open(temporary.path, diagnostics);
    REQUIRE(file);
    module = importOnnx(*file, options, diagnostics, context);
    for (const ingot::Diagnostic &d : diagnostics.list())
      ids.push_back(infoOf(d.id).name.str());
  }
  Imported(const std::string &text, const ImportOptions &options = {})
      : Imported(parse(text), options) {}

  std::string text() {
    REQUIRE(module);
    std::string out;
    llvm::raw_string_ostream os(out);
    module->print(os);
    return out;
  }
  func::FuncOp main() { return module->lookupSymbol<func::FuncOp>("main"); }
  /// Returns the constant that main returns as result `i`.
  DenseElementsAttr result(unsigned i = 0) {
    REQUIRE(module);
    Value value = main().getBody().front().getTerminator()->getOperand(i);
    auto constant = value.getDefiningOp<graph::ConstantOp>();
    REQUIRE(constant);
    return toDense(constant.getValueAttr());
  }

  TemporaryModel temporary;
  MLIRContext context;
  Diagnostics diagnostics;
  std::unique_ptr<ModelFile> file;
  OwningOpRef<ModuleOp> module;
  std::vector<std::string> ids;
};

std::string header(int opset) {
  return "<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) +
         "]>\n";
}

size_t count(const std::string &text, const std::string &what) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at)
    ++n;
  return n;
}

} // namespace

TEST_CASE("names are made fit for a terminal") {
  CHECK(printable("conv/1:0") == "conv/1:0");
  CHECK(printable("a\x1b[2Jb\n") == "a\\x1b[2Jb\\x0a");
  CHECK(printable("Gr\xc3\xb6\xc3\x9f"
                  "e") == "Gr\xc3\xb6\xc3\x9f"
                          "e");
  CHECK(printable("\xff\xfe") == "\\xff\\xfe");
  std::string cut = printable(std::string(1000, 'n'), 100);
  CHECK(cut.size() < 140);
  CHECK(cut.find("bytes") != std::string::npos);
}

TEST_CASE("suggestions are close and at most four") {
  CHECK(suggestions("Cnov", {"Conv", "ConvTranspose", "Add"}) ==
        std::vector<std::string>{"Conv"});
  CHECK(suggestions("zzzzzz", {"Conv", "Add"}).empty());
  CHECK(suggestions("abc", {"abd", "abe", "abf", "abg", "abh"}).size() == 4);
  // A name is suggested if it differs from the given one by at most one edit
  // (for names of up to five letters) or by at most two.
  CHECK(suggestions("Foo", {"Cos", "Floor", "Log", "Loop"}).empty());
  CHECK(suggestions("Resie", {"Resize"}).size() == 1);
  CHECK(suggestions("Resi", {"Resize"}).empty());
  CHECK(suggestions("Concta", {"Concat"}).size() == 1);
  CHECK(suggestions("Concxxx", {"Concat"}).empty());
  CHECK(suggestions("-q", {"--o"}).empty());
  CHECK(suggestions("bacth", {"batch"}) == std::vector<std::string>{"batch"});
  CHECK(didYouMean("Cnov", {"Conv", "Add"}) == "did you mean `Conv`?");
  CHECK(didYouMean("zzzzzz", {"Conv", "Add"}).empty());
}

TEST_CASE("sizes that overflow are no sizes") {
  CHECK(checkedElements({2, 3}, 32) == 6);
  CHECK(checkedElements({}, 32) == 1);
  CHECK(checkedElements({0, 5}, 32) == 0);
  CHECK_FALSE(checkedElements({-1}, 32));
  CHECK_FALSE(checkedElements({int64_t(1) << 40, int64_t(1) << 40}, 8));
  CHECK_FALSE(checkedElements({0, int64_t(1) << 62}, 8));
}

TEST_CASE("every field of a tensor is read") {
  MLIRContext context;
  std::string error;
  auto read = [&](const onnx::TensorProto &tensor) {
    auto value = denseTensorAttr(tensor, nullptr, &context, error);
    INFO(error);
    REQUIRE(succeeded(value));
    std::vector<char> bytes = bytesOf(*value);
    return std::vector<int>(bytes.begin(), bytes.end());
  };
  auto tensor = [](int type, int64_t size) {
    onnx::TensorProto tensor;
    tensor.set_data_type(type);
    tensor.add_dims(size);
    return tensor;
  };
  SECTION("int4 in bytes, low half first") {
    auto t = tensor(onnx::TensorProto::INT4, 3);
    t.set_raw_data("\x7f\x08", 2);
    CHECK(read(t) == std::vector<int>{-1, 7, -8});
  }
  SECTION("uint2 in int32_data, four to an entry") {
    auto t = tensor(onnx::TensorProto::UINT2, 5);
    t.add_int32_data(0b11100100);
    t.add_int32_data(2);
    CHECK(read(t) == std::vector<int>{0, 1, 2, 3, 2});
  }
  SECTION("bool that is neither 0 nor 1") {
    auto t = tensor(onnx::TensorProto::BOOL, 3);
    t.set_raw_data("\x00\x02\x01", 3);
    CHECK(read(t) == std::vector<int>{0, 1, 1});
  }
  SECTION("uint32 in uint64_data") {
    auto t = tensor(onnx::TensorProto::UINT32, 1);
    t.add_uint64_data(0x01020304);
    CHECK(read(t) == std::vector<int>{4, 3, 2, 1});
  }
  SECTION("float16 in int32_data") {
    auto t = tensor(onnx::TensorProto::FLOAT16, 1);
    t.add_int32_data(0x3c00);
    CHECK(read(t) == std::vector<int>{0, 0x3c});
  }
}

TEST_CASE("a large weight is moved, not copied") {
  auto model = parse(
      header(17) + "g (float[1,100] x) => (float[1,100] y) { y = Add(x, w) }");
  auto *w = model.mutable_graph()->add_initializer();
  w->set_name("w");
  w->set_data_type(onnx::TensorProto::FLOAT);
  w->add_dims(100);
  w->set_raw_data(std::string(400, '\1'));
  TemporaryModel temporary(model);
  ingot::Diagnostics diagnostics;
  MLIRContext context;
  auto file = ModelFile::open(temporary.path, diagnostics);
  REQUIRE(file);
  const char *raw = file->model().graph().initializer(0).raw_data().data();
  OwningOpRef<ModuleOp> module = importOnnx(*file, {}, diagnostics, context);
  REQUIRE(module);
  CHECK(file->model().graph().initializer(0).raw_data().empty());
  file.reset();
  bool found = false;
  module->walk([&](graph::ConstantOp op) {
    auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValueAttr());
    REQUIRE(resource);
    ArrayRef<char> data = resource.getRawHandle().getBlob()->getData();
    CHECK((data.data() == raw));
    CHECK(std::string(data.begin(), data.end()) == std::string(400, '\1'));
    found = true;
  });
  CHECK(found);
}

TEST_CASE("nodes are imported in the order of their data") {
  auto model = parse(header(17) + R"(
    g (float[2] x) => (float[2] y) { y = Relu(b)
                                     b = Sigmoid(a)
                                     a = Tanh(x) })");
  SmallVector<int> order = topologicalOrder(model.graph().node());
  CHECK(order == SmallVector<int>{2, 1, 0});
  CHECK(Imported(model).module);
}

TEST_CASE("operators of shapes become constants") {
  Imported imported(header(17) + R"(
    g (float[2,3,5] x) => (int64[2] a, int64 b, int64[1] c) {
      a = Shape <start = -2> (x)
      b = Size(x)
      t = Constant <value_ints = [7]> ()
      c = Identity(t)
    })");
  auto ints = [&](unsigned i) {
    auto values = imported.result(i).getValues<APInt>();
    std::vector<int64_t> list;
    for (const APInt &value : values)
      list.push_back(value.getSExtValue());
    return list;
  };
  CHECK(ints(0) == std::vector<int64_t>{3, 5});
  CHECK(ints(1) == std::vector<int64_t>{30});
  CHECK(ints(2) == std::vector<int64_t>{7});
}

TEST_CASE("the taken branch of a constant If is imported, with outer names") {
  Imported imported(header(17) + R"(
    g (float[2] x) => (float[2] y)
    <bool c = {1}> {
      y = If (c) <then_branch = g1 () => (float[2] t) { t = Relu(x) },
                  else_branch = g2 () => (float[2] e) { e = Tanh(x) }>
    })");
  CHECK(count(imported.text(), "graph.relu") == 1);
  CHECK(count(imported.text(), "graph.tanh") == 0);
}

TEST_CASE("model-local functions see their attributes and nothing else") {
  Imported imported(R"(
    <ir_version: 8, opset_import: ["" : 17, "local" : 1]>
    g (float[2] x) => (float[2] y) { y = local.leak <slope = 0.25> (x) }
    <domain: "local", opset_import: ["" : 17]>
    leak <slope> (a) => (b) { b = LeakyRelu <alpha : float = @slope> (a) })");
  CHECK(count(imported.text(), "alpha = 2.5") == 1);
}

TEST_CASE("an attribute with a type and no value is 0, as protobuf reads it") {
  onnx::ModelProto model = parse(
      header(21) +
      "g (float[3,4] x) => (float[1,12] y) { y = Flatten <axis = 0> (x) }");
  model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->clear_i();
  CHECK(count(Imported(model).text(), "-> tensor<1x12xf32>") > 0);
}

TEST_CASE("dimensions are bound by symbol, by place and by data") {
  std::string text =
      header(17) + "g (float[N,3] x) => (float[N,3] y) { y = Relu(x) }";
  Imported unbound(text);
  CHECK(unbound.ids == std::vector<std::string>{"unbound-dimension"});
  ImportOptions bySymbol, byPlace, byData;
  bySymbol.dims["N"] = 4;
  byPlace.dims["x:0"] = 4;
  byData.shapes["x"] = {4, 3};
  for (const ImportOptions &options : {bySymbol, byPlace, byData}) {
    Imported imported(text, options);
    CHECK(count(imported.text(), "tensor<4x3xf32>") > 0);
  }
  ImportOptions wrong;
  wrong.shapes["x"] = {4, 5};
  CHECK(Imported(text, wrong).ids ==
        std::vector<std::string>{"input-mismatch"});
}

TEST_CASE("an input that decides a shape is bound to its value") {
  std::string text =
      header(17) +
      "g (float[2,3] x, int64[1] s) => (float[M] y) { y = Reshape(x, s) }";
  CHECK(Imported(text).ids == std::vector<std::string>{"unbound-value"});
  ImportOptions options;
  options.bind["s"] = "6";
  Imported imported(text, options);
  CHECK(count(imported.text(), "kernel.bound = dense<6>") == 1);
  CHECK(count(imported.text(), "-> tensor<6xf32>") > 0);
}

TEST_CASE("opset 6 broadcasts from an axis") {
  Imported imported(header(6) + R"(
    g (float[2,3,4] x, float[3] b) => (float[2,3,4] y) {
      y = Add <broadcast = 1, axis = 1> (x, b) })");
  CHECK(count(imported.text(), "tensor<1x3x1xf32>") > 0);
}

TEST_CASE("optional operands of zeros are left out, others are kept") {
  auto import = [](const std::string &x) {
    std::string two = "{" + x + ", " + x + "}",
                eight = "{" + x + ", 0, 0, 0, 0, 0, 0, 0}";
    return Imported(header(18) +
                    "g (float[1, 2, 4, 4] image, float[2, 2, 1, 1] w, "
                    "float[1, 2, 3] steps, float[1, 4, 3] k, "
                    "float[1, 4, 4] r, int32[2] lengths, float[2, 3] m, "
                    "float[3, 2] n) => (a, b, c, d)\n"
                    "<float[2] bias = " +
                    two + ", float[1, 8] biases = " + eight +
                    ", float[1, 2, 4] state = " + eight +
                    ">\n{ a = Conv(image, w, bias)\n"
                    "b = ConvTranspose(image, w, bias)\n"
                    "c = RNN<hidden_size = 4>(steps, k, r, biases, lengths, "
                    "state)\n"
                    "d = Gemm(m, n, bias) }");
  };
  Imported zeros = import("0"), others = import("1"), minus = import("-0.0");
  CHECK(count(zeros.text(), "graph.add") == 0);
  CHECK(count(others.text(), "graph.add") == 3);
  // An absent operand means +0, so an operand of -0 must be kept.
  CHECK(count(minus.text(), "graph.add") == 3);
  auto hasBiases = [](Imported &model) {
    unsigned biases = 0;
    model.module->walk([&](Operation *op) {
      if (auto conv = dyn_cast<graph::ConvOp>(op))
        biases += conv.getBias() != nullptr;
      else if (auto conv = dyn_cast<graph::ConvTransposeOp>(op))
        biases += conv.getBias() != nullptr;
    });
    return biases;
  };
  CHECK(hasBiases(zeros) == 0);
  CHECK(hasBiases(others) == 2);
  // The shape of a bias of zeros is checked although the bias is removed.
  Imported wrong(header(18) +
                 "g (float[1, 2, 4, 4] x, float[2, 2, 1, 1] w) => (y)\n"
                 "<float[3] bias = {0, 0, 0}>\n{ y = Conv(x, w, bias) }");
  CHECK(wrong.ids == std::vector<std::string>{"invalid-node"});
}

TEST_CASE("all faults of a model are reported in one run") {
  Imported imported(header(17) + R"(
    g (float[2] x) => (float[2] y) { a = Rellu(x)
                                     b = Sigmoid(nowhere)
                                     y = Add(a) })");
  CHECK(imported.ids == std::vector<std::string>{"unknown-operator",
                                                 "undefined-value",
                                                 "operand-count"});
}

TEST_CASE("what is said of many nodes is said once, of the first") {
  ingot::Diagnostics diagnostics;
  for (int i = 0; i < 182; ++i) {
    ingot::Diagnostic diagnostic;
    diagnostic.id = DiagnosticId::UnsupportedOperator;
    diagnostic.message = i == 7 ? "no `B`" : "no `A`";
    diagnostic.node = "node #" + std::to_string(i);
    diagnostics.report(std::move(diagnostic));
  }
  REQUIRE(diagnostics.list().size() == 2);
  CHECK(diagnostics.size() == 182);
  CHECK(diagnostics.list()[0].count == 181);
  CHECK(diagnostics.list()[0].node == "node #0");
  CHECK(diagnostics.list()[1].count == 1);
  CHECK(diagnostics.list()[1].node == "node #7");
  // Errors about the file have no node, so they are not merged as errors about
  // one node are: 100 of them are listed, the others are counted.
  for (int i = 0; i < 150; ++i)
    diagnostics.report(DiagnosticId::DuplicateName, "the same");
  CHECK(diagnostics.list().size() == 102);
  std::string text;
  llvm::raw_string_ostream os(text);
  diagnostics.print(os);
  CHECK(text.find("and 50 more of this kind") != std::string::npos);
}

TEST_CASE("tensors survive .npy and .pb files") {
  MLIRContext context;
  llvm::SmallString<128> path;
  REQUIRE(!llvm::sys::fs::createTemporaryFile("ingot-test", "npy", path));
  std::string error;
  for (int type = 1; type <= onnx::TensorProto::INT2; ++type) {
    Type element = elementType(type, &context);
    if (!element || type == onnx::TensorProto::STRING)
      continue;
    Tensor tensor{RankedTensorType::get({3, 1}, element), {}};
    tensor.bytes.assign(3 * elementBytes(element), 1);
    INFO("data type " << type);
    REQUIRE(writeTensorProto(path, "t", tensor, error));
    auto proto = readTensorProto(path, &context, error);
    REQUIRE(proto);
    CHECK(proto->type == tensor.type);
    CHECK(proto->bytes == tensor.bytes);
    REQUIRE(writeNpy(path, tensor, error));
    auto npy = readNpy(path, element, error);
    INFO(error);
    REQUIRE(npy);
    CHECK(npy->bytes == tensor.bytes);
  }
  llvm::sys::fs::remove(path);
}

TEST_CASE("strings survive .pb files, and have one address each") {
  MLIRContext context;
  llvm::SmallString<128> path;
  REQUIRE(!llvm::sys::fs::createTemporaryFile("ingot-test", "pb", path));
  const char *strings[] = {intern("K\xc3\xb6ln"), intern(""), intern("abc")};
  Type element = elementType(onnx::TensorProto::STRING, &context);
  const char *bytes = reinterpret_cast<const char *>(strings);
  Tensor tensor{RankedTensorType::get({3, 1}, element),
                std::vector<char>(bytes, bytes + sizeof(strings))};
  std::string error;
  REQUIRE(writeTensorProto(path, "t", tensor, error));
  auto proto = readTensorProto(path, &context, error);
  REQUIRE(proto);
  CHECK(proto->type == tensor.type);
  CHECK(proto->bytes == tensor.bytes);
  CHECK(proto->text(2) == "\"abc\"");
  CHECK(!writeNpy(path, tensor, error));
  CHECK(error.find("use folders of .pb files") != std::string::npos);
  // A string with a zero byte is rejected: the byte would end the string.
  onnx::TensorProto broken;
  broken.set_data_type(onnx::TensorProto::STRING);
  broken.add_dims(1);
  broken.add_string_data(std::string("a\0b", 3));
  error.clear();
  CHECK(!stringsOf(broken, &context, error));
  CHECK(error.find("zero byte") != std::string::npos);
  llvm::sys::fs::remove(path);
}

TEST_CASE("shape rules of ONNX see the defaults of its schema") {
  // ONNX's shape rule assumes that an absent `onesided` is 0; its schema has
  // the default 1.
  Imported model(header(17) + R"(
    agraph (float[1,128,1] x) => (float[1,15,9,2] y) <int64 step = {8}, int64 size = {16}> {
      y = STFT(x, step, , size)
    })");
  CHECK(model.ids.empty());
  CHECK(model.module);
}
