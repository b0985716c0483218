// The main function of the unit tests, apart so that Catch2 is compiled once.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
