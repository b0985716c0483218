// What generated code uses of <string.h>, for a compiler without a C library.
#include <stddef.h>
#ifdef __cplusplus
extern "C"
#endif
    void *memcpy(void *to, const void *from, size_t bytes);
