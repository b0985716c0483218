// Compiles regular expressions to deterministic automata.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_PATTERN_H
#define INGOT_COMPILER_IMPORT_OPERATORS_PATTERN_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace ingot::graph {

/// A deterministic automaton on bytes; state 0 is the start.
struct Automaton {
  /// The next state for each state and byte, at index state * 256 + byte.
  std::vector<uint16_t> next;
  std::vector<bool> accepts;
};

/// Returns the automaton for strings that match a pattern (in RE2's syntax) as
/// a whole; nullopt with the reason in `error` if the pattern is not regular or
/// not supported. If `isInText` is set, the automaton is for finding matches
/// inside of a text: anchors, which depend on the context, are rejected, and a
/// dot also matches a newline.
std::optional<Automaton> compilePattern(llvm::StringRef pattern,
                                        std::string &error,
                                        bool isInText = false);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_PATTERN_H
