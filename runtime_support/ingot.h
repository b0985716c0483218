/* ingot.h - what all compiled models share.
 * SPDX-License-Identifier: MIT-0
 *
 * Every generated header contains this text, so that it stands alone; the guard
 * lets any number of them, and this file, meet in one program. */
#ifndef INGOT_RUNTIME_H
#define INGOT_RUNTIME_H 1

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ingot_status {
  INGOT_OK = 0,
  INGOT_ERROR_NULL = 1, /* a pointer that is needed is null */
  INGOT_ERROR_ALIGNMENT =
      2, /* arena, weights or tensors are not aligned as required */
  INGOT_ERROR_SPECIALIZED = 3, /* an input fixed at compile time differs */
  INGOT_ERROR_WEIGHTS = 4,     /* not the weights file of this very model */
  INGOT_ERROR_TARGET = 5,      /* the machine runs no target compiled for */
  INGOT_ERROR_SHAPE =
      6, /* a size is out of bounds, or not the one it must equal */
  INGOT_ERROR_DEVICE = 7,   /* there is no device, or it failed */
  INGOT_ERROR_CAPACITY = 8, /* the device or the host has too little memory */
  INGOT_ERROR_PLACE =
      9, /* a tensor is not in the memory that io says it is in */
  INGOT_ERROR_BUSY = 10 /* another thread is using the handle */
} ingot_status;

/* Where the tensors of a run are, for models whose kernels run on a device. */
typedef enum ingot_place { INGOT_ON_HOST = 0, INGOT_ON_DEVICE = 1 } ingot_place;

/* Part [begin, end) of a loop. */
typedef void (*ingot_body)(void *argument, ptrdiff_t begin, ptrdiff_t end);

/* What a caller may lend to a model; all of it may be zero. */
typedef struct ingot_context {
  /* Calls body(argument, begin, end) for parts that make up [0, extent), on any
   * threads in any order, and returns when all are done. Null: the model runs
   * on the calling thread. */
  void (*parallel_for)(void *user, ptrdiff_t extent, ingot_body body,
                       void *argument);
  void *user;
  /* Called before (finished = 0) and after (finished = 1) each kernel, by its
   * number in the order of the run, by one thread at a time; only by models
   * compiled with --trace, which have a function <name>_kernel_name for that
   * number. */
  void (*trace)(void *trace_user, int32_t kernel, int32_t finished);
  void *trace_user;
} ingot_context;

#ifdef __cplusplus
}
#endif
#endif /* INGOT_RUNTIME_H */
