// Products of narrow integers on Hexagon's vectors.
//
// VRMPY multiplies groups of four bytes and adds the four products to a lane of 32
// bits, which wraps. Of two vectors it takes both multipliers of a packet. Where one
// operand is the same group in all lanes, it comes from a scalar register: that form
// takes one multiplier, so that a packet holds two, and nothing is copied to all
// lanes first. The vector is unsigned there, the word of either sign.
//
// What instructions compute and how many a packet holds: Qualcomm Hexagon V67 HVX
// Programmer's Reference Manual; the assembler of LLVM 22 accepts such packets only.

#include "targets/hexagon/Products.h"

namespace ingot::targets {

#define BUILTIN(NAME) "__builtin_HEXAGON_V6_" NAME "_acc_128B({2}, {0}, "
#define VECTORS(NAME) BUILTIN(NAME) "{1})"
#define WORD(NAME) BUILTIN(NAME) "int32_t({1}))"

std::vector<Product> hvxProducts() {
  constexpr unsigned group = 4, lanes = 32;
  // Copying a word to all lanes takes a multiplier, too: half a packet for each row
  // of a tile, beside one for each of its vectors, of which there are one to four.
  constexpr double ofVectors = 0.75, ofWords = 2;
  return {
      {"ui8", "si8", group, lanes, ofVectors, VECTORS("vrmpybusv"),
       WORD("vrmpybus"), ofWords},
      {"ui8", "ui8", group, lanes, ofVectors, VECTORS("vrmpyubv"),
       WORD("vrmpyub"), ofWords},
      {"si8", "si8", group, lanes, ofVectors, VECTORS("vrmpybv")},
  };
}

} // namespace ingot::targets
