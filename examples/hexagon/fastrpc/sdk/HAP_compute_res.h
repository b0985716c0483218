/* Stands for a header of Qualcomm's SDK; see README.md. */
#ifndef HAP_COMPUTE_RES_H
#define HAP_COMPUTE_RES_H

/* The SDK's type is opaque: only its functions access the fields. */
typedef struct {
  unsigned int vtcm_size;
  void *vtcm;
} compute_res_attr_t;

int HAP_compute_res_attr_init(compute_res_attr_t *wanted);
int HAP_compute_res_attr_set_vtcm_param(compute_res_attr_t *wanted,
                                        unsigned int vtcm_size,
                                        unsigned int b_single_page);
/* Returns an id to pass to HAP_compute_res_release; 0 after the timeout. */
unsigned int HAP_compute_res_acquire(compute_res_attr_t *wanted,
                                     unsigned int timeout_us);
void *HAP_compute_res_attr_get_vtcm_ptr(compute_res_attr_t *acquired);
int HAP_compute_res_release(unsigned int resources);

#endif
