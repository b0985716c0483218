// The sources of compiler/llm/runtime, inserted by the build.

#ifndef INGOT_COMPILER_LLM_RUNTIMETEXT_H
#define INGOT_COMPILER_LLM_RUNTIMETEXT_H

#include "llvm/ADT/StringRef.h"

namespace ingot::llm {

extern const llvm::StringRef kTokenizerHeaderText;
/// The source of the tokenizer before and after its generated functions. Parts
/// that only some tokenizers need are enclosed in the lines `//? NAME` and
/// `//? end`.
extern const llvm::StringRef kTokenizerText;
extern const llvm::StringRef kTokenizerEndText;
extern const llvm::StringRef kSamplerText;
extern const llvm::StringRef kChatText;
extern const llvm::StringRef kThreadPoolText;
extern const llvm::StringRef kIngotHeaderText;
extern const llvm::StringRef kMakefileText;
extern const llvm::StringRef kCMakeListsText;

} // namespace ingot::llm

#endif // INGOT_COMPILER_LLM_RUNTIMETEXT_H
