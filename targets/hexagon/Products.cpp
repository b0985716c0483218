// Dot products of narrow integers on Hexagon's vectors.
//
// VRMPY multiplies groups of four 8-bit integers and adds the four products to
// a lane of 32 bits, which wraps. With two vector operands it occupies both
// multipliers of a packet. If one operand is the same group in all lanes, it
// comes from a scalar register: that form occupies one multiplier, so that a
// packet holds two of them, and needs no broadcast. Its vector operand is
// unsigned, the word of either signedness.
//
// Semantics and packets: Qualcomm Hexagon V67 HVX Programmer's Reference
// Manual; the assembler of LLVM 22 accepts only valid packets.

#include "targets/hexagon/Products.h"

namespace ingot::targets {

#define BUILTIN(NAME) "__builtin_HEXAGON_V6_" NAME "_acc_128B({2}, {0}, "
#define VECTORS(NAME) BUILTIN(NAME) "{1})"
#define WORD(NAME) BUILTIN(NAME) "int32_t({1}))"

std::vector<Product> hvxProducts() {
  constexpr unsigned group = 4, lanes = 32;
  // VRMPY per cycle. With vector operands: a packet for each of the one to four
  // vectors of a row of a tile, and half a packet for broadcasting the word of
  // the row. With a word as operand: two per packet.
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
