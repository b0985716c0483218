// Prints weights as C++.

#include "codegen/files/WeightsPrinter.h"

#include "codegen/kernel/CTypes.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/KernelModule.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot {

using Chunks =
    llvm::function_ref<void(llvm::function_ref<void(ArrayRef<char>)>)>;

static void printArray(Type element, Sign sign, int64_t count, StringRef name,
                       Chunks forEachChunk, TextWriter &out) {
  int64_t elementSize = kernel::elementBytes(element);
  llvm::raw_ostream &os = out.raw();
  os << "const " << storageTypeName(element, sign) << ' ' << name << '['
     << std::max<int64_t>(count, 1) << "] = {";
  int64_t column = 0;
  bool first = true;
  forEachChunk([&](ArrayRef<char> chunk) {
    for (int64_t at = 0, e = chunk.size(); at + elementSize <= e;
         at += elementSize) {
      uint64_t start = os.tell();
      if (column == 0)
        os << (first ? "\n    " : ",\n    ");
      else
        os << ", ";
      first = false;
      printElement(element, chunk.data() + at, os, sign);
      column += os.tell() - start;
      if (column > 90)
        column = 0;
    }
  });
  os << (first ? "" : "\n") << "};\n\n";
}

void printArray(Type element, ArrayRef<char> bytes, StringRef name,
                TextWriter &out) {
  printArray(
      element, Sign::Signed, bytes.size() / kernel::elementBytes(element), name,
      [&](llvm::function_ref<void(ArrayRef<char>)> use) { use(bytes); }, out);
}

void printWeightArray(const Weight &weight, StringRef name, TextWriter &out) {
  memref::GlobalOp global = weight.global;
  MemRefType type = global.getType();
  out.raw() << out.language.internal() << out.language.alignas_() << "("
            << std::max<int64_t>(global.getAlignment().value_or(64), 1) << ") ";
  printArray(
      type.getElementType(), weight.sign, type.getNumElements(), name,
      [&](llvm::function_ref<void(ArrayRef<char>)> use) {
        kernel::forEachChunk(global, use);
      },
      out);
}

static void printWeightsCheck(const Interface &interface,
                              const Weights &weights, TextWriter &out) {
  const std::string &name = interface.sharedName;
  out.line("// Header of a weights file: magic number, version, sizes, "
           "checksum of the payload.");
  out.open("static bool " + name + "_is_header(const void *weights) {");
  out.line("const unsigned char *bytes = " +
           out.language.fromVoid("const unsigned char", "weights") + ";");
  out.line("static const unsigned char expected[32] = {");
  std::string header;
  llvm::raw_string_ostream os(header);
  weights.writeHeader(os);
  std::string numbers;
  for (unsigned i = 0; i < 32; ++i)
    numbers += (i ? ", " : "") + llvm::utostr(static_cast<uint8_t>(header[i]));
  out.line("    " + numbers + "};");
  out.open("for (int byte = 0; byte < 32; ++byte) {");
  out.line("if (bytes[byte] != expected[byte]) return false;");
  out.close();
  out.line("return true;");
  out.close();
  out.blank();
  out.open("static uint64_t " + name + "_hash(uint64_t hash, uint64_t word) {");
  out.line("hash = (hash ^ word) * 0x100000001b3u;");
  out.line("return hash ^ hash >> 32;");
  out.close();
  out.blank();
  out.open(out.language.external() + "ingot_status " + name +
           "_check_weights(const void *weights, size_t bytes) {");
  out.line("if (!weights) return INGOT_ERROR_NULL;");
  out.line("if (" + out.language.reinterpret("uintptr_t", "weights") + " % " +
           interface.sharedMacro +
           "_WEIGHTS_ALIGN != 0) return INGOT_ERROR_ALIGNMENT;");
  out.line(
      "if (bytes != " + Twine(kWeightsHeaderBytes + weights.payloadBytes()) +
      "u || !" + name + "_is_header(weights)) return INGOT_ERROR_WEIGHTS;");
  out.line("const uint64_t *words = " +
           out.language.fromVoid("const uint64_t", "weights") + ";");
  out.line("// Four FNV-1a chains: chain i hashes the words i, i + 4, i "
           "+ 8, ...");
  out.line("const uint64_t basis = 0xcbf29ce484222325u;");
  out.line("uint64_t chains[4] = {basis, basis, basis, basis}, hash = basis;");
  out.open("for (size_t word = " + Twine(kWeightsHeaderBytes / 8) +
           "; word < bytes / 8; word += 4) {");
  out.open("for (size_t i = 0; i < 4; ++i) {");
  out.line("chains[i] = " + name + "_hash(chains[i], words[word + i]);");
  out.close();
  out.close();
  out.line("for (int i = 0; i < 4; ++i) hash = " + name +
           "_hash(hash, chains[i]);");
  out.line("return hash == words[3] ? INGOT_OK : INGOT_ERROR_WEIGHTS;");
  out.close();
  out.blank();
}

void printWeightsElsewhere(const Interface &interface, const Weights &weights,
                           TextWriter &out) {
  if (interface.weightsMode == WeightsMode::File)
    printWeightsCheck(interface, weights, out);
  if (interface.weightsMode != WeightsMode::Object)
    return;
  out.line("// Defined in the .weights.o file that was written with "
           "this source; link both.");
  out.line(Twine(out.language.isC ? "extern " : "extern \"C\" ") +
           "__attribute__((visibility(\"hidden\"))) const unsigned char " +
           interface.sharedName + "_weights[" + Twine(weights.payloadBytes()) +
           "];");
  out.blank();
}

} // namespace ingot
