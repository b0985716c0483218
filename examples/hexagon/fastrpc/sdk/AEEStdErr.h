/* Stands for a header of Qualcomm's SDK; see README.md. */
#ifndef AEESTDERR_H
#define AEESTDERR_H

#define AEE_SUCCESS 0
#define AEE_EFAILED 1
#define AEE_EBADPARM 14
#define AEE_EUNSUPPORTED 20
#define AEE_ERESOURCENOTFOUND 22
#define AEE_EALREADY 26

#endif
