// Exact comparison of results, for tests that run the generated code.
#ifndef INGOT_TEST_CODEGEN_CHECK_H
#define INGOT_TEST_CODEGEN_CHECK_H

#include <cstdio>
#include <cstdlib>
#include <cstring>

template <typename T> void same(const char *what, T got, T wanted) {
  if (std::memcmp(&got, &wanted, sizeof got) == 0)
    return;
  std::printf("%s: %.17g instead of %.17g\n", what, double(got),
              double(wanted));
  std::exit(1);
}
#define SAME(got, wanted) same(#got, +(got), decltype(+(got))(wanted))

#endif
