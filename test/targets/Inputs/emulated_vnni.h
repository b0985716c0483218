// Emulates vpdpbusd for machines without it: multiplies unsigned by signed
// 8-bit integers and adds four products to each 32-bit lane, without saturation
// (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2).
// Also emulates vpmovzxbd and vpmovsxbd, which widen 8-bit to 32-bit integers.
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

template <typename Register>
inline Register emulated_dpbusd(Register sum, Register a, Register b) {
  uint32_t lanes[sizeof(Register) / 4];
  uint8_t left[sizeof(Register)];
  int8_t right[sizeof(Register)];
  memcpy(lanes, &sum, sizeof sum);
  memcpy(left, &a, sizeof a);
  memcpy(right, &b, sizeof b);
  for (unsigned i = 0; i < sizeof(Register); ++i)
    lanes[i / 4] += uint32_t(int32_t(left[i]) * right[i]);
  memcpy(&sum, lanes, sizeof sum);
  return sum;
}

#define _mm512_dpbusd_epi32 emulated_dpbusd
#define _mm256_dpbusd_epi32 emulated_dpbusd
#define _mm_dpbusd_epi32 emulated_dpbusd
#define _mm256_dpbusd_avx_epi32 emulated_dpbusd
#define _mm_dpbusd_avx_epi32 emulated_dpbusd

template <typename Register, typename Byte>
inline Register emulated_widen(__m128i bytes) {
  Byte from[sizeof bytes];
  int32_t lanes[sizeof(Register) / 4];
  memcpy(from, &bytes, sizeof bytes);
  for (unsigned i = 0; i < sizeof(Register) / 4; ++i)
    lanes[i] = from[i];
  Register wide;
  memcpy(&wide, lanes, sizeof wide);
  return wide;
}

#define _mm512_maskz_cvtepu8_epi32(all, x) emulated_widen<__m512i, uint8_t>(x)
#define _mm512_maskz_cvtepi8_epi32(all, x) emulated_widen<__m512i, int8_t>(x)
#define _mm256_cvtepu8_epi32(x) emulated_widen<__m256i, uint8_t>(x)
#define _mm256_cvtepi8_epi32(x) emulated_widen<__m256i, int8_t>(x)
#define _mm_cvtepu8_epi32(x) emulated_widen<__m128i, uint8_t>(x)
#define _mm_cvtepi8_epi32(x) emulated_widen<__m128i, int8_t>(x)
