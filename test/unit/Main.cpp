// The main function of the unit tests, in a file of its own so that Catch2 is
// compiled only once.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
