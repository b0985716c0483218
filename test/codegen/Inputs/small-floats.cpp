#include "check.h"

#include <cmath>
#include <vector>

/// Reference conversion of a small float format, given its sign, exponent,
/// mantissa, and which codes are special.
struct Format {
  int exponent, mantissa, bias;
  enum { Ieee, OneNan, NegZero, None } specials;

  double decode(unsigned code) const {
    int bits = exponent + mantissa;
    bool sign = code >> bits & 1;
    int e = code >> mantissa & ((1 << exponent) - 1);
    int m = code & ((1 << mantissa) - 1);
    bool top = e == (1 << exponent) - 1;
    if (specials == Ieee && top)
      return m ? NAN : sign ? -INFINITY : INFINITY;
    if (specials == OneNan && top && m == (1 << mantissa) - 1)
      return NAN;
    if (specials == NegZero && code == 1u << bits)
      return NAN;
    double value = e ? std::ldexp((1 << mantissa) + m, e - bias - mantissa)
                     : std::ldexp(m, 1 - bias - mantissa);
    return sign ? -value : value;
  }
  unsigned nan() const {
    return specials == NegZero  ? 1u << (exponent + mantissa)
           : specials == OneNan ? (1u << (exponent + mantissa)) - 1
                                : 0;
  }
  /// Returns the nearest code, found by search; the even one of two equally
  /// near codes. Overflow is decided by rounding as if the format had one more
  /// exponent.
  unsigned encode(double x) const {
    unsigned count = 1u << (exponent + mantissa);
    bool sign = std::signbit(x);
    double size = std::fabs(x);
    unsigned last = count - 1;
    while (!std::isfinite(decode(last)))
      --last;
    unsigned low = 0, high = last;
    while (low < high) {
      unsigned middle = (low + high + 1) / 2;
      if (decode(middle) <= size)
        low = middle;
      else
        high = middle - 1;
    }
    unsigned code = low;
    double step = low == last ? decode(last) - decode(last - 1)
                              : decode(low + 1) - decode(low);
    double rest = size - decode(low);
    if (rest > step / 2 || (rest == step / 2 && low % 2))
      code = low + 1;
    if (code > last)
      code = specials == Ieee ? last + 1 : specials == None ? last : nan();
    if (specials == NegZero && (code == 0 || code == nan()))
      return code;
    return code | (sign ? count : 0);
  }
};

template <typename Code>
void checkWiden(const char *name, const Format &format,
                const std::vector<Code> &in, const std::vector<float> &out) {
  for (size_t i = 0; i < in.size(); ++i) {
    float wanted = float(format.decode(in[i]));
    if (std::isnan(wanted) ? !std::isnan(out[i]) : true)
      if (!std::isnan(wanted))
        same(name, out[i], wanted);
    if (std::isnan(wanted) != std::isnan(out[i]))
      std::printf("%s: NaN at %zu\n", name, i), std::exit(1);
  }
}

template <typename From, typename Code>
void checkNarrow(const char *name, const Format &format,
                 const std::vector<From> &in, const std::vector<Code> &out) {
  for (size_t i = 0; i < in.size(); ++i) {
    if (std::isnan(in[i])) {
      if (format.specials != Format::None && !std::isnan(format.decode(out[i])))
        std::printf("%s: no NaN at %zu\n", name, i), std::exit(1);
      continue;
    }
    if (Code(format.encode(in[i])) != out[i]) {
      std::printf("%s: %a gives %#x instead of %#x\n", name, double(in[i]),
                  unsigned(out[i]), format.encode(in[i]));
      std::exit(1);
    }
  }
}

/// Returns values of all magnitudes, ties, neighbours of ties, and special
/// values.
template <typename From> std::vector<From> samples(const Format &format) {
  std::vector<From> all = {From(0),         From(-0.0), From(INFINITY),
                           From(-INFINITY), From(NAN),  From(1e38),
                           From(-1e38),     From(1e-45)};
  uint64_t state = 88172645463325252u;
  unsigned codes = 1u << (format.exponent + format.mantissa);
  while (all.size() + 8 <= 65536) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    double a = format.decode(state % codes),
           b = format.decode(state % codes + 1);
    if (!std::isfinite(a))
      a = 60000;
    if (!std::isfinite(b))
      b = a * 1.25;
    From middle = From((a + b) / 2);
    all.push_back(middle);
    all.push_back(From(-std::nextafter(middle, From(INFINITY))));
    all.push_back(std::nextafter(middle, From(0)));
    all.push_back(From(a));
    all.push_back(From(a + (b - a) * double(state >> 40) / (1 << 24)));
    uint32_t bits = uint32_t(state >> 20);
    float any;
    std::memcpy(&any, &bits, sizeof any);
    all.push_back(std::isnan(any) ? From(1) : From(any));
  }
  all.resize(65536, From(1));
  return all;
}

template <typename T> std::vector<T> codes(size_t count) {
  std::vector<T> all(count);
  for (size_t i = 0; i < count; ++i)
    all[i] = T(i);
  return all;
}

int main() {
  small_io io = {};
#define TYPE(NAME, CODE, COUNT, ...)                                           \
  const Format NAME = {__VA_ARGS__};                                           \
  auto NAME##_codes = codes<CODE>(COUNT);                                      \
  std::vector<float> NAME##_wide(COUNT);                                       \
  auto NAME##_samples = samples<float>(NAME);                                  \
  std::vector<CODE> NAME##_narrow(65536);                                      \
  io.widen_##NAME##_in = NAME##_codes.data();                                  \
  io.widen_##NAME##_out = NAME##_wide.data();                                  \
  io.narrow_##NAME##_in = NAME##_samples.data();                               \
  io.narrow_##NAME##_out = NAME##_narrow.data();
#define WIDER(NAME)                                                            \
  auto NAME##_samples64 = samples<double>(NAME);                               \
  std::vector<uint16_t> NAME##_narrow64(65536);                                \
  io.narrow64_##NAME##_in = NAME##_samples64.data();                           \
  io.narrow64_##NAME##_out = NAME##_narrow64.data();
  TYPE(f16, uint16_t, 65536, 5, 10, 15, Format::Ieee)
  TYPE(bf16, uint16_t, 65536, 8, 7, 127, Format::Ieee)
  TYPE(f8E5M2, uint8_t, 256, 5, 2, 15, Format::Ieee)
  TYPE(f8E4M3FN, uint8_t, 256, 4, 3, 7, Format::OneNan)
  TYPE(f8E4M3FNUZ, uint8_t, 256, 4, 3, 8, Format::NegZero)
  TYPE(f8E5M2FNUZ, uint8_t, 256, 5, 2, 16, Format::NegZero)
  TYPE(f4E2M1FN, uint8_t, 16, 2, 1, 1, Format::None)
  WIDER(f16)
  WIDER(bf16)
  auto powers = codes<uint8_t>(256);
  std::vector<float> powersWide(256), powersIn(65536, 3.0f);
  std::vector<uint8_t> powersNarrow(65536);
  io.widen_f8E8M0FNU_in = powers.data();
  io.widen_f8E8M0FNU_out = powersWide.data();
  io.narrow_f8E8M0FNU_in = powersIn.data();
  io.narrow_f8E8M0FNU_out = powersNarrow.data();
  uint16_t x[2] = {0x3c00, 0x3c01}, y[4];
  io.x = x;
  io.y = y;
  SAME(small_run(&io, nullptr, nullptr), INGOT_OK);
#define CHECK(NAME)                                                            \
  checkWiden("widen " #NAME, NAME, NAME##_codes, NAME##_wide);                 \
  checkNarrow("narrow " #NAME, NAME, NAME##_samples, NAME##_narrow);
  CHECK(f16)
  CHECK(bf16)
  CHECK(f8E5M2)
  CHECK(f8E4M3FN)
  CHECK(f8E4M3FNUZ)
  CHECK(f8E5M2FNUZ)
  CHECK(f4E2M1FN)
  checkNarrow("narrow64 f16", f16, f16_samples64, f16_narrow64);
  checkNarrow("narrow64 bf16", bf16, bf16_samples64, bf16_narrow64);
  for (int i = 0; i < 255; ++i)
    SAME(powersWide[i], std::ldexp(1.0f, i - 127));
  SAME(std::isnan(powersWide[255]), true);
  SAME(powersNarrow[0], 129);
  SAME(y[0], 0x4000);
  SAME(y[1], 0x3c00);
  SAME(y[2], 0x3e00);
  SAME(y[3], 0x3e00);
}
