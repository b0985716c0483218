/* Stands for a header of Qualcomm's SDK; see README.md. */
#ifndef REMOTE_H
#define REMOTE_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t remote_handle64;

typedef struct {
  void *pv;
  size_t nLen;
} remote_buf;

typedef union {
  remote_buf buf;
} remote_arg;

/* Packs a method number and the numbers of input and output buffers. */
#define REMOTE_SCALARS_MAKE(METHOD, INPUTS, OUTPUTS)                           \
  ((((uint32_t)(METHOD) & 0x1f) << 24) | (((uint32_t)(INPUTS) & 0xff) << 16) | \
   (((uint32_t)(OUTPUTS) & 0xff) << 8))
#define REMOTE_SCALARS_METHOD(SCALARS) (((SCALARS) >> 24) & 0x1f)
#define REMOTE_SCALARS_INBUFS(SCALARS) (((SCALARS) >> 16) & 0xff)
#define REMOTE_SCALARS_OUTBUFS(SCALARS) (((SCALARS) >> 8) & 0xff)

#endif
