// Catch2 itself, which takes as long to compile as ten test files.
#define CATCH_CONFIG_RUNNER
#include "support/run_tests.hpp"

#include "support/catch.hpp"

int run_tests(int argc, char** argv) { return Catch::Session().run(argc, argv); }
