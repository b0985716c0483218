// Reads tokenizer.json. The file is untrusted: each fault is a diagnostic.

#include "compiler/llm/Tokenizer.h"
#include "compiler/report/ReadJson.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <map>

using namespace llvm;

namespace ingot::llm {

/// The pattern of GPT-2, which the pre-tokenizer ByteLevel applies.
static constexpr StringLiteral kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// Token numbers must be smaller than this; larger ones indicate a damaged
/// file.
static constexpr int64_t kMostVocabulary = 1 << 24;

int32_t Tokenizer::find(StringRef text) const {
  for (int32_t token : vocabulary)
    if (texts[token] == text)
      return token;
  return -1;
}

/// Maps each character of a byte-level vocabulary to the byte that it stands
/// for.
static const std::map<uint32_t, char> &byteAlphabet() {
  static const std::map<uint32_t, char> alphabet = [] {
    std::map<uint32_t, char> result;
    uint32_t next = 256;
    for (unsigned byte = 0; byte < 256; ++byte) {
      bool isPrinted = (byte >= '!' && byte <= '~') ||
                       (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
      result[isPrinted ? byte : next++] = char(byte);
    }
    return result;
  }();
  return alphabet;
}

/// Returns the bytes that a byte-level token stands for, and sets `isMapped`.
/// If `text` has a character outside of the alphabet, clears `isMapped` and
/// returns `text`.
static std::string byteLevelText(StringRef text, bool &isMapped) {
  isMapped = false;
  auto points = decodeUtf8(text);
  if (!points)
    return text.str();
  std::string bytes;
  for (uint32_t point : *points) {
    auto known = byteAlphabet().find(point);
    if (known == byteAlphabet().end())
      return text.str();
    bytes += known->second;
  }
  isMapped = true;
  return bytes;
}

namespace {
class Reader {
public:
  Reader(StringRef path, Diagnostics &diagnostics)
      : path(path), diagnostics(diagnostics) {}

  std::optional<Tokenizer> run() {
    auto buffer = MemoryBuffer::getFile(path);
    if (!buffer) {
      diagnostics.reportFile(DiagnosticId::CannotRead, path,
                             "`" + printable(path) + "` cannot be read: " +
                                 buffer.getError().message(),
                             "a tokenizer.json as the package `tokenizers` "
                             "writes it is needed");
      return std::nullopt;
    }
    if (!json::isUTF8((*buffer)->getBuffer())) {
      invalid("the file is not UTF-8");
      return std::nullopt;
    }
    Expected<json::Value> root = ingot::readJson((*buffer)->getBuffer());
    if (!root) {
      invalid("the file " + toString(root.takeError()));
      return std::nullopt;
    }
    const json::Object *object = root->getAsObject();
    const json::Object *model = object ? object->getObject("model") : nullptr;
    if (!model) {
      invalid("the file has no object `model`");
      return std::nullopt;
    }
    readNormalizer(object->get("normalizer"));
    readPreTokenizer(object->get("pre_tokenizer"));
    readModel(*model);
    if (!diagnostics.empty())
      return std::nullopt;
    readAdded(object->getArray("added_tokens"));
    finishTokens();
    readPostProcessor(object->get("post_processor"));
    readDecoder(object->get("decoder"));
    readTruncation(object->getObject("truncation"));
    if (!diagnostics.empty())
      return std::nullopt;
    return std::move(result);
  }

private:
  std::string path;
  Diagnostics &diagnostics;
  Tokenizer result;
  std::map<std::string, int32_t> numbers;

  void invalid(const Twine &what) {
    diagnostics.reportFile(DiagnosticId::CannotRead, path,
                           "the tokenizer is invalid: " + what,
                           "write the file again with the package "
                           "`tokenizers`");
  }
  void unsupported(const Twine &what, const Twine &hint = "") {
    Diagnostic diagnostic;
    diagnostic.id = DiagnosticId::UnsupportedForm;
    diagnostic.file = path;
    diagnostic.message = ("the tokenizer has " + what).str();
    diagnostic.supported =
        "models BPE, Unigram, WordPiece, WordLevel; docs/llm.md lists the "
        "normalizers, pre-tokenizers, post-processors and decoders";
    if (!hint.isTriviallyEmpty())
      diagnostic.hints.push_back(hint.str());
    diagnostics.report(std::move(diagnostic));
  }

  static StringRef textOf(const json::Object &object, StringRef key,
                          StringRef byDefault = "") {
    return object.getString(key).value_or(byDefault);
  }
  static bool flagOf(const json::Object &object, StringRef key,
                     bool byDefault = false) {
    return object.getBoolean(key).value_or(byDefault);
  }

  /// Calls `read` for a component (such as a normalizer) or, if the component
  /// is a Sequence, for each component in its array `list`. Does nothing if
  /// `value` is null. `kind` names the component in diagnostics.
  template <typename Read>
  void each(const json::Value *value, StringRef list, StringRef kind, Read read,
            unsigned depth = 0) {
    if (!value || value->getAsNull())
      return;
    const json::Object *object = value->getAsObject();
    if (!object || depth > 16)
      return invalid("a " + kind + " is not an object");
    StringRef type = textOf(*object, "type");
    if (type != "Sequence")
      return read(type, *object);
    const json::Array *parts = object->getArray(list);
    if (!parts)
      return invalid("a Sequence without `" + list + "`");
    for (const json::Value &part : *parts)
      each(&part, list, kind, read, depth + 1);
  }

  std::string set(const CharSet &chars) {
    result.parts.insert({"chars", "regex"});
    auto known = llvm::find(result.sets, chars);
    if (known == result.sets.end())
      known = result.sets.insert(result.sets.end(), chars);
    return std::to_string(known - result.sets.begin());
  }
  std::string addPattern(RegexProgram program) {
    result.parts.insert({"chars", "regex"});
    result.patterns.push_back(std::move(program));
    return "kPattern" + std::to_string(result.patterns.size() - 1);
  }
  /// Adds a regular expression; returns the name of its array in the generated
  /// code, such as "kPattern3", or an empty string after an error.
  std::string regex(StringRef pattern) {
    std::string error;
    auto program = compileRegex(pattern, result.sets, error);
    if (program)
      return addPattern(std::move(*program));
    unsupported("the pattern `" + printable(pattern, 300) + "` with " + error);
    return "";
  }
  /// Reads a `pattern` of the form {"String": text} or {"Regex": pattern};
  /// returns the same as `regex`.
  std::string readPattern(const json::Object &object) {
    const json::Object *pattern = object.getObject("pattern");
    if (pattern) {
      if (auto text = pattern->getString("Regex"))
        return regex(*text);
      if (auto text = pattern->getString("String"); text && !text->empty())
        return addPattern(literalRegex(*text, result.sets));
    }
    invalid("a `pattern` that is neither a Regex nor a String");
    return "";
  }

  void normalForm(bool isComposed, bool isCompatible) {
    result.parts.insert({"normal", "mapping"});
    if (isCompatible)
      result.parts.insert("compatible");
    result.normalize.push_back(std::string("text = normal_form(text, ") +
                               (isComposed ? "true" : "false") + ", " +
                               (isCompatible ? "true" : "false") + ");");
  }
  void lowercase() {
    result.parts.insert({"lower", "mapping"});
    result.normalize.push_back("text = lowercase(text);");
  }
  void remove(Chars chars) {
    result.parts.insert("filter");
    result.normalize.push_back("text = without(text, " + set(charsOf(chars)) +
                               ");");
  }

  void readNormalizer(const json::Value *value) {
    each(value, "normalizers", "normalizer",
         [&](StringRef type, const json::Object &object) {
           auto &lines = result.normalize;
           if (type == "NFC" || type == "NFD")
             normalForm(type == "NFC", false);
           else if (type == "NFKC" || type == "NFKD")
             normalForm(type == "NFKC", true);
           else if (type == "Lowercase")
             lowercase();
           else if (type == "StripAccents")
             remove(Chars::Accents);
           else if (type == "Prepend")
             lines.push_back("if (!text.empty())\n    text.insert(0, " +
                             cLiteral(textOf(object, "prepend")) + ");");
           else if (type == "Replace") {
             result.parts.insert("replace");
             lines.push_back("text = replaced(text, " + readPattern(object) +
                             ", " + cLiteral(textOf(object, "content")) + ");");
           } else if (type == "Strip") {
             result.parts.insert("trim");
             lines.push_back(
                 "text = trimmed(text, " + set(charsOf(Chars::Space)) + ", " +
                 (flagOf(object, "strip_left", true) ? "true" : "false") +
                 ", " +
                 (flagOf(object, "strip_right", true) ? "true" : "false") +
                 ");");
           } else if (type == "BertNormalizer") {
             readBertNormalizer(object);
           } else
             unsupported("the normalizer `" + printable(type) + "`");
         });
  }

  void readBertNormalizer(const json::Object &object) {
    bool isLower = flagOf(object, "lowercase", true);
    if (flagOf(object, "clean_text", true)) {
      remove(Chars::Control);
      result.parts.insert("spaces");
      result.normalize.push_back("text = with_spaces(text, " +
                                 set(charsOf(Chars::CleanSpace)) + ");");
    }
    if (flagOf(object, "handle_chinese_chars", true)) {
      result.parts.insert("surround");
      result.normalize.push_back("text = surrounded(text, " +
                                 set(charsOf(Chars::Chinese)) + ");");
    }
    if (flagOf(object, "strip_accents", isLower)) {
      normalForm(false, false);
      remove(Chars::BertAccents);
    }
    if (isLower)
      lowercase();
  }

  void addSplit(const std::string &pattern, StringRef behavior,
                bool isInverted = false) {
    static constexpr std::pair<StringLiteral, StringLiteral> behaviors[] = {
        {"Removed", "REMOVED"},
        {"Isolated", "ISOLATED"},
        {"MergedWithPrevious", "MERGED_WITH_PREVIOUS"},
        {"MergedWithNext", "MERGED_WITH_NEXT"},
        {"Contiguous", "CONTIGUOUS"}};
    auto known = llvm::find_if(
        behaviors, [&](const auto &entry) { return entry.first == behavior; });
    if (known == std::end(behaviors))
      return unsupported("a split with the behavior `" + printable(behavior) +
                         "`");
    result.parts.insert({"chars", "split"});
    result.preTokenize.push_back("pieces = split(pieces, " + pattern + ", " +
                                 known->second.str() + ", " +
                                 (isInverted ? "true" : "false") + ");");
  }
  void addPrefix(StringRef prefix, bool onlyFirst) {
    result.parts.insert({"chars", "prefix"});
    result.preTokenize.push_back("pieces = prefixed(std::move(pieces), " +
                                 cLiteral(prefix) + ", " +
                                 (onlyFirst ? "true" : "false") + ");");
  }
  std::string setPattern(const CharSet &chars) {
    return addPattern(charRegex(chars, result.sets));
  }

  /// Returns before which pieces of text a space is inserted: "always" (before
  /// all pieces), "first" (before the first piece of a text) or "never".
  StringRef prependScheme(const json::Object &object) {
    // Older files have only `add_prefix_space`.
    StringRef scheme =
        textOf(object, "prepend_scheme",
               flagOf(object, "add_prefix_space", true) ? "always" : "never");
    if (scheme != "always" && scheme != "first" && scheme != "never")
      invalid("the prepend_scheme `" + printable(scheme) + "`");
    return scheme;
  }

  void readPreTokenizer(const json::Value *value) {
    each(value, "pretokenizers", "pre-tokenizer",
         [&](StringRef type, const json::Object &object) {
           if (result.isByteLevel)
             return unsupported("the pre-tokenizer `" + printable(type) +
                                "` after ByteLevel");
           if (type == "ByteLevel") {
             if (flagOf(object, "add_prefix_space", true))
               addPrefix(" ", false);
             if (flagOf(object, "use_regex", true))
               addSplit(regex(kGpt2Pattern), "Isolated");
             result.isByteLevel = true;
           } else if (type == "Metaspace") {
             StringRef mark = textOf(object, "replacement", "\u2581");
             result.parts.insert({"replace", "metaspace"});
             result.preTokenize.push_back(
                 "for (Piece &piece : pieces)\n    piece.text = "
                 "replaced(piece.text, " +
                 addPattern(literalRegex(" ", result.sets)) + ", " +
                 cLiteral(mark) + ");");
             StringRef scheme = prependScheme(object);
             if (scheme != "never")
               addPrefix(mark, scheme == "first");
             if (flagOf(object, "split", true))
               addSplit(addPattern(literalRegex(mark, result.sets)),
                        "MergedWithNext");
           } else if (type == "Split") {
             addSplit(readPattern(object), textOf(object, "behavior"),
                      flagOf(object, "invert"));
           } else if (type == "Digits") {
             addSplit(setPattern(charsOf(Chars::Numeric)),
                      flagOf(object, "individual_digits") ? "Isolated"
                                                          : "Contiguous");
           } else if (type == "Punctuation") {
             addSplit(setPattern(charsOf(Chars::Punctuation)),
                      textOf(object, "behavior", "Isolated"));
           } else if (type == "Whitespace") {
             // The pattern is \w+|[^\w\s]+ with the \w of Rust.
             CharSet word = charsOf(Chars::RustWord), other = word;
             other.add(charsOf(Chars::Space));
             addSplit(
                 addPattern(runsRegex({word, other.complement()}, result.sets)),
                 "Removed", true);
           } else if (type == "WhitespaceSplit") {
             addSplit(setPattern(charsOf(Chars::Space)), "Removed");
           } else if (type == "CharDelimiterSplit") {
             addSplit(addPattern(literalRegex(textOf(object, "delimiter"),
                                              result.sets)),
                      "Removed");
           } else if (type == "BertPreTokenizer") {
             addSplit(setPattern(charsOf(Chars::Space)), "Removed");
             addSplit(setPattern(charsOf(Chars::Punctuation)), "Isolated");
           } else {
             unsupported("the pre-tokenizer `" + printable(type) + "`");
           }
         });
  }

  /// Adds a token; false with a diagnostic if its number is invalid or its text
  /// too long.
  bool add(StringRef text, int64_t number) {
    if (number < 0 || number >= kMostVocabulary) {
      invalid("the token `" + printable(text) + "` has the number " +
              Twine(number));
      return false;
    }
    if (text.size() > 60000) {
      invalid("a token of " + Twine(text.size()) + " bytes");
      return false;
    }
    if (size_t(number) >= result.texts.size()) {
      result.texts.resize(number + 1);
      result.isDefined.resize(number + 1);
    }
    result.texts[number] = text.str();
    result.isDefined[number] = true;
    return true;
  }

  void readModel(const json::Object &model) {
    StringRef type = textOf(model, "type");
    // Old files do not state the type of the model; it follows from the keys.
    if (type.empty())
      type = model.getArray("merges")                ? "BPE"
             : model.get("max_input_chars_per_word") ? "WordPiece"
             : model.getArray("vocab")               ? "Unigram"
                                                     : "WordLevel";
    if (type != "BPE" && type != "Unigram" && type != "WordPiece" &&
        type != "WordLevel")
      return unsupported("the model `" + printable(type) + "`");
    if (type == "Unigram")
      return readUnigram(model);
    const json::Object *vocab = model.getObject("vocab");
    if (!vocab)
      return invalid("a model without `vocab`");
    for (const auto &[text, number] : *vocab) {
      auto value = number.getAsInteger();
      if (!value || !add(text, *value))
        return invalid("the number of the token `" + printable(text) + "`");
      numbers[text.str()] = *value;
      result.vocabulary.push_back(*value);
    }
    llvm::sort(result.vocabulary);
    if (std::adjacent_find(result.vocabulary.begin(),
                           result.vocabulary.end()) != result.vocabulary.end())
      return invalid("two tokens with the same number");
    if (type == "BPE")
      return readBpe(model);
    result.parts.insert(type == "WordPiece" ? "wordpiece" : "wordlevel");
    StringRef unknown = textOf(model, "unk_token", "[UNK]");
    auto known = numbers.find(unknown.str());
    if (known == numbers.end())
      return invalid("the token for unknown words, `" + printable(unknown) +
                     "`, is not in `vocab`");
    result.unknown = known->second;
    result.continuingPrefix = textOf(model, "continuing_subword_prefix", "##");
    result.longestWord =
        model.getInteger("max_input_chars_per_word").value_or(100);
    if (result.isByteLevel)
      unsupported("the pre-tokenizer `ByteLevel` with the model `" + type +
                  "`");
  }

  void readBpe(const json::Object &model) {
    result.parts.insert("bpe");
    if (const json::Value *dropout = model.get("dropout");
        dropout && !dropout->getAsNull() && dropout->getAsNumber() != 0.0)
      return unsupported("a BPE model with `dropout`, which is random",
                         "set it to null");
    result.continuingPrefix = textOf(model, "continuing_subword_prefix");
    result.wordSuffix = textOf(model, "end_of_word_suffix");
    result.hasByteTokens = flagOf(model, "byte_fallback");
    result.fusesUnknown = flagOf(model, "fuse_unk");
    result.ignoresMerges = flagOf(model, "ignore_merges");
    if (auto unknown = model.getString("unk_token")) {
      auto known = numbers.find(unknown->str());
      if (known == numbers.end())
        return invalid("the token for unknown text, `" + printable(*unknown) +
                       "`, is not in `vocab`");
      result.unknown = known->second;
    }
    const json::Array *merges = model.getArray("merges");
    if (!merges)
      return invalid("a BPE model without `merges`");
    for (const json::Value &merge : *merges) {
      std::string left, right;
      if (auto text = merge.getAsString()) {
        auto [first, second] = text->split(' ');
        left = first, right = second;
      } else if (const json::Array *pair = merge.getAsArray();
                 pair && pair->size() == 2) {
        left = (*pair)[0].getAsString().value_or("");
        right = (*pair)[1].getAsString().value_or("");
      }
      StringRef rest = right;
      rest.consume_front(result.continuingPrefix);
      auto a = numbers.find(left), b = numbers.find(right),
           joined = numbers.find(left + rest.str());
      if (a == numbers.end() || b == numbers.end() || joined == numbers.end())
        return invalid("the merge " + Twine(result.merges.size()) +
                       " uses tokens that are not in `vocab`");
      result.merges.push_back({a->second, b->second, joined->second});
    }
    if (result.isByteLevel &&
        (!result.continuingPrefix.empty() || !result.wordSuffix.empty()))
      return unsupported("a byte-level BPE model with a continuing_subword_"
                         "prefix or an end_of_word_suffix");
    result.parts.insert(result.isByteLevel ? "bytes" : "letters");
  }

  void readUnigram(const json::Object &model) {
    result.parts.insert("unigram");
    if (result.isByteLevel)
      return unsupported("the pre-tokenizer `ByteLevel` with the model "
                         "`Unigram`");
    const json::Array *vocab = model.getArray("vocab");
    if (!vocab || vocab->empty())
      return invalid("a Unigram model without `vocab`");
    double least = 0;
    for (const json::Value &value : *vocab) {
      const json::Array *entry = value.getAsArray();
      auto text = entry && entry->size() == 2 ? (*entry)[0].getAsString()
                                              : std::nullopt;
      auto score = entry && entry->size() == 2 ? (*entry)[1].getAsNumber()
                                               : std::nullopt;
      if (!text || !score)
        return invalid("the entry " + Twine(result.texts.size()) +
                       " of `vocab`");
      int32_t number = result.texts.size();
      if (!add(*text, number))
        return;
      numbers[text->str()] = number;
      result.scores.push_back(*score);
      least = std::min(least, *score);
    }
    // If a text has several token numbers, the last one counts.
    for (const auto &[text, number] : numbers)
      if (!text.empty())
        result.vocabulary.push_back(number);
    llvm::sort(result.vocabulary);
    result.unknownScore = least - 10;
    result.fusesUnknown = true;
    result.hasByteTokens = flagOf(model, "byte_fallback");
    if (auto unknown = model.getInteger("unk_id")) {
      if (*unknown < 0 || size_t(*unknown) >= result.texts.size())
        return invalid("unk_id " + Twine(*unknown) + " is not in `vocab`");
      result.unknown = *unknown;
    }
  }

  void readAdded(const json::Array *added) {
    if (!added)
      return;
    for (const json::Value &value : *added) {
      const json::Object *object = value.getAsObject();
      auto number = object ? object->getInteger("id") : std::nullopt;
      auto text = object ? object->getString("content") : std::nullopt;
      if (!number || !text)
        return invalid("an added token without `id` or `content`");
      if (!add(*text, *number))
        return;
      numbers[text->str()] = *number;
      if (flagOf(*object, "special"))
        result.special.push_back(*number);
      if (!text->empty())
        result.added.push_back(
            {int32_t(*number), text->str(), flagOf(*object, "single_word"),
             flagOf(*object, "lstrip"), flagOf(*object, "rstrip"),
             flagOf(*object, "normalized")});
    }
    if (!result.added.empty())
      result.parts.insert({"chars", "regex"});
    llvm::sort(result.special);
    result.special.erase(llvm::unique(result.special), result.special.end());
  }

  /// Replaces the texts of the tokens of a byte-level model by the bytes that
  /// they stand for.
  void finishTokens() {
    if (!result.isByteLevel)
      return;
    std::vector<int32_t> usable;
    std::vector<bool> isUsable(result.texts.size());
    for (auto [token, text] : llvm::enumerate(result.texts)) {
      bool isMapped;
      std::string bytes = byteLevelText(text, isMapped);
      isUsable[token] = isMapped;
      text = bytes;
    }
    // A token with characters outside of the byte alphabet never occurs in a
    // word, so it is removed from the vocabulary.
    for (int32_t token : result.vocabulary)
      if (isUsable[token])
        usable.push_back(token);
    result.vocabulary = usable;
  }

  int32_t numberOf(StringRef text) {
    auto known = numbers.find(text.str());
    if (known != numbers.end())
      return known->second;
    invalid("the post-processor uses the token `" + printable(text) +
            "`, which does not exist");
    return 0;
  }

  void readPostProcessor(const json::Value *value) {
    each(value, "processors", "post-processor",
         [&](StringRef type, const json::Object &object) {
           if (type == "ByteLevel")
             return;
           if (!result.before.empty() || !result.after.empty())
             return unsupported("several post-processors that add tokens");
           if (type == "BertProcessing" || type == "RobertaProcessing") {
             for (StringRef key : {"cls", "sep"}) {
               const json::Array *pair = object.getArray(key);
               auto number = pair && pair->size() == 2
                                 ? (*pair)[1].getAsInteger()
                                 : std::nullopt;
               if (!number)
                 return invalid("a post-processor without `" + key + "`");
               (key == "cls" ? result.before : result.after).push_back(*number);
             }
             return;
           }
           if (type != "TemplateProcessing")
             return unsupported("the post-processor `" + printable(type) + "`");
           readTemplate(object);
         });
  }

  void readTemplate(const json::Object &object) {
    const json::Array *single = object.getArray("single");
    const json::Object *tokens = object.getObject("special_tokens");
    if (!single)
      return invalid("a TemplateProcessing without `single`");
    bool isAfter = false;
    for (const json::Value &value : *single) {
      const json::Object *part = value.getAsObject();
      if (part && part->getObject("Sequence")) {
        if (isAfter)
          return unsupported("a template with the text twice");
        isAfter = true;
        continue;
      }
      const json::Object *special =
          part ? part->getObject("SpecialToken") : nullptr;
      if (!special)
        return invalid("an entry of `single` is neither a Sequence nor a "
                       "SpecialToken");
      StringRef name = textOf(*special, "id");
      auto &list = isAfter ? result.after : result.before;
      const json::Object *entry = tokens ? tokens->getObject(name) : nullptr;
      if (const json::Array *ids = entry ? entry->getArray("ids") : nullptr) {
        for (const json::Value &id : *ids)
          list.push_back(id.getAsInteger().value_or(0));
      } else {
        list.push_back(numberOf(name));
      }
    }
    if (!isAfter)
      return invalid("a template without the text");
    for (int32_t token : llvm::concat<int32_t>(result.before, result.after))
      if (token < 0 || size_t(token) >= result.texts.size())
        invalid("the post-processor uses the token " + Twine(token) +
                ", which does not exist");
  }

  void readDecoder(const json::Value *value) {
    auto &lines = result.decode;
    if (!value || value->getAsNull()) {
      // Without a decoder the tokens are joined with spaces.
      lines.push_back("if (!is_first)\n    text.insert(0, \" \");");
      return;
    }
    bool isFused = false;
    each(value, "decoders", "decoder",
         [&](StringRef type, const json::Object &object) {
           if (isFused && type != "Strip" && type != "Fuse")
             return unsupported("the decoder `" + printable(type) +
                                "` after Fuse");
           if (type == "ByteLevel") {
             // The texts of a byte-level model are bytes already.
             if (!result.isByteLevel)
               unsupported("the decoder `ByteLevel` without the "
                           "pre-tokenizer `ByteLevel`");
           } else if (type == "Fuse") {
             isFused = true;
           } else if (type == "ByteFallback") {
             result.decodesByteTokens = true;
           } else if (type == "Replace") {
             const json::Object *pattern = object.getObject("pattern");
             if (!pattern || !pattern->getString("String"))
               return unsupported("a decoder `Replace` with a Regex");
             result.parts.insert({"chars", "regex", "replace"});
             lines.push_back("text = replaced(text, " +
                             addPattern(literalRegex(
                                 *pattern->getString("String"), result.sets)) +
                             ", " + cLiteral(textOf(object, "content")) + ");");
           } else if (type == "Metaspace") {
             readMetaspaceDecoder(object);
           } else if (type == "WordPiece") {
             readWordPieceDecoder(object);
           } else if (type == "Strip") {
             StringRef content = textOf(object, "content", " ");
             int64_t start = object.getInteger("start").value_or(0),
                     stop = object.getInteger("stop").value_or(0);
             if (!isFused || stop || content.size() != 1 || start < 0)
               return unsupported("a decoder `Strip` that is not after Fuse, "
                                  "or not at the start, or not of one ASCII "
                                  "character");
             result.stripStart = start;
             result.stripChar = content[0];
           } else if (type == "BPEDecoder") {
             unsupported("the decoder `BPEDecoder`");
           } else {
             unsupported("the decoder `" + printable(type) + "`");
           }
         });
  }

  void readMetaspaceDecoder(const json::Object &object) {
    StringRef mark = textOf(object, "replacement", "\u2581");
    result.parts.insert({"chars", "regex", "replace"});
    std::string pattern = addPattern(literalRegex(mark, result.sets));
    bool drops = prependScheme(object) != "never";
    result.decode.push_back("text = replaced(text, " + pattern + ", " +
                            (drops ? "is_first ? \"\" : \" \"" : "\" \"") +
                            ");");
  }

  void readWordPieceDecoder(const json::Object &object) {
    std::string prefix = cLiteral(textOf(object, "prefix", "##"));
    result.parts.insert("chars");
    result.decode.push_back("if (!is_first) {\n    if (starts_with(text, " +
                            prefix + "))\n      text.erase(0, sizeof " +
                            prefix + " - 1);\n    else\n      text.insert(0, " +
                            "\" \");\n  }");
    if (!flagOf(object, "cleanup", true))
      return;
    result.parts.insert({"regex", "replace"});
    static constexpr std::pair<StringLiteral, StringLiteral> cleanups[] = {
        {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
        {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
        {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
    for (const auto &[from, to] : cleanups)
      result.decode.push_back("text = replaced(text, " +
                              addPattern(literalRegex(from, result.sets)) +
                              ", " + cLiteral(to) + ");");
  }

  void readTruncation(const json::Object *truncation) {
    if (!truncation)
      return;
    int64_t most = truncation->getInteger("max_length").value_or(0);
    if (most <= 0)
      return invalid("a truncation without `max_length`");
    if (textOf(*truncation, "direction", "Right") != "Right" ||
        textOf(*truncation, "strategy", "LongestFirst") == "OnlySecond")
      return unsupported("a truncation that is not at the end of the text");
    result.mostTokens = most;
  }
};
} // namespace

std::optional<Tokenizer> readTokenizer(StringRef path,
                                       Diagnostics &diagnostics) {
  return Reader(path, diagnostics).run();
}

} // namespace ingot::llm
