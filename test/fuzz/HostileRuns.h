// Creates hostile inputs for runs of generated code: buffers of exactly the
// size that the header promises, so that a sanitizer detects out-of-bounds
// accesses, and values that no caller should pass.

#ifndef INGOT_TEST_FUZZ_HOSTILERUNS_H
#define INGOT_TEST_FUZZ_HOSTILERUNS_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <stddef.h>
#include <string>
#include <type_traits>
#include <vector>

struct Run {
  explicit Run(size_t number)
      : random(number * 7919 + 1), kind(number % 3), number(number) {}
  Run(const Run &) = delete;
  ~Run() {
    for (void *p : buffers)
      std::free(p);
  }

  template <typename T> T *allocate(ptrdiff_t count) {
    void *p =
        std::malloc(count > 0 ? static_cast<size_t>(count) * sizeof(T) : 1);
    buffers.push_back(p);
    return static_cast<T *>(p);
  }

  /// Returns a value for a dynamic size with the bounds [least, most]: usually
  /// within the bounds, sometimes outside.
  ptrdiff_t size(ptrdiff_t least, ptrdiff_t most) {
    const ptrdiff_t beyond[] = {-1, least - 1, most + 1, ptrdiff_t(1) << 62,
                                std::numeric_limits<ptrdiff_t>::min()};
    ptrdiff_t value = number % 5 == 3 ? most : least + below(most - least + 1);
    if (number % 7 == 0 && least <= 3 && most >= 3)
      value = 3; // several sizes may have to be equal
    if (number % 5 == 4 && below(2))
      value = beyond[below(5)];
    fits &= value >= least && value <= most;
    return value;
  }

  template <typename T> T element(ptrdiff_t most) {
    if constexpr (std::is_floating_point_v<T>) {
      const T odd[] = {std::numeric_limits<T>::quiet_NaN(),
                       std::numeric_limits<T>::infinity(),
                       -std::numeric_limits<T>::infinity(),
                       std::numeric_limits<T>::max(),
                       std::numeric_limits<T>::denorm_min()};
      if (below(kind ? 12 : 400) == 0)
        return odd[below(5)];
      return static_cast<T>(below(20001)) / 10000 - 1;
    } else {
      using Limits = std::numeric_limits<T>;
      const T odd[] = {Limits::max(), Limits::min(),
                       static_cast<T>(uint64_t(1) << below(63)),
                       static_cast<T>(~(uint64_t(1) << below(63)))};
      if (kind && below(kind == 1 ? 12 : 3) == 0)
        return odd[below(4)];
      return static_cast<T>(
          below(most + 3) -
          (Limits::is_signed && below(3) == 0 ? most + 2 : 0));
    }
  }

  /// Returns a string: empty, long, short, a number, or invalid UTF-8.
  const char *text() {
    static const char pieces[] = "a, b\xc3\xa4\xe2\x82 0.";
    std::string s = std::to_string(static_cast<int64_t>(random()));
    if (ptrdiff_t kind = below(5); kind < 4) {
      s.clear();
      for (ptrdiff_t k = kind == 0   ? 0
                         : kind == 1 ? 300
                                     : below(12);
           k > 0; --k)
        s += pieces[below(sizeof pieces - 1)];
    }
    char *copy = allocate<char>(static_cast<ptrdiff_t>(s.size()) + 1);
    return static_cast<const char *>(
        std::memcpy(copy, s.c_str(), s.size() + 1));
  }

  template <typename T> T *filled(ptrdiff_t count, ptrdiff_t most) {
    T *p = allocate<T>(count);
    for (ptrdiff_t k = 0; k < count; ++k)
      p[k] = element<T>(most);
    return p;
  }
  uint8_t *truths(ptrdiff_t count) {
    uint8_t *p = allocate<uint8_t>(count);
    for (ptrdiff_t k = 0; k < count; ++k)
      p[k] = static_cast<uint8_t>(below(2));
    return p;
  }
  const char **texts(ptrdiff_t count) {
    const char **p = allocate<const char *>(count);
    for (ptrdiff_t k = 0; k < count; ++k)
      p[k] = text();
    return p;
  }

  ptrdiff_t below(ptrdiff_t count) {
    return static_cast<ptrdiff_t>(random() % static_cast<uint64_t>(count));
  }

  /// Whether all results of size() so far are within their bounds.
  bool fits = true;

private:
  std::mt19937_64 random;
  /// `kind` is 0, 1 or 2 for runs in which few, some or many values are unusual
  /// (NaN, limits of the type); `number` is the number of the run.
  size_t kind, number;
  std::vector<void *> buffers;
};

#endif // INGOT_TEST_FUZZ_HOSTILERUNS_H
