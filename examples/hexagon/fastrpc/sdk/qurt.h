/* Stands for a header of Qualcomm's SDK; see README.md. */
#ifndef QURT_H
#define QURT_H

#define QURT_EOK 0

typedef enum { QURT_HVX_MODE_64B = 0, QURT_HVX_MODE_128B = 1 } qurt_hvx_mode_t;

int qurt_hvx_lock(qurt_hvx_mode_t mode);
int qurt_hvx_unlock(void);

#endif
