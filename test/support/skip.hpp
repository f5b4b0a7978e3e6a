#pragma once
#include "support/catch.hpp"

/// `return skip("needs root")` ends a test that cannot run here, and says why: ctest knows it by these words,
/// and counts it as skipped.
inline void skip(const char* reason) { WARN("test skipped: " << reason); }
