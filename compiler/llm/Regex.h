// Compiles the regular expression of a pre-tokenizer to a small program.
//
// A tokenizer.json contains patterns in the syntax of the library Oniguruma.
// The program is a list of integers that a backtracking matcher of 60 lines
// interprets (runtime/tokenizer.cpp). Sets of characters are resolved here, so
// that the generated code needs no tables of Unicode categories.

#ifndef INGOT_COMPILER_LLM_REGEX_H
#define INGOT_COMPILER_LLM_REGEX_H

#include "compiler/llm/Unicode.h"

#include <string>

namespace ingot::llm {

/// The instructions. Each comment lists the operands that follow the
/// instruction, then its effect. Targets are relative to the position of the
/// instruction.
enum RegexOp : int32_t {
  kSet = 0,    ///< set: matches one character of this set
  kSplit = 1,  ///< first, second: tries both targets in this order
  kJump = 2,   ///< target: continues there
  kAhead = 3,  ///< negated, end: checks, without advancing, that the code up
               ///< to `end` matches here (if `negated` is 0) or does not (1)
  kAtomic = 4, ///< end: matches the code up to `end`, into which the matcher
               ///< does not backtrack later
  kMatch = 5,  ///< the end of the program, of kAhead or of kAtomic
  kLineEnd = 6,
  kLineStart = 7
};

struct RegexProgram {
  std::vector<int32_t> code;
};

/// Compiles `pattern`; its sets of characters are added to `sets`. Returns
/// nothing, with the reason in `error`, if the pattern is invalid or uses an
/// unsupported construct.
std::optional<RegexProgram> compileRegex(llvm::StringRef pattern,
                                         std::vector<CharSet> &sets,
                                         std::string &error);
/// Returns the program that matches `text` literally.
RegexProgram literalRegex(llvm::StringRef text, std::vector<CharSet> &sets);
/// Returns the program that matches one character of `set`.
RegexProgram charRegex(const CharSet &set, std::vector<CharSet> &sets);
/// Returns the program that matches the longest run of characters that all
/// belong to the same set of `kinds`.
RegexProgram runsRegex(llvm::ArrayRef<CharSet> kinds,
                       std::vector<CharSet> &sets);

} // namespace ingot::llm

#endif // INGOT_COMPILER_LLM_REGEX_H
