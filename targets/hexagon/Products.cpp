// Dot products of narrow integers on Hexagon's vectors.
//
// VRMPY multiplies groups of four 8-bit integers and adds the four products to
// a 32-bit lane, which wraps. With two vector operands, it occupies both
// multipliers of a packet (instructions that are issued together). If one
// operand is the same group in all lanes, that group can be in a scalar
// register. This variant needs no broadcast and occupies one multiplier, so a
// packet contains two of them. Its vector operand is unsigned; the scalar
// operand may be signed or unsigned.
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
  // VRMPY instructions per packet (instructions that are issued together). If
  // both operands are vectors, each row of a tile needs one to four VRMPY, each
  // in a packet of its own, and half a packet to broadcast the scalar of the
  // row. If one operand is a scalar, a packet has two VRMPY.
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
