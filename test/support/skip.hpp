#pragma once
#include "support/catch.hpp"

/// `return skip("needs root")` ends a test that cannot run here, and says why.
inline void skip(const char* reason) { WARN("skipped: " << reason); }
