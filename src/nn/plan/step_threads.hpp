#pragma once
#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace convoke::nn {

/// Returns the number of threads of a step of the plan that the calling thread compiles or runs: as many as
/// oneDNN's primitives use (set_primitive_threads).
inline int step_threads() { return omp_get_max_threads(); }

/// Calls work(begin, end, thread) for parts of [0, count), each on a thread of its own, below step_threads().
/// The parts must write different memory, and no element may depend on the part that it is in: then the bits
/// do not depend on the number of threads. Few elements stay on one thread, because starting others takes
/// microseconds. `elements`: of each of the `count`. `limit`: of threads, for work that needs memory for
/// each. The work must not throw.
template <class Work>
void share(std::int64_t count, std::int64_t elements, const Work& work, int limit = step_threads()) {
  constexpr std::int64_t kLeast = std::int64_t{1} << 13;  // elements of a part
  const std::int64_t most = std::min<std::int64_t>(count, std::min(limit, step_threads()));
  const auto threads = static_cast<int>(std::clamp<std::int64_t>(count * elements / kLeast, 1, most));
  if (threads == 1) return work(std::int64_t{0}, count, 0);
#pragma omp parallel num_threads(threads)
  {
    const std::int64_t thread = omp_get_thread_num(), of = omp_get_num_threads();
    work(count * thread / of, count * (thread + 1) / of, static_cast<int>(thread));
  }
}

/// The same for `count` neighboring elements: work(first, number of elements). Parts begin at multiples of a
/// vector, so that only the last one has a rest.
template <class Work>
void share_elements(std::size_t count, const Work& work) {
  constexpr std::int64_t kVector = 64;
  const auto all = static_cast<std::int64_t>(count);
  share((all + kVector - 1) / kVector, kVector, [&](std::int64_t begin, std::int64_t end, int) {
    const std::int64_t first = begin * kVector;
    work(first, static_cast<std::size_t>(std::min(end * kVector, all) - first));
  });
}

}  // namespace convoke::nn
