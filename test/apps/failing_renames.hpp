#pragma once
#include "support/full_disk.hpp"
#include "support/variable.hpp"

/// During its lifetime, started programs fail to rename the files named by fail_next_rename_to().
struct FailingRenames {
  Variable preload{"LD_PRELOAD", CONVOKE_FAILING_RENAME};
  Variable sanitizer{"ASAN_OPTIONS", "detect_leaks=0:verify_asan_link_order=0"};
};
