// The positions of operations in the text of a generated source file.
//
// The printers record positions while they print, so that other code need not
// parse the text to find them. Example: the tables of --evidence for safety
// assessments, which relate nodes of the model to lines of code.

#ifndef INGOT_CODEGEN_KERNEL_SOURCEMAP_H
#define INGOT_CODEGEN_KERNEL_SOURCEMAP_H

#include "codegen/Codegen.h"
#include "codegen/kernel/TextWriter.h"

#include "llvm/ADT/StringMap.h"

#include <vector>

namespace ingot {

class SourceMap {
public:
  enum class Kind {
    Function,  ///< a function with the comment above it
    Statement, ///< a statement and the operations whose text is in it
    Loop,      ///< a loop from its `for` on
  };
  /// The bytes [begin, end) of the text belong to `op`.
  struct Site {
    Kind kind;
    mlir::Operation *op;
    size_t begin, end;
  };

  /// Records the range of text that is printed while this object exists. Does
  /// nothing if `map` is null.
  class Mark {
  public:
    Mark(SourceMap *map, TextWriter &out, Kind kind, mlir::Operation *op)
        : map(map), out(out), kind(kind), op(op),
          begin(map ? out.raw().tell() : 0) {}
    Mark(const Mark &) = delete;
    Mark &operator=(const Mark &) = delete;
    ~Mark() {
      if (map)
        map->unplaced.push_back({kind, op, begin, size_t(out.raw().tell())});
    }

  private:
    SourceMap *map;
    TextWriter &out;
    Kind kind;
    mlir::Operation *op;
    size_t begin;
  };

  /// Functions are printed to a string before their position in the file is
  /// known. `place` states that the string printed since the last call begins
  /// at the byte `begin` of the file.
  void place(size_t begin) {
    for (Site site : unplaced)
      sites.push_back(
          {site.kind, site.op, begin + site.begin, begin + site.end});
    unplaced.clear();
  }

  /// Adds `bytes`, the length of text that precedes the recorded text, to all
  /// recorded positions.
  void move(size_t bytes) {
    for (Site &site : sites) {
      site.begin += bytes;
      site.end += bytes;
    }
  }

  std::vector<Site> sites;
  /// C names of functions and globals, by symbol.
  llvm::StringMap<std::string> functions, globals;

private:
  std::vector<Site> unplaced;
};

/// Prints the source like the printSource of Codegen.h, and records positions
/// in `map`.
void printSource(llvm::ArrayRef<Variant> variants,
                 const CodegenOptions &options, llvm::raw_ostream &os,
                 SourceMap *map, std::string *constants = nullptr);

} // namespace ingot

#endif // INGOT_CODEGEN_KERNEL_SOURCEMAP_H
