// Reads a Hugging Face tokenizer.json and writes it as C++.
//
// tokenizer.json -> Tokenizer (tables, and the statements of its normalizer,
// pre-tokenizer and decoder) -> NAME.h and NAME.cpp: the fixed source of
// runtime/, of which only the needed parts are written, with generated tables.

#ifndef INGOT_COMPILER_LLM_TOKENIZER_H
#define INGOT_COMPILER_LLM_TOKENIZER_H

#include "compiler/llm/Regex.h"
#include "compiler/report/Diagnostics.h"

#include <array>
#include <optional>
#include <set>

namespace ingot::llm {

/// A token whose text is searched for before the rest of the input is
/// tokenized.
struct AddedToken {
  int32_t token;
  std::string text;
  bool isSingleWord, stripsLeft, stripsRight, isNormalized;
};

struct Tokenizer {
  /// The text of each token, by token number; for a byte-level model, the bytes
  /// that the token stands for.
  std::vector<std::string> texts;
  std::vector<bool> isDefined;
  /// The tokens that the model itself produces, as opposed to added tokens.
  std::vector<int32_t> vocabulary;
  /// The merges of a BPE model, by rank: the left, the right and the joined
  /// token.
  std::vector<std::array<int32_t, 3>> merges;
  std::vector<double> scores;
  std::vector<AddedToken> added;
  std::vector<int32_t> special, before, after;
  /// The number of tokens after which an encoded text is cut off; 0: no limit.
  uint64_t mostTokens = 0;

  /// The names of the parts of the runtime source that are needed, such as
  /// "bpe".
  std::set<std::string> parts;
  std::vector<CharSet> sets;
  std::vector<RegexProgram> patterns;
  /// The C++ statements of the generated functions.
  std::vector<std::string> normalize, preTokenize, decode;

  bool isByteLevel = false, hasByteTokens = false, ignoresMerges = false,
       fusesUnknown = false;
  /// Whether the decoder turns tokens such as <0x0A> into bytes.
  bool decodesByteTokens = false;
  int32_t unknown = -1;
  double unknownScore = 0;
  std::string continuingPrefix, wordSuffix;
  uint64_t longestWord = 100;
  /// How many characters `stripChar` are removed at the start of decoded text.
  uint64_t stripStart = 0;
  char stripChar = ' ';

  int32_t find(llvm::StringRef text) const;
};

/// Reads tokenizer.json. Returns nullopt with diagnostics if the file is
/// invalid or has unsupported components, which the diagnostics name.
std::optional<Tokenizer> readTokenizer(llvm::StringRef path,
                                       Diagnostics &diagnostics);

/// Prints the header and the source of the tokenizer with the namespace `name`.
/// `source` is the name of the tokenizer.json, for comments.
void printTokenizerHeader(const Tokenizer &tokenizer, llvm::StringRef name,
                          llvm::StringRef source, llvm::raw_ostream &os);
void printTokenizerSource(const Tokenizer &tokenizer, llvm::StringRef name,
                          llvm::StringRef source, llvm::raw_ostream &os);

/// Returns `text` as a C++ string literal.
std::string cLiteral(llvm::StringRef text);

} // namespace ingot::llm

#endif // INGOT_COMPILER_LLM_TOKENIZER_H
