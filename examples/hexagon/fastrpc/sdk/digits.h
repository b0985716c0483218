/* Stands for the header that qaic generates from digits.idl; see README.md. */
#ifndef DIGITS_H
#define DIGITS_H

#include <remote.h>

int digits_open(const char *uri, remote_handle64 *handle);
int digits_close(remote_handle64 handle);
int digits_classify(remote_handle64 handle, const float *image, int imageLen,
                    float *scores, int scoresLen);

/* The entry point that FastRPC calls on the DSP. */
int digits_skel_handle_invoke(remote_handle64 handle, uint32_t scalars,
                              remote_arg *arguments);

#endif
