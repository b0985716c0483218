// Regular expressions as automata.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_PATTERN_H
#define INGOT_COMPILER_IMPORT_OPERATORS_PATTERN_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace ingot::graph {

/// A deterministic automaton on bytes: state 0 is the first.
struct Automaton {
  /// The state behind each state and byte: [states * 256].
  std::vector<uint16_t> next;
  std::vector<bool> accepts;
};

/// The automaton of a pattern in RE2's syntax, of strings that match as a whole; nothing
/// with the reason in `error` for what is not regular or not supported.
/// With `isInText`, of parts of a text: anchors, for which their surroundings count, are
/// not supported, and a dot is a newline, too.
std::optional<Automaton> compilePattern(llvm::StringRef pattern,
                                        std::string &error,
                                        bool isInText = false);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_PATTERN_H
