// ingot_test.h - checks a compiled model where it runs; see `ingot
// --emit-test`.
// SPDX-License-Identifier: MIT-0
//
// The text of this file begins every generated test. It needs no library if
// INGOT_TEST_PRINT names a function of the program that takes text,
//     extern "C" void NAME(const char *text);
// otherwise it prints by stdio. INGOT_TEST_MAIN renames `main`, which returns 0
// if all outputs are as expected.
//
// The result of each kernel is compared with the expected one by four sums of
// its elements, each with different signs of the elements: a wrong element
// changes all four sums. So a test contains six numbers per kernel (Signature)
// instead of all elements, which would take much flash.
#ifndef INGOT_TEST_H
#define INGOT_TEST_H 1

#include <stddef.h>
#include <stdint.h>
#ifdef INGOT_TEST_PRINT
extern "C" void INGOT_TEST_PRINT(const char *text);
#else
#include <stdio.h>
#endif
#ifdef INGOT_TEST_MAIN
#define INGOT_TEST_MAIN_DECLARATION extern "C" int INGOT_TEST_MAIN(void)
#elif __STDC_HOSTED__
#define INGOT_TEST_MAIN_DECLARATION int main()
#else
#define INGOT_TEST_MAIN_DECLARATION extern "C" int main()
#endif

namespace ingot_test {

enum Type { F16, BF16, F32, F64, I8, U8, I16, U16, I32, U32, I64, U64 };

/// Where the result of a kernel is in memory after the kernel.
struct Node {
  int32_t kernel; // its number in the order of execution
  const char *name;
  Type type;
  const void *buffer;
  size_t offset; // in bytes
  // Four nested loops over the elements of the result, the innermost last:
  // their extents, and their strides in elements.
  size_t sizes[4], strides[4];
};

/// The expected result of a kernel: the square root of the sum of the squares
/// of its finite elements, four sums of these elements with different signs,
/// and the number of elements that are infinite or NaN.
struct Signature {
  double norm, sums[4];
  size_t odd;
};

template <typename T> inline double read(const unsigned char *at) {
  T value;
  __builtin_memcpy(&value, at, sizeof value);
  return double(value);
}

/// Reads a bfloat16 (`isBrain`) or an IEEE half-precision float.
inline double readHalf(const unsigned char *at, bool isBrain) {
  uint16_t bits;
  __builtin_memcpy(&bits, at, sizeof bits);
  uint32_t wide = uint32_t(bits) << 16;
  if (!isBrain) {
    const uint32_t sign = uint32_t(bits & 0x8000) << 16, rest = bits & 0x7fff;
    if (rest < 0x400) // zero or subnormal: a multiple of 2^-24
      return (sign ? -1.0 : 1.0) * double(rest) / 16777216.0;
    wide =
        sign | (rest >= 0x7c00 ? 0x7f800000 | (rest & 0x3ff) << 13 : (rest << 13) + (112u << 23));
  }
  float value;
  __builtin_memcpy(&value, &wide, sizeof value);
  return double(value);
}

inline double element(const void *data, Type type, size_t index) {
  const unsigned char *bytes = static_cast<const unsigned char *>(data);
  switch (type) {
  case F16:
  case BF16:
    return readHalf(bytes + 2 * index, type == BF16);
  case F32:
    return read<float>(bytes + 4 * index);
  case F64:
    return read<double>(bytes + 8 * index);
  case I8:
    return read<int8_t>(bytes + index);
  case U8:
    return read<uint8_t>(bytes + index);
  case I16:
    return read<int16_t>(bytes + 2 * index);
  case U16:
    return read<uint16_t>(bytes + 2 * index);
  case I32:
    return read<int32_t>(bytes + 4 * index);
  case U32:
    return read<uint32_t>(bytes + 4 * index);
  case I64:
    return read<int64_t>(bytes + 8 * index);
  case U64:
    return read<uint64_t>(bytes + 8 * index);
  }
  return 0;
}

/// Whether two elements are the same: different 64-bit integers may be equal as
/// doubles.
inline bool isSame(const void *got, const void *want, Type type, size_t index) {
  const double a = element(got, type, index), b = element(want, type, index);
  if (type != I64 && type != U64)
    return a == b || (a != a && b != b);
  uint64_t bits, wanted;
  __builtin_memcpy(&bits, static_cast<const unsigned char *>(got) + 8 * index, 8);
  __builtin_memcpy(&wanted, static_cast<const unsigned char *>(want) + 8 * index, 8);
  return bits == wanted;
}

/// Whether a number is neither infinite nor NaN.
inline bool isFinite(double x) { return x - x == 0; }
inline double magnitude(double x) { return x < 0 ? -x : x; }

/// Computes the four sums of a Signature. The sign of an element depends on its
/// position only.
class Summing {
public:
  double sums[4] = {0, 0, 0, 0};
  size_t odd = 0;
  void add(double x) {
    state = state * 1664525u + 1013904223u;
    if (!isFinite(x)) {
      ++odd;
      return;
    }
    for (int k = 0; k < 4; ++k)
      sums[k] += state >> (28 + k) & 1 ? x : -x;
  }

private:
  uint32_t state = 1;
};

/// Checks the results of a model on several data sets, and prints the errors.
class Checker {
public:
  Checker(const Node *nodes, size_t count) : nodes(nodes), count(count) {}

  static void print(const char *text) {
#ifdef INGOT_TEST_PRINT
    INGOT_TEST_PRINT(text);
#else
    fputs(text, stdout);
#endif
  }

  /// Prints a number in the form 1.234e-05.
  static void print(double x) {
    if (!isFinite(x))
      return print(x != x ? "nan" : x > 0 ? "inf" : "-inf");
    char text[12];
    int at = 0, exponent = 0;
    if (x < 0)
      text[at++] = '-';
    x = magnitude(x);
    for (; x >= 9.9995; x /= 10)
      ++exponent;
    for (; x > 0 && x < 0.99995; x *= 10)
      --exponent;
    int digits = int(x * 1000 + 0.5);
    text[at++] = char('0' + digits / 1000);
    text[at++] = '.';
    for (int unit = 100; unit > 0; unit /= 10)
      text[at++] = char('0' + digits / unit % 10);
    if (exponent != 0) {
      text[at++] = 'e';
      text[at++] = exponent < 0 ? '-' : '+';
      exponent = exponent < 0 ? -exponent : exponent;
      if (exponent >= 100)
        text[at++] = char('0' + exponent / 100);
      text[at++] = char('0' + exponent / 10 % 10);
      text[at++] = char('0' + exponent % 10);
    }
    text[at] = 0;
    print(text);
  }

  static void print(size_t n) {
    char text[24];
    int at = 23;
    text[at] = 0;
    do
      text[--at] = char('0' + n % 10);
    while ((n /= 10) != 0);
    print(text + at);
  }

  /// Begins a data set called `name`. Returns the context to run the model
  /// with; its trace hook checks the result of each kernel.
  ingot_context begin(const char *name, const Signature *expected) {
    set = name;
    signatures = expected;
    first = nullptr;
    ingot_context context = {};
    context.trace = [](void *checker, int32_t kernel, int32_t finished) {
      if (finished)
        static_cast<Checker *>(checker)->onKernel(kernel);
    };
    context.trace_user = this;
    return context;
  }

  /// Whether the run succeeded; if not, prints its status.
  bool ran(ingot_status status) {
    if (status == INGOT_OK)
      return true;
    print(set);
    print(": the model refuses to run: status ");
    print(size_t(status));
    print("\n");
    ++wrong;
    return false;
  }

  void output(const char *name, const void *got, const void *want, Type type, size_t elements,
              double relative, double absolute) {
    double largest = 0;
    size_t bad = 0, firstBad = 0;
    for (size_t i = 0; i < elements; ++i) {
      if (isSame(got, want, type, i))
        continue;
      const double b = element(want, type, i), error = magnitude(element(got, type, i) - b);
      if (!(error <= largest))
        largest = error;
      const double allowed = absolute + relative * magnitude(b);
      if (allowed > 0 && error <= allowed && isFinite(b))
        continue;
      if (bad++ == 0)
        firstBad = i;
    }
    print(set);
    print(": ");
    print(name);
    print(": max error ");
    print(largest);
    if (bad == 0) {
      print(", ok\n");
      return;
    }
    ++wrong;
    print(", WRONG: ");
    print(bad);
    print(" of ");
    print(elements);
    print(" elements, first [");
    print(firstBad);
    print("] is ");
    print(element(got, type, firstBad));
    print(", expected ");
    print(element(want, type, firstBad));
    print("\n");
  }

  /// Ends a data set, after its outputs were checked: prints the first kernel
  /// with a wrong result, if any.
  void end() {
    if (!first)
      return;
    print(set);
    print(": the first node that is off is kernel ");
    print(size_t(first->kernel));
    print(", ");
    print(first->name);
    print(", by ");
    print(deviation);
    print(" of its norm\n");
  }

  /// Prints whether all data sets were as expected; returns the exit status for
  /// `main`.
  int result() const {
    if (wrong == 0 && count > 0 && !traced)
      print("the model was compiled without its trace hook: nodes are not "
            "compared\n");
    print(wrong == 0 ? "all outputs are as expected\n" : "FAILED\n");
    return wrong == 0 ? 0 : 1;
  }

private:
  /// Rounding changes a sum of the elements by less than this share of their
  /// norm.
  static constexpr double limit = 1e-3;

  void onKernel(int32_t kernel) {
    traced = true;
    for (size_t i = 0; i < count && !first; ++i)
      if (nodes[i].kernel == kernel)
        compare(nodes[i], signatures[i]);
  }

  void compare(const Node &node, const Signature &want) {
    Summing got;
    const void *data = static_cast<const unsigned char *>(node.buffer) + node.offset;
    const size_t *n = node.sizes, *s = node.strides;
    for (size_t a = 0; a < n[0]; ++a)
      for (size_t b = 0; b < n[1]; ++b)
        for (size_t c = 0; c < n[2]; ++c)
          for (size_t d = 0; d < n[3]; ++d)
            got.add(element(data, node.type, a * s[0] + b * s[1] + c * s[2] + d * s[3]));
    double largest = 0;
    for (int k = 0; k < 4; ++k)
      if (magnitude(got.sums[k] - want.sums[k]) > largest)
        largest = magnitude(got.sums[k] - want.sums[k]);
    // If all expected elements are zero, the absolute difference is compared.
    const double part = want.norm > 0 ? largest / want.norm : largest;
    if (part <= limit && got.odd == want.odd)
      return;
    first = &node;
    deviation = part;
  }

  const Node *nodes;
  size_t count;
  const char *set = "";
  const Signature *signatures = nullptr;
  const Node *first = nullptr;
  double deviation = 0;
  size_t wrong = 0;
  bool traced = false;
};

} // namespace ingot_test

#endif // INGOT_TEST_H
