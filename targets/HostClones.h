// Functions of this very program with the widest registers of the machine that runs it.

#ifndef INGOT_TARGETS_HOSTCLONES_H
#define INGOT_TARGETS_HOSTCLONES_H

/// In front of a function: it is compiled for several widths, and the widest that the
/// machine has is called.
#if defined(__x86_64__) && defined(__linux__)
#define INGOT_WIDEST_CLONES                                                    \
  __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define INGOT_WIDEST_CLONES
#endif

/// In front of a function with multiply-adds of so many bytes, which is called only on
/// machines that have these.
#if defined(__x86_64__)
#define INGOT_MULTIPLY_ADDS_32 __attribute__((target("avx2,fma")))
#define INGOT_MULTIPLY_ADDS_64 __attribute__((target("avx512f")))
#else
#define INGOT_MULTIPLY_ADDS_32
#define INGOT_MULTIPLY_ADDS_64
#endif

#endif // INGOT_TARGETS_HOSTCLONES_H
