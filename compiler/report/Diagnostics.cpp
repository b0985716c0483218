// Collects and prints diagnostics.

#include "compiler/report/Diagnostics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/JSON.h"

using llvm::StringRef;

namespace ingot {

static const DiagnosticInfo table[] = {
#define INGOT_DIAGNOSTIC(NAME, ID, CLASS, CAUSE, EXAMPLE, FIX)                 \
  {DiagnosticId::NAME, ID, DiagnosticClass::CLASS, CAUSE, EXAMPLE, FIX},
#include "compiler/report/Diagnostics.def"
#undef INGOT_DIAGNOSTIC
};

const DiagnosticInfo &infoOf(DiagnosticId id) {
  return table[static_cast<size_t>(id)];
}

llvm::ArrayRef<DiagnosticInfo> allDiagnostics() { return table; }

StringRef DiagnosticInfo::summary() const {
  size_t end = cause.find(". ");
  return end == StringRef::npos ? cause : cause.take_front(end + 1);
}

namespace {
struct ClassInfo {
  ExitCode code;
  StringRef name, meaning;
};
} // namespace

/// The exit code, JSON name and meaning of each class, in the order of
/// DiagnosticClass.
static const ClassInfo classes[] = {
    {ExitCode::WrongUsage, "usage", "the command line is wrong"},
    {ExitCode::InvalidInput, "invalid",
     "the model, its data or the environment is at fault"},
    {ExitCode::Unsupported, "unsupported",
     "the model is valid, but uses something that Ingot does not support"},
    {ExitCode::ComparisonFailed, "comparison",
     "outputs or sizes differ from the expected ones"},
    {ExitCode::InternalError, "internal", "an error of Ingot itself"},
    {ExitCode::Success, "warning", "the model is compiled all the same"},
};

ExitCode exitCodeOf(DiagnosticClass kind) {
  return classes[static_cast<size_t>(kind)].code;
}
StringRef nameOf(DiagnosticClass kind) {
  return classes[static_cast<size_t>(kind)].name;
}
StringRef meaningOf(DiagnosticClass kind) {
  return classes[static_cast<size_t>(kind)].meaning;
}

/// Returns the length of the valid UTF-8 sequence at the start of `text`, or 0.
static size_t utf8Length(StringRef text) {
  auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.begin());
  unsigned length = llvm::getNumBytesForUTF8(*begin);
  return length <= text.size() &&
                 llvm::isLegalUTF8Sequence(begin, begin + length)
             ? length
             : 0;
}

std::string printable(StringRef text, size_t limit) {
  std::string out;
  size_t skipFrom = text.size(), skipTo = text.size();
  if (text.size() > limit) {
    skipFrom = limit * 2 / 3;
    skipTo = text.size() - limit / 4;
    // Moves both ends of the cut to boundaries of UTF-8 characters.
    while (skipFrom > 0 && (text[skipFrom] & 0xc0) == 0x80)
      --skipFrom;
    while (skipTo < text.size() && (text[skipTo] & 0xc0) == 0x80)
      ++skipTo;
  }
  for (size_t i = 0; i < text.size();) {
    if (i >= skipFrom && i < skipTo) {
      out += "...(" + llvm::utostr(skipTo - skipFrom) + " bytes)...";
      i = skipTo;
      continue;
    }
    unsigned char c = text[i];
    size_t length = utf8Length(text.drop_front(i));
    bool control = c < 0x20 || c == 0x7f ||
                   (c == 0xc2 && length == 2 &&
                    static_cast<unsigned char>(text[i + 1]) < 0xa0);
    if (length == 0 || control) {
      out += "\\x" + llvm::utohexstr(c, /*LowerCase=*/true, /*Width=*/2);
      ++i;
      continue;
    }
    out += text.substr(i, length);
    i += length;
  }
  return out;
}

static constexpr size_t mostOfAKind = 100;

void Diagnostics::report(Diagnostic diagnostic) {
  if (diagnostic.file.empty() &&
      infoOf(diagnostic.id).kind != DiagnosticClass::Usage)
    diagnostic.file = currentFile;
  if (infoOf(diagnostic.id).kind == DiagnosticClass::Warning) {
    if (odd.size() < mostOfAKind)
      odd.push_back(std::move(diagnostic));
    return;
  }
  ++reported;
  Kind &kind = kinds[diagnostic.id];
  if (!diagnostic.node.empty()) {
    std::string words = infoOf(diagnostic.id).name.str() + "\n" +
                        diagnostic.file + "\n" + diagnostic.message + "\n" +
                        diagnostic.supported;
    if (auto it = ofNodes.find(words); it != ofNodes.end()) {
      ++all[it->second].count;
      return;
    }
    if (kind.kept < mostOfAKind)
      ofNodes[words] = all.size();
  }
  if (kind.kept == mostOfAKind) {
    ++kind.left;
    return;
  }
  ++kind.kept;
  all.push_back(std::move(diagnostic));
}

void Diagnostics::clear() {
  all.clear();
  odd.clear();
  ofNodes.clear();
  kinds.clear();
  reported = 0;
}

void Diagnostics::report(DiagnosticId id, const llvm::Twine &message,
                         const llvm::Twine &hint) {
  Diagnostic diagnostic;
  diagnostic.id = id;
  diagnostic.message = message.str();
  if (std::string text = hint.str(); !text.empty())
    diagnostic.hints.push_back(text);
  report(std::move(diagnostic));
}

void Diagnostics::reportFile(DiagnosticId id, StringRef file,
                             const llvm::Twine &message,
                             const llvm::Twine &hint) {
  Diagnostic diagnostic;
  diagnostic.id = id;
  diagnostic.file = file.str();
  diagnostic.message = message.str();
  if (std::string text = hint.str(); !text.empty())
    diagnostic.hints.push_back(text);
  report(std::move(diagnostic));
}

bool Diagnostics::has(DiagnosticId id) const {
  return llvm::any_of(all, [&](const Diagnostic &d) { return d.id == id; });
}

ExitCode Diagnostics::exitCode() const {
  for (DiagnosticClass kind :
       {DiagnosticClass::Internal, DiagnosticClass::Usage,
        DiagnosticClass::Invalid, DiagnosticClass::Comparison,
        DiagnosticClass::Unsupported})
    if (llvm::any_of(all, [&](const Diagnostic &d) {
          return infoOf(d.id).kind == kind;
        }))
      return exitCodeOf(kind);
  return ExitCode::Success;
}

void Diagnostics::print(llvm::raw_ostream &os, bool color) const {
  auto paint = [&](llvm::raw_ostream::Colors c) {
    if (color)
      os.changeColor(c, /*Bold=*/true);
  };
  auto plain = [&] {
    if (color)
      os.resetColor();
  };
  auto show = [&](const Diagnostic &d, StringRef kind) {
    paint(kind == "error" ? llvm::raw_ostream::RED : llvm::raw_ostream::YELLOW);
    os << kind << "[" << infoOf(d.id).name << "]";
    plain();
    os << ": " << d.message;
    if (d.count > 1)
      os << " (" << d.count << " nodes; the first is shown)";
    os << "\n";
    if (!d.file.empty() || !d.node.empty()) {
      os << "  --> " << printable(d.file, 400);
      if (!d.node.empty())
        os << (d.file.empty() ? "" : ": ") << d.node;
      os << "\n";
    }
    if (!d.operands.empty())
      os << "      " << d.operands << "\n";
    if (!d.supported.empty())
      os << "  supported: " << d.supported << "\n";
    for (const std::string &hint : d.hints)
      os << "  hint: " << hint << "\n";
  };
  for (const Diagnostic &d : odd)
    show(d, "warning");
  for (const Diagnostic &d : all)
    show(d, "error");
  for (const auto &[id, kind] : kinds)
    if (kind.left)
      os << "error[" << infoOf(id).name << "]: and " << kind.left
         << " more of this kind\n";
}

void Diagnostics::printJson(llvm::raw_ostream &os) const {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.arrayBegin();
  auto show = [&](const Diagnostic &d) {
    auto text = [&](StringRef key, StringRef value) {
      if (!value.empty())
        json.attribute(key, llvm::json::fixUTF8(value));
    };
    json.objectBegin();
    json.attribute("id", infoOf(d.id).name);
    json.attribute("class", nameOf(infoOf(d.id).kind));
    text("message", d.message);
    text("file", d.file);
    if (d.nodeIndex >= 0)
      json.attribute("node", d.nodeIndex);
    text("name", d.nodeName);
    if (d.count > 1)
      json.attribute("count", static_cast<int64_t>(d.count));
    text("operator", d.operatorName);
    text("operands", d.operands);
    text("supported", d.supported);
    if (!d.hints.empty())
      json.attributeArray("hints", [&] {
        for (const std::string &hint : d.hints)
          json.value(llvm::json::fixUTF8(hint));
      });
    json.objectEnd();
  };
  llvm::for_each(odd, show);
  llvm::for_each(all, show);
  json.arrayEnd();
  os << "\n";
}

} // namespace ingot
