/* See README.md. */
#ifndef HAP_COMPUTE_RES_H
#define HAP_COMPUTE_RES_H

/* What it holds is the SDK's own affair. */
typedef struct {
  unsigned int vtcm_size;
  void *vtcm;
} compute_res_attr_t;

int HAP_compute_res_attr_init(compute_res_attr_t *wanted);
int HAP_compute_res_attr_set_vtcm_param(compute_res_attr_t *wanted,
                                        unsigned int vtcm_size,
                                        unsigned int b_single_page);
/* Returns what to give to the release; 0 if it is not to be had in time. */
unsigned int HAP_compute_res_acquire(compute_res_attr_t *wanted,
                                     unsigned int timeout_us);
void *HAP_compute_res_attr_get_vtcm_ptr(compute_res_attr_t *acquired);
int HAP_compute_res_release(unsigned int resources);

#endif
