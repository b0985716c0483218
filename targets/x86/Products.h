// Dot products of narrow elements on x86-64.

#ifndef INGOT_TARGETS_X86_PRODUCTS_H
#define INGOT_TARGETS_X86_PRODUCTS_H

#include "targets/TargetDescription.h"

namespace ingot::targets {

/// Dot products of pairs of 16-bit integers (pmaddwd): SSE2, AVX2, AVX-512 BW.
std::vector<Product> pairProducts128();
std::vector<Product> pairProducts256();
std::vector<Product> pairProducts512();
/// Dot products of groups of four 8-bit integers (vpdpbusd): AVX-512 VNNI, and
/// AVX-VNNI.
std::vector<Product> vnniProducts();
std::vector<Product> avxVnniProducts();
/// Products of f16, accumulated in f16 (vfmadd132ph): AVX-512 FP16.
std::vector<Product> halfProducts();
/// Dot products of pairs of bf16 (vdpbf16ps): AVX-512 BF16.
std::vector<Product> bfloatProducts(double perCycle = 2);

} // namespace ingot::targets

#endif // INGOT_TARGETS_X86_PRODUCTS_H
