// Reads the folder of a language model, as the model builder of ONNX Runtime
// GenAI or Optimum writes it.

#ifndef INGOT_COMPILER_LLM_MODELFOLDER_H
#define INGOT_COMPILER_LLM_MODELFOLDER_H

#include "compiler/Compile.h"
#include "compiler/llm/Tokenizer.h"

namespace ingot::llm {

/// What a chat template writes before and after each turn of a conversation. A
/// template of the form `plain` writes nothing.
struct ChatTemplate {
  llvm::StringLiteral name;
  /// A string that only Jinja templates of this kind contain; empty for
  /// `plain`.
  llvm::StringLiteral mark;
  llvm::StringLiteral start, beforeSystem, afterSystem, beforeUser, afterUser,
      afterAnswer;
  /// Tokens that the tokenizer must have; the last one ends an answer.
  std::vector<llvm::StringLiteral> tokens;
};

struct ModelFolder {
  std::string folder, model, tokenizerPath;
  Tokenizer tokenizer;
  /// The names of the network's inputs and of its output; empty for an input
  /// that the network does not have.
  std::string ids, mask, positions, logits;
  bool hasNarrowIds = false;
  /// The symbolic names of the inputs' dynamic dimensions.
  std::string batchSize, sequenceSize, totalSize, pastSize;
  std::vector<std::pair<std::string, std::string>> states;
  int64_t context = 0, vocabulary = 0;
  std::vector<int64_t> stopTokens;
  int64_t beginToken = -1;
  double temperature = 0, topP = 1, repetitionPenalty = 1;
  int64_t topK = 0;
  const ChatTemplate *form = nullptr;
  /// Whether the network can compute the logits of the last position only.
  bool hasLastLogits = false;

  /// Opens the network; null with diagnostics on failure. If hasLastLogits, the
  /// returned model computes the logits of the last position only.
  std::unique_ptr<ModelFile> open(Diagnostics &diagnostics) const;
};

/// Reads the folder of a language model; nothing with diagnostics on failure.
/// `context` (in tokens) and `form` (the name of a chat template) override what
/// the files state; 0 and empty mean the stated values.
std::optional<ModelFolder> readModelFolder(llvm::StringRef folder,
                                           int64_t context,
                                           llvm::StringRef form,
                                           Diagnostics &diagnostics);

/// Prints settings.h. `promptChunk` is the number of tokens of a prompt that
/// are computed in one call. `header` is the text of the network's generated
/// header, in which the names of the dynamic sizes are found.
void printSettings(const ModelFolder &model, int64_t promptChunk,
                   llvm::StringRef header, llvm::raw_ostream &os);

} // namespace ingot::llm

#endif // INGOT_COMPILER_LLM_MODELFOLDER_H
