#include "convoke/core/non_temporal.hpp"

#include <algorithm>
#include <cstdint>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace convoke {

// Only whole cache lines go past the caches: the processor collects the stores to a line before it sends it.
void copy_non_temporal(std::span<const float> from, std::span<float> to) {
  std::size_t copied = 0;
#if defined(__SSE2__)
  constexpr std::size_t kLine = 16;
  const std::size_t past_line = reinterpret_cast<std::uintptr_t>(to.data()) / sizeof(float) % kLine;
  copied = std::min(to.size(), (kLine - past_line) % kLine);
  std::copy_n(from.data(), copied, to.data());
  for (; copied + kLine <= to.size(); copied += kLine) {
    for (std::size_t i = copied; i < copied + kLine; i += 4)
      _mm_stream_ps(to.data() + i, _mm_loadu_ps(from.data() + i));
  }
#endif
  std::copy_n(from.data() + copied, to.size() - copied, to.data() + copied);
}

void fence_non_temporal() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace convoke
