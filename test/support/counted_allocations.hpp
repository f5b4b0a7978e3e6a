#pragma once

namespace convoke::test {

/// Returns the number of calls of operator new, in any form, by all threads since the program started,
/// without those inside a oneDNN primitive (its own bookkeeping). A program that links this has all operators
/// new and delete replaced.
long allocations();

/// Returns the number of executed oneDNN primitives: it shows that they used the wrapper that excludes their
/// allocations.
long primitive_executions();

}  // namespace convoke::test
