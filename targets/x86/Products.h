// Dot products of narrow elements on x86-64.

#ifndef INGOT_TARGETS_X86_PRODUCTS_H
#define INGOT_TARGETS_X86_PRODUCTS_H

#include "targets/TargetDescription.h"

namespace ingot::targets {

/// Return dot products of pairs of 16-bit integers (pmaddwd), with SSE2, AVX2
/// and AVX-512 BW.
std::vector<Product> pairProducts128();
std::vector<Product> pairProducts256();
std::vector<Product> pairProducts512();
/// Return dot products of groups of four 8-bit integers (vpdpbusd), with
/// AVX-512 VNNI and AVX-VNNI.
std::vector<Product> vnniProducts();
std::vector<Product> avxVnniProducts();
/// Returns products of f16, accumulated in f16 (vfmadd132ph), with AVX-512
/// FP16.
std::vector<Product> halfProducts();
/// Returns dot products of pairs of bf16 (vdpbf16ps), with AVX-512 BF16, of
/// which a core issues `perCycle` per cycle.
std::vector<Product> bfloatProducts(double perCycle = 2);

} // namespace ingot::targets

#endif // INGOT_TARGETS_X86_PRODUCTS_H
