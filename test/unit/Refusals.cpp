// Checks that each operation of the dialects has a test of its verifier:
// test/dialects/DIALECT/invalid*.mlir must have an expected error on a line
// with the operation's name.

#include "dialects/graph/GraphDialect.h"
#include "dialects/kernel/KernelDialect.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <catch2/catch.hpp>

using namespace mlir;

/// Adds the operations of `dialect` in lines that follow an "expected-error".
static void addRefused(StringRef text, StringRef dialect,
                       llvm::StringSet<> &refused) {
  std::string prefix = (dialect + ".").str();
  while (text.contains("expected-error")) {
    text = text.split("expected-error").second.split('\n').second;
    StringRef line = text.split('\n').first;
    if (line.contains(prefix))
      refused.insert(line.drop_front(line.find(prefix)).take_while([](char c) {
        return llvm::isAlnum(c) || c == '_' || c == '.';
      }));
  }
}

template <typename DialectT> static std::string notRefused() {
  MLIRContext context;
  StringRef dialect = context.getOrLoadDialect<DialectT>()->getNamespace();
  llvm::SmallString<128> folder(INGOT_TEST_FOLDER);
  llvm::sys::path::append(folder, "dialects", dialect);
  llvm::StringSet<> refused;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator file(folder, error), end;
       !error && file != end; file.increment(error))
    if (llvm::sys::path::filename(file->path()).starts_with("invalid"))
      if (auto text = llvm::MemoryBuffer::getFile(file->path()))
        addRefused((*text)->getBuffer(), dialect, refused);
  std::string missing;
  for (RegisteredOperationName name : context.getRegisteredOperations())
    if (name.getDialectNamespace() == dialect &&
        !refused.contains(name.getStringRef()))
      missing += name.getStringRef().str() + " ";
  return missing;
}

TEST_CASE("each operation has a test of what it refuses") {
  CHECK(notRefused<ingot::graph::GraphDialect>() == "");
  CHECK(notRefused<ingot::kernel::KernelDialect>() == "");
}
