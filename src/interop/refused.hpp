#pragma once
#include "interop/format.hpp"

// Files of other programs that Convoke recognizes, by their contents, and does not read: programs, pickles,
// which can run any program, and what is no model at all.

namespace convoke::interop {

bool is_refused(const Probe& probe);

/// Throws Error that names the file, what it is, and the commands that convert it, if is_refused().
void require_not_refused(const Probe& probe);

}  // namespace convoke::interop
