// Writes a WebAssembly object: an import of the memory, a data segment, and the
// section `linking`, which gives the segment a symbol (tool-conventions,
// Linking.md).

#include "targets/wasm/DataObject.h"

#include "llvm/BinaryFormat/Wasm.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace ingot::targets {

static std::string number(uint64_t value) {
  std::string text;
  raw_string_ostream os(text);
  encodeULEB128(value, os);
  return text;
}

static std::string name(StringRef text) {
  return number(text.size()) + text.str();
}

/// Writes the header of a section with `bytes` bytes of content.
static void beginSection(unsigned id, uint64_t bytes, raw_ostream &os) {
  os << char(id) << number(bytes);
}

static void section(unsigned id, const std::string &content, raw_ostream &os) {
  beginSection(id, content.size(), os);
  os << content;
}

void writeWasmDataObject(StringRef symbol, int64_t bytes, uint32_t align,
                         raw_ostream &os,
                         function_ref<void(raw_ostream &)> payload) {
  os.write("\0asm\1\0\0\0", 8);
  constexpr uint64_t pageBytes = 65536;
  section(wasm::WASM_SEC_IMPORT,
          number(1) + name("env") + name("__linear_memory") +
              char(wasm::WASM_EXTERNAL_MEMORY) + number(0) +
              number(divideCeil(bytes, pageBytes)),
          os);
  section(wasm::WASM_SEC_DATACOUNT, number(1), os);
  // The header of a segment in memory 0. Its address is i32.const 0 until it is
  // linked.
  std::string before = number(1) + number(0) +
                       char(wasm::WASM_OPCODE_I32_CONST) + number(0) +
                       char(wasm::WASM_OPCODE_END) + number(bytes);
  beginSection(wasm::WASM_SEC_DATA, before.size() + bytes, os);
  os << before;
  payload(os);
  std::string segment = number(1) + name(".rodata." + symbol.str()) +
                        number(Log2_32(align)) + number(0);
  std::string symbols = number(1) + char(wasm::WASM_SYMBOL_TYPE_DATA) +
                        number(wasm::WASM_SYMBOL_VISIBILITY_HIDDEN) +
                        name(symbol) + number(0) + number(0) + number(bytes);
  section(wasm::WASM_SEC_CUSTOM,
          name("linking") + number(wasm::WasmMetadataVersion) +
              char(wasm::WASM_SEGMENT_INFO) + name(segment) +
              char(wasm::WASM_SYMBOL_TABLE) + name(symbols),
          os);
}

} // namespace ingot::targets
