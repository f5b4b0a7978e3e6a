#pragma once
#include "support/full_disk.hpp"
#include "support/variable.hpp"

/// While it lives, programs that are started fail to rename where fail_next_rename_to() says so.
struct FailingRenames {
  Variable preload{"LD_PRELOAD", CONVOKE_FAILING_RENAME};
  Variable sanitizer{"ASAN_OPTIONS", "detect_leaks=0:verify_asan_link_order=0"};
};
