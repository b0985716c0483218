// Converts ONNX names to C identifiers.

#include "codegen/kernel/Names.h"

#include "codegen/kernel/PrintedFunctions.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace ingot {

static const StringSet<> &reservedNames() {
  static const StringSet<> names = {
      // Keywords of C11 and C++20.
      "alignas", "alignof", "and", "asm", "auto", "bitand", "bitor", "bool",
      "break", "case", "catch", "char", "class", "compl", "concept", "const",
      "consteval", "constexpr", "constinit", "continue", "decltype", "default",
      "delete", "do", "double", "else", "enum", "explicit", "export", "extern",
      "false", "float", "for", "friend", "goto", "if", "inline", "int", "long",
      "mutable", "namespace", "new", "noexcept", "not", "nullptr", "operator",
      "or", "private", "protected", "public", "register", "requires",
      "restrict", "return", "short", "signed", "sizeof", "static", "struct",
      "switch", "template", "this", "throw", "true", "try", "typedef", "typeid",
      "typename", "union", "unsigned", "using", "virtual", "void", "volatile",
      "while", "xor", "main", "std", "char8_t", "char16_t", "char32_t",
      "wchar_t", "and_eq", "not_eq", "or_eq", "xor_eq", "const_cast",
      "dynamic_cast", "reinterpret_cast", "static_cast", "static_assert",
      "thread_local", "co_await", "co_return", "co_yield", "typeof",
      "typeof_unqual",
      // Macros of compilers and common headers, which would replace a field of
      // the same name.
      "linux", "unix", "i386", "NULL", "EOF", "errno", "assert", "stdin",
      "stdout", "stderr", "INFINITY", "NAN", "I", "complex", "imaginary",
      "offsetof", "TRUE", "FALSE", "near", "far", "min", "max", "emit",
      "signals", "slots", "IN", "OUT", "OPTIONAL",
      // Macros of <stdlib.h> and of the headers that it includes, which headers
      // of vector instructions include.
      "RAND_MAX", "EXIT_SUCCESS", "EXIT_FAILURE", "MB_CUR_MAX", "FD_SETSIZE",
      "FD_SET", "FD_CLR", "FD_ISSET", "FD_ZERO", "NFDBITS", "LITTLE_ENDIAN",
      "BIG_ENDIAN", "PDP_ENDIAN", "BYTE_ORDER", "WNOHANG", "WUNTRACED",
      "WSTOPPED", "WEXITED", "WCONTINUED", "WNOWAIT", "WEXITSTATUS", "WTERMSIG",
      "WSTOPSIG", "WIFEXITED", "WIFSIGNALED", "WIFSTOPPED", "WIFCONTINUED",
      "CHAR_BIT", "MB_LEN_MAX", "alloca",
      // The name of a local variable in generated functions that return an
      // error.
      "status"};
  return names;
}

/// Whether a name is a macro of <stdint.h>: SIZE_MAX, INT8_MIN,
/// UINT_FAST16_MAX, INT32_C, SIZE_WIDTH.
static bool isStandardMacro(StringRef name) {
  static constexpr StringLiteral ends[] = {"_MAX", "_MIN", "_C", "_WIDTH"};
  if (llvm::none_of(ends,
                    [&](StringRef end) { return name.consume_back(end); }))
    return false;
  if (is_contained({"SIZE", "PTRDIFF", "SIG_ATOMIC", "WCHAR", "WINT", "RSIZE"},
                   name))
    return true;
  name.consume_front("U");
  if (!name.consume_front("INT"))
    return false;
  if (!name.consume_front("_FAST"))
    name.consume_front("_LEAST");
  unsigned bits;
  return name.empty() || name == "PTR" || name == "MAX" ||
         (!name.consumeInteger(10, bits) && name.empty());
}

/// Whether a name looks like a type or function of the generated source:
/// f32x16, u8x16_u, splat_f32x4, uint8_t, int_fast8_t.
static bool looksLikeType(StringRef name) {
  for (StringRef function : {"splat_", "select_", "load_", "at_", "joined_",
                             "low_half_of_", "high_half_of_"})
    if (name.starts_with(function) &&
        looksLikeType(name.substr(function.size())))
      return true;
  if (name.starts_with_insensitive("ingot_"))
    return true;
  StringRef standard = name;
  if (standard.consume_back("_t")) {
    if (standard == "size" || standard == "ptrdiff" ||
        standard == "max_align" || standard == "string")
      return true;
    standard.consume_front("u");
    if (standard.consume_front("int"))
      return standard.empty() || !isLower(standard.front()) ||
             standard == "ptr" || standard == "max";
  }
  if (!name.consume_front("f") && !name.consume_front("i") &&
      !name.consume_front("u"))
    return false;
  unsigned bits, lanes;
  if (name.consumeInteger(10, bits) || !name.consume_front("x") ||
      name.consumeInteger(10, lanes))
    return false;
  return name.empty() || name == "_u" ||
         (name.consume_front("_a") && !name.consumeInteger(10, bits) &&
          name.empty());
}

std::string toIdentifier(StringRef name) {
  constexpr size_t limit = 60;
  std::string result;
  for (char c : name) {
    if (isAlnum(c))
      result += c;
    else if (!result.empty() && result.back() != '_')
      result += '_';
    if (result.size() > limit)
      break;
  }
  if (result.size() > limit)
    result.resize(limit);
  while (!result.empty() && result.back() == '_')
    result.pop_back();
  if (result.empty() || isDigit(result.front()))
    result.insert(result.begin(), 't');
  if (reservedNames().contains(result) || isHelper(result) ||
      looksLikeType(result) || isStandardMacro(result))
    result += '_';
  return result;
}

std::string toMacroPrefix(StringRef name) {
  return StringRef(toIdentifier(name)).upper();
}

std::string toCommentText(StringRef text) {
  std::string result;
  for (char c : text) {
    bool mark = !result.empty() && ((result.back() == '*' && c == '/') ||
                                    (result.back() == '/' && c == '*'));
    if (mark)
      result += ' ';
    if (c == '\\' || (!isPrint(c) && c != '\n'))
      c = '_';
    // Two question marks in succession could begin a trigraph.
    if (c == '?' && !result.empty() && result.back() == '?')
      c = '_';
    result += c;
  }
  return result;
}

void NameScope::reserveLibrary() {
  static constexpr StringRef ofFloats[] = {
      "acos",        "acosh",     "asin",      "asinh",     "atan",
      "atan2",       "atanh",     "cbrt",      "ceil",      "copysign",
      "cos",         "cosh",      "drem",      "erf",       "erfc",
      "exp",         "exp10",     "exp2",      "expm1",     "fabs",
      "fdim",        "floor",     "fma",       "fmax",      "fmin",
      "fmod",        "frexp",     "gamma",     "hypot",     "ilogb",
      "isinf",       "isnan",     "j0",        "j1",        "jn",
      "ldexp",       "lgamma",    "llrint",    "llround",   "log",
      "log10",       "log1p",     "log2",      "logb",      "lrint",
      "lround",      "modf",      "nan",       "nearbyint", "nextafter",
      "nexttoward",  "pow",       "remainder", "remquo",    "rint",
      "round",       "roundeven", "scalb",     "scalbln",   "scalbn",
      "significand", "sin",       "sincos",    "sinh",      "sqrt",
      "tan",         "tanh",      "tgamma",    "trunc",     "y0",
      "y1",          "yn"};
  static constexpr StringRef others[] = {
      "abort",     "abs",      "alloca",  "bcmp",     "bcopy",    "bzero",
      "cabs",      "calloc",   "carg",    "cexp",     "cimag",    "clog",
      "conj",      "cpow",     "cproj",   "creal",    "csin",     "csqrt",
      "dcgettext", "dgettext", "div",     "exit",     "ffs",      "fprintf",
      "fputc",     "fputs",    "free",    "fwrite",   "gettext",  "imaxabs",
      "index",     "isalnum",  "isalpha", "isascii",  "isblank",  "iscntrl",
      "isdigit",   "isfinite", "isgraph", "islower",  "isnormal", "isprint",
      "ispunct",   "isspace",  "isupper", "iswalnum", "isxdigit", "labs",
      "llabs",     "malloc",   "memchr",  "memcmp",   "memcpy",   "memmove",
      "mempcpy",   "memset",   "printf",  "putchar",  "puts",     "realloc",
      "rindex",    "scanf",    "signbit", "snprintf", "sprintf",  "stpcpy",
      "strcat",    "strchr",   "strcmp",  "strcpy",   "strcspn",  "strdup",
      "strlen",    "strncat",  "strncmp", "strncpy",  "strpbrk",  "strrchr",
      "strspn",    "strstr",   "toascii", "tolower",  "toupper",  "vprintf",
      "yield"};
  for (StringRef function : ofFloats)
    for (StringRef suffix : {"", "f", "l"})
      reserve((function + suffix).str());
  for (StringRef function : others)
    reserve(function);
}

std::string NameScope::unique(StringRef name) {
  return uniqueIdentifier(toIdentifier(name));
}

std::string NameScope::uniqueIdentifier(StringRef base) {
  std::string result = base.str();
  for (unsigned &last = lastSuffix.try_emplace(base, 1).first->second;
       taken.lookup(result);)
    result = (base + "_" + Twine(++last)).str();
  taken[result] = true;
  return result;
}

std::string NameScope::numbered(StringRef base) {
  unsigned &number = nextNumber[base];
  std::string result;
  do
    result = (base + Twine(number++)).str();
  while (taken.lookup(result));
  taken[result] = true;
  return result;
}

} // namespace ingot
