#pragma once

namespace convoke::test {

/// Calls of operator new, in any of its forms, by all threads since the program started, but for those made
/// inside a oneDNN primitive (whose bookkeeping is not ours). A program that links this has every operator
/// new and delete replaced.
long allocations();

/// Executions of oneDNN primitives: proof that they went through the wrapper that leaves their allocations
/// out.
long primitive_executions();

}  // namespace convoke::test
