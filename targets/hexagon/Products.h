// Dot products of narrow integers on Hexagon's vectors.

#ifndef INGOT_TARGETS_HEXAGON_PRODUCTS_H
#define INGOT_TARGETS_HEXAGON_PRODUCTS_H

#include "targets/TargetDescription.h"

namespace ingot::targets {

/// Returns dot products of groups of four 8-bit integers of any signedness, in
/// vectors of 128 bytes.
std::vector<Product> hvxProducts();

} // namespace ingot::targets

#endif // INGOT_TARGETS_HEXAGON_PRODUCTS_H
