// Prints a program that tests a model.

#include "codegen/files/TestPrinter.h"

#include "codegen/files/RuntimeHeader.h"
#include "codegen/files/WeightsPrinter.h"
#include "codegen/kernel/CTypes.h"
#include "codegen/kernel/Names.h"
#include "codegen/kernel/PrintedFunctions.h"
#include "dialects/kernel/KernelDialect.h"

using namespace mlir;

namespace ingot {

namespace {

class TestPrinter {
public:
  TestPrinter(const Interface &interface, bool hasArena,
              ArrayRef<StringRef> types, ArrayRef<TestNode> nodes,
              llvm::raw_ostream &os)
      : interface(interface), hasArena(hasArena),
        arena(hasArena ? interface.name + "_arena" : "arena"), types(types),
        nodes(nodes), out(os) {}

  /// Prints what precedes the macros that the body needs.
  void printHead(StringRef headerName, size_t cases) {
    out.comment(StringRef(interface.model).split(" (").first.str() +
                ": a program that runs it on " + std::to_string(cases) +
                " data set(s) and compares the outputs with the expected "
                "ones.\n\nGenerated; link it with the model that was written "
                "with it.");
    out.blank();
    out.line("#include \"" + headerName + "\"");
    out.blank();
  }

  void printBody(ArrayRef<TestCase> cases) {
    out.raw() << kTestHeaderText;
    out.blank();
    // The namespace hides names that the model's header may declare.
    out.line("namespace ingot_test {");
    out.line("namespace {");
    out.blank();
    if (!hasArena)
      out.line("alignas(" + interface.macro +
               "_ARENA_ALIGN) unsigned char arena[" + interface.macro +
               "_ARENA_BYTES + 1];");
    if (interface.vtcmBytes)
      out.line("alignas(" + interface.vtcmMacro +
               "_ALIGN) unsigned char tcm_memory[" + interface.vtcmMacro +
               "_BYTES];");
    for (auto [index, tensor] : llvm::enumerate(interface.tensors))
      if (tensor.isOutput)
        out.line(tensor.cType + " " + outputName(index) + "[" +
                 Twine(std::max<int64_t>(tensor.elements, 1)) + "];");
    out.blank();
    for (auto [number, testCase] : llvm::enumerate(cases))
      printData(number, testCase);
    printNodes(cases);
    printRunAll(cases);
    out.blank();
    out.line("} // namespace");
    out.line("} // namespace ingot_test");
    out.blank();
    out.line("INGOT_TEST_MAIN_DECLARATION { return ingot_test::runAll(); }");
  }

private:
  static std::string outputName(size_t index) {
    return "output_" + std::to_string(index);
  }
  static std::string dataName(size_t number, size_t index) {
    return "data_" + std::to_string(number) + "_" + std::to_string(index);
  }

  void printData(size_t number, const TestCase &testCase) {
    kernel::ProgramOp main = interface.main;
    for (auto [index, tensor] : llvm::enumerate(interface.tensors)) {
      Type element =
          cast<MemRefType>(main.getArgumentTypes()[index]).getElementType();
      out.comment(testCase.name + ": " + tensor.onnxName);
      out.raw() << "alignas(64) ";
      printArray(element, testCase.data[index], dataName(number, index), out);
    }
  }

  /// Returns at most 200 characters of a text as a string literal, without
  /// characters that need escapes.
  static std::string quoted(StringRef text) {
    std::string clean = toCommentText(text.take_front(200));
    llvm::replace(clean, '"', '\'');
    llvm::replace(clean, '\n', ' ');
    return '"' + clean + '"';
  }

  static std::string number(double value) {
    return floatLiteral(llvm::APFloat(value));
  }

  void printNodes(ArrayRef<TestCase> cases) {
    if (nodes.empty())
      return;
    out.line("const Node nodes[] = {");
    for (const TestNode &node : nodes) {
      auto four = [](const int64_t (&values)[4]) {
        std::string text;
        for (int64_t value : values)
          text += (text.empty() ? "" : ", ") + std::to_string(value);
        return "{" + text + "}";
      };
      out.line("    {" + Twine(node.kernel) + ", " + quoted(node.name) + ",");
      out.line("    " + node.type + ", " +
               (node.argument < 0 ? arena : outputName(node.argument)) + ", " +
               Twine(node.offset) + ", " + four(node.sizes) + ", " +
               four(node.strides) + "},");
    }
    out.line("};");
    for (auto [index, testCase] : llvm::enumerate(cases)) {
      out.line("const Signature signatures_" + Twine(index) + "[] = {");
      for (const TestSignature &signature : testCase.signatures) {
        std::string sums;
        for (double sum : signature.sums)
          sums += (sums.empty() ? "" : ", ") + number(sum);
        out.line("    {" + number(signature.norm) + ", {" + sums + "}, " +
                 Twine(signature.odd) + "},");
      }
      out.line("};");
    }
    out.blank();
  }

  void printRunAll(ArrayRef<TestCase> cases) {
    const std::string &name = interface.name;
    out.open("int runAll() {");
    out.line(
        nodes.empty()
            ? Twine("Checker check(nullptr, 0);")
            : Twine("Checker check(nodes, sizeof nodes / sizeof *nodes);"));
    for (auto [number, testCase] : llvm::enumerate(cases)) {
      out.open("{");
      out.line(name + "_io io = {};");
      for (auto [index, tensor] : llvm::enumerate(interface.tensors))
        out.line("io." + tensor.field + " = " +
                 (tensor.isOutput ? outputName(index)
                                  : "(const " + tensor.cType + " *)" +
                                        dataName(number, index)) +
                 ";");
      if (interface.vtcmBytes)
        out.line("io." + interface.vtcmField + " = tcm_memory;");
      out.line("const char *const set = " + quoted(testCase.name) + ";");
      out.line("const ingot_context context = check.begin(set, " +
               (nodes.empty() ? std::string("nullptr")
                              : "signatures_" + std::to_string(number)) +
               ");");
      out.open("if (check.ran(" + name + "_run(&io, " + arena +
               ", &context))) {");
      for (auto [index, tensor] : llvm::enumerate(interface.tensors))
        if (tensor.isOutput)
          printCompare(number, index, testCase);
      out.line("check.end();");
      out.close();
      out.close();
    }
    out.line("return check.result();");
    out.close();
  }

  void printCompare(size_t number, size_t index, const TestCase &testCase) {
    const InterfaceTensor &tensor = interface.tensors[index];
    auto [relative, absolute] = testCase.tolerances[index];
    out.line("check.output(\"" + tensor.field + "\", " + outputName(index) +
             ", " + dataName(number, index) + ", " + types[index] + ", " +
             Twine(tensor.elements) + ", " + TestPrinter::number(relative) +
             ", " + TestPrinter::number(absolute) + ");");
  }

  const Interface &interface;
  /// Whether the source of the model defines the arena (the buffer for
  /// intermediate tensors), and the name of the arena.
  bool hasArena;
  std::string arena;
  ArrayRef<StringRef> types;
  ArrayRef<TestNode> nodes;
  TextWriter out;
};

} // namespace

void printTest(const Interface &interface, const CodegenOptions &options,
               ArrayRef<StringRef> types, ArrayRef<TestNode> nodes,
               ArrayRef<TestCase> cases, llvm::raw_ostream &os) {
  std::string body;
  llvm::raw_string_ostream stream(body);
  bool hasArena = !options.arenaSection.empty();
  TestPrinter(interface, hasArena, types, nodes, stream).printBody(cases);
  TestPrinter(interface, hasArena, types, nodes, os)
      .printHead(options.headerName, cases.size());
  TextWriter out(os);
  printCompilerMacros(body, out);
  os << body;
}

} // namespace ingot
