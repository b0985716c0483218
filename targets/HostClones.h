// Compiles functions of Ingot itself for the widest vectors of the machine that
// runs it.

#ifndef INGOT_TARGETS_HOSTCLONES_H
#define INGOT_TARGETS_HOSTCLONES_H

/// Precedes a function: compiles it once per vector width. A call runs the
/// clone with the widest vectors that the machine supports.
#if defined(__x86_64__) && defined(__linux__)
#define INGOT_WIDEST_CLONES                                                    \
  __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define INGOT_WIDEST_CLONES
#endif

/// Precedes a function that uses FMA on vectors of this many bytes, and is only
/// called on machines that support it.
#if defined(__x86_64__)
#define INGOT_MULTIPLY_ADDS_32 __attribute__((target("avx2,fma")))
#define INGOT_MULTIPLY_ADDS_64 __attribute__((target("avx512f")))
#else
#define INGOT_MULTIPLY_ADDS_32
#define INGOT_MULTIPLY_ADDS_64
#endif

#endif // INGOT_TARGETS_HOSTCLONES_H
