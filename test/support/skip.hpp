#pragma once
#include "support/catch.hpp"

/// `return skip("needs root")` ends a test that cannot run here, with the reason: ctest recognizes these
/// words and counts the test as skipped.
inline void skip(const char* reason) { WARN("test skipped: " << reason); }
