/* Implements the interface of digits.idl with the generated network.
 *
 * There is one arena (working memory of the network), which belongs to the open
 * session: a second session is rejected, and the caller must not make concurrent
 * calls within a session. HVX and VTCM are acquired for each call and released
 * after it, so that other processes on the DSP can use them. */
#include "digits.h"
#include "mnist_near.h"

#include <AEEStdErr.h>
#include <HAP_compute_res.h>
#include <qurt.h>

static _Alignas(
    MNIST_NEAR_ARENA_ALIGN) unsigned char arena[MNIST_NEAR_ARENA_BYTES];
static int sessions;
/* How long a call waits for VTCM that another process holds. */
enum { timeout_us = 100000 };

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
      images != MNIST_NEAR_INPUT3_ELEMENTS ||
      classes != MNIST_NEAR_PLUS214_OUTPUT_0_ELEMENTS)
    return AEE_EBADPARM;
  compute_res_attr_t wanted;
  HAP_compute_res_attr_init(&wanted);
  HAP_compute_res_attr_set_vtcm_param(&wanted, MNIST_NEAR_VTCM_BYTES,
                                      /*b_single_page=*/1);
  unsigned int resources = HAP_compute_res_acquire(&wanted, timeout_us);
  if (!resources)
    return AEE_ERESOURCENOTFOUND;
  int result = AEE_ERESOURCENOTFOUND;
  if (qurt_hvx_lock(QURT_HVX_MODE_128B) == QURT_EOK) {
    mnist_near_io io = {image, scores,
                        HAP_compute_res_attr_get_vtcm_ptr(&wanted)};
    ingot_status status = mnist_near_run(&io, arena, 0);
    qurt_hvx_unlock();
    result = status == INGOT_OK ? AEE_SUCCESS : AEE_EFAILED;
  }
  HAP_compute_res_release(resources);
  return result;
}
