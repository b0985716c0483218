// The formulas in declarations of custom operators: sizes of operands, and
// expressions that compute one element of the result.
//
// The grammar is that of C expressions without assignments: numbers, names,
// name[number], calls, parentheses, - and !, * / %, + -, comparisons, && and
// ||, and c ? a : b.

#ifndef INGOT_COMPILER_IMPORT_CUSTOM_FORMULA_H
#define INGOT_COMPILER_IMPORT_CUSTOM_FORMULA_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace ingot {

struct Formula {
  enum Kind { Number, Name, Apply } kind = Number;
  double number = 0;
  /// The name of a value or, for Apply, of the operator: a spelling such as
  /// "+", "?:" or "[]" (applied to a name and a number), or the name of a
  /// function.
  std::string text = {};
  std::vector<Formula> operands = {};

  bool isName() const { return kind == Name; }
  bool applies(llvm::StringRef name) const {
    return kind == Apply && text == name;
  }
  /// Calls `use` for each name of a value, but not for names of functions.
  void forEachName(llvm::function_ref<void(llvm::StringRef)> use) const;
};

/// Returns the formula that `text` spells, or an error that says what was
/// expected and where.
llvm::Expected<Formula> parseFormula(llvm::StringRef text);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_CUSTOM_FORMULA_H
