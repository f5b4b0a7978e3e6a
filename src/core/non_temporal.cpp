#include "convoke/core/non_temporal.hpp"

#include <algorithm>
#include <cstdint>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace convoke {

#if defined(__SSE2__)

// Only whole cache lines go past the caches: the processor collects the stores to a line before it sends it.
void copy_non_temporal(std::span<const float> from, std::span<float> to) {
  constexpr std::size_t kLine = 16;
  const std::size_t past_line = reinterpret_cast<std::uintptr_t>(to.data()) / sizeof(float) % kLine;
  const std::size_t head = std::min(to.size(), (kLine - past_line) % kLine);
  std::size_t i = head;
  std::copy_n(from.data(), head, to.data());
  for (; i + kLine <= to.size(); i += kLine) {
    for (std::size_t j = i; j < i + kLine; j += 4)
      _mm_stream_ps(to.data() + j, _mm_loadu_ps(from.data() + j));
  }
  std::copy_n(from.data() + i, to.size() - i, to.data() + i);
}

void fence_non_temporal() { _mm_sfence(); }

#else

void copy_non_temporal(std::span<const float> from, std::span<float> to) {
  std::copy_n(from.data(), to.size(), to.data());
}

void fence_non_temporal() {}

#endif

}  // namespace convoke
