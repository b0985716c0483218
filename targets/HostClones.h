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

#endif // INGOT_TARGETS_HOSTCLONES_H
