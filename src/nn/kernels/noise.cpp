#include "nn/kernels/noise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace convoke::nn {

namespace {

std::array<double, 4> normals(const PhiloxCounter& words) {
  std::array<double, 4> z{};
  for (std::size_t i = 0; i < 4; i += 2) {
    const double r = std::sqrt(-2 * std::log((words[i] + 1.0) * 0x1p-32));
    const double t = 2 * std::numbers::pi * words[i + 1] * 0x1p-32;
    z[i] = r * std::cos(t);
    z[i + 1] = r * std::sin(t);
  }
  return z;
}

}  // namespace

template <class T>
void add_noise(const ChannelBlocks& s, const T* x, double deviation, PhiloxKey key, std::uint32_t stream,
               const std::uint32_t* samples, const std::uint32_t* repeats, T* y) {
  for (std::int64_t n = 0; n < s.samples; ++n) {
    const std::int64_t base = n * s.sample_size();
    if (s.padded_channels() != s.channels && y != x) std::fill(y + base, y + base + s.sample_size(), T{});
    const std::uint32_t repeat = repeats == nullptr ? 0 : repeats[n];
    std::array<double, 4> z{};
    std::int64_t e = 0;
    for (std::int64_t p = 0; p < s.pixels(); ++p) {
      for (std::int64_t c = 0; c < s.channels; ++c, ++e) {
        if (e % 4 == 0)
          z = normals(philox4x32({static_cast<std::uint32_t>(e / 4), stream, samples[n], repeat}, key));
        const std::int64_t at = base + (c / s.block * s.pixels() + p) * s.block + c % s.block;
        y[at] =
            static_cast<float>(x[at]) + static_cast<float>(deviation * z[static_cast<std::size_t>(e % 4)]);
      }
    }
  }
}

template void add_noise(const ChannelBlocks&, const float*, double, PhiloxKey, std::uint32_t,
                        const std::uint32_t*, const std::uint32_t*, float*);
template void add_noise(const ChannelBlocks&, const Bf16*, double, PhiloxKey, std::uint32_t,
                        const std::uint32_t*, const std::uint32_t*, Bf16*);

}  // namespace convoke::nn
