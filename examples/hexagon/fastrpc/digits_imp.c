/* The interface of digits.idl by the generated network.
 *
 * A session has the arena, of which there is one: a second session is refused, and calls
 * within a session are the caller's to order. HVX is held while the network runs. */
#include "digits.h"
#include "mnist.h"

#include <AEEStdErr.h>
#include <qurt.h>

static _Alignas(MNIST_ARENA_ALIGN) unsigned char arena[MNIST_ARENA_BYTES];
static int sessions;

int digits_open(const char *uri, remote_handle64 *handle) {
  (void)uri;
  if (__atomic_exchange_n(&sessions, 1, __ATOMIC_ACQUIRE))
    return AEE_EALREADY;
  *handle = (remote_handle64)(uintptr_t)arena;
  return AEE_SUCCESS;
}

int digits_close(remote_handle64 handle) {
  (void)handle;
  __atomic_store_n(&sessions, 0, __ATOMIC_RELEASE);
  return AEE_SUCCESS;
}

int digits_classify(remote_handle64 handle, const float *image, int images,
                    float *scores, int classes) {
  if (handle != (remote_handle64)(uintptr_t)arena ||
      images != MNIST_INPUT3_ELEMENTS ||
      classes != MNIST_PLUS214_OUTPUT_0_ELEMENTS)
    return AEE_EBADPARM;
  if (qurt_hvx_lock(QURT_HVX_MODE_128B) != QURT_EOK)
    return AEE_ERESOURCENOTFOUND;
  mnist_io io = {image, scores};
  ingot_status status = mnist_run(&io, arena, 0);
  qurt_hvx_unlock();
  return status == INGOT_OK ? AEE_SUCCESS : AEE_EFAILED;
}
