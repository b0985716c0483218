/* Takes the role of the application processor: classifies ten digits by remote
 * calls, each of which is a method number and buffers.
 *
 * On a phone, FastRPC transfers the buffers to the DSP. Here, caller and skeleton
 * are one process under the emulator, and the buffers are passed directly. The
 * functions of the SDK that the skeleton calls are defined in this file. */
#include "board.h"
#include "digits.h"

#include <AEEStdErr.h>
#include <HAP_compute_res.h>
#include <qurt.h>

enum { pixels = 28 * 28, classes = 10 };

extern const unsigned char *const digit_images[11];

static float image[pixels], scores[classes];
static int held;

/* The VTCM of the emulated DSP: one page, for one session at a time. */
static _Alignas(4096) unsigned char vtcm[1 << 16];

int HAP_compute_res_attr_init(compute_res_attr_t *wanted) {
  *wanted = (compute_res_attr_t){0, 0};
  return 0;
}

int HAP_compute_res_attr_set_vtcm_param(compute_res_attr_t *wanted,
                                        unsigned int vtcm_size,
                                        unsigned int b_single_page) {
  (void)b_single_page;
  wanted->vtcm_size = vtcm_size;
  return 0;
}

unsigned int HAP_compute_res_acquire(compute_res_attr_t *wanted,
                                     unsigned int timeout_us) {
  (void)timeout_us;
  if (held || wanted->vtcm_size > sizeof vtcm)
    return 0;
  wanted->vtcm = vtcm;
  ++held;
  return 1;
}

void *HAP_compute_res_attr_get_vtcm_ptr(compute_res_attr_t *acquired) {
  return acquired->vtcm;
}

int HAP_compute_res_release(unsigned int resources) {
  held -= (int)resources;
  return 0;
}

int qurt_hvx_lock(qurt_hvx_mode_t mode) {
  held += mode == QURT_HVX_MODE_128B;
  return QURT_EOK;
}

int qurt_hvx_unlock(void) {
  --held;
  return QURT_EOK;
}

static int open_session(remote_handle64 *handle) {
  static char uri[] = "digits";
  uint32_t length = sizeof uri;
  remote_arg arguments[] = {{{&length, sizeof length}},
                            {{uri, sizeof uri}},
                            {{handle, sizeof *handle}}};
  return digits_skel_handle_invoke(0, REMOTE_SCALARS_MAKE(0, 2, 1), arguments);
}

static int close_session(remote_handle64 handle) {
  remote_arg arguments[] = {{{&handle, sizeof handle}}};
  return digits_skel_handle_invoke(0, REMOTE_SCALARS_MAKE(1, 1, 0), arguments);
}

static int classify(remote_handle64 handle, uint32_t count) {
  uint32_t lengths[] = {count, classes};
  remote_arg arguments[] = {{{lengths, sizeof lengths}},
                            {{image, sizeof image}},
                            {{scores, sizeof scores}}};
  return digits_skel_handle_invoke(handle, REMOTE_SCALARS_MAKE(2, 2, 1),
                                   arguments);
}

int main(void) {
  remote_handle64 session, second;
  int right = 0;
  if (open_session(&session) != AEE_SUCCESS ||
      open_session(&second) != AEE_EALREADY ||
      classify(session, pixels - 1) != AEE_EBADPARM ||
      classify(session, pixels + 1) != AEE_EBADPARM)
    return 1;
  for (int digit = 0; digit < classes; ++digit) {
    /* The data are the last field of the ONNX file, at any alignment. */
    __builtin_memcpy(image, digit_images[digit + 1] - sizeof image,
                     sizeof image);
    if (classify(session, pixels) != AEE_SUCCESS)
      return 1;
    int best = 0;
    for (int i = 1; i < classes; ++i)
      best = scores[i] > scores[best] ? i : best;
    right += best == digit;
  }
  board_print_number(right);
  board_print(" of 10 right by remote calls\n");
  return right != 10 || held || close_session(session) != AEE_SUCCESS ||
         open_session(&second) != AEE_SUCCESS;
}
