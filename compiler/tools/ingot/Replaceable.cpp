// Decides which output files may be replaced.
//
// Ingot replaces only empty files and files that it has written: generated text
// names its producer in the first lines, a quantized model in its producer
// field, and a module contains names of Ingot's dialects. Object files bear no
// such mark, so Ingot replaces any of them, as compilers do.

#include "compiler/tools/ingot/Commands.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace ingot {

static bool isOwnContent(StringRef path, StringRef content) {
  StringRef extension = sys::path::extension(path);
  if (content.empty())
    return true;
  if (extension == ".o" || extension == ".wasm")
    return content.starts_with("\x7f"
                               "ELF") ||
           content.starts_with(StringRef("\0asm", 4));
  if (extension == ".weights")
    return content.starts_with("INGOTWTS");
  if (extension == ".mlir")
    return content.contains("kernel.model") || content.contains("graph.");
  // Recognizes the tables of --evidence by the names of their columns.
  if (extension == ".csv")
    return content.starts_with("onnx_graph,onnx_index,") ||
           content.starts_with("file,line,kind,function,onnx_nodes");
  if (extension == ".onnx")
    return content.take_front(64).contains("ingot");
  if (extension == ".html")
    return content.contains("<title>Ingot report</title>");
  // Recognizes timelines, and reports, by their first keys.
  if (extension == ".json" &&
      (content.starts_with("{\"otherData\":{\"producer\":\"ingot ") ||
       (content.starts_with("{\n  \"schema\": ") &&
        content.contains("\"compiles\":"))))
    return true;
  return Regex("by ingot [0-9]|ingot(_test|_thread_pool)?\\.h - ",
               Regex::IgnoreCase)
      .match(content.take_front(2000));
}

bool checkReplaceable(const Arguments &arguments, StringRef path,
                      Diagnostics &diagnostics) {
  sys::fs::file_status status;
  // Files that are not regular, such as /dev/null, have no content to lose.
  if (arguments.force || sys::fs::status(path, status) ||
      status.type() != sys::fs::file_type::regular_file)
    return true;
  // An unreadable file is not replaced either.
  auto buffer = MemoryBuffer::getFileSlice(
      path, std::min<uint64_t>(status.getSize(), 1 << 20), 0);
  if (buffer && isOwnContent(path, (*buffer)->getBuffer()))
    return true;
  diagnostics.reportFile(DiagnosticId::ForeignFile, path,
                         "`" + printable(path) +
                             "` exists and was not written by Ingot",
                         "choose another name with -o, or replace it with "
                         "--force");
  return false;
}

} // namespace ingot
