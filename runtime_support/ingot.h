/* ingot.h - the types that all compiled models share.
 * SPDX-License-Identifier: MIT-0
 *
 * Every generated header contains this text and needs no other file. The include guard allows
 * any number of generated headers, and this file, in one program. */
#ifndef INGOT_RUNTIME_H
#define INGOT_RUNTIME_H 2

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ingot_status {
  INGOT_OK = 0,
  INGOT_ERROR_NULL = 1,        /* a required pointer is null */
  INGOT_ERROR_ALIGNMENT = 2,   /* the arena, state, weights or a tensor is misaligned */
  INGOT_ERROR_SPECIALIZED = 3, /* an input differs from the value fixed at compile time */
  INGOT_ERROR_WEIGHTS = 4,     /* the weights file does not belong to this model */
  INGOT_ERROR_TARGET = 5,      /* this machine supports none of the compiled targets */
  INGOT_ERROR_SHAPE = 6,       /* a size is out of bounds or contradicts another one */
  INGOT_ERROR_DEVICE = 7,      /* there is no device, or it reported an error */
  INGOT_ERROR_CAPACITY = 8,    /* the device or the host has too little memory */
  INGOT_ERROR_PLACE = 9,       /* a tensor is not in the memory that io->place states */
  INGOT_ERROR_BUSY = 10        /* another thread is using the handle */
} ingot_status;

/* The memory of the tensors of a run, for models that run on a device. */
typedef enum ingot_place { INGOT_ON_HOST = 0, INGOT_ON_DEVICE = 1 } ingot_place;

/* Executes the iterations [begin, end) of a loop. */
typedef void (*ingot_body)(void *argument, ptrdiff_t begin, ptrdiff_t end);

/* Optional services of the caller. A member that is not used is null. */
typedef struct ingot_context {
  /* Calls body(argument, begin, end) for ranges that together cover [0, extent) once, on any
   * threads and in any order, and returns when all of them are done. If null, the model runs
   * on the calling thread alone. */
  void (*parallel_for)(void *user, ptrdiff_t extent, ingot_body body, void *argument);
  void *user;
  /* Called before (finished = 0) and after (finished = 1) each kernel, by one thread at a time.
   * `kernel` is its number in the order of execution; <name>_kernel_name returns its name. Only
   * models compiled with --trace call this function. */
  void (*trace)(void *trace_user, int32_t kernel, int32_t finished);
  void *trace_user;
  /* The nanoseconds that parallel_for takes to start another thread and to wait for it. A loop
   * that takes less than two and a half times as long runs on the calling thread. 0: not known;
   * only the compiler's estimate decides which loops are divided. */
  uint64_t fork_nanoseconds;
} ingot_context;

#ifdef __cplusplus
}
#endif
#elif INGOT_RUNTIME_H != 2
#error "a header that another version of Ingot generated is included before this one"
#endif /* INGOT_RUNTIME_H */
