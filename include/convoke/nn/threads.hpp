#pragma once

namespace convoke::nn {

/// Sets how many threads a primitive uses that is compiled or run by the calling thread. Workers that each
/// run whole lanes call this with 1 before they compile anything.
void set_primitive_threads(int threads);
inline void single_threaded() { set_primitive_threads(1); }

}  // namespace convoke::nn
