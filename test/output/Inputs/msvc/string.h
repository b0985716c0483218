// What generated code uses of <string.h>, for a compiler without a C library.
#include <stddef.h>
extern "C" void *memcpy(void *to, const void *from, size_t bytes);
