// Compiles functions of Ingot itself for the widest vectors of the machine that
// runs it.

#ifndef INGOT_TARGETS_HOSTCLONES_H
#define INGOT_TARGETS_HOSTCLONES_H

/// An attribute to write before a function: compiles it once for each vector
/// width. A call executes the clone with the widest vectors that the machine
/// supports.
#if defined(__x86_64__) && defined(__linux__)
#define INGOT_WIDEST_CLONES                                                    \
  __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define INGOT_WIDEST_CLONES
#endif

/// Attributes to write before a function that uses FMA on vectors of 32 or 64
/// bytes. The function must be called only on machines with such instructions.
#if defined(__x86_64__)
#define INGOT_MULTIPLY_ADDS_32 __attribute__((target("avx2,fma")))
#define INGOT_MULTIPLY_ADDS_64 __attribute__((target("avx512f")))
#else
#define INGOT_MULTIPLY_ADDS_32
#define INGOT_MULTIPLY_ADDS_64
#endif

#endif // INGOT_TARGETS_HOSTCLONES_H
