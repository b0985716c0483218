/* Unpacks the buffers of a remote call and calls the implementation, as the code
 * that qaic generates does; see README.md.
 *
 * The first buffer has scalars and lengths; the input sequences follow, then the
 * output buffers. Methods 0 and 1 open and close a session; the methods of the
 * interface start at 2. */
#include "digits.h"

#include <AEEStdErr.h>

static uint32_t number(const remote_arg *numbers, unsigned index) {
  return ((const uint32_t *)numbers->buf.pv)[index];
}

/* Whether a call has this number of input and output buffers, and at least this
 * number of scalars in the first one. */
static int has(uint32_t scalars, const remote_arg *arguments, unsigned inputs,
               unsigned outputs, unsigned numbers) {
  return REMOTE_SCALARS_INBUFS(scalars) == inputs &&
         REMOTE_SCALARS_OUTBUFS(scalars) == outputs &&
         arguments[0].buf.nLen >= numbers * sizeof(uint32_t);
}

int digits_skel_handle_invoke(remote_handle64 handle, uint32_t scalars,
                              remote_arg *arguments) {
  switch (REMOTE_SCALARS_METHOD(scalars)) {
  case 0:
    if (!has(scalars, arguments, 2, 1, 1) ||
        arguments[1].buf.nLen < number(&arguments[0], 0) ||
        arguments[2].buf.nLen < sizeof(remote_handle64))
      return AEE_EBADPARM;
    return digits_open(arguments[1].buf.pv, arguments[2].buf.pv);
  case 1:
    if (!has(scalars, arguments, 1, 0, 2))
      return AEE_EBADPARM;
    return digits_close(*(const remote_handle64 *)arguments[0].buf.pv);
  case 2:
    if (!has(scalars, arguments, 2, 1, 2) ||
        arguments[1].buf.nLen < number(&arguments[0], 0) * sizeof(float) ||
        arguments[2].buf.nLen < number(&arguments[0], 1) * sizeof(float))
      return AEE_EBADPARM;
    return digits_classify(handle, arguments[1].buf.pv,
                           (int)number(&arguments[0], 0), arguments[2].buf.pv,
                           (int)number(&arguments[0], 1));
  }
  return AEE_EUNSUPPORTED;
}
